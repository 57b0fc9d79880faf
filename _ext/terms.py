"""Answers for the words of the glossary, where a reader meets them.

The first time that a chapter uses a term in running text, the term is a link to its entry, and hover or focus show what
the entry says (book.css, page.js).

A chapter that an entry names is where the term is explained, and needs no such answer. There the search leads, to the
section that says it, by any of its names: "Grouped-query attention (GQA, grouped queries)" has three.
"""
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util.osutil import relative_uri

from .formulas import mathml

GLOSSARY = "chapters/glossary"
CHAPTER = re.compile(r"chapters/(0[1-9]|1\d|[A-C]_)")           # 0 explains each of its words itself
# Words whose first use is as a rule of another sense
EVERYDAY = {"attention", "gate", "scale", "score", "rank", "window", "generation", "sink", "switched off", "concatenated", "held-out"}
NAMES = re.compile(r"([^(]+?)(?: \((.+)\))?")


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
        for term in list(doctree.findall(nodes.term)):
            term["ids"].append(address(term.astext()))
            doctree.append(index(names(term.astext()), address(term.astext())))


def names(term):
    """"KV cache (key-value cache)" -> ["KV cache", "key-value cache"]"""
    name, others = NAMES.fullmatch(term).groups()
    return [name, *(others or "").split(", ")] if others else [name]


def address(name):
    return "term-" + nodes.make_id(names(name)[0])


def index(all_names, place):
    """A node that says to the search where these names are explained, with their hyphens or with spaces."""
    spelled = dict.fromkeys(one for name in all_names for one in (name, name.replace("-", " ")))
    return addnodes.index(entries=[("single", name, place, "main", None) for name in spelled])


def collect(app, env):
    """What the glossary says: {name in lower case: (its meaning as HTML, chapters that explain it, all its names)}"""
    app.builder.glossary = {}
    if GLOSSARY not in env.found_docs:                       # a build of a few pages
        return
    for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        said = item[-1][0]
        chapters = {node["reftarget"] for node in said.findall(addnodes.pending_xref)}
        found = names(next(item.findall(nodes.term)).astext())
        app.builder.glossary |= dict.fromkeys(map(str.lower, found), (html(said), chapters, found))


def html(node):
    """The words and formulas of a node; a link is its words."""
    if isinstance(node, nodes.Text):
        return node.translate({ord("&"): "&amp;", ord("<"): "&lt;"})
    if isinstance(node, nodes.math):
        return mathml(node.astext())
    return "".join(map(html, node.children))


def mark(app, doctree, docname):
    """Mark the first use of each term; say to the search which are explained here."""
    found = app.builder.glossary
    for all_names in {tuple(all_names) for _, chapters, all_names in found.values() if docname in chapters}:
        doctree.append(index(all_names, place_of(all_names, doctree)))
    open_terms = {term for term, (_, chapters, _) in found.items() if docname not in chapters} - EVERYDAY
    if not CHAPTER.match(docname) or not open_terms:
        return
    link = relative_uri(app.builder.get_target_uri(docname), app.builder.get_target_uri(GLOSSARY))
    for text in list(doctree.findall(nodes.Text)):
        paragraph = text.parent
        if not isinstance(paragraph, nodes.paragraph) or not isinstance(paragraph.parent, nodes.section):
            continue                                          # a heading, a link, a button, a choice of a question
        parts = split(text, open_terms, lambda term: {
            "link": f"{link}#{address(found[term][2][0])}", "name": f"meaning-{nodes.make_id(term)}",
            "meaning": found[term][0], "names": found[term][2]})
        if len(parts) > 1:
            paragraph.replace(text, parts)


def place_of(all_names, doctree):
    """The section of a chapter that explains a term: where it is in bold, or in the title, or else most often."""
    any_name = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, all_names))})(?:e?s)?(?!\w)", re.I)
    sections = [section for section in doctree.findall(nodes.section) if section["ids"]]

    def says(section):
        parts = [node for node in section.children if not isinstance(node, nodes.section)]
        own = [section[0], *(node for part in parts for node in part.findall(nodes.paragraph))]
        bold = any(any_name.fullmatch(strong.astext()) for node in own for strong in node.findall(nodes.strong))
        inner = section is not sections[0]
        count = sum(len(any_name.findall(node.astext())) for node in own)
        return bold, inner and bool(any_name.search(section[0].astext())), inner, count
    return max(sections, key=says)["ids"][0]


def split(text, open_terms, entry):
    """The nodes of a text with a Term for each of `open_terms` that it uses; those are then closed, by all names."""
    parts, rest = [], str(text)
    while open_terms:
        any_term = "|".join(sorted(map(re.escape, open_terms), key=len, reverse=True))
        match = re.search(rf"(?<![\w-])(?<!singular )({any_term})(?:e?s)?(?![\w-])", rest, re.I)
        if not match:
            break
        term = match[1].lower()
        made = Term("", match[0], **entry(term))
        parts += [nodes.Text(rest[:match.start()]), made]
        open_terms -= {term, *map(str.lower, made["names"])}
        rest = rest[match.end():]
    return [*parts, nodes.Text(rest)]


def setup(app):
    app.add_node(Term, html=(open_term, close_term))
    app.connect("doctree-read", name_entries)
    app.connect("env-updated", collect)
    app.connect("doctree-resolved", mark)
