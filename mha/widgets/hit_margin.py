"""A counterpart sinks towards the next best: when is the hit lost, and what does the matching loss say before?"""
import torch

from mha import viz
from mha.widgets.figure import LiveFigure, Slider

COSINES = [i / 20 for i in range(6, 21)]        # that the counterpart can have
SCALE, REST = 20, [0.1] * 58                  # of the chapter's loss; the other sentences


class HitMargin(LiveFigure):
    """One sentence among 60: the cosine of its counterpart, that of the next best, and 58 others at 0.1.

    `numbers()` gives loss (15), the cross-entropy of the softmax over 20 times the 60 cosines, for a counterpart from
    0.3 to 1; now (1), the loss at this one; and hit (1), 1 where the counterpart is ahead of all others.
    """

    data = {"cosines": COSINES, "rest": REST, "scale": SCALE}
    counterpart = Slider("cosine of the counterpart", 0.3, 1.0, 0.05, value=0.9)
    next_best = Slider("cosine of the next best", 0.3, 0.6, 0.1, value=0.5)

    def loss(self, counterpart, next_best):
        cosines = torch.tensor([counterpart, next_best, *REST], dtype=torch.float64)
        return torch.nn.functional.cross_entropy(SCALE * cosines, torch.tensor(0))

    def numbers(self, counterpart, next_best):
        ahead = round(20 * counterpart) > round(20 * next_best)
        return {"loss": torch.stack([self.loss(cosine, next_best) for cosine in COSINES]),
                "now": self.loss(counterpart, next_best)[None], "hit": torch.tensor([float(ahead)])}

    def picture(self):
        shown = self.numbers(**self.setting())
        hit = torch.tensor([float(cosine > self.next_best) for cosine in COSINES])
        return viz.curves(COSINES, "cosine of the counterpart", "matching loss, and hit", points=8,
                          loss=shown["loss"], hit=hit)
