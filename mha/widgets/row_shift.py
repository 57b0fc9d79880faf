"""A number added to a row of scores: the weights stay, and the symmetric part of the scores gets others."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab import measure
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.masked_rows import scores
from mha.widgets.whole import WORDS


class RowShiftCanvas(Canvas):
    _esm, _css = front_end("row_shift")
    words = traitlets.List(WORDS).tag(sync=True)
    scores = traitlets.List(scores().tolist()).tag(sync=True)
    row = traitlets.Int(1, help="the word whose scores are moved").tag(sync=True)
    added = traitlets.Float(0.0).tag(sync=True)


class RowShift(LiveFigure):
    """Head 1 of chapter 0 with a number added to one row of its scores, and what is left if it is made symmetric.

    `numbers()` gives score (9), weight (9), symmetric (9), the scores' symmetric part, kept (9), the weights of that,
    moved: how far the weights of the whole and of the symmetric part are at most from those with nothing added; and
    asymmetry of the scores.
    """

    def __init__(self):
        super().__init__(RowShiftCanvas(), [
            {"row": slider(ipywidgets.ToggleButtons, "row", options=WORDS, index=1),
             "added": slider(ipywidgets.FloatSlider, "added to all its scores", value=0.0, min=-4.0, max=4.0, step=0.5,
                             readout_format=".1f")}])

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
