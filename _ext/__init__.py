"""The book's own Sphinx extension, each file one idea."""


def setup(app):
    # Here, so that a test of one part loads Sphinx no further than that part needs.
    from . import (admonitions, assets, bets, exercise_pages, fonts, formulas, live_figures, meta, paper, publishing,
                   repairs, runs, styles)

    for part in (admonitions, assets, bets, exercise_pages, fonts, formulas, live_figures, meta, paper, publishing,
                 repairs, runs, styles):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
