"""What `python3 book.py refresh` does: stores in each chapter what it says now, in the form that is kept."""
import sys

import nbformat

from _ext.publishing import SET_UP
from stored import runs
from tools import notebooks


def prepare(path, set_up):
    """Write a chapter in the form that is stored: exercises and set-up cell as they are generated, its outputs kept."""
    notebook = notebooks.stamp(nbformat.read(path, as_version=4), path.stem)
    write(path, notebooks.normalise(notebook, set_up))


def store(path, set_up):
    """Store the text of a chapter's last run; an output that says the same as before stays to the letter.

    An output that is another in each run, such as times, stays too: a busy machine would store what it has slowed down.
    Clear it in the notebook, and the next run on a quiet machine is stored.
    """
    notebook = nbformat.read(path, as_version=4)
    stored = [cell.get("outputs") for cell in notebook.cells]
    run = runs.last(path)
    if not run:
        sys.exit(f"mha or {path.name} was changed while it ran: run `python3 book.py refresh` again")
    notebook = runs.filled(notebook, run)
    for cell, old in zip(notebook.cells, stored):
        if cell.cell_type != "code":
            continue
        varies = old and "nbval-ignore-output" in cell.metadata.get("tags", [])
        if varies or notebooks.difference(cell.outputs, old) is None:
            cell.outputs = old
    write(path, notebooks.normalise(notebook, set_up))


def write(path, notebook):
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def refresh(paths, set_up):
    """Prepare, run and store these chapters, and say of each whether it changed."""
    before = {path: path.read_text(encoding="utf-8") for path in paths}
    for path in paths:
        prepare(path, set_up)
    runs.make_all(paths)
    for path in paths:
        store(path, set_up)
        print(f"{path.name}: {'stored anew' if path.read_text(encoding='utf-8') != before[path] else 'unchanged'}")


if __name__ == "__main__":
    refresh(sorted(runs.CHAPTERS.glob("*.ipynb")), SET_UP)
