"""Attention of one query, tile by tile: the running maximum, sum and output, which end at the output of all keys."""
import torch

from mha import viz
from mha.lab import fast
from mha.widgets.figure import Choice, LiveFigure, Slider, Toggle

SCORES = [0.4, 1.6, -0.7, 0.9, 2.3, -1.2, 0.1, 3.1, 1.1, -0.4, 2.6, 0.7]
VALUES = [0.8, -0.6, 0.3, 0.9, -0.2, 0.5, -0.9, 0.6, -0.4, 0.1, 0.9, 1.0]
LOUD = [1, 10, 300]


class WalkTiles(LiveFigure):
    """Twelve keys of fixed scores and values, read in tiles of a width, forwards or backwards.

    `numbers()` gives tile (2), the first and the last key, from 1, of the tile that was read last; largest, total and
    out (1 each), after it; part (1), the output over this tile alone; mean (1), of the tiles' outputs so far, which is
    wrong; all (1), the output over all keys.
    """

    label = "Attention of one query to twelve keys, read tile by tile, with its running maximum, sum and output."
    data = {"scores": SCORES, "values": VALUES, "loud": LOUD}
    width = Slider("keys in a tile", 1, 12, 1, value=4)
    read = Slider("tiles read", 1, 3, 1, value=2, moves_end=True)
    loud = Choice("scores times", [str(times) for times in LOUD], new_row=True)
    backwards = Toggle("from the last tile", False)

    def numbers(self, width, read, loud, backwards):
        scores, values = (torch.tensor(given, dtype=torch.float64)[:, None] for given in (SCORES, VALUES))
        q = torch.full((1, 1), float(LOUD[loud]), dtype=torch.float64)  # d_k is 1, and so is the scale
        steps = fast.walk(q, scores, values, int(width), backwards)[: int(read)]
        parts = torch.stack([fast.walk(q, scores[i:j], values[i:j], 12)[0].out[0, 0]
                             for i, j in (step.keys for step in steps)])
        last = steps[-1]
        return {"tile": torch.tensor([last.keys[0] + 1, last.keys[1]], dtype=torch.float64),
                "largest": last.largest, "total": last.total, "out": last.out[0], "part": parts[-1:],
                "mean": parts.mean()[None],
                "all": torch.nn.functional.scaled_dot_product_attention(q, scores, values)[0]}

    def picture(self):
        shown = {name: float(number[0]) for name, number in self.numbers(**self.setting()).items()}
        names = {"out": "of the keys so far", "part": "of this tile alone", "all": "of all keys"}
        return viz.bars(list(names.values()), digits=3, alt="One query's output, part of the keys by part.",
                        output=[shown[name] for name in names])
