"""What is carried: the weights are frozen, the reader changes W_V and sees which outputs come within reach."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.attention import attention
from mha.data import turn
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

WORDS = ["cats", "chase", "small", "mice"]
TOKENS = torch.tensor([[0.9, 0.8], [1.9, 0.3], [0.8, -0.6], [1.6, -1.0]], dtype=torch.float64)      # (4, 2)
SCORES = torch.tensor([[0.2, 1.0, -0.6, 0.8], [0.9, 0.0, -0.8, 1.1], [-0.7, -0.4, 0.3, 1.3], [0.1, 1.2, 0.9, -0.2]], dtype=torch.float64)
SHARP = [0.0, 0.5, 1.0, 2.0, 4.0, 16.0]
WANTED = {"degrees": 90.0, "first": 1.5, "second": 1.0}      # the W_V by which every output would meet its target


def value_matrix(degrees, first, second):
    """W_V (2, 2), for rows that stand to its left: a turn, then the two coordinates times `first` and `second`."""
    return turn(degrees) @ torch.diag(torch.tensor([float(first), float(second)], dtype=torch.float64))


class ValueCanvas(Canvas):
    _esm, _css = front_end("values")
    words = traitlets.List(WORDS).tag(sync=True)
    points = traitlets.List(TOKENS.tolist()).tag(sync=True)
    scores = traitlets.List(SCORES.tolist()).tag(sync=True)
    sharps = traitlets.List(SHARP).tag(sync=True)
    wanted = traitlets.Dict(WANTED).tag(sync=True)
    asks = traitlets.Int(0).tag(sync=True)
    sharp = traitlets.Int(SHARP.index(1.0)).tag(sync=True)
    degrees = traitlets.Float(0.0).tag(sync=True)
    first = traitlets.Float(1.0).tag(sync=True)
    second = traitlets.Float(1.0).tag(sync=True)


class ValueMap(LiveFigure):
    """Four tokens in the plane, their values x W_V beside them, the mixture of one token's weights, and a target for it that lies outside the tokens' hull.

    `numbers()` gives weight (4), matrix (4, W_V row by row), out (2), distance (1, of out from its target) and mean_distance (1, over all four tokens).
    """

    def __init__(self):
        stretch = {"value": 1.0, "min": -1.5, "max": 1.5, "step": 0.25, "readout_format": ".2f"}
        super().__init__(ValueCanvas(), [
            {"asks": slider(ipywidgets.SelectionSlider, "token that looks", options=[(w, i) for i, w in enumerate(WORDS)], value=0),
             "sharp": slider(ipywidgets.SelectionSlider, "its scores times", options=[(f"{s:g}", s) for s in SHARP], value=1.0)},
            {"degrees": slider(ipywidgets.FloatSlider, "turn of W_V, in degrees", value=0, min=-180, max=180, step=15, readout_format=".0f")},
            {"first": slider(ipywidgets.FloatSlider, "then the first coordinate times", **stretch),
             "second": slider(ipywidgets.FloatSlider, "and the second coordinate times", **stretch)}])

    def numbers(self, asks, sharp, degrees, first, second):
        W_V, nothing = value_matrix(degrees, first, second), torch.zeros(4, 1, dtype=torch.float64)
        out, weights = attention(nothing, nothing, TOKENS @ W_V, bias=SHARP[sharp] * SCORES, need_weights=True)      # (4, 2), (4, 4)
        distance = (out - weights @ TOKENS @ value_matrix(**WANTED)).norm(dim=-1)
        return {"weight": weights[asks], "matrix": W_V, "out": out[asks], "distance": distance[asks, None], "mean_distance": distance.mean()[None]}

    def picture(self):
        shown, setting = self.numbers(**self.setting()), self.setting()
        values = TOKENS @ value_matrix(*(setting[name] for name in ("degrees", "first", "second")))
        target = shown["weight"] @ TOKENS @ value_matrix(**WANTED)
        return viz.values(WORDS, TOKENS, values, shown["weight"], shown["out"], target, WORDS[setting["asks"]])
