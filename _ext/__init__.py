"""The book's own Sphinx extension, each file one idea; and notebooks.py, which keeps the chapters' files in order."""


def setup(app):
    # Here, so that `from _ext import notebooks` does not load Sphinx.
    from . import admonitions, assets, exercise_pages, formulas, live_figures, repairs

    for part in (admonitions, assets, exercise_pages, formulas, live_figures, repairs):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
