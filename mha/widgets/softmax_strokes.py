"""The two strokes of the softmax, a power and a division, in 32 bits: what a number added to every score changes."""
import torch

from mha import viz
from mha.lab.data import library
from mha.widgets.figure import LiveFigure, Slider, Toggle

BOOKS, KEYS, _ = library()
NAMES = [f"book {i + 1}" for i in range(len(BOOKS))]
SCORES = KEYS @ torch.tensor([2.0, -1.2])     # of the query of the chapter


class SoftmaxStrokes(LiveFigure):
    """Add a number to all scores; take the largest off first, or not.

    `numbers()` gives score, power = e^score and weight = power / their sum (5 each), and that sum (1), in 32 bits,
    where a power may be infinite and a weight no number.
    """

    data = {"names": NAMES, "scores": SCORES.tolist()}
    shift = Slider("add to every score", 0, 100, 10, value=0)
    safe = Toggle("take the largest score off first", value=False)

    def numbers(self, shift, safe):
        scores = SCORES + shift
        if safe:
            scores = scores - scores.max()
        powers = scores.exp()
        total = powers.sum()
        return {"score": scores, "power": powers, "weight": powers / total, "sum": total[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.bars(NAMES, scores=shown["score"], powers=shown["power"], weights=shown["weight"])
