"""A class that is graded gets what it saw, whatever its notebooks do, and one learner spoils his own rows alone."""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import class_of_learners as learners
from mha.exercises import EXERCISES, grading, teacher
from mha.exercises.cells import cells as cells_of

MASKS = [item for item in EXERCISES.values() if item.chapter == "05_masks"]
RIGHT = {item.id: [cell["source"] for cell in cells_of(item, solved=True) if cell["cell_type"] == "code"]
         for item in MASKS}


def graded(*paths, **settings):
    """notebook -> {exercise: (state, mistakes)}"""
    found = {}
    for row in grading.grade(paths, **settings):
        found.setdefault(row["notebook"], {})[row["exercise"]] = row["state"], row["mistakes"]
    return found


def states(*paths, **settings):
    """Of one notebook, exercise -> state."""
    (rows,) = graded(*paths, **settings).values()
    return {id: state for id, (state, _) in rows.items()}


# --- The table says what the learner saw ------------------------------------------------------------------------------

def test_the_table_says_what_check_said_in_every_style(tmp_path, some):
    """Two ten-thousandths of all ways to draw; every exercise in every style takes ten of them."""
    cells, styles = learners.class_notebook(some.randrange(20))
    path = learners.write(tmp_path / "all.ipynb", *cells)
    seen = learners.seen_live(path)
    (rows,) = graded(path).values()
    assert rows == {id: seen.get(id, ("missing", "")) for id in EXERCISES}
    deleted = {id for id, style in styles.items() if style == "check_deleted"}
    assert {id for id, (state, _) in rows.items() if state == "missing"} == deleted


A, B = "5.1", "5.4"                        # the first is handed in before what is odd, the other after it
WRONG = "def leaks(*x):\n    return x[0]\nfrom mha.exercises import check\ncheck('5.4', leaks)"


def odd(*between):
    return "import torch, math\nimport torch.nn.functional as F", *RIGHT[A], *between, *RIGHT[B]


GOES_ON = {
    "an error": "1 / 0",
    "no Python": "def f(:",
    "sys.exit": "import sys\nsys.exit()",
    "exit": "exit()",
    "input": "input('name?')",
    "interrupt": "raise KeyboardInterrupt",
    "an endless loop": "while True:\n    pass",
    "a long sleep": "import time\ntime.sleep(1000)",
    "endless, but it hears": "while True:\n    try:\n        pass\n    except Exception:\n        pass",
    "a background process": "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'input()'])",
    "a copy that sleeps": "import os\nif os.fork() == 0:\n    import time\n    time.sleep(1000)",
    "a fork that goes on": "import os\nos.fork()",
    "many forks": "import os\nfor _ in range(5):\n    os.fork()",
    "a thread that stays": "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()",
    "too much memory": "import torch\nlarge = torch.ones(2**40)",
    "too much memory, bit by bit": "kept = []\nwhile True:\n    kept.append(bytearray(10**8))",
    "closed files": "import os\nos.closerange(3, 100)",
    "much print": "for i in range(10**5):\n    print('x' * 100)",
    "no output": "import sys\nsys.stdout = sys.stderr = None",
    "another folder": "import os\nos.chdir('/')",
    "deep recursion": "def f():\n    f()\nf()",
    "a shell": "%%bash\nsleep 1000",
    "a shell line": "!sleep 1000",
    "an unknown magic": "%no_such_magic",
    "an install": "%pip install no-such-package",
    "a wait": "import asyncio\nawait asyncio.sleep(0)",
}
ENDS = {
    "os._exit": ("import os\nos._exit(0)", "Python was ended, in code cell"),
    "a crash": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "ended by signal 11"),
    "a killed group": ("import os, signal\nos.killpg(0, signal.SIGKILL)", "ended by signal 9"),
    "a loop that hears nothing": ("while True:\n    try:\n        while True:\n            pass\n    except:\n"
                                  "        pass", "could not be interrupted"),
    "a loop in C": ("sum(iter(int, 1))", "could not be interrupted"),
}


@pytest.fixture(scope="module")
def odd_class(tmp_path_factory):
    """The rows of a class of them all, graded in one run, and how long that took."""
    folder = tmp_path_factory.mktemp("class")
    for name, cell in GOES_ON.items() | {name: cell for name, (cell, _) in ENDS.items()}.items():
        learners.write(folder / name / "05_masks.ipynb", *odd(cell))
    return graded(folder, limit=3, memory=2)


@pytest.mark.parametrize("name", GOES_ON)
def test_what_comes_after_an_odd_cell_is_graded(odd_class, name):
    found = odd_class[f"{name}/05_masks.ipynb"]
    assert {id: state for id, (state, _) in found.items()} == {
        item.id: "right" if item.id in (A, B) else "missing" for item in MASKS}


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_python_leaves_what_was_before_it_and_says_where_it_ended(odd_class, name):
    found = odd_class[f"{name}/05_masks.ipynb"]
    assert found.pop(A) == ("right", "")
    assert {state for state, _ in found.values()} == {"not reached"} and len(found) == len(MASKS) - 1
    assert all(ENDS[name][1] in why and "code cell 4" in why for _, why in found.values())


def test_the_class_leaves_no_process_and_no_file_behind(odd_class):
    """What grade started is gone, whatever it started itself; only the process that the next run will fork is left."""
    left = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True).stdout
    assert "input()" not in left and "sleep 1000" not in left
