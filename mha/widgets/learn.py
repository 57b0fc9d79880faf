"""A transformer of one layer that learns in the page to guess the next word, from random numbers on."""
import dataclasses
import functools
import math

import torch

from mha import viz
from mha.lab.assets import learned
from mha.lab.train import words
from mha.widgets.figure import Choice, Dropdown, LiveFigure, Slider

LAST, STRIDE = 500, 10      # steps of a whole training, and between two settings of the slider
SEEDS = [5, 1, 2, 51]
# A rate of 0.2 is left out: it magnifies rounding so far that two machines show different runs
MODELS = {**{name: (build, 0.02) for name, build in words.BUILDS.items()},
          "two heads, rate 0.002": (words.BUILDS["two heads"], 0.002)}
TEXTS = ["so good cake and not good news", "so good cake and very good news", "so bad news and not poor cake",
         "not bad film and quite bad soup", "so good cake and good news"]
CRIES = words.WORDS[words.CRY:words.AND]
OFF = ["none", "head 1", "head 2"]


def ids(text):
    """A text as indices of words, after the full stop with which each begins."""
    return [words.WORDS.index(word) for word in [".", *text.split()]]


@functools.cache
def trained(model):
    """Every tenth step of the runs of SEEDS: numbers (51, R, P) and judged (51, R, 3), as of `fit_words`."""
    build, rate = list(MODELS.values())[model]
    return words.fit_words(build, torch.tensor(SEEDS), rate, LAST, STRIDE)


class Learn(LiveFigure):
    """A transformer of one layer after some steps of training, and what it makes of one text.

    `numbers()` gives parameter (888 with two heads), every number of the model; judged (3): the loss over all words and
    of the last, in nats, and the share of 128 texts whose last word it guesses; all and last: both losses after 0, 10,
    20, ... steps; weight: of the text's last word, head by head; guess (5): the chances of the four exclamations and of
    all other words together.
    """

    label = "A small transformer that learns in the page to guess the next word: its numbers, its loss, and a text."
    data = {"models": [{"name": name[0].upper() + name[1:], "rate": rate, **dataclasses.asdict(build)}
                       for name, (build, rate) in MODELS.items()],
            "seeds": SEEDS, "texts": [ids(text) for text in TEXTS], "words": words.WORDS, "cries": CRIES,
            "stride": STRIDE, "last": LAST, "floor": 6 * math.log(4) / words.N}
    steps = Slider("steps of training", 0, LAST, STRIDE, value=0)
    seed = Choice("random start", [f"seed {seed}" for seed in SEEDS])
    model = Dropdown("model", list(MODELS), new_row=True)
    off = Dropdown("switched off", OFF)
    sentence = Dropdown("text", TEXTS, new_row=True)

    def numbers(self, steps, seed, model, off, sentence):
        kind, _ = list(MODELS.values())[model]
        history, judged = trained(model)
        here = history[steps // STRIDE, seed][None]
        silent = (off - 1,) if 0 < off <= kind.heads else ()
        told, tested = torch.tensor([[ids(TEXTS[sentence])]]), words.tested()[None]
        with torch.no_grad():
            logits, weights = words.read(kind, here, told, silent)
            found = words.judged(words.read(kind, here, tested[..., :-1], silent)[0], tested)[0]
        chances = logits[0, 0, -1].softmax(-1)
        cries = chances[words.CRY:words.AND]
        past = judged[: steps // STRIDE + 1, seed]
        weight = torch.empty(0) if weights is None else weights[0, 0, :, -1].flatten()
        return {"parameter": here[0], "judged": found, "all": past[:, 0], "last": past[:, 1], "weight": weight.double(),
                "guess": torch.cat([cries, 1 - cries.sum()[None]])}

    def picture(self):
        """The losses of the run that the figure opens with, from its first step to its last: stored, since that takes
        seconds."""
        curves = learned.first_run()
        picture = viz.curves(torch.arange(0, LAST + 1, STRIDE), "steps of training", "loss, nats", points=6,
                             all_words=curves[:, 0], last_word=curves[:, 1])
        picture.text = "\n".join([
            "The loss of a small transformer as it learns to guess the next word, over all words and for the last.",
            *picture.text.splitlines()[1:]])
        return picture
