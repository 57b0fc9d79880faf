"""A class that is graded gets what it saw, whatever its notebooks do, and one learner spoils his own rows alone."""
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

import class_of_learners as learners
from mha.exercises import EXERCISES
from mha.exercises.classroom import grading, handed_in
from mha.exercises.engine.cells import cells as cells_of

IMPORT = "from mha.exercises import check"
MASKS = [item for item in EXERCISES.values() if item.chapter == "05_masks_lab"]
RIGHT = {item.id: [cell["source"] for cell in cells_of(item, solved=True) if cell["cell_type"] == "code"]
         for item in MASKS}


def graded(*paths, **settings):
    """notebook -> {exercise: (state, mistakes)}"""
    found = {}
    for row in grading.grade(paths, **settings):
        found.setdefault(row["notebook"], {})[row["exercise"].partition(" ")[0]] = row["state"], row["mistakes"]
    return found


def states(*paths, **settings):
    """Of one notebook, exercise -> state."""
    (rows,) = graded(*paths, **settings).values()
    return {id: state for id, (state, _) in rows.items()}


# --- The table says what the learner saw ------------------------------------------------------------------------------

def test_the_table_says_what_check_said_in_every_style(tmp_path, some):
    """Every exercise in one style, drawn anew each time, one in two wrongly; a kernel of Jupyter is the judge."""
    cells, styles = learners.class_notebook(some.randrange(20))
    path = learners.write(tmp_path / "all.ipynb", *cells)
    seen = learners.seen_live(path)
    (rows,) = graded(path).values()
    assert rows == {id: seen.get(id, ("missing", "")) for id in EXERCISES}
    deleted = {id for id, style in styles.items() if style == "check_deleted"}
    assert {id for id, (state, _) in rows.items() if state == "missing"} == deleted


A, B = "5.2", "5.4"                        # the first is handed in before what is odd, the other after it


def odd(*between):
    return "import torch, math\nimport torch.nn.functional as F", *RIGHT[A], *between, *RIGHT[B]


def test_an_odd_cell_costs_at_most_what_comes_after_it_and_the_table_says_where(tmp_path):
    """All of them as one class, graded in one run."""
    cells = learners.ODD | {name: cell for name, (cell, _) in learners.ENDING.items()}
    for name, cell in cells.items():
        learners.write(tmp_path / name / "05_masks_lab.ipynb", *odd(cell))
    found = {name.partition("/")[0]: rows for name, rows in graded(tmp_path, limit=2, memory=0.5).items()}
    assert sorted(found) == sorted(cells)
    whole = {item.id: ("right" if item.id in (A, B) else "missing", "") for item in MASKS}
    for name in () if sys.version_info >= (3, 11) else ("endless, but it hears", "too much memory, in tensors"):
        assert found.pop(name)[A] == ("right", "")  # Python 3.10 hears no signal in the first, and ends in the second
    assert {name: rows for name, rows in found.items() if name in learners.ODD} == {
        name: whole for name in learners.ODD if name in found}
    for name, (_, why) in learners.ENDING.items():
        assert found[name].pop(A) == ("right", "") and len(found[name]) == len(MASKS) - 1
        for state, said in found[name].values():
            assert state == "not reached" and why in said and "code cell 4" in said, (name, state, said)


def test_an_answer_that_is_no_python_cannot_be_run_and_is_not_missing(tmp_path):
    """Nor does the empty stub that was left above it hide it."""
    assert EXERCISES["5.1"].name == "causal_weights"
    stub = [part["source"] for part in cells_of(EXERCISES["5.1"], solved=False) if part["cell_type"] == "code"]
    for cell in ("check(\u201c5.1\u201d, causal_weights)", "check('5.1, causal_weights)", "check '5.1', causal_weights",
                 "check(id='5.1', answer=causal_weights", "check('causal_weights' causal_weights)",
                 "def causal_weights(n)\n    return n\ncheck('5.1', causal_weights)"):
        for name, above in (("alone", []), ("below a stub", stub)):
            learners.write(tmp_path / f"{cell[:20]!r} {name}" / "05_masks.ipynb", IMPORT, *above, cell)
    found = {name: rows["5.1"] for name, rows in graded(tmp_path).items()}
    assert len(found) == 12 and {name: said for name, said in found.items()
                                 if said[0] != "cannot be run" or not said[1].startswith("SyntaxError")} == {}


