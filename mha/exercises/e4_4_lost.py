"""4.4: what a head cannot carry."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers
from mha.exercises.report import Mistake


def lost(x, W_V):
    return x - x @ W_V @ torch.linalg.pinv(W_V)


def model(x, W_V, how="right"):
    """What W_V does not see of x, with a switch that can be set wrong."""
    Q, R = torch.linalg.qr(W_V)
    kept = x @ W_V @ torch.linalg.pinv(W_V)
    return {
        "right": lambda: x - kept,
        "kept": lambda: kept,
        "not-normalised": lambda: x - x @ W_V @ W_V.mT,
        "carried": lambda: x - x @ W_V,
        "unit-columns": lambda: x - x @ torch.nn.functional.normalize(W_V, dim=0)
        @ torch.nn.functional.normalize(W_V, dim=0).mT,
        "first-coordinates": lambda: torch.cat([torch.zeros_like(x[..., : W_V.shape[-1]]), x[..., W_V.shape[-1] :]],
                                               -1),
        "last-coordinates": lambda: x[..., W_V.shape[-1] :],
        "rows": lambda: x - x @ torch.linalg.qr(W_V.mT)[0] @ torch.linalg.qr(W_V.mT)[0].mT
        if W_V.shape[0] == W_V.shape[1] else x * float("nan"),
        "all": lambda: x,
        "nothing": lambda: torch.zeros_like(x),
        "mean": lambda: x - x.mean(-2, keepdim=True) if x.ndim > 1 else x - x.mean(),
        "pinv-first": lambda: x - x @ torch.linalg.pinv(W_V).mT,
        "minus": lambda: kept - x,
        "one-column": lambda: x - x @ Q[:, :1] @ Q[:, :1].mT,
        "length": lambda: (x - kept).norm(dim=-1),
        "coefficients": lambda: x @ W_V,
    }[how]()


SWITCHES = {
    "how": {
        "kept": Mistake("kept-part",
                        "It returns the part that is carried. Wanted is the rest.",
                        "What should its product with W_V be?"),
        "not-normalised": Mistake("columns-not-orthonormal",
                                  "It subtracts x W_V W_V^T. That is the carried part only when the columns of W_V "
                                  "have length 1 and are at right angles to each other.",
                                  "What is W_V^T W_V here?"),
        "unit-columns": Mistake("columns-not-orthogonal",
                                "The columns are made of length 1, but they are still not at right angles: what two "
                                "of them share is subtracted twice.",
                                "Which matrix has the same column space and columns at right angles?"),
        "first-coordinates": Mistake("drops-coordinates",
                                     "It drops the first d_v coordinates. W_V reads directions, not coordinates.",
                                     "Which directions does W_V read?"),
        "all": Mistake("nothing-removed", "It returns x as it is.", "What should its product with W_V be?"),
        "nothing": Mistake("all-removed",
                           "It returns zero. But W_V has fewer columns than a token has coordinates: something is "
                           "lost.",
                           "How many directions can d_v columns read?"),
        "mean": Mistake("subtracts-the-mean", "It subtracts the mean of the tokens.",
                        "What should its product with W_V be?"),
        "minus": Mistake("minus", "It has the opposite sign.", ""),
        "one-column": Mistake("one-column",
                              "It removes what the first column reads, and no more.",
                              "How many directions does W_V read?"),
        "length": Mistake("length-only",
                          "It returns the length of the lost part; wanted is the vector.",
                          "Which shape should come out?"),
        "coefficients": Mistake("values-returned", "It returns the values x W_V.", "Which shape should come out?"),
    },
}


def measure(answer):
    """Whether what it returns is really lost."""
    x, W_V = numbers(261, 3, 5), numbers(262, 5, 2)
    out = answer(x, W_V)
    yield ("For 3 random tokens, (3, 5), and W_V (5, 2), the largest entry of its result times W_V is "
           f"{float((out @ W_V).abs().max()):.3g}; it should be 0.")
    yield f"(x - result) loses {float((lost(x - out, W_V)).norm()):.3g}; what was carried should lose nothing."


EXERCISE = Exercise(
    id="4.4", name="lost", chapter="04_value_and_output", stars=3, minutes=15, after="section 5",
    signature="lost(x, W_V)",
    statement="A head with d_v < d_model cannot carry everything. Write `lost(x, W_V)`: x is `(..., n, d_model)`, W_V "
              "is `(d_model, d_v)` with independent columns. Split each token into a part that W_V maps to zero and a "
              "part at right angles to it. Return the first, `(..., n, d_model)`: what the head cannot carry, "
              "whatever W_O does.",
    stub="def lost(x, W_V):\n    ...\n",
    reference=lost,
    cases=[Case((numbers(263, 2, 3), numbers(264, 3, 1))), Case((numbers(265, 4, 5), numbers(266, 5, 2))),
           Case((numbers(267, 2, 3, 6), numbers(268, 6, 4))), Case((numbers(269, 4, 4), numbers(270, 4, 2)))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("W_V maps a vector to zero when it is at right angles to every column. So which part of x is the other one?",
           "The other part lies in the space of W_V's columns. Project x onto it and subtract. The columns are not at "
           "right angles to each other: torch.linalg.qr or torch.linalg.pinv takes care of that.",
           "return x - x @ W_V @ torch.linalg.pinv(W_V)"),
    note="Two tokens that differ only in their lost parts carry the same through this head, wherever it looks. Twelve "
         "heads of width 32 can look at 384 directions between them, each at its own 32.",
)
