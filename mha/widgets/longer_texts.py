"""Texts longer than in training: how far each pair of a rotary head turns, and which of its angles are new."""
import math

import torch

from mha import position, viz
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure

BASE, RAISED = 10_000, 500_000
HEADS = [(16, 24), (128, 4096)]                          # d_k, and tokens of training
FACTORS = [1, 2, 4, 8, 16, 32]
WAYS = ["as trained", "all divided", "slow divided", f"base {RAISED}", "NTK", "YaRN"]


def frequencies(way, d_k, length, factor):
    """Radians a token (d_k / 2,) of each pair, for texts `factor` times as long as the `length` of training."""
    theta = position.frequencies(d_k, BASE)
    return {
        "as trained": lambda: theta,
        "all divided": lambda: theta / factor,
        "slow divided": lambda: torch.where(length * theta < 2 * math.pi, theta / factor, theta),
        f"base {RAISED}": lambda: position.frequencies(d_k, RAISED),
        "NTK": lambda: position.frequencies(d_k, BASE * factor ** (d_k / (d_k - 2))),
        "YaRN": lambda: position.yarn(d_k, BASE, factor=factor, length=length),
    }[way]()


class LongerTexts(LiveFigure):
    """A rotary head and a text that is `factor` times as long as those of training, by six ways.

    `numbers()` gives trained and reached (d_k / 2 each), the turns that each pair makes within the texts of training
    and within the longer one; slowed (d_k / 2), its old frequency over the new one; and fresh (1), the pairs that come
    to angles which training did not show: they made less than one turn, and now make more.
    """

    data = {"heads": HEADS, "factors": FACTORS, "base": BASE, "raised": RAISED}
    way = Choice("frequencies", WAYS, value=0)
    factor = ChoiceSlider("times as long", [str(factor) for factor in FACTORS], value=FACTORS.index(4), new_row=True)
    head = Choice("head and training", [f"d_k = {d_k}, {length:,} tokens" for d_k, length in HEADS], value=0)

    def numbers(self, way, factor, head):
        (d_k, length), longer = HEADS[head], FACTORS[factor]
        old, new = position.frequencies(d_k, BASE), frequencies(WAYS[way], d_k, length, longer)
        trained, reached = length * old / (2 * math.pi), longer * length * new / (2 * math.pi)
        fresh = (trained < 1) & (reached > trained * (1 + 1e-9))
        return {"trained": trained, "reached": reached, "slowed": old / new, "fresh": fresh.sum()[None].double()}

    def picture(self):
        rows = {way: self.numbers(i, self.factor, self.head) for i, way in enumerate(WAYS)}
        longer = {way: found["reached"] for way, found in rows.items() if way in ("all divided", "NTK")}
        series = {"in training": rows["as trained"]["trained"], "as trained": rows["as trained"]["reached"], **longer}
        pairs = range(1, len(series["in training"]) + 1)
        return viz.curves(pairs, "pair", "turns", log="y", points=len(pairs), **series)