def test_what_ends_a_cell_in_jupyter_ends_it_here(tmp_path):
    ends = {"1.5": ("import asyncio\nasync def later():\n    return 1\nasyncio.run(later())", "RuntimeError"),
            "2.5": ("# at last\n%%time", "UsageError"),
            "2.6": ("import sys\nsys.stdout.reconfigure(encoding='utf-8')", "AttributeError"),
            "5.5": ("import sys\nsys.stdout.buffer.write(b'x')", "AttributeError"),
            "6.5": ("import sys\nsys.stdout.write(1)", "TypeError")}
    path = learners.write(tmp_path / "x.ipynb", IMPORT, *(f"{cell}\ncheck('{id}', 7)" for id, (cell, _) in
                                                          ends.items()))
    assert learners.seen_live(path) == {}
    (rows,) = graded(path).values()
    assert [(rows[id][0], rows[id][1].partition(":")[0]) for id in ends] == [
        ("cannot be run", error) for _, error in ends.values()]


def test_a_pipe_is_no_notebook(tmp_path):
    os.mkfifo(tmp_path / "x.ipynb")
    assert graded(tmp_path / "x.ipynb") == {"x.ipynb": {"": ("could not be graded",
                                                             "it is no file, but a pipe or a device")}}


def test_what_a_notebook_starts_ends_with_it(tmp_path):
    noted = tmp_path / "pids"
    path = learners.write(tmp_path / "x.ipynb", f"""
import os, subprocess, sys, time
started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999)"])
copy = os.fork()
if copy == 0:
    time.sleep(999)
open({str(noted)!r}, "w").write(f"{{started.pid}} {{copy}}")""", "check('5.1', 0)")
    assert states(path)["5.1"] == "cannot be run"
    deadline = time.monotonic() + 20                        # a process that is killed takes a moment on a busy machine
    while any(map(lives, noted.read_text().split())) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(lives, noted.read_text().split()))


