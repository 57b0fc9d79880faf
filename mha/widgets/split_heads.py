"""Twelve numbers that know where they belong: split and transpose, and a view that scrambles them."""
import torch

from mha import viz
from mha.multihead import split_heads
from mha.widgets.figure import ChoiceSlider, LiveFigure
from mha.widgets.whole_layer import WORDS

STEPS = ["projected (3, 4)", "split (3, 2, 2)", "transposed (2, 3, 2)", "view alone (2, 3, 2)"]


def projection():
    """(3, 4): row i, column j holds 10 i + j."""
    return 10 * torch.arange(3)[:, None] + torch.arange(4)


class SplitHeads(LiveFigure):
    """The queries of three words and two heads on their way from columns to heads.

    `numbers()` gives entry (12): the numbers of the tensor in its own order; and astray: how many stand where another's
    belongs.
    """

    data = {"words": WORDS}
    step = ChoiceSlider("numbers", STEPS)

    def numbers(self, step):
        Q = projection()
        right = split_heads(Q, 2)
        entry = (Q, Q.view(3, 2, 2), right, Q.view(2, 3, 2))[step]
        astray = (entry != right).sum() if step > 1 else torch.tensor(0)
        return {"entry": entry.flatten().double(), "astray": astray[None].double()}

    def picture(self):
        entry = self.numbers(**self.setting())["entry"].view(3, 4)
        return viz.matrices("The queries of three words: four numbers each, two for each of two heads.", WORDS,
                            {"projected": (entry, ["head 1", "head 1", "head 2", "head 2"])}, columns=1)
