"""Eight keys on a ring that can be pressed to a line: which of them can win, and for how many queries."""
import math

import torch

from mha import viz
from mha.widgets.figure import LiveFigure, Slider

N = 8
TURN = 10.0          # of the first key, in degrees: so that no two keys meet when the ring is flat
ANGLES = [TURN + 360 / N * i for i in range(N)]


class KeyRing(LiveFigure):
    """Eight keys in the plane, and a query of length 1 that turns: the key with the largest score wins.

    `numbers()` gives key (16, x and y of each), score (8) and wins (8): how many degrees of queries each key wins.
    """

    data = {"angles": ANGLES}
    second = Slider("the keys\u2019 second coordinate, scaled by", 0.0, 1.0, 0.1, value=1.0)
    query = Slider("direction of the query, degrees", 5, 355, 10, value=35)

    def numbers(self, second, query):
        angles = torch.tensor(ANGLES, dtype=torch.float64).deg2rad()
        keys = torch.stack([angles.cos(), second * angles.sin()], dim=-1)
        direction = torch.tensor([query], dtype=torch.float64).deg2rad()
        score = keys @ torch.cat([direction.cos(), direction.sin()])
        return {"key": keys.flatten(), "score": score, "wins": self.wins(keys, second)}

    def wins(self, keys, second):
        """A key wins between the directions square to its two edges of the hull; on a line, each end wins half."""
        if not second:
            x = keys[:, 0]
            return 180.0 * ((x == x.max()) | (x == x.min()))
        along = keys.roll(-1, 0) - keys
        square = torch.atan2(-along[:, 0], along[:, 1])
        return (square - square.roll(1)).remainder(2 * math.pi).rad2deg()

    def picture(self):
        shown = self.numbers(**self.setting())
        columns = torch.stack([shown["score"], shown["wins"]], dim=-1)
        return viz.matrices("Eight keys on a ring: the score of each with one query, and how many degrees of queries "
                            "it wins.", [f"key {i + 1}" for i in range(N)], {"a query": (columns, ["score", "wins"])},
                            columns=1)
