"""For teachers: exercises as notebooks to hand out, and a folder of them graded to a table.

    python -m mha.exercises export --no-solutions DIR      one notebook a chapter, with its exercises only
    python -m mha.exercises export --with-solutions DIR    the same, solved
    python -m mha.exercises grade DIR/*.ipynb > marks.csv  one line a notebook and exercise

Grading runs the learners' code on this machine, each notebook in a process of its own with a time limit: do it where
that is safe. Nothing is sent anywhere. What a learner's checks noted (how many tries) is read from the notebook's own
outputs, if they were kept.
"""
import argparse
import ast
import contextlib
import csv
import io
import json
import subprocess
import sys
from pathlib import Path

from mha.exercises.calls import Caught
from mha.exercises.cells import cell_id, cells, code, markdown

FIELDS = ("notebook", "exercise", "title", "state", "mistakes", "tries")
LIMIT = 120
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


# --- Export ---------------------------------------------------------------------------------------------------------

def export(folder, solved):
    """Write one notebook for each chapter. Returns the paths."""
    from mha.exercises import EXERCISES
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for chapter in dict.fromkeys(item.chapter for item in EXERCISES.values()):
        first = [markdown(f"# Exercises: {chapter}") | {"id": "title"},
                 code("import torch\nimport torch.nn.functional as F") | {"id": "set-up"}]
        made = [cell for item in EXERCISES.values() if item.chapter == chapter for cell in cells(item, solved)]
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": KERNEL}, "cells": first + made}
        paths.append(folder / f"{chapter}.ipynb")
        paths[-1].write_text(json.dumps(notebook, indent=1, ensure_ascii=False), encoding="utf-8")
    return paths


# --- Grade ----------------------------------------------------------------------------------------------------------

def grade(paths, limit=LIMIT):
    """Rows of FIELDS for every exercise that stands in the notebooks."""
    for path in map(Path, paths):
        try:
            done = subprocess.run([sys.executable, "-m", "mha.exercises", "grade-one", str(path)], capture_output=True,
                                  text=True, timeout=limit, encoding="utf-8")
            rows = (json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout
                    else [{"state": "could not be graded", "mistakes": last_words(done.stderr)}])
        except subprocess.TimeoutExpired:
            rows = [{"state": f"took longer than {limit} s"}]
        for row in rows:
            yield {field: row.get(field, "") for field in FIELDS} | {"notebook": path.name}


def last_words(text):
    return text.strip().splitlines()[-1][:200] if text.strip() else ""


def grade_one(path):
    """The rows of one notebook. Runs in a process of its own; what the learner's code prints goes nowhere."""
    import math

    import torch

    from mha.exercises import EXERCISES
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    world = {"math": math, "torch": torch, "F": torch.nn.functional}
    errors, calls, tries = {}, {}, {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for cell in cells:
            if cell["cell_type"] != "code":
                continue
            source = "".join(cell["source"])
            tries.update(noted(cell))
            asked = answers(source)
            if asked:
                calls.update(asked)
            elif defines_or_imports(source):
                failure = execute(source, world)
                if failure:
                    errors[cell.get("id", "")] = failure
        rows = [row(EXERCISES[id], expression, world, errors, tries.get(id, "")) for id, expression in calls.items()
                if id in EXERCISES]
    return sorted(rows, key=lambda r: list(EXERCISES).index(r["exercise"]))


def row(item, expression, world, errors, tries):
    with Caught() as caught:
        answer = eval(compile(expression, "answer", "eval"), world)
    if caught.failure is not None:
        why = errors.get(cell_id(item, "stub")) or said(caught.failure)
        return {"exercise": item.id, "title": item.label, "state": "cannot be run", "mistakes": why, "tries": tries}
    report = item.examine(answer)
    state = "right" if report.ok else "wrong" if report.started else "not started"
    return {"exercise": item.id, "title": item.label, "state": state, "mistakes": " ".join(report.mistakes),
            "tries": tries}


def answers(source):
    """id -> the expression that a cell gives to check or predict as the answer."""
    found = {}
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call) or len(node.args) != 2:
                continue
            if getattr(node.func, "id", getattr(node.func, "attr", "")) in ("check", "predict"):
                with contextlib.suppress(ValueError):
                    found[ast.literal_eval(node.args[0])] = ast.Expression(node.args[1])
    return found


def defines_or_imports(source):
    """Whether a cell only defines, imports and assigns: what an answer may need. Trainings and pictures are left out.
    """
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return "def " in source
    kinds = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return any(isinstance(node, kinds) for node in body)


def execute(source, world):
    """Run the definitions of a cell one by one; the first failure as text."""
    with Caught() as caught:
        for node in ast.parse(source).body:
            exec(compile(ast.Module([node], []), "learner", "exec"), world)
    return said(caught.failure) if caught.failure is not None else ""


def said(failure):
    return f"{type(failure).__name__}: {failure}"


def noted(cell):
    """id -> tries, from what the checks wrote beside their output."""
    found = {}
    for output in cell.get("outputs", []):
        mark = output.get("metadata", {}).get("mha")
        if isinstance(mark, dict) and mark.get("exercise"):
            found[mark["exercise"]] = mark.get("tries", "")
    return found


# --- The command ----------------------------------------------------------------------------------------------------

def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m mha.exercises", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    out = commands.add_parser("export", help="write notebooks to hand out")
    which = out.add_mutually_exclusive_group(required=True)
    which.add_argument("--with-solutions", action="store_true")
    which.add_argument("--no-solutions", action="store_true")
    out.add_argument("folder", help="where to write them; made if it is not there")
    marks = commands.add_parser("grade", help="check the answers in notebooks, as CSV")
    marks.add_argument("notebooks", nargs="+")
    marks.add_argument("--limit", type=int, default=LIMIT, help="seconds for each notebook (default: %(default)s)")
    one = commands.add_parser("grade-one")
    one.add_argument("notebook")
    options = parser.parse_args(arguments)
    if options.command == "export":
        for path in export(options.folder, options.with_solutions):
            print(path)
    elif options.command == "grade":
        table = csv.DictWriter(sys.stdout, FIELDS)
        table.writeheader()
        table.writerows(grade(options.notebooks, options.limit))
    else:
        print(json.dumps(grade_one(options.notebook)))
