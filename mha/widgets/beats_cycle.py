"""Rock, paper, scissors: one matrix for queries and keys, or two, and the product of the weights around the cycle."""
import ipywidgets
import torch

from mha import viz
from mha.attention import attention
from mha.lab.data import rock_paper_scissors, turn
from mha.widgets.figure import ChoiceSlider, LiveFigure, Slider, Toggle

NAMES, TOKENS = rock_paper_scissors()
LABEL = ("Rock, paper and scissors: their queries as arrows and their keys as discs in a plane, and the attention "
         "weights between them as arrows around a ring.")
SHARP = [0.5, 1.0, 2.0, 4.0, 8.0]


def matrix(degrees, second):
    """W (2, 2), for rows that stand to its left: the second coordinate times `second`, then a rotation."""
    return torch.diag(torch.tensor([1.0, float(second)], dtype=torch.float64)) @ turn(degrees)


class BeatsCycle(LiveFigure):
    """Three tokens, each of which should attend to the one that beats it: rotate W_Q and W_K, tie them, let tokens look
    at themselves or not.

    `numbers()` gives weight (9, row by row), around (2): the product of the weights forwards and backwards around the
    cycle, and loss (1): the mean of -ln(weight on the one that beats it), in nats.
    """

    label = ("Rock, paper and scissors: their queries as arrows and their keys as discs in a plane, and the attention "
             "weights between them as arrows around a ring.")
    data = {"names": NAMES, "points": TOKENS.tolist(), "sharps": SHARP}
    tied = Toggle("one matrix for queries and keys", value=True)
    exclude_self = Toggle("no token looks at itself", value=True)
    turn_q = Slider("rotation of W_Q, in degrees", -180, 180, 15, value=30, new_row=True)    # so that the tie is felt
    turn_k = Slider("rotation of W_K, in degrees", -180, 180, 15, value=0)
    second = Slider("stretch of the second coordinate", -1, 2, 0.25, value=0.5, new_row=True)
    sharp = ChoiceSlider("scores times", [f"{s:g}" for s in SHARP], value=SHARP.index(4.0))

    def __init__(self, **first):
        super().__init__(**first)
        waits = self.controls["turn_k"]         # of a single matrix, as the line below the drawing says
        waits.disabled = self.tied
        self.links.append(ipywidgets.jsdlink((self.canvas, "tied"), (waits, "disabled")))

    def numbers(self, tied, exclude_self, turn_q, turn_k, second, sharp):
        x = TOKENS
        Q = x @ matrix(turn_q, second)
        K = Q if tied else x @ matrix(turn_k, second)
        mask = ~torch.eye(3, dtype=torch.bool) if exclude_self else None
        _, weights = attention(Q, K, x, mask=mask, scale=SHARP[sharp], need_weights=True)
        after = torch.tensor([1, 2, 0])
        forwards, backwards = weights[range(3), after], weights[after, range(3)]
        return {"weight": weights, "around": torch.stack([forwards.prod(), backwards.prod()]),
                "loss": -forwards.log().mean()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        picture = viz.heatmaps(shown["weight"], NAMES)
        forwards, backwards = shown["around"]
        picture.text += (f"\nproduct around the circle: forwards {forwards:.3f}, backwards {backwards:.3f}; loss "
                         f"{float(shown['loss'][0]):.3f}")
        return picture
