"""What only paper shows: where a printed page comes from, and what may be done with it."""
from html import escape

from .publishing import base_address

MAP = "chapters/index"
# tools/make_pdf.py puts the links to the book's PDF and to that of a page in their places, once there are any.
PLACE_OF_PDF = "<!-- the book as one PDF -->"
PLACE_OF_PAGE = "<!-- this page as a PDF -->"
LICENCE = "The text and its pictures may be shared and changed under CC BY 4.0, the code under BSD 3-Clause."


def origin(title, pagename, address):
    """The last line of a printed page."""
    place = f" {escape(address)}{escape(pagename)}.html." if address else ""
    return f'<p class="on-paper">From “{escape(title)}”.{place} {LICENCE}</p>'


def keep_place(app, pagename, templatename, context, doctree):
    if pagename == MAP and "body" in context:
        before = context["body"].rpartition("</section>")[0]
        context["body"] = before + f'<p class="as-pdf">{PLACE_OF_PDF}</p></section>'


def add_origin(app, pagename, templatename, context, doctree):
    context["book_place_of_page"] = PLACE_OF_PAGE
    if "body" in context and doctree:
        context["body"] += origin(app.config.html_title, pagename, base_address())


def setup(app):
    # Above the panel of what was solved, and below all that other parts put into the page.
    app.connect("html-page-context", keep_place, priority=700)
    app.connect("html-page-context", add_origin, priority=950)
