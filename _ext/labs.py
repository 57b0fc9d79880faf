"""A chapter may have a lab, `03_query_and_key_lab.ipynb` beside `03_query_and_key.ipynb` and below it in the contents:
proofs, controls and doubts, which nobody needs who reads on. So the ways to the next and the last page pass it by.
"""
from sphinx.util.osutil import relative_uri

ENDING = "_lab"


def is_lab(page):
    return page.endswith(ENDING)


def chapter_of(page):
    """The page of a lab's chapter; any other is its own."""
    return page.removesuffix(ENDING)


def neighbours(app, pagename):
    """The pages before and after one, or None: of a chapter the chapters beside it, of a lab its own and the next."""
    found = []
    for way in (1, 2):                                   # Sphinx keeps (parent, previous, next) of each page
        page = app.builder.relations.get(pagename, (None, None, None))[way]
        while page and is_lab(page):
            page = app.builder.relations[page][way]
        found.append(page)
    return found


def place(app, pagename, templatename, context, doctree):
    for way, page in zip(("prev", "next"), neighbours(app, pagename)):
        if page and context.get(way):
            link = relative_uri(app.builder.get_target_uri(pagename), app.builder.get_target_uri(page))
            context[way] = {"link": link, "title": app.builder.render_partial(app.env.titles[page])["title"]}


def setup(app):
    app.connect("html-page-context", place, priority=100)
