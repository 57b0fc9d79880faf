"""3.2: the best head for a table of scores."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers
from mha.exercises.report import Mistake


def factor(A, d_k):
    U, S, Vh = torch.linalg.svd(A)
    root = S[:d_k].sqrt()
    return U[:, :d_k] * root, Vh[:d_k].mT * root


def model(A, d_k, how="right"):
    """A factorisation with a switch that can be set wrong."""
    U, S, Vh = torch.linalg.svd(A)
    U, S, V, R, W = U[:, :d_k], S[:d_k], Vh[:d_k].mT, Vh[:, :d_k], U[:d_k].mT
    least = slice(A.shape[-1] - d_k, None)
    full = torch.linalg.svd(A)
    return {
        "right": lambda: (U * S, V),
        "twice": lambda: (U * S, V * S),
        "none": lambda: (U, V),
        "one-root": lambda: (U * S.sqrt(), V),
        "rows-of-Vh": lambda: (U * S, R),
        "rows-of-U": lambda: (W * S, V),
        "both-rows": lambda: (W * S, R),
        "exchanged": lambda: (V * S, U),
        "smallest": lambda: (full[0][:, least] * full[1][least], full[2][least].mT),
        "first-columns": lambda: (A[:, :d_k], torch.eye(A.shape[0], d_k, dtype=A.dtype)),
        "symmetric": lambda: (U * S, U),
        "keys-only": lambda: (V * S, V),
        "eigenvectors": lambda: (lambda L,
                                 Q: (Q[:, -d_k:] * L[-d_k:], Q[:, -d_k:]))(*torch.linalg.eigh((A + A.mT) / 2)),
    }[how]()


def observe(output, A, d_k):
    W_Q, W_K = output
    if W_Q.shape != (A.shape[0], d_k) or W_K.shape != (A.shape[0], d_k):
        raise ValueError("not the shapes")
    return W_Q @ W_K.mT


SWITCHES = {
    "how": {
        "twice": Mistake("singular-values-twice",
                         "The singular values stand in both matrices, so the scores carry their squares.",
                         "How much of each singular value may each side take?"),
        "none": Mistake("no-singular-values",
                        "The singular values are missing: every direction counts the same.",
                        "What does the S of an SVD stand for?"),
        "one-root": Mistake("half-of-the-singular-values",
                            "Only one side carries the root of the singular values. The product needs them whole: a "
                            "root on each side, or all on one.",
                            "What is root(S) times 1?"),
        "rows-of-Vh": Mistake("columns-of-Vh",
                              "It takes columns of Vh. torch.linalg.svd returns V already transposed: the right "
                              "singular vectors are its rows.",
                              "What does the h in Vh say?"),
        "rows-of-U": Mistake("rows-of-U",
                             "It takes rows of U. The left singular vectors are its columns.",
                             "Which of U and Vh has its vectors as rows?"),
        "both-rows": Mistake("rows-of-U",
                             "It takes rows of U and columns of Vh; it should be the other way round.",
                             "Which of U and Vh has its vectors as rows?"),
        "exchanged": Mistake("roles-exchanged",
                             "W_Q and W_K are exchanged: the scores come out transposed.",
                             "Which index of A belongs to the one who asks?"),
        "smallest": Mistake("smallest-kept",
                            "It keeps the smallest singular values, not the largest.",
                            "In which order does svd return them?"),
        "first-columns": Mistake("first-columns",
                                 "It keeps the first columns of A and drops the others.",
                                 "Which rank-d_k table is closest to A?"),
        "symmetric": Mistake("one-matrix",
                             "Both sides use the left singular vectors: such scores are symmetric.",
                             "Which vectors belong to the keys?"),
        "keys-only": Mistake("one-matrix",
                             "Both sides use the right singular vectors: such scores are symmetric.",
                             "Which vectors belong to the queries?"),
        "eigenvectors": Mistake("eigenvectors-of-the-symmetric-part",
                                "It uses eigenvectors of the symmetric part of A. What is not symmetric in A is "
                                "lost.",
                                "Is A symmetric?"),
    },
}


def measure(answer):
    """How far from A it stays."""
    A = numbers(221, 5, 5)
    W_Q, W_K = answer(A, 3)
    U, S, Vh = torch.linalg.svd(A)
    yield ("For a random 5 by 5 table and d_k = 3 the error (root of the sum of squares) is "
           f"{float((W_Q @ W_K.mT - A).norm()):.4g}; the least possible is {float(S[3:].norm()):.4g}.")


EXERCISE = Exercise(
    id="3.2", name="factor", chapter="03_query_and_key", stars=3, minutes=15, after="section 5",
    signature="factor(A, d_k)",
    statement="Tokens are one-hot vectors, so a head without scaling can be asked for any table of scores: A is `(n, "
              "n)`, row i for the token that asks. Write `factor(A, d_k)`: return two matrices W_Q and W_K, both `(n, "
              "d_k)`, whose scores W_Q W_K^T are as close to A as a head of that width can come (least sum of squared "
              "differences).",
    stub="def factor(A, d_k):\n    ...\n",
    reference=factor,
    cases=[Case((numbers(222, 3, 3), 1)), Case((numbers(223, 5, 5), 3)), Case((numbers(224, 4, 4), 4)),
           Case((numbers(225, 8, 8), 2))],
    model=model, switches=SWITCHES, measure=measure, observe=observe, wanted="a pair W_Q, W_K, both of shape (n, d_k)",
    compared="Compared are the scores W_Q W_K^T, not the two matrices.",
    trained=(),
    hints=("The scores of a head of width d_k have rank at most d_k. Which table of that rank is closest to A?",
           "The singular value decomposition, cut after d_k values. torch.linalg.svd returns U, S and V transposed.",
           "U, S, Vh = torch.linalg.svd(A); return U[:, :d_k] * S[:d_k], Vh[:d_k].T"),
    note="Each column pair of W_Q and W_K is one channel: a direction that asks and a direction that answers. d_k is "
         "the number of channels. (The theorem behind it is Eckart and Young's, of 1936.)",
)
