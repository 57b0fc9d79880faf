"""What a page looks up: a reply to every answer, of which the right one alone is said to be right, in safe HTML."""
import json
import re

import pytest
from docutils import nodes

from _ext import replies
from _ext.bets import what_came
from mha.exercises import EXERCISES, check

QUESTIONS = [item for item in EXERCISES.values() if not item.in_code]


@pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item.id)
def test_every_answer_has_a_reply_and_one_is_right(item):
    known = replies.of_item(item)
    right = [answer for answer, (how, *_) in known["replies"].items() if how == "right" and answer != "again"]
    if item.letters:
        assert [letters.upper() for letters in right] == [item.right]
        count = 2 ** len(item.letters) - 1 if item.several else len(item.letters)
        assert sum(how in ("right", "wrong") for how, *_ in known["replies"].values()) - item.predicted == count
    elif item.kind == "explain":
        assert right == ["any"]
    else:
        assert not set(right) - {"again"}
        assert [how for *_, (how, *_) in known["numbers"]] == ["right"] + ["wrong"] * len(item.mistakes)
        assert [check(item.id, value).ok for value, *_ in known["numbers"]] == [True] + [False] * len(item.mistakes)


def test_of_numbers_the_first_that_fits_is_taken_and_only_the_exact_one_is_not_nearly():
    known = replies.of_bet({"numbers": [{"is": "87.5 %", "within": "3 %", "says": "so it is."},
                                        {"is": "1/2", "within": "0.01", "says": "half."}]}, 0)
    (exact, zero, first), (value, within, second), (half, _, third) = known["numbers"]
    assert (exact, zero, value, half) == (0.875, 0, 0.875, 0.5) and 0.03 < within < 0.0301
    text = ["".join(reply[1:]) for reply in (first, second, third)]
    assert "<b>As you said.</b>" in text[0] and "nearly" in text[1] and "Half. It is 87.5 %: so it is." in text[2]


def test_of_several_each_choice_is_told_how_many_options_came_otherwise():
    known = replies.of_bet({"right": "ac", "several": "both do."}, 3)["replies"]
    said = {answer: re.search("<b>(.*)</b>", made[1])[1] for answer, made in known.items() if answer.isalpha()}
    assert said["ac"] == "As you said:" and said["b"] == "You said otherwise in 3 of 3. So it came:"
    assert {*said} == {"shown", "a", "b", "c", "ab", "ac", "bc", "abc"}


def test_a_text_becomes_html_once_and_what_stands_beside_a_question_ends_no_script():
    assert replies.html('"x < 1" in `d_k`, see https://a.org/b.') == (
        '“x &lt; 1” in <code>d_k</code>, see <a href="https://a.org/b">https://a.org/b</a>.')
    made = replies.beside({"replies": {"": ["refused", "<p>", "</script>"], "a": ["right", "<p>", "ok"]}})
    assert made.count("</script>") == 1
    known = json.loads(made.partition(">")[2].removesuffix("</script>"))
    assert known == {"replies": {"": ["refused", 0, 1], "a": ["right", 0, 2]}, "pieces": ["<p>", "</script>", "ok"]}


def options(*texts):
    """As docutils has them: the comment was taken away, and a space stood before it."""
    return [nodes.list_item("", nodes.paragraph("", "", *(nodes.Text(part) for part in text))) for text in texts]


@pytest.mark.parametrize("data,texts,expected", [
    ({"right": "ac", "several": "as proved."}, [["a circle "], ["a line"], ["a ", "ring", " "]],
     "What came: a circle and a ring. As proved."),
    ({"right": "abc", "several": "all do."}, [["one "], ["two "], ["three "]],
     "What came: one, two and three. All do."),
    ({"right": "a", "replies": {"a": "it is.", "b": "no."}}, [["Twice as far. "], ["No "]],
     "What came: Twice as far. It is."),
    ({"right": "b", "replies": {"a": "no.", "b": "it is."}}, [["Twice as far. "], ["No "]], "What came: No. It is."),
    ({"numbers": [{"is": "0.800", "within": "0.1", "says": "0.6 + 0.2."}]}, [], "What came: 0.800: 0.6 + 0.2."),
    ({"numbers": [{"is": "0.5", "within": "0.1", "says": "a half."}]}, [], "What came: 0.5. A half."),
])
def test_who_does_not_bet_reads_one_sentence_of_what_is_right_and_then_why(data, texts, expected):
    assert what_came(data, options(*texts)).astext() == expected
