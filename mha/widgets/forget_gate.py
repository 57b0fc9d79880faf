"""A forget gate: what a cell that keeps the same share at each word has left of a word many positions back."""
import torch

from mha import viz
from mha.widgets.figure import LiveFigure, Slider

FARTHEST = 100
PLACES = [1, 10, 50, 100]


class ForgetGate(LiveFigure):
    """A cell whose forget gate is the sigmoid of a bias, at every word the same.

    `numbers()` gives gate (1); and left (101), what is left of a word 0 to 100 positions back.
    """

    data = {"farthest": FARTHEST, "places": PLACES}
    bias = Slider("bias of the forget gate", 0.0, 7.0, 0.5, value=1.0)

    def numbers(self, bias):
        gate = torch.tensor(bias, dtype=torch.float64).sigmoid()
        return {"gate": gate[None], "left": gate ** torch.arange(FARTHEST + 1)}

    def picture(self):
        left = {f"bias {bias}": self.numbers(float(bias))["left"] for bias in (0, 1, 3, 5)}
        return viz.curves(range(FARTHEST + 1), "positions back", "left of a word", points=11, **left)
