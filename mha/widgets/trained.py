"""How many heads for how many relations: the errors of trained layers, and what each head of one of them looks at."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab.assets import HEADS, RELATIONS, trained_heads, trained_samples
from mha.widgets.figure import Canvas, LiveFigure, front_end, in_steps, packed, slider


STEPS = 100          # in a weight of 1: two decimals
SENTENCES = 2        # single ones, of those that are stored: enough to see that they differ


def floor(h, r):
    """The least error of h heads whose scores do not see the contents, on r relations: 1 - h / r, or 0."""
    return max(0.0, 1 - h / r)


class TrainedCanvas(Canvas):
    _esm, _css = front_end("trained")
    counts = traitlets.List(list(HEADS)).tag(sync=True)
    many = traitlets.List(list(RELATIONS)).tag(sync=True)
    errors = traitlets.List(help="[relations][heads] -> the errors of the runs").tag(sync=True)
    shares = traitlets.Unicode(help="packed: for each r, h, run: h rows of r mean weights").tag(sync=True)
    samples = traitlets.Unicode(help="packed: for each r, h, run, sentence: h rows of 16 weights").tag(sync=True)
    shown = traitlets.Int(help="how many runs have their heads shown").tag(sync=True)
    sentences = traitlets.Int(SENTENCES, help="how many single sentences").tag(sync=True)
    steps = traitlets.Int(STEPS).tag(sync=True)
    relations = traitlets.Int(2).tag(sync=True)
    heads = traitlets.Int(2).tag(sync=True)
    run = traitlets.Int(1).tag(sync=True)
    sentence = traitlets.Int(0, help="0 for the mean of many, else the number of a single one").tag(sync=True)


class TrainedHeads(LiveFigure):
    """Layers of h heads trained to bring back the contents of r related tokens.

    For one r, all layers have the same number of parameters.

    `numbers()` gives error (24): the mean squared error of the 24 runs at this h and r, floor (1): the least that
    heads can reach whose scores do not see the contents, and weight (h r, head by head): the mean weight of each head
    of the chosen run on the token of each relation, or its weights on the 16 tokens of one sentence, to two decimals.
    """

    def __init__(self):
        self.cells = {(r, h): trained_heads(r, h) for r in RELATIONS for h in HEADS}
        errors = [[[float(e) for e in self.cells[r, h][0]] for h in HEADS] for r in RELATIONS]
        self.samples = {cell: in_steps(trained_samples(*cell)[:, :SENTENCES], STEPS) for cell in self.cells}
        runs = len(self.samples[1, 1])  # the first eight, of which single sentences are kept: their heads are shown
        self.shares = {cell: in_steps(shares[:runs], STEPS) for cell, (_, shares) in self.cells.items()}
        shares, samples = ("".join(packed(weights, STEPS) for weights in stored.values())
                           for stored in (self.shares, self.samples))
        super().__init__(TrainedCanvas(errors=errors, shares=shares, samples=samples, shown=runs), [
            {"relations": slider(ipywidgets.SelectionSlider, "relations, r",
                                 options=[(str(r), i) for i, r in enumerate(RELATIONS)], value=2),
             "heads": slider(ipywidgets.SelectionSlider, "heads, h",
                             options=[(f"{h} head{'s' * (h > 1)}", i) for i, h in enumerate(HEADS)], value=2),
             "run": slider(ipywidgets.IntSlider, "run shown at the right", value=1, min=1, max=runs),
             "sentence": slider(ipywidgets.SelectionSlider, "seen on",
                                options=[("many, mean", 0), *((f"sentence {i}", i) for i in range(1, SENTENCES + 1))],
                                value=0)}])

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
