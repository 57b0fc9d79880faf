"""2.3: two halves of the keys, combined."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import listed, numbers, off
from mha.exercises.report import Mistake


def combine(o1, l1, o2, l2):
    share = torch.sigmoid(l1 - l2)[..., None]
    return share * o1 + (1 - share) * o2


def model(o1, l1, o2, l2, how="right", base="e"):
    """Two partial attentions combined, with switches: each can be set wrong."""
    if base == "2":
        l1, l2 = l1 * 0.6931471805599453, l2 * 0.6931471805599453
    if base == "exchanged":
        l1, l2 = l2, l1
    a, b = l1[..., None], l2[..., None]
    axis = -2 if l1.ndim else -1
    return {
        "right": lambda: torch.sigmoid(a - b) * o1 + torch.sigmoid(b - a) * o2,
        "mean": lambda: (o1 + o2) / 2,
        "sum": lambda: o1 + o2,
        "linear": lambda: (a * o1 + b * o2) / (a + b),
        "unnormalised": lambda: a.exp() * o1 + b.exp() * o2,
        "raw": lambda: a * o1 + b * o2,
        "larger": lambda: torch.where(a > b, o1, o2),
        "queries": lambda: a.softmax(axis) * o1 + b.softmax(axis) * o2,
        "as-sums": lambda: (a.abs().log().exp() * o1 + b.abs().log().exp() * o2) / (a.abs() + b.abs()),
        "by-largest": lambda: ((a - torch.maximum(a, b)).exp() * o1 + (b - torch.maximum(a, b)).exp() * o2),
        "second-forgotten": lambda: torch.sigmoid(a - b) * o1,
        "exp-of-sum": lambda: (a.exp() * o1 + b.exp() * o2) / (a + b).exp(),
    }[how]()


SWITCHES = {
    "how": {
        "mean": Mistake("plain-mean",
                        "It takes the plain mean of the two outputs. The half with the larger scores should count "
                        "more.",
                        "What did each half divide by?"),
        "sum": Mistake("sum",
                       "It adds the outputs. Each of them is a mean already, so the sum counts twice.",
                       "What should it give when both outputs are equal?"),
        "linear": Mistake("logarithm-as-weight",
                          "It weighs the outputs with l1 and l2 themselves. They are logarithms of the sums; the sums "
                          "are e to these powers.",
                          "What is below the fraction line of a softmax, in terms of l?"),
        "raw": Mistake("logarithm-as-weight",
                       "It multiplies the outputs by l1 and l2 themselves and adds. They are logarithms, and the two "
                       "shares should sum to 1.",
                       "What is below the fraction line of a softmax, in terms of l?"),
        "unnormalised": Mistake("no-normalisation",
                                "Each output is multiplied by its sum of powers, which undoes its division. The "
                                "division by the sum of both is missing.",
                                "Which sum belongs below the fraction line for all keys?"),
        "larger": Mistake("takes-the-larger",
                          "It takes the output of the half with the larger sum and drops the other.",
                          "Do the keys of the other half have no weight at all?"),
        "queries": Mistake("softmax-axis-queries",
                           "The shares are a softmax over the queries; they should be over the two halves.",
                           "Which two numbers should sum to 1?"),
        "by-largest": Mistake("no-normalisation",
                              "The larger of l1 and l2 is subtracted before the power, and then the division by the "
                              "sum of the two powers is missing.",
                              "What should the two shares sum to?"),
        "second-forgotten": Mistake("second-half-forgotten",
                                    "The share of the first half is right. The second half is not added.",
                                    "What should the two shares sum to?"),
        "exp-of-sum": Mistake("product-for-sum",
                              "It divides by e^(l1 + l2), which is the product of the two sums. The sum for all keys "
                              "is e^l1 + e^l2.",
                              "What is e^(a + b)?"),
    },
    "base": {
        "2": Mistake("base-2",
                     "It raises 2, where the logarithms are natural: it should raise e.", "Which base has logsumexp?"),
        "exchanged": Mistake("shares-exchanged",
                             "The shares are exchanged: the first output gets the weight of the second.",
                             "Which half should count more, the one with the larger l?"),
    },
}


def measure(answer):
    """The share of the first half at a few leads."""
    one, zero = torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    leads = torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64)
    shares = [answer(one, leads[i], zero, leads[0]) for i in range(3)]
    if off(torch.cat([s.reshape(1) for s in shares]), leads.sigmoid()):
        yield ("With outputs 1 and 0 its result is the share of the first half: "
               f"{listed(torch.cat([s.reshape(1) for s in shares]))} for l1 - l2 = 0, 1, -1; wanted is "
               f"{listed(leads.sigmoid())}.")


EXERCISE = Exercise(
    id="2.3", name="combine", chapter="02_one_head", stars=3, minutes=20, after="section 1",
    signature="combine(o1, l1, o2, l2)",
    statement="The keys do not fit into memory, so attention was computed on two halves of them. Each half gives an "
              "output o, `(..., n, d_v)`, whose weights sum to 1 over that half, and l, `(..., n)`, the logarithm of "
              "the sum of e^score over that half (`torch.logsumexp`). Write `combine(o1, l1, o2, l2)`: the output, "
              "`(..., n, d_v)`, of attention to all the keys. l may be in the thousands.",
    stub="def combine(o1, l1, o2, l2):\n    ...\n",
    reference=combine,
    cases=[Case((numbers(131, 2, 3), numbers(132, 2), numbers(133, 2, 3), numbers(134, 2))),
           Case((numbers(135, 4, 2), 2 * numbers(136, 4) + 1, numbers(137, 4, 2), numbers(138, 4))),
           Case((numbers(139, 2, 3, 5), 2 * numbers(140, 2, 3), numbers(141, 2, 3, 5), numbers(142, 2, 3))),
           Case((numbers(143, 3, 3), numbers(144, 3) - 4, numbers(145, 3, 3), numbers(146, 3))),
           Case((numbers(151, 1, 4), numbers(152, 1).round() * 0, numbers(153, 1, 4), numbers(154, 1)))],
    model=model, switches=SWITCHES, measure=measure,
    large=(Case((numbers(147, 3, 2), 3000 + 2 * numbers(148, 3), numbers(149, 3, 2), 3000 + 2 * numbers(150, 3))),
           Case((numbers(147, 3, 2), 2 * numbers(148, 3) - 3000, numbers(149, 3, 2), 2 * numbers(150, 3) - 3000)),
           Case((numbers(147, 3, 2), torch.tensor([3000.0, 0.0, -3000.0], dtype=torch.float64), numbers(149, 3, 2),
                 torch.tensor([2999.0, 1.0, -3001.0], dtype=torch.float64)))),
    hints=("Undo each division: what is o1 times the sum of its powers? Then both halves can be added.",
           "The whole is (e^l1 o1 + e^l2 o2) / (e^l1 + e^l2). Only the lead l1 - l2 matters, so subtract the larger "
           "first. Mind the axis that l lacks.",
           "w = torch.stack([l1, l2]).softmax(0)[..., None]; return w[0] * o1 + w[1] * o2"),
    note="So attention can be computed piece by piece, with nothing kept but an output and one number a query. "
         "FlashAttention rests on this.",
)
