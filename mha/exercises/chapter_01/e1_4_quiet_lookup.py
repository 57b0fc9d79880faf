"""1.4: a lookup that may also return nothing."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

NO_NOTHING = Mistake("no-nothing",
    "The weights of the m keys sum to 1: the key that stands for nothing does not take part, or takes part with weight "
    "0, or a later division undoes it.",
    "What does e^0 add to the sum below the fraction line?")
M_TIMES = Mistake("one-for-each-key",
    "The sum below counts 1 for each key: m additional keys, where there is one.",
    "How often does e^0 stand in the sum?")

PROGRAM = Program("""\
def quiet_lookup(scores, values):
    nothing = <nothing>
    both = <both>
    weights = <weights>
    real = <real>
    return real @ values
""", {
    "nothing": Blank("torch.zeros_like(scores[..., :1])", offered=3, wrong={
        "torch.ones_like(scores[..., :1])": Mistake("score-one",
            "The additional key has the score 1 here, so its power is e. It should have the score 0.",
            "What is e to the power 0?"),
        "torch.zeros_like(scores)": None,                                       # its shape is noticed by what follows
        "torch.full_like(scores[..., :1], -math.inf)": NO_NOTHING,
    }),
    "both": Blank("torch.cat([scores, nothing], -1)", offered=2, wrong={
        "torch.cat([nothing, scores], -1)": Mistake("cuts-a-real-key",
            "Each value gets the weight of the key before it, as happens when the additional key stands in front and "
            "the last real key is cut off.",
            "Which of the m + 1 weights belongs to the additional key?"),
        "scores": None,
        "torch.cat([scores - scores.amax(-1, keepdim=True), nothing], -1)": Mistake("shift-forgets-the-one",
            "The largest score is subtracted from the scores, but not from the 0 of the additional key: its power "
            "is still 1, where it should be e^(0 - largest).",
            "A shift must move all scores of a row. Which one stayed behind?"),
    }),
    "weights": Blank("both.softmax(-1)", offered=3, wrong={
        "both.softmax(-2)": Mistake("axis-queries",
            "The softmax runs over the queries, not over the keys; the additional key, in a column of its own, "
            "takes no weight from the others.",
            "Which axis of the scores holds the keys?"),
        "both.exp()": Mistake("no-normalisation",
            "The powers are not divided by anything.",
            "What should the m + 1 weights sum to?"),
        "both.sigmoid()": Mistake("sigmoid",
            "Each key gets the sigmoid of its score, as if it were the only key. All keys, and the additional one, "
            "should share one softmax.",
            "What should the m + 1 weights sum to?"),
        "both.exp() / (1 + scores.exp().sum())": Mistake("sum-over-everything",
            "The sum runs over all queries at once. Each row has a sum of its own.",
            "Which weights should sum to 1 with the additional key's?"),
    }),
    "real": Blank("weights[..., :-1]", offered=2, wrong={
        "weights[..., 1:]": Mistake("cuts-a-real-key",
            "Each value gets the weight of the key after it, as happens when the additional key stands at the end and "
            "the first real key is cut off.",
            "Which of the m + 1 weights belongs to the additional key?"),
        "weights": None,
        "weights[..., :-1] + weights[..., -1:] / scores.shape[-1]": Mistake("additional-value-not-zero",
            "The additional key brings the mean of the values, as if that were its own. Its value is the zero vector.",
            "What should come out when all scores are far below 0?"),
        "scores.softmax(-1) * scores.amax(-1, keepdim=True).sigmoid()": Mistake("largest-score-only",
            "How much goes to nothing is decided by the largest score alone. All m keys compete with the score 0.",
            "Do two keys with the score 5 leave as much to nothing as one?"),
    }),
}, together={
    "both real": {
        ("scores", "weights"): NO_NOTHING,
    },
    "nothing real": {
        ("torch.zeros_like(scores)", "weights[..., :scores.shape[-1]]"): M_TIMES,
    },
})


def measure(answer):
    """How much of each value comes home, read with unit vectors as values; and whether the weights are right and the
    additional key brings a value.
    """
    if off(answer(numbers(88, 2, 3), torch.zeros(3, 2, dtype=torch.float64)), 0):
        yield "Where all values are zero its output is not. Zero values, mixed with any weights, give zero."
        return
    scores, eye = numbers(87, 4, 3), torch.eye(3, dtype=torch.float64)
    nothing = 1 - PROGRAM.reference(scores, eye).sum(-1, keepdim=True)                           # its weight, (4, 1)
    brought = (answer(scores, eye) - PROGRAM.reference(scores, eye)) / nothing
    if not off(brought, brought[:1]) and off(brought, 0):
        yield ("Its numbers for three keys are those of the right weights and an additional key that brings "
               f"{listed(brought[0])} of the three values. It should bring nothing: its value is the zero vector.")
        return
    for score, words in ((-20.0, ", almost nothing"), (0.0, ", one share in four")):
        alike = torch.full((1, 3), score, dtype=torch.float64)
        out, wanted = answer(alike, eye), PROGRAM.reference(alike, eye)
        if off(out, wanted):
            yield (f"When all three scores are {score:g}, {listed(out)} of the three values comes home; it should be "
                   f"{wanted[0, 0]:.2g} of each{words}.")


EXERCISE = Exercise(
    id="1.4", name="quiet_lookup", chapter="01_soft_lookup_lab", stars=3, minutes=15, after="section 4",
    signature="quiet_lookup(scores, values)",
    statement="A soft lookup never fails: it mixes even where nothing fits. Give it a way to stay quiet. Write "
              "`quiet_lookup(scores, values)`: scores is `(..., n, m)`, values is `(..., m, d_v)`. The softmax runs "
              "over the m keys and one more, whose score is always 0 and whose value is the zero vector. Return the "
              "mixtures, `(..., n, d_v)`. Scores in the thousands must do no harm.",
    stub="# quiet_lookup(torch.zeros(1, 1), torch.tensor([[4.]])) -> 2\n"
         "def quiet_lookup(scores, values):\n    ...\n",
    program=PROGRAM,
    trained=(),
    cases=[Case((numbers(91, 2, 3), numbers(92, 3, 4))), Case((2 * numbers(93, 4, 2) - 2, numbers(94, 2, 3))),
           Case((numbers(95, 2, 3, 5), numbers(96, 2, 5, 2))),
           Case((3 * numbers(97, 2, 2, 4, 4), numbers(98, 2, 2, 4, 4))),
           Case((numbers(89, 1, 1, 3).round(), numbers(90, 1, 3, 2)))],
    sized=lambda n, m, d_v: Case((numbers(1, n, m), numbers(2, m, d_v))),
    measure=measure,
    safe="in each row the largest of the m scores and of the 0 that joins them should be subtracted from all m + 1 (a "
         "softmax over all of them does that)",
    large=(Case((2000 * numbers(99, 3, 4), numbers(100, 4, 2))),
                                                            Case((numbers(99, 3, 4) - 3000, numbers(100, 4, 2))),
                                                            Case((numbers(99, 3, 4) + 3000, numbers(100, 4, 2))),
           Case((numbers(99, 3, 4) + torch.tensor([[3000], [0], [-3000]]), numbers(100, 4, 2)))),
    hints=("Append a column of zeros to the scores. Which weights do you need afterwards?",
           "After the softmax over m + 1 columns, the last column would meet the zero vector. So leave it out, and "
           "mix the values with the others.",
           "z = scores.new_zeros(*scores.shape[:-1], 1)\n"
           "w = torch.cat([scores, z], -1).softmax(-1)\n"
           "return w[..., :-1] @ values"),
    note="The weights of the real keys now sum to less than 1, and to almost nothing where nothing fits. torch's "
         "MultiheadAttention offers such a key as add_zero_attn.",
)
