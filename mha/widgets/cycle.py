"""Rock, paper, scissors: one matrix for queries and keys, or two, and the product of the weights around the cycle."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.attention import attention
from mha.lab.data import rock_paper_scissors, turn
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

NAMES, TOKENS = rock_paper_scissors()
LABEL = ("Rock, paper and scissors: their queries as arrows and their keys as discs in a plane, and the attention "
         "weights between them as arrows around a ring.")
SHARP = [0.5, 1.0, 2.0, 4.0, 8.0]


def matrix(degrees, second):
    """W (2, 2), for rows that stand to its left: the second coordinate times `second`, then a turn."""
    return torch.diag(torch.tensor([1.0, float(second)], dtype=torch.float64)) @ turn(degrees)


class CycleCanvas(Canvas):
    _esm, _css = front_end("cycle")
    names = traitlets.List(NAMES).tag(sync=True)
    points = traitlets.List(TOKENS.tolist()).tag(sync=True)
    sharps = traitlets.List(SHARP).tag(sync=True)
    tied = traitlets.Bool(True).tag(sync=True)
    exclude_self = traitlets.Bool(True).tag(sync=True)
    turn_q = traitlets.Float(0.0).tag(sync=True)
    turn_k = traitlets.Float(0.0).tag(sync=True)
    second = traitlets.Float(0.5).tag(sync=True)
    sharp = traitlets.Int(SHARP.index(4.0)).tag(sync=True)


class BeatsCycle(LiveFigure):
    """Three tokens, each of which should attend to the one that beats it: turn W_Q and W_K, tie them, let tokens look
    at themselves or not.

    `numbers()` gives weight (9, row by row), around (2): the product of the weights forwards and backwards around the
    cycle, and loss (1): the mean of -ln(weight on the one that beats it), in nats.
    """

    def __init__(self):
        angle = {"min": -180, "max": 180, "step": 15, "readout_format": ".0f"}
        super().__init__(CycleCanvas(label=LABEL), [
            {"tied": slider(ipywidgets.Checkbox, "one matrix for queries and keys", value=True),
             "exclude_self": slider(ipywidgets.Checkbox, "no token looks at itself", value=True)},
            {"turn_q": slider(ipywidgets.FloatSlider, "turn of W_Q, in degrees", value=0, **angle),
             "turn_k": slider(ipywidgets.FloatSlider, "turn of W_K, in degrees", value=0, **angle)},
            {"second": slider(ipywidgets.FloatSlider, "stretch of the second coordinate", value=0.5, min=-1, max=2,
                              step=0.25, readout_format=".2f"),
             "sharp": slider(ipywidgets.SelectionSlider, "scores times", options=[(f"{s:g}", s) for s in SHARP],
                             value=4.0)}])

    def numbers(self, tied, exclude_self, turn_q, turn_k, second, sharp):
        x = TOKENS
        Q = x @ matrix(turn_q, second)
        K = Q if tied else x @ matrix(turn_k, second)
        mask = ~torch.eye(3, dtype=torch.bool) if exclude_self else None
        _, weights = attention(Q, K, x, mask=mask, scale=SHARP[sharp], need_weights=True)
        after = torch.tensor([1, 2, 0])
        forwards, backwards = weights[range(3), after], weights[after, range(3)]
        return {"weight": weights, "around": torch.stack([forwards.prod(), backwards.prod()]),
                "loss": -forwards.log().mean()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        picture = viz.heatmaps(shown["weight"], NAMES)
        forwards, backwards = shown["around"]
        picture.text += (f"\nproduct around the cycle: forwards {forwards:.3f}, backwards {backwards:.3f}; loss "
                         f"{float(shown['loss'][0]):.3f}")
        return picture
