"""The cells of the exercises in a chapter. They are generated: change the exercise in mha/exercises, then run `book.py refresh`.

Each cell has the tag `exercise`. An exercise in code has what is asked, with the hints folded away; the stub, also tagged `stub`; and the check, also
tagged `check`. A question has what is asked, its picture if there is one, its options, and the check, which only a notebook shows: in the page
exercise_pages.py makes a form of the question.
"""
import inspect
import textwrap

from nbformat.v4 import new_code_cell, new_markdown_cell

HEADING = "## Exercises"


def exercises_of(chapter):
    """The exercises of a chapter, by its file name without the ending."""
    from mha.exercises import EXERCISES
    return [item for item in EXERCISES.values() if item.chapter == chapter]


def hints(item):
    """The hints, folded away; the last hint of an exercise in code is code."""
    def shown(i, hint):
        return f"`{hint}`" if hasattr(item, "reference") and i == len(item.hints) else hint.replace("*", "\\*")
    return "\n\n".join(f"<details><summary>Hint {i}</summary>\n\n{shown(i, hint)}\n\n</details>" for i, hint in enumerate(item.hints, 1))


def heading(item):
    """The title, and a line that says what kind of exercise it is."""
    return f"### {item.heading}\n\n*{item.about}*"


def options(item):
    """The options of a choice as a list."""
    return "\n".join(f"* **{letter}.** {option.text}" for letter, option in zip(getattr(item, "letters", ""), getattr(item, "options", ())))


def cells(item, solved=False):
    """The cells of an exercise: as a learner finds them or, solved, with a right answer in place."""
    return in_code(item, solved) if hasattr(item, "reference") else question(item, solved)


def in_code(item, solved):
    return marked(item, {
        "text": new_markdown_cell(joined(heading(item), item.statement, hints(item))),
        "stub": new_code_cell(solution(item) if solved else item.stub.strip()),
        "check": new_code_cell(f'from mha.exercises import check\ncheck("{item.id}", {item.name})')})


def question(item, solved):
    verb = "predict" if getattr(item, "predicted", False) else "check"
    asked = joined(heading(item), item.statement)
    parts = {"text": new_markdown_cell(asked), "figure": new_code_cell(f'from mha.exercises import show\nshow("{item.id}")'),
             "options": new_markdown_cell(joined(options(item), hints(item)))}
    if not item.picture:
        parts = {"text": new_markdown_cell(joined(asked, options(item), hints(item)))}
    parts["check"] = new_code_cell(f'from mha.exercises import {verb}\n{verb}("{item.id}", {item.solution if solved else "..."})')
    return marked(item, parts)


TAGS = {"text": [], "options": [], "stub": ["stub"], "figure": ["remove-input"], "check": ["check"]}


def marked(item, parts):
    """The cells, each with an id that stays and its tags."""
    for part, cell in parts.items():
        cell.id = f"exercise-{item.id.replace('.', '-')}-{part}"
        cell.metadata["tags"] = ["exercise", *TAGS[part], *(["remove-cell"] if part == "check" and not hasattr(item, "reference") else [])]
    return list(parts.values())


def joined(*parts):
    return "\n\n".join(filter(None, parts))


def solution(exercise):
    """The source of the reference, with what it needs."""
    return "import math\n" + textwrap.dedent(inspect.getsource(exercise.reference))


def stamp(notebook, chapter):
    """Put the exercises of a chapter under its heading, in place of those that stand there; outputs of equal cells stay."""
    wanted = [cell for item in exercises_of(chapter) for cell in cells(item)]
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
