"""Answers for the words of the glossary, where a reader meets them.

The first time that a chapter uses a term in running text, the term is a link to its entry, and hover or focus show what
the entry says (book.css, page.js).

A chapter that an entry names is where the term is explained, and needs no such answer.
"""
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util.osutil import relative_uri

from .formulas import mathml

GLOSSARY = "chapters/glossary"
CHAPTER = re.compile(r"chapters/(0[1-9]|[AB]_)")           # 0 explains each of its words itself
EVERYDAY = {"attention", "scale", "rank", "window"}        # whose first use is as a rule of another sense


class Term(nodes.Inline, nodes.TextElement):
    """A word of running text with its `link` to the glossary, the `name` of its answer and its `meaning`, as HTML."""


def open_term(translator, node):
    translator.body.append(f'<span class="term"><a href="{node["link"]}" aria-describedby="{node["name"]}">')


def close_term(translator, node):
    meaning = f'<span class="meaning" role="tooltip" id="{node["name"]}">{node["meaning"]}</span>'
    translator.body.append(f"</a>{meaning}</span>")


def name_entries(app, doctree):
    """Give each entry of the glossary an address."""
    if app.env.docname == GLOSSARY:
        for term in doctree.findall(nodes.term):
            term["ids"].append(address(term.astext()))


def address(term):
    return "term-" + nodes.make_id(term)


def collect(app, env):
    """What the glossary says: {term in lower case: (its meaning as HTML, the chapters that explain it)}"""
    app.builder.glossary = {}
    if GLOSSARY not in env.found_docs:                       # a build of a few pages
        return
    for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        said = item[-1][0]
        chapters = {node["reftarget"] for node in said.findall(addnodes.pending_xref)}
        app.builder.glossary[item[0].astext().lower()] = (html(said), chapters)


def html(node):
    """The words and formulas of a node; a link is its words."""
    if isinstance(node, nodes.Text):
        return node.translate({ord("&"): "&amp;", ord("<"): "&lt;"})
    if isinstance(node, nodes.math):
        return mathml(node.astext())
    return "".join(map(html, node.children))


def mark(app, doctree, docname):
    """Mark the first use of each term."""
    found = app.builder.glossary
    open_terms = {term for term, (_, chapters) in found.items() if docname not in chapters} - EVERYDAY
    if not CHAPTER.match(docname) or not open_terms:
        return
    link = relative_uri(app.builder.get_target_uri(docname), app.builder.get_target_uri(GLOSSARY))
    for text in list(doctree.findall(nodes.Text)):
        paragraph = text.parent
        if not isinstance(paragraph, nodes.paragraph) or not isinstance(paragraph.parent, nodes.section):
            continue                                          # a heading, a link, a button, a choice of a question
        parts = split(text, open_terms, lambda term: {
            "link": f"{link}#{address(term)}", "name": f"meaning-{nodes.make_id(term)}", "meaning": found[term][0]})
        if len(parts) > 1:
            paragraph.replace(text, parts)


def split(text, open_terms, entry):
    """The nodes of a text with a Term for each of `open_terms` that it uses; those are then closed."""
    parts, rest = [], str(text)
    while open_terms:
        any_term = "|".join(sorted(map(re.escape, open_terms), key=len, reverse=True))
        match = re.search(rf"(?<![\w-])(?<!singular )({any_term})(?:e?s)?(?![\w-])", rest, re.I)
        if not match:
            break
        term = match[1].lower()
        parts += [nodes.Text(rest[:match.start()]), Term("", match[0], **entry(term))]
        open_terms.discard(term)
        rest = rest[match.end():]
    return [*parts, nodes.Text(rest)]


def setup(app):
    app.add_node(Term, html=(open_term, close_term))
    app.connect("doctree-read", name_entries)
    app.connect("env-updated", collect)
    app.connect("doctree-resolved", mark)
