"""1.1: the softmax, written so that large scores do no harm."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off, slope
from mha.exercises.engine.report import Mistake

NO_EXPONENTIAL = Mistake("no-exponential",
    "There is no exponential: the scores, less their largest, are divided by their own sum.",
    "What makes a score positive?")
DIVIDED = Mistake("divides-by-largest-score",
    "The scores are divided by the largest one. A shift changes no share, a factor does: subtract it.",
    "What becomes of a difference of 2 when all scores are divided by 10?")

PROGRAM = Program("""\
def softmax(s):
    <first>
    top = <top>
    powers = <powers>
    sums = <sums>
    return <shares>
""", {
    "first": Blank("", wrong={
        "s = -s": Mistake("negative-scores",
            "The scores have the wrong sign: the smallest gets most.",
            "Which score should get most?"),
    }),
    "top": Blank("s.amax(-1, keepdim=True)", offered=2, wrong={
        "s.max()": None,                                                        # right but for large scores
        "s.amax(-1)": Mistake("keepdim",
            "The largest score of each row has lost its axis: where it can be laid on the scores at all, it is "
            "laid on the columns.",
            "Which shape has s.amax(-1), and which has s.amax(-1, keepdim=True)?"),
    }),
    "powers": Blank("(s - top).exp()", offered=4, wrong={
        "s.exp()": None,                                                        # the same
        "2 ** (s - top)": Mistake("base-2", "It takes powers of 2, not of e.", "Which number does exp raise?"),
        "s - top": NO_EXPONENTIAL,
        "(s / top).exp()": DIVIDED,
        "s - s.amin(-1, keepdim=True)": Mistake("no-exponential",
            "There is no exponential: the scores, less their smallest, are divided by their own sum.",
            "What should the ratio of two weights be when one score is larger by 1?"),
    }),
    "sums": Blank("powers.sum(-1, keepdim=True)", offered=3, wrong={
        "powers.sum(-1)": Mistake("keepdim",
            "The sum of each row has lost its axis: where it can be laid on the powers at all, it is laid on the "
            "columns.",
            "Which shape has powers.sum(-1), and which has powers.sum(-1, keepdim=True)?"),
        "powers.sum()": Mistake("softmax-over-everything",
            "It makes all numbers together sum to 1. Each row should do so by itself: sum(-1, keepdim=True).",
            "What should a row sum to?"),
        "powers.sum(-2, keepdim=True)": Mistake("softmax-axis-queries",
            "It runs over the axis before the last: the columns sum to 1, and the rows do not.",
            "Which numbers should sum to 1?"),
        "powers.mean(-1, keepdim=True)": Mistake("divides-by-mean",
            "The powers are divided by their mean, not by their sum.",
            "What should a row sum to?"),
        "1 + powers.sum(-1, keepdim=True)": Mistake("one-too-many",
            "1 is added to the sum below the fraction line.",
            "What should a row sum to?"),
    }),
    "shares": Blank("powers / sums", offered=2, wrong={
        "powers": Mistake("divides-by-largest",
            "The largest is subtracted, which divides by the largest power. Dividing by the sum is missing.",
            "What should a row sum to?"),
        "(powers / sums).log()": Mistake("log-softmax",
            "It returns the logarithm of the weights.",
            "Can a share be negative?"),
        "s.sigmoid()": Mistake("sigmoid",
            "It takes the sigmoid of each score: the rows do not sum to 1.",
            "What should a row sum to?"),
    }),
}, together={
    "powers shares": {
        ("s.exp()", "powers"): Mistake("no-normalisation",
            "The powers are not divided by their sum.",
            "What should a row sum to?"),
        ("s - top", "powers"): Mistake("no-exponential",
            "It only subtracts the largest score: no exponential, no sum.",
            "What makes a score positive?"),
    },
    "top powers": {("s.max()", "s - top"): NO_EXPONENTIAL, ("s.max()", "(s / top).exp()"): DIVIDED},
    "top sums": {
        ("s.amax(-2, keepdim=True)", "powers.sum(-2, keepdim=True)"): Mistake("softmax-axis-queries",
            "It runs over the axis before the last: the columns sum to 1, and the rows do not.",
            "Which numbers should sum to 1?"),
        ("s.amax(0, keepdim=True)", "powers.sum(0, keepdim=True)"): Mistake("softmax-axis-0",
            "It runs over axis 0, which is the last axis only where there is a single one.",
            "Which numbers should sum to 1 when there are several rows?"),
        ("s.amax(1, keepdim=True)", "powers.sum(1, keepdim=True)"): Mistake("softmax-axis-1",
            "It runs over axis 1, which is the last axis only where there are two.",
            "Which numbers should sum to 1 when there are three axes?"),
        ("s.max()", "powers.sum()"): Mistake("softmax-over-everything",
            "It makes all numbers together sum to 1. Each row should do so by itself: sum(-1, keepdim=True).",
            "What should a row sum to?"),
    },
})


def measure(answer):
    """What its rows and columns sum to."""
    s = numbers(61, 2, 3)
    out = answer(s)
    if isinstance(out, torch.Tensor) and out.shape == (2, 3):
        if off(out.sum(-1), 1):
            yield (f"For 2 rows of 3 scores, the rows sum to {listed(out.sum(-1))} and the columns to "
                   f"{listed(out.sum(0))}; each row should sum to 1.")
        if out.min() < -1e-9:
            yield f"The smallest weight is {out.min():.3g}; no weight should be negative."
        elif not off(out.sum(-1), 1) and out.min() > 0:
            factor = slope(out.log(), s)
            if factor is None:
                yield ("For 2 rows of 3 scores its rows sum to 1, but the ratio of two weights is not e to the "
                       "difference of their scores, nor to one multiple of it in both rows.")
            elif abs(factor - 1) > 1e-6:
                yield (f"For 2 rows of 3 scores the ratio of two weights is e to {factor:.4g} times the difference of "
                       "their scores.")


EXERCISE = Exercise(
    id="1.1", name="softmax", chapter="01_soft_lookup", stars=1, core=True, minutes=10, after="section 3",
    signature="softmax(s)",
    statement="Write `softmax(s)` without torch's softmax and log_softmax: s is `(..., m)`. Return weights of the same "
              "shape, positive (or 0, where a float has nothing smaller), each row (the last axis) summing to 1. "
              "Scores in the thousands must do no harm.",
    stub="# softmax(torch.tensor([0., 1.])) -> 0.2689 0.7311\n"
         "def softmax(s):\n    ...\n",
    program=PROGRAM,
    without=dict.fromkeys(("softmax", "log_softmax", "special_softmax", "special_log_softmax", "softmin"),
                          Mistake("torchs-softmax",
        "It calls a softmax of torch, and the statement asks for one that is written without.",
        "What does a softmax do with one row, step by step?")),
    trained=(),
    cases=[Case((numbers(62, 3),)), Case((numbers(63, 2, 5),)), Case((numbers(64, 3, 2, 4),)),
           Case((numbers(65, 4, 4),)), Case((3 * numbers(66, 2, 3, 5, 7) - 20,)),
           Case((numbers(68, 1, 5).round(),)), Case((numbers(69, 2, 40),)), Case((numbers(70, 1, 1, 3),))],
    sized=lambda n, m: Case((numbers(1, n, m),)),
    measure=measure, large=(Case((2000 * numbers(67, 3, 9),)),
                                                            Case((2 * numbers(67, 3, 5) - 3000,))),
    hints=("Two steps: a power of e for each score, then divide by the sum. Which axis does the sum run over?",
           "A shift of all scores of a row changes nothing. Subtract the row's largest first; amax(-1, keepdim=True) "
           "keeps the axis, so that shapes fit.",
           "e = (s - s.amax(-1, keepdim=True)).exp()\n"
           "return e / e.sum(-1, keepdim=True)"),
    note="Only differences count, so the largest may be subtracted. Every good library does that inside its softmax.",
)
