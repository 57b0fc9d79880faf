"""7.2: two numbers are enough."""
import math

import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import PREFERENCES, most_of, preferences
from mha.exercises.report import Mistake


def on_a_circle(order):
    n = len(order)
    angles = 2 * math.pi * torch.arange(n, dtype=torch.float64) / n
    K = torch.stack([angles.cos(), angles.sin()], -1)
    return 10 * n**2 * K[order], K


def model(order, how="right", sharp="sharp"):
    """Queries and keys on a circle, with switches: each can be set wrong."""
    n = len(order)
    turns = 2 * math.pi * torch.arange(n, dtype=torch.float64) / n
    if how == "half-circle":
        turns = turns / 2
    K = torch.stack([turns.cos(), turns.sin()], -1)
    if how == "line":
        K = torch.stack([torch.arange(n, dtype=torch.float64) - (n - 1) / 2, torch.zeros(n, dtype=torch.float64)], -1)
    inverse = order.argsort()
    which = {"inverse": inverse, "identity": torch.arange(n)}.get(how, order)
    Q = 10 * n**2 * K[which] / K.norm(dim=-1).max()
    if sharp == "one":
        Q = K[which]
    if sharp == "fixed":
        Q = 20 * K[which]
    return (K, Q) if how == "exchanged" else (Q, K)


def weights_of(output, order):
    Q, K = (part.double() for part in output)
    if Q.shape != (len(order), 2) or K.shape != (len(order), 2):
        raise ValueError("not the shapes")
    return (Q @ K.mT / 2**0.5).softmax(-1)


def observe(output, order):
    return preferences(weights_of(output, order))


SWITCHES = {
    "how": {
        "inverse": Mistake("inverse-order",
                           "Token order[i] looks at token i; it should be the other way round: token i looks at "
                           "order[i].",
                           "Which row of Q belongs to token i?"),
        "identity": Mistake("looks-at-itself", "Every token looks at itself, whatever the order.",
                            "Where should the query of token i point?"),
        "line": Mistake("keys-on-a-line",
                        "The keys lie on a line, so only the two outermost can win.",
                        "Which direction makes the middle key the farthest?"),
        "exchanged": Mistake("roles-exchanged", "Queries and keys are exchanged.",
                             "Which of the two should depend on order?"),
    },
    "sharp": {
        "one": Mistake("too-soft",
                       "No weight passes 0.99: the largest score of a row does not lead by enough.",
                       "Which lead does a weight of 0.99 need, and how close are neighbours on the circle?"),
        "fixed": Mistake("too-soft-for-many",
                         "For few tokens the largest score of a row leads by enough. For many, neighbours on the "
                         "circle come close, and the lead gets too small.",
                         "How does the lead over the neighbour shrink with n?"),
    },
}


def measure(answer):
    """Whom each token looks at."""
    order = torch.tensor([2, 0, 3, 1])
    weights = weights_of(answer(order), order)
    yield "For order 2, 0, 3, 1: " + most_of(weights) + "."


def shuffled(n, seed):
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed))


EXERCISE = Exercise(
    id="7.2", name="on_a_circle", chapter="07_how_many_heads", stars=3, minutes=20, after="section 4", core=True,
    signature="on_a_circle(order)",
    statement="Rank 2 is enough for any permutation. order is `(n,)`, a permutation of 0 to n - 1. Write "
              "`on_a_circle(order)`: return queries Q and keys K, both `(n, 2)`, so that in `softmax(Q K^T / "
              "sqrt(2))` token i gives more than 0.99 to token order[i], for every i. n is up to 32.",
    stub="def on_a_circle(order):\n    ...\n",
    reference=on_a_circle,
    cases=[Case((torch.tensor([1, 2, 0]),)), Case((shuffled(5, 1),)), Case((torch.tensor([1, 0]),)),
           *(Case((shuffled(n, n),)) for n in (4, 8, 13, 19, 25, 32))],
    model=model, switches=SWITCHES, measure=measure, observe=observe, wanted="a pair Q, K, both of shape (n, 2)",
    trained=(),
    compared=PREFERENCES,
    hints=("Where must a key lie so that some direction makes it the farthest of all? Where must all keys lie?",
           "Put the keys on a circle. Query i is a multiple of the key that it wants. The lead over the neighbour is "
           "1 - cos(2 pi / n), which shrinks like 1 / n^2.",
           "a = 2 * math.pi * torch.arange(n) / n; K = torch.stack([a.cos(), a.sin()], -1); return 10 * n ** 2 * "
           "K[order], K"),
    note="The scores have rank 2 and the weights are a permutation matrix, of rank n: the softmax does not keep "
         "ranks. The price is length: with the keys on a circle of one size, the queries must grow like n squared.",
)
