"""How much of four wanted contents three heads can tell, whether each finds one or blurs several."""
import torch

from mha import viz
from mha.widgets.figure import LiveFigure, Slider

HEADS, WANTED, TOKENS = 3, 4, 16
NAMES = [*(f"wanted {i + 1}" for i in range(WANTED)), f"{TOKENS - WANTED} others, added up"]


class ExplainedShares(LiveFigure):
    """Three heads among 16 tokens, four of them wanted: head i looks at wanted i, wanted i + 1 and another token.

    `numbers()` gives weight (15): of each head on the four, and on all others together; share (5): of each content
    the part of its variance that a linear guess can tell, |P e|^2, the last one summed over all others; and error.
    """

    data = {"names": NAMES, "heads": HEADS}
    blur = Slider("blurred on to the next wanted token", 0.0, 0.5, 0.05, value=0.0)
    astray = Slider("astray, on what nobody wants", 0.0, 0.5, 0.05, value=0.0)

    def numbers(self, blur, astray):
        weights = torch.zeros(HEADS, TOKENS, dtype=torch.float64)
        for i in range(HEADS):
            weights[i, i], weights[i, i + 1] = (1 - astray) * (1 - blur), (1 - astray) * blur
            weights[i, WANTED + i] = astray
        share = torch.linalg.qr(weights.T)[0].square().sum(1)
        weight, share = (torch.cat([all16[..., :WANTED], all16[..., WANTED:].sum(-1, keepdim=True)], dim=-1)
                         for all16 in (weights, share))
        return {"weight": weight.flatten(), "share": share, "error": 1 - share[:WANTED].mean()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        rows = torch.cat([shown["weight"].view(HEADS, -1), shown["share"][None]])
        return viz.matrices("The weights of three heads, and the share of each content that they can tell.",
                            [*(f"head {i + 1}" for i in range(HEADS)), "told"], {"token": (rows, NAMES)}, columns=1)
