"""What only paper shows: where a printed page comes from, and what may be done with it."""
from html import escape

from .publishing import base_address

MAP = "chapters/index"
# tools/make_pdf.py puts the link to the book's PDF in its place, once there is one.
PLACE_OF_PDF = "<!-- the book as one PDF -->"
LICENCE = "The text and its pictures may be shared and changed under CC BY 4.0, the code under BSD 3-Clause."


def origin(title, pagename, address):
    """The last line of a printed page."""
    place = f" {escape(address)}{escape(pagename)}.html." if address else ""
    return f'<p class="on-paper">From “{escape(title)}”.{place} {LICENCE}</p>'


def keep_place(app, pagename, templatename, context, doctree):
    if pagename == MAP and "body" in context:
        context["body"] = context["body"].rpartition("</section>")[0] + PLACE_OF_PDF + "</section>"


def add_origin(app, pagename, templatename, context, doctree):
    if "body" in context and doctree:
        context["body"] += origin(app.config.html_title, pagename, base_address())


def setup(app):
    # Above the panel of what was solved, and below all that other parts put into the page.
    app.connect("html-page-context", keep_place, priority=700)
    app.connect("html-page-context", add_origin, priority=950)
