"""7.1: the least error that given weights allow."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers, off
from mha.exercises.report import Mistake


def least_error(weights, r):
    basis = torch.linalg.qr(weights.mT)[0]
    return 1 - basis[:r].square().sum() / r


def model(weights, r, how="right"):
    """The least error with a switch that can be set wrong."""
    h, n = weights.shape
    basis = torch.linalg.qr(weights.mT)[0]
    share = basis[:r].square().sum()
    return {
        "right": lambda: 1 - share / r,
        "explained": lambda: share / r,
        "not-divided": lambda: r - share,
        "over-n": lambda: 1 - share / n,
        "over-h": lambda: 1 - share / h,
        "floor": lambda: torch.tensor(max(0.0, 1 - h / r), dtype=weights.dtype) + 0 * weights.sum(),
        "raw": lambda: 1 - weights[:, :r].square().sum() / r,
        "weight-sum": lambda: 1 - weights[:, :r].sum() / r,
        "not-orthogonal": lambda: 1 - (weights / weights.norm(dim=-1, keepdim=True))[:, :r].square().sum() / r,
        "all-places": lambda: 1 - basis.square().sum() / r,
        "no-square": lambda: 1 - basis[:r].abs().sum() / r,
        "root": lambda: (1 - share / r).clamp(min=0).sqrt(),
        "last-places": lambda: 1 - basis[-r:].square().sum() / r,
        "best-head": lambda: 1 - (weights[:, :r].square().amax(0) / weights.square().sum(-1).amax()).sum() / r,
        "rank": lambda: 1 - torch.linalg.matrix_rank(weights).to(weights.dtype) / r + 0 * weights.sum(),
    }[how]()


SWITCHES = {
    "how": {
        "explained": Mistake("explained-share",
                             "It returns the share that is explained. The error is what is left.",
                             "What should perfect weights give?"),
        "not-divided": Mistake("not-divided-by-r",
                               "It sums over the wanted contents. The error is their mean: divide by r.",
                               "What does a head that knows nothing get?"),
        "over-n": Mistake("divided-by-n",
                          "It divides by the number of tokens, where it should divide by the number of contents that "
                          "are wanted.",
                          "Over what is the mean taken?"),
        "over-h": Mistake("divided-by-h", "It divides by the number of heads.", "Over what is the mean taken?"),
        "floor": Mistake("floor-only",
                         "It gives 1 - h/r whatever the weights are. That is the best that any weights allow; these "
                         "may be worse.",
                         "What if all heads look at a token that nobody asked for?"),
        "raw": Mistake("not-normalised",
                       "It sums the squared weights on the wanted places. A mixture can be scaled by W_O, so its "
                       "length does not count: what counts is the space that the rows span.",
                       "Does it matter whether a row is (1, 0) or (1/2, 0)?"),
        "weight-sum": Mistake("sums-weights",
                              "It sums the weights on the wanted places. Weights of 0.9 and 0.1 explain 0.81 / 0.82 of "
                              "the first content, not 0.9.",
                              "What can be said of c1 when (c1 + c2) / 2 is known?"),
        "not-orthogonal": Mistake("rows-not-orthogonal",
                                  "The rows are made of length 1, but they are not at right angles to each other: "
                                  "what two heads share is counted twice.",
                                  "What do two heads with the same weights know together?"),
        "all-places": Mistake("all-places",
                              "It counts what is known of all tokens, not only of the wanted ones.",
                              "Which contents are asked for?"),
        "no-square": Mistake("no-square",
                             "It sums absolute values, where the explained share of a variance is a square.",
                             "Which power has a variance?"),
        "root": Mistake("root",
                        "It takes the square root at the end. The error is the mean square itself.",
                        "Is the error a length or its square?"),
        "last-places": Mistake("last-places",
                               "It takes the last r places for the wanted ones; they are the first.",
                               "Which places are wanted?"),
        "best-head": Mistake("best-head-only",
                             "For each wanted content it counts one head only. Heads together can know more.",
                             "What do x + y and x - y tell about x?"),
        "rank": Mistake("rank-only",
                        "It counts how many independent mixtures there are, wherever they look.",
                        "What if all heads look at tokens that nobody asked for?"),
    },
}


def measure(answer):
    """Weights whose error is known."""
    eye = torch.eye(4, dtype=torch.float64)
    for weights, r, wanted, what in ((eye[:1], 2, 0.5, "one head on the first of two wanted tokens"),
                                     (eye[3:], 2, 1.0, "one head on a token that nobody asked for"),
                                     (eye[:2].cumsum(0), 2, 0, "two heads, on the first wanted token and on both")):
        found = answer(weights, r)
        if off(found.nan_to_num(9), wanted):
            yield f"For {what} it gives {float(found):.4g}; wanted is {wanted}."


EXERCISE = Exercise(
    id="7.1", name="least_error", chapter="07_how_many_heads", stars=3, minutes=20, after="section 1",
    signature="least_error(weights, r)",
    statement="How well could a layer do with these weights? weights is `(h, n)` with independent rows, h <= n: how h "
              "heads mix n tokens. The contents of the tokens are independent numbers of variance 1, and those of the "
              "first r tokens are wanted. Write `least_error(weights, r)`: the least mean squared error, a single "
              "number, of the best linear guess from what the h heads bring. (Known to the guesser are the h "
              "mixtures, and nothing else.)",
    stub="def least_error(weights, r):\n    ...\n",
    reference=least_error,
    cases=[Case((numbers(701, 1, 3).softmax(-1), 2)), Case((numbers(702, 2, 5).softmax(-1), 3)),
           Case((numbers(703, 3, 7).softmax(-1), 2)), Case(((3 * numbers(704, 4, 9)).softmax(-1), 4)),
           Case((numbers(705, 2, 2).softmax(-1), 2))],
    model=model, switches=SWITCHES, measure=measure, trained=(),
    hints=("The h mixtures can be recombined at will. So the rows can be replaced by any other basis of the space "
           "that they span.",
           "Take an orthonormal basis. How much of the unit vector of a wanted token lies in that space?",
           "basis = torch.linalg.qr(weights.T)[0]; return 1 - basis[:r].square().sum() / r"),
    note="The squared entries of an orthonormal basis sum to h over all tokens, so at most h of the r contents can be "
         "explained: that is the floor 1 - h/r.",
)
