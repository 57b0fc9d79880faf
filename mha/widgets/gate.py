"""A forget gate: what a cell that keeps the same share at each word has left of a word many places back."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

FARTHEST = 100
PLACES = [1, 10, 50, 100]


class GateCanvas(Canvas):
    _esm, _css = front_end("gate")
    farthest = traitlets.Int(FARTHEST).tag(sync=True)
    places = traitlets.List(PLACES).tag(sync=True)
    bias = traitlets.Float(1.0).tag(sync=True)


class ForgetGate(LiveFigure):
    """A cell whose forget gate is the sigmoid of a bias, at every word the same.

    `numbers()` gives gate (1); and left (101), what is left of a word 0 to 100 places back.
    """

    def __init__(self):
        super().__init__(GateCanvas(), [
            {"bias": slider(ipywidgets.FloatSlider, "bias of the forget gate", value=1.0, min=0.0, max=7.0, step=0.5,
                            readout_format=".1f")}])

    def numbers(self, bias):
        gate = torch.tensor(bias, dtype=torch.float64).sigmoid()
        return {"gate": gate[None], "left": gate ** torch.arange(FARTHEST + 1)}

    def picture(self):
        left = {f"bias {bias}": self.numbers(float(bias))["left"] for bias in (0, 1, 3, 5)}
        return viz.curves(range(FARTHEST + 1), "places back", "left of a word", points=11, **left)
