"""Luck: what the best of many coins gets right, beside what one coin gets."""
import torch

from mha import viz
from mha.lab import measure
from mha.widgets.figure import ChoiceSlider, LiveFigure

HEADS = [1, 2, 6, 12, 36, 72, 144]
QUESTIONS = [10, 20, 30, 40, 60]


class LuckyBest(LiveFigure):
    """Heads that toss a fair coin for each question, and the best of them.

    `numbers()` gives one and best: how likely each number of right answers, from 0 to all, is for one head and for the
    best of all; median and late: with probability 0.5 and 0.95 the best gets no more right than that.
    """

    data = {"counts": HEADS, "sizes": QUESTIONS}
    heads = ChoiceSlider("coins tossed", [f"{n} coin{'s' * (n > 1)}" for n in HEADS], value=HEADS.index(72))
    questions = ChoiceSlider("times each", [f"{n} times" for n in QUESTIONS], value=QUESTIONS.index(30))

    def numbers(self, heads, questions):
        many, asked = HEADS[heads], QUESTIONS[questions]
        one = torch.distributions.Binomial(asked, torch.tensor(0.5, dtype=torch.float64))
        one = one.log_prob(torch.arange(asked + 1, dtype=torch.float64)).exp()
        best = (one.cumsum(0) ** many).diff(prepend=torch.zeros(1, dtype=torch.float64))
        ends = {name: torch.tensor([asked * measure.luckiest(many, asked, quantile=quantile)])
                for name, quantile in (("median", 0.5), ("late", 0.95))}
        return {"one": one, "best": best, **ends}

    def picture(self):
        heads, asked = HEADS[self.heads], QUESTIONS[self.questions]
        shown = self.numbers(**self.setting())
        answers = range(asked + 1)
        ends = {f"more than this in at most {words}": int(shown[name])
                for words, name in (("half of all tries", "median"), ("1 try of 20", "late"))}
        return viz.histograms({"one coin": (answers, shown["one"]), f"the best of {heads}": (answers, shown["best"])},
                              f"How many of {asked} tosses one coin gets right, and how many the best of {heads}.",
                              ends)
