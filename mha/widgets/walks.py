"""How far from zero a dot product comes: the sums of many random pairs, one product after the other."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.scale import normal

PAIRS, WIDEST, SEED = 100, 256, 2


def walks():
    """The running sums of q_i k_i of each pair: (100, 256); all coordinates are normal, of variance 1."""
    q, k = normal(torch.arange(2 * PAIRS * WIDEST), SEED).view(2, PAIRS, WIDEST)
    return (q * k).cumsum(-1)


class WalksCanvas(Canvas):
    _esm, _css = front_end("walks")
    pairs = traitlets.Int(PAIRS).tag(sync=True)
    widest = traitlets.Int(WIDEST).tag(sync=True)
    seed = traitlets.Int(SEED).tag(sync=True)
    d_k = traitlets.Int(16).tag(sync=True)


class ProductWalks(LiveFigure):
    """A hundred random queries and keys; the slider says how many of their products are added.

    `numbers()` gives sum (100), the dot products, and spread (1), the root of their mean square.
    """

    def __init__(self):
        super().__init__(WalksCanvas(), [
            {"d_k": slider(ipywidgets.IntSlider, "products added, d_k", value=16, min=1, max=WIDEST)}])

    def numbers(self, d_k):
        sums = walks()[:, d_k - 1]
        return {"sum": sums, "spread": sums.square().mean().sqrt()[None]}

    def picture(self):
        widths = torch.arange(1, WIDEST + 1)
        return viz.curves(widths, "d_k", f"spread of {PAIRS} dot products",
                          spread=walks().square().mean(0).sqrt(), root_of_d_k=widths.sqrt())
