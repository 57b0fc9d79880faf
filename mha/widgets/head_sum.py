"""What each of two heads writes about a word, through its own part of W_O, and their sum."""
import torch

from mha import viz
from mha.widgets.figure import Choice, LiveFigure
from mha.widgets.whole_layer import FEATURES, GIVEN, HEADS, WORDS, numbers_of

KEPT = ["both heads", "head 1 alone", "head 2 alone"]


def mixtures():
    """What the two heads of chapter 0 bring, (2, 3, 2)."""
    return numbers_of(GIVEN)["mixture"].view(2, 3, 2)


class HeadSum(LiveFigure):
    """The heads of chapter 0: each multiplies what it brings with its own two rows of W_O, and the rows add up.

    `numbers()` gives part (8): what head 1 and head 2 write; and written (4): the mixtures side by side times all of
    W_O, which the browser computes as the sum of the parts.
    """

    data = {"words": WORDS, "features": FEATURES, "mixtures": mixtures().tolist(), "W_O": GIVEN["WO"]}
    follow = Choice("word", WORDS, value=2)
    kept = Choice("what is kept", KEPT)

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
        return viz.matrices(f"What two heads write about \u201c{WORDS[self.follow]}\u201d, and the sum.",
                            ["head 1 writes", "head 2 writes", "sum"], {"row": (rows, FEATURES)}, columns=1)
