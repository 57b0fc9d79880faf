"""Notebooks as learners hand them in: every exercise answered, rightly or wrongly, in ten styles; and what a learner's
own kernel says of each answer.
"""
import ast
import json
import re

import nbformat
from nbclient import NotebookClient

from mha.exercises import EXERCISES
from mha.exercises.engine.cells import cells, code
from mha.exercises.classroom.teacher import KERNEL


def notebook(*sources):
    """A notebook of these code cells; a source may be a whole cell."""
    cells = [source if isinstance(source, dict) else code(source) for source in sources]
    made = [cell | {"id": cell.get("id", f"cell-{i}")} for i, cell in enumerate(cells)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": KERNEL}, "cells": made}


def write(path, *sources):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(*sources)), encoding="utf-8")
    return path


# --- Answers ----------------------------------------------------------------------------------------------------------

def answer(item, right):
    """The source of a function; of a question, of a value."""
    if item.in_code:
        blank, setting = next((name, next(iter(wrong))) for name, wrong in item.program.switches.items())
        return "import math\n" + item.program.filled(**({} if right else {blank: setting}))
    if right or item.kind == "explain":
        return item.solution if right else '" "'
    if item.letters:
        return repr(next(letter for letter in item.letters if letter != item.right))
    return repr(item.mistakes[0][0] if item.mistakes else item.answer + 1)


def verb(item):
    return "predict" if item.predicted else "check"


def handed_in(item, made):
    """What is given to check: a function by its name, a value as it is."""
    return item.name if item.in_code else made


# --- Ten styles: the sources of the cells that answer one exercise ----------------------------------------------------

SET_UP = "import math, torch\nimport torch.nn.functional as F\nfrom mha.exercises import check, find, predict"


def one_cell(item, made):
    return [f"{made if item.in_code else ''}\n{verb(item)}('{item.id}', {handed_in(item, made)})"]


def lambda_where_possible(item, made):
    if not item.in_code:
        return [f"{verb(item)}('{item.id}', (lambda: {made})())"]
    head, body = made[: made.index("def ")], ast.parse(made).body[-1]
    arguments = ast.unparse(body.args)
    if len(ast.parse(made).body) == 2 and isinstance(body.body[0], ast.Return):
        made = f"{head}\n{item.name} = lambda {arguments}: {ast.unparse(body.body[0].value)}"
    else:
        made += f"\nfrom functools import partial\n{item.name} = partial({item.name})"
    return [f"{made}\ncheck('{item.id}', {item.name})"]


def constant_apart(item, made):
    if not item.in_code:
        return [f"mine_{item.id.replace('.', '_')} = {made}",
                f"{verb(item)}('{item.id}', mine_{item.id.replace('.', '_')})"]
    tree = ast.parse(made)
    tree.body[-1].body.insert(0, ast.parse("assert UNIT == 1").body[0])
    return ["UNIT = 1", ast.unparse(tree), f"check('{item.id}', {item.name})"]


def tried_import(item, made):
    return ["try:\n    import torch, math\n    from mha.exercises import check as judge, predict as guess\n"
            "except ImportError:\n    print('no torch')", made if item.in_code else "pass",
            f"{'guess' if item.predicted else 'judge'}('{item.id}', {handed_in(item, made)})"]


def timed(item, made):
    return ["%matplotlib inline\n!echo pip\n" + (made if item.in_code else "x = 1"),
            f"%%time\nshown = {verb(item)}('{item.id}', {handed_in(item, made)})", "shown"]


def by_keyword(item, made):
    call = (f"check(find('{item.name}'), answer={item.name})" if item.in_code else
            f"predict('{item.id}', guess={made})" if item.predicted else f"check(id='{item.id}', answer={made})")
    return [made if item.in_code else "pass", call]


def redefined_later(item, made):
    made_again = f"def {item.name}(*x):\n    return 'scratch'" if item.in_code else "check = check"
    call = f"import mha.exercises\nmha.exercises.{verb(item)}('{item.id}', {handed_in(item, made)})"
    return [made if item.in_code else "pass", call, made_again]


def stub_copied_below(item, made):
    if not item.in_code:
        return [f"{verb(item)}('{item.id}', {made})", f"{verb(item)}('{item.id}', ...)"]
    return [made, f"check('{item.id}', {item.name})", item.stub]


def check_deleted(item, made):
    return [made if item.in_code else f"mine = {made}"]


def helper_apart(item, made):
    if not item.in_code:
        return [f"def mine():\n    return {made}", f"{verb(item)}('{item.id}', mine())"]
    return [made.replace(f"def {item.name}(", f"def its_{item.name}("), "1 / 0",
            f"def {item.name}(*given):\n    return its_{item.name}(*given)\nif True:\n    said = check('{item.name}', "
            f"{item.name})\nsaid"]


STYLES = [one_cell, lambda_where_possible, constant_apart, tried_import, timed, by_keyword, redefined_later,
          stub_copied_below, check_deleted, helper_apart]


