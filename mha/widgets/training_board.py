"""The board of chapter 14 as it fills: every seed of six small models during training."""
import functools

import torch

from mha import viz
from mha.lab.assets import journey_runs
from mha.lab.journeys import config
from mha.lab.journeys.training import ENOUGH, EVERY
from mha.widgets.figure import Choice, LiveFigure, Slider, float16_bytes

PLAYED = [config(1), config(4), config(1, 1, steps=1200), config(1, 2), config(2, 1), config(2, 2)]
NAMES = [" + ".join(str(layer.h) for layer in played.layers) for played in PLAYED]
BOXES = ["both boxes", "from", "to"]
SEEDS, LINES = 8, {"1/8": 1 / 8, "1/2": 1 / 2, "3/4": 3 / 4, "1": 1.0}
APART = 100  # steps between the rows of the chosen model's table


@functools.cache
def history(column):
    """The share right in each box at every test of one configuration, (T, 8, 2), float64."""
    return journey_runs(PLAYED[column]).history.double()


class TrainingBoard(LiveFigure):
    """Six configurations of chapter 14, eight seeds each, tested every 25 steps on 64 documents.

    `numbers()` gives right (6 x 8), the share of right answers of each seed after so many steps, or at the end of a
    shorter training; trained (6), the steps after which that is; enough (6), how many seeds are 0.95 right or more;
    and course (T x 8), the chosen model's seeds every 100 steps of its training.
    """

    label = "Dots rise during training: the share of right answers of eight seeds of each of six small models."
    steps = Slider("training steps", 0, PLAYED[2].steps, EVERY, value=600)
    boxes = Choice("right in", BOXES)
    chosen = Choice("curves of", NAMES, value=4, new_row=True)

    def __init__(self, **first):
        super().__init__({
            "names": NAMES, "cached": [played.cached for played in PLAYED], "every": EVERY, "enough": ENOUGH,
            "tests": [len(history(column)) for column in range(len(PLAYED))], "lines": list(LINES.items()),
            "numbers": float16_bytes(torch.cat([history(column).flatten() for column in range(len(PLAYED))])),
        }, **first)

    def numbers(self, steps, boxes, chosen):
        curves = [history(column).mean(-1) if boxes == 0 else history(column)[..., boxes - 1]
                  for column in range(len(PLAYED))]  # (T, 8) each
        tests = [min(steps // EVERY, len(curve) - 1) for curve in curves]
        right = torch.stack([curve[test] for curve, test in zip(curves, tests)])
        return {"right": right.flatten(), "trained": EVERY * torch.tensor(tests, dtype=torch.float64),
                "enough": (right >= ENOUGH).sum(-1).double(), "course": curves[chosen][::APART // EVERY].flatten()}

    def picture(self):
        setting = self.setting()
        labels = [f"{name}\ncache {played.cached}" for name, played in zip(NAMES, PLAYED)]
        lines = tuple((value, name) for name, value in LINES.items() if value < 1)
        runs = self.numbers(**setting)["right"].view(len(PLAYED), SEEDS)
        return viz.dots(labels, f"right, {BOXES[self.boxes]}", lines, grain=0.05, each="seed",
                        **{f"{self.steps} steps": runs})
