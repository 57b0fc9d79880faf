"""A soft lookup in the plane: drag a query among keys, and see scores, weights and the mixed value."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.attention import attention
from mha.lab.data import library
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

TEMPERATURES = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.5, 5.0, 10.0, 20.0]
SCORES = ["dot product", "minus half the squared distance"]
BOOKS, KEYS, VALUES = library()


class LookupCanvas(Canvas):
    _esm, _css = front_end("lookup")
    names = traitlets.List(BOOKS).tag(sync=True)
    key_points = traitlets.List(KEYS.tolist()).tag(sync=True)
    value_points = traitlets.List(VALUES.tolist()).tag(sync=True)
    temperatures = traitlets.List(TEMPERATURES).tag(sync=True)
    query_x = traitlets.Float(2.0).tag(sync=True)
    query_y = traitlets.Float(-1.2).tag(sync=True)
    temperature = traitlets.Int(TEMPERATURES.index(1.0)).tag(sync=True)
    score = traitlets.Int(0).tag(sync=True)


class SoftLookup(LiveFigure):
    """Drag the query; slide the temperature; choose the score.

    Five books have a key (what the title says) and a value (what is inside).

    `numbers()` gives score (5), weight (5) and out (2): weights = softmax(scores / T), out = weights @ values.
    """

    def __init__(self):
        axis = {"min": -3.5, "max": 3.5, "step": 0.1, "readout_format": ".1f"}
        options = [(f"{t:g}", t) for t in TEMPERATURES]
        super().__init__(LookupCanvas(), [
            {"query_x": slider(ipywidgets.FloatSlider, "query, first coordinate", value=2.0, **axis),
             "query_y": slider(ipywidgets.FloatSlider, "query, second coordinate", value=-1.2, **axis)},
            {"temperature": slider(ipywidgets.SelectionSlider, "temperature T", options=options, value=1.0),
             "score": slider(ipywidgets.Dropdown, "score", options=SCORES)}])

    def numbers(self, query_x, query_y, temperature, score):
        query, keys, values = torch.tensor([[query_x, query_y]], dtype=torch.float64), KEYS.double(), VALUES.double()
        T = TEMPERATURES[temperature]
        bias = None
        scores = query @ keys.T                                                     # (1, 5)
        if score == 1:
            # q.k - |q|^2/2 - |k|^2/2 = -|q - k|^2/2
            bias = (-(query.square().sum() + keys.square().sum(-1)) / 2)[None]      # (1, 5)
            scores = scores + bias
        out, weights = attention(query, keys, values, bias=None if bias is None else bias / T, scale=1 / T,
                                 need_weights=True)
        return {"weight": weights[0], "score": scores[0], "out": out[0]}

    def picture(self):
        shown = self.numbers(**self.setting())
        query = [self.canvas.query_x, self.canvas.query_y]
        return viz.lookup(BOOKS, KEYS, VALUES, torch.tensor(query), shown["score"], shown["weight"], shown["out"])
