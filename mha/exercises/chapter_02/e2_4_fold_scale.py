"""2.4: the scale put into W_Q."""
from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def fold_scale(W_Q):
    width = <width>
    factor = <factor>
    return <turned> <by> factor
""", {
    "width": Blank("W_Q.shape[-1]", offered=2, wrong={
        "W_Q.shape[0]": Mistake("scale-root-d_model",
            "It divides by the square root of the first size, d_model. The scale of a head is 1/sqrt(d_k), and d_k "
            "is the number of columns.",
            "How many products does a score sum?"),
        "W_Q.numel()": Mistake("two-roots",
            "It divides by the root of d_model as well as by the root of d_k.",
            "How many products does a score sum?"),
    }),
    "factor": Blank("width ** 0.5", offered=5, wrong={
        "width": Mistake("scale-d_k",
            "It divides by d_k, not by its square root.",
            "How does a score change when W_Q is divided by c?"),
        "width ** 1/2": Mistake("scale-half-d_k",
            "It divides by d_k / 2. In Python, d_k ** 1/2 means (d_k ** 1) / 2.",
            "Which comes first in d_k ** 1/2?"),
        "width ** -0.5": Mistake("scale-times-root",
            "It multiplies by the square root of d_k, where it should divide.",
            "Should the new queries be shorter or longer?"),
        "width ** 0.25": Mistake("scale-fourth-root",
            "It divides by the fourth root of d_k. That would be right if W_K were divided by it too; here W_K stays.",
            "Which of the two factors of a score may change here?"),
        "1": Mistake("no-scale", "W_Q comes back as it was.", "Where has the division gone?"),
        "int(width ** 0.5)": Mistake("scale-whole-root",
            "It divides by the square root of d_k rounded down to a whole number. It is right where d_k is a square.",
            "What is int(3 ** 0.5)?"),
        "2": Mistake("fixed-number",
            "It divides by 2 whatever the sizes are, which is the square root of d_k only where d_k is 4.",
            "What does a matrix of 9 columns need?"),
    }),
    "turned": Blank("W_Q", offered=1, wrong={
        "W_Q.mT": Mistake("transposed", "The matrix comes back transposed.", "Which shape has W_Q?"),
    }),
    "by": Blank("/", offered=1, wrong={
        "*": Mistake("scale-times-root",
            "It multiplies by the square root of d_k, where it should divide.",
            "Should the new queries be shorter or longer?"),
    }),
}, together={
    "factor by": {
        ("width", "*"): Mistake("multiplies",
            "It multiplies by d_k, where it should divide by its square root.",
            "Should the new queries be shorter or longer?"),
        ("width ** 1/2", "*"): Mistake("multiplies",
            "It multiplies by d_k / 2, where it should divide by the square root of d_k.",
            "Should the new queries be shorter or longer?"),
        ("width ** 0.25", "*"): Mistake("multiplies",
            "It multiplies by the fourth root of d_k, where it should divide by the square root.",
            "Should the new queries be shorter or longer?"),
        ("2", "*"): Mistake("fixed-number",
            "It multiplies by 2 whatever the sizes are, where it should divide by the square root of d_k.",
            "What does a matrix of 9 columns need?"),
    },
    "width turned": {
        ("W_Q.shape[0]", "W_Q.mT"): Mistake("rows-for-columns",
            "Rows are taken for columns: it divides by the square root of d_model, and the matrix comes back "
            "transposed.",
            "Which size is d_k, the number of rows or of columns?"),
    },
    "width factor": {
        ("W_Q.shape[0]", "width"): Mistake("scale-d_model",
            "It divides by d_model.",
            "How many products does a score sum?"),
    },
})


def measure(answer):
    """By what each entry is multiplied."""
    W, other = numbers(151, 5, 3), numbers(150, 11, 7)
    ratio = answer(W) / W
    if (ratio - ratio.mean()).abs().max() < 1e-6:
        yield (f"For d_model = 5 and d_k = 3 it multiplies every entry by {float(ratio.mean()):.4g}; it should be "
               f"{3 ** -0.5:.4g}.")
        if not off(answer(other) / other, ratio.mean()):
            yield "For d_model = 11 and d_k = 7 it multiplies by the same: a fixed number."
    elif ratio.isfinite().all():
        yield (f"For another W_Q of d_model = 5 and d_k = 3 it multiplies some entries by {float(ratio.min()):.3g} and "
               f"others by {float(ratio.max()):.3g}; it should be one number for all.")


EXERCISE = Exercise(
    id="2.4", name="fold_scale", chapter="02_one_head_lab", stars=1, minutes=5, after="section 6",
    signature="fold_scale(W_Q)",
    statement="Can the division be spared? Write `fold_scale(W_Q)`: W_Q is `(d_model, d_k)`. Return a matrix of the "
              "same shape with which a head that does *not* scale gives the same scores as a scaled head with W_Q. "
              "W_K stays.",
    stub="# fold_scale(torch.ones(1, 4)) -> 0.5 0.5 0.5 0.5\n"
         "def fold_scale(W_Q):\n    ...\n",
    program=PROGRAM,
    trained=(),
    cases=[Case((numbers(152, 5, 3),)), Case((numbers(153, 4, 4),)), Case((numbers(154, 11, 16),)),
           Case((numbers(155, 8, 1),))],
    sized=lambda d_model, d_k: Case((numbers(1, d_model, d_k),)),
    measure=measure,
    hints=("A score is linear in the query, and the query is linear in W_Q.",
           "What multiplies W_Q multiplies every score. Which size is d_k, the first or the last?",
           "return W_Q / W_Q.shape[-1] ** 0.5"),
    note="As a function nothing changes. Section 6 shows what does: the same learning rate now takes other steps.",
)
