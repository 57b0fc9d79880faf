"""The teacher's side: notebooks out, a table back. What a graded notebook may do is tried in test_grading.py."""
import csv
import errno
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import class_of_learners as learners
from _ext import publishing
from mha.exercises import EXERCISES
from mha.exercises.classroom import grading, handed_in, names, replay, teacher, shell
from mha.exercises.engine import cells, exceptions

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Exported without and with solutions."""
    made = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("solved")
    for folder, solved in zip(made, (False, True)):
        for path in teacher.export(folder, solved):
            nbformat.validate(nbformat.read(path, 4))
    return made


def command(*arguments, **options):
    """The command as a shell runs it."""
    return subprocess.run([sys.executable, "-m", "mha.exercises", *map(str, arguments)], capture_output=True, **options)


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- Out --------------------------------------------------------------------------------------------------------------

def test_what_is_handed_out_is_not_started_and_holds_no_solution(folders):
    path = folders[0] / "06_multi_head.ipynb"
    assert {row["state"] for row in grading.grade([path])} == {"not started"}
    code = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert "transpose(1, 2).flatten(2)" not in "".join(code)
    for item in (item for item in EXERCISES.values() if item.in_code):
        text = (folders[0] / f"{item.chapter}.ipynb").read_text("utf-8")
        assert "<summary>Hint 2<" in text and "<summary>The solution<" not in text
        assert json.dumps(item.hints[-1], ensure_ascii=False)[1:-1] not in text, item.id


def test_what_a_learner_replaces_after_the_first_cell_does_not_judge_him():
    """The table is made with torch's own, so the learner has to be told the same."""
    code = cells.set_up(None) + ("\nown = torch.softmax\ntorch.softmax = lambda x, dim: own(-x, dim)\n"
                                 "report = check('2.1', F.scaled_dot_product_attention)\n"
                                 "assert report.ok and 'replaced torch.softmax. The answer' in report.text, report")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_solved_is_right_for_every_exercise(folders):
    rows = list(grading.grade([folders[1]]))
    by_page = sorted(EXERCISES.values(), key=lambda item: item.chapter)          # one notebook after the other
    assert [row["exercise"] for row in rows] == [item.label for item in by_page]
    wanted = ("written" if item.kind == "explain" else "right" for item in by_page)
    assert [row["state"] for row in rows] == [*wanted]


def test_with_or_without_solutions_must_be_said(tmp_path, capsys):
    with pytest.raises(SystemExit):
        teacher.main(["export", str(tmp_path)])
    assert "--with-solutions --no-solutions is required" in capsys.readouterr().err


def first_code(folder):
    return nbformat.read(folder / "05_masks.ipynb", 4).cells[1].source


def test_a_notebook_that_is_handed_out_fetches_mha_as_the_chapters_do(tmp_path, monkeypatch):
    """On Colab, where nothing of the book is installed."""
    monkeypatch.setenv("BOOK_REPOSITORY", "ada/book")
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    chapter = json.loads(publishing.published((ROOT / "chapters/05_masks.ipynb").read_text("utf8")))
    set_up = next("".join(cell["source"]) for cell in chapter["cells"] if cell["cell_type"] == "code")
    fetch = set_up[: set_up.index("import torch")]
    assert "%pip install" in fetch
    teacher.export(tmp_path, False)
    assert first_code(tmp_path) == fetch + cells.IMPORTS
    monkeypatch.delenv("BOOK_REPOSITORY")
    teacher.export(tmp_path, False, repository="https://example.org/ada/book")
    assert first_code(tmp_path) == fetch.replace("github.com", "example.org") + cells.IMPORTS


