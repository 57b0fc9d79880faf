"""One channel: W_V M, the inverse of M times W_O, and their product, which is all that counts."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab import data
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.whole import FEATURES, GIVEN, HEADS

W_V = [GIVEN[f"WV{head}"] for head in HEADS]
W_O = [GIVEN["WO"][:2], GIVEN["WO"][2:]]      # each head owns two rows


class ChannelCanvas(Canvas):
    _esm, _css = front_end("channel")
    features = traitlets.List(FEATURES).tag(sync=True)
    W_V = traitlets.List(W_V).tag(sync=True)
    W_O = traitlets.List(W_O).tag(sync=True)
    turn = traitlets.Float(30.0, help="of what W_V makes, in degrees").tag(sync=True)
    undone = traitlets.Bool(True, help="whether W_O turns it back").tag(sync=True)
    head = traitlets.Int(0, help="0 is head 1").tag(sync=True)


class OneChannel(LiveFigure):
    """W_V and W_O of a head of chapter 0: the values are turned, and W_O turns them back, or does not.

    `numbers()` gives read (8), the turned W_V, write (8), W_O as it is used, and channel (16), their product.
    """

    def __init__(self):
        super().__init__(ChannelCanvas(), [
            {"turn": slider(ipywidgets.FloatSlider, "W_V turned by, degrees", value=30.0, min=-90.0, max=90.0,
                            step=15.0, readout_format=".0f"),
             "undone": slider(ipywidgets.Checkbox, "W_O turns it back", value=True),
             "head": slider(ipywidgets.ToggleButtons, "head", options=[str(head) for head in HEADS])}])

    def numbers(self, turn, undone, head):
        M = data.turn(turn)
        read, write = torch.tensor(W_V[head]).double() @ M, torch.tensor(W_O[head]).double()
        write = M.T @ write if undone else write
        return {"read": read.flatten(), "write": write.flatten(), "channel": (read @ write).flatten()}

    def picture(self):
        channel = self.numbers(**self.setting())["channel"].round(decimals=9) + 0.0       # no "-0"
        return viz.matrices("What a head reads from a token and what it writes, as one matrix: rows are read, columns "
                            "are written.", FEATURES, {"W_V W_O": (channel.view(4, 4), FEATURES)}, columns=1)
