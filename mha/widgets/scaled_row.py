"""What the division does to one row of scores: "good" of chapter 0, in head 1."""
import torch

from mha import viz
from mha.widgets.figure import ChoiceSlider, LiveFigure
from mha.widgets.whole_layer import GIVEN, WORDS

WIDTHS = [1, 2, 4, 16, 64, 256]     # d_k, by whose root the scores are divided
GOOD = WORDS.index("good")


def scores():
    """The scores of "good" with each word in head 1 of chapter 0: (3,)."""
    x, W_Q, W_K = (torch.tensor(GIVEN[name], dtype=torch.float64) for name in ("x", "WQ1", "WK1"))
    return x[GOOD] @ W_Q @ (x @ W_K).T


class ScaledRow(LiveFigure):
    """One row of scores, divided by the root of a d_k, and its weights.

    `numbers()` gives score, scaled and weight (3 each).
    """

    data = {"words": WORDS, "scores": scores().tolist(), "widths": WIDTHS}
    d_k = ChoiceSlider("divide by", ["1: left out", *(f"\u221a{d} = {d**0.5:.4g}" for d in WIDTHS[1:])],
                       value=WIDTHS.index(2))

    def numbers(self, d_k):
        scaled = scores() / WIDTHS[d_k]**0.5
        return {"score": scores(), "scaled": scaled, "weight": scaled.softmax(-1)}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.bars(WORDS, scores=shown["score"], divided=shown["scaled"], weights=shown["weight"])
