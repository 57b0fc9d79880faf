"""One head on sixteen tokens, before and after one of the changes that models since 2024 have made."""
import torch

from mha import viz
from mha.lab.findings.chapter_11b import TOKENS, one_change_each
from mha.widgets.figure import Choice, LiveFigure, Slider

DECIMALS = 5
TOLD = {
    "a sink logit": "The sink is one more score, of 2, whose share goes to no token.",
    "a gate": "The gate multiplies the whole row of a query by one number from 0 to 1.",
    "softcap": "The softcap of 1 squeezes each score into the room from \u22121 to 1.",
    "QK-norm": "All queries and keys get the same length, so that only their angles count.",
    "a window": "The window holds four tokens, and what lies further back gets nothing.",
    "two blocks": "A query reads its own block of four, and the earlier one whose mean key fits it best.",
    "linear": "The weight is a product of two feature vectors, divided by the row\u2019s sum: there is no softmax.",
}


class OneChange(LiveFigure):
    """The weights of a head as before, and after one change.

    `numbers()` gives before (16) and after (16), one row of the two maps; and total (1), what that row sums to after
    the change.
    """

    change = Choice("change", list(TOLD))
    row = Slider("row of token", 1, TOKENS, value=14)

    def __init__(self):
        self.maps = {title: weights.round(decimals=DECIMALS) for title, weights in one_change_each().items()}
        super().__init__({"titles": list(TOLD), "told": list(TOLD.values()),
                          "maps": [weights.flatten().tolist() for weights in self.maps.values()]})

    def numbers(self, change, row):
        before, after = (self.maps[title][row - 1] for title in ("as before", list(TOLD)[change]))
        return {"before": before, "after": after, "total": after.sum()[None]}

    def picture(self):
        titles = ["as before", list(TOLD)[self.setting()["change"]]]
        return viz.heatmaps(torch.stack([self.maps[title] for title in titles]),
                            [f"token {i}" for i in range(1, TOKENS + 1)], titles=titles)
