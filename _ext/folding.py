"""Folds code that a reader of the page may pass over, and opens it who wants to see how.

A cell that only checks has the tag `fold`, and its first line, a comment, says what holds:

    # Holds: the two ways give the same weights.

That line is the summary of a <details> with the rest of the code and its output. In a notebook it is a comment.

A cell that only lays out what was computed or stored has the tag `fold-code`: its output stands in the page, and its
code is folded above it.
"""
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from .quotes import curly

LOG = logging.getLogger(__name__)
TAG = "fold"
CODE_TAG = "fold-code"
HOLDS = re.compile(r"# (Holds: .+\.)\n+")


class Fold(nodes.General, nodes.Element):
    """What is seen only when it is opened; until then there is `summary`. Its classes are those of the <details>."""


def open_fold(translator, node):
    summary = re.sub("`([^`]+)`", r"<code>\1</code>", translator.encode(node["summary"]))
    translator.body.append(translator.starttag(node, "details") + f"<summary>{summary}</summary>\n")


def close_fold(translator, node):
    translator.body.append("</details>\n")


class FoldCells(SphinxTransform):
    default_priority = 440

    def apply(self, **kwargs):
        for cell in self.document.findall(nodes.container):
            classes = cell.get("classes", [])
            if f"tag_{TAG}" in classes:
                fold(cell)
            elif f"tag_{CODE_TAG}" in classes:
                fold_code(cell)


def fold(cell):
    """Put all that is in a cell into a Fold."""
    code = next(cell.findall(nodes.literal_block))
    holds = HOLDS.match(code.astext())
    if not holds:
        LOG.warning("a cell with the tag %s begins with a line such as '# Holds: both are equal.'", TAG, location=cell)
        return
    rest = code.astext()[holds.end():]
    code.rawsource, code.children = rest, []
    code += nodes.Text(rest)
    cell.children, inside = [], cell.children
    cell += Fold("", *inside, summary=curly(holds[1]), classes=[TAG])


def fold_code(cell):
    """Put the code of a cell into a Fold, and leave its output where it is."""
    code, *outputs = cell.children
    cell.children = []
    cell += [Fold("", code, summary="Code", classes=[CODE_TAG]), *outputs]


def setup(app):
    app.add_node(Fold, html=(open_fold, close_fold))
    app.add_transform(FoldCells)
