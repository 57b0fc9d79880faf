"""3.4: the best that a single matrix can do."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers
from mha.exercises.report import Mistake


def one_matrix(A):
    values, vectors = torch.linalg.eigh((A + A.mT) / 2)
    return vectors * values.clamp(min=0) @ vectors.mT


def model(A, how="right"):
    """The nearest form W W^T with a switch that can be set wrong."""
    symmetric = (A + A.mT) / 2
    values, vectors = torch.linalg.eigh(symmetric)
    return {
        "right": lambda: vectors * values.clamp(min=0) @ vectors.mT,
        "symmetric": lambda: symmetric,
        "sum": lambda: A + A.mT,
        "entries": lambda: symmetric.clamp(min=0),
        "absolute": lambda: vectors * values.abs() @ vectors.mT,
        "gram": lambda: A @ A.mT,
        "gram-left": lambda: A.mT @ A,
        "lower": lambda: torch.linalg.eigh(A)[1] * torch.linalg.eigh(A)[0].clamp(min=0) @ torch.linalg.eigh(A)[1].mT,
        "rows": lambda: vectors.mT * values.clamp(min=0) @ vectors,
        "sum-clipped": lambda: 2 * (vectors * values.clamp(min=0) @ vectors.mT),
        "negative": lambda: vectors * values.clamp(max=0) @ vectors.mT,
        "diagonal": lambda: symmetric + torch.eye(len(A), dtype=A.dtype) * (-values.min()).clamp(min=0),
        "unchanged": lambda: A,
        "polar": lambda: (lambda U, S, Vh: U * S @ U.mT)(*torch.linalg.svd(A)),
    }[how]()


SWITCHES = {
    "how": {
        "symmetric": Mistake("negative-directions-kept",
                             "It is the symmetric part of A. That is symmetric, but some vectors get a negative score "
                             "with themselves, and no W W^T does that.",
                             "What is the score of a vector with itself under W W^T?"),
        "sum": Mistake("not-halved",
                       "It is A plus its transpose: twice the symmetric part. And a vector may still get a negative "
                       "score with itself.",
                       "What is the mean of A and its transpose?"),
        "entries": Mistake("clips-entries",
                           "It sets the negative entries to 0. What must not be negative are the eigenvalues: a score "
                           "between two different tokens may well be.",
                           "Which numbers must not be negative, entries or eigenvalues?"),
        "absolute": Mistake("absolute-eigenvalues",
                            "It takes the absolute values of the eigenvalues. Setting the negative ones to 0 is "
                            "closer.",
                            "Which number that is not negative is closest to -2?"),
        "gram": Mistake("gram-matrix",
                        "It is A times its transpose. That has the form W W^T, but it is not close to A.",
                        "For A = 2 times the identity, what should come out?"),
        "gram-left": Mistake("gram-matrix",
                             "It is A transposed times A. That has the form W W^T, but it is not close to A.",
                             "For A = 2 times the identity, what should come out?"),
        "lower": Mistake("eigh-of-what-is-not-symmetric",
                         "torch.linalg.eigh is called on A, which is not symmetric. It reads the lower triangle only, "
                         "in silence.",
                         "Which matrix has real eigenvalues, A or its symmetric part?"),
        "rows": Mistake("vectors-as-rows",
                        "The eigenvectors are used as rows. torch.linalg.eigh returns them as columns.",
                        "Which of vectors[0] and vectors[:, 0] is the first eigenvector?"),
        "sum-clipped": Mistake("not-halved",
                               "It is twice the right answer: the sum of A and its transpose was not halved.",
                               "What is the mean of A and its transpose?"),
        "negative": Mistake("positive-directions-dropped",
                            "It keeps the negative eigenvalues and drops the positive ones.",
                            "Which of them can W W^T have?"),
        "diagonal": Mistake("shifts-the-diagonal",
                            "It adds to the diagonal until no eigenvalue is negative. That moves every direction; "
                            "setting the negative eigenvalues to 0 moves only those that must.",
                            "Which directions need no change?"),
        "unchanged": Mistake("unchanged", "It returns A as it is. W W^T is always symmetric.", "Is A symmetric?"),
        "polar": Mistake("polar",
                         "It takes the left singular vectors on both sides. That has the form W W^T, but there are "
                         "closer ones.",
                         "What does the nearest symmetric matrix look like?"),
    },
}


def measure(answer):
    """Whether it is symmetric, has negative directions, and how far it is."""
    A = numbers(231, 4, 4)
    out, best = answer(A), one_matrix(A)
    if (out - out.mT).abs().max() > 1e-6:
        yield ("It is not symmetric: for a random 4 by 4 table entries differ from their mirror images by up to "
               f"{float((out - out.mT).abs().max()):.3g}.")
    else:
        yield f"Its smallest eigenvalue is {float(torch.linalg.eigvalsh(out).min()):.3g}; none may be negative."
    yield (f"Its distance from A (root of the sum of squares) is {float((out - A).norm()):.4g}; the least possible is "
           f"{float((best - A).norm()):.4g}.")


EXERCISE = Exercise(
    id="3.4", name="one_matrix", chapter="03_query_and_key", stars=3, minutes=20, after="section 2",
    signature="one_matrix(A)",
    statement="A head that shares one matrix W for queries and keys scores two tokens by x W W^T y. Write "
              "`one_matrix(A)`: A is any `(d, d)` form. Return the form, `(d, d)`, that is as close to A as W W^T can "
              "come, for any W (least sum of squared differences).",
    stub="def one_matrix(A):\n    ...\n",
    reference=one_matrix,
    cases=[Case((numbers(232, 2, 2),)), Case((numbers(233, 4, 4),)),
           Case((numbers(234, 5, 5) + numbers(234, 5, 5).mT,)), Case((numbers(235, 7, 7),))],
    model=model, switches=SWITCHES, measure=measure, trained=(),
    hints=("W W^T has two properties that A may lack. One concerns its mirror image, the other the score of a vector "
           "with itself.",
           "The closest symmetric form is the mean of A and its transpose. Of that, which eigenvalues can W W^T not "
           "have?",
           "values, vectors = torch.linalg.eigh((A + A.T) / 2); return vectors * values.clamp(min=0) @ vectors.T"),
    note="Two losses in two steps. The antisymmetric part goes: who asks whom. Then the negative directions go: "
         "whatever should repel its like.",
)
