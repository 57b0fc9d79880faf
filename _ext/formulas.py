"""Formulas are made here, from TeX to MathML, which browsers set without a script.

Each carries its TeX with it, for whoever copies it (formulas.js) and for tools that read it aloud.
"""
import re

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx import search
from sphinx.util import logging

LOG = logging.getLogger(__name__)
CONVERT = LatexToMathML(annotation=True, fancy_error=False)
# The converter's styles as the classes of book.css, so that no formula needs the policy to allow styles in the page.
CLASSES = {
    "margin-left:-0.16666667em;": "math-closer",
    "text-align: right;justify-items: end;padding-right: 0;": "math-right",
    "text-align: left;justify-items: start;padding-left: 0;": "math-left",
}
# A browser may break a line on both sides of a formula.
FORMULA, OPENING, CLOSING = "<math><semantics>(?:(?!</math>).)*</math>", "[(\\[“‘]", "[-–,.;:!?)\\]”’]"
TOUCHING = re.compile(f"{OPENING}+{FORMULA}{CLOSING}*|{FORMULA}{CLOSING}+", re.S)


def mathml(tex, display=False):
    """The <math> of a formula."""
    made = CONVERT.convert_with_local_state(tex.strip(), displaystyle=display)
    for style, name in CLASSES.items():
        made = made.replace(f'style="{style}"', f'class="{name}"')
    if ' style="' in made:
        raise LatexError("its MathML has a style that no class of _ext/formulas.py stands for")
    return made


def written(translator, node, display):
    """A formula's MathML, or its TeX with a warning, which fails the build and names the page."""
    try:
        return mathml(node.astext(), display)
    except LatexError as error:
        LOG.warning("this formula is not understood: %s (%s)", node.astext(), error, location=node)
        return f"<code>{translator.encode(node.astext())}</code>"


def inline(translator, node):
    translator.body.append(written(translator, node, False))
    raise nodes.SkipNode


def display(translator, node):
    translator.body.append(translator.starttag(node, "div", "", CLASS="math") + written(translator, node, True)
                           + "</div>\n")
    raise nodes.SkipNode


class Index(search.IndexBuilder):
    """The words of a page for its search, without the TeX of its formulas: nobody looks for `\\tfrac`."""

    def feed(self, docname, filename, title, doctree):
        doctree = doctree.deepcopy()
        for node in [*doctree.findall(nodes.math), *doctree.findall(nodes.math_block)]:
            if not isinstance(node.parent, nodes.title):
                node.parent.remove(node)
        super().feed(docname, filename, title, doctree)


def choose(app, config):
    config.html_math_renderer = "mathml"


def finish(app, pagename, templatename, context, doctree):
    """Only a page with formulas needs their script and font; and no line may begin with the comma after one."""
    if "<math" in context.get("body", ""):
        context["body"] = TOUCHING.sub(r'<span class="math-tied">\g<0></span>', context["body"])
        context["book_preload"] = (*context.get("book_preload", ()), "book-math.woff2")
        app.add_js_file("formulas.js", loading_method="defer")


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("config-inited", choose)
    app.connect("html-page-context", finish, priority=800)
    search.IndexBuilder = Index
