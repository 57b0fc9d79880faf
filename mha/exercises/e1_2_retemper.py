"""1.2: weights at another temperature, from the weights alone."""
from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import listed, numbers, off
from mha.exercises.report import Mistake


def retemper(weights, T):
    return (weights.log() / T).softmax(-1)


def model(weights, T, how="right", axis="last"):
    """Weights at temperature T with switches: each can be set wrong."""
    at = {"last": -1, "before": max(-2, -weights.ndim)}[axis]

    def shares(x):
        return x / x.sum(at, keepdim=True)

    return {
        "right": lambda: shares(weights ** (1 / T)),
        "divides": lambda: weights / T,
        "shares-divided": lambda: shares(weights / T),
        "softmax-again": lambda: (weights / T).softmax(at),
        "power": lambda: shares(weights ** T),
        "unnormalised": lambda: weights ** (1 / T),
        "softmax-of-powers": lambda: (weights ** (1 / T)).softmax(at),
        "log-times": lambda: (weights.log() * T).softmax(at),
        "ignored": lambda: weights,
        "log-divided": lambda: weights.log() / T,
        "sharpest": lambda: shares(weights - weights.amin(at, keepdim=True) / T),
    }[how]()


SWITCHES = {
    "how": {
        "divides": Mistake("divides-weights",
                           "The weights themselves are divided by T: a row then sums to 1/T.",
                           "What is divided by T in a softmax, scores or weights?"),
        "shares-divided": Mistake("ignores-T",
                                  "The weights are divided by T and made to sum to 1 again. That gives the weights "
                                  "back, whatever T is.",
                                  "What does a common factor do to shares?"),
        "softmax-again": Mistake("weights-as-scores",
                                 "The softmax is taken of the weights, as if they were the scores.",
                                 "Which scores have these weights? They are known up to a shift."),
        "power": Mistake("power-T",
                         "The weights are raised to the power T. A high temperature then sharpens.",
                         "Which power flattens, a large one or a small one?"),
        "unnormalised": Mistake("no-normalisation",
                                "The powers are right, and they are not divided by their sum.",
                                "What should a row sum to?"),
        "softmax-of-powers": Mistake("softmax-of-powers",
                                     "The powers are right, but then a softmax is taken of them. Dividing by the sum "
                                     "is enough.",
                                     "What is left to do with positive numbers that should sum to 1?"),
        "log-times": Mistake("power-T",
                             "The logarithms are multiplied by T, where they should be divided by it.",
                             "Should a high temperature widen or narrow the leads?"),
        "ignored": Mistake("ignores-T",
                           "The weights come back as they were: T is not used.", "What should happen at T = 100?"),
        "log-divided": Mistake("no-softmax",
                               "It returns logarithms divided by T. They are scores; the softmax is missing.",
                               "Can a weight be negative?"),
    },
    "axis": {"before": Mistake("axis-queries", "It makes columns sum to 1, not rows.", "Which axis holds the keys?")},
}


def measure(answer):
    """How it treats odds."""
    weights = numbers(71, 2, 4).softmax(-1)
    out = answer(weights, 2.0)
    if off(out.sum(-1), 1):
        yield f"At T = 2 its rows sum to {listed(out.sum(-1))}; each should sum to 1."
    yield (f"The odds of the first two keys are {weights[0, 0] / weights[0, 1]:.4g} before and "
           f"{out[0, 0] / out[0, 1]:.4g} after; wanted is the square root, "
           f"{(weights[0, 0] / weights[0, 1]).sqrt():.4g}.")


EXERCISE = Exercise(
    id="1.2", name="retemper", chapter="01_soft_lookup", stars=2, minutes=10, after="section 4",
    signature="retemper(weights, T)",
    statement="The scores are lost, only the weights are left: weights is `(..., m)`, a softmax at temperature 1 "
              "along the last axis. Write `retemper(weights, T)`, which returns the weights that the same scores "
              "would give at temperature T. A weight of 0 stays 0.",
    stub="def retemper(weights, T):\n    ...\n",
    reference=retemper,
    cases=[Case((numbers(72, 3).softmax(-1), 2.0)), Case((numbers(73, 2, 5).softmax(-1), 0.5)),
           Case(((numbers(74, 3, 2, 4) - 9 * (numbers(75, 3, 2, 4) > 1.2)).softmax(-1), 3.0)),
           Case(((2 * numbers(76, 4, 4)).softmax(-1), 1.0)),
           Case((numbers(77, 2, 3).softmax(-1) * 0 + numbers(77, 2, 3).new_tensor([0.0, 0.25, 0.75]), 4.0))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("The scores are lost, but the leads are not: what is the logarithm of the ratio of two weights?",
           "The logarithms of the weights are scores that give these weights: they differ from the lost ones by a "
           "shift, which changes nothing. Divide them by T.",
           "return (weights.log() / T).softmax(-1), or powers: p = weights ** (1 / T); return p / p.sum(-1, "
           "keepdim=True)"),
    note="Weights keep every lead, and only leads count. So the logarithms of the weights are as good as the scores. "
         "Language models change their temperature in the same way.",
)
