"""The four matrices of a layer, to scale: what more heads cost, with d_k tied to their number or fixed."""
import torch

from mha import viz
from mha.multihead import MultiHeadAttention
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure

D_MODEL, TOKENS = 512, 2048
HEADS = [1, 2, 4, 8, 16, 32]
FIRST = HEADS.index(4)                        # where 512 / h is another width than 64
WIDTHS = ["512 / h", "64"]


class Parameters(LiveFigure):
    """W_Q, W_K, W_V and W_O of a layer of 512, cut into heads; areas are parameters.

    `numbers()` gives d_k, parameters (of all four matrices, no biases) and scores (h times 2048 squared).
    """

    data = {"d_model": D_MODEL, "tokens": TOKENS, "heads": HEADS}
    num_heads = ChoiceSlider("heads h", [f"{h} head{'s' * (h > 1)}" for h in HEADS], value=FIRST)
    width = Choice("width d_k", WIDTHS)

    def numbers(self, num_heads, width):
        h = HEADS[num_heads]
        d_k = 64 if width else D_MODEL // h
        layer = MultiHeadAttention(D_MODEL, h, d_k=d_k, bias=False, device="meta")
        shown = {"d_k": d_k, "parameters": sum(p.numel() for p in layer.parameters()), "scores": h * TOKENS**2}
        return {name: torch.tensor([float(value)]) for name, value in shown.items()}

    def picture(self):
        h, shown = HEADS[self.num_heads], self.numbers(**self.setting())
        row = torch.stack([torch.tensor([float(h)]), shown["d_k"], shown["parameters"]], dim=1)
        return viz.matrices("The four matrices of a layer of 512: heads, width and parameters.", ["layer"],
                            {"to count": (row, ["h", "d_k", "parameters"])}, columns=1)
