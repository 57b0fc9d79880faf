"""Why divide: one random query, two random keys, and what the width of a head does to its choice between them."""
import torch

from mha import viz
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure
from mha.widgets.score_scale import normal

WORDS = ["Cat", "sat"]
WIDTHS = [1, 4, 16, 64, 256, 1024]
POWERS = {"nothing": 0, "\u221ad_k": 0.5, "d_k": 1}
SEED = 2264834     # at each width its scores lie farther apart than in about three of four random pairs


def scores():
    """The scores of the query of "sat" with both keys, for the first 1, 4, ... coordinates: (6, 2)."""
    query, *keys = normal(torch.arange(3 * WIDTHS[-1]), SEED).view(3, -1)
    return torch.stack([(query * key).cumsum(0) for key in keys], -1)[torch.tensor(WIDTHS) - 1]


class TwoWords(LiveFigure):
    """The scores of "sat" with two words, before and after a division, and its weights, for random vectors.

    `numbers()` gives score, scaled and weight (2 each).
    """

    data = {"words": WORDS, "widths": WIDTHS, "powers": list(POWERS.values()), "scores": scores().tolist()}
    d_k = ChoiceSlider("width of the head, d_k", [str(d_k) for d_k in WIDTHS], value=WIDTHS.index(64))
    divide = Choice("divide the scores by", list(POWERS), value=0)

    def numbers(self, d_k, divide):
        score = scores()[d_k]
        scaled = score / WIDTHS[d_k] ** list(POWERS.values())[divide]
        return {"score": score, "scaled": scaled, "weight": scaled.softmax(-1)}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.bars(WORDS, scores=shown["score"], divided=shown["scaled"], weights=shown["weight"])
