"""What it costs to switch heads of all-MiniLM-L6-v2 off (`pruning.npz`), on the 180 texts of
`mha.lab.sentences.paraphrases`: 60 sentences, each with a counterpart and a decoy.
"""
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

PRUNING = FOLDER / "pruning.npz"
RANDOM_ORDERS = 5                                   # of each of the two random kinds, with curves
CHANCES = 30                                        # of each of them, with the count only
SCALES = (5, 10, 20, 40, 80)                        # of the matching loss; all else is measured at 20
MEAN_ORDERS = 10                                    # the first of CHANCES, with means in place of 0
PRUNING_ORDERS = {                                  # kind: how many orders of it are stored, one after the other
    "greedy": 1,
    "cosine lost alone": 1,
    "mean size of the gradient": 1,
    "size of the mean gradient": 1,
    "matching loss alone": 1,
    "most costly first": 1,
    "random": RANDOM_ORDERS,
    "mean size, divided within layers": 1,
    "gradient that is zero": 1,
    "random, last layer last": RANDOM_ORDERS,
    "gradient that is zero, in float64": 1,
}
RANDOM_KINDS = [kind for kind in PRUNING_ORDERS if kind.startswith("random")]


@dataclass(frozen=True)
class Retrieval:
    """What sentence vectors are good for. Several share leading axes (...)."""
    found: Tensor
    """(...), the share of sentences whose counterpart is the nearest of 60."""
    beats_decoy: Tensor
    """(...), the share of sentences whose counterpart is nearer than the decoy."""
    loss: Tensor
    """(...), the mean matching loss, in nats; ln 60 is knowing nothing."""


@dataclass(frozen=True)
class Kept(Retrieval):
    """What is left of the model when some heads are off."""
    cosine: Tensor
    """(...), the mean cosine of the sentence vectors with those of the whole model."""

    @classmethod
    def columns(cls, scores):
        """From (..., 4): the cosine, then the tests."""
        cosine, *tests = scores.unbind(-1)
        return cls(*tests, cosine=cosine)

    @property
    def mean(self):
        """The mean over the first axis, such as five random orders."""
        return Kept(*(values.mean(0) for values in vars(self).values()))

    def heads_gone(self, least=0.9):
        """How many heads can go, of each order, while the cosine is `least` or more: (...) without its last axis."""
        return (self.cosine >= least).long().cumprod(-1).sum(-1) - 1


@dataclass(frozen=True)
class Means:
    """A head that is off gives its mean over all tokens of the 180 texts, in the place of 0."""
    alone: Tensor
    """(6, 12), 1 - cosine with the whole model's sentence vectors, for each head switched off alone."""
    none: Kept
    """One number each, with all heads off."""
    chance: dict[str, Tensor]
    """Kind of RANDOM_KINDS -> (MEAN_ORDERS,), how many heads can go while the cosine is 0.9 or more, in the first of
    the same orders."""


@dataclass(frozen=True)
class Pruning:
    """What it costs to switch off single heads, heads in some order, layers, and all sets of heads of one layer."""
    alone: Tensor
    """(6, 12), 1 - cosine with the whole model's sentence vectors, for each head switched off alone."""
    slopes: Tensor
    """(60, 6, 12), the derivative of each sentence's matching loss by each gate (`mha.lab.measure.head_effects`)."""
    rises: Tensor
    """(60, 6, 12), the rise of each sentence's matching loss without each head."""
    size: Tensor
    """(6, 12), the mean size of these slopes, as `mha.lab.measure.head_scores` gives it."""
    slope: Tensor
    """(6, 12), the mean slope."""
    removal: Tensor
    """(6, 12), the mean rise."""
    flat_gradient: Tensor
    """(6, 12), the size of the derivative of 1 - cosine at the whole model, where it is flat: rounding only."""
    flat_gradient_double: Tensor
    """(6, 12), the same computed in float64."""
    orders: dict[str, Tensor]
    """Kind of PRUNING_ORDERS -> (orders, 72): which head goes first, second, ..."""
    curves: dict[str, Kept]
    """Kind of PRUNING_ORDERS -> (orders, 73): with 0 to 72 heads gone."""
    chance: dict[str, Tensor]
    """Kind of RANDOM_KINDS -> (CHANCES,), how many heads can go while the cosine is 0.9 or more, in other orders."""
    matched: Tensor
    """(CHANCES,), the same in orders that take each head from the layer from which greedy takes it, the head at random.
    """
    matched_cosine: Tensor
    """(CHANCES,), the cosine with as many heads gone in these orders as greedy can take at 0.9."""
    whole_layers: Kept
    """(6,), with all heads of one layer gone."""
    words: Retrieval
    """One number each, of the mean of the words' own embeddings, with nothing added and no model above them."""
    signs_at: Tensor
    """(5, 60, 6, 12), 1 where a sentence's matching loss at each of SCALES rises without a head, -1 where it falls."""
    rounded_at: Tensor
    """(5, 60, 2), the same without head 3.4 and without 1.0, with the loss in float32: 0 where both losses are the same
    number."""
    half_at: Tensor
    """(6, 5), the mean matching loss at each of SCALES: of the whole model, then with 36 heads gone, in the orders kept
    of "random"."""
    means: Means
    """What it costs to switch heads off in another way."""
    subsets: Tensor
    """(6, 4096), the cosine on every seventh text with any set of one layer's heads gone: bit i of the number is set
    where head i is off."""


@cache
def pruning():
    """What it costs to switch heads of all-MiniLM-L6-v2 off: Pruning, in float32.

    Read once and then shared by all who ask, so change none of its tensors in place.
    """
    stored = arrays(PRUNING)

    def by_kind(name):
        return dict(zip(PRUNING_ORDERS, stored.pop(name).split(list(PRUNING_ORDERS.values()))))

    chance, mean_chance = (dict(zip(RANDOM_KINDS, stored.pop(name).long())) for name in ("chance", "mean_chance"))
    means = Means(alone=stored.pop("mean_alone"), none=Kept.columns(stored.pop("mean_none")), chance=mean_chance)
    return Pruning(
        orders={kind: heads.long() for kind, heads in by_kind("orders").items()},
        curves={kind: Kept.columns(scores) for kind, scores in by_kind("curves").items()},
        chance=chance, means=means, matched=stored.pop("matched").long(),
        whole_layers=Kept.columns(stored.pop("whole_layers")), words=Retrieval(*stored.pop("words")), **stored)
