"""Leads from a claim of the folklore to the section that tested it, which a chapter's last table names by number."""
import re

from docutils import nodes
from sphinx.errors import ExtensionError

TABLE = "the-folklore-tested"
PLACE = re.compile(r"(?:sections? )?\d+")


def link(app, doctree, docname):
    """Make each place in the last column a link to the section of that number."""
    sections = {match[1]: section["ids"][0] for section in doctree.findall(nodes.section)
                if (match := re.match(r"(\d+)\. ", section[0].astext()))}
    tables = (section for section in doctree.findall(nodes.section) if TABLE in section["ids"])
    for row in [row for section in tables for body in section.findall(nodes.tbody) for row in body]:
        for text in list(row[-1].findall(nodes.Text)):
            text.parent.replace(text, list(linked(str(text), sections, docname)))


def linked(place, sections, docname):
    """The nodes of a place such as "sections 1, 2", given {number: address} of the sections of its page."""
    end = 0
    for match in PLACE.finditer(place):
        number = match[0].split()[-1]
        if number not in sections:
            raise ExtensionError(f"{docname}: the folklore names {match[0]}; the page has {', '.join(sections)}")
        yield nodes.Text(place[end:match.start()])
        yield nodes.reference("", match[0], internal=True, refuri=f"#{sections[number]}")
        end = match.end()
    yield nodes.Text(place[end:])


def setup(app):
    app.connect("doctree-resolved", link)
