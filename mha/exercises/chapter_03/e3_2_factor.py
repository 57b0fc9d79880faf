"""3.2: the best head for a table of scores."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.calls import works_for
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import apart, numbers, off, table
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def factor(A, d_k):
    U, S, Vh = torch.linalg.svd(A)
    U, S, V = <cut>
    share = <share>
    W_Q = <queries>
    W_K = <keys>
    <other>
    return W_Q, W_K
""", {
    "cut": Blank("U[:, :d_k], S[:d_k], Vh[:d_k].mT", offered=3, wrong={
        "U[:, :d_k], S[:d_k], Vh[:, :d_k]": Mistake("columns-of-Vh",
            "It takes columns of Vh (or, after torch.svd, rows of V). torch.linalg.svd returns V already transposed: "
            "the right singular vectors are its rows.",
            "What does the h in Vh say?"),
        "U[:d_k].mT, S[:d_k], Vh[:d_k].mT": Mistake("rows-of-U",
            "It takes rows of U. The left singular vectors are its columns.",
            "Which of U and Vh has its vectors as rows?"),
        "U[:, -d_k:], S[-d_k:], Vh[-d_k:].mT": Mistake("smallest-kept",
            "It keeps the smallest singular values, not the largest.",
            "In which order does svd return them?"),
    }),
    "share": Blank("S.sqrt()", offered=2, wrong={
        "S": Mistake("singular-values-twice",
            "The singular values stand in both matrices, so the scores carry their squares.",
            "How much of each singular value may each side take?"),
        "torch.ones_like(S)": Mistake("no-singular-values",
            "The singular values are missing: every direction counts the same.",
            "What does the S of an SVD stand for?"),
    }),
    "queries": Blank("U * share", offered=2, wrong={
        "U": Mistake("half-of-the-singular-values",
            "Only one side carries the root of the singular values. The product needs them whole: a root on each "
            "side, or all on one.",
            "What is root(S) times 1?"),
        "V * share": Mistake("one-matrix",
            "Both sides use the right singular vectors: such scores are symmetric.",
            "Which vectors belong to the queries?"),
    }),
    "keys": Blank("V * share", offered=2, wrong={
        "V": Mistake("half-of-the-singular-values",
            "Only one side carries the root of the singular values. The product needs them whole: a root on each "
            "side, or all on one.",
            "What is root(S) times 1?"),
        "U * share": Mistake("one-matrix",
            "Both sides use the left singular vectors: such scores are symmetric.",
            "Which vectors belong to the keys?"),
    }),
    "other": Blank("", wrong={
        "W_Q, W_K = A[:, :d_k], torch.eye(len(A), d_k).to(A)": Mistake("first-columns",
            "It keeps the first columns of A and drops the others.",
            "Which rank-d_k table is closest to A?"),
        "L, Q = torch.linalg.eigh((A + A.mT) / 2)\nW_Q, W_K = Q[:, -d_k:] * L[-d_k:], Q[:, -d_k:]":
            Mistake("eigenvectors-of-the-symmetric-part",
            "It uses eigenvectors of the symmetric part of A. What is not symmetric in A is lost.",
            "Is A symmetric?"),
    }),
}, together={
    "queries keys": {
        ("V * share", "U * share"): Mistake("roles-exchanged",
            "W_Q and W_K are exchanged: the scores come out transposed.",
            "Which index of A belongs to the query?"),
    },
})


def observe(output, A, d_k):
    W_Q, W_K = output
    if W_Q.shape != (A.shape[0], d_k) or W_K.shape != (A.shape[0], d_k):
        raise ValueError("not the shapes")
    return W_Q @ W_K.mT


def measure(answer):
    """How far from A it stays."""
    A = numbers(221, 5, 5)
    W_Q, W_K = answer(A, 3)
    if W_Q.shape != (5, 3) or W_K.shape != (5, 3):
        yield (f"For a 5 by 5 table and d_k = 3 its matrices have shapes {tuple(W_Q.shape)} and {tuple(W_K.shape)}; "
               "it should be (5, 3) for both.")
        return
    error, least = error_of(answer, A, 3), torch.linalg.svdvals(A)[3:].norm()
    if off(error, least):
        yield ("For a random 5 by 5 table and d_k = 3 the error (root of the sum of squares) is "
               f"{float(error):.4g}; the least possible is {float(least):.4g}.")
    tables = numbers(219, 3, 5, 5)
    yield from works_for(lambda A: not off(error_of(answer, A, 3), torch.linalg.svdvals(A)[3:].norm()), "A", {
        "symmetric with positive eigenvalues": [A @ A.mT for A in tables],
        "symmetric with eigenvalues of both signs": [A + A.mT for A in tables],
        "zero above the diagonal": [A.tril() for A in tables]})
    for A in (torch.tensor([[1, 0, 0], [0, 3, 0], [0, 0, 2]]), torch.tensor([[0, 2], [0, 0]]),
              torch.tensor([[1, 0], [0, -3]])):
        A = A.double()
        if off(error_of(answer, A, 1), torch.linalg.svdvals(A)[1:].norm()):
            gives, right = apart(*(observe(function(A, 1), A, 1) for function in (answer, PROGRAM.reference)))
            yield f"For A = {table(A)} and d_k = 1 its scores are {gives}; the closest are {right}."
            return


def error_of(answer, A, d_k):
    return (observe(answer(A, d_k), A, d_k) - A).norm()


EXERCISE = Exercise(
    id="3.2", name="factor", chapter="03_query_and_key_lab", stars=3, minutes=15, after="chapter 3",
    signature="factor(A, d_k)",
    statement="Tokens are one-hot vectors, so a head without scaling can be asked for any table of scores: A is `(n, "
              "n)`, row i for query i. Write `factor(A, d_k)`, with d_k at most n: return two matrices "
              "W_Q and W_K, both `(n, d_k)`, whose scores W_Q W_K^T are as close to A as a head of that width can "
              "come (least sum of squared differences).",
    stub="# W_Q, W_K = factor(torch.tensor([[2., 0.], [0., 1.]]), 1)\n# W_Q @ W_K.T -> 2 0 0 0\n"
         "def factor(A, d_k):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(222, 3, 3), 1)), Case((numbers(223, 5, 5), 3)), Case((numbers(224, 4, 4), 4)),
           Case((numbers(225, 8, 8), 2)), Case((torch.tensor([[3.0, -3.0], [-3.0, 3.0]]).double(), 1)),
           Case((torch.diag(torch.tensor([2.0, 0.0, 0.0])).double(), 2))],                # of a lower rank
    measure=measure, observe=observe, wanted="a pair W_Q, W_K, both of shape (n, d_k) and of one dtype",
    compared="The scores W_Q W_K^T are compared, not the two matrices.",
    trained=(),
    hints=("The scores of a head of width d_k have rank at most d_k. Which table of that rank is closest to A?",
           "The singular value decomposition, cut after d_k values. torch.linalg.svd returns U, S and V transposed.",
           "U, S, Vh = torch.linalg.svd(A)\n"
           "return U[:, :d_k] * S[:d_k], Vh[:d_k].T"),
    note="Each column pair of W_Q and W_K is one channel: a direction that asks and a direction that answers. d_k is "
         "the number of channels. (The theorem behind it is Eckart and Young's, of 1936.)",
)
