"""What the division does to one row of scores: "good" of chapter 0, in head 1."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.whole import GIVEN, WORDS

WIDTHS = [1, 2, 4, 16, 64, 256]     # d_k, by whose root the scores are divided
GOOD = WORDS.index("good")


def scores():
    """The scores of "good" with each word in head 1 of chapter 0: (3,)."""
    x, W_Q, W_K = (torch.tensor(GIVEN[name], dtype=torch.float64) for name in ("x", "WQ1", "WK1"))
    return x[GOOD] @ W_Q @ (x @ W_K).T


class RowCanvas(Canvas):
    _esm, _css = front_end("row")
    words = traitlets.List(WORDS).tag(sync=True)
    scores = traitlets.List(scores().tolist()).tag(sync=True)
    widths = traitlets.List(WIDTHS).tag(sync=True)
    d_k = traitlets.Int(WIDTHS.index(2)).tag(sync=True)


class ScaledRow(LiveFigure):
    """One row of scores, divided by the root of a d_k, and its weights.

    `numbers()` gives score, scaled and weight (3 each).
    """

    def __init__(self):
        names = ["1: left out", *(f"\u221a{d} = {d**0.5:.4g}" for d in WIDTHS[1:])]
        super().__init__(RowCanvas(), [
            {"d_k": slider(ipywidgets.SelectionSlider, "divide by", options=list(zip(names, range(len(WIDTHS)))),
                           value=WIDTHS.index(2))}])

    def numbers(self, d_k):
        scaled = scores() / WIDTHS[d_k]**0.5
        return {"score": scores(), "scaled": scaled, "weight": scaled.softmax(-1)}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.bars(WORDS, scores=shown["score"], divided=shown["scaled"], weights=shown["weight"])
