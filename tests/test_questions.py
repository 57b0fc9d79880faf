"""Questions: every foreseen wrong answer has a reply of its own, numbers and letters are read in every way that people
write them.
"""
import ast
import math
import re

import pytest
import torch

from _ext.labs import chapter_of
from mha.exercises import EXERCISES, check, predict, show
from mha.exercises.engine.exercise import Exercise
from mha.exercises.engine.question import TOO_FAR, Choice, Explanation, Number, read_letters, read_number

QUESTIONS = [item for item in EXERCISES.values() if not isinstance(item, Exercise)]
every_question = pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item.id)


@every_question
def test_it_starts_unanswered_and_its_solution_is_right(item):
    for nothing in (None, ...):
        report = check(item.id, nothing)
        assert not report.ok and not report.started and item.statement in report.text
    assert check(item.id, ast.literal_eval(item.solution)).ok


@pytest.mark.parametrize("item", [q for q in QUESTIONS if isinstance(q, Number)], ids=lambda item: item.id)
def test_each_foreseen_number_gets_its_own_reply(item):
    for value, mistake in item.mistakes:
        assert not item.close(value, item.answer)
        report = check(item.id, value)
        assert not report.ok and report.mistakes[0] == mistake.id and mistake.says in report.text
    assert "is too large" in check(item.id, 1e9).text or item.predicted


@pytest.mark.parametrize("item", [q for q in QUESTIONS if isinstance(q, Choice)], ids=lambda item: item.id)
def test_each_option_has_a_reply_and_the_right_ones_are_few(item):
    assert 1 <= len(item.right) < len(item.options) and (item.several or len(item.right) == 1)
    for letter, option in zip(item.letters, item.options):
        report = check(item.id, letter)
        assert report.ok == (item.right == letter)
        if option.mistake:
            assert report.mistakes == [option.mistake] and option.says in report.text
    ids = [option.mistake for option in item.options if option.mistake]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("text, number", [("0.25", 0.25), ("0,25", 0.25), ("1/4", 0.25), (" .25 ", 0.25),
                                          ("25 %", 0.25), ("2.5e-1", 0.25), ("-3", -3), ("+3", 3), (3, 3),
                                          (torch.tensor(0.5), 0.5),
                                          ("", None), ("a", None), ("1,050,624", 1050624), ("1 050 624", 1050624),
                                          ("1'000", 1000), ("1,000", None), ("0,546", 0.546), ("\u22120.5", -0.5),
                                          ("256.", 256), ("256,", 256), ("3./4", 0.75), ("25. %", 0.25), ("1.e2", 100),
                                          ("1,050,624.", 1050624), ("1,000.", None), ("1. 000", None), ("1..", None),
                                          (".", None), ("1e400", math.inf), ("-1e400", -math.inf), (10**400, math.inf),
                                          (float("nan"), None), ("1/0", None), ("0x10", None), ("--1", None),
                                          ([1], None), (True, None)])
def test_numbers_are_read_as_people_write_them(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize("item", [q for q in QUESTIONS if isinstance(q, Number)], ids=lambda item: item.id)
@pytest.mark.parametrize("answer", ["1e400", "-1e400", 10**400, math.inf, "9" * 400 + "/" + "9" * 400], ids=range(5))
def test_a_number_beyond_all_floats_is_told_so(item, answer):
    report = check(item.id, answer)
    assert not report.ok and report.text.splitlines()[1:] == [TOO_FAR]


def test_letters_may_stand_one_by_one():
    assert check("3.6", "A", "D", "F").text == check("3.6", "ADF").text
    assert "this is (1, 2)" in check("14.1", 1, 2).text


@pytest.mark.parametrize("answer, letters", [("b", "B"), ("CA", "AC"), ("a, c", "AC"), ("A and C", "AC"),
                                             ({"A", "C"}, "AC"), (["c"], "C"), ("AA", "A"), ("", None), ("E", None),
                                             (3, None), ("A?", None)])
def test_letters_are_read_as_people_write_them(answer, letters):
    assert read_letters(answer, "ABCD") == letters


def test_a_prediction_shows_the_outcome_whatever_the_guess():
    assert "It is 0.25" in predict("5.7", 1).text and not predict("5.7", 1).ok and predict("5.7", "1/4").ok
    with pytest.raises(ValueError, match="asks for no prediction"):
        predict("5.5", 3)


def test_a_choice_of_several_says_how_many_are_missing():
    report = check("1.7", "A")
    assert not report.ok and report.mistakes == ["incomplete"]
    assert "1 of the options that you did not pick belongs to the answer" in report.text


def test_an_explanation_wants_words_and_gives_its_checklist():
    item = next(q for q in QUESTIONS if isinstance(q, Explanation))
    assert not check(item.id, 5).ok
    assert all(line in check(item.id, "like a dictionary").text for line in item.checklist)


# --- The whole ------------------------------------------------------------------------------------------------------

def test_every_chapter_has_exercises_of_many_kinds_and_nearly_half_are_code():
    chapters = {}
    for item in EXERCISES.values():
        chapters.setdefault(chapter_of(item.chapter), []).append(item)
    zoo = chapters.pop("B_bug_zoo")
    chapters.pop("C_conventions")
    assert all(len(items) >= 5 and any(item.core for item in items) for items in chapters.values())
    items = [item for group in chapters.values() for item in group]
    code = [item for item in items if isinstance(item, Exercise)]
    assert len(items) - sum(item.kind == "explain" for item in items) >= 30 and len(code) > 0.4 * len(items)
    assert {item.kind for item in items} == {"code", "number", "choice", "plot", "predict", "explain"}
    assert len(zoo) >= 12


@pytest.mark.parametrize("item", EXERCISES.values(), ids=lambda item: item.id)
def test_what_a_learner_needs_to_know_before_is_said(item):
    assert 1 <= item.stars <= 3 and 1 <= item.minutes <= 30 and item.after and item.note
    assert re.fullmatch(r"\w+\.\d+", item.id) and item.id.split(".")[0] == item.chapter.split("_")[0].lstrip("0")


# --- Pictures ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("item", [q for q in QUESTIONS if q.picture], ids=lambda item: item.id)
def test_a_picture_has_a_text_that_stands_for_it(item):
    picture = show(item.id)
    assert picture.svg.startswith("<svg") and len(picture.text.splitlines()) > 3


def test_asking_for_a_picture_that_is_not_there_says_so():
    with pytest.raises(ValueError, match="exercise 1.1 has no picture"):
        show("1.1")
