"""1.3: from how many keys a mixture comes."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import apart, numbers, off
from mha.exercises.engine.report import Mistake

WEIGHTS_LEFT_OUT = Mistake("weights-left-out",
    "The logarithms are summed without their weights.",
    "The entropy is the mean of -log w. Mean with which weights?")

PROGRAM = Program("""\
def keys_read(weights):
    logs = <logs>
    terms = <terms>
    entropy = <entropy>
    return <count>
""", {
    "logs": Blank("weights.clamp(min=1e-30).log()", offered=3, wrong={
        "weights.log()": Mistake("zero-times-log-zero",
            "Where a weight is exactly 0 it gives NaN, as 0 times the logarithm of 0 does in floats. In the entropy "
            "such a term counts as 0.",
            "What is log(0), and 0 times it?"),
        "weights.clamp(min=1e-30).log2()": Mistake("two-bases",
            "The entropy is taken in bits (base 2), and then e is raised to it. One base must serve both steps.",
            "What does it give for m equal weights?"),
        "weights.clamp(min=0.001).log()": Mistake("small-weights-lifted",
            "Weights below 0.001 are lifted to 0.001 before the logarithm. A small weight has a logarithm of its "
            "own; only 0 has none.",
            "What is -log w of a weight of 0.00001?"),
    }),
    "terms": Blank("weights * logs", offered=2, wrong={
        "logs": WEIGHTS_LEFT_OUT,
        "weights": Mistake("logarithm-left-out",
            "The weights are summed without their logarithms: each row gives 1.",
            "What is the entropy of a row, as a sum?"),
    }),
    "entropy": Blank("-terms.sum(-1)", offered=4, wrong={
        "terms.sum(-1)": Mistake("sign",
            "The minus sign is lost: it returns one over the number.",
            "Can fewer than one key be read?"),
        "-terms.mean(-1)": Mistake("mean-for-sum",
            "It takes the mean over the keys where the entropy is a sum.",
            "What should four equal weights give?"),
        "-terms.sum()": Mistake("sum-over-everything",
            "It sums over all rows together: one number for everything.",
            "How many numbers should a (2, 5) tensor of weights give?"),
        "-terms.sum(-1, keepdim=True)": Mistake("keepdim",
            "The last axis is kept with size 1. The shape should be (...), without it.",
            "What shape has one number for each row?"),
        "-terms.sum(-2)": Mistake("axis-queries",
            "It sums along the axis before the last, which counts queries.",
            "Which axis holds the keys?"),
        "-terms.sum(0)": Mistake("axis-0",
            "It sums along axis 0, which is the last axis only where there is one.",
            "Which axis holds the keys when there are several rows?"),
    }),
    "count": Blank("entropy.exp()", offered=1, wrong={
        "entropy": Mistake("entropy",
            "It returns the entropy itself. The number of equal shares with that entropy is e to this power.",
            "What is the entropy of m equal weights?"),
        "1 / weights.square().sum(-1)": Mistake("inverse-squares",
            "It returns one over the sum of squares. That is another count of the keys; it agrees only where all "
            "weights that are not 0 are equal.",
            "Which count comes from the entropy?"),
    }),
}, together={
    "logs terms": {("weights.log()", "logs"): WEIGHTS_LEFT_OUT},
    "logs count": {
        ("weights.clamp(min=1e-30).log2()", "entropy"): Mistake("entropy-in-bits",
            "It returns the entropy in bits (logarithm to base 2).",
            "What is the entropy of m equal weights, and how do you get m back?"),
    },
})


def measure(answer):
    """What equal shares give."""
    found = []
    for m in (2, 4):
        out = answer(torch.full((m,), 1 / m, dtype=torch.float64))
        if off(out, m):
            yield f"For {m} equal weights it gives {float(out):.4g}; it should be {m}."
        found.append(off(out, m))
    if not any(found):
        uneven = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
        out, wanted = answer(uneven), PROGRAM.reference(uneven)
        if off(out, wanted):
            gives, right = apart(out, wanted)
            yield f"For 2 and 4 equal weights it is right. For 0.5, 0.3, 0.2 it gives {gives}; it should be {right}."
        else:
            yield ("For 2 and 4 equal weights it is right, and for 0.5, 0.3, 0.2 too. What else can weights be: "
                   "several rows, very small, exactly 0?")


EXERCISE = Exercise(
    id="1.3", name="keys_read", chapter="01_soft_lookup_lab", stars=2, minutes=10, after="section 3",
    signature="keys_read(weights)",
    statement="Write `keys_read(weights)`: weights is `(..., m)`, each row sums to 1. Return for each row, shape "
              "`(...)`, its effective number of keys, as many as would be as undecided with equal weights: e to the "
              "power of its entropy. A weight of 0 must do no harm.",
    stub="# keys_read(torch.tensor([0.5, 0.5, 0.])) -> 2\n"
         "def keys_read(weights):\n    ...\n",
    program=PROGRAM,
    trained=(),
    cases=[Case((numbers(78, 3).softmax(-1),)), Case((numbers(79, 2, 5).softmax(-1),)),
           Case((torch.tensor([[0.5, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4]], dtype=torch.float64),
                 )),
           Case((numbers(80, 3, 2, 6).softmax(-1),)), Case((numbers(81, 4, 4).softmax(-1),)),
           Case((torch.full((300,), 1 / 300, dtype=torch.float64),)),
           Case((torch.tensor([[0.998, 0.001, 0.001], [0.99998, 0.00001, 0.00001]], dtype=torch.float64),)),
           Case((numbers(82, 1, 1, 3).softmax(-1),)), Case((torch.ones(2, 1, dtype=torch.float64),))],
    sized=lambda n, m: Case((numbers(1, n, m).softmax(-1),)),
    measure=measure,
    hints=("The entropy is -sum w log w. Try it on paper for four weights of 1/4: which power brings back the 4?",
           "A term with w = 0 counts as 0, but 0 * log(0) is NaN. torch.special.entr knows that; so does a clamp of w "
           "inside the logarithm.",
           "return torch.special.entr(weights).sum(-1).exp()"),
    note="m equal weights give m, one weight of 1 gives 1, and everything else lies between. It is the perplexity of "
         "the weights.",
)
