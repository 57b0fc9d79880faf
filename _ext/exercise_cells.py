"""Puts the exercises into the chapters' files. They are generated: change the exercise in mha/exercises, then run
`book.py refresh`.
"""
import nbformat

HEADING = "## Exercises"


def cells(item, solved=False):
    """The cells of an exercise as nodes of a notebook."""
    from mha.exercises.cells import cells
    return [nbformat.from_dict(cell) for cell in cells(item, solved)]


def stamp(notebook, chapter):
    """Put the exercises of a chapter under its heading, in place of those that stand there; outputs of equal cells
    stay.
    """
    from mha.exercises import EXERCISES
    wanted = [cell for item in EXERCISES.values() if item.chapter == chapter for cell in cells(item)]
    old = {cell.id: cell for cell in notebook.cells if "exercise" in cell.metadata.get("tags", [])}
    notebook.cells = [cell for cell in notebook.cells if cell.id not in old]
    if not wanted:
        return notebook
    places = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"
              and cell.source.startswith(HEADING)]
    if len(places) != 1:
        raise ValueError(f"{chapter} has exercises and needs one Markdown cell that starts with {HEADING!r}, found "
                         f"{len(places)}")
    for cell in wanted:
        if cell.cell_type == "code" and cell.id in old and old[cell.id].source == cell.source:
            cell.outputs, cell.execution_count = old[cell.id].outputs, old[cell.id].execution_count
    notebook.cells[places[0] + 1 : places[0] + 1] = wanted
    return notebook
