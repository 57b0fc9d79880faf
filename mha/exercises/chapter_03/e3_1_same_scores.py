"""3.1: other matrices, the same scores."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.calls import works_for
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import apart, numbers, off, same, table
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def same_scores(W_Q, W_K, M):
    inverse = <inverse>
    transposed = <transposed>
    matrix = <matrix>
    return <product>
""", {
    "inverse": Blank("torch.linalg.inv(M)", offered=3, wrong={
        "1 / M": Mistake("inverse-of-each-entry",
            "It takes 1 over each entry of M. The inverse of a matrix is another thing: torch.linalg.inv.",
            "What is M times its inverse?"),
        "M": Mistake("transpose-for-inverse",
            "It is W_K times M transposed. Then M meets M in the middle of the scores.",
            "What must stand in the middle to cancel M?"),
        "M.mT": Mistake("same-change",
            "W_K gets the same change as W_Q: then M and its transpose meet in the middle of the scores, which is "
            "not 1 unless M is a rotation or a reflection.",
            "For which matrices M would that be right?"),
        "torch.linalg.pinv(M, rtol=0.1)": Mistake("weak-directions-dropped",
            "Directions that M makes small are taken for zero. M has an inverse, so they count like all others.",
            "What does the inverse do to a direction that M makes ten times smaller?"),
    }),
    "transposed": Blank("inverse.mT", offered=1, wrong={
        "inverse": Mistake("inverse-not-transposed",
            "It is W_K times the inverse of M. In the scores W_K stands transposed, so the inverse must be "
            "transposed too.",
            "Write the scores out: x W_Q M (y W_K')^T. What stands next to M?"),
    }),
    "matrix": Blank("W_K", offered=2, wrong={
        "W_Q": Mistake("query-matrix-returned",
            "It returns W_Q, changed. The exercise asks for the key matrix that goes with W_Q M.",
            "Which of the two matrices is still to be found?"),
        "W_Q @ M": Mistake("query-matrix-returned",
            "It makes the answer out of W_Q M. The exercise asks for the key matrix that goes with it, made of W_K.",
            "Which of the two matrices is still to be found?"),
    }),
    "product": Blank("matrix @ transposed", offered=3, wrong={
        "transposed @ matrix": Mistake("change-on-the-left",
            "The change stands on the left of W_K, where it mixes the d_model coordinates of a token; it runs only "
            "where d_k = d_model. It should mix the d_k coordinates of a key.",
            "On which side of W_K does a (d_k, d_k) matrix fit?"),
        "matrix / M": Mistake("divides-entry-by-entry",
            "It divides entry by entry, which runs only where d_k = d_model, or where one of them is 1. M is undone by "
            "its inverse, in a matrix product.",
            "What is M times its inverse?"),
        "matrix / torch.linalg.det(M)": Mistake("determinant-for-inverse",
            "It divides by the determinant of M, which is one number. The inverse of a matrix mixes columns.",
            "What is M times its inverse?"),
        "matrix / M.diagonal()": Mistake("diagonal-only",
            "It divides each column by an entry of the diagonal of M. That undoes M only where all others are 0.",
            "What does M do besides stretching each coordinate?"),
        "matrix": Mistake("unchanged",
            "W_K comes back as it was, and the scores carry an M too many.",
            "What has to undo M?"),
    }),
}, together={
    "transposed product": {
        ("inverse", "transposed @ matrix"): Mistake("change-on-the-left",
            "The inverse of M stands on the left of W_K, where it mixes the d_model coordinates of a token; it runs "
            "only where d_k = d_model. It should mix the d_k coordinates of a key.",
            "On which side of W_K does a (d_k, d_k) matrix fit?"),
    },
    "matrix product": {
        ("W_Q @ M", "matrix"): Mistake("query-matrix-returned",
            "It returns W_Q M. The exercise asks for the key matrix that goes with it.",
            "Which of the two matrices is still to be found?"),
    },
})


SMALL = torch.tensor([[[2, 0], [0, 4]], [[1, 1], [0, 1]], [[1, 0], [1, 1]], [[2, 1], [1, 1]], [[0, 1], [-1, 0]]])


