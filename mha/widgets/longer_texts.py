"""Texts longer than in training: how far each pair of a rotary head turns, and which of its angles are new."""
import math

from mha import position, viz
from mha.lab.train import longer
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure

HEADS = [(16, 24), (128, 4096)]                          # d_k, and tokens of training
FACTORS = [1, 2, 4, 8, 16, 32]
TRIED = {"as trained": "as trained", "all divided": "all frequencies / 4", "slow divided": "only slow ones / 4",
         "base 500000": "base 500000", "NTK": "NTK-aware base"}  # their names in `longer`, which divides by any factor
WAYS = [*TRIED, "YaRN"]                                  # as in its code, which keeps the fastest pair


def frequencies(way, d_k, length, factor):
    """Radians a token (d_k / 2,) of each pair, for texts `factor` times as long as the `length` of training."""
    if way == "YaRN":
        return position.yarn(d_k, longer.BASE, factor=factor, length=length)
    return longer.frequencies(TRIED[way], d_k, length, factor * length)[0]


class LongerTexts(LiveFigure):
    """A rotary head and a text that is `factor` times as long as those of training, by six ways.

    `numbers()` gives trained and reached (d_k / 2 each), the turns that each pair makes within the texts of training
    and within the longer one; slowed (d_k / 2), its old frequency over the new one; and fresh (1), the pairs that come
    to angles which training did not show: they made less than one turn, and now make more.
    """

    data = {"heads": HEADS, "factors": FACTORS, "base": longer.BASE, "raised": 500_000}
    way = Choice("frequencies", WAYS, value=0)
    factor = ChoiceSlider("times as long", [str(factor) for factor in FACTORS], value=FACTORS.index(4), new_row=True)
    head = Choice("head and training", [f"d_k = {d_k}, {length:,} tokens" for d_k, length in HEADS], value=0)

    def numbers(self, way, factor, head):
        (d_k, length), times = HEADS[head], FACTORS[factor]
        old, new = (frequencies(name, d_k, length, times) for name in ("as trained", WAYS[way]))
        trained, reached = length * old / (2 * math.pi), times * length * new / (2 * math.pi)
        fresh = (trained < 1) & (reached > trained * (1 + 1e-9))
        return {"trained": trained, "reached": reached, "slowed": old / new, "fresh": fresh.sum()[None].double()}

    def picture(self):
        rows = {way: self.numbers(i, self.factor, self.head) for i, way in enumerate(WAYS)}
        others = {way: rows[way]["reached"] for way in ("all divided", "NTK")}
        series = {"in training": rows["as trained"]["trained"], "as trained": rows["as trained"]["reached"], **others}
        pairs = range(1, len(series["in training"]) + 1)
        return viz.curves(pairs, "pair", "turns", log="y", points=len(pairs), **series)
