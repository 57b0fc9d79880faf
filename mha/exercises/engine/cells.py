"""An exercise as the cells of a notebook: as a learner finds it or, solved, with a right answer in place.

Each cell is a dict of the notebook format and has the tag `exercise` and an id that stays. An exercise in code has what
is asked, with the hints folded away; the stub; and the check. A question has what is asked, its picture if there is
one, its options, and the check.
"""

def cells(item, solved=False, with_solution=True):
    """The cells of an exercise, a list of dicts. with_solution: whether that of one in code stands folded below it."""
    return in_code(item, solved, with_solution) if item.in_code else question(item, solved)


def in_code(item, solved, with_solution):
    return marked(item, {
        "text": markdown(heading(item), item.statement, hints(item, with_solution)),
        "stub": code(solution(item) if solved else item.stub.strip()),
        "check": code(f'from mha.exercises import check\ncheck("{item.id}", {item.name})')})


def question(item, solved):
    verb = "predict" if item.predicted else "check"
    parts = {"text": markdown(heading(item), item.statement, options(item), hints(item))}
    if item.picture:
        parts = {"text": markdown(heading(item), item.statement),
                 "figure": code(f'from mha.exercises import show\nshow("{item.id}")'),
                 "options": markdown(options(item), hints(item))}
    parts["check"] = code(f'from mha.exercises import {verb}\n{verb}("{item.id}", '
                          f'{item.solution if solved else "..."})')
    return marked(item, parts)


def heading(item):
    """The title, and a line that says what kind of exercise it is."""
    return f"### {item.heading}\n\n*{item.about}*"


def hints(item, with_solution=True):
    """The hints, folded away; the last hint of an exercise in code is its solution, in code, where that is wanted."""
    folded = [(f"Hint {i}", hint.replace("*", "\\*")) for i, hint in enumerate(item.hints, 1)]
    if item.in_code:
        folded[-1:] = [("The solution", f"```python\n{item.hints[-1]}\n```")] * with_solution
    return "\n\n".join(f"<details><summary>{title}</summary>\n\n{text}\n\n</details>" for title, text in folded)


def options(item):
    """The options of a choice as a list."""
    if not item.letters:
        return ""
    return "\n".join(f"* **{letter}.** {option.text}" for letter, option in zip(item.letters, item.options))


def solution(item):
    """The source of the reference, with what it needs."""
    return "import math\n" + item.source.rstrip()


# The tags that begin with remove- are for the page. It shows pictures without their code and checks without their
# output, and has a form in place of the check of a question (_ext/exercise_pages.py).
TAGS = {"text": [], "options": [], "stub": ["stub"], "figure": ["remove-input"], "check": ["check"]}


PAGE = {True: "remove-output", False: "remove-cell"}


def cell_id(item, part):
    return f"exercise-{item.id.replace('.', '-')}-{part}"


def marked(item, parts):
    """The cells with their ids and tags."""
    for part, cell in parts.items():
        tags = ["exercise", *TAGS[part], *([PAGE[item.in_code]] if part == "check" else [])]
        cell.update(id=cell_id(item, part), metadata={"tags": tags})
    return list(parts.values())


# --- A notebook of nothing but exercises ----------------------------------------------------------------------------

IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom mha.exercises import check, predict"
# The same line as in the set-up cells of the chapters (_ext/publishing.py), which work where nothing is installed.
FETCH = """\
import importlib.util
if not importlib.util.find_spec("mha"):  # the book's package, where it is not installed already
    %pip install -q "mha @ git+{url}@{commit}"
"""


def set_up(origin):
    """The first cell: it fetches mha from its (address, commit), where that is known, and imports what stubs use."""
    return (FETCH.format(url=origin[0], commit=origin[1]) if origin else "# mha, the book's package, is installed "
            "where this notebook runs.\n") + IMPORTS


def markdown(*paragraphs):
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(filter(None, paragraphs))}


def code(source):
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
