"""One channel: W_V M, the inverse of M times W_O, and their product, which is all that counts."""
import torch

from mha import viz
from mha.lab import data
from mha.widgets.figure import Choice, LiveFigure, Slider, Toggle
from mha.widgets.whole_layer import FEATURES, GIVEN, HEADS

W_V = [GIVEN[f"WV{head}"] for head in HEADS]
W_O = [GIVEN["WO"][:2], GIVEN["WO"][2:]]      # each head owns two rows


class OneChannel(LiveFigure):
    """W_V and W_O of a head of chapter 0: the values are rotated, and W_O rotates them back, or does not.

    `numbers()` gives read (8), the rotated W_V, write (8), W_O as it is used, and channel (16), their product.
    """

    data = {"features": FEATURES, "W_V": W_V, "W_O": W_O}
    turn = Slider("W_V rotated by, degrees", -90, 90, 15, value=30)
    undone = Toggle("W_O rotates it back", value=True)
    head = Choice("head", [str(head) for head in HEADS])

    def numbers(self, turn, undone, head):
        M = data.turn(turn)
        read, write = torch.tensor(W_V[head]).double() @ M, torch.tensor(W_O[head]).double()
        write = M.T @ write if undone else write
        return {"read": read.flatten(), "write": write.flatten(), "channel": (read @ write).flatten()}

    def picture(self):
        channel = self.numbers(**self.setting())["channel"].round(decimals=9) + 0.0       # no "-0"
        return viz.matrices("What a head reads from a token and what it writes, as one matrix: rows are read, columns "
                            "are written.", FEATURES, {"W_V W_O": (channel.view(4, 4), FEATURES)}, columns=1)
