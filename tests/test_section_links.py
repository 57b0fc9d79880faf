"""The folklore of a chapter leads to the sections that tested it."""
import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from sphinx.errors import ExtensionError

from _ext import section_links


def page(place):
    """A page of sections 1 and 2 and a table of one claim that was tested in `place`."""
    def cell(text):
        return nodes.entry("", nodes.paragraph("", "", nodes.Text(text)))
    tree = new_document("", get_default_settings())
    for title, name in (("1. A b", "a-b"), ("2. C d", "c-d")):
        tree += nodes.section("", nodes.title("", title), ids=[name])
    row = nodes.row("", cell("As section 1 says"), cell("It holds in section 2"), cell(place))
    table = nodes.table("", nodes.tgroup("", nodes.tbody("", row)))
    tree += nodes.section("", nodes.title("", "The folklore, tested"), table, ids=[section_links.TABLE])
    return tree


@pytest.mark.parametrize("place, links", [
    ("section 2", [("section 2", "#c-d")]), ("sections 1, 2", [("sections 1", "#a-b"), ("2", "#c-d")]),
    ("references", [])])
def test_each_place_in_the_last_column_leads_to_its_section_and_no_word_changes(place, links):
    tree = page(place)
    before = tree.astext()
    section_links.link(None, tree, "chapters/x")
    assert [(node.astext(), node["refuri"]) for node in tree.findall(nodes.reference)] == links
    assert tree.astext() == before


def test_a_section_that_the_page_lacks_stops_the_build():
    with pytest.raises(ExtensionError, match="chapters/x: the folklore names section 3; the page has 1, 2"):
        section_links.link(None, page("section 3"), "chapters/x")
