"""A number added to a row of scores: the weights stay, and the symmetric part of the scores gets others."""
import torch

from mha import viz
from mha.lab import measure
from mha.widgets.figure import Choice, LiveFigure, Slider
from mha.widgets.masked_rows import scores
from mha.widgets.whole_layer import WORDS


class RowShift(LiveFigure):
    """Head 1 of chapter 0 with a number added to one row of its scores, and what is left if it is made symmetric.

    `numbers()` gives score (9), weight (9), symmetric (9), the scores' symmetric part, kept (9), the weights of that,
    moved: how far the weights of the whole and of the symmetric part are at most from those with nothing added; and
    asymmetry of the scores.
    """

    data = {"words": WORDS, "scores": scores().tolist()}
    row = Choice("row", WORDS, value=1)
    added = Slider("added to all its scores", -4.0, 4.0, 0.5, value=0.0)

    def numbers(self, row, added):
        given = scores()
        moved = given.clone()
        moved[row] += added
        halves = [(each + each.T) / 2 for each in (given, moved)]
        far = [(a.softmax(-1) - b.softmax(-1)).abs().amax() for a, b in ((given, moved), halves)]
        return {"score": moved.flatten(), "weight": moved.softmax(-1).flatten(), "symmetric": halves[1].flatten(),
                "kept": halves[1].softmax(-1).flatten(), "moved": torch.stack(far).round(decimals=12),
                "asymmetry": measure.asymmetry(moved)[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        names = {"score": "scores", "weight": "weights", "symmetric": "symmetric part", "kept": "its weights"}
        return viz.matrices("The scores and weights of a head, and of the symmetric part of its scores.", WORDS,
                            {title: (shown[name].view(3, 3), WORDS) for name, title in names.items()})
