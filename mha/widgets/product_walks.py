"""How far from zero a dot product comes: the sums of many random pairs, one product after the other."""
import torch

from mha import viz
from mha.widgets.figure import LiveFigure, Slider
from mha.widgets.score_scale import normal

PAIRS, WIDEST, SEED = 100, 256, 2


def walks():
    """The running sums of q_i k_i of each pair: (100, 256); all coordinates are normal, of variance 1."""
    q, k = normal(torch.arange(2 * PAIRS * WIDEST), SEED).view(2, PAIRS, WIDEST)
    return (q * k).cumsum(-1)


class ProductWalks(LiveFigure):
    """A hundred random queries and keys; the slider says how many of their products are added.

    `numbers()` gives sum (100), the dot products, and spread (1), the root of their mean square.
    """

    data = {"pairs": PAIRS, "widest": WIDEST, "seed": SEED}
    d_k = Slider("products added, d_k", 1, WIDEST, value=16)

    def numbers(self, d_k):
        sums = walks()[:, d_k - 1]
        return {"sum": sums, "spread": sums.square().mean().sqrt()[None]}

    def picture(self):
        widths = torch.arange(1, WIDEST + 1)
        return viz.curves(widths, "d_k", f"standard deviation of {PAIRS} dot products",
                          standard_deviation=walks().square().mean(0).sqrt(), root_of_d_k=widths.sqrt())
