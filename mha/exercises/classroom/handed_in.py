"""A notebook as it was handed in: its cells, which exercises it answers, and what was noted in it."""
import ast
import glob
import json
import re
from dataclasses import dataclass
from pathlib import Path

from mha.exercises import EXERCISES
from mha.exercises.engine.cells import cell_id


@dataclass(frozen=True)
class Cell:
    """What is read of a cell. names: its ids, as Jupyter and as Colab keep them. tries: id of an exercise -> how many
    checks of it the learner's own run noted beside the output.
    """
    kind: str
    source: str
    names: frozenset
    tags: tuple
    tries: dict


def read(path):
    """The cells of a notebook.

    Raises:
        OSError: the file cannot be read. ValueError: it holds no notebook.
    """
    if Path(path).is_dir():
        raise ValueError("there is no notebook in this folder")
    if not Path(path).exists():
        raise ValueError("no file fits this pattern" if glob.has_magic(str(path)) else
                         "there is no such file or folder")
    if not Path(path).is_file():
        raise ValueError("it is no file, but a pipe or a device")
    data = Path(path).read_bytes()
    if not data.strip():
        raise ValueError("the file is empty")
    try:
        notebook = json.loads(data)                         # in UTF-8, UTF-16 or UTF-32
        if "worksheets" in notebook:
            raise ValueError("it is in format 3, of 2014: open and save it in Jupyter")
        return [cell(raw) for raw in notebook["cells"]]
    except json.JSONDecodeError as wrong:
        raise ValueError(f"it is no notebook, or a broken one: no JSON from line {wrong.lineno} on") from None
    except UnicodeDecodeError:
        raise ValueError("it is no notebook, or one whose encoding was changed: it should be UTF-8") from None
    except (KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError("it holds no cells of a notebook") from None


def cell(raw):
    metadata = raw.get("metadata") or {}
    marks = [output.get("metadata", {}).get("mha") or {} for output in raw.get("outputs") or []]
    return Cell(raw["cell_type"], "".join(raw["source"]), frozenset((str(raw.get("id")), str(metadata.get("id")))),
                tuple(metadata.get("tags") or ()),
                {mark["exercise"]: mark["tries"] for mark in marks if mark.get("exercise") and mark.get("tries")})


def expected(path, cells):
    """The ids of all exercises of the chapters whose exercises stand in a notebook; where none does, of the chapter in
    its name; else of the chapters whose exercises it hands in.
    """
    marks = {cell_id(item, "check"): id for id, item in EXERCISES.items()}
    titles = {f"### {item.heading}": id for id, item in EXERCISES.items()}
    there = {marks.get(name) for cell in cells for name in cell.names}
    there |= {titles.get(cell.source.partition("\n")[0].strip()) for cell in cells}
    named = max((item.chapter for item in EXERCISES.values() if item.chapter in Path(path).stem), key=len, default=None)
    handed_in = {id for cell in cells if cell.kind == "code" for id in exercise_ids(cell.source)}
    chapters = {EXERCISES[id].chapter for id in there - {None} or (() if named else handed_in)} or {named}
    return [id for id, item in EXERCISES.items() if item.chapter in chapters]


def exercise_ids(source):
    """The ids of the exercises that a cell hands in, as far as its text shows. No result depends on it: it says whose
    error an error is.
    """
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):       # a magic, or no Python
        named = {item.name: id for id, item in EXERCISES.items() if item.in_code}
        words = re.findall(r"\b(?:check|predict)\b\W*(?:id\b\W*)?(\w+\.\d+|\w+)", source)
        return [named.get(word, word) for word in words if word in EXERCISES or word in named]
    return [id for call in calls for id in handed_in_by(call)]


def handed_in_by(call):
    """The ids that a call names first: check("2.1", f), check under another name, find("attention")."""
    verb = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if verb in ("hint", "solution", "show", "progress"):
        return []
    first = [*call.args[:1], *(word.value for word in call.keywords)]       # by whatever name, also a wrong one
    values = [str(node.value) for node in first if isinstance(node, ast.Constant)]
    named = {item.name: id for id, item in EXERCISES.items() if item.in_code and verb in ("check", "predict", "find")}
    return [named.get(value, value) for value in values if value in EXERCISES or value in named]
