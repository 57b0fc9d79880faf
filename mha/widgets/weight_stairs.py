"""Stairs of weights: where a walk climbs, and whether it comes back to where it began."""
import torch

from mha import masks, viz
from mha.widgets.figure import Choice, LiveFigure, Slider

KINDS = ["the same both ways", "0 backwards", "the same, under a mask"]
WALKS = [[0, 1, 2, 3, 0], [0, 1, 2, 3, 0], [3, 2, 1, 0]]


class WeightStairs(LiveFigure):
    """Four tokens that look at each other; each step of a walk climbs by ln(weight there / weight back).

    Neighbours score growth, 2 growth, 3 growth and, from 4 to 1, closing; all other pairs score 0, and no token looks
    at itself but under the mask. `numbers()` gives step: weight there, weight back and climb of each step, in order.
    """

    data = {"walks": WALKS}
    kind = Choice("scores", KINDS)
    growth = Slider("scores of 1\u20132, 2\u20133, 3\u20134: 1, 2, 3 times", 0.0, 5.0, 0.5, value=5.0, new_row=True)
    closing = Slider("score of 4 and 1", 0, 10, value=0)

    def numbers(self, kind, growth, closing):
        scores = torch.zeros(4, 4, dtype=torch.float64)
        for i, score in enumerate((growth, 2 * growth, 3 * growth, closing)):
            scores[i, (i + 1) % 4] = score
            scores[(i + 1) % 4, i] = 0 if kind == 1 else score
        mask = masks.causal(4) if kind == 2 else ~torch.eye(4, dtype=torch.bool)
        w = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        start, end = WALKS[kind][:-1], WALKS[kind][1:]
        there, back = w[start, end], w[end, start]
        return {"step": torch.stack([there, back, (there / back).log()], dim=-1).flatten()}

    def picture(self):
        climbs = self.numbers(**self.setting())["step"].view(-1, 3)[:, 2]
        kind = self.kind
        picture = viz.heights({KINDS[kind]: ([str(i + 1) for i in WALKS[kind]], climbs)})
        picture.text = picture.text.replace("Stairs of 1 walks:", "Stairs of a walk:", 1)
        return picture
