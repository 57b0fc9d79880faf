"""A hidden word's score, and what it moves: a mask before the softmax beside one after it."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.masked_rows import scores
from mha.widgets.whole import WORDS


class HiddenShareCanvas(Canvas):
    _esm, _css = front_end("hidden_share")
    words = traitlets.List(WORDS).tag(sync=True)
    scores = traitlets.List(scores()[1, :2].tolist(), help="of the two words that may be seen").tag(sync=True)
    hidden = traitlets.Float(0.0, help="the score of the third").tag(sync=True)


class HiddenShare(LiveFigure):
    """The row of "good", which must not see "news": its weights with the mask before the softmax and after it.

    `numbers()` gives before (2) and after (2): the weights of "not" and "good"; and taken: the share of "news" that a
    mask after the softmax throws away.
    """

    def __init__(self):
        super().__init__(HiddenShareCanvas(), [
            {"hidden": slider(ipywidgets.FloatSlider, "score of the hidden \u201cnews\u201d", value=0, min=-2, max=4,
                              step=0.5, readout_format=".1f")}])

    def numbers(self, hidden):
        row = torch.cat([scores()[1, :2], torch.tensor([hidden], dtype=torch.float64)])
        seen = torch.tensor([True, True, False])
        after = row.softmax(-1)
        return {"before": row.masked_fill(~seen, -torch.inf).softmax(-1)[:2], "after": after[:2], "taken": after[2:]}

    def picture(self):
        shown = self.numbers(**self.setting())
        rows = torch.stack([torch.cat([shown["before"], torch.zeros(1)]), torch.cat([shown["after"], shown["taken"]])])
        return viz.matrices("The weights of \u201cgood\u201d with the mask before the softmax, and after it.",
                            ["mask before", "mask after"], {"weight": (rows, [*WORDS[:2], "lost"])}, columns=1)
