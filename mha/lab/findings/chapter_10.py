"""What chapter 10 and its lab show of layers that find tokens by their positions."""
import math

import torch

from mha import viz
from mha.lab.assets import alibi_runs, longer_runs, position_runs
from mha.lab.train.longer import TRAINED, TRIED, WAYS
from mha.lab.train.loop import fit
from mha.lab.train.positions import D_K, OFFSETS, SLOPES, PositionLayer
from mha.position import alibi_bias

IN_THE_TEXT = {"all frequencies / 4": "position interpolation\n(all / 4)", "base 500000": "base 500,000"}
FIRST = max(OFFSETS) + 1                                  # the first position at which "offsets" asks


def without_each_pair():
    """Bars of the mean error without each pair of the queries, for both tasks, by how many tokens a turn takes."""
    turns = [2 * math.pi * 10_000 ** (2 * pair / D_K) for pair in range(D_K // 2)]
    tasks = {"offsets 1 and 3": "offsets", "nearest of my name": "nearest"}
    bars = {name: position_runs(task, "rotary").without.mean(0) for name, task in tasks.items()}
    labels = [f"{turn:.0f} tokens a turn" for turn in turns]
    picture = viz.bars(labels, **bars)
    whole = ", ".join(f"{name} {position_runs(task, 'rotary').errors[:, 0].mean():.2f}"
                      for name, task in tasks.items())
    alt = (f"The error on 24 tokens without each pair of heads with d_k = {D_K}, mean of 24 layers. With all pairs: "
           f"{whole}.")
    picture.text = table(alt, labels, **bars)
    return picture


def table(alt, labels, **series):
    """What stands beside a picture as text, with two decimals, as the pages quote them."""
    rows = [[label.replace("\n", " "), *(f"{float(v[i]):.2f}" for v in series.values())]
            for i, label in enumerate(labels)]
    return viz.table(alt, ["", *(name.replace("_", " ").replace("\n", " ") for name in series)], rows)


def bound_of_su(query, key, back):
    """What Su et al. (2021, section 3.4.3) prove of a score: at each offset it is at most this, whatever its sign.

    With h_i = the product of pair i of the query and of the key, as complex numbers, and S_i(t) = the sum of the first
    i of e^(i t theta): |score(t)| <= max |h_(i+1) - h_i| times the sum of |S_i(t)|.

    Args:
        query, key: (1, d_k), pairs in halves. back: (n,) offsets.
    """
    q, k = (torch.complex(*vector[0].chunk(2)) for vector in (query, key))
    theta = 10_000 ** (-torch.arange(len(q), dtype=torch.float64) / len(q))
    h = torch.cat([q * k.conj(), torch.zeros(1)])
    turned = torch.polar(torch.ones(len(back), len(q), dtype=torch.float64), back[:, None] * theta)
    return h.diff().abs().max() * turned.cumsum(-1).abs().sum(-1)


def alibi_rows(n, not_me=False, slopes=SLOPES):
    """The weights (h, n, n) of causal heads with ALiBi that see nothing but positions; with `not_me`, no token sees
    itself, but for the first, which has nothing else.
    """
    bias = alibi_bias(len(slopes), n, slopes=torch.tensor(slopes)).double()
    hidden = torch.ones(n, n).triu(0 if not_me else 1).bool()
    hidden[0, 0] = False
    return bias.masked_fill(hidden, -torch.inf).softmax(-1)


def alibi_floor(n, offset, not_me=False):
    """The least error of any fixed linear reading of those heads that wants the content so many back."""
    rows = alibi_rows(n, not_me)[:, FIRST:].flatten(1).T                                     # (asked * n, h)
    wanted = torch.eye(n, dtype=torch.float64).roll(-offset, 1)[FIRST:].flatten()    # 1 at i - offset
    read = torch.linalg.lstsq(rows, wanted[:, None]).solution[:, 0]
    return float((rows @ read - wanted).square().sum() / (n - FIRST))


def alibi_against_its_floor():
    """Dots of the trained layers' errors for each offset and length, beside the least by position alone."""
    apart, lengths = alibi_runs().apart, (24, 96)                                    # (24 runs, 2 lengths, 2)
    cells = [(n, i, k, offset) for i, n in enumerate(lengths) for k, offset in enumerate(OFFSETS)]
    labels = [f"{offset} back,\n{n} tokens" for n, *_, offset in cells]
    trained = torch.stack([apart[:, i, k] for _, i, k, _ in cells])
    least, without = ([alibi_floor(n, offset, not_me) for n, *_, offset in cells] for not_me in (False, True))
    bounds = {"by_position_alone": torch.tensor(least), "if_none_sees_itself": torch.tensor(without)}
    picture = viz.dots(labels, "error", lines=[(1, "nothing")], trained=trained,
                       **{name: each[:, None] for name, each in bounds.items()})
    alt = ("Dots of the error of 24 layers with ALiBi, offset by offset; the least by position alone; and the least if "
           "no token sees itself.")
    picture.text = table(alt, labels, trained_on_average=trained.mean(-1), **bounds)
    return picture


def alibi_says_not_me(head=0, shown=6):
    """Bars of the weights by tokens back, of the last of 24 tokens, for the head of slope 1."""
    trained = alibi_runs().looks[:, head].mean(0)[:shown]
    alone = alibi_rows(24)[head, -1].flip(0)[:shown]
    labels, bars = ["itself", *(f"{t} back" for t in range(1, shown))], {"weights by position": alone,
                                                                         "weights after training": trained}
    picture = viz.bars(labels, **bars)
    alt = f"Weights of the head of slope {SLOPES[head]:g}, by position alone and in the mean of 24 trained layers."
    picture.text = table(alt, labels, **bars)
    return picture


def longer_contexts():
    """Bars of the mean errors on 96 tokens by other frequencies, at once and after 100 steps more, for both tasks."""
    runs = {task: longer_runs(task) for task in ("offsets", "nearest")}
    bars = {f"{task},\n{when}": getattr(run, field).mean(0) for task, run in runs.items()
            for when, field in (("at once", "at_once"), ("100 steps", "tuned"))}
    ways = [IN_THE_TEXT.get(way, way) for way in WAYS]
    picture = viz.bars(ways, head="error on 96 tokens, less is better", **bars)
    picture.text = table("The mean error of 24 rotary layers on 96 tokens, by other frequencies.", ways, **bars)
    return picture


def unseen_offsets_as_if_seen(runs=2, steps=800, device=None):
    """The errors (3, runs) on 96 tokens of rotary layers trained on 24: as they are; if no token sees more than 23
    back; and if each sees all, but scores keys more than 23 back as if they were 23 back.
    """
    layer, last = PositionLayer("offsets", "rotary", TRIED, runs, 0, device), TRAINED - 1
    fit(layer.parameters, lambda: layer.errors(TRAINED, 16), steps=steps, rate=0.01)
    with torch.no_grad():
        return torch.stack([layer.errors(TRIED, 64, **limits).cpu()
                            for limits in ({}, {"reach": last}, {"level": last})])


def more_training():
    """A table of the errors of rotary layers and of those with ALiBi after 800 steps, then after 2400."""
    cells = [(task, way) for task in ("offsets", "nearest") for way in ("rotary", "ALiBi")]
    late = [[position_runs(*cell, long) for long in (False, True)] for cell in cells]

    def both(field, i):
        return [" then ".join(f"{getattr(run, field)[:, i].mean():.2f}" for run in two) for two in late]

    return viz.columns([", ".join(cell) for cell in cells], corner="800, then 2400 steps", on_24=both("errors", 0),
                       on_96=both("errors", 2), on_96_sees_23_back=both("windowed", 2))
