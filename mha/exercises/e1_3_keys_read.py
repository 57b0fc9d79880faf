"""1.3: from how many keys a mixture comes."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers, off
from mha.exercises.report import Mistake


def keys_read(weights):
    return torch.special.entr(weights).sum(-1).exp()


def model(weights, how="right", axis="last"):
    """The exponential of the entropy with switches: each can be set wrong."""
    at = {"last": -1, "before": max(-2, -weights.ndim), "first": 0}.get(axis)
    entr = torch.special.entr(weights)
    over = {"dim": at} if at is not None else {}
    return {
        "right": lambda: entr.sum(**over).exp(),
        "entropy": lambda: entr.sum(**over),
        "bits": lambda: entr.sum(**over) / torch.log(torch.tensor(2.0)).double(),
        "bits-e": lambda: (entr.sum(**over) / torch.log(torch.tensor(2.0)).double()).exp(),
        "sign": lambda: (-entr.sum(**over)).exp(),
        "mean": lambda: entr.mean(**over).exp(),
        "squares": lambda: 1 / weights.square().sum(**over),
        "count": lambda: (weights > 0).to(weights.dtype).sum(**over),
        "largest": lambda: 1 / weights.amax(**over),
        "nan": lambda: (-(weights * weights.log()).sum(**over)).exp(),
        "logs": lambda: (-weights.log().sum(**over)).exp(),
        "inside": lambda: entr.exp().sum(**over),
        "kept": lambda: entr.sum(**over, keepdim=True).exp() if over else entr.sum().exp(),
        "softmax": lambda: torch.special.entr(weights.softmax(-1)).sum(**over).exp(),
        "power-2": lambda: 2 ** entr.sum(**over),
    }[how]()


SWITCHES = {
    "how": {
        "entropy": Mistake("entropy",
                           "It returns the entropy itself. The number of equal shares with that entropy is e to this "
                           "power.",
                           "What is the entropy of m equal weights?"),
        "bits": Mistake("entropy-in-bits",
                        "It returns the entropy in bits (logarithm to base 2).",
                        "What is the entropy of m equal weights, and how do you get m back?"),
        "bits-e": Mistake("two-bases",
                          "The entropy is taken in bits (base 2), and then e is raised to it. One base must serve "
                          "both steps.",
                          "What does it give for m equal weights?"),
        "power-2": Mistake("two-bases",
                           "The entropy is taken with the natural logarithm, and then 2 is raised to it. One base "
                           "must serve both steps.",
                           "What does it give for m equal weights?"),
        "sign": Mistake("sign",
                        "The minus sign is lost: it returns one over the number.", "Can fewer than one key be read?"),
        "mean": Mistake("mean-for-sum",
                        "It takes the mean over the keys where the entropy is a sum.",
                        "What should four equal weights give?"),
        "squares": Mistake("inverse-squares",
                           "It returns one over the sum of squares. That is another count of the keys; it agrees for "
                           "equal weights only.",
                           "Which count comes from the entropy?"),
        "count": Mistake("counts-nonzero", "It counts the weights above zero.",
                         "Should a weight of a millionth count like one of a half?"),
        "largest": Mistake("one-over-largest", "It returns one over the largest weight.",
                           "Do the other weights not matter?"),
        "nan": Mistake("zero-times-log-zero",
                       "Where a weight is exactly 0 it is not a number: 0 times the logarithm of 0 is NaN in floats. "
                       "In the entropy such a term counts as 0.",
                       "What is log(0), and 0 times it?"),
        "logs": Mistake("weights-left-out", "The logarithms are summed without their weights.",
                        "The entropy is the mean of -log w. Mean with which weights?"),
        "inside": Mistake("exp-before-sum",
                          "The exponential is taken of each term, before the sum.",
                          "Which comes first, the sum or the exponential?"),
        "kept": Mistake("keepdim",
                        "The last axis is kept with size 1. The shape should be (...), without it.",
                        "What shape has one number for each row?"),
        "softmax": Mistake("softmax-again",
                           "A softmax is taken of the weights first; they are a softmax already.",
                           "What do the weights sum to?"),
    },
    "axis": {
        "before": Mistake("axis-queries",
                          "It sums along the axis before the last, which counts queries.",
                          "Which axis holds the keys?"),
        "first": Mistake("axis-0",
                         "It sums along axis 0, which is the last axis only where there is one.",
                         "Which axis holds the keys when there are several rows?"),
        "all": Mistake("sum-over-everything",
                       "It sums over all rows together: one number for everything.",
                       "How many numbers should a (2, 5) tensor of weights give?"),
    },
}


def measure(answer):
    """What equal shares give."""
    found = []
    for m in (2, 4):
        out = answer(torch.full((m,), 1 / m, dtype=torch.float64))
        if off(out, m):
            yield f"For {m} equal weights it gives {float(out):.4g}; wanted is {m}."
        found.append(off(out, m))
    if not any(found):
        uneven = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
        if off(answer(uneven), keys_read(uneven)):
            yield "For equal weights it is right; for unequal ones it is not."
        else:
            yield ("For 2 and 4 equal weights it is right, and for 0.5, 0.3, 0.2 too. What of weights that are very "
                   "small, or exactly 0?")


EXERCISE = Exercise(
    id="1.3", name="keys_read", chapter="01_soft_lookup", stars=2, minutes=10, after="section 4", core=True,
    signature="keys_read(weights)",
    statement="Write `keys_read(weights)`: weights is `(..., m)`, each row sums to 1. Return for each row, shape "
              "`(...)`, from how many equal shares the mixture might as well come: e to the power of its entropy. A "
              "weight of 0 must do no harm.",
    stub="def keys_read(weights):\n    ...\n",
    reference=keys_read,
    cases=[Case((numbers(78, 3).softmax(-1),)), Case((numbers(79, 2, 5).softmax(-1),)),
           Case((torch.tensor([[0.5, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64),
                 )),
           Case((numbers(80, 3, 2, 6).softmax(-1),)), Case((numbers(81, 4, 4).softmax(-1),)),
           Case((torch.full((300,), 1 / 300, dtype=torch.float64),)),
           Case((torch.tensor([[0.998, 0.001, 0.001], [0.99998, 0.00001, 0.00001]], dtype=torch.float64),))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("The entropy is -sum w log w. Try it on paper for four weights of 1/4: which power brings back the 4?",
           "A term with w = 0 counts as 0, but 0 * log(0) is NaN. torch.special.entr knows that; so does a clamp of w "
           "inside the logarithm.",
           "return torch.special.entr(weights).sum(-1).exp()"),
    note="m equal weights give m, one weight of 1 gives 1, and everything else lies between. It is the perplexity of "
         "the weights.",
)
