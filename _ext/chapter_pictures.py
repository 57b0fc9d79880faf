"""A small picture for each chapter: in the map of the front page, and beside the names of the pages before and after.

Drawn by hand in `pictures/`, in the ink of the page and the colours of the roles (mha/widgets/common.css).
"""
import re
from pathlib import Path

from .exercise_pages import MAP
from .labs import chapter_of

PICTURES = {path.stem: path.read_text("utf8") for path in (Path(__file__).parent / "pictures").glob("*.svg")}


def picture_of(address):
    """The picture of the chapter that a link leads to; nothing where it has none."""
    return PICTURES.get(chapter_of(re.sub(r"\.html.*", "", address or "").rpartition("/")[2]), "")


def place(app, pagename, templatename, context, doctree):
    context["picture_of"] = picture_of
    if pagename == MAP and "body" in context:
        before, table, after = context["body"].partition("<table")
        rows, end, after = after.partition("</table>")
        rows = re.sub(r'<a class="reference internal" href="([^"]+)"', lambda link: picture_of(link[1]) + link[0], rows)
        context["body"] = before + table + rows + end + after


def setup(app):
    app.connect("html-page-context", place, priority=960)  # when the map is complete
