"""Heads of a whole encoder leave in an order: which are gone, and what cosine is left."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab.assets import pruning
from mha.widgets.figure import Canvas, LiveFigure, float16_bytes, front_end, slider

ORDERS = {  # as the control says it -> kind of pruning(), of which the first order is shown
    "greedy": "greedy",
    "mean size": "mean size of the gradient",
    "random": "random",
    "last layer last": "random, last layer last",
    "costly first": "most costly first",
}
LAYERS, HEADS = 6, 12


class HeadsGoneCanvas(Canvas):
    _esm, _css = front_end("heads_gone")
    orders = traitlets.List(help="for each order its 72 heads, the first to go first").tag(sync=True)
    cosines = traitlets.Bytes(help="float16: for each order 73 cosines").tag(sync=True)
    names = traitlets.List(list(ORDERS)).tag(sync=True)
    order = traitlets.Int(0, help="index into names").tag(sync=True)
    gone = traitlets.Int(24, help="heads that are gone").tag(sync=True)


class HeadsGone(LiveFigure):
    """The 72 heads of all-MiniLM-L6-v2 go one by one in an order; measured on 180 texts.

    Of the two random kinds the first stored order is shown. `numbers()` gives cosine (73), that of the order with 0 to
    72 heads gone; left (72), 1 for each head that is still there; and last (1), with how many heads gone the cosine is
    0.9 or more for the last time.
    """

    def __init__(self):
        stored = pruning()
        self.orders = [stored.orders[kind][0] for kind in ORDERS.values()]
        self.curves = [stored.curves[kind] for kind in ORDERS.values()]
        cosines = torch.stack([kept.cosine[0] for kept in self.curves])
        super().__init__(HeadsGoneCanvas(orders=[order.tolist() for order in self.orders],
                                         cosines=float16_bytes(cosines)), [
            {"order": slider(ipywidgets.ToggleButtons, "order", options=list(ORDERS))},
            {"gone": slider(ipywidgets.IntSlider, "heads gone", value=24, min=0, max=LAYERS * HEADS)}])

    def numbers(self, order, gone):
        left = torch.ones(LAYERS * HEADS)
        left[self.orders[order][:gone]] = 0
        kept = self.curves[order]
        return {"cosine": kept.cosine[0].double(), "left": left, "last": kept.heads_gone(0.9)[:1]}

    def picture(self):
        return viz.curves(range(LAYERS * HEADS + 1), "heads that are off", "cosine", points=13,
                          **{name: kept.cosine[0] for name, kept in zip(ORDERS, self.curves)})
