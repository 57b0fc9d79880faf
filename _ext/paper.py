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


def add(app, pagename, templatename, context, doctree):
    if "body" in context and doctree:
        place = PLACE_OF_PDF if pagename == MAP else ""
        context["body"] += place + origin(app.config.html_title, pagename, base_address())


def setup(app):
    # Last, below all that other parts put into the page.
    app.connect("html-page-context", add, priority=950)
