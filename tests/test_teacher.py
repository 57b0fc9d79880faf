"""The teacher's side: notebooks out, a table back."""
import csv
import io
import json
import subprocess
import sys

import nbformat
import pytest

from mha.exercises import EXERCISES, teacher


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Exported without and with solutions."""
    made = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("solved")
    for folder, solved in zip(made, (False, True)):
        for path in teacher.export(folder, solved):
            nbformat.validate(nbformat.read(path, 4))
    return made


def test_what_is_handed_out_is_not_started_and_holds_no_solution(folders):
    path = folders[0] / "06_multi_head.ipynb"
    assert {row["state"] for row in teacher.grade([path])} == {"not started"}
    code = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    assert "transpose(1, 2).flatten(2)" not in "".join(code)


def test_what_is_solved_is_right_for_every_exercise(folders):
    rows = [row for path in sorted(folders[1].glob("*.ipynb")) for row in teacher.grade_one(path)]
    assert {row["exercise"] for row in rows} == set(EXERCISES) and {row["state"] for row in rows} == {"right"}


def answered(path, target, **sources):
    """A copy of a notebook with other sources in the cells of these ids (underscores for hyphens)."""
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        cell["source"] = sources.get(cell["id"].replace("-", "_"), cell["source"])
    target.write_text(json.dumps(notebook))
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
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask:
    return x
"""
A_NUMBER = """
from mha.exercises import check
check("6.5", 1048576)
"""
SLEEPS = """
import time

def split_heads(x, h):
    time.sleep(1000)
"""


def test_each_answer_gets_its_own_line(folders, tmp_path):
    path = answered(folders[0] / "06_multi_head.ipynb", tmp_path / "ada.ipynb", exercise_6_1_stub=SPLIT_IN_TWO_STEPS,
                    exercise_6_2_stub=MERGE_BY_A_SUM, exercise_6_3_stub=NO_PYTHON, exercise_6_5_check=A_NUMBER)
    notebook = json.loads(path.read_text())
    check = next(cell for cell in notebook["cells"] if cell["id"] == "exercise-6-2-check")
    check["outputs"] = [{"output_type": "execute_result", "data": {},
                         "metadata": {"mha": {"exercise": "6.2", "tries": 4}}}]
    path.write_text(json.dumps(notebook))
    rows = {row["exercise"]: row for row in teacher.grade([path])}
    assert rows["6.1"]["state"] == "right" and rows["6.4"]["state"] == "not started"
    assert (rows["6.2"]["state"], rows["6.2"]["mistakes"], rows["6.2"]["tries"]) == ("wrong", "heads-summed", 4)
    assert rows["6.3"]["state"] == "cannot be run" and "SyntaxError" in rows["6.3"]["mistakes"]
    assert rows["6.5"]["mistakes"] == "biases-forgotten" and rows["6.5"]["notebook"] == "ada.ipynb"


def test_a_notebook_that_hangs_costs_one_line(folders, tmp_path):
    slow = answered(folders[0] / "06_multi_head.ipynb", tmp_path / "slow.ipynb", exercise_6_1_stub=SLEEPS)
    assert [row["state"] for row in teacher.grade([slow], limit=1)] == ["took longer than 1 s"]


def test_a_notebook_that_is_none_costs_one_line(tmp_path):
    broken = tmp_path / "broken.ipynb"
    broken.write_text("{")
    states = [row["state"] for row in teacher.grade([broken, tmp_path / "missing.ipynb"])]
    assert states == ["could not be graded", "could not be graded"]


def test_the_commands_print_paths_and_a_table(tmp_path, capsys):
    exported = subprocess.run([sys.executable, "-m", "mha.exercises", "export", "--no-solutions", tmp_path / "out"],
                              capture_output=True, text=True)
    assert len(exported.stdout.split()) == len({item.chapter for item in EXERCISES.values()})
    teacher.main(["grade", str(tmp_path / "out" / "05_masks.ipynb")])
    table = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert [row["exercise"] for row in table] == [id for id in EXERCISES if id.startswith("5.")]


def test_with_or_without_solutions_must_be_said(tmp_path, capsys):
    with pytest.raises(SystemExit):
        teacher.main(["export", str(tmp_path)])
    assert "--with-solutions --no-solutions is required" in capsys.readouterr().err
