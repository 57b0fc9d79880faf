"""Heads of a whole encoder leave in an order: which are gone, and what cosine is left."""
import torch

from mha import viz
from mha.lab.assets import pruning
from mha.widgets.figure import Choice, LiveFigure, Slider, float16_bytes

ORDERS = {  # as the control says it -> kind of pruning(), of which the first order is shown
    "greedy": "greedy",
    "gradient": "mean size of the gradient",
    "random": "random",
    "last layer last": "random, last layer last",
    "costly first": "most costly first",
}
LAYERS, HEADS = 6, 12


class HeadsGone(LiveFigure):
    """The 72 heads of all-MiniLM-L6-v2 go one by one in an order; measured on 180 texts.

    Of the two random kinds the first stored order is shown. `numbers()` gives cosine (73), that of the order with 0 to
    72 heads gone; left (72), 1 for each head that is still there; and last (1), with how many heads gone the cosine is
    0.9 or more for the last time.
    """

    order = Choice("order", list(ORDERS))
    gone = Slider("heads gone", 0, LAYERS * HEADS, value=24, new_row=True)

    def __init__(self):
        stored = pruning()
        self.orders = [stored.orders[kind][0] for kind in ORDERS.values()]
        self.curves = [stored.curves[kind] for kind in ORDERS.values()]
        super().__init__({"names": list(ORDERS), "orders": [order.tolist() for order in self.orders],
                          "cosines": float16_bytes(torch.stack([kept.cosine[0] for kept in self.curves]))})

    def numbers(self, order, gone):
        left = torch.ones(LAYERS * HEADS)
        left[self.orders[order][:gone]] = 0
        kept = self.curves[order]
        return {"cosine": kept.cosine[0].double(), "left": left, "last": kept.heads_gone(0.9)[:1]}

    def picture(self):
        return viz.curves(range(LAYERS * HEADS + 1), "heads that are off", "cosine", points=13,
                          **{name: kept.cosine[0] for name, kept in zip(ORDERS, self.curves)})
