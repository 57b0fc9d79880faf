"""3.1: other matrices, the same scores."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers
from mha.exercises.report import Mistake


def same_scores(W_Q, W_K, M):
    return W_K @ torch.linalg.inv(M).mT


def model(W_Q, W_K, M, how="right"):
    """The other key matrix with a switch that can be set wrong."""
    inverse = torch.linalg.inv(M)
    return {
        "right": lambda: W_K @ inverse.mT,
        "not-transposed": lambda: W_K @ inverse,
        "same": lambda: W_K @ M,
        "transposed": lambda: W_K @ M.mT,
        "unchanged": lambda: W_K,
        "query": lambda: W_Q @ inverse.mT,
        "query-product": lambda: W_Q @ M,
        "both": lambda: W_K @ M @ inverse.mT,
        "squared": lambda: W_K @ inverse.mT @ inverse,
        "pinv-left": lambda: (torch.linalg.pinv(W_K) @ W_K).new_zeros(W_K.shape) + W_K @ inverse.mT
        / torch.linalg.det(M),
        "entries": lambda: W_K @ (1 / M).mT,
        "minus": lambda: -W_K @ M,
    }[how]()


SWITCHES = {
    "how": {
        "not-transposed": Mistake("inverse-not-transposed",
                                  "It is W_K times the inverse of M. In the scores W_K stands transposed, so the "
                                  "inverse must be transposed too.",
                                  "Write the scores out: x W_Q M (y W_K')^T. What stands next to M?"),
        "same": Mistake("same-change",
                        "W_K gets the same change as W_Q: then M and its transpose meet in the middle of the scores, "
                        "which is not 1 unless M is a rotation or a reflection.",
                        "For which matrices M would that be right?"),
        "transposed": Mistake("transpose-for-inverse",
                              "It is W_K times M transposed. Then M meets M in the middle of the scores.",
                              "What must stand in the middle to cancel M?"),
        "unchanged": Mistake("unchanged",
                             "W_K comes back as it was, and the scores carry an M too many.", "What has to undo M?"),
        "query": Mistake("query-matrix-returned",
                         "It changes W_Q. Wanted is the key matrix that goes with W_Q M.",
                         "Which of the two matrices is still to be found?"),
        "query-product": Mistake("query-matrix-returned",
                                 "It returns W_Q M. Wanted is the key matrix that goes with it.",
                                 "Which of the two matrices is still to be found?"),
        "entries": Mistake("inverse-of-each-entry",
                           "It takes 1 over each entry of M. The inverse of a matrix is another thing: "
                           "torch.linalg.inv.",
                           "What is M times its inverse?"),
        "pinv-left": Mistake("divides-by-determinant",
                             "It is right up to a factor: it is divided by the determinant of M once more.",
                             "Does torch.linalg.inv divide by the determinant already?"),
    },
}


def measure(answer):
    """How far off the scores are."""
    W_Q, W_K, M, x = numbers(201, 5, 3), numbers(202, 5, 3), numbers(203, 3, 3), numbers(204, 4, 5)
    before, after = x @ W_Q @ (x @ W_K).mT, x @ W_Q @ M @ (x @ answer(W_Q, W_K, M)).mT
    yield ("With it the scores of 4 random tokens differ from those before by up to "
           f"{float((before - after).abs().max()):.3g}; the largest score is {float(before.abs().max()):.3g}.")


EXERCISE = Exercise(
    id="3.1", name="same_scores", chapter="03_query_and_key", stars=2, minutes=10, after="section 5",
    signature="same_scores(W_Q, W_K, M)",
    statement="Somebody has replaced W_Q by W_Q M. Write `same_scores(W_Q, W_K, M)`: W_Q and W_K are `(d_model, "
              "d_k)`, M is `(d_k, d_k)` and has an inverse. Return the matrix, `(d_model, d_k)`, that must replace "
              "W_K so that every score stays the same.",
    stub="def same_scores(W_Q, W_K, M):\n    ...\n",
    reference=same_scores,
    cases=[Case((numbers(205, 4, 2), numbers(206, 4, 2), numbers(207, 2, 2) + 2 * torch.eye(2, dtype=torch.float64))),
           Case((numbers(208, 6, 3), numbers(209, 6, 3), numbers(210, 3, 3) + 2 * torch.eye(3, dtype=torch.float64))),
           Case((numbers(211, 5, 5), numbers(212, 5, 5), numbers(213, 5, 5) + 3 * torch.eye(5, dtype=torch.float64)))],
    model=model, switches=SWITCHES, measure=measure, trained=(),
    hints=("The scores are x W_Q M (y W_K')^T. Write them as a chain of matrices, without brackets.",
           "In the middle stands M W_K'^T. It should be what stood there before, W_K^T. Solve for W_K'.",
           "return W_K @ torch.linalg.inv(M).T"),
    note="Only the product of W_Q and W_K transposed can be seen from outside. So a single column of W_Q means "
         "nothing by itself: any M mixes it with the others.",
)
