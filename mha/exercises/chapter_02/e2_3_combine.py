"""2.3: two halves of the keys, combined."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

LOGARITHM = Mistake("logarithm-as-weight",
    "It weighs the outputs with l1 and l2 themselves. They are logarithms of the sums; the sums are e to these powers.",
    "What is below the fraction line of a softmax, in terms of l?")
PRODUCT = Mistake("product-for-sum",
    "It divides by the product of the two powers, which is e^(l1 + l2) where nothing was subtracted. Below the "
    "fraction line belongs their sum.",
    "What is e^(a + b)?")
NOT_DIVIDED = Mistake("no-normalisation",
    "A number is subtracted before the powers, and then the division by the sum of the two powers is missing.",
    "What should the two shares sum to?")

PROGRAM = Program("""\
def combine(o1, l1, o2, l2):
    l1, l2 = <axis>
    top = <top>
    a, b = <powers>
    return <mix>
""", {
    "axis": Blank("l1[..., None], l2[..., None]", offered=1, wrong={
        "l1, l2": Mistake("axis-missing",
            "l has no axis for the coordinates: where it can be laid on the outputs at all, it is laid on the "
            "columns, not on the rows.",
            "Which shape must a share have, so that each row of o1 gets one?"),
    }),
    "top": Blank("torch.maximum(l1, l2)", offered=3, wrong={
        "torch.maximum(l1.max(), l2.max())": None,                   # these three are right but for large numbers
        "l1": None,
        "0": None,
    }),
    "powers": Blank("(l1 - top).exp(), (l2 - top).exp()", offered=3, wrong={
        "(l2 - top).exp(), (l1 - top).exp()": Mistake("shares-exchanged",
            "The shares are exchanged: the first output gets the weight of the second.",
            "Which half should count more, the one with the larger l?"),
        "2 ** (l1 - top), 2 ** (l2 - top)": Mistake("base-2",
            "It raises 2, where the logarithms are natural: it should raise e.",
            "Which base has logsumexp?"),
        "l1, l2": LOGARITHM,
    }),
    "mix": Blank("(a * o1 + b * o2) / (a + b)", offered=4, wrong={
        "a * o1 + b * o2": NOT_DIVIDED,
        "(a * o1 + b * o2) / (a * b)": PRODUCT,
        "(o1 + o2) / 2": Mistake("plain-mean",
            "It takes the plain mean of the two outputs. The half with the larger sum of powers should count more.",
            "What did each half divide by?"),
        "a / (a + b) * o1": Mistake("second-half-forgotten",
            "The second half is not added; the share of the first is right.",
            "What should the two shares sum to?"),
        "l1.softmax(-2) * o1 + l2.softmax(-2) * o2": Mistake("softmax-axis-queries",
            "The shares are a softmax over the queries; they should be over the two halves.",
            "Which two numbers should sum to 1?"),
    }),
}, together={
    "powers mix": {
        ("l1, l2", "a * o1 + b * o2"): Mistake("logarithm-as-weight",
            "It multiplies the outputs by l1 and l2 themselves and adds. They are logarithms, and the two shares "
            "should sum to 1.",
            "What is below the fraction line of a softmax, in terms of l?"),
    },
    "top mix": {
        ("0", "a * o1 + b * o2"): Mistake("no-normalisation",
            "Each output is multiplied by its sum of powers, which undoes its division. The division by the sum of "
            "both is missing.",
            "Which sum belongs below the fraction line for all keys?"),
        **{(top, "a * o1 + b * o2"): NOT_DIVIDED for top in ("l1", "torch.maximum(l1.max(), l2.max())")},
        **{(top, "(a * o1 + b * o2) / (a * b)"): PRODUCT for top in ("0", "l1", "torch.maximum(l1.max(), l2.max())")},
    },
})


def measure(answer):
    """The share of the first half at a few differences."""
    one, zero = torch.ones(4, 9, dtype=torch.float64), torch.zeros(4, 9, dtype=torch.float64)
    l1, l2 = torch.tensor([[2.0, 3.0, 2.0, 9.0], [2.0, 2.0, 3.0, 2.0]], dtype=torch.float64)
    shares = answer(one, l1, zero, l2)[:, 0]
    if off(shares, (l1 - l2).sigmoid()):
        yield (f"With outputs 1 and 0 it gives {listed(shares)} for l1, l2 = 2, 2; 3, 2; 2, 3; 9, 2. It should be the "
               f"share of the first half, {listed((l1 - l2).sigmoid())}.")
    sums = answer(one, l1, one, l2)[:, 0]
    if off(sums, 1):
        yield f"Where both outputs are 1 it gives {listed(sums)}; it should be 1 each time."


EXERCISE = Exercise(
    id="2.3", name="combine", chapter="02_one_head_lab", stars=3, minutes=20, after="chapter 2",
    signature="combine(o1, l1, o2, l2)",
    statement="The keys do not fit into memory, so attention was computed on two halves of them. Each half gives an "
              "output o, `(..., n, d_v)`, whose weights sum to 1 over that half, and l, `(..., n)`, the logarithm of "
              "the sum of e^score over that half (`torch.logsumexp`). Write `combine(o1, l1, o2, l2)`: the output, "
              "`(..., n, d_v)`, of attention to all the keys. l may be in the thousands, above zero and below, and "
              "far apart.",
    stub="# one = torch.ones(1, 1)\n# combine(one, one[0] * 0., 5 * one, one[0] * 0.) -> 3\n"
         "def combine(o1, l1, o2, l2):\n    ...\n",
    program=PROGRAM,
    trained=(),
    cases=[Case((numbers(131, 2, 3), numbers(132, 2), numbers(133, 2, 3), numbers(134, 2))),
           Case((numbers(135, 4, 2), 2 * numbers(136, 4) + 1, numbers(137, 4, 2), numbers(138, 4))),
           Case((numbers(139, 2, 3, 5), 2 * numbers(140, 2, 3), numbers(141, 2, 3, 5), numbers(142, 2, 3))),
           Case((numbers(143, 3, 3), numbers(144, 3) - 4, numbers(145, 3, 3), numbers(146, 3))),
           Case((numbers(151, 1, 4), numbers(152, 1).round() * 0, numbers(153, 1, 4), numbers(154, 1)))],
    sized=lambda n, d_v: Case((numbers(1, n, d_v), numbers(2, n), numbers(3, n, d_v), numbers(4, n))),
    measure=measure,
    safe="for each query the larger of l1 and l2 should be subtracted from both (the softmax of the two does that)",
    large=(Case((numbers(147, 3, 2), 3000 + 2 * numbers(148, 3), numbers(149, 3, 2), 3000 + 2 * numbers(150, 3))),
           Case((numbers(147, 3, 2), 2 * numbers(148, 3) - 3000, numbers(149, 3, 2), 2 * numbers(150, 3) - 3000)),
           Case((numbers(147, 3, 2), torch.tensor([3000.0, 0.0, -3000.0], dtype=torch.float64), numbers(149, 3, 2),
                 torch.tensor([2999.0, 1.0, -3001.0], dtype=torch.float64))),
           Case((numbers(147, 3, 2), torch.tensor([4000.0, -4000.0, 0.0], dtype=torch.float64), numbers(149, 3, 2),
                 torch.tensor([-4000.0, 4000.0, 5000.0], dtype=torch.float64)))),
    hints=("Undo each division: what is o1 times the sum of its powers? Then both halves can be added.",
           "The whole is (e^l1 o1 + e^l2 o2) / (e^l1 + e^l2). Only l1 - l2 matters, so subtract the larger "
           "first. Mind the axis that l lacks.",
           "w = torch.stack([l1, l2]).softmax(0)[..., None]\n"
           "return w[0] * o1 + w[1] * o2"),
    note="So attention can be computed piece by piece, with nothing kept but an output and one number a query. "
         "FlashAttention rests on this.",
)
