"""What each of two heads writes about a word, through its own part of W_O, and their sum."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.whole import FEATURES, GIVEN, HEADS, WORDS, numbers_of

KEPT = ["both heads", "head 1 alone", "head 2 alone"]


def mixtures():
    """What the two heads of chapter 0 bring, (2, 3, 2)."""
    return numbers_of(GIVEN)["mixture"].view(2, 3, 2)


class HeadSumCanvas(Canvas):
    _esm, _css = front_end("head_sum")
    words = traitlets.List(WORDS).tag(sync=True)
    features = traitlets.List(FEATURES).tag(sync=True)
    mixtures = traitlets.List(mixtures().tolist()).tag(sync=True)
    W_O = traitlets.List(GIVEN["WO"]).tag(sync=True)
    follow = traitlets.Int(1, help="the word that is written").tag(sync=True)
    kept = traitlets.Int(0, help="index into KEPT").tag(sync=True)


class HeadSum(LiveFigure):
    """The heads of chapter 0: each multiplies what it brings with its own two rows of W_O, and the rows add up.

    `numbers()` gives part (8): what head 1 and head 2 write; and written (4): the mixtures side by side times all of
    W_O, which the browser computes as the sum of the parts.
    """

    def __init__(self):
        super().__init__(HeadSumCanvas(), [
            {"follow": slider(ipywidgets.ToggleButtons, "word", options=WORDS, index=1),
             "kept": slider(ipywidgets.ToggleButtons, "what is kept", options=KEPT)}])

    def numbers(self, follow, kept):
        brought = mixtures()[:, follow]
        if kept:
            brought[2 - kept] = 0
        W_O = torch.tensor(GIVEN["WO"], dtype=torch.float64)
        part = torch.stack([row @ block for row, block in zip(brought, W_O.split(2))])
        return {"part": part.flatten(), "written": brought.flatten() @ W_O}

    def picture(self):
        shown = self.numbers(**self.setting())
        rows = torch.cat([shown["part"].view(len(HEADS), 4), shown["written"][None]])
        return viz.matrices(f"What two heads write about \u201c{WORDS[self.canvas.follow]}\u201d, and the sum.",
                            ["head 1 writes", "head 2 writes", "sum"], {"row": (rows, FEATURES)}, columns=1)
