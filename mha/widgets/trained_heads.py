"""How many heads for how many relations: the errors of trained layers, and what each head of one of them looks at."""
import torch

from mha import viz
from mha.lab.assets import HEADS, RELATIONS, trained_heads, trained_samples
from mha.widgets.figure import ChoiceSlider, LiveFigure, Slider, in_steps, packed


STEPS = 100          # in a weight of 1: two decimals
SENTENCES = 2        # single ones, of those that are stored: enough to see that they differ


def floor(h, r):
    """The least error of h heads whose scores do not see the contents, on r relations: 1 - h / r, or 0."""
    return max(0.0, 1 - h / r)


class TrainedHeads(LiveFigure):
    """Layers of h heads trained to bring back the contents of r related tokens.

    For one r, all layers have the same number of parameters.

    `numbers()` gives error (24): the mean squared error of the 24 runs at this h and r, floor (1): the least that
    heads can reach whose scores do not see the contents, and weight (h r, head by head): the mean weight of each head
    of the chosen run on the token of each relation, or its weights on the 16 tokens of one sentence, to two decimals.
    """

    relations = ChoiceSlider("relations, r", [str(r) for r in RELATIONS], value=2)
    heads = ChoiceSlider("heads, h", [f"{h} head{'s' * (h > 1)}" for h in HEADS], value=2)
    run = Slider("run in the map", 1, lambda figure: len(figure.samples[1, 1]), value=1)
    sentence = ChoiceSlider("seen on", ["many, mean", *(f"sentence {i}" for i in range(1, SENTENCES + 1))])

    def __init__(self):
        self.cells = {(r, h): trained_heads(r, h) for r in RELATIONS for h in HEADS}
        errors = [[[float(e) for e in self.cells[r, h][0]] for h in HEADS] for r in RELATIONS]
        self.samples = {cell: in_steps(trained_samples(*cell)[:, :SENTENCES], STEPS) for cell in self.cells}
        runs = len(self.samples[1, 1])  # the first eight, of which single sentences are kept: their heads are shown
        self.shares = {cell: in_steps(shares[:runs], STEPS) for cell, (_, shares) in self.cells.items()}
        # packed, for each r, h, run: h rows of r mean weights; and for each sentence, h rows of 16 weights
        shares, samples = ("".join(packed(weights, STEPS) for weights in stored.values())
                           for stored in (self.shares, self.samples))
        super().__init__({"counts": list(HEADS), "many": list(RELATIONS), "errors": errors, "shares": shares,
                          "samples": samples, "shown": runs, "sentences": SENTENCES, "steps": STEPS})

    def numbers(self, relations, heads, run, sentence):
        r, h = RELATIONS[relations], HEADS[heads]
        weight = self.samples[r, h][run - 1, sentence - 1] if sentence else self.shares[r, h][run - 1]
        return {"error": self.cells[r, h][0], "floor": torch.tensor([floor(h, r)]), "weight": weight.flatten()}

    def picture(self):
        setting = self.setting()
        r = RELATIONS[setting["relations"]]
        errors = torch.stack([self.cells[r, h][0] for h in HEADS])
        picture = viz.dots([f"h = {h}" for h in HEADS], f"error with {r} relations", runs=errors)
        lines = [f"h = {h:2}: the floor is {floor(h, r):.3f}" for h in HEADS]
        picture.text += "\n\n" + "\n".join(lines)
        return picture
