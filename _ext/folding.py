"""Folds a cell that only checks: a reader of the page sees what holds, and opens it who wants to see why.

Such a cell has the tag `fold`, and its first line, a comment, says what holds:

    # Holds: the two ways give the same weights.

That line is the summary of a <details> with the rest of the code and its output. In a notebook it is a comment.
"""
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOG = logging.getLogger(__name__)
TAG = "fold"
HOLDS = re.compile(r"# (Holds: .+\.)\n+")


class Fold(nodes.General, nodes.Element):
    """A cell's code and output, of which only `summary` is seen until it is opened."""


def open_fold(translator, node):
    summary = re.sub("`([^`]+)`", r"<code>\1</code>", translator.encode(node["summary"]))
    translator.body.append(translator.starttag(node, "details", CLASS="fold") + f"<summary>{summary}</summary>\n")


def close_fold(translator, node):
    translator.body.append("</details>\n")


class FoldChecks(SphinxTransform):
    default_priority = 440

    def apply(self, **kwargs):
        for cell in self.document.findall(nodes.container):
            if f"tag_{TAG}" in cell.get("classes", []):
                fold(cell)


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
    cell += Fold("", *inside, summary=holds[1])


def setup(app):
    app.add_node(Fold, html=(open_fold, close_fold))
    app.add_transform(FoldChecks)
