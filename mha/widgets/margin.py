"""A counterpart sinks towards the next best: when is the hit lost, and what does the matching loss say before?"""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

COSINES = [i / 20 for i in range(6, 21)]        # that the counterpart can have
SCALE, REST = 20, [0.1] * 58                  # of the chapter's loss; the other sentences


class MarginCanvas(Canvas):
    _esm, _css = front_end("margin")
    cosines = traitlets.List(COSINES).tag(sync=True)
    rest = traitlets.List(REST).tag(sync=True)
    scale = traitlets.Int(SCALE).tag(sync=True)
    counterpart = traitlets.Float(0.9).tag(sync=True)
    next_best = traitlets.Float(0.5).tag(sync=True)


class HitMargin(LiveFigure):
    """One sentence among 60: the cosine of its counterpart, that of the next best, and 58 others at 0.1.

    `numbers()` gives loss (15), the cross-entropy of the softmax over 20 times the 60 cosines, for a counterpart from
    0.3 to 1; now (1), the loss at this one; and hit (1), 1 where the counterpart is ahead of all others.
    """

    def __init__(self):
        super().__init__(MarginCanvas(), [
            {"counterpart": slider(ipywidgets.FloatSlider, "cosine of the counterpart", value=0.9, min=0.3, max=1.0,
                                   step=0.05),
             "next_best": slider(ipywidgets.FloatSlider, "cosine of the next best", value=0.5, min=0.3, max=0.6,
                                 step=0.1, readout_format=".1f")}])

    def loss(self, counterpart, next_best):
        cosines = torch.tensor([counterpart, next_best, *REST], dtype=torch.float64)
        return torch.nn.functional.cross_entropy(SCALE * cosines, torch.tensor(0))

    def numbers(self, counterpart, next_best):
        ahead = round(20 * counterpart) > round(20 * next_best)
        return {"loss": torch.stack([self.loss(cosine, next_best) for cosine in COSINES]),
                "now": self.loss(counterpart, next_best)[None], "hit": torch.tensor([float(ahead)])}

    def picture(self):
        shown = self.numbers(**self.setting())
        hit = torch.tensor([float(cosine > self.canvas.next_best) for cosine in COSINES])
        return viz.curves(COSINES, "cosine of the counterpart", "matching loss, and hit", points=8,
                          loss=shown["loss"], hit=hit)
