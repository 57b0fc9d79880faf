"""What the scale does: scores, weights and gradients of many random queries, for any d_k, number of keys and power."""
import torch

from mha import viz
from mha.attention import attention
from mha.lab.data import normal
from mha.widgets.figure import ChoiceSlider, LiveFigure, Slider, in_steps, packed

WIDTHS = [2**i for i in range(11)]                 # d_k: 1 to 1024
COUNTS = [2, 4, 8, 16, 32, 64]                     # keys
QUERIES, SEED = 300, 2
SCORE_EDGES = [e + 0.5 for e in range(-20, 20)]    # 41 columns, the first and the last open-ended
WEIGHT_EDGES = [e / 10 for e in range(1, 10)]      # 10 columns from 0 to 1
# 13 columns, two to a power of ten, the first and the last open-ended
GRADIENT_EDGES = [10.0 ** (e / 2) for e in range(-8, 4)]


STEPS, LEAST = 50, 4    # of the lengths stored: steps in 1, and how far below its root a length may lie


def draws(queries=QUERIES, seed=SEED):
    """Random queries, keys and values, reduced to what the figure needs.

    The coordinates of all vectors are independent, normal, of variance 1. Seen from a query q, the key k_j then has one
    coordinate along q, a standard normal, and d_k - 1 coordinates across. So q.k_j = |q| along_j exactly, for any d_k.

    Returns (all float64):
        length: (11, R), |q| for each d_k of WIDTHS, in steps.
        across: (11, R), the length of a normal vector in d_k - 1 dimensions, in steps.
        along: (R, 64), the keys' coordinates along their query; the page makes them itself.
        value: (R, 64), one number for each key, made in the page too.
    """
    g = torch.Generator().manual_seed(seed)
    squares = torch.randn(2, queries, WIDTHS[-1], generator=g, dtype=torch.float64).square().cumsum(-1)
    length = torch.stack([squares[0, :, d - 1] for d in WIDTHS]).sqrt()
    across = torch.stack([squares[1, :, d - 2] if d > 1 else torch.zeros(queries) for d in WIDTHS]).sqrt()
    along, value = normal(torch.arange(2 * queries * COUNTS[-1]), seed).view(2, queries, -1)
    return (*(in_steps(t - root, STEPS) + root for t, root in zip((length, across), roots())), along, value)


def roots():
    """The roots of the dimensions of `length` and `across`, near which these lie: (11, 1) each."""
    return (torch.tensor(WIDTHS, dtype=torch.float64).sub(missing).sqrt()[:, None] for missing in (0, 1))


def simulate(d_k, n, power, tables):
    """Scores, weights and gradients of one setting, for every query of `draws`.

    The scores are q.k / d_k^power; out is the mixture of the values, one number. The gradient of out with respect to q
    has a part along q, from the keys' coordinates along q, and a part across, from d_k - 1 others: of each score's
    gradient u_j it is scale |u| times a normal vector.

    Returns: scores (R, n), weights (R, n), gradient (R,): the length of d out / d q.
    """
    length, across, along, value = tables
    row, scale = WIDTHS.index(d_k), d_k**-power
    q = length[row][:, None, None, None].clone().requires_grad_()  # (R, 1, 1, 1): |q|, one coordinate
    keys, values = along[:, None, :n, None], value[:, None, :n, None]                 # (R, 1, n, 1)
    shift = torch.zeros(len(along), 1, 1, n, dtype=torch.float64, requires_grad=True)
    out, weights = attention(q, keys, values, bias=shift, scale=scale, need_weights=True)
    along_q, u = torch.autograd.grad(out.sum(), (q, shift))
    gradient = (along_q.flatten().square() + (scale * across[row] * u.flatten(1).norm(dim=-1)).square()).sqrt()
    scores = scale * length[row][:, None] * along[:, :n]
    return scores, weights.detach()[:, 0, 0], gradient


def shares(numbers, edges):
    """The share of numbers in each column: below the first edge, between the first two, ..., from the last on."""
    column = torch.bucketize(numbers.flatten(), torch.tensor(edges, dtype=torch.float64), right=True)
    return column.bincount(minlength=len(edges) + 1) / column.numel()


class ScoreScale(LiveFigure):
    """Three hundred random queries, each with its own m keys.

    The figure shows how large the scores are, how decided the weights, and how long the gradients.
    `numbers()` gives spread (standard deviation of all scores), largest (mean largest weight), median and mean (length
    of the gradient of the output with respect to the query), score_bin (41 shares), weight_bin (10) and gradient_bin
    (13).
    """

    power = Slider("divide by d_k to the power p", 0, 1, 0.05, value=0.0)
    d_k = ChoiceSlider("width of a query, d_k", [str(d) for d in WIDTHS], value=WIDTHS.index(64), new_row=True)
    n = ChoiceSlider("number of keys, m", [f"{c} keys" for c in COUNTS], value=COUNTS.index(64))

    def __init__(self):
        self.tables = draws()
        # for each of WIDTHS: length and across, less the root of their dimensions, plus LEAST
        lengths = [packed(t - root + LEAST, STEPS) for t, root in zip(self.tables, roots())]
        super().__init__({"widths": WIDTHS, "counts": COUNTS, "edges": [SCORE_EDGES, WEIGHT_EDGES, GRADIENT_EDGES],
                          "lengths": lengths, "steps": STEPS, "least": LEAST, "seed": SEED})

    def numbers(self, d_k, n, power):
        scores, weights, gradient = simulate(WIDTHS[d_k], COUNTS[n], power, self.tables)
        return {"score_bin": shares(scores, SCORE_EDGES), "weight_bin": shares(weights.amax(-1), WEIGHT_EDGES),
                "gradient_bin": shares(gradient, GRADIENT_EDGES), "spread": scores.square().mean().sqrt()[None],
                "largest": weights.amax(-1).mean()[None], "median": gradient.sort().values[QUERIES // 2][None],
                "mean": gradient.mean()[None]}

    def picture(self):
        setting = self.setting()
        shown = self.numbers(**setting)
        panels = {"scores": (range(-20, 21), shown["score_bin"]),
                  "largest weight": ([i / 10 + 0.05 for i in range(10)], shown["weight_bin"]),
                  "gradient, powers of 10": ([e / 2 - 0.25 for e in range(-8, 5)], shown["gradient_bin"])}
        facts = {"spread of the scores": shown["spread"], "mean largest weight": shown["largest"],
                 "median gradient": shown["median"], "mean gradient": shown["mean"]}
        alt = (f"Three histograms over {QUERIES} random queries with {COUNTS[setting['n']]} keys each, d_k = "
               f"{WIDTHS[setting['d_k']]}, scores divided by d_k^{setting['power']:g}: scores, largest "
               "weights, gradients.")
        return viz.histograms(panels, alt, {name: float(value[0]) for name, value in facts.items()})
