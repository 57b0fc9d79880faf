"""Leave out the sentences that move most, and see what is left of a head's mean effect."""
import torch

from mha import viz
from mha.lab.assets import pruning
from mha.widgets.figure import Choice, LiveFigure, Slider, float16_bytes

HEADS = [(0, 5), (5, 9), (1, 0), (3, 4)]
MOST = 20


def by_size():
    """(4, 60), for each of HEADS by how much the matching loss of each sentence rises without it, the largest first."""
    rises = torch.stack([pruning().rises[:, layer, head] for layer, head in HEADS])
    return rises.gather(1, rises.abs().argsort(descending=True, stable=True)).double()


class Loudest(LiveFigure):
    """By how much the matching loss of 60 sentences rises without a head, and the mean without the loudest of them.

    `numbers()` gives rise (60), the largest in size first; mean (21) and median (21) of what is left when 0 to 20 of
    them are left out; and up (1), how many of those that are left at this setting rise.
    """

    head = Choice("without", [f"head {layer}.{i}" for layer, i in HEADS])
    left_out = Slider("loudest sentences left out", 0, MOST, value=0)

    def __init__(self):
        self.rises = by_size()
        super().__init__({"names": [f"{layer}.{head}" for layer, head in HEADS], "rises": float16_bytes(self.rises),
                          "most": MOST})

    def numbers(self, head, left_out):
        rise = self.rises[head]
        kept = [rise[gone:] for gone in range(MOST + 1)]
        return {"rise": rise, "mean": torch.stack([some.mean() for some in kept]),
                "median": torch.stack([some.median() for some in kept]), "up": (kept[left_out] > 0).sum()[None]}

    def picture(self):
        means = {f"without {layer}.{head}": self.numbers(i, 0)["mean"] for i, (layer, head) in enumerate(HEADS)}
        return viz.curves(range(MOST + 1), "loudest sentences left out", "mean rise of the loss", points=21, **means)
