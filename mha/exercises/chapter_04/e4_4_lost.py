"""4.4: what a head cannot carry."""
import functools

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

NOT_ORTHONORMAL = Mistake("columns-not-orthonormal",
    "It subtracts x W_V W_V^T. That is the carried part only when the columns of W_V have length 1 and are at right "
    "angles to each other.",
    "What is W_V^T W_V here?")
ONE_STEP = Mistake("normalised-once",
    "Of the two steps, there and back, one uses W_V with columns of length 1 and the other W_V as it is.",
    "Which matrix must stand twice in a projection?")

PROGRAM = Program("""\
def lost(x, W_V):
    basis = <basis>
    coordinates = <coordinates>
    carried = <carried>
    out = <out>
    return out
""", {
    "basis": Blank("torch.linalg.qr(W_V).Q", offered=2, wrong={
        "W_V": NOT_ORTHONORMAL,
        "W_V / W_V.norm(dim=0)": Mistake("columns-not-orthogonal",
            "The columns are made of length 1, but they are still not at right angles: what two of them share is "
            "subtracted twice.",
            "Which matrix has the same column space and columns at right angles?"),
        "torch.linalg.svd(W_V, full_matrices=False).U[:, torch.linalg.svdvals(W_V) > 0.1 * torch.linalg.norm(W_V, 2)]":
            Mistake("weak-directions-dropped",
            "A direction that W_V reads weakly is taken for one that it does not read. W_V maps it to something small, "
            "and not to zero.",
            "Which vectors does W_V map to zero, and not only to something small?"),
    }),
    "coordinates": Blank("x @ basis", offered=1, wrong={
        "x @ W_V": Mistake("values-on-a-basis",
            "What meets the columns at right angles are the values x W_V, which belong to the columns of W_V.",
            "Which matrix must stand twice in a projection?"),
    }),
    "carried": Blank("coordinates @ basis.mT", offered=3, wrong={
        "coordinates @ W_V.mT": Mistake("values-on-a-basis",
            "The projections onto columns at right angles are multiplied with the columns of W_V.",
            "Which matrix must stand twice in a projection?"),
        "coordinates @ torch.linalg.pinv(W_V)": Mistake("values-on-a-basis",
            "pinv(W_V) takes values, x W_V. Here it meets the projections onto columns at right angles.",
            "Which numbers does pinv(W_V) turn back into a token?"),
        "coordinates": Mistake("coordinates-subtracted",
            "What is carried has d_v coordinates for each token there, and is not turned back into a vector of "
            "d_model.",
            "Which shape has x @ basis, and which has x?"),
    }),
    "out": Blank("x - carried", offered=4, wrong={
        "carried": Mistake("kept-part",
            "It returns the part that is carried. The exercise asks for the rest.",
            "What should its product with W_V be?"),
        "carried - x": Mistake("minus", "It has the opposite sign."),
        "x @ W_V": Mistake("values-returned", "It returns the values x W_V.", "Which shape should come out?"),
        "x - x @ W_V": Mistake("coordinates-subtracted",
            "The values x W_V themselves are subtracted: they are not turned back into a vector of d_model. It runs "
            "only where d_v is 1 or d_model.",
            "Which shape has x @ W_V, and which has x?"),
        "x": Mistake("nothing-removed", "It returns x as it is.", "What should its product with W_V be?"),
        "reduce(lambda rest, c: rest - (rest @ c)[..., None] * c / (c @ c), W_V.mT, x)":
            Mistake("one-after-the-other",
            "The columns are projected out one after the other, as they stand. They are not at right angles, so taking "
            "one out brings back something of those before it.",
            "What is its product with the first column, after the second was taken out?"),
    }),
}, together={
    "coordinates carried": {
        ("x @ W_V", "coordinates @ W_V.mT"): NOT_ORTHONORMAL,
    },
    "basis coordinates": {("W_V / W_V.norm(dim=0)", "x @ W_V"): ONE_STEP},
    "basis carried": {("W_V / W_V.norm(dim=0)", "coordinates @ torch.linalg.pinv(W_V)"): ONE_STEP},
}, scope={"reduce": functools.reduce})


def measure(answer):
    """Whether what it returns is really lost."""
    x, W_V = numbers(261, 3, 5), numbers(262, 5, 2)
    out = answer(x, W_V)
    if off(out @ W_V, 0):
        yield ("For 3 random tokens, (3, 5), and W_V (5, 2), the largest entry of its result times W_V is "
               f"{float((out @ W_V).abs().max()):.3g}; it should be 0.")
    rest = PROGRAM.reference(x - out, W_V)
    if off(rest, 0):
        yield ("x - result should be the part at right angles, which W_V carries; a part of length "
               f"{float(rest.norm()):.3g} of it is mapped to zero.")


EXERCISE = Exercise(
    id="4.4", name="lost", chapter="04_value_and_output_lab", stars=3, minutes=15, after="chapter 4",
    signature="lost(x, W_V)",
    statement="A head with d_v < d_model cannot carry everything. Write `lost(x, W_V)`: x is `(..., n, d_model)`, W_V "
              "is `(d_model, d_v)` with independent columns. Split each token into a part that W_V maps to zero and a "
              "part at right angles to it. Return the first, `(..., n, d_model)`: what the head cannot carry, "
              "whatever W_O does.",
    stub="# lost(torch.tensor([[3., 4.]]), torch.tensor([[2.], [0.]])) -> 0 4\n"
         "def lost(x, W_V):\n    ...\n",
    program=PROGRAM,
    trained=(),
    cases=[Case((numbers(263, 2, 3), numbers(264, 3, 1))), Case((numbers(265, 4, 5), numbers(266, 5, 2))),
           Case((numbers(267, 2, 3, 6), numbers(268, 6, 4))), Case((numbers(269, 4, 4), numbers(270, 4, 2))),
           Case((numbers(271, 2, 4), numbers(272, 4, 2) @ torch.tensor([[1.0, 1.0], [0.0, 0.05]]).double())),
           Case((numbers(273, 1, 1, 3), numbers(274, 3, 1))),
           Case((numbers(275, 2, 4), numbers(276, 4, 2) @ torch.tensor([[1.0, 1.0], [0.0, 0.002]]).double()))],
    measure=measure,
    hints=("W_V maps a vector to zero when it is at right angles to every column. So which part of x is the other one?",
           "The other part lies in the space of W_V's columns. Project x onto it and subtract. The columns are not at "
           "right angles to each other: torch.linalg.qr or torch.linalg.pinv takes care of that.",
           "return x - x @ W_V @ torch.linalg.pinv(W_V)"),
    note="Two tokens that differ only in their lost parts carry the same through this head, wherever it looks. Twelve "
         "heads of width 32 can look at 384 directions between them, each at its own 32.",
)