def test_a_package_that_pip_fetched_tells_where_from(monkeypatch):
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    known = {"url": "https://example.org/book", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    monkeypatch.setattr(teacher.importlib.metadata, "distribution",
                        lambda name: type("", (), {"read_text": lambda self, file: json.dumps(known)})())
    assert teacher.origin() == ("https://example.org/book", "abc")
    known.pop("vcs_info")
    assert teacher.origin() is None


def test_where_no_address_is_known_the_command_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    teacher.main(["export", "--no-solutions", str(tmp_path)])
    out, said = capsys.readouterr()
    assert len(out.split()) == len({item.chapter for item in EXERCISES.values()})
    assert "say where it is with --repository" in said and "%pip" not in first_code(tmp_path)


@pytest.mark.parametrize("said, address", [
    ("git@github.com:ada/book.git", "ssh://git@github.com/ada/book.git"),
    ("git@example.org:group/part/book", "ssh://git@example.org/group/part/book"),
    ("ssh://git@example.org:22/ada/book.git", "ssh://git@example.org:22/ada/book.git"),
    ("git+https://example.org/ada/book", "https://example.org/ada/book"),
    ("ada/book", "https://github.com/ada/book"),
])
def test_every_way_to_say_where_a_book_is_that_git_has(monkeypatch, said, address):
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    assert teacher.origin(said)[0] == address


@pytest.mark.parametrize("said", ["/ada/book", "./book", "../book", "book", r"C:\book", "github.com/ada/book",
                                  "https://example.org/a\" b", "https://", "git@example.org:"])
def test_what_is_no_address_of_a_book_is_refused(tmp_path, capsys, said):
    assert teacher.main(["export", "--no-solutions", "--repository", said, str(tmp_path / "out")]) == 2
    assert f"{said} is no address" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_notebook_that_somebody_changed_is_not_written_over(tmp_path, capsys):
    arguments = ["export", "--no-solutions", str(tmp_path)]
    assert teacher.main(arguments) == teacher.main(arguments) == 0
    (tmp_path / "01_soft_lookup.ipynb").unlink()
    (tmp_path / "05_masks.ipynb").write_text("{}")
    capsys.readouterr()
    assert teacher.main(arguments) == 2 and f"{tmp_path / '05_masks.ipynb'} is there" in capsys.readouterr().err
    assert (tmp_path / "05_masks.ipynb").read_text() == "{}" and not (tmp_path / "01_soft_lookup.ipynb").exists()


# --- Back -------------------------------------------------------------------------------------------------------------

def answered(path, target, encoding="utf-8", **sources):
    """A copy of a notebook with other sources in the cells of these ids (underscores for hyphens)."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = sources.get(cell["id"].replace("-", "_"), cell["source"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(notebook), encoding=encoding)
    return target


SPLIT_IN_TWO_STEPS = """
def cut(x, h):
    return x.unflatten(-1, (h, -1))

def split_heads(x, h):
    return cut(x, h).transpose(1, 2)
"""
MERGE_BY_A_SUM = """
def merge_heads(y):
    print('hello')
    return y.sum(1)
"""
NO_PYTHON = """
def per_head(y, W_O:
    return y
"""
A_NUMBER = """
from mha.exercises import check
check("6.5", 1048576)
"""


def test_each_answer_gets_its_own_row(folders, tmp_path):
    path = answered(folders[0] / "06_multi_head_lab.ipynb", tmp_path / "ada.ipynb",
                    exercise_6_1_stub=SPLIT_IN_TWO_STEPS, exercise_6_2_stub=MERGE_BY_A_SUM,
                    exercise_6_4_stub=NO_PYTHON, exercise_6_5_check=A_NUMBER)
    notebook = json.loads(path.read_text())
    check = next(cell for cell in notebook["cells"] if cell["id"] == "exercise-6-2-check")
    check["outputs"] = [{"output_type": "execute_result", "data": {},
                         "metadata": {"mha": {"exercise": "6.2", "tries": 4}}}]
    path.write_text(json.dumps(notebook))
    rows = {row["exercise"].partition(" ")[0]: row for row in grading.grade([path])}
    assert list(rows) == [id for id, item in EXERCISES.items() if item.chapter == "06_multi_head_lab"]
    assert rows["6.1"]["state"] == "right" and rows["6.6"]["state"] == "not started"
    assert (rows["6.2"]["state"], rows["6.2"]["mistakes"], rows["6.2"]["tries"]) == ("wrong", "heads-summed", 4)
    assert rows["6.4"]["state"] == "cannot be run" and "SyntaxError" in rows["6.4"]["mistakes"]
    assert rows["6.5"]["mistakes"] == "biases-forgotten" and rows["6.5"]["notebook"] == "ada.ipynb"


EMPTY = "from mha.exercises import check"


def test_a_folder_gives_each_notebook_the_path_below_it(tmp_path):
    for place in ("bob/05_masks.ipynb", "alice/week 1/05_masks.ipynb", "=1+2.ipynb", ".ipynb_checkpoints/x.ipynb"):
        learners.write(tmp_path / place, "# 05_masks", "check = None")
    (tmp_path / "bob/notes.txt").write_text("hello")
    names = list(dict.fromkeys(row["notebook"] for row in grading.grade([tmp_path])))
    assert names == ["./=1+2.ipynb", "alice/week 1/05_masks.ipynb", "bob/05_masks.ipynb"]


@pytest.mark.parametrize("given, names", [
    (["*/05_masks.ipynb"], ["alice/05_masks.ipynb", "bob/05_masks.ipynb"]),
    (["bob/05_masks.ipynb", "alice"], ["bob/05_masks.ipynb", "alice/05_masks.ipynb"]),
    (["**/*.ipynb", "bob/05_masks.ipynb"], ["a[1].ipynb", "alice/05_masks.ipynb", "bob/05_masks.ipynb"]),
    (["a[1].ipynb"], ["a[1].ipynb"]),
    (["alice"], ["05_masks.ipynb"]),
    (["bo*", "al*"], ["bob/05_masks.ipynb", "alice/05_masks.ipynb"]),
    (["*"], ["a[1].ipynb", "alice/05_masks.ipynb", "bob/05_masks.ipynb", "notes.txt"]),
    (["bob/05_masks.ipynb", "{here}/bob/05_masks.ipynb", "{here}", "alice/../bob"],
     ["bob/05_masks.ipynb", "a[1].ipynb", "alice/05_masks.ipynb"]),
])
def test_patterns_and_folders_are_expanded_here_since_no_shell_of_windows_does(tmp_path, monkeypatch, given, names):
    for place in ("alice/05_masks.ipynb", "bob/05_masks.ipynb", "a[1].ipynb"):
        learners.write(tmp_path / place, EMPTY)
    (tmp_path / "notes.txt").touch()
    monkeypatch.chdir(tmp_path)
    files, base = grading.expanded([path.format(here=tmp_path) for path in given])
    assert [grading.name(path, base) for path in files] == names


def test_what_is_no_notebook_gets_a_row_that_says_so_and_the_next_is_graded(folders, tmp_path):
    good = answered(folders[0] / "05_masks.ipynb", tmp_path / "good.ipynb", encoding="utf-8-sig")
    given = {"broken.ipynb": "{", "list.ipynb": "[]", "odd.ipynb": '{"cells": [1]}', "notes.txt": "hello",
             "deep.ipynb": "[" * 10**5, "none.ipynb": '{"cells": []}'}
    for file, text in given.items():
        (tmp_path / file).write_text(text)
    (tmp_path / "empty folder").mkdir()
    (tmp_path / "bytes.ipynb").write_bytes(b"\xff\xfe\x00")
    notebook = learners.write(tmp_path / "x" / "05_masks.ipynb", EMPTY, "# Zoë").read_text("utf-8")
    told = {"old.ipynb": (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "format 3, of 2014"),
            "page.ipynb": (b"<!DOCTYPE html>", "it is no notebook, or a broken one: no JSON from line 1 on"),
            "folder.ipynb": (None, "there is no notebook in this folder"),
            "latin.ipynb": (notebook.replace("\\u00eb", "ë").encode("latin-1"), "it should be UTF-8")}
    for file, (data, said) in told.items():
        (tmp_path / file).mkdir() if data is None else (tmp_path / file).write_bytes(data)
        (row,) = grading.grade([tmp_path / file])
        assert row["state"] == "could not be graded" and said in row["mistakes"] and "Error: it" not in row["mistakes"]
    paths = [tmp_path / file for file in (*given, "bytes.ipynb", "missing.ipynb", "empty folder", "no*.ipyn")]
    rows = list(grading.grade([*paths, good]))
    assert [row["state"] for row in rows[: len(paths)]] == ["could not be graded"] * 5 + ["no exercises"] + [
        "could not be graded"] * 4
    assert all(row["mistakes"] for row in rows if row["state"] == "could not be graded")
    assert [row["mistakes"] for row in rows[len(paths) - 3:len(paths)]] == [
        "there is no such file or folder", "there is no notebook in this folder", "no file fits this pattern"]
    assert {row["state"] for row in rows[len(paths):]} == {"not started"}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_a_notebook_that_was_saved_again_by_a_text_editor_is_read(tmp_path, encoding):
    path = learners.write(tmp_path / "x.IPYNB", EMPTY, "check('2.5', 24)")
    path.write_bytes(path.read_text("utf-8").encode(encoding))
    assert next(row for row in grading.grade([tmp_path]) if row["exercise"].startswith("2.5 "))["state"] == "right"
    assert not any(grading.passed_over([tmp_path]))


@pytest.mark.parametrize("option, value", [("--jobs", "-1"), ("--limit", "0"), ("--total", "nan"), ("--memory", "inf")])
def test_a_limit_that_is_none_is_refused(tmp_path, capsys, option, value):
    with pytest.raises(SystemExit):
        teacher.main(["grade", str(tmp_path), option, value])
    assert f"argument {option}: it must be above 0, and is {value}" in capsys.readouterr().err


def test_memory_in_bytes_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        teacher.main(["grade", str(tmp_path), "--memory", "16000000000"])
    assert "argument --memory: it is in GiB, at most 1024, and is 16000000000" in capsys.readouterr().err


def test_what_cannot_be_written_is_told_in_a_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert teacher.main(["grade", str(tmp_path), "-o", str(tmp_path / "no folder" / "marks.csv")]) == 2
    assert teacher.main(["grade", str(tmp_path), "-o", str(tmp_path)]) == 2
    assert teacher.main(["export", "--no-solutions", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"grade was stopped: there is no folder {tmp_path / 'no folder'}",
        f"grade was stopped: {tmp_path} is a folder, and the table needs a file, such as {tmp_path / 'marks.csv'}",
        f"export was stopped: {tmp_path / 'file'}: {os.strerror(errno.EEXIST)}"]


def test_no_notebook_is_written_over_and_no_table_for_nothing(tmp_path, capsys):
    one, two = (learners.write(tmp_path / f"class/{name}.ipynb", EMPTY) for name in ("one", "two"))
    answer, marks = tmp_path / "class/answer.txt", tmp_path / "marks.csv"
    (tmp_path / "empty").mkdir()
    for path in (answer, marks):
        path.write_text("mine")
    held = {path: path.read_bytes() for path in (one, two, answer, marks)}
    refused = {f"{two} has the name of a notebook": [one, "-o", two],
               "marks.xlsx has the name of a spreadsheet": [one, "-o", tmp_path / "marks.xlsx"],
               f"{answer} is among what is graded": [tmp_path / "class/*", "-o", answer],
               f"{marks} is there and is no table of grade": [tmp_path / "class", "-o", marks],
               f"there is nothing to grade, and {marks} stays as it is": [tmp_path / "clas", tmp_path / "empty", "-o",
                                                                       marks]}
    for said, arguments in refused.items():
        assert teacher.main(["grade", *map(str, arguments)]) == 2
        assert said in capsys.readouterr().err and {path: path.read_bytes() for path in held} == held
    assert teacher.main(["grade", str(tmp_path / "*"), "-o", str(tmp_path / "new.csv")]) == 0
    assert {row["notebook"] for row in table((tmp_path / "new.csv").read_text())} == {
        "class/one.ipynb", "class/two.ipynb", "empty", "marks.csv"}


def test_what_cannot_be_graded_is_not_counted_and_where_nothing_can_the_exit_status_says_so(tmp_path, capsys):
    learners.write(tmp_path / "05_masks.ipynb", EMPTY)
    paths = []
    for file, count, status in ("missing.ipynb", "0 notebooks", 1), ("05_masks.ipynb", "1 notebook", 0):
        paths.append(str(tmp_path / file))
        assert teacher.main(["grade", *paths, "-o", str(tmp_path / "marks.csv")]) == status
        assert capsys.readouterr().err.startswith(f"Graded: {count}, 1 could not be graded, ")


def test_what_else_lies_in_a_folder_is_told_once_and_passed_over(tmp_path, capsys, monkeypatch):
    learners.write(tmp_path / "class/ada/05_masks.ipynb", EMPTY)
    for place in (".ipynb_checkpoints/05_masks.ipynb", ".hidden.ipynb", "__MACOSX/ada.ipynb", ".notes"):
        (tmp_path / "class/ada" / place).parent.mkdir(exist_ok=True)
        (tmp_path / "class/ada" / place).touch()
    (tmp_path / "class/bob/x.ipynb").mkdir(parents=True)
    (tmp_path / "class/bob/answers.py").touch()
    assert teacher.main(["grade", str(tmp_path / "class"), "-o", str(tmp_path / "marks.csv")]) == 0
    *others, hidden, graded = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in others] == [str(tmp_path / "class/bob" / name)
                                                            for name in ("answers.py", "x.ipynb")]
    assert hidden == "Passed over, being hidden: 4 files, 3 notebooks among them" and "Graded: 1 notebook, " in graded
    everywhere = [tmp_path / "class", "class/b*", "class/../class"]
    monkeypatch.chdir(tmp_path)
    assert [len(paths) for paths in grading.passed_over(everywhere)] == [2, 4]


def test_names_in_another_encoding_differ_in_the_table():
    names = {grading.name(os.fsdecode(b"/class/M%b.ipynb" % letter), "/class") for letter in (b"\xfc", b"\xf6")}
    assert names == {r"M\xfc.ipynb", r"M\xf6.ipynb"}


@pytest.mark.skipif(sys.platform != "linux", reason="a process from which others are forked is Linux's alone")
def test_ctrl_c_is_for_the_teachers_process_while_the_others_start():
    code = ("import signal\nfrom multiprocessing import forkserver\nfrom mha.exercises.classroom import grading\n"
            "grading.starter()\nprint(open(f'/proc/{forkserver._forkserver._forkserver_pid}/status').read())\n"
            "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert int(re.search(r"SigIgn:\s*(\w+)", done.stdout)[1], 16) >> signal.SIGINT - 1 & 1, done.stderr


def test_a_learners_helper_is_for_his_own_notebook_wherever_the_teacher_stands(tmp_path):
    for name, answer in {"ada": "7", "bob": "24", "eve": ""}.items():
        learners.write(tmp_path / name / "x.ipynb", EMPTY, "import helper\ncheck('2.5', helper.answer)")
        if answer:
            (tmp_path / name / "helper.py").write_text(f"answer = {answer}")
    (tmp_path / "helper.py").write_text("answer = 24")
    for place in ("ada", "."):
        rows = table(command("grade", tmp_path, cwd=tmp_path / place, text=True).stdout)
        states = [row["state"] for row in rows if row["exercise"].startswith("2.5 ")]
        assert states == ["wrong", "right", "cannot be run"], place


SPOILT = """
from mha.exercises import check
check('2.5', 24)
raise ValueError('file \\udcff.txt \\x00 \\x1b[31m \\u2713')
check('2.6', 'A')"""


def test_no_field_ends_the_table_moves_the_console_or_is_a_formula(tmp_path):
    """Whatever a learner's error, file, output or shell says."""
    told = {"output_type": "display_data", "data": {}, "metadata": {"mha": {"exercise": "2.5", "tries": "=1+1"}}}
    learners.write(tmp_path / "=1\x1b\n.ipynb", cells.code(SPOILT) | {"outputs": [told]})
    learners.write(tmp_path / "x.ipynb", EMPTY, "check('2.5', 24)")
    done = command("grade", tmp_path, text=True, encoding="utf-8")
    rows = {(row["notebook"], row["exercise"].partition(" ")[0]): row for row in table(done.stdout)}
    assert rows["x.ipynb", "2.5"]["state"] == "right" and not re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f]", done.stdout)
    spoilt = rows[r"./=1\x1b\n.ipynb", "2.5"]
    assert (spoilt["state"], spoilt["tries"]) == ("right", "./=1+1")
    assert rows[r"./=1\x1b\n.ipynb", "2.6"]["mistakes"] == (
        r"ValueError: file \udcff.txt \x00 \x1b[31m ✓, in code cell 1")
    assert [grading.row("x", "2.5", value)["tries"] for value in (3, -3, "-3", "@x", "")] == [3, -3, "./-3", "./@x", ""]


# --- The table --------------------------------------------------------------------------------------------------------

CONSOLE = {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def test_the_table_is_utf8_whatever_the_console_speaks(tmp_path):
    learners.write(tmp_path / "Zoë Ελένη 名.ipynb", "class Fehlschläg(Exception): pass",
                   "from mha.exercises import check\nraise Fehlschläg('日本')\ncheck('5.5', 1)")
    done = command("grade", tmp_path, env={**os.environ, **CONSOLE})
    rows = table(done.stdout.decode("utf-8"))
    assert b"\r\r" not in done.stdout and {row["notebook"] for row in rows} == {"Zoë Ελένη 名.ipynb"}
    (row,) = (row for row in rows if row["exercise"].startswith("5.5 "))
    assert row["mistakes"] == "Fehlschläg: 日本, in code cell 2"


def test_a_table_for_a_spreadsheet_is_written_to_a_file_with_its_mark(tmp_path):
    learners.write(tmp_path / "05_masks.ipynb", EMPTY)
    assert teacher.main(["grade", str(tmp_path), "-o", str(tmp_path / "marks.csv"), "--bom"]) == 0
    assert teacher.main(["grade", str(tmp_path), "-o", str(tmp_path / "marks.csv"), "--bom"]) == 0      # and over it
    assert (tmp_path / "marks.csv").read_bytes()[:3] == b"\xef\xbb\xbf"
    rows = table((tmp_path / "marks.csv").read_text("utf-8-sig"))
    asked = [item.label for item in EXERCISES.values() if item.chapter == "05_masks"]
    assert [row["exercise"] for row in rows] == asked
    assert {row["state"] for row in rows} == {"missing"}


def test_a_table_with_other_rows_or_a_teachers_marks_is_kept_beside_the_new_one(tmp_path, capsys):
    marks, before = tmp_path / "marks.csv", tmp_path / "marks.before.csv"
    learners.write(tmp_path / "class/05_masks.ipynb", EMPTY)
    for _ in range(2):
        assert teacher.main(["grade", str(tmp_path / "class"), "-o", str(marks)]) == 0
    assert not before.exists()
    mine = marks.read_bytes().replace(b"missing", b"4 of 5 points").replace(b",", b";").replace(b"\n", b";points\n", 1)
    marks.write_bytes(mine)                                  # as a spreadsheet of another country saves it
    learners.write(tmp_path / "late/05_masks.ipynb", EMPTY)
    assert teacher.main(["grade", str(tmp_path / "late"), "-o", str(marks)]) == 0
    assert before.read_bytes() == mine and f"is kept as {before}" in capsys.readouterr().err
    assert teacher.main(["grade", str(tmp_path / "class" / "05_masks.ipynb"), "-o", str(marks)]) == 0
    assert before.read_bytes() == mine


def test_two_exercises_are_two_where_a_reader_takes_numbers_for_numbers():
    assert grading.row("x", "10.1")["exercise"] != grading.row("x", "10.10")["exercise"]
    with pytest.raises(ValueError):
        float(grading.row("x", "10.10")["exercise"])


def heed_ctrl_c():
    """A shell that starts the tests in the background lets them, and what they start, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_teacher_who_stops_it_has_the_rows_so_far(tmp_path):
    for number, sources in enumerate([[], ["import time\ntime.sleep(1000)"], []]):
        learners.write(tmp_path / f"{number}/05_masks.ipynb", *sources)
    made = tmp_path / "marks.csv"
    running = subprocess.Popen([sys.executable, "-m", "mha.exercises", "grade", tmp_path, "-o", made, "--jobs", "2"],
                               stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
    rows, deadline = sum(item.chapter == "05_masks" for item in EXERCISES.values()), time.monotonic() + 100
    while time.monotonic() < deadline and len(table(made.read_text() if made.exists() else "")) < rows:
        time.sleep(0.1)
    time.sleep(2)                                                  # the third is done by now, and waits for the second
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and "Traceback" not in said and "Stopped: the table has 2 notebooks" in said
    assert {row["notebook"] for row in table(made.read_text())} == {"0/05_masks.ipynb", "2/05_masks.ipynb"}


def help_of(*arguments, capsys):
    with pytest.raises(SystemExit):
        teacher.main([*arguments, "--help"])
    return " ".join(capsys.readouterr().out.split())


def test_the_help_says_what_it_does_not_guard_against(capsys):
    for arguments in ([], ["grade"]):
        said = help_of(*arguments, capsys=capsys)
        assert "They do not guard against malice. The learners' code runs on this machine with your rights" in said


# --- The page for teachers --------------------------------------------------------------------------------------------

PAGE = (ROOT / "chapters/teaching.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_do_what_it_says(tmp_path, capsys):
    """Those that stand in blocks are run, in order; every option that the page names is one."""
    for block in re.findall(r"```text\n(.*?)```", PAGE, re.S):
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            if "handed_in" in arguments:
                answered(tmp_path / "solved/05_masks.ipynb", tmp_path / "handed_in/ada/05_masks.ipynb")
            done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True)
            assert program == "python" and done.returncode == 0, done.stderr
    states = [row["state"] for row in table((tmp_path / "marks.csv").read_text("utf-8"))]
    assert states and set(states) <= {"right", "written"} and (tmp_path / "handout/05_masks.ipynb").exists()
    known = help_of("grade", capsys=capsys) + help_of("export", capsys=capsys)
    assert set(re.findall(r"`(--[a-z]+)", PAGE)) <= set(re.findall(r"--[a-z-]+", known))


def test_the_page_explains_each_column_and_each_state():
    columns = PAGE.partition("## What the names")[0].split("| state | when |")
    first, second = (re.findall(r"^\| (`.*?) \|", part, re.M) for part in columns)
    assert tuple(re.findall(r"`(.*?)`", " ".join(first))) == grading.FIELDS
    assert tuple(name.strip("`") for name in second) == grading.STATES


def test_what_the_page_names_leaves_no_count_of_tries_in_the_notebook(tmp_path, monkeypatch):
    """A check whose report is shown, and then each of them."""
    monkeypatch.setenv("MHA_PROGRESS", str(tmp_path / "progress.json"))
    (said,) = re.findall(r"^\| `tries` \| (.*) \|$", PAGE, re.M)
    ways = [way.replace("...", "'2.5', 7").replace("%%capture", "%%capture\ncheck('2.5', 7)")
            for way in re.findall(r"`(.*?)`", said)]
    path = learners.write(tmp_path / "x.ipynb", EMPTY, "check('2.5', 7)", *ways)
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
    nbformat.write(notebook, path)
    assert len(ways) == 4 and json.loads((tmp_path / "progress.json").read_text())["exercises"]["2.5"]["tries"] == 6
    assert [cell.tries for cell in handed_in.read(path) if cell.tries] == [{"2.5": 1}]


def test_the_page_names_the_magics_that_run_and_the_tag_that_is_skipped():
    assert set(re.findall(r"`%+(\w+)`", PAGE)) == shell.MAGICS and f"`{replay.SKIPPED}`" in PAGE


IMPORTS = "import torch\nfrom mha.exercises import check"


def solved(name):
    """The code of an exercise's cells, solved."""
    return [cell["source"] for cell in cells.cells(EXERCISES[name], solved=True) if cell["cell_type"] == "code"]


def after_tries(source, name, tries):
    """A check whose stored output counts so many tries."""
    return cells.code(source) | {"outputs": [{"output_type": "execute_result", "data": {}, "metadata": {
        "mha": {"exercise": name, "tries": tries}}}]}


ADA = [IMPORTS, "def softmax_backward(w, g):\n    return w * g - (w * g).sum(-1, keepdim=True)",
       "check('2.2', softmax_backward)", "def combine(o1, l1, o2, l2)\n    return o1", "check('2.3', combine)",
       "check('2.6', ...)", *solved("2.7"), *solved("2.8")[:-1], after_tries(solved("2.8")[-1], "2.8", 3)]
BOB = [IMPORTS, f"while True:\n    pass\n{solved('2.1')[0]}", solved("2.1")[1], "import os\nos._exit(1)",
       "check('2.5', ...)", "check('2.9', ...)"]


def test_the_rows_that_the_page_shows_are_those_of_two_such_notebooks(tmp_path):
    """With the page's limit for a cell in the place of this test's."""
    for name, made in {"ada": ADA, "bob": BOB}.items():
        learners.write(tmp_path / f"{name}.ipynb", *made)
    graded = [[str(value).replace("after 2 s", f"after {grading.CELL} s") for value in row.values()]
              for row in grading.grade([tmp_path], limit=2)]
    head, _, *shown = ([cell.strip() for cell in line.strip("|").split("|")]
                       for line in re.search(r"(\| notebook \| .*?)\n\n", PAGE, re.S)[1].splitlines())
    assert tuple(head) == grading.FIELDS
    assert shown == graded


def test_the_page_says_the_limits():
    for said in (f"{grading.CELL} seconds for a cell (`--limit`)", f"{grading.NOTEBOOK} seconds for a notebook "
                 "(`--total`)", f"{grading.MEMORY} GiB of memory (`--memory`)"):
        assert said in PAGE


def test_each_name_of_a_mistake_is_told_by_the_command_or_by_the_page():
    anywhere = {*names.general(), *re.findall(r"`([a-z_-]+)`", PAGE)}
    for item in EXERCISES.values():
        own = next((ROOT / "mha/exercises").glob(f"chapter_*/e{item.id.replace('.', '_')}_*.py"), None)
        known = own and names_in(own) or {mistake for _, mistake in replies(item)}
        assert known <= {*names.mistakes(item)} | anywhere, (item.id, known - {*names.mistakes(item)} - anywhere)
    for path in (ROOT / "mha/exercises/engine").glob("*.py"):
        assert names_in(path) <= anywhere, (path.name, names_in(path) - anywhere)
    engine = Path(exceptions.__file__).parent.glob("*.py")
    assert {"no-return", "random", "not-a-number"} <= set().union(*map(names_in, engine))


def replies(item):
    """(what is answered, the name of the mistake), of a question."""
    return [(option.text, option.mistake) for option in getattr(item, "options", ()) if option.mistake] + [
        (value, mistake.id) for value, mistake in getattr(item, "mistakes", ())]


def names_in(path):
    """The names of mistakes that a file of code writes down."""
    source = path.read_text("utf-8")
    lists = re.findall(r'(?:False, |return |mistakes, |or |ids == )\[("[A-Za-z_-]+"(?:, "[A-Za-z_-]+")*)[],]', source)
    single = re.findall(r'\bMistake\(\s*"([\w-]+)"|return "([a-z]+-gradient)"', source)
    return {name for found in single for name in found if name} | set(re.findall(r'"(.*?)"', " ".join(lists)))


def test_each_name_says_what_is_said_of_it_first():
    """Where several mistakes share one, that is what a learner's answer most often is; of errors none is shared."""
    first = {"softmax-axis-1": "The softmax runs over axis 1.",
             "queries-as-keys": "The scores are made of q with q: the keys are never used."}
    assert first.items() <= names.mistakes(EXERCISES["2.1"]).items()
    assert "torchs-softmax" in names.mistakes(EXERCISES["1.1"]) and "autograd" in names.mistakes(EXERCISES["2.2"])
    assert names.mistakes(EXERCISES["2.5"])["no-root"].startswith("That is d_k itself,")
    said = {}
    for _, mistake in exceptions.MEANINGS:
        assert said.setdefault(mistake.id, mistake.lead) == mistake.lead
        assert names.general()[mistake.id] == mistake.lead


def test_the_names_of_one_chapter_and_what_is_none(capsys):
    assert teacher.main(["mistakes", "2.1", "05_masks"]) == 0
    said = capsys.readouterr().out
    assert "no-scale" in said and "5.1 " in said and "6.1 " not in said
    assert teacher.main(["mistakes", "2.11"]) == 2 and "is called 2.11" in capsys.readouterr().err