def class_notebook(shift):
    """The cells of a notebook that answers every exercise: each in the style after that of the one before, one in two
    wrongly, and what style each has.
    """
    cells, styles = [SET_UP], {}
    for i, item in enumerate(EXERCISES.values()):
        style = STYLES[(i + shift) % len(STYLES)]
        styles[item.id] = style.__name__
        cells += style(item, answer(item, right=(i + shift // len(STYLES) + i // len(STYLES)) % 2 == 0))
    return cells, styles


# --- What a learner sees ----------------------------------------------------------------------------------------------

def seen_live(path):
    """id -> (state, mistakes), of what a kernel of Jupyter says when all cells are run; what is said of an untouched
    stub after an answer is left out.
    """
    made = nbformat.read(path, 4)
    NotebookClient(made, kernel_name="python3", timeout=300, allow_errors=True).execute()
    seen = {}
    for output in (output for cell in made.cells for output in cell.get("outputs", [])):
        mark = output.get("metadata", {}).get("mha")
        if mark:
            said = re.search(r": (right|not yet|written|not started|as you said|you said)\b",
                             output.data["text/plain"])[1]
            state = {"not yet": "wrong", "as you said": "right", "you said": "wrong"}.get(said, said)
            if state != "not started" or mark["exercise"] not in seen:
                seen[mark["exercise"]] = state, " ".join(mark["mistakes"])
    return seen


# --- A class of one chapter -------------------------------------------------------------------------------------------

ODD = {
    "sys.exit": "import sys\nsys.exit()",
    "exit": "exit()",
    "input": "input('name?')",
    "interrupt": "raise KeyboardInterrupt",
    "an endless loop": "while True:\n    pass",
    "a long sleep": "import time\ntime.sleep(1000)",
    "endless, but it hears": "while True:\n    try:\n        pass\n    except Exception:\n        pass",
    "a background process": "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; "
                            "time.sleep(999)'])",
    "a copy that sleeps": "import os\nif os.fork() == 0:\n    import time\n    time.sleep(1000)",
    "a copy that goes on": "import os\nos.fork()",
    "many copies": "import os\nfor _ in range(5):\n    os.fork()",
    "a thread that stays": "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()",
    "too much memory": "import torch\nlarge = torch.ones(2**40)",
    "too much memory, bit by bit": "kept = []\nwhile True:\n    kept.append(bytearray(10**8))",
    "too much memory, in lists": "kept = []\nwhile True:\n    kept.append([len(kept)] * 200)",
    "too much memory, in tensors": "import torch\nkept = []\nwhile True:\n    kept.append(torch.ones(100, 100))",
    "an error of syntax with no words": "raise SyntaxError",
    "closed files": "import os\nos.closerange(3, 100)",
    "much print": "for i in range(10**5):\n    print('x' * 100)",
    "no output": "import sys\nsys.stdout = sys.stderr = None",
    "another folder": "import os\nos.chdir('/')",
    "deep recursion": "def f():\n    f()\nf()",
    "an error that cannot be said": "class Mute(Exception):\n    def __str__(self):\n        1 / 0\nraise Mute",
    "no Python": "def f(:",
    "a shell": "%%bash\nsleep 1000",
    "a shell line": "!sleep 1000",
    "an unknown magic": "%no_such_magic",
    "an install": "%pip install no-such-package",
    "a wait": "import asyncio\nawait asyncio.sleep(0)",
    "a wait without end": "import asyncio\nawait asyncio.sleep(1000)",
    "a task": "import asyncio\nasync def later():\n    return 1\ntask = asyncio.create_task(later())",
    "a closed loop": "import asyncio\nasyncio.get_event_loop().call_later(0, lambda: None)\n"
                     "asyncio.new_event_loop().close()",
    "a reload": "import importlib, mha.exercises\nimportlib.reload(mha.exercises)\n"
                "from mha.exercises import check",
}
ENDING = {                                  # what ends Python -> the cell, and why the rows after it say that it ended
    "os._exit": ("import os\nos._exit(0)", "Python was ended, in code cell"),
    "a crash": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "ended by signal 11"),
    "a killed group": ("import os, signal\nos.killpg(0, signal.SIGKILL)", "ended by signal 9"),
    "a loop that hears nothing": ("while True:\n    try:\n        while True:\n            pass\n    except:\n"
                                  "        pass", "could not be interrupted"),
    "a loop in C": ("sum(iter(int, 1))", "could not be interrupted"),
}
TEN = ("sys.exit", "input", "an endless loop", "a background process", "a copy that goes on", "too much memory",
       "os._exit", "a crash", "a loop that hears nothing", "no notebook")


def write_class(folder, chapter, size, some):
    """A folder for each learner, with the notebook of a chapter as it was handed out and some of it answered; ten of
    them are broken, each in its own way, somewhere between two exercises.

    Returns:
        The path below the folder -> {id: state}, in order; of what is no notebook {"": state}.
    """
    broken = dict(zip(some.sample(range(size), len(TEN)), TEN))
    items, expected = [item for item in EXERCISES.values() if item.chapter == chapter], {}
    for number in range(size):
        states = {item.id: some.choice(["right", "wrong", "not started"]) for item in items}
        parts = [cells_of_learner(item, states[item.id]) for item in items]
        kind, place, name = broken.get(number), some.randrange(len(items)), f"learner {number:03}/{chapter}.ipynb"
        if kind in ODD or kind in ENDING:
            parts[place].insert(0, code(ODD.get(kind) or ENDING[kind][0]))
        after = list(states)[place:] if kind in ENDING else []
        written = {id for id, state in states.items() if state == "right" and EXERCISES[id].kind == "explain"}
        states |= dict.fromkeys(written, "written") | dict.fromkeys(after, "not reached")
        path = write(folder / name, SET_UP, *sum(parts, []))
        if kind == "no notebook":
            path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
        expected[name] = {"": "could not be graded"} if kind == "no notebook" else states
    return expected


def cells_of_learner(item, state):
    """The code cells of an exercise as they were handed out, answered so that the state comes of it."""
    handed_out = [cell for cell in cells(item) if cell["cell_type"] == "code"]
    if state != "not started":
        made = answer(item, right=state == "right")
        handed_out[-1]["source"] = one_cell(item, "" if item.in_code else made)[0]
        if item.in_code:
            handed_out[0]["source"] = made
    return handed_out
