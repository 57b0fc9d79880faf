"""The teacher's side: notebooks out, a table back."""
import csv
import io
import json
import subprocess
import sys

import nbformat
import pytest

from mha.exercises import EXERCISES, teacher


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "mha.exercises", *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Exported without and with solutions."""
    made = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("solved")
    for folder, solved in zip(made, (False, True)):
        for path in teacher.export(folder, solved):
            nbformat.validate(nbformat.read(path, 4))
    return made


def rows_of(paths, **options):
    return list(teacher.grade(paths, **options))


def test_what_is_handed_out_is_not_started_and_holds_no_solution(folders):
    path = folders[0] / "06_multi_head.ipynb"
    assert {row["state"] for row in rows_of([path])} == {"not started"}
    assert "transpose(1, 2).flatten(2)" not in "".join("".join(c["source"])
                                                       for c in json.loads(path.read_text())["cells"]
                                                       if c["cell_type"] == "code")


def test_what_is_solved_is_right_for_every_exercise(folders):
    rows = rows_of(sorted(folders[1].glob("*.ipynb")))
    assert {row["exercise"] for row in rows} == set(EXERCISES) and {row["state"] for row in rows} == {"right"}


def answered(path, target, **sources):
    """A copy of a notebook with other sources in the cells of these ids (underscores for hyphens)."""
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        cell["source"] = sources.get(cell["id"].replace("-", "_"), cell["source"])
    target.write_text(json.dumps(notebook))
    return target


def test_each_answer_gets_its_own_line(folders, tmp_path):
    path = answered(folders[0] / "06_multi_head.ipynb", tmp_path / "ada.ipynb",
                    exercise_6_1_stub="def cut(x, h):\n    return x.unflatten(-1, (h, -1))\n\ndef split_heads(x, "
                                      "h):\n    return cut(x, h).transpose(1, 2)",
                    exercise_6_2_stub="def merge_heads(y):\n    print('hello')\n    return y.sum(1)",
                    exercise_6_3_stub="def multi_head(x, W_Q, W_K, W_V, W_O, h, mask:\n    return x",
                    exercise_6_5_check='from mha.exercises import check\ncheck("6.5", 1048576)')
    notebook = json.loads(path.read_text())
    check = next(cell for cell in notebook["cells"] if cell["id"] == "exercise-6-2-check")
    check["outputs"] = [{"output_type": "execute_result", "data": {},
                         "metadata": {"mha": {"exercise": "6.2", "tries": 4}}}]
    path.write_text(json.dumps(notebook))
    rows = {row["exercise"]: row for row in rows_of([path])}
    assert rows["6.1"]["state"] == "right" and rows["6.4"]["state"] == "not started"
    assert (rows["6.2"]["state"], rows["6.2"]["mistakes"], rows["6.2"]["tries"]) == ("wrong", "heads-summed", 4)
    assert rows["6.3"]["state"] == "cannot be run" and "SyntaxError" in rows["6.3"]["mistakes"]
    assert rows["6.5"]["mistakes"] == "biases-forgotten" and rows["6.5"]["notebook"] == "ada.ipynb"


def test_a_notebook_that_hangs_or_is_none_costs_one_line(folders, tmp_path):
    slow = answered(folders[0] / "06_multi_head.ipynb", tmp_path / "slow.ipynb",
                    exercise_6_1_stub="import time\ndef split_heads(x, h):\n    time.sleep(1000)")
    broken = tmp_path / "broken.ipynb"
    broken.write_text("{")
    states = [row["state"] for row in rows_of([slow, broken, tmp_path / "missing.ipynb"], limit=8)]
    assert states == ["took longer than 8 s", "could not be graded", "could not be graded"]


def test_the_commands_print_paths_and_a_table(tmp_path):
    done = run("export", "--no-solutions", tmp_path / "out")
    assert len(done.stdout.split()) == len({item.chapter for item in EXERCISES.values()})
    table = csv.DictReader(io.StringIO(run("grade", tmp_path / "out" / "05_masks.ipynb").stdout))
    assert [row["exercise"] for row in table] == [id for id in EXERCISES if id.startswith("5.")]
    assert "required" in run("export", tmp_path).stderr
