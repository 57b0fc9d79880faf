"""The chapters as they are stored: what is kept, how exercises get in, and when two outputs say the same.

Kept are one sentence a line, cell ids and the text of outputs. Images, widgets, tracebacks and counters go, since each
build makes them anew.
"""
import math
import re

import nbformat
from nbformat import NotebookNode

from mha.exercises import EXERCISES
from mha.exercises.engine.cells import cells
from tools.sentences import one_a_line

HEADING = "## Exercises"                          # where the exercises of a chapter go

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


# --- What is stored -------------------------------------------------------------------------------------------------

def text_output(output):
    """One output with its text only; None where it has none."""
    if output.output_type == "stream":
        return NotebookNode(output_type="stream", name=output.name, text=output.text)
    if output.output_type == "error":
        line = f"{output.ename}: {output.evalue}"
        return NotebookNode(output_type="error", ename=output.ename, evalue=output.evalue, traceback=[line])
    if "text/plain" not in output.get("data", {}):
        return None
    kept = NotebookNode(output_type=output.output_type, metadata=NotebookNode(),
                        data=NotebookNode({"text/plain": output.data["text/plain"]}))
    if output.output_type == "execute_result":
        kept.execution_count = 1
    return kept


def text_outputs(outputs):
    """The text of a cell's outputs, neighbouring pieces of one stream joined."""
    kept = []
    for output in filter(None, map(text_output, outputs)):
        last = kept[-1] if kept else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            kept.append(output)
    return kept


def normalise(notebook, set_up):
    """Change a notebook in place to the form that is stored."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata = NotebookNode(tags=tags) if tags else NotebookNode()
        in_lines(cell)
        if cell.cell_type == "code":
            cell.execution_count = 1
            cell.outputs = text_outputs(cell.outputs)
            if "set-up" in tags:
                cell.source = set_up
    return notebook


# --- The cells of the exercises -------------------------------------------------------------------------------------

def exercise_cells(item, solved=False):
    """The cells of an exercise as nodes of a notebook, in the form that is stored."""
    return [in_lines(nbformat.from_dict(cell)) for cell in cells(item, solved)]


def in_lines(cell):
    """Change a cell in place: one sentence a line, where it is prose."""
    if cell.cell_type == "markdown":
        cell.source = one_a_line(cell.source)
    return cell


def stamp(notebook, chapter):
    """Put the exercises of a chapter in their places, instead of those that stand there.

    A question that the page can judge stands at the end of the section that it comes after, all others under their
    heading. They are generated from mha/exercises. Outputs of cells that stay equal stay.
    """
    old = {cell.id: cell for cell in notebook.cells if "exercise" in cell.metadata.get("tags", [])}
    notebook.cells = [cell for cell in notebook.cells if cell.id not in old]
    for item in reversed([item for item in EXERCISES.values() if item.chapter == chapter]):
        at = end_of_section(notebook, item) if item.asked_early else under_heading(notebook, chapter)
        wanted = exercise_cells(item)
        for cell in wanted:
            if cell.cell_type == "code" and cell.id in old and old[cell.id].source == cell.source:
                cell.outputs, cell.execution_count = old[cell.id].outputs, old[cell.id].execution_count
        notebook.cells[at:at] = wanted
    return notebook


def sections(notebook):
    """(index of the cell, title) of each cell that begins a section."""
    return [(i, cell.source.splitlines()[0]) for i, cell in enumerate(notebook.cells)
            if cell.cell_type == "markdown" and cell.source.startswith("## ")]


def under_heading(notebook, chapter):
    """Where the exercises of a chapter begin."""
    places = [i for i, title in sections(notebook) if title == HEADING]
    if len(places) != 1:
        raise ValueError(f"{chapter} has exercises and needs one Markdown cell that starts with {HEADING!r}, "
                         f"found {len(places)}")
    return places[0] + 1


def end_of_section(notebook, item):
    """Where a question stands that comes after a section: before what follows, other questions of it included."""
    begins = [i for i, title in sections(notebook) if title.startswith(f"## {item.after.split()[1]}. ")]
    if len(begins) != 1:
        raise ValueError(f"exercise {item.id} comes after {item.after} of {item.chapter}: one Markdown cell begins it, "
                         f"found {len(begins)}")
    return next(i for i in range(begins[0] + 1, len(notebook.cells))
                if "exercise" in notebook.cells[i].metadata.get("tags", [])
                or notebook.cells[i].cell_type == "markdown" and notebook.cells[i].source.startswith("## "))


# --- When two outputs say the same ----------------------------------------------------------------------------------

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
RELATIVE, ABSOLUTE = 2e-3, 1e-6


def last_digit(number):
    """The size of one unit in the last printed digit, where at least four decimals are printed; else 0."""
    mantissa, _, exponent = number.lower().partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return 1.01 * 10.0 ** -places if places >= 4 else 0.0


def same_number(fresh, stored):
    """Integers are equal; decimals agree to the noise of another machine's arithmetic."""
    if fresh.lstrip("-+").isdigit() or stored.lstrip("-+").isdigit():
        return fresh == stored
    tolerance = max(ABSOLUTE, last_digit(stored))
    return math.isclose(float(fresh), float(stored), rel_tol=RELATIVE, abs_tol=tolerance)


def same_text(fresh, stored):
    """The same words, up to white space, and the same numbers."""
    words = [re.sub(r"\s+", "", NUMBER.sub("#", text)) for text in (fresh, stored)]
    return words[0] == words[1] and all(map(same_number, NUMBER.findall(fresh), NUMBER.findall(stored)))


def text_of(output):
    """What a reader reads of an output."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return output.data["text/plain"]


def difference(fresh, stored):
    """Where a fresh run departs from what is stored, as a sentence; None where both say the same."""
    fresh, stored = text_outputs(fresh), text_outputs(stored)
    if [o.output_type for o in fresh] != [o.output_type for o in stored]:
        return (f"a run gives {[o.output_type for o in fresh]}, stored are {[o.output_type for o in stored]}: "
                "run `python3 book.py refresh`")
    for new, old in zip(fresh, stored):
        if not same_text(text_of(new), text_of(old)):
            return f"a run gives\n{text_of(new)}\nbut stored is\n{text_of(old)}"
    return None
