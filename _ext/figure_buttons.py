"""Makes a sentence that asks the reader to try something a button that does it, in the live figure before it.

The notation is a comment behind the sentence, on its line, which no notebook shows:

    Push the temperature down. <!-- try: temperature=0.05 -->
    Follow "news". <!-- try: follow=news; step=the whole -->

A name is that of a control, or of what else the figure declares; the value is a number, yes or no, or a choice as its
control says it. What is not named is set as the figure opened: a sentence that goes on from another names the other's
settings too. Whoever brings the figure there, by the button or by hand, is told that it was found
(figure_buttons.js). Without JavaScript it is a sentence.
"""
import json
import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOG = logging.getLogger(__name__)
TRY = re.compile(r"<!--\s*try:\s*(.*?)\s*-->", re.S)
SETTING = re.compile(r"(\w+)\s*=\s*(.+)")


def settings(text):
    """"head_1=no; step=7 · weights" -> {"head_1": False, "step": "7 · weights"}"""
    found = {}
    for part in text.split(";"):
        match = SETTING.fullmatch(part.strip())
        if not match:
            raise ValueError(f"a setting is told as name=value, got {part.strip()!r}")
        found[match[1]] = value(match[2].strip())
    return found


def value(word):
    """A number where the word is one, else yes, no, or the word itself."""
    if word in ("yes", "no"):
        return word == "yes"
    try:
        number = float(word)
    except ValueError:
        return word
    return int(number) if number.is_integer() else number


class Try(nodes.Inline, nodes.TextElement):
    """A sentence that a button does."""


def open_try(translator, node):
    wanted = {"data-set": json.dumps(node["wanted"])}
    translator.body.append(translator.starttag(node, "span", "", CLASS="try", **wanted))


def close_try(translator, node):
    translator.body.append("</span>")


class Tries(SphinxTransform):
    default_priority = 455                        # before the bets, which know only their own comments

    def apply(self, **kwargs):
        for comment in [node for node in self.document.findall(nodes.raw) if TRY.fullmatch(node.astext().strip())]:
            try:
                wrap(comment, settings(TRY.fullmatch(comment.astext().strip())[1]))
            except ValueError as wrong:
                LOG.warning("a try is not understood: %s", wrong, location=comment.parent)


def wrap(comment, wanted):
    """Put the sentence before a comment, back to the Try before it or the beginning of its line, into a Try."""
    parent, line = comment.parent, []
    at = parent.index(comment)
    while at and not isinstance(parent[at - 1], Try) and not (line and "\n" in line[0].astext()):
        at -= 1
        line.insert(0, parent[at])
    if not line:
        raise ValueError("no sentence stands before it on its line")
    before, newline, sentence = line[0].astext().rpartition("\n") if isinstance(line[0], nodes.Text) else ("", "", "")
    if newline:
        line[0] = nodes.Text(sentence)
    elif isinstance(line[0], nodes.Text) and line[0].startswith(" "):
        before, line[0] = " ", nodes.Text(line[0].lstrip())
    if isinstance(line[-1], nodes.Text):
        line[-1] = nodes.Text(line[-1].rstrip())
    parent[at:parent.index(comment) + 1] = [nodes.Text(before + newline), Try("", "", *line, wanted=wanted)]


def place(app, pagename, templatename, context, doctree):
    """Load figure_buttons.js where a page has a try."""
    if 'class="try"' in context.get("body", ""):
        app.add_js_file("figure_buttons.js", priority=298)      # before host.js, whose event it awaits


def setup(app):
    app.add_node(Try, html=(open_try, close_try))
    app.add_transform(Tries)
    app.connect("html-page-context", place, priority=700)
