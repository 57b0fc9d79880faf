"""Frozen weights, a free W_V: the weights say where a token looks, W_V says what it brings back."""
import torch

from mha import viz
from mha.lab import data
from mha.attention import attention
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure, Slider

WORDS = ["cats", "chase", "small", "mice"]
TOKENS = torch.tensor([[1.3, 0.5], [-1.2, 0.6], [-0.9, -0.7], [1.0, -0.6]], dtype=torch.float64)       # (4, 2)
SCORES = torch.tensor([[0.0, 2.2, 0.2, 0.8], [1.6, -0.5, -0.4, 1.2], [-0.2, 0.0, 0.6, 2.4], [0.1, 1.2, 1.9, 0.0]],
                      dtype=torch.float64)
SHARPNESS = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]


def value_matrix(turn, first, second):
    """W_V = R(turn) diag(first, second), (2, 2), float64.

    A row vector x becomes x W_V: rotated to the left, then stretched along the axes.

    turn: degrees. first: stretch of the horizontal coordinate after the rotation; second: of the vertical one.
    """
    return data.turn(turn) @ torch.diag(torch.tensor([float(first), float(second)], dtype=torch.float64))


def attend(W_V, sharpness):
    """Outputs (4, 2) and weights (4, 4) of all tokens.

    The scores stand still, so they are taken as the queries, and the identity as the keys: SCORES = SCORES I.
    """
    return attention(SCORES, torch.eye(4, dtype=torch.float64), TOKENS @ W_V, scale=sharpness, need_weights=True)


# Where the outputs should be: each mixture after a quarter turn and two stretches. No other W_V does this for all four.
TARGETS = attend(value_matrix(90, 1.5, 1.75), 1.0)[0]


class ValueMap(LiveFigure):
    """Rotate and stretch W_V while the weights stand still.

    The figure shows four tokens in the plane, their values, the output, and where it should be.

    x (4, 2) are the tokens, the values are x W_V with W_V = R(turn) diag(first, second), see `value_matrix`; weights =
    softmax(sharpness * scores) with fixed scores. `numbers()` gives, for the token that looks, weight (4), mixture (2)
    = w x, out (2) = w (x W_V), distance (1) of out from its target; and for all, value (8), matrix (4), both row by
    row, and mean_distance (1).
    """

    data = {"words": WORDS, "tokens": TOKENS.tolist(), "scores": SCORES.tolist(), "targets": TARGETS.tolist(),
            "sharpnesses": SHARPNESS}
    turn = Slider("rotation of W_V, degrees", -180, 180, 15, value=0)
    first = Slider("first stretch \u2194", -2.0, 2.0, 0.25, value=1.0)
    second = Slider("second stretch \u2195", -2.0, 2.0, 0.25, value=1.0)
    asking = Choice("token that looks", WORDS, new_row=True)
    sharpness = ChoiceSlider("sharpness of the weights", [f"{s:g}" for s in SHARPNESS], value=SHARPNESS.index(1.0))

    def numbers(self, turn, first, second, asking, sharpness):
        W_V = value_matrix(turn, first, second)
        out, weights = attend(W_V, SHARPNESS[sharpness])
        missed = (out - TARGETS).norm(dim=-1)                                       # (4,)
        return {"weight": weights[asking], "value": (TOKENS @ W_V).flatten(), "mixture": weights[asking] @ TOKENS,
                "matrix": W_V.flatten(),
                "out": out[asking], "distance": missed[[asking]], "mean_distance": missed.mean(0, keepdim=True)}

    def picture(self):
        shown = self.numbers(**self.setting())
        return viz.value_map(WORDS, TOKENS, shown["value"].view(-1, 2), shown["weight"], TARGETS[self.asking])
