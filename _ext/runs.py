"""Shows each chapter with what its last run gave. The build itself runs nothing: stored/runs.py does, before it."""
from pathlib import Path

import nbformat
from sphinx.errors import ExtensionError

from stored import runs


def fill(app, docname, source):
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb":
        return
    run = runs.last(path)
    if not run:
        raise ExtensionError(f"{docname} has no run that counts: use `python3 book.py build`, which runs it first")
    source[0] = nbformat.writes(runs.filled(nbformat.reads(source[0], as_version=4), run))


def setup(app):
    app.connect("source-read", fill)
