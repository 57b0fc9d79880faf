"""What the width buys: free queries and keys of d_k numbers, fitted to a pattern of attention in the page."""
import functools

import torch

from mha import viz
from mha.widgets.figure import Dropdown, LiveFigure, Slider

N = 8                       # tokens, and so the largest width
STEPS, STRIDE = 300, 20     # of a whole fit, and between two settings of the slider
FIRST = 100                 # the steps that are done when the figure is first seen
# Of Adam. At its usual eps of 1e-8 one of these fits magnifies rounding errors a hundred million times.
RATE, EPS = 0.05, 1e-4
TOKENS = [str(i) for i in range(1, N + 1)]


def evenly(mask):
    """The pattern in which each row divides its weight evenly among the places where mask is True."""
    return mask.double() / mask.sum(-1, keepdim=True)


def patterns(seed=0):
    """The patterns to fit: name -> (8, 8), float64, rows sum to 1."""
    g = torch.Generator().manual_seed(seed)
    places, eye = torch.arange(N), torch.eye(N, dtype=torch.bool)
    order = torch.randperm(N, generator=g)
    two = torch.rand(N, N, generator=g).masked_fill(eye, -1).topk(2).indices
    return {"a permutation": evenly(eye[order]),
            "each to two others": evenly(torch.zeros_like(eye).scatter(1, two, True)),
            "the token itself and its neighbours": evenly((places[:, None] - places).abs() <= 1),
            "all tokens up to itself, evenly": evenly(places[:, None] >= places),
            "a random soft pattern": (2 * torch.randn(N, N, generator=g, dtype=torch.float64)).softmax(-1)}


PATTERNS = patterns()
# for each start Q and K of width 8; width d_k takes d_k columns
STARTS = torch.randn(3, 2, N, N, generator=torch.Generator().manual_seed(0)).half().double()


def divergence(wanted, logs):
    """KL(wanted || weights) of each row, in nats, from the logarithms of the weights: (..., n, n) -> (..., n)."""
    return torch.nn.functional.kl_div(logs, wanted.expand_as(logs), reduction="none").sum(-1)


@functools.cache
def fits(pattern, start):
    """All steps of the fits of all widths from one start to one pattern, both indices.

    Returns:
        weights (301, 8, 8, 8): after how many steps, at which width (d_k - 1), query, key.
        kl (301, 8): KL(pattern || weights) in nats, the mean over rows, which is what the fit makes small.
    """
    wanted, widths, history = list(PATTERNS.values())[pattern], torch.arange(1, N + 1), []
    columns = (torch.arange(N) < widths[:, None])[:, None]  # (8, 1, 8): width d_k has d_k columns; the others stay 0
    Q, K = ((numbers * columns).requires_grad_() for numbers in STARTS[start])       # (8, 8, 8) each

    optimiser = torch.optim.Adam([Q, K], lr=RATE, betas=(0.9, 0.99), eps=EPS)
    for _ in range(STEPS + 1):
        logs = (Q @ K.mT / widths.double().sqrt()[:, None, None]).log_softmax(-1)
        kl = divergence(wanted, logs).mean(-1)
        history.append((logs.detach().exp(), kl.detach()))
        optimiser.zero_grad()
        kl.sum().backward()                        # the widths share no number, so each has its own fit
        optimiser.step()
    return tuple(map(torch.stack, zip(*history)))


def right(weights, wanted):
    """In which rows the largest weight, by more than 0.001, is where the pattern has its largest: (n,), bool.

    Where the pattern has several largest, any of them will do.
    """
    top = wanted >= wanted.amax(-1, keepdim=True) - 1e-9
    return weights.where(top, 0).amax(-1) > weights.where(~top, -1).amax(-1) + 0.001


class PatternFitter(LiveFigure):
    """Eight tokens with free queries and keys of d_k numbers, fitted to a pattern of attention step by step.

    `numbers()` gives wanted (64) and weight (64), both row by row; kl (8): KL(pattern || weights) at this step for d_k
    = 1, ..., 8, in nats, mean over rows; right (1): in how many rows the largest weight, by more than 0.001, is where
    the pattern has its largest; and for d_k > 2 row_kl (8), for each row.
    """

    data = {"patterns": [p.flatten().tolist() for p in PATTERNS.values()], "starts": STARTS.flatten(2).tolist(),
            "plan": {"n": N, "steps": STEPS, "stride": STRIDE, "rate": RATE, "eps": EPS}}
    pattern = Dropdown("pattern", list(PATTERNS))
    start = Slider("random start", 1, len(STARTS), value=1)
    d_k = Slider("width, d_k", 1, N, value=2, new_row=True)
    steps = Slider("steps of gradient descent (Adam)", 0, STEPS, STRIDE, value=FIRST)

    def numbers(self, pattern, start, d_k, steps):
        weights, kl = fits(pattern, start - 1)
        wanted, shown = list(PATTERNS.values())[pattern], weights[steps, d_k - 1]
        numbers = {"wanted": wanted, "weight": shown, "kl": kl[steps], "right": right(shown, wanted).sum()[None]}
        if d_k > 2:
            numbers["row_kl"] = divergence(wanted, shown.log())
        return numbers

    def picture(self):
        setting = self.setting()
        shown = self.numbers(**setting)
        name = list(PATTERNS)[setting["pattern"]]
        fitted = f"d_k = {setting['d_k']}, {setting['steps']} steps"
        picture = viz.heatmaps(torch.stack([shown["wanted"], shown["weight"]]), TOKENS, ["wanted", fitted], columns=2)
        alt = (f"Two maps of 8 by 8 weights: the pattern wanted, {name}, and the weights of fitted queries and keys, "
               f"{fitted}.")
        rows = [[f"d_k = {d + 1}", float(kl)] for d, kl in enumerate(shown["kl"])]
        most = "In {} of 8 rows the largest weight is where the pattern has its largest.".format(int(shown["right"][0]))
        picture.text = viz.table(alt, [f"after {setting['steps']} steps", "KL, nats"], rows) + f"\n{fitted}: {most}"
        return picture
