"""One answer in code, judged in a process of its own: that of a notebook which hands it in, run again as a class's are.
"""
import json
import re
import tempfile
import time
from pathlib import Path

from mha.exercises.classroom import grading
from mha.exercises.engine.cells import IMPORTS, code

MEMORY = 2                                  # GiB, where the system has such limits
GRACE = 10                                  # seconds beside those of the check, in which a process begins
HANDED_IN, CHECKED = 2, 3                   # code cells


def judged(item, source, limit, start):
    """(the state that a table of grades would have, what `check` says of an answer or why it says nothing).

    Args:
        item: an exercise in code. source: the learner's, with the function of its name. limit: seconds for the source
            and again for the check. start: what starts a process, from grading.starter().
    """
    cells = [code(IMPORTS), code(source), code(f'from mha.exercises import check\ncheck("{item.id}", {item.name})')]
    with tempfile.TemporaryDirectory(prefix="mha-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, f"{item.chapter}.ipynb")
        path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}), "utf-8")
        run = grading.Run(path, path.name, Path(folder, "run"), limit, 2 * limit + GRACE)
        try:
            run.begin(start, MEMORY)
            while not run.is_over():
                time.sleep(grading.TICK)
            found, why = run.outcome()
        finally:
            run.end()
    return told(item, found, why)


def told(item, found, why):
    """(state, text), of the lines that a process found and of why it ended."""
    reports = [entry for entry in found if entry.get("exercise") == item.id and "text" in entry]
    errors = [str(entry["error"]) for entry in found if "error" in entry]
    whole = any("end" in entry for entry in found)
    if reports:
        aside = [f"The code itself stopped: {in_words(errors[0])}. What stands above it was checked."] if errors else []
        return reports[-1]["state"], "\n".join([str(reports[-1]["text"]), *aside])
    if not errors and whole:
        return "cannot be run", f"{item.label}: not judged.\nThe check gave no result: the code stands in its way."
    error = errors[0] if errors else grading.stopped(found, why)
    if f"name '{item.name}' is not defined" in error and cell_of(error) == CHECKED:
        return "cannot be run", f"{item.label}: not judged.\nThe code defines no {item.signature}."
    doing = "The check was ended" if cell_of(error) == CHECKED else "The code does not run to its end"
    return "cannot be run", f"{item.label}: not judged.\n{doing}: {in_words(error)}."


CELL = re.compile(r", in (?:(line \d+) of )?code cell (\d+)")


def cell_of(error):
    found = CELL.search(error)
    return int(found[2]) if found else None


def in_words(error):
    """An error without the cells of a notebook that nobody has seen."""
    return CELL.sub(lambda found: f", in {found[1]}" if found[1] else "", error).rstrip(".")
