"""A soft lookup in the plane: drag a query among keys, and see scores, weights and the mixed value."""
import torch

from mha import viz
from mha.attention import attention
from mha.lab.data import library
from mha.widgets.figure import ChoiceSlider, Dropdown, LiveFigure, Slider

TEMPERATURES = [0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.5, 5.0, 10.0, 20.0]
SCORES = ["dot product", "minus half the squared distance"]
BOOKS, KEYS, VALUES = library()


class SoftLookup(LiveFigure):
    """Drag the query; slide the temperature; choose the score.

    Five books have a key (what the title says) and a value (what is inside).

    `numbers()` gives score (5), weight (5) and out (2): weights = softmax(scores / T), out = weights @ values.
    """

    data = {"names": BOOKS, "keys": KEYS.tolist(), "values": VALUES.tolist(), "temperatures": TEMPERATURES}
    query_x = Slider("query, first coordinate", -3.5, 3.5, 0.1, value=2.0)
    query_y = Slider("query, second coordinate", -3.5, 3.5, 0.1, value=-1.2)
    temperature = ChoiceSlider("temperature T", [f"{t:g}" for t in TEMPERATURES], value=TEMPERATURES.index(1.0),
                               new_row=True)
    score = Dropdown("score", SCORES)

    def numbers(self, query_x, query_y, temperature, score):
        query, keys, values = torch.tensor([[query_x, query_y]], dtype=torch.float64), KEYS.double(), VALUES.double()
        T = TEMPERATURES[temperature]
        bias = None
        scores = query @ keys.T                                                     # (1, 5)
        if score == 1:
            # q.k - |q|^2/2 - |k|^2/2 = -|q - k|^2/2
            bias = (-(query.square().sum() + keys.square().sum(-1)) / 2)[None]      # (1, 5)
            scores = scores + bias
        out, weights = attention(query, keys, values, bias=None if bias is None else bias / T, scale=1 / T,
                                 need_weights=True)
        return {"weight": weights[0], "score": scores[0], "out": out[0]}

    def picture(self):
        shown = self.numbers(**self.setting())
        query = [self.query_x, self.query_y]
        return viz.lookup(BOOKS, KEYS, VALUES, torch.tensor(query), shown["score"], shown["weight"], shown["out"])
