"""How much of its weight a head with ALiBi can put on one place, if it sees no content: no slope gives much."""
import torch

from mha import viz
from mha.attention import attention
from mha.position import alibi_bias
from mha.widgets.figure import ChoiceSlider, LiveFigure, Slider

SLOPES = [2 ** (i / 4) for i in range(-32, 5)]       # among them the eight of Press et al.: 1/2, 1/4, ..., 1/256
TOKENS, SHOWN = 4096, 24


def most(offset):
    """The largest weight at an offset k that any slope gives: k^k / (k+1)^(k+1), at the slope ln((k+1) / k)."""
    return offset**offset / (offset + 1) ** (offset + 1)


class AlibiSlope(LiveFigure):
    """The weights of the last of 4096 tokens by distance, where all scores are equal but for ALiBi's bias.

    `numbers()` gives weight (24), of the nearest tokens, itself first; most (1), the largest weight that any slope
    gives the token at `offset`; and half (1), how many of the nearest tokens it takes to have half of the weight.
    """

    data = {"slopes": SLOPES, "tokens": TOKENS, "shown": SHOWN}
    slope = ChoiceSlider("slope", [f"{slope:.3g}" for slope in SLOPES], value=SLOPES.index(0.25))
    offset = Slider("target, tokens back", 1, 12, value=1)

    def numbers(self, slope, offset):
        slopes = torch.tensor([SLOPES[slope]], dtype=torch.float64)
        bias = alibi_bias(1, 1, TOKENS, offset=TOKENS - 1, slopes=slopes)[0]            # (1, 4096)
        blind = torch.zeros(TOKENS, 1, dtype=torch.float64)
        weight = attention(blind[:1], blind, blind, bias=bias, need_weights=True)[1][0].flip(0)
        return {"weight": weight[:SHOWN], "most": torch.tensor([most(offset)], dtype=torch.float64),
                "half": 1 + (weight.cumsum(0) < 0.5).sum()[None]}

    def picture(self):
        weight = self.numbers(**self.setting())["weight"][:8]
        bounds = torch.tensor([most(t) for t in range(8)])
        picture = viz.bars([f"{t} back" for t in range(8)], weight=weight, largest_possible_weight=bounds)
        alt = f"The weights that ALiBi's slope {SLOPES[self.slope]:g} gives, and the most that any slope gives."
        picture.text = alt + "\n\n" + picture.text.split("\n\n", 1)[1]
        return picture
