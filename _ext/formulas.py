"""Formulas are made here, from TeX to MathML, which browsers set without a script.

Each carries its TeX with it, for whoever copies it (formulas.js) and for tools that read it aloud.

Queries, keys and values have their colours in formulas too (mha/widgets/common.css): q and Q, k and K, v and V, and the
matrices W that make them, with the letter that tells them apart. The same letter as an index, as in d_k, is no key. A
formula in which such a letter means something else begins with {}, which shows nowhere: ${}1 - k/4$.
"""
import re
import xml.etree.ElementTree as ET
from html import unescape

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
HUES = {"q": "hue-query", "k": "hue-key", "v": "hue-value"}
INDEXED = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}
PLAIN = "{}"
SYMBOL = re.compile(r"\b(?:(W)_([A-Z]{1,2})|([dhqkvwxR])_(model|kv|ij|-?\d+|[a-z]|\([^()]*\)))(?!\w)"
                    r"|(?<=[\w)|’])\^(?:(T|\{-1\}|\d+|[a-z])(?!\w)|\(([^()]+)\))")
# A tag, or all of an element whose words are no running text: these stay as they are.
AS_IT_IS = re.compile(r"<(code|pre|script|style|math|svg|textarea|select)\b.*?</\1>|<[^>]*>", re.S)
WORD = ' class="word"'                                      # an index that is a word stands upright
NAMED = re.compile("&(?!lt;|gt;|amp;|quot;)\\w+;")          # of HTML; XML has no such names


def mathml(tex, display=False):
    """The <math> of a formula."""
    made = converted(tex, display)
    if tex.strip().startswith(PLAIN):
        return made
    tree = ET.fromstring(NAMED.sub(lambda entity: unescape(entity[0]), made))
    colour(tree)
    return ET.tostring(tree, encoding="unicode") if tree.find(".//*[@class]") is not None else made


def colour(node):
    """Give the letters below a node that stand for a query, a key or a value the class of its colour."""
    if node.tag == "mi" and (node.text or "").lower() in HUES:
        node.set("class", HUES[node.text.lower()])
    elif node.tag in INDEXED:
        base, *indices = node
        # The W of W^Q and of W_i^Q; an index of both kinds, as in W^{QK}, is of none.
        makers = [mi for index in indices for mi in index.iter("mi") if mi.text in ("Q", "K", "V")]
        if base.text == "W" and len(makers) == 1:
            base.set("class", HUES[makers[0].text.lower()])
            colour(makers[0])
        colour(base)
    elif node.tag != "annotation":
        for child in node:
            colour(child)


def converted(tex, display):
    """The <math> of a formula in one colour."""
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


def set_symbols(text):
    """Plain W_Q, d_k, h_kv and W_K^T, as HTML: a matrix has its letter high, as in formulas, and a size has it low."""
    return SYMBOL.sub(symbol, text)


def symbol(found):
    """The HTML of one; mha/widgets/common.js makes the same of what it says."""
    matrix, maker, size, low, power, sum_ = found.groups()
    index = (maker or low or power or sum_).strip("(){}").replace("-", "−")
    if size:
        made = f'{size}<sub{WORD if low == "model" else ""}>{index}</sub>'
    else:
        made = f"{matrix or ''}<sup>{'⊤' if power == 'T' else index}</sup>"
    return f'<i class="formula" data-typed="{found[0]}">{made}</i>'


def outside(verbatim, change, html):
    """A piece of HTML in which `change` has been made to all that `verbatim`, a pattern, does not match."""
    parts, end = [], 0
    for match in verbatim.finditer(html):
        parts += [change(html[end:match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(html[end:])])


def set_in_text(html):
    """The same in the running text of a page, and not in its code, its formulas and its pictures."""
    return outside(AS_IT_IS, set_symbols, html)


def choose(app, config):
    config.html_math_renderer = "mathml"


def finish(app, pagename, templatename, context, doctree):
    """Only a page with formulas needs their script and font; and no line may begin with the comma after one."""
    if "<math" in context.get("body", ""):
        context["body"] = TOUCHING.sub(r'<span class="math-tied">\g<0></span>', context["body"])
        context["book_preload"] = (*context.get("book_preload", ()), "book-math.woff2")
        app.add_js_file("formulas.js", loading_method="defer")
    for part in {"body", "toc", "furo_navigation_tree"} & set(context):
        context[part] = set_in_text(context[part])
    for way in ("prev", "next"):
        if context.get(way):
            context[way] = {**context[way], "title": set_symbols(context[way]["title"])}


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("config-inited", choose)
    app.connect("html-page-context", finish, priority=800)
    search.IndexBuilder = Index
