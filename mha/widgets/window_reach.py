"""A window of attention, and how far the word in the middle sees through layers of it."""
import torch

from mha import masks, viz
from mha.widgets.figure import LiveFigure, Slider

N, MIDDLE, MOST = 9, 4, 3


class WindowReach(LiveFigure):
    """Nine words, each of which looks at `side` words to each side, through layers of the same window.

    `numbers()` gives reach (9): 1 for each word that the output of the middle one depends on, else 0; and pairs: how
    many of the 81 scores of a layer the mask allows.
    """

    data = {"tokens": N, "most": MOST}
    side = Slider("words to each side", 0, 4, value=1)
    layers = Slider("layers", 1, MOST, value=1)

    def numbers(self, side, layers):
        mask = masks.window(N, left=side, right=side).double()
        reach = torch.linalg.matrix_power(mask, layers)[MIDDLE] > 0
        return {"reach": reach.double(), "pairs": mask.sum()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.matrices(f"The words that reach the middle one; {int(shown['pairs'])} of {N * N} pairs are allowed.",
                            ["reaches it"], {"word": (shown["reach"][None], [str(i) for i in range(N)])}, columns=1)
