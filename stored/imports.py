"""Which files of the package a piece of code depends on: those that its import statements lead to, wherever they stand.

A module depends on the packages around it too, and a package on the data that lie in its folder. What is imported by a
computed name is not seen: whoever asks adds it, as `exercises_of` and `figures_in` do.
"""
import ast
import functools
import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXERCISES = ROOT / "mha" / "exercises"
NO_CODE = (".css", ".js", ".md", ".py", ".pyc")  # .py stands for itself; what no kernel reads


def reached(source, more=()):
    """The files, sorted: the modules of mha that a source imports, those that they import in turn, and their data.

    Args:
        source: Python. more: names of further modules, such as "mha.exercises.chapter_04.questions".
    """
    found, waiting = set(), {module for name in {*imported(source), *more} for module in modules(name)}
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting |= {module for name in imported(path.read_text("utf8")) for module in modules(name)} - found
    data = {file for path in found if path.name == "__init__.py" for file in path.parent.iterdir()
            if file.is_file() and file.suffix not in NO_CODE}
    return sorted(found | data)


@functools.lru_cache(maxsize=None)
def imported(source):
    """The names under mha that the import statements of a source name."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name for name in names if name.split(".")[0] == "mha")


def modules(name):
    """The files of a dotted name: mha/__init__.py, mha/viz/__init__.py, mha/viz/maps.py for mha.viz.maps.heat_map."""
    place, parts = ROOT, name.split(".")
    for part in parts:
        place = place / part
        if place.with_suffix(".py").is_file():
            yield place.with_suffix(".py")
            return
        if not (place / "__init__.py").is_file():  # a name in the module before
            return
        yield place / "__init__.py"


def name_of(path):
    """The dotted name of a module's file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def exercises_of(number):
    """The modules that hold the exercises of a chapter, "4", or of an appendix, "B"; "*" for all."""
    folder = {"B": "zoo", "*": "*"}.get(number) or f"chapter_{number.zfill(2) if number[0].isdigit() else number}"
    return [f"mha.exercises.{path.parent.name}.{path.stem}" for path in sorted(EXERCISES.glob(f"{folder}/*.py"))]


def figures_in(source):
    """The modules of the figures that a source names: BooksRead of mha/widgets/books_read.py."""
    named = [name.rpartition(".")[2] for name in imported(source) if re.match(r"mha\.widgets\.[A-Z]", name)]
    return [f"mha.widgets.{re.sub(r'(?<!^)(?=[A-Z])', '_', name).lower()}"
            for name in [*named, *re.findall(r"\bwidgets\.([A-Z]\w*)", source)]]


def digest(files, *more):
    """One short word for what is in files, and for other texts."""
    made = hashlib.sha256()
    for path in files:
        made.update(f"\0{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes())
    for text in more:
        made.update(f"\0{text}".encode())
    return made.hexdigest()[:16]
