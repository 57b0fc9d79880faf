"""How a hundred small transformers of chapter 0b ended, of each kind: `learn.json`, made by `tools/make_learn.py`."""
import functools
import json
from dataclasses import dataclass

import torch
from torch import Tensor

from mha.lab.assets._load import FOLDER
from mha.lab.train.words import BUILDS

LEARN = FOLDER / "learn.json"
STEPS, EARLY, TEXTS = 500, 200, 4096
EXPERIMENTS = {                                     # name: how it is built, its learning rate, its first seed
    **{name: (name, 0.02, 1) for name in BUILDS},
    "fresh seeds": ("two heads", 0.02, 101),
    "rate 0.002": ("two heads", 0.002, 1),
    "rate 0.2": ("two heads", 0.2, 1),
}


CLOSELY = ("two heads",)                            # whose heads are looked at


@dataclass(frozen=True)
class Learned:
    """What R = 100 runs came to, one a seed, each tried on all 4,096 texts after 500 steps."""
    right: Tensor               # (R,) texts whose last word is guessed
    loss: Tensor                # (R,) of the last word, in nats
    early: Tensor = None        # (R,) texts whose last word is guessed after 200 steps
    looks: Tensor = None        # (R, 2, 2, 4) weights of the last noun on itself, adjective, adverb, all before; of
    #                             each head, on average in texts with "not" and in texts without
    without: Tensor = None      # (R, 2, 2) share right without each head, in texts with "not" and in texts without
    unseen: list = None         # R words: what follows "so good cake and good news", a form that is never seen

    @property
    def solved(self):
        """(R,) which have every text right."""
        return self.right == TEXTS


@functools.cache
def learned(name) -> Learned:
    """One of EXPERIMENTS."""
    stored = json.loads(LEARN.read_text(encoding="utf-8"))[name]
    return Learned(**{field: value if field == "unseen" else torch.tensor(value) for field, value in stored.items()})


@functools.cache
def first_run() -> Tensor:
    """(51, 2): loss over all words and of the last of "two heads", seed 5, every 10 steps, on the 128 texts."""
    return torch.tensor(json.loads(LEARN.read_text(encoding="utf-8"))["first run"], dtype=torch.float64)
