"""What the file of stories15M for a page (`mha.lab.story_file`) is made with, and what that model tells when something
in it is changed (`told.npz`, made by `tools/make_told.py`).
"""
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

TOLD = FOLDER / "told.npz"
LAYERS, HEADS = 6, 6
WRITTEN, LISTED = 40, 10                            # tokens that are written, and that are listed as the next one
STEPS = 100                                         # in a weight of 1, as maps are stored
NAME_HEAD = (5, 1)
# A text, a word of it, and the word of another text that lends keys or values to it
OPENINGS = (
    ("Once upon a time, there was a little girl named Anna. Anna had a friend named Max. One day, Max said to",
     "Anna", "Lucy"),
    ("Once upon a time, there was a boy named Ben. Ben was sad. Mom said, \"Don't be sad,", "Ben", "Tom"),
    ("One day, Tom looked at the garden. The dogs near the big tree", "dogs", "dog"),
)
ALL_HEADS = tuple((layer, head) for layer in range(LAYERS) for head in range(HEADS))
LENDS = (("values", (NAME_HEAD,)), ("values", ALL_HEADS), ("keys", ALL_HEADS))
NOTHING, FIRST_OFF = 0, 1 + len(LENDS)              # among CHANGES: nothing, each of LENDS, then each head off
CHANGES = FIRST_OFF + len(ALL_HEADS)


@dataclass(frozen=True)
class Told:
    """Of each opening, and of each change: 0, none; 1 to 3, what LENDS lends; from 4 on, the head that is off."""
    kept: Tensor
    """(K,), the pieces that the file keeps, as numbers of the model's own tokenizer."""
    pieces: list
    """The texts of those that stand below, where a token is a place in this list."""
    means: Tensor
    """(6, 6, 48), what each head gives out in the mean over stories of the model's own."""
    written: Tensor
    """(openings, changes, 40), the tokens that follow the opening, each the likeliest."""
    next: Tensor
    """(openings, changes, 10), the tokens with the largest sum of the two chances below, largest first."""
    chance: Tensor
    """(openings, changes, 2, 10), the chance that each is the next token: as changed, and of the whole model."""
    weights: dict
    """opening -> (6, 6, n, n), the weights of every head of the whole model on it."""
    tokens: dict
    """opening -> (n,), its tokens."""


@cache
def told():
    """What the model tells: Told. Read once and then shared by all who ask, so change none of its tensors in place."""
    stored = arrays(TOLD)
    each = range(len(OPENINGS))
    weights, tokens = ({i: stored.pop(f"{name}.{i}") for i in each} for name in ("weights", "tokens"))
    return Told(**stored, weights={i: maps.double() / STEPS for i, maps in weights.items()}, tokens=tokens)
