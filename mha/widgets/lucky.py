"""Luck: what the best of many coins gets right, beside what one coin gets."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab import measure
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

HEADS = [1, 2, 6, 12, 36, 72, 144]
QUESTIONS = [10, 20, 30, 40, 60]


class LuckyCanvas(Canvas):
    _esm, _css = front_end("lucky")
    counts = traitlets.List(HEADS).tag(sync=True)
    sizes = traitlets.List(QUESTIONS).tag(sync=True)
    heads = traitlets.Int(HEADS.index(72), help="index into counts").tag(sync=True)
    questions = traitlets.Int(QUESTIONS.index(30), help="index into sizes").tag(sync=True)


class LuckyBest(LiveFigure):
    """Heads that toss a fair coin for each question, and the best of them.

    `numbers()` gives one and best: how likely each number of right answers, from 0 to all, is for one head and for the
    best of all; median and late: with probability 0.5 and 0.95 the best gets no more right than that.
    """

    def __init__(self):
        super().__init__(LuckyCanvas(), [
            {"heads": slider(ipywidgets.SelectionSlider, "coins tossed", value=HEADS.index(72),
                             options=[(f"{n} coin{'s' * (n > 1)}", i) for i, n in enumerate(HEADS)]),
             "questions": slider(ipywidgets.SelectionSlider, "times each", value=QUESTIONS.index(30),
                                 options=[(f"{n} times", i) for i, n in enumerate(QUESTIONS)])}])

    def numbers(self, heads, questions):
        many, asked = HEADS[heads], QUESTIONS[questions]
        one = torch.distributions.Binomial(asked, torch.tensor(0.5, dtype=torch.float64))
        one = one.log_prob(torch.arange(asked + 1, dtype=torch.float64)).exp()
        best = (one.cumsum(0) ** many).diff(prepend=torch.zeros(1, dtype=torch.float64))
        ends = {name: torch.tensor([asked * measure.luckiest(many, asked, quantile=quantile)])
                for name, quantile in (("median", 0.5), ("late", 0.95))}
        return {"one": one, "best": best, **ends}

    def picture(self):
        heads, asked = HEADS[self.canvas.heads], QUESTIONS[self.canvas.questions]
        shown = self.numbers(**self.setting())
        answers = range(asked + 1)
        ends = {f"more than this in at most {words}": int(shown[name])
                for words, name in (("half of all tries", "median"), ("1 try of 20", "late"))}
        return viz.histograms({"one coin": (answers, shown["one"]), f"the best of {heads}": (answers, shown["best"])},
                              f"How many of {asked} tosses one coin gets right, and how many the best of {heads}.",
                              ends)
