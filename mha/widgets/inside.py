"""Inside: the mixture of three values, which no scores bring out of their triangle."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.asks import of_heads
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.whole import WORDS


class InsideCanvas(Canvas):
    _esm, _css = front_end("inside")
    words = traitlets.List(WORDS).tag(sync=True)
    values = traitlets.List(of_heads("V")[0].tolist(), help="of head 1").tag(sync=True)
    wished = traitlets.List([[-0.4, -0.3], [0.9, 0.7]], help="what no mixture is: away from all, longer than all")
    wished = wished.tag(sync=True)
    first = traitlets.Float(4.0, help="the score of the first word").tag(sync=True)
    second = traitlets.Float(1.0, help="the score of the second; the third scores 0").tag(sync=True)


class HullPoint(LiveFigure):
    """The values of head 1 of chapter 0 in the plane, and what "good" gets for the scores that the reader gives.

    `numbers()` gives weight (3), mixture (2) and missed (2): how far it stays from both points of `wished`.
    """

    def __init__(self):
        scores = {"min": -8.0, "max": 8.0, "step": 0.5, "readout_format": ".1f"}
        super().__init__(InsideCanvas(), [
            {"first": slider(ipywidgets.FloatSlider, "score with \u201cnot\u201d", value=4.0, **scores),
             "second": slider(ipywidgets.FloatSlider, "score with \u201cgood\u201d", value=1.0, **scores)}])

    def numbers(self, first, second):
        weight = (torch.tensor([first, second, 0.0], dtype=torch.float64) / 2 ** 0.5).softmax(-1)
        mixture = weight @ of_heads("V")[0]
        missed = (mixture - torch.tensor(self.canvas.wished, dtype=torch.float64)).norm(dim=-1)
        return {"weight": weight, "mixture": mixture, "missed": missed}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.matrices(
            "Three values in the plane, and the weights of their mixture, which stays in their triangle.",
            WORDS, {"value": (of_heads("V")[0], ["1", "2"]), "weight": (shown["weight"][:, None], ["good"])})
