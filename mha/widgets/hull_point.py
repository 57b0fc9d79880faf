"""Inside: the mixture of three values, which no scores bring out of their triangle."""
import torch

from mha import viz
from mha.widgets.who_asks import of_heads
from mha.widgets.figure import LiveFigure, Slider
from mha.widgets.whole_layer import WORDS

WISHED = [[-0.4, -0.3], [0.9, 0.7]]        # what no mixture is: away from all, longer than all


class HullPoint(LiveFigure):
    """The values of head 1 of chapter 0 in the plane, and what "good" gets for the scores that the reader gives.

    `numbers()` gives weight (3), mixture (2) and missed (2): how far it stays from both points of `wished`.
    """

    data = {"words": WORDS, "values": of_heads("V")[0].tolist(), "wished": WISHED}
    first = Slider("score with \u201cnot\u201d", -8.0, 8.0, 0.5, value=4.0)
    second = Slider("score with \u201cgood\u201d", -8.0, 8.0, 0.5, value=1.0)      # the third scores 0

    def numbers(self, first, second):
        weight = (torch.tensor([first, second, 0.0], dtype=torch.float64) / 2 ** 0.5).softmax(-1)
        mixture = weight @ of_heads("V")[0]
        missed = (mixture - torch.tensor(WISHED, dtype=torch.float64)).norm(dim=-1)
        return {"weight": weight, "mixture": mixture, "missed": missed}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.matrices(
            "Three values in the plane, and the weights of their mixture, which stays in their triangle.",
            WORDS, {"value": (of_heads("V")[0], ["1", "2"]), "weight": (shown["weight"][:, None], ["good"])})
