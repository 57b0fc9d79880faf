"""The cells of the exercises in a chapter. They are generated: change the exercise in mha/exercises, then run `book.py refresh`.

Each exercise has three cells, tagged `exercise`: what is asked, with the hints folded away; the stub, also tagged `stub`; and the check, also tagged `check`.
"""
import inspect
import textwrap

from nbformat.v4 import new_code_cell, new_markdown_cell

HEADING = "## Exercises"


def exercises_of(chapter):
    """The exercises of a chapter, by its file name without the ending."""
    from mha.exercises import EXERCISES
    return [exercise for exercise in EXERCISES.values() if exercise.chapter == chapter]


def text(exercise):
    """What is asked, as Markdown that reads well everywhere."""
    hints = "\n\n".join(f"<details><summary>Hint {i}</summary>\n\n{hint.replace('*', chr(92) + '*') if i < 3 else f'`{hint}`'}\n\n</details>"
                        for i, hint in enumerate(exercise.hints, 1))
    return f"### {exercise.id} · `{exercise.name}` · {'★' * exercise.stars} · {exercise.minutes} minutes\n\n{exercise.statement}\n\n{hints}"


def cells(exercise, solved=False):
    """The three cells of an exercise, its stub or, solved, its reference in the second."""
    name = exercise.id.replace(".", "-")
    source = solution(exercise) if solved else exercise.stub.strip()
    made = [new_markdown_cell(text(exercise)), new_code_cell(source),
            new_code_cell(f'from mha.exercises import check\ncheck("{exercise.id}", {exercise.name})')]
    for cell, part in zip(made, ("text", "stub", "check")):
        cell.id = f"exercise-{name}-{part}"
        cell.metadata["tags"] = ["exercise"] if part == "text" else ["exercise", part]
    return made


def solution(exercise):
    """The source of the reference, with what it needs."""
    return "import math\n" + textwrap.dedent(inspect.getsource(exercise.reference))


def stamp(notebook, chapter):
    """Put the exercises of a chapter under its heading, in place of those that stand there; outputs of equal cells stay."""
    wanted = [cell for exercise in exercises_of(chapter) for cell in cells(exercise)]
    old = {cell.id: cell for cell in notebook.cells if "exercise" in cell.metadata.get("tags", [])}
    notebook.cells = [cell for cell in notebook.cells if cell.id not in old]
    if not wanted:
        return notebook
    places = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "markdown" and cell.source.startswith(HEADING)]
    if len(places) != 1:
        raise ValueError(f"{chapter} has exercises and needs one Markdown cell that starts with {HEADING!r}, found {len(places)}")
    for cell in wanted:
        if cell.cell_type == "code" and cell.id in old and old[cell.id].source == cell.source:
            cell.outputs, cell.execution_count = old[cell.id].outputs, old[cell.id].execution_count
    notebook.cells[places[0] + 1 : places[0] + 1] = wanted
    return notebook
