"""What a head, an LSTM and an RNN multiply for each token, as texts grow longer and tokens wider."""
import torch
from torch.utils.flop_counter import FlopCounterMode

from mha import viz
from mha.multihead import MultiHeadAttention
from mha.widgets.figure import Choice, LiveFigure, Slider

WIDTHS = [64, 128, 256]


def counted(layer, *inputs, **options):
    """How many numbers torch multiplies in the matrix products of a layer."""
    with FlopCounterMode(display=False) as seen, torch.no_grad():
        layer(*inputs, **options)
    return seen.get_total_flops() // 2  # it counts an addition for each multiplication


class PriceOfLength(LiveFigure):
    """The multiplications of a layer on n tokens of width d; bars show them for each token, in units of d squared.

    `numbers()` gives head, LSTM and RNN, as torch counts them, and quadratic, the part of the head's that grows with
    the square of n.
    """

    data = {"widths": WIDTHS}
    n = Slider("tokens n", 32, 512, 32, value=64)
    d = Choice("width d", [str(width) for width in WIDTHS])

    def numbers(self, n, d):
        width = WIDTHS[d]
        tokens = torch.empty(n, width, device="meta")
        head = counted(MultiHeadAttention(width, 1, bias=False, device="meta"), tokens, need_weights=True)
        LSTM, RNN = (counted(cell(width, width, bias=False, device="meta"), tokens)
                     for cell in (torch.nn.LSTMCell, torch.nn.RNNCell))
        shown = {"head": head, "LSTM": LSTM, "RNN": RNN, "quadratic": head - 4 * n * width**2}
        return {name: torch.tensor([float(value)]) for name, value in shown.items()}

    def picture(self):
        n, d = self.n, WIDTHS[self.d]
        shown = {name: value / (n * d**2) for name, value in self.numbers(**self.setting()).items()}
        shown["scores and mixtures of a head"] = shown.pop("quadratic")
        picture = viz.bars(list(shown), for_each_token_in_units_of_d_squared=torch.cat(list(shown.values())))
        picture.text = f"Multiplications for each token, at n = {n} and d = {d}.\n\n" + picture.text.split("\n\n", 1)[1]
        return picture
