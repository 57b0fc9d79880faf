"""Keeps a live figure's drawing in sight while the paragraphs behind it scroll past and set it: its stage.

The notation is that of a try, with another word, at the end of a paragraph:

    Turn the matrix. Every angle stays, and so does every weight. <!-- show: turn_q=60 -->

The paragraphs in a row that end so, right behind a live figure, are the steps of its stage, and stand in the page
between its drawing and its controls. What a step does not name is set as the figure opened. stage.js sets the figure;
for paper, and without JavaScript, each step has the picture of its setting, which the figure draws here.
"""
import json
import re
from importlib import import_module

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from . import svg
from .figure_buttons import settings
from .live_figures import VIEW, references, saved_models

LOG = logging.getLogger(__name__)
SHOW = re.compile(r"<!--\s*show:\s*(.*?)\s*-->", re.S)
CONTROLS = '<div class="live-controls"'
STAGED = '<div class="live-canvas"', '<div class="live-canvas staged"'


class Steps(nodes.Element):
    """The paragraphs of a stage."""


class Step(nodes.Element):
    """One of them: its setting, its name in an address, and its picture."""


class Stages(SphinxTransform):
    default_priority = 454                        # before the tries and the bets, which know only their own comments

    def apply(self, **kwargs):
        comments = [node for node in self.document.findall(nodes.raw) if SHOW.fullmatch(node.astext().strip())]
        paragraphs = {comment.parent: comment for comment in comments}
        for count, run in enumerate(runs(list(paragraphs)), start=1):
            try:
                self.make([(one, paragraphs[one]) for one in run], count)
            except ValueError as wrong:
                LOG.warning("a step is not understood: %s", wrong, location=run[0])

    def make(self, run, count):
        """Take the paragraphs of one stage, each with its comment, into the output that shows the figure."""
        wanted = [settings(SHOW.fullmatch(comment.astext().strip())[1]) for _, comment in run]
        view = view_before(run[0][0])
        models = saved_models(self.env, self.env.docname)
        pictures = [picture(view, models, one) for one in wanted]
        steps = Steps()
        for i, (paragraph, comment) in enumerate(run):
            paragraph.remove(comment)
            paragraph.parent.remove(paragraph)
            steps += Step("", paragraph, ids=[f"show-{count}-{i + 1}"], wanted=wanted[i], picture=pictures[i])
        bundle = view.parent
        bundle.parent.insert(bundle.parent.index(bundle) + 1, steps)


def runs(paragraphs):
    """Paragraphs in document order, as lists of those that stand next to each other."""
    found = []
    for one in paragraphs:
        at = one.parent.index(one)
        if found and at and one.parent[at - 1] is found[-1][-1]:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def view_before(paragraph):
    """The node that shows a live figure in the cell right before a paragraph."""
    at = paragraph.parent.index(paragraph)
    cell = paragraph.parent[at - 1] if at else nodes.Element()
    views = [node for node in cell.findall(nodes.Element) if node.get("mime_type") == VIEW]
    if not views:
        raise ValueError("no live figure stands right before it")
    return views[-1]


def picture(view, models, wanted):
    """The picture that the figure of a view draws of a setting, as SVG for the page."""
    root = json.loads(re.sub("<[^>]*>", "", view.astext()))["model_id"]
    states = [models[one]["state"] for one in references(models[root]["state"]["children"])]
    module, _, canvas = next(state["_anywidget_id"] for state in states if "_anywidget_id" in state).rpartition(".")
    figure = getattr(import_module(module), canvas.removesuffix("Canvas"))()
    for name, said in wanted.items():
        if name not in figure.canvas.setting_names:
            raise ValueError(f"{type(figure).__name__} has no {name!r}")
        labels = list(getattr(figure.controls.get(name), "_options_labels", ()))
        setattr(figure.canvas, name, labels.index(str(said)) if str(said) in labels else said)
    drawn = figure.picture()
    return drawn.svg, str(drawn.text).partition("\n")[0]


class InFigures(SphinxPostTransform):
    """Between a figure's drawing and its controls, once it is HTML."""
    default_priority = 5                          # after InlineFigures

    def run(self, **kwargs):
        for steps in list(self.document.findall(Steps)):
            figure = steps.parent[steps.parent.index(steps) - 1]
            drawing, controls, rest = figure.astext().partition(CONTROLS)
            drawing = drawing.replace(*STAGED)              # :has(+ .show-steps) costs ten times a frame's work
            figure.replace_self(nodes.raw("", drawing, format="html"))
            steps.parent.insert(steps.parent.index(steps) + 1, nodes.raw("", controls + rest, format="html"))


def open_step(translator, node):
    wanted = {"data-set": json.dumps(node["wanted"])}
    translator.body.append(translator.starttag(node, "div", CLASS="show-step", **wanted) + '<div class="show-card">')


def close_step(translator, node):
    name, (drawn, alt) = node["ids"][0], node["picture"]
    still = svg.inline(drawn, f"Step {name.rpartition('-')[2]}. {alt}", f"{name}-")
    translator.body.append(f'</div><figure class="picture show-still">{still}</figure></div>')


def open_steps(translator, node):
    translator.body.append('<div class="show-steps">')


def close_steps(translator, node):
    translator.body.append("</div>")


def place(app, pagename, templatename, context, doctree):
    """Load stage.js where a page has a stage."""
    if 'class="show-steps"' in context.get("body", ""):
        app.add_js_file("stage.js", priority=299)               # before host.js, whose event it awaits


def setup(app):
    app.add_node(Steps, html=(open_steps, close_steps))
    app.add_node(Step, html=(open_step, close_step))
    app.add_transform(Stages)
    app.add_post_transform(InFigures)
    app.connect("html-page-context", place, priority=700)
