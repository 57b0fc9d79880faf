"""Puts the book's figures into its pages.

A picture is an output with SVG and text. A live figure has a widget view as well. Both become a <figure>
with the SVG inlined, named by the first line of the text, and the numbers of the text below it. A live
figure also gets its controls and the state of its widgets, from which host.js makes it move. The module that draws it
is a file of the site, so that pages share it and the page's policy allows it. The states of a page are a file too: its
text is read before it comes.
"""
import json
import re
from html import escape
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from . import svg
from .controls import BOXES, CONTROLS
from .generated import static
from .styles import COMMENT

logger = logging.getLogger(__name__)
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
STATES = re.compile(f'<script type="{re.escape(STATE)}">(.*?)</script>', re.S)
# They are drawn at random: of a page's hundred, no two begin alike.
WIDGET_ID = re.compile(r"(?<![0-9a-f])([0-9a-f]{8})[0-9a-f]{24}(?![0-9a-f])")
LINKS = ("LinkModel", "DirectionalLinkModel")
WIDGETS = Path(__file__).parent.parent / "mha" / "widgets"
# How tall the live figures of each page are in windows of several widths: tests/browser/heights.py measures it.
HEIGHTS = json.loads(Path(__file__).with_name("heights.json").read_text("utf8"))
# A plain script and no module, which a page from file:// could not load.
REGISTERED = """(window.figureModules ??= {{}}).{name} = (() => {{
"use strict";
{source}
return exported;
}})();
"""


class InlineFigures(SphinxPostTransform):
    # Before myst-nb, at 4, takes one mime type of each output and drops the others.
    default_priority = 3

    def run(self, **kwargs):
        if self.app.builder.format != "html":
            return
        models = saved_models(self.env, self.env.docname)
        bundles = [node for node in self.document.findall(nodes.container) if node.get("nb_element") == "mime_bundle"]
        heights = iter(HEIGHTS["pages"].get(Path(self.env.docname).name, []))
        for count, bundle in enumerate(bundles, start=1):
            html = figure(self.app, bundle, models, f"fig{count}-", heights)
            if html:
                bundle.replace_self(nodes.raw("", html, format="html"))


def saved_models(env, docname):
    """The widgets that the notebook's kernel left behind: {id: {"model_name":, "state":, "buffers":}}."""
    _, script = NbMetadataCollector.get_js_files(env, docname).get("ipywidgets_state", (None, {}))
    return json.loads(script["body"])["state"] if script else {}


def figure(app, bundle, models, prefix, heights):
    """The HTML of one output, or None where it is no figure of ours. A live one takes the next of the heights."""
    outputs = {child["mime_type"]: child for child in bundle.children}
    if "image/svg+xml" not in outputs or "text/plain" not in outputs:
        return None
    alt, _, numbers = outputs["text/plain"].astext().strip().partition("\n")
    image = next(outputs["image/svg+xml"].findall(nodes.image))
    picture = svg.inline(Path(app.srcdir, image["uri"]).read_text("utf8"), alt, prefix)
    if VIEW not in outputs:
        return f'<figure class="picture">{picture}{numbers_table(numbers, "")}</figure>'
    model_id = json.loads(re.sub("<[^>]*>", "", outputs[VIEW].astext()))["model_id"]
    return live_figure(model_id, models, picture, alt, numbers, next(heights, ()))


def live_figure(model_id, models, picture, alt, numbers, heights):
    mine = closure(model_id, models)
    controls, canvas = references(mine[model_id]["state"]["children"])  # figure.py; here the drawing comes first
    parts = view(canvas, mine, picture) + view(controls, mine, picture)
    state = json.dumps({"models": mine}, separators=(",", ":")).replace("</", "<\\/")
    room = ";".join(f"--at-{width}:{height}px" for width, height in zip(HEIGHTS["widths"], heights))
    html = (
        f'<figure class="live-figure" role="group" aria-label="{escape(alt)}">'
        f'<div class="live-vbox" data-model="{model_id}" style="{room}">{parts}</div>'
        '<noscript><p class="live-note">Turn on JavaScript to move the controls.</p></noscript>'
        f"{numbers_table(numbers, ' at the first setting')}"
        f'<script type="{STATE}">{state}</script></figure>'
    )
    return WIDGET_ID.sub(r"\1", html)


