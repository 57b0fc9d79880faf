"""Rotary layers that are taken to longer sentences by other frequencies, and how ALiBi's heads find one token back."""
import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from mha import position
from mha.lab.train.loop import fit
from mha.lab.train.positions import CONTENT, D_K, OFFSETS, PositionLayer, draw

TRAINED, TRIED = 24, 96                                   # tokens of a sentence
BASE, SLOW_TO_FAST = 10_000, (1, 32)                      # YaRN: pairs that turn less than once, and more than 32 times
WAYS = ("as trained", "all frequencies / 4", "only slow ones / 4", "base 500000", "NTK-aware base", "YaRN")


def frequencies(way: str, d_k=D_K, trained=TRAINED, tried=TRIED) -> tuple[Tensor, float]:
    """The angle (d_k / 2,) by which each pair turns from token to token, and by what the scores are multiplied.

    "All" divides every frequency, which is to divide the positions (Chen et al. 2023); "only slow ones" spares the
    pairs that made a whole turn within the sentences of training; "base 500000" takes that for the base of 10,000;
    "NTK-aware base" takes the one that divides the slowest frequency by as much as the sentences grew, and leaves the
    fastest as it is; YaRN divides pairs that turned less than once, keeps those that turned 32 times, goes from one to
    the other in between, and sharpens the scores (Peng et al. 2023, sections 3.2 and 3.4; in its code, `position.yarn`,
    the line in between is another, and keeps the fastest of these pairs).
    """
    theta, longer = position.frequencies(d_k, BASE), tried / trained
    if way == "as trained":
        return theta, 1.0
    if way == "all frequencies / 4":
        return theta / longer, 1.0
    if way == "only slow ones / 4":
        return torch.where(trained * theta >= 2 * math.pi, theta, theta / longer), 1.0
    if way == "base 500000":
        return position.frequencies(d_k, 500_000), 1.0
    if way == "NTK-aware base":
        return position.frequencies(d_k, BASE * longer ** (d_k / (d_k - 2))), 1.0
    if way == "YaRN":
        slow, fast = SLOW_TO_FAST
        by_parts = position.llama3(d_k, BASE, factor=longer, length=trained, slow=slow, fast=fast)
        return by_parts, (0.1 * math.log(longer) + 1) ** 2
    raise ValueError(f"way must be one of {WAYS}, got {way!r}")


def fit_longer(task: str, *, steps=800, after=100, runs=6, batch=16, seed=0, device=None) -> tuple[Tensor, Tensor]:
    """Train rotary layers on 24 tokens, as `fit_positions` does, and try them on 96 with the frequencies of each way.

    Args:
        after: steps on 96 tokens with the new frequencies, from the trained layer on, for the second result; each
            step sees as many tokens as one before.
    Returns:
        The errors (runs, ways) with nothing trained after, and with these steps.
    """
    layer = PositionLayer(task, "rotary", TRIED, runs, seed, device)
    fit(layer.parameters, lambda: layer.errors(TRAINED, batch), steps=steps, rate=0.01)
    kept, found = [p.detach().clone() for p in layer.parameters], []
    for way in WAYS:
        theta, sharper = frequencies(way)
        limits = {"turn": partial(position.rope, frequencies=theta), "sharper": sharper}
        with torch.no_grad():
            for p, value in zip(layer.parameters, kept):
                p.copy_(value)
            at_once = layer.errors(TRIED, 64, **limits)
        if after:
            fit(layer.parameters, lambda: layer.errors(TRIED, batch // 4, **limits), steps=after, rate=0.003,
                warm_up=10)
        with torch.no_grad():
            found.append((at_once, layer.errors(TRIED, 64, **limits)))
    at_once, tuned = (torch.stack(errors, -1).cpu() for errors in zip(*found))
    return at_once, tuned


@dataclass
class Found:
    """How layers with ALiBi answer the two offsets, run by run."""

    apart: Tensor
    """(runs, lengths, 2), the error of each offset, 1 and 3 back."""
    looks: Tensor
    """(runs, heads, 24), the mean weight by tokens back, of the last of 24 tokens."""


def fit_apart(*, lengths=(24, 96), steps=800, runs=6, batch=16, seed=0, device=None) -> Found:
    """Train layers with ALiBi on "offsets", as `fit_positions` does, and look at the offsets one by one."""
    layer = PositionLayer("offsets", "ALiBi", max(lengths), runs, seed, device)
    fit(layer.parameters, lambda: layer.errors(TRAINED, batch), steps=steps, rate=0.01)
    with torch.no_grad():
        apart = []
        for size in lengths:
            missed, asked = layer.missed(size, 64)
            each = missed.unflatten(-1, (len(OFFSETS), CONTENT)).mean(-1) * asked[..., None]
            apart.append(each.sum((1, 2)) / asked.sum((1, 2))[:, None])
        x, *_ = draw("offsets", layer.names, 64, TRAINED, layer.sentences)
        looks = layer.answer(x.to(device))[1][..., -1, :].mean(1).flip(-1)                 # (R, h, 24)
    return Found(torch.stack(apart, 1).cpu(), looks.cpu())
