"""How much of its weight a head with ALiBi can put on one place, if it sees no content: no slope gives much."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.attention import attention
from mha.position import alibi_bias
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

SLOPES = [2 ** (i / 4) for i in range(-32, 5)]       # among them the eight of Press et al.: 1/2, 1/4, ..., 1/256
TOKENS, SHOWN = 4096, 24


def most(offset):
    """The largest weight at an offset k that any slope gives: k^k / (k+1)^(k+1), at the slope ln((k+1) / k)."""
    return offset**offset / (offset + 1) ** (offset + 1)


class AlibiSlopeCanvas(Canvas):
    _esm, _css = front_end("alibi_slope")
    slopes = traitlets.List(SLOPES).tag(sync=True)
    tokens = traitlets.Int(TOKENS).tag(sync=True)
    shown = traitlets.Int(SHOWN, help="of these tokens, the nearest").tag(sync=True)
    slope = traitlets.Int(SLOPES.index(0.25), help="index into slopes").tag(sync=True)
    offset = traitlets.Int(1).tag(sync=True)


class AlibiSlope(LiveFigure):
    """The weights of the last of 4096 tokens by distance, where all scores are equal but for ALiBi's bias.

    `numbers()` gives weight (24), of the nearest tokens, itself first; and most (1), the largest weight that any slope
    gives the token at `offset`.
    """

    def __init__(self):
        canvas = AlibiSlopeCanvas()
        super().__init__(canvas, [
            {"slope": slider(ipywidgets.SelectionSlider, "slope", options=[f"{slope:.3g}" for slope in SLOPES],
                             index=canvas.slope),
             "offset": slider(ipywidgets.IntSlider, "target, tokens back", value=canvas.offset, min=1, max=12)}])

    def numbers(self, slope, offset):
        slopes = torch.tensor([SLOPES[slope]], dtype=torch.float64)
        bias = alibi_bias(1, 1, TOKENS, offset=TOKENS - 1, slopes=slopes)[0]            # (1, 4096)
        blind = torch.zeros(TOKENS, 1, dtype=torch.float64)
        weight = attention(blind[:1], blind, blind, bias=bias, need_weights=True)[1][0]
        return {"weight": weight.flip(0)[:SHOWN], "most": torch.tensor([most(offset)], dtype=torch.float64)}

    def picture(self):
        weight = self.numbers(**self.setting())["weight"][:8]
        bounds = torch.tensor([most(t) for t in range(8)])
        picture = viz.bars([f"{t} back" for t in range(8)], weight=weight, largest_possible_weight=bounds)
        alt = f"The weights that ALiBi's slope {SLOPES[self.canvas.slope]:g} gives, and the most that any slope gives."
        picture.text = alt + "\n\n" + picture.text.split("\n\n", 1)[1]
        return picture
