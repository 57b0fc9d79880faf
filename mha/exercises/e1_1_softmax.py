"""1.1: the softmax, written so that large scores do no harm."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import listed, numbers, off
from mha.exercises.report import Mistake


def softmax(s):
    powers = (s - s.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def model(s, axis="last", how="right", sign="plus"):
    """A softmax with switches: each can be set wrong."""
    if sign == "minus":
        s = -s
    at = {"last": -1, "before": max(-2, -s.ndim), "first": 0, "second": min(1, s.ndim - 1)}.get(axis, -1)
    flat = axis == "all"
    x = s.flatten() if flat else s
    out = {
        "right": lambda: x.softmax(at),
        "exp": lambda: x.exp(),
        "sum": lambda: x / x.sum(at, keepdim=True),
        "log": lambda: x.log_softmax(at),
        "twice": lambda: x.softmax(at).softmax(at),
        "sigmoid": lambda: x.sigmoid(),
        "base-2": lambda: (2.0 ** x) / (2.0 ** x).sum(at, keepdim=True),
        "mean": lambda: x.exp() / x.exp().mean(at, keepdim=True),
        "largest": lambda: (x - x.amax(at, keepdim=True)).exp(),
        "length": lambda: x.exp() / x.exp().norm(dim=at, keepdim=True),
        "hard": lambda: torch.zeros_like(x).scatter(at, x.argmax(at, keepdim=True), 1.0),
        "root": lambda: (x / x.shape[at] ** 0.5).softmax(at),
        "shifted-only-above": lambda: (x - x.amax(at, keepdim=True)).exp() / x.exp().sum(at, keepdim=True),
        "unnormalised": lambda: x - x.amax(at, keepdim=True),
        "squares": lambda: x.square() / x.square().sum(at, keepdim=True),
    }[how]()
    return out.view(s.shape) if flat else out


SWITCHES = {
    "axis": {
        "before": Mistake("softmax-axis-queries",
                          "It runs over the axis before the last: the columns sum to 1, and the rows do not.",
                          "Which numbers should sum to 1?"),
        "first": Mistake("softmax-axis-0",
                         "It runs over axis 0, which is the last axis only where there is a single one.",
                         "Which numbers should sum to 1 when there are several rows?"),
        "second": Mistake("softmax-axis-1",
                          "It runs over axis 1, which is the last axis only where there are two.",
                          "Which numbers should sum to 1 when there are three axes?"),
        "all": Mistake("softmax-over-everything",
                       "It makes all numbers together sum to 1. Each row should do so by itself: sum(-1, "
                       "keepdim=True).",
                       "What should a row sum to?"),
    },
    "how": {
        "exp": Mistake("no-normalisation", "The powers are not divided by their sum.", "What should a row sum to?"),
        "sum": Mistake("divides-by-sum",
                       "The scores are divided by their sum, without the exponential.", "What if a score is negative?"),
        "log": Mistake("log-softmax", "It returns the logarithm of the weights.", "Can a share be negative?"),
        "twice": Mistake("softmax-twice", "The softmax is taken twice.", ""),
        "sigmoid": Mistake("sigmoid",
                           "It takes the sigmoid of each score: the rows do not sum to 1.",
                           "What should a row sum to?"),
        "base-2": Mistake("base-2", "It takes powers of 2, not of e.", "Which number does exp raise?"),
        "mean": Mistake("divides-by-mean",
                        "The powers are divided by their mean, not by their sum.", "What should a row sum to?"),
        "largest": Mistake("divides-by-largest",
                           "The largest is subtracted, which divides by the largest power. Dividing by the sum is "
                           "missing.",
                           "What should a row sum to?"),
        "length": Mistake("divides-by-length",
                          "The powers are divided by their length (the root of the sum of squares), not by their "
                          "sum.",
                          "What should a row sum to?"),
        "hard": Mistake("argmax", "The best gets 1 and the others 0: a hard choice.", "What is soft about it?"),
        "root": Mistake("scaled",
                        "The scores are divided by a square root first. This exercise asks for the softmax alone.", ""),
        "shifted-only-above": Mistake("shift-on-one-side",
                                      "The largest is subtracted in the powers above the fraction line and not in the "
                                      "sum below it.",
                                      "Which powers should be summed?"),
        "unnormalised": Mistake("no-exponential",
                                "It only subtracts the largest score: no exponential, no sum.",
                                "What makes a score positive?"),
        "squares": Mistake("squares", "It uses squares where powers of e belong.",
                           "Which weight should a score of -3 get, beside 2?"),
    },
    "sign": {"minus": Mistake("negative-scores",
                              "The scores have the wrong sign: the smallest gets most.",
                              "Which score should get most?")},
}


def measure(answer):
    """What its rows and columns sum to."""
    out = answer(numbers(61, 2, 3))
    if isinstance(out, torch.Tensor) and out.shape == (2, 3):
        if off(out.sum(-1), 1):
            yield (f"For 2 rows of 3 scores, the rows sum to {listed(out.sum(-1))} and the columns to "
                   f"{listed(out.sum(0))}; each row should sum to 1.")
        if out.min() < -1e-9:
            yield f"The smallest weight is {out.min():.3g}; no weight should be negative."


EXERCISE = Exercise(
    id="1.1", name="softmax", chapter="01_soft_lookup", stars=1, core=True, minutes=10, after="section 3",
    signature="softmax(s)",
    statement="Write `softmax(s)`, without torch's own: s is `(..., m)`. Return weights of the same shape, positive, "
              "each row (the last axis) summing to 1. Scores in the thousands must do no harm.",
    stub="def softmax(s):\n    ...\n",
    reference=softmax,
    cases=[Case((numbers(62, 3),)), Case((numbers(63, 2, 5),)), Case((numbers(64, 3, 2, 4),)),
           Case((numbers(65, 4, 4),)), Case((3 * numbers(66, 2, 3, 5, 7) - 20,)),
           Case((numbers(68, 1, 5).round(),)), Case((numbers(69, 2, 40),))],
    model=model, switches=SWITCHES, measure=measure, large=(Case((2000 * numbers(67, 3, 9),)),
                                                            Case((2 * numbers(67, 3, 5) - 3000,))),
    hints=("Two strokes: a power of e for each score, then divide by the sum. Which axis does the sum run over?",
           "A shift of all scores of a row changes nothing. Subtract the row's largest first; amax(-1, keepdim=True) "
           "keeps the axis, so that shapes fit.",
           "e = (s - s.amax(-1, keepdim=True)).exp(); return e / e.sum(-1, keepdim=True)"),
    note="Only leads count, so the largest may be subtracted. Every good library does that inside its softmax.",
)
