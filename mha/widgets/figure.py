"""The base of every live figure: ipywidgets controls above one canvas that computes in the browser."""
import itertools
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

HERE = Path(__file__).parent


def front_end(name):
    """The front-end module and the style sheet of a figure: what all share, then its own hand-written files."""
    return tuple("".join((HERE / f"{part}.{kind}").read_text("utf-8") for part in ("common", name))
                 for kind in ("js", "css"))


def float16_bytes(tensor):
    """A tensor as the bytes that `float16` of common.js reads."""
    return tensor.half().contiguous().numpy().tobytes()


def in_steps(values, steps):
    """Numbers as `packed` keeps them: rounded to `steps` steps in 1, float64. Python starts from them as well."""
    return (values.double() * steps).round() / steps


def packed(values, steps):
    """Numbers from 0 up as text for `unpacked` of common.js: a character each, which counts the steps from "#" on.

    gzip shrinks such a text to what its numbers say; the base64 of bytes it can hardly shrink.
    """
    return "".join(chr(ord("#") + level) for level in (values.double() * steps).round().long().flatten().tolist())


class Canvas(anywidget.AnyWidget):
    """What the browser draws. The traits are the figure's tensors and one number for each control."""
    label = traitlets.Unicode(help="one sentence for those who do not see what the browser draws; where a figure gives "
                                   "none, that of its picture").tag(sync=True)


def slider(kind, description, **options):
    """An ipywidgets control with a full-width label; kind is a class of ipywidgets."""
    layout = ipywidgets.Layout(flex="1 1 270px", width="auto", max_width="440px")
    return kind(description=description, style={"description_width": "initial"}, layout=layout, **options)


def choices(control):
    """Every value of the trait that ties a control to its canvas: indices of a list, or the steps of a range."""
    if hasattr(control, "index"):
        return range(len(control.options))
    if isinstance(control.value, bool):
        return (False, True)
    steps = round((control.max - control.min) / control.step)
    return [control.min + control.step * i for i in range(steps + 1)]


class LiveFigure(ipywidgets.VBox):
    """A live figure: `controls` (name -> control), each tied to the trait of the same name on `canvas`.

    A subclass gives `numbers(**setting)`, which says with `mha` what the canvas shows at any setting, and `picture()`,
    the same figure drawn once without a browser, for print and for pages without JavaScript.
    """

    def __init__(self, canvas, rows):
        self.canvas = canvas
        self.controls = {name: control for row in rows for name, control in row.items()}
        wrap = ipywidgets.Layout(flex_flow="row wrap", align_items="center")
        super().__init__([*(ipywidgets.HBox(list(row.values()), layout=wrap) for row in rows), canvas])
        self.links = [ipywidgets.jslink((control, self.trait(name)), (canvas, name))
                      for name, control in self.controls.items()]
        self.text = str(self.picture().text)
        canvas.label = canvas.label or self.text.splitlines()[0]

    def trait(self, name):
        """The trait of a control that its canvas follows: "index" of a list, else "value"."""
        return "index" if hasattr(self.controls[name], "index") else "value"

    def setting(self):
        """The present setting: control name -> index or value."""
        return {name: getattr(self.canvas, name) for name in self.controls}

    def settings(self):
        """Every setting that the controls can reach, one dict each, in a fixed order."""
        grid = {name: choices(control) for name, control in self.controls.items()}
        return (dict(zip(grid, values)) for values in itertools.product(*grid.values()))

    def numbers(self, **setting):
        """What the canvas shows at a setting: name -> 1-D float64 tensor, in the order of the page."""
        raise TypeError(f"{type(self).__name__} must say which numbers it shows")

    def picture(self):
        """The figure at its present setting as an mha.viz.Picture."""
        raise TypeError(f"{type(self).__name__} must draw itself as a picture")

    def __repr__(self):
        return self.text

    _ipython_display_ = None         # ipywidgets 7 displays through this; both versions go through the bundle below

    def _repr_mimebundle_(self, **kwargs):
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": self.text, "image/svg+xml": self.picture().svg,
                "application/vnd.jupyter.widget-view+json": view}
