"""A window of attention, and how far the word in the middle sees through layers of it."""
import ipywidgets
import torch
import traitlets

from mha import masks, viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

N, MIDDLE, MOST = 9, 4, 3


class WindowReachCanvas(Canvas):
    _esm, _css = front_end("window_reach")
    tokens = traitlets.Int(N).tag(sync=True)
    most = traitlets.Int(MOST, help="layers at most").tag(sync=True)
    side = traitlets.Int(1, help="words seen to each side").tag(sync=True)
    layers = traitlets.Int(1).tag(sync=True)


class WindowReach(LiveFigure):
    """Nine words, each of which looks at `side` words to each side, through layers of the same window.

    `numbers()` gives reach (9): 1 for each word that the output of the middle one depends on, else 0; and pairs: how
    many of the 81 scores of a layer the mask allows.
    """

    def __init__(self):
        super().__init__(WindowReachCanvas(), [
            {"side": slider(ipywidgets.IntSlider, "words to each side", value=1, min=0, max=4),
             "layers": slider(ipywidgets.IntSlider, "layers", value=1, min=1, max=MOST)}])

    def numbers(self, side, layers):
        mask = masks.window(N, left=side, right=side).double()
        reach = torch.linalg.matrix_power(mask, layers)[MIDDLE] > 0
        return {"reach": reach.double(), "pairs": mask.sum()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.matrices(f"The words that reach the middle one; {int(shown['pairs'])} of {N * N} pairs are allowed.",
                            ["reaches it"], {"word": (shown["reach"][None], [str(i) for i in range(N)])}, columns=1)