def view(model_id, models, picture):
    """The HTML of one widget and all in it; the picture holds the place of the canvas."""
    name, state = models[model_id]["model_name"], models[model_id]["state"]
    if name in BOXES:
        children = references(state["children"])
        kinds = {models[child]["model_name"] for child in children}
        switches = " live-switches" if (name, kinds) == ("HBoxModel", {"CheckboxModel"}) else ""
        inside = "".join(view(child, models, picture) for child in children)
        return f'<div class="{BOXES[name]}{switches}" data-model="{model_id}">{inside}</div>'
    if name in CONTROLS:
        return CONTROLS[name](model_id, state)
    if name == "AnyModel":
        # Its name stands on the figure around it, and would be read twice.
        return (f'<div class="live-canvas" data-model="{model_id}" data-kind="canvas"><div '
                f'class="live-first" aria-hidden="true">{picture}</div></div>')
    logger.warning("a live figure uses %s, which host.js does not know", name)
    return f'<p class="live-note">{escape(name)} needs a running kernel: it moves where the chapter is run.</p>'


def references(value):
    """The model ids in a value of the state, such as ["IPY_MODEL_ab12", "value"]."""
    words = value if isinstance(value, list) else [value]
    return [word[len("IPY_MODEL_") :] for word in words if isinstance(word, str) and word.startswith("IPY_MODEL_")]


def closure(model_id, models):
    """The widgets of one figure: those reached from its root, then the links between them."""
    found, queue = {}, [model_id]
    while queue:
        here = queue.pop()
        if here not in found and here in models:
            found[here] = slim(models[here])
            queue += [ref for value in models[here]["state"].values() for ref in references(value)]
    for link_id, link in models.items():
        ends = [references(link["state"].get(end)) for end in ("source", "target")]
        if link["model_name"] in LINKS and all(end and end[0] in found for end in ends):
            found[link_id] = slim(link)
    return found


def slim(model):
    """A model without what the page has no use for, such as the text of a module, which is a file of the site."""
    unused = re.compile("_(model|view|dom)_|_(esm|css|anywidget_id)$")
    state = {key: value for key, value in model["state"].items() if value is not None and not unused.match(key)}
    return {**model, "state": state}


def numbers_table(numbers, when):
    if not numbers.strip():
        return ""
    return (
        f'<details class="numbers"><summary>The numbers{when}</summary>'
        f'<pre tabindex="0">{escape(numbers.strip(chr(10)))}</pre></details>'
    )


def write_modules(app):
    """The figures' modules as scripts and sheets of the site: _static/figures/head_grid.js, head_grid.css and so on.

    What they share is a script before them, whose names they all see.
    """
    if app.builder.format != "html":
        return
    common = WIDGETS / "common.js"
    static(app, "figures/common.js", '"use strict";\n' + common.read_text("utf8"))
    for path in set(WIDGETS.glob("*.js")) - {common}:
        source = path.read_text("utf8").replace("export default ", "const exported = ")
        static(app, f"figures/{path.name}", REGISTERED.format(name=path.stem, source=source))
    for path in set(WIDGETS.glob("*.css")) - {common.with_suffix(".css")}:
        static(app, f"figures/{path.name}", COMMENT.sub("", path.read_text("utf8")))


def add_host(app, pagename, templatename, context, doctree):
    """Load host.js, the modules and the states where a page has live figures; drop the state of the whole notebook."""
    body = context.get("body", "")
    modules = sorted(set(re.findall(r'"module":"(\w+)"', body)))
    if modules:
        app.add_js_file("figures/common.js", priority=288)
    for name in modules:
        app.add_js_file(f"figures/{name}.js", priority=290)
        app.add_css_file(f"figures/{name}.css", priority=600)           # after the site's own
    states = STATES.findall(body)
    context["has_figures"] = bool(states)
    if states:
        context["body"] = STATES.sub("", body)
        name = f"figures/states_of_{Path(pagename).name}.js"
        # The short ones first: what figures of one kind share lies close together then, and gzip finds it.
        lines = [f"figureStates[{index}] = {state};" for index, state in
                 sorted(enumerate(states), key=lambda one: len(one[1]))]
        Path(app.outdir, "_static", name).write_text("\n".join(["window.figureStates = [];", *lines, ""]), "utf8")
        app.add_js_file(name, priority=295)
        app.add_js_file("host.js", priority=300)
    context["script_files"] = [script for script in context["script_files"] if script.attributes.get("type") != STATE]


def setup(app):
    app.add_post_transform(InlineFigures)
    app.connect("builder-inited", write_modules)
    # Late, when every other extension has added its scripts.
    app.connect("html-page-context", add_host, priority=900)
