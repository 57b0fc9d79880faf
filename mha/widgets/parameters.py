"""The four matrices of a layer, to scale: what more heads cost, with d_k tied to their number or fixed."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.multihead import MultiHeadAttention
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

D_MODEL, TOKENS = 512, 2048
HEADS = [1, 2, 4, 8, 16, 32]
FIRST = HEADS.index(4)                        # where 512 / h is another width than 64
WIDTHS = ["512 / h", "64"]


class ParametersCanvas(Canvas):
    _esm, _css = front_end("parameters")
    d_model = traitlets.Int(D_MODEL).tag(sync=True)
    tokens = traitlets.Int(TOKENS).tag(sync=True)
    heads = traitlets.List(HEADS).tag(sync=True)
    num_heads = traitlets.Int(FIRST, help="index into heads").tag(sync=True)
    width = traitlets.Int(0, help="index into WIDTHS").tag(sync=True)


class Parameters(LiveFigure):
    """W_Q, W_K, W_V and W_O of a layer of 512, cut into heads; areas are parameters.

    `numbers()` gives d_k, parameters (of all four matrices, no biases) and scores (h times 2048 squared).
    """

    def __init__(self):
        options = [(f"{h} head{'s' * (h > 1)}", i) for i, h in enumerate(HEADS)]
        super().__init__(ParametersCanvas(), [
            {"num_heads": slider(ipywidgets.SelectionSlider, "heads h", options=options, value=FIRST),
             "width": slider(ipywidgets.ToggleButtons, "width d_k", options=WIDTHS)}])

    def numbers(self, num_heads, width):
        h = HEADS[num_heads]
        d_k = 64 if width else D_MODEL // h
        layer = MultiHeadAttention(D_MODEL, h, d_k=d_k, bias=False, device="meta")
        shown = {"d_k": d_k, "parameters": sum(p.numel() for p in layer.parameters()), "scores": h * TOKENS**2}
        return {name: torch.tensor([float(value)]) for name, value in shown.items()}

    def picture(self):
        h, shown = HEADS[self.canvas.num_heads], self.numbers(**self.setting())
        row = torch.stack([torch.tensor([float(h)]), shown["d_k"], shown["parameters"]], dim=1)
        return viz.matrices("The four matrices of a layer of 512: heads, width and parameters.", ["layer"],
                            {"to count": (row, ["h", "d_k", "parameters"])}, columns=1)
