"""The book's own Sphinx extension, each file one idea."""
from importlib import import_module

PARTS = ("admonitions", "assets", "bets", "chapter_pictures", "completion", "exercise_pages", "figure_buttons",
         "folding", "fonts", "formulas", "labs", "live_figures", "meta", "page_python", "paper", "publishing",
         "reader_location", "repairs", "runs", "section_links", "stages", "statements", "story_model", "styles",
         "terms")


def setup(app):
    for part in PARTS:  # imported here, so that a test of one part loads Sphinx no further than that part needs
        import_module(f"{__name__}.{part}").setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
