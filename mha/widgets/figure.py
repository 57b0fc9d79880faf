"""The base of every live figure: its controls, and a drawing that computes in the browser.

A figure is one class; its name gives all others: `BooksRead` stands in books_read.py, is drawn by books_read.js and
books_read.css, and is "books-read" in a page. What a reader can set is declared once, as an attribute of the class.
"""
import functools
import itertools
import re
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

HERE = Path(__file__).parent


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


# ---- what a reader can set -------------------------------------------------------------------------------------------

class State:
    """What a reader changes in the drawing itself, such as the cells of a mask: any value that JSON holds.

    Like each control, it is an argument of the JavaScript's `draw`, and on a figure the value that it has now.
    """

    def __init__(self, value, name=None):
        self.value, self.name = value, name

    def __set_name__(self, owner, name):
        self.name = self.name or name

    def __get__(self, figure, owner=None):
        return self if figure is None else getattr(figure.canvas, self.name)

    def traits(self):
        """The traits of the canvas: name -> trait."""
        return {self.name: traitlets.Any(self.value).tag(sync=True)}


class Control(State):
    """A control above the drawing. `new_row` begins a row of controls with it."""
    widget, bound = None, "value"       # its class in ipywidgets, and the trait of that which the figure follows

    def __init__(self, label, value, new_row=False):
        super().__init__(value)
        self.label, self.new_row = label, new_row

    def made(self, figure, value):
        """The ipywidgets control, at a value."""
        layout = ipywidgets.Layout(flex="1 1 270px", width="auto", max_width="440px")
        options = {self.bound: value, **self.options(figure)}
        return self.widget(description=self.label, style={"description_width": "initial"}, layout=layout, **options)

    def options(self, figure):
        """What its widget is told beside label and value; a function of the figure stands for what only that knows."""
        return {}

    def links(self, canvas, control):
        """What the browser keeps equal without a kernel."""
        return [ipywidgets.jslink((control, self.bound), (canvas, self.name))]


class Toggle(Control):
    """Yes or no."""
    widget = ipywidgets.Checkbox

    def options(self, figure):
        return {"indent": False}


class Slider(Control):
    """A number from low to high, in steps. With `moves_end`, the drawing moves its end: it sets the trait NAME_max."""

    def __init__(self, label, low, high, step=1, *, value, new_row=False, moves_end=False):
        super().__init__(label, value, new_row)
        self.low, self.high, self.step, self.moves_end = low, high, step, moves_end
        whole = all(isinstance(number, int) for number in (low, step, value))
        self.widget = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider

    def traits(self):
        end = {f"{self.name}_max": traitlets.Any(self.high).tag(sync=True)} if self.moves_end else {}
        return {**super().traits(), **end}

    def options(self, figure):
        limits = {"min": self.low, "max": resolved(self.high, figure), "step": self.step}
        if self.widget is ipywidgets.FloatSlider:
            limits["readout_format"] = f".{len(str(self.step).partition('.')[2])}f"
        return limits

    def links(self, canvas, control):
        end = [ipywidgets.jslink((canvas, f"{self.name}_max"), (control, "max"))] if self.moves_end else []
        return super().links(canvas, control) + end


class Choice(Control):
    """One of several, as buttons in a row; its value is the index."""
    widget, bound = ipywidgets.ToggleButtons, "index"

    def __init__(self, label, labels, *, value=0, new_row=False):
        super().__init__(label, value, new_row)
        self.labels = labels

    def options(self, figure):
        return {"options": [(label, i) for i, label in enumerate(resolved(self.labels, figure))]}


class Dropdown(Choice):
    """One of several, from a list that opens."""
    widget = ipywidgets.Dropdown


class ChoiceSlider(Choice):
    """One of several, on a slider."""
    widget = ipywidgets.SelectionSlider


def resolved(value, figure):
    """A value, or what a function says of the figure."""
    return value(figure) if callable(value) else value


def choices(control):
    """Every value that an ipywidgets control gives its figure: indices of a list, or the steps of a range."""
    if hasattr(control, "index"):
        return range(len(control.options))
    if isinstance(control.value, bool):
        return (False, True)
    steps = round((control.max - control.min) / control.step)
    return [control.min + control.step * i for i in range(steps + 1)]


# ---- the figure ------------------------------------------------------------------------------------------------------

class Canvas(anywidget.AnyWidget):
    """What the browser draws. Each figure has a class of its own, with a trait for all that can be set."""
    figure = traitlets.Unicode(help="the name of the figure in a page").tag(sync=True)
    module = traitlets.Unicode(help="the name of its files").tag(sync=True)
    label = traitlets.Unicode(help="one sentence for those who do not see what the browser draws").tag(sync=True)
    data = traitlets.Dict(help="what the browser computes with").tag(sync=True)
    setting_names = traitlets.List(help="the traits that can be set").tag(sync=True)


@functools.cache
def canvas_class(figure):
    """The class of the canvas of a class of figures."""
    source, style = ("".join((HERE / f"{part}.{kind}").read_text("utf-8") for part in ("common", figure.module()))
                     for kind in ("js", "css"))
    traits = {name: trait for setting in figure.declared().values() for name, trait in setting.traits().items()}
    return type(f"{figure.__name__}Canvas", (Canvas,),
                {"__module__": figure.__module__, "_esm": source, "_css": style, **traits})


class LiveFigure(ipywidgets.VBox):
    """Controls, and below them what the browser draws at their setting.

    A subclass declares its controls, and `data`, what the browser computes with. It gives `numbers(**setting)`, which
    says with `mha` what is shown at any setting, and `picture()`, the same figure drawn once without a browser, for
    print and for pages without JavaScript.
    """
    data, label, drawn_by = {}, "", ""  # label: where it is empty, that of the picture; drawn_by: files of another name

    def __init__(self, data=None, **first):
        """data: what is known only now of what the browser computes with; first: values of settings to begin with."""
        declared = self.declared()
        self.canvas = canvas_class(type(self))(
            figure=self.name(), module=self.module(), label=self.label, data={**self.data, **(data or {})},
            setting_names=list(declared), **first)
        controls = {name: setting for name, setting in declared.items() if isinstance(setting, Control)}
        self.controls = {name: control.made(self, getattr(self.canvas, name)) for name, control in controls.items()}
        super().__init__([ipywidgets.VBox(self.rows(controls)), self.canvas])
        self.links = [link for name, control in controls.items()
                      for link in control.links(self.canvas, self.controls[name])]
        self.text = str(self.picture().text)
        self.canvas.label = self.canvas.label or self.text.splitlines()[0]

    def rows(self, controls):
        """The controls as boxes, row by row."""
        wrap, rows = ipywidgets.Layout(flex_flow="row wrap", align_items="center"), []
        for name, control in controls.items():
            if control.new_row or not rows:
                rows.append([])
            rows[-1].append(self.controls[name])
        return [ipywidgets.HBox(row, layout=wrap) for row in rows]

    @classmethod
    def name(cls):
        """BooksRead -> books-read"""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    @classmethod
    def module(cls):
        """BooksRead -> books_read"""
        return cls.drawn_by or cls.name().replace("-", "_")

    @classmethod
    def declared(cls):
        """All that can be set, in order: name -> State."""
        return {value.name: value for value in vars(cls).values() if isinstance(value, State)}

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
