"""Live figures: each computes in the browser, with or without a kernel.

A figure is one .py, one hand-written .js and one .css. Its module is imported when it is first asked for, so that what
a chapter says depends on its own figures alone (stored/imports.py).
"""
import importlib
from pathlib import Path

# The class BooksRead stands in books_read.py
_MODULES = {path.stem.title().replace("_", ""): path.stem for path in sorted(Path(__file__).parent.glob("*.py"))
            if path.stem not in ("__init__", "figure")}

__all__ = ["FIGURES", *_MODULES]  # noqa: F822, they are made below


def __getattr__(name):
    """The class of a figure; or FIGURES: the name of each in a page -> its class."""
    if name == "FIGURES":
        return {figure.name(): figure for figure in map(__getattr__, _MODULES)}
    if name not in _MODULES:
        raise AttributeError(f"mha.widgets has no {name}; it has {', '.join(_MODULES)}", name=name)
    return getattr(importlib.import_module(f"mha.widgets.{_MODULES[name]}"), name)
