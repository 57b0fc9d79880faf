"""One head by hand: two words, three matrices that the reader may change, and every number that follows."""
import torch

from mha import viz
from mha.attention import attention
from mha.widgets.figure import ChoiceSlider, LiveFigure, State, Toggle

WORDS = ["Cat", "sat"]
GIVEN = {
    "x": [[1.0, 0.5, 0.2, 0.8], [0.3, 0.9, 0.7, 0.4]],
    "W_Q": [[0.4, -0.2], [-0.2, 0.2], [0.6, 0.8], [0.6, 0.3]],
    "W_K": [[0.3, 0.2], [-0.4, 0.4], [0.7, 0.8], [0.7, -0.2]],
    "W_V": [[0.4, 0.2], [0.4, 1.4], [0.2, -0.2], [0.7, -0.2]],
}
TIMES = [0, 1, 2, 5, 20]


class HeadByHand(LiveFigure):
    """Two words of four numbers, a head of two: change a number of W_Q, W_K or W_V, or all of W_Q at once.

    `numbers()` gives query, key, value, score, scaled, weight and mixture (4 each, row by row).
    """

    data = {"words": WORDS, "factors": TIMES}
    times = ChoiceSlider("all of W_Q times", [str(times) for times in TIMES], value=TIMES.index(1))
    scaled = Toggle("divide by \u221a2", value=True)
    given = State(GIVEN)                # x, and the matrices that the reader may change, from -9 to 9

    def numbers(self, times, scaled, given=None):
        given = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in (given or GIVEN).items()}
        Q, K, V = (given["x"] @ given[f"W_{kind}"] for kind in "QKV")
        Q = Q * TIMES[times]
        scale = Q.shape[-1]**-0.5 if scaled else 1.0
        mixture, weights = attention(Q, K, V, scale=scale, need_weights=True)
        score = Q @ K.T
        shown = {"query": Q, "key": K, "value": V, "score": score, "scaled": score * scale, "weight": weights,
                 "mixture": mixture}
        return {name: values.flatten() for name, values in shown.items()}

    def picture(self):
        shown = self.numbers(**self.setting(), given=self.given)
        panels = {name: (values.view(2, 2), WORDS if name in ("score", "scaled", "weight") else ["1", "2"])
                  for name, values in shown.items()}
        return viz.matrices("One head on two words: queries, keys, values, scores, weights and mixtures.", WORDS,
                            panels, columns=4)
