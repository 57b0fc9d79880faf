"""Three words, each a query in turn: scores, what the causal mask leaves of them, and the weights."""
import torch

from mha import masks, viz
from mha.widgets.figure import ChoiceSlider, LiveFigure, Toggle
from mha.widgets.whole_layer import GIVEN, WORDS, numbers_of


def scores():
    """The scores of head 1 of chapter 0, divided by the root of d_k, (3, 3)."""
    return numbers_of(GIVEN)["scaled"][:9].view(3, 3)


class MaskedRows(LiveFigure):
    """Head 1 of chapter 0 under a causal mask, one row at a time: scores, powers with their sum, weights.

    `numbers()` gives score (9, -inf where the mask hides), power (9), total (3) of each row's powers, and weight (9).
    """

    data = {"words": WORDS, "scores": scores().tolist()}
    follow = ChoiceSlider("query", WORDS, value=1)
    masked = Toggle("causal mask", value=True)

    def numbers(self, follow, masked):
        seen = masks.causal(3) if masked else torch.ones(3, 3, dtype=torch.bool)
        score = scores().masked_fill(~seen, -torch.inf)
        power = score.exp()
        return {"score": score.flatten(), "power": power.flatten(), "total": power.sum(-1),
                "weight": score.softmax(-1).flatten()}

    def picture(self):
        shown = self.numbers(**self.setting())
        power = torch.cat([shown["power"].view(3, 3), shown["total"][:, None]], dim=1)
        return viz.matrices("Three words under a causal mask: the powers of their scores, and the weights.", WORDS,
                            {"e to the score": (power, [*WORDS, "sum"]), "weight": (shown["weight"].view(3, 3), WORDS)})
