"""One sentence with padding in front of it or behind: what the padding mask changes under a causal mask."""
import torch

from mha import masks, viz
from mha.attention import attention
from mha.widgets.figure import Choice, LiveFigure, Slider
from mha.widgets.masked_rows import scores
from mha.widgets.whole_layer import WORDS

WIDE = 5
PADDING = "[PAD]"


class PaddingSides(LiveFigure):
    """The weights of a sentence under the causal mask alone, and with the padding mask joined to it by "and".

    Five positions hold the first words of chapter 0's sentence and padding, a row of zeros, whose scores are all 0.
    `numbers()` gives causal (25) and both (25), the weights without and with the padding mask.
    """

    data = {"words": WORDS, "scores": scores().tolist(), "wide": WIDE, "padding": PADDING}
    side = Choice("padding", ["behind the words", "in front of them"], value=0)
    length = Slider("real words", 1, 3, value=3)

    def numbers(self, side, length):
        real = slice(WIDE - length, WIDE) if side else slice(0, length)
        bias = torch.zeros(WIDE, WIDE, dtype=torch.float64)
        bias[real, real] = scores()[:length, :length]
        seen = torch.zeros(WIDE, dtype=torch.bool)
        seen[real] = True
        nothing = torch.zeros(WIDE, 1, dtype=torch.float64)
        causal, both = (attention(nothing, nothing, nothing, mask=mask, bias=bias, need_weights=True)[1]
                        for mask in (masks.causal(WIDE), masks.causal(WIDE) & seen))
        return {"causal": causal.flatten(), "both": both.flatten()}

    def picture(self):
        shown = self.numbers(**self.setting())
        words, filled = WORDS[:self.length], [PADDING] * (WIDE - self.length)
        names = filled + words if self.side else words + filled
        return viz.matrices("The weights of a padded sentence, without and with the padding mask.", names,
                            {name: (shown[key].view(WIDE, WIDE), names) for name, key in
                             (("causal mask alone", "causal"), ("causal and padding mask", "both"))})
