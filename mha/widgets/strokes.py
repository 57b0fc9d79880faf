"""The two strokes of the softmax, a power and a division, in 32 bits: what a number added to every score changes."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab.data import library
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

BOOKS, KEYS, _ = library()
NAMES = [f"book {i + 1}" for i in range(len(BOOKS))]
SCORES = KEYS @ torch.tensor([2.0, -1.2])     # of the query of the chapter


class StrokesCanvas(Canvas):
    _esm, _css = front_end("strokes")
    names = traitlets.List(NAMES).tag(sync=True)
    scores = traitlets.List(SCORES.tolist()).tag(sync=True)
    shift = traitlets.Int(0).tag(sync=True)
    safe = traitlets.Bool(False).tag(sync=True)


class SoftmaxStrokes(LiveFigure):
    """Add a number to all scores; take the largest off first, or not.

    `numbers()` gives score, power = e^score and weight = power / their sum (5 each), in 32 bits, where a power may be
    infinite and a weight no number.
    """

    def __init__(self):
        super().__init__(StrokesCanvas(), [
            {"shift": slider(ipywidgets.IntSlider, "add to every score", value=0, min=0, max=100, step=10),
             "safe": slider(ipywidgets.Checkbox, "take the largest score off first", value=False, indent=False)}])

    def numbers(self, shift, safe):
        scores = SCORES + shift
        if safe:
            scores = scores - scores.max()
        powers = scores.exp()
        return {"score": scores, "power": powers, "weight": powers / powers.sum()}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.bars(NAMES, scores=shown["score"], powers=shown["power"], weights=shown["weight"])