def measure(answer):
    """For which M it is right, and the simplest for which it is not, by its numbers."""
    W_Q, W_K, any_M = numbers(201, 5, 3), numbers(202, 5, 3), numbers(203, 3, 3, 3) + 3 * torch.eye(3)
    signs, turns = torch.tensor([1.0, -1.0, 1.0]), torch.linalg.qr(any_M)[0]
    turns = turns * turns.det()[:, None, None]  # of an odd size: no reflection is left
    yield from works_for(lambda M: same(answer(W_Q, W_K, M), PROGRAM.reference(W_Q, W_K, M)), "M", {
        "diagonal": [M * torch.eye(3) * signs for M in any_M],
        "zero below the diagonal": [M.triu() for M in any_M], "zero above the diagonal": [M.tril() for M in any_M],
        "symmetric with positive eigenvalues": [M @ M.mT for M in any_M],
        "symmetric with eigenvalues of both signs": [(turn * signs) @ turn.mT for turn in turns],
        "a rotation": [*turns]})
    unit = torch.eye(3, 2, dtype=torch.float64)
    added = torch.stack([torch.linalg.inv(answer(W_Q[:3, :2], unit, M)[:2]).mT - M for M in SMALL[[0, 3]].double()])
    constant = float(added.diagonal(dim1=1, dim2=2).mean())
    if 1e-5 < abs(constant) < 0.1 and not off(added, constant * torch.eye(2)):
        yield (f"The formula is right, with {constant:.3g} added to the diagonal of M before it is inverted. M has an "
               "inverse, so nothing needs to be added.")
    for M in SMALL.double():
        found, wanted = answer(W_Q[:3, :2], unit, M), PROGRAM.reference(W_Q[:3, :2], unit, M)
        if not same(found, wanted):
            gives, right = apart(found, wanted)
            yield f"For W_K = {table(unit)} and M = {table(M)} it gives {gives}; it should be {right}."
            return


EXERCISE = Exercise(
    id="3.1", name="same_scores", chapter="03_query_and_key_lab", stars=2, minutes=10, after="chapter 3",
    signature="same_scores(W_Q, W_K, M)",
    statement="Somebody has replaced W_Q by W_Q M. Write `same_scores(W_Q, W_K, M)`: W_Q and W_K are `(d_model, "
              "d_k)`, M is `(d_k, d_k)` and has an inverse. Return the matrix, `(d_model, d_k)`, that must replace "
              "W_K so that every score stays the same.",
    stub="# same_scores(torch.ones(1, 1), torch.ones(1, 1), torch.tensor([[2.]])) -> 0.5\n"
         "def same_scores(W_Q, W_K, M):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(205, 4, 2), numbers(206, 4, 2), numbers(207, 2, 2) + 2 * torch.eye(2, dtype=torch.float64))),
           Case((numbers(208, 6, 3), numbers(209, 6, 3), numbers(210, 3, 3) + 2 * torch.eye(3, dtype=torch.float64))),
           Case((numbers(211, 5, 5), numbers(212, 5, 5), numbers(213, 5, 5) + 3 * torch.eye(5, dtype=torch.float64))),
           Case((numbers(214, 4, 2), numbers(215, 4, 2),                                # one direction is made small
                 torch.tensor([[2.0, 1.0], [1.0, 0.52]], dtype=torch.float64))),
           Case((numbers(216, 3, 1), numbers(217, 3, 1), torch.tensor([[-2.0]], dtype=torch.float64))),
           Case((numbers(218, 4, 2), numbers(219, 4, 2),                                # one is made very small
                 torch.tensor([[2.0, 1.0], [1.0, 0.501]], dtype=torch.float64)))],
    measure=measure, measures_closely=True, trained=(),
    hints=("The scores are x W_Q M (y W_K')^T. Write them as a chain of matrices, without brackets.",
           "In the middle stands M W_K'^T. It should be what stood there before, W_K^T. Solve for W_K'.",
           "return W_K @ torch.linalg.inv(M).T"),
    note="Only the product of W_Q and W_K transposed can be seen from outside. So a single column of W_Q means "
         "nothing by itself: M may mix it with the others.",
)
