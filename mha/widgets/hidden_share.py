"""A masked word's score, and what it moves: a mask before the softmax beside one after it."""
import torch

from mha import viz
from mha.widgets.figure import LiveFigure, Slider
from mha.widgets.masked_rows import scores
from mha.widgets.whole_layer import WORDS


class HiddenShare(LiveFigure):
    """The row of "good", which must not see "news": its weights with the mask before the softmax and after it.

    `numbers()` gives before (2) and after (2): the weights of "not" and "good"; and taken: the share of "news" that a
    mask after the softmax throws away.
    """

    data = {"words": WORDS, "scores": scores()[1, :2].tolist()}        # of the two words that may be seen
    hidden = Slider("score of the masked \u201cnews\u201d", -2, 4, 0.5, value=0)

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