def test_what_a_notebook_starts_ends_with_a_grader_that_is_killed(tmp_path):
    noted = tmp_path / "pids"
    path = learners.write(tmp_path / "x.ipynb", f"""
import os
copy = os.fork()
if copy:
    open({str(noted)!r}, "w").write(f"{{os.getpid()}} {{copy}}")
while True:
    pass""")
    grader = subprocess.Popen([sys.executable, "-m", "mha.exercises", "grade", path], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (noted.exists() and noted.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    pids = noted.read_text().split()
    assert all(map(lives, pids))
    grader.kill()
    grader.wait()
    while any(map(lives, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(lives, pids))


def lives(pid):
    """Whether there is such a process, and it is not dead and waiting to be buried."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def test_a_class_is_graded_in_one_run_row_by_row(tmp_path, some):
    expected = learners.write_class(tmp_path, "05_masks", 24, some)
    found = graded(tmp_path, limit=2)
    assert {name: {id: state for id, (state, _) in rows.items()} for name, rows in found.items()} == expected
    assert list(found) == list(expected)


# --- What is the teacher's stays the teacher's ------------------------------------------------------------------------

def test_what_a_learner_solves_is_not_the_teachers_progress(tmp_path, monkeypatch):
    mine = tmp_path / "mine.json"
    mine.write_text('{"version": 1, "exercises": {}}')
    monkeypatch.setenv("MHA_PROGRESS", str(mine))
    learners.write(tmp_path / "class/05_masks.ipynb", "from mha.exercises import check, hint, progress, solution, show",
                   "check('5.5', 1), hint('5.1'), solution('5.1'), progress('mha1-1.1-3p'), show('1.8')",
                   "open('x', 'w').write('y')")
    assert states(tmp_path / "class")["5.5"] == "wrong"
    assert mine.read_text() == '{"version": 1, "exercises": {}}'
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["05_masks.ipynb", "class", "mine.json"]


def test_a_notebook_starts_processes_as_a_learners_kernel_does(tmp_path):
    """A function of the notebook is known to a process that is forked of it, and to no other."""
    path = learners.write(tmp_path / "x.ipynb", "import multiprocessing\nfrom mha.exercises import check",
                          "def put(queue):\n    queue.put(24)\nif multiprocessing.get_start_method() == 'fork':\n"
                          "    queue = multiprocessing.Queue()\n"
                          "    multiprocessing.Process(target=put, args=[queue]).start()\n"
                          "    check('2.5', queue.get(timeout=30))\n"
                          f"elif {multiprocessing.get_start_method()!r} != 'fork':\n    check('2.5', 24)")
    assert states(path)["2.5"] == "right"


def test_a_helper_beside_the_notebook_comes_before_what_is_installed_and_after_pythons_own_as_in_jupyter(tmp_path):
    (tmp_path / "nbclient.py").write_text("answer = 24")
    (tmp_path / "colorsys.py").write_text("1 / 0")
    path = learners.write(tmp_path / "x.ipynb", "import colorsys\nfrom nbclient import answer",
                          "import mha.exercises as m\nm.check('2.5', answer)")
    assert states(path)["2.5"] == "right" and not (tmp_path / "__pycache__").exists()


# --- Which exercises, and why not -------------------------------------------------------------------------------------

def test_the_last_result_counts_and_a_brute_force_of_numbers_is_its_last(tmp_path):
    path = learners.write(tmp_path / "x.ipynb", IMPORT,
                          "for n in (24, 7):\n    check('2.5', n)")
    assert states(path)["2.5"] == "wrong"


@pytest.mark.parametrize("file, cell, chapters", [
    ("x.ipynb", {"cell_type": "code", "source": "", "id": "exercise-5-1-check"}, {"05_masks"}),
    ("x.ipynb", {"cell_type": "code", "source": "", "metadata": {"id": "exercise-5-1-check"}}, {"05_masks"}),
    ("x.ipynb", {"cell_type": "markdown", "source": ["### " + EXERCISES["5.1"].heading + "\n", "so"]}, {"05_masks"}),
    ("ada 05_masks (2).ipynb", "", {"05_masks"}),
    ("05_masks.ipynb", {"cell_type": "code", "source": "", "id": "exercise-2-1-check"}, {"02_one_head"}),
    ("x.ipynb", "check = print\ncheck('2.1', 5)", {"02_one_head"}),
    ("x.ipynb", "check(find('attention'), answer=5)", {"02_one_head"}),
    ("x.ipynb", "%%time\ncheck('2.1', 5)", {"02_one_head"}),
    ("x.ipynb", "hint('2.1')", set()),
])
def test_a_notebook_belongs_to_the_chapter_whose_exercises_stand_in_it(tmp_path, file, cell, chapters):
    path = learners.write(tmp_path / file, cell)
    found = handed_in.expected(path, handed_in.read(path))
    assert found == [id for id, item in EXERCISES.items() if item.chapter in chapters]


def test_an_answer_that_could_not_be_made_names_the_error_that_made_it_so(tmp_path):
    path = learners.write(tmp_path / "x.ipynb", IMPORT,
                          "def attention(q, k, v:\n    return q",
                          "check('2.1', attention)", "check('2.2', softmax_bakward)", "1 / 0\ncheck('2.5', 24)",
                          "try:\n    check('2.6', nowhere)\nexcept NameError:\n    pass", "check(number='2.7', a=1)")
    (rows,) = graded(path).values()
    assert rows["2.7"][0] == "cannot be run" and "unexpected keyword argument 'number'" in rows["2.7"][1]
    assert rows["2.1"][0] == rows["2.2"][0] == rows["2.5"][0] == "cannot be run" and rows["2.6"] == ("missing", "")
    assert rows["2.1"][1].startswith("SyntaxError") and "softmax_bakward" in rows["2.2"][1]
    assert rows["2.5"][1] == "ZeroDivisionError: division by zero, in code cell 5"


SKIPPED = {"cell_type": "code", "source": "attention = 1", "metadata": {"tags": ["skip-execution"]}}


def test_a_name_that_is_missing_tells_what_befell_its_cell_as_jupyter_counts(tmp_path):
    befell = [
        ("while True:\n    pass\ndef attention(q, k, v):\n    return v", "stopped after 2 s, in code cell 2"),
        ("%time\nwhile True:\n    pass\nimport torch as attention", "stopped after 2 s, in code cell 2"),
        ("while True:\n    pass\n_, attention = 1, 2", "stopped after 2 s, in code cell 2"),
        ("\n \n\ndef attention(q, k, v:\n    return v", "SyntaxError: '(' was never closed, in line 4 of code cell 2"),
        ("eval('1 +')\nattention = 1", "SyntaxError: invalid syntax, in code cell 2"),
        (SKIPPED, "skipped: its tag is skip-execution, in code cell 2")]
    for number, (made, _) in enumerate(befell):
        learners.write(tmp_path / f"{number}.ipynb", " \n", IMPORT, made, "check('2.1', attention)",
                       "check('2.2', lambda dp, p: attention(dp, p, p))")
    for (_, said), rows in zip(befell, graded(tmp_path, limit=2).values(), strict=True):
        assert rows["2.1"] == ("cannot be run", f"{said}, so attention is not defined")
        assert rows["2.2"] == ("wrong", f"name ({said}, so attention is not defined)")


def test_what_a_notebook_puts_in_place_of_torchs_judges_nobody_and_is_told(tmp_path):
    """Whether it breaks the checker, or lets everything pass."""
    for name, cell in {"breaks": "F.scaled_dot_product_attention = torch.softmax = lambda *args, **named: 1 / 0",
                       "passes": "torch.allclose = lambda *args, **named: True"}.items():
        learners.write(tmp_path / name / "02_one_head.ipynb", f"import torch, torch.nn.functional as F\n{cell}", IMPORT,
                       *(cell["source"] for cell in cells_of(EXERCISES["2.1"], solved=True)[1:]),
                       "check('2.4', lambda W_Q: W_Q)")
    for rows in graded(tmp_path).values():
        assert rows["2.1"] == ("right", "") and rows["2.4"] == ("wrong", "no-scale torch-replaced")


def test_a_cell_with_the_tag_that_jupyter_skips_is_skipped(tmp_path):
    training = {"cell_type": "code", "source": "import os\nos._exit(0)", "metadata": {"tags": ["skip-execution"]}}
    path = learners.write(tmp_path / "x.ipynb", training, "from mha.exercises import check\ncheck('2.5', 24)")
    assert states(path)["2.5"] == "right"


def test_exit_ends_no_cell_as_in_jupyter(tmp_path):
    path = learners.write(tmp_path / "x.ipynb", "exit()\nfrom mha.exercises import check\ncheck('2.5', 24)")
    assert states(path)["2.5"] == "right"


def test_what_is_timed_is_run(tmp_path):
    path = learners.write(tmp_path / "x.ipynb", IMPORT, "%%timeit -n 1 -r 1\ncheck('2.5', 24)",
                          "took = %timeit -n 1 -r 1 -o pass\ncheck('2.6', 'A' * took.loops)")
    assert {states(path)[id] for id in ("2.5", "2.6")} <= {"right", "wrong"}


def test_a_notebook_as_a_whole_has_a_limit(tmp_path):
    path = learners.write(tmp_path / "x.ipynb", "from mha.exercises import check\ncheck('2.5', 24)",
                          *["import time\ntime.sleep(2)"] * 20)
    (rows,) = graded(path, total=3).values()
    assert rows["2.5"] == ("right", "") and "the notebook took longer than 3 s" in rows["2.1"][1]


@pytest.mark.parametrize("lines", ["", "null", "[]", "{", '{"expected": 5}', '{"expected": [[]], "tries": {}}',
                                   '{"expected": ["2.1"], "tries": {}}\n{"exercise": 5}', "\x00\n\x00"])
def test_lines_that_are_not_ours_cost_a_row(tmp_path, lines):
    run = grading.Run(tmp_path / "x.ipynb", "x.ipynb", tmp_path / "run", 1, 1)
    run.folder.mkdir()
    run.lines.write_text(lines)
    run.process = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    run.process.exitcode, run.process.join = 0, run.process.wait
    assert [row["state"] for row in run.finished()] == ["could not be graded"]


def test_where_nothing_can_be_forked_a_new_process_does_the_same(tmp_path, monkeypatch):
    """As on Windows and on a Mac."""
    monkeypatch.setattr(grading.sys, "platform", "darwin")
    path = learners.write(tmp_path / "x.ipynb", "1 / 0", "from mha.exercises import check\ncheck('2.5', 24)")
    assert states(path)["2.5"] == "right"
