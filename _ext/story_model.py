"""Puts the model that runs in a page beside the book: its file, its program, its notice, and where they are.

The file is made at the build from the package that holds stories15M (`mha.lab.stories`); it stands in no repository.
Where that package cannot be had, the figure says so and shows what is stored.
"""
import functools
from pathlib import Path

from sphinx.util import logging

from .generated import named

logger = logging.getLogger(__name__)
MODULE = "story_that_breaks"
NOTICE = Path(__file__).parent.parent / "mha" / "widgets" / "story" / "NOTICE.txt"
# A page's figures read it before they draw. What it names stands beside it.
FOUND = """window.storyModel = {{
  worker: new URL("{worker}", document.currentScript.src).href,
  file: new URL("{file}", document.currentScript.src).href,
  bytes: {bytes},
}};
"""
NONE = "window.storyModel = null;\n"


def add_model(app, pagename, templatename, context, doctree):
    """Before live_figures.py takes the states out of the page's body."""
    if f'"module":"{MODULE}"' in context.get("body", ""):
        write(Path(app.outdir, "_static", "figures"))
        app.add_js_file("figures/story_model.js", priority=285)


@functools.cache
def write(folder):
    """The files, once a build."""
    from mha.widgets import story_that_breaks                      # with torch: only where a page asks for it

    try:
        data = story_that_breaks.file()
    except (FileNotFoundError, ValueError) as missing:
        logger.info("The model of %s is left out: %s", MODULE, missing)
        (folder / "story_model.js").write_text(NONE, "utf8")
        return
    file = named(folder, "story_model", ".bin", data)
    worker = named(folder, "story_worker", ".js", story_that_breaks.worker().encode())
    (folder / "story_model.txt").write_bytes(NOTICE.read_bytes())
    (folder / "story_model.js").write_text(FOUND.format(worker=worker, file=file, bytes=len(data)), "utf8")


def setup(app):
    app.connect("html-page-context", add_model, priority=890)
