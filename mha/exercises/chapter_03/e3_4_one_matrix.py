"""3.4: the best that a single matrix can do."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

GRAM = {form: Mistake("gram-matrix",
    f"It is {product}. That has the form W W^T, but it is not close to A.",
    "For A = 2 times the identity, what should come out?")
    for form, product in {"A @ A.mT": "A times its transpose", "A.mT @ A": "A transposed times A"}.items()}

PROGRAM = Program("""\
def one_matrix(A):
    symmetric = <symmetric>
    values, vectors = torch.linalg.eigh(symmetric)
    values = <values>
    form = <form>
    return form
""", {
    "symmetric": Blank("(A + A.mT) / 2", offered=4, wrong={
        "A": Mistake("eigh-of-what-is-not-symmetric",
            "It gives what comes of torch.linalg.eigh(A), which reads the lower triangle of A only, in silence: it "
            "takes A for symmetric.",
            "Which matrix has real eigenvalues, A or its symmetric part?"),
        "A + A.mT": Mistake("not-halved",
            "It is twice the right answer: the sum of A and its transpose was not halved.",
            "What is the mean of A and its transpose?"),
        "(A - A.mT) / 2": Mistake("antisymmetric-part",
            "It takes half of A minus its transpose. That is the part of A that changes sign in the mirror; what W "
            "W^T can keep is the other.",
            "Which part of A equals its own mirror image?"),
        **GRAM,
    }),
    "values": Blank("values.clamp(min=0)", offered=4, wrong={
        "values": Mistake("negative-directions-kept",
            "It is the symmetric part of A. That is symmetric, but some vectors get a negative score with "
            "themselves, and no W W^T does that.",
            "What is the score of a vector with itself under W W^T?"),
        "values.abs()": Mistake("absolute-eigenvalues",
            "It takes the absolute values of the eigenvalues. Setting the negative ones to 0 is closer.",
            "Which number that is not negative is closest to -2?"),
        "values - values.min()": Mistake("shifts-the-diagonal",
            "It lifts all eigenvalues until none is negative. That moves every direction; setting the negative "
            "eigenvalues to 0 moves only those that must.",
            "Which directions need no change?"),
        "values.clamp(max=0)": Mistake("positive-directions-dropped",
            "It keeps the negative eigenvalues and drops the positive ones.",
            "Which of them can W W^T have?"),
    }),
    "form": Blank("vectors * values @ vectors.mT", offered=4, wrong={
        "vectors.mT * values @ vectors": Mistake("vectors-as-rows",
            "The eigenvectors are used as rows. torch.linalg.eigh returns them as columns.",
            "Which of vectors[0] and vectors[:, 0] is the first eigenvector?"),
        "vectors * values @ vectors": Mistake("not-turned-back",
            "The eigenvectors on the right are not transposed: V L V, where V L V^T is wanted.",
            "Which matrix undoes V, if V V^T is the identity?"),
        "symmetric.clamp(min=0)": Mistake("clips-entries",
            "It sets the negative entries to 0. What must not be negative are the eigenvalues: a score between two "
            "different tokens may well be.",
            "Which numbers must not be negative, entries or eigenvalues?"),
        "vectors * values.sqrt()": Mistake("half-of-the-form",
            "It returns the W of the form. The exercise asks for the form itself, W W^T.",
            "What is W W^T, with this W?"),
    }),
}, together={
    "symmetric values": {
        ("A + A.mT", "values"): Mistake("not-halved",
            "It is A plus its transpose: twice the symmetric part. And a vector may still get a negative score "
            "with itself.",
            "What is the mean of A and its transpose?"),
    },
})


def measure(answer):
    """Whether it is symmetric, has negative directions, and how far it is."""
    A = numbers(231, 4, 4)
    out, best = answer(A), PROGRAM.reference(A)
    if (out - out.mT).abs().max() > 1e-6:
        yield ("It is not symmetric: for a random 4 by 4 table entries differ from their mirror images by up to "
               f"{float((out - out.mT).abs().max()):.3g}.")
    elif torch.linalg.eigvalsh(out).min() < -1e-6:
        yield f"Its smallest eigenvalue is {float(torch.linalg.eigvalsh(out).min()):.3g}; none may be negative."
    if off((out - A).norm(), (best - A).norm()):
        yield (f"For a random 4 by 4 table its distance from the table (root of the sum of squares) is "
               f"{float((out - A).norm()):.4g}; the least that W W^T can reach is {float((best - A).norm()):.4g}.")


EXERCISE = Exercise(
    id="3.4", name="one_matrix", chapter="03_query_and_key_lab", stars=3, minutes=20, after="section 4",
    signature="one_matrix(A)",
    statement="A head that shares one matrix W for queries and keys scores two tokens by x W W^T y. Write "
              "`one_matrix(A)`: A is any `(d, d)` form. Return the form, `(d, d)`, that is as close to A as W W^T can "
              "come, for any W (least sum of squared differences).",
    stub="# one_matrix(torch.tensor([[0., 2.], [0., 0.]])) -> 0.5 0.5 0.5 0.5\n"
         "def one_matrix(A):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(232, 2, 2),)), Case((numbers(233, 4, 4),)),
           Case((numbers(234, 5, 5) + numbers(234, 5, 5).mT,)), Case((numbers(235, 7, 7),)),
           Case((100 * numbers(236, 3, 3),))],
    measure=measure, trained=(),
    hints=("W W^T has two properties that A may lack. One concerns its mirror image, the other the score of a vector "
           "with itself.",
           "The closest symmetric form is the mean of A and its transpose. Of that, which eigenvalues can W W^T not "
           "have?",
           "values, vectors = torch.linalg.eigh((A + A.T) / 2)\n"
           "return vectors * values.clamp(min=0) @ vectors.T"),
    note="Two losses in two steps. The antisymmetric part goes, and with it the direction. Then the "
         "negative directions go: whatever should repel its like.",
)
