"""1.2: weights at another temperature, from the weights alone."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import apart, listed, numbers, off, slope, table
from mha.exercises.engine.report import Mistake

IGNORES_T = Mistake("ignores-T", "The weights come back as they were, whatever T is.",
                    "What should happen at T = 100? And what does a common factor do to shares?")

PROGRAM = Program("""\
def retemper(weights, T):
    scores = <scores>
    scores = <colder>
    return <shares>
""", {
    "scores": Blank("weights.log()", offered=3, wrong={
        "weights": Mistake("weights-as-scores",
            "The softmax is taken of the weights, as if they were the scores.",
            "Which scores have these weights? They are known up to a shift."),
        "(weights + 1e-9).log()": Mistake("zero-not-kept",
            "A weight of 0 does not stay 0, as happens when 1e-9 is added before the logarithm: the fourth root of "
            "1e-9 is 0.006.",
            "What is the logarithm of 0 in torch, and e to that power?"),
        "(weights / (1 - weights)).log()": Mistake("undoes-the-sigmoid",
            "It takes log(w / (1 - w)) for the scores. That undoes a sigmoid; of a softmax, log w alone is left.",
            "Which function made the weights?"),
        "weights.log() - weights[..., -1:].log()": Mistake("nan-beside-a-zero",
            "A row whose last weight is 0 comes back as NaN, as happens when the scores are taken relative to that of "
            "the last key: its score is minus infinity.",
            "What is the logarithm of 0 in torch, and what is that minus itself?"),
        "weights.log() - weights.log().mean(-1, keepdim=True)": Mistake("nan-beside-a-zero",
            "A row that holds a weight of 0 comes back as NaN, as happens when the mean of the logarithms, or the "
            "least of them, is subtracted: it is minus infinity.",
            "What is the logarithm of 0 in torch, and what is that minus itself?"),
        "weights.log().nan_to_num(neginf=0.0)": Mistake("zero-becomes-one",
            "For a weight of 0 the score is 0, which is that of a weight of 1.",
            "What is the logarithm of 0 in torch, and e to that power?"),
        "weights.log().clamp(min=-100)": Mistake("zero-not-kept",
            "A weight of 0 gets the score -100. At T = 10 that is -10, and the weight does not stay 0.",
            "What is the logarithm of 0 in torch, and e to that power?"),
    }),
    "colder": Blank("scores / T", offered=4, wrong={
        "scores * T": Mistake("power-T",
            "The logarithms are multiplied by T, where they should be divided by it.",
            "Should a high temperature widen or narrow the differences?"),
        "scores": IGNORES_T,
        "scores - T": IGNORES_T,
        "scores / T ** 0.5": Mistake("root-of-T",
            "The scores are divided by the square root of T. It should be T itself.",
            "By what does a temperature of 4 divide a difference of scores?"),
    }),
    "shares": Blank("scores.softmax(-1)", offered=4, wrong={
        "scores.exp()": Mistake("no-normalisation",
            "The powers are right, and they are not divided by their sum.",
            "What should a row sum to?"),
        "torch.nn.functional.normalize(scores.exp(), p=1, dim=-1)": Mistake("least-divisor",
            "A row whose powers sum to less than 1e-12 does not sum to 1, as happens with F.normalize, which "
            "never divides by less.",
            "How large is the tenth power of a weight of 1/40?"),
        "scores": Mistake("no-softmax",
            "It returns logarithms divided by T. They are scores; the softmax is missing.",
            "Can a weight be negative?"),
        "scores.softmax(-2)": Mistake("axis-queries",
            "It makes columns sum to 1, not rows.",
            "Which axis holds the keys?"),
        "scores.exp().softmax(-1)": Mistake("softmax-of-powers",
            "The powers are right, but then a softmax is taken of them. Dividing by the sum is enough.",
            "What is left to do with positive numbers that should sum to 1?"),
        "scores.softmax(0)": Mistake("axis-0",
            "It makes the numbers along axis 0 sum to 1, which is the last axis only where there is one.",
            "Which axis holds the keys when there are several rows?"),
        "weights ** T / (weights ** T).sum(-1, keepdim=True)": Mistake("power-T",
            "The weights are raised to the power T. A high temperature then sharpens.",
            "Which power flattens, a large one or a small one?"),
    }),
}, together={
    "scores shares": {
        ("weights", "scores"): Mistake("divides-weights",
            "The weights themselves are divided by T: a row then sums to 1/T.",
            "What is divided by T in a softmax, scores or weights?"),
        ("weights", "scores / scores.sum(-1, keepdim=True)"): IGNORES_T,
    },
})


def measure(answer):
    """How it treats odds."""
    weights = numbers(71, 2, 4).softmax(-1)
    out = answer(weights, 2.0)
    if off(out.sum(-1), 1):
        yield f"For two rows, at T = 2, the sums are {listed(out.sum(-1))}; each should be 1."
    factors = [slope(answer(weights, T).log(), weights.log()) for T in (2.0, 0.5)]
    if None not in factors and (abs(factors[0] - 0.5) > 1e-3 or abs(factors[1] - 2) > 1e-3):
        yield (f"The ratio of two weights is raised to the power {factors[0]:.4g} at T = 2 and {factors[1]:.4g} at T = "
               "0.5; they should be 0.5 and 2.")
    else:
        for weight in (1 / 5, 1 / 1000001):
            pair = torch.tensor([1 - weight, weight], dtype=torch.float64)
            out, ratio = answer(pair, 2.0), float(pair[0] / pair[1])
            if off(out, pair.sqrt() / pair.sqrt().sum()):
                yield (f"At T = 2 two weights of ratio {ratio:.4g} become {listed(out)}, of ratio "
                       f"{float(out[0] / out[1]):.6g}; it should be {ratio**0.5:.6g}.")
    zero = torch.tensor([0.0, 0.25, 0.75], dtype=torch.float64)
    out, wanted = answer(zero, 10.0), PROGRAM.reference(zero, 10.0)
    if off(out, wanted):
        gives, right = apart(out, wanted)
        yield (f"At T = 10 the weights {table(zero)} become {gives}, of sum {float(out.sum()):.3g}; it should be "
               f"{right}.")


EXERCISE = Exercise(
    id="1.2", name="retemper", chapter="01_soft_lookup_lab", stars=2, minutes=10, after="section 3",
    signature="retemper(weights, T)",
    statement="The scores are lost, only the weights are left: weights is `(..., m)`, a softmax at temperature 1 "
              "along the last axis. Write `retemper(weights, T)`, which returns the weights that the same scores "
              "would give at temperature T, a number from 0.1 to 10. A weight of 0 stays 0.",
    stub="# retemper(torch.tensor([0.2, 0.8]), 2.) -> 0.3333 0.6667\n"
         "def retemper(weights, T):\n    ...\n",
    program=PROGRAM,
    trained=(),
    cases=[Case((numbers(72, 3).softmax(-1), 2.0)), Case((numbers(73, 2, 5).softmax(-1), 0.5)),
           Case(((numbers(74, 3, 2, 4) - 9 * (numbers(75, 3, 2, 4) > 1.2)).softmax(-1), 3.0)),
           Case(((2 * numbers(76, 4, 4)).softmax(-1), 1.0)),
           Case((torch.tensor([[0.0, 0.25, 0.75]] * 2, dtype=torch.float64), 4.0)),
           Case((torch.tensor([[0.5, 0.0, 0.5, 0.0], [0.0, 0.3, 0.7, 0.0]], dtype=torch.float64), 10.0)),
           Case((torch.tensor([[1e-7, 1 - 1e-7], [1e-10, 1.0]], dtype=torch.float64), 10.0)),
           Case((numbers(77, 1, 1, 3).softmax(-1), 2.0)), Case(((numbers(78, 2, 40) / 9).softmax(-1), 0.1))],
    sized=lambda n, m: Case((numbers(1, n, m).softmax(-1), 2.0)),
    measure=measure,
    hints=("The scores are lost, but their differences are not: what is the logarithm of the ratio of two weights?",
           "The logarithms of the weights are scores that give these weights: they differ from the lost ones by a "
           "shift, which changes nothing. Divide them by T.",
           "return (weights.log() / T).softmax(-1)"),
    note="Weights keep every difference of scores, and only differences count. So the logarithms of the weights are as "
         "good as the scores. Language models change their temperature in the same way.",
)
