"""What was solved is kept whole, carried by a short code, and never lost to a bad file or a bad code."""
import json
import re

import pytest

from mha.exercises import EXERCISES, check, hint, progress, solution
from mha.exercises.engine import progress as stored


@pytest.fixture(autouse=True)
def own_file(tmp_path, monkeypatch):
    """A progress file of its own for each test."""
    monkeypatch.setenv("MHA_PROGRESS", str(tmp_path / "deep" / "progress.json"))
    monkeypatch.setattr(stored, "_session", {})
    return tmp_path / "deep" / "progress.json"


def forget():
    """What a new session starts with."""
    stored._session.clear()


def test_what_is_solved_is_there_in_the_next_session(own_file):
    check("2.5", 24)
    check("2.6", "B")
    forget()
    assert progress().solved == ["2.5"] and progress().tried == ["2.6"]
    assert json.loads(own_file.read_text())["version"] == 1
    assert "[x] 2.5" in repr(progress()) and "[~] 2.6" in repr(progress()) and "02_one_head: 1 of 3" in repr(progress())


def test_a_stub_a_wrong_answer_and_a_wrong_guess_solve_nothing():
    check("2.5", ...)
    check("2.5", 7)
    check("5.7", 1)
    assert progress().solved == []
    check("5.7", EXERCISES["5.7"].answer)
    assert progress().solved == ["5.7"]


def test_the_code_carries_what_is_solved_and_adds_to_what_is_there():
    check("2.5", 24)
    code = progress().code
    check("B.12", "A")
    assert progress(code).solved == ["2.5", "B.12"]
    assert stored.decode(code.replace("mha", "Mha")) == stored.decode(code.replace("mha", "MHA")) == ["2.5"]
    assert sorted(stored.decode(stored.encode(EXERCISES))) == sorted(EXERCISES)


@pytest.mark.parametrize("code", ["", "hello", "mha1", "mha2-1.1-aa", 5, "mha1-1.1-2.1-00"])
def test_a_code_that_is_none_changes_nothing(code):
    check("2.5", 24)
    with pytest.raises(ValueError, match="progress code|not copied whole"):
        progress(code)
    assert progress().solved == ["2.5"]


def test_one_wrong_sign_in_a_code_is_noticed():
    code = stored.encode(["1.1", "1.3", "2.4", "B.7"])
    for i in range(len(code)):
        other = code[:i] + ("1" if code[i] != "1" else "2") + code[i + 1 :]
        with pytest.raises(ValueError, match="code|copied"):
            stored.decode(other)


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 1}', '{"version": "x", "exercises": {}}',
                                  '{"version": 1, "exercises": {"1.1": 5}}'])
def test_a_file_that_cannot_be_read_is_set_aside(own_file, text):
    own_file.parent.mkdir()
    own_file.write_text(text)
    with pytest.warns(UserWarning, match="could not be read and is now"):
        assert progress().solved == []
    assert own_file.with_suffix(".unreadable.json").read_text() == text


def test_a_file_of_a_newer_version_stays_as_it_is(own_file):
    own_file.parent.mkdir()
    own_file.write_text('{"version": 99, "exercises": 1}')
    with pytest.warns(UserWarning, match="newer version"):
        check("2.5", 24)
        assert progress().solved == ["2.5"]
    assert own_file.read_text() == '{"version": 99, "exercises": 1}'


def test_without_a_place_to_write_progress_lasts_for_the_session(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MHA_PROGRESS", str(tmp_path / "file" / "progress.json"))
    check("2.5", 24)
    assert progress().solved == ["2.5"]


def test_hints_come_one_by_one_and_the_solution_after_three_tries():
    assert [hint("6.2")[:11] for _ in range(4)] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 3 of 3"]
    assert solution("6.2").startswith("3 more tries")
    for _ in range(3):
        check("6.2", lambda y: y)
    assert "def merge_heads" in solution("6.2") and "def split_heads" in solution("6.1", force=True)
    assert solution("2.5", force=True).startswith("24\n")


def test_a_report_notes_its_tries_beside_its_text_and_shows_a_sign_a_word_and_a_border():
    check("2.5", 7)
    report = check("2.5", 8)
    data, beside = report._repr_mimebundle_()
    assert beside == {"mha": {"exercise": "2.5", "ok": False, "tries": 2, "mistakes": report.mistakes}}
    assert "\u2717" in data["text/html"] and "not yet" in data["text/html"] and "border-left" in data["text/html"]
    assert "\u2713" in check("2.5", 24).html() and "\u25cb" in check("2.5", ...).html()
    assert not re.search(r"color:(?!currentColor)", report.html().replace("currentColor", ""))
