"""Words of the glossary in running text: which are marked, and where."""
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document

from _ext import terms

GLOSSARY = {name.lower(): (meaning, chapters, terms.names(term)) for term, meaning, chapters in [
    ("Softmax", "all shares", {"chapters/01_soft_lookup"}), ("Induction head", "it repeats", set()),
    ("Value", "what is given", set()), ("Head", "one attention", {"chapters/06_multi_head"}),
    ("Scale", "a number", set()), ("Multi-query attention (MQA)", "one key", {"chapters/11_x"})]
            for name in terms.names(term)}


def marked(docname, *paragraphs):
    """[(the word, its link, its meaning)] of what is marked in a page of one section."""
    page, section = new_document("", get_default_settings()), nodes.section(ids=["top"])
    section += paragraphs
    page += section
    app = SimpleNamespace(builder=SimpleNamespace(glossary=GLOSSARY, get_target_uri=lambda name: f"{name}.html"))
    before = page.astext()
    terms.mark(app, page, docname)
    assert page.astext().strip() == before
    return [(term.astext(), term["link"], term["meaning"]) for term in page.findall(terms.Term)]


def words(text):
    return nodes.paragraph("", "", nodes.Text(text))


def test_the_first_use_is_marked_in_whole_words_the_longest_term_first_and_no_everyday_word():
    found = marked("chapters/08_x", words("Headless softmax-free rows. Induction heads, a softmax; scale a head."),
                   words("Softmax and heads again."))
    assert found == [("Induction heads", "glossary.html#term-induction-head", "it repeats"),
                     ("softmax", "glossary.html#term-softmax", "all shares"),
                     ("head", "glossary.html#term-head", "one attention")]


@pytest.mark.parametrize("docname, expected", [("chapters/01_soft_lookup", ["head"]), ("chapters/glossary", []),
                                               ("chapters/06_multi_head", ["softmax"])])
def test_a_page_that_explains_a_term_does_not_mark_it(docname, expected):
    assert [word for word, *_ in marked(docname, words("A softmax, a head."))] == expected


def test_a_term_with_several_names_is_marked_by_the_first_of_them_that_is_used_and_once():
    found = marked("chapters/09_x", words("MQA is multi-query attention."))
    assert found == [("MQA", "glossary.html#term-multi-query-attention", "one key")]


def test_the_search_is_led_to_the_section_that_has_a_term_in_bold_by_any_of_its_names():
    def section(name, *inside):
        return nodes.section("", nodes.title("", name), nodes.paragraph("", "", *inside), ids=[name])

    page = new_document("", get_default_settings())
    page += section("top", nodes.Text("MQA, MQA, MQA"))
    page[0] += section("defined", nodes.Text("it is "), nodes.strong("", "multi-query attention"))
    app = SimpleNamespace(builder=SimpleNamespace(glossary=GLOSSARY, get_target_uri=lambda name: f"{name}.html"))
    terms.mark(app, page, "chapters/11_x")
    (entries,) = [node["entries"] for node in page.findall(terms.addnodes.index)]
    assert [(name, place) for _, name, place, *_ in entries] == [
        ("Multi-query attention", "defined"), ("Multi query attention", "defined"), ("MQA", "defined")]


def test_a_singular_value_is_no_value():
    assert [word for word, *_ in marked("chapters/06_x", words("A singular value; values."))] == ["values"]


def test_links_titles_code_and_choices_stay_as_they_are():
    choice = nodes.list_item("", words("A head."))
    link = nodes.paragraph("", "", nodes.reference("", "A head"), nodes.literal("", "head"))
    assert marked("chapters/02_x", nodes.title("", "A head"), nodes.bullet_list("", choice), link) == []


def test_a_meaning_is_its_words_and_formulas_and_a_link_its_words():
    said = nodes.paragraph("", "", nodes.Text("a < b "), nodes.math("", "x"), nodes.emphasis("", "so"),
                           terms.addnodes.pending_xref("", nodes.Text("Chapter 1")))
    assert terms.html(said).startswith("a &lt; b <math>") and terms.html(said).endswith("soChapter 1")
