"""14.7: the share of right answers that nobody can pass who knows no more than this."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import off
from mha.exercises.engine.report import Mistake

ONE_ROW = ("A row has 3 documents with one answer and 1 with another. Which answer would you give, and how often is it "
           "right?")
WEIGHT = "A row of 30 documents and one of 10: how much should each count?"

PROGRAM = Program("""\
def best_right(counts):
    right = <right>
    total = <total>
    return <share>
""", {
    "right": Blank("counts.amax(-1).sum()", offered=6, wrong={
        "counts.sum(-2).amax()": Mistake("nothing-known",
            "One answer is given to all documents, so that what is known of them is not used.",
            "May the answer differ from row to row?"),
        "counts.amax(-2).sum()": Mistake("best-row",
            "The maximum is taken down each column, over what is known. It should be taken along each row, over the "
            "answers.",
            "What may be chosen: the answer, or what is known?"),
        "counts.amax()": Mistake("one-row",
            "Only the largest entry counts. Each row has a best answer of its own.",
            "How many documents are answered right in the other rows?"),
        "(counts.square().sum(-1) / counts.sum(-1)).sum()": Mistake("answers-drawn",
            "Each answer is given as often as it is true. Whoever always gives the most frequent one is right more "
            "often.",
            ONE_ROW),
        "counts.sum()": Mistake("all-right",
            "All documents count as answered right.",
            ONE_ROW),
        "(counts.sum(-1) / counts.shape[-1]).sum()": Mistake("guessed",
            "In each row the answers are guessed, all equally often.",
            ONE_ROW),
        "counts.amin(-1).sum()": Mistake("rarest",
            "The rarest answer of each row is given.",
            ONE_ROW),
        "counts.argmax(-1).sum()": Mistake("places-of-maxima",
            "It adds up at which places the maxima stand, and not how large they are.",
            "What do max and argmax return?"),
        "0 * counts.sum()": Mistake("nothing-right",
            "It returns 0 for each table, as if no document were answered right.",
            ONE_ROW),
    }),
    "total": Blank("counts.sum()", offered=4, wrong={
        "counts.shape[-2] * counts.shape[-1]": Mistake("cells-counted",
            "It divides by the number of cells. Each cell stands for as many documents as it says.",
            WEIGHT),
        "(counts > 0).sum()": Mistake("filled-cells-counted",
            "It divides by the number of cells that are not 0. Each stands for as many documents as it says.",
            WEIGHT),
        "counts.sum(-1).amax()": Mistake("largest-row",
            "It divides by the documents of the largest row alone.",
            WEIGHT),
        "counts.shape[-2]": Mistake("rows-counted",
            "It divides by the number of rows. How many documents a row has is lost.",
            WEIGHT),
    }),
    "share": Blank("right / total", offered=4, wrong={
        "1 - right / total": Mistake("share-of-errors",
            "It returns the share of wrong answers.",
            "What is asked for, the right or the wrong ones?"),
        "total / right": Mistake("turned-over",
            "It is turned over: all documents over those that are answered right.",
            "Can a share be above 1?"),
        "right": Mistake("number-not-share",
            "It returns how many are answered right. The share of all documents is asked for.",
            "Of how many documents is it?"),
        "(counts / counts.sum(-1, keepdim=True)).amax(-1).mean()": Mistake("rows-count-alike",
            "It averages the share of each row, so that rows with few documents count as much as those with many.",
            WEIGHT),
    }),
})


def case(seed, known, answers, most=9):
    generator = torch.Generator().manual_seed(seed)
    counts = torch.randint(0, most + 1, (known, answers), generator=generator).double()
    counts[:, 0] += 1  # no row is empty
    return Case((counts,))


def measure(answer):
    """A row that is sure beside one that is not."""
    for counts in ([[3.0, 1.0]], [[4.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]):
        table = torch.tensor(counts, dtype=torch.float64)
        result, wanted = answer(table.clone()), float(table.amax(-1).sum() / table.sum())
        if not isinstance(result, torch.Tensor) or result.numel() != 1:
            return
        if off(result.sum(), wanted):
            yield f"For counts {counts} it returns {float(result.sum()):.4g}, and the best share is {wanted:.4g}."


EXERCISE = Exercise(
    id="14.7", name="best_right", chapter="14_a_model_of_your_own", stars=2, minutes=8, after="section 1", core=True,
    signature="best_right(counts)",
    statement="All documents of a small world were counted: counts `(K, Y)` says in how many of them k is what a model "
              "knows and y is the right answer. Each document is equally likely, and no row is empty. Write "
              "`best_right(counts)`: return the largest share of right answers, a tensor of one number, that any model "
              "can reach that knows k and no more.",
    stub="# best_right(torch.tensor([[4.0, 0.0], [1.0, 1.0]])) -> 0.8333\n"
         "def best_right(counts):\n    ...\n",
    program=PROGRAM,
    cases=[case(14701, 2, 3), case(14702, 3, 2), case(14703, 4, 5), case(14704, 1, 4), case(14705, 5, 1),
           case(14706, 6, 3, 2), case(14707, 3, 7, 60)],
    sized=lambda K, Y: case(1, K, Y),
    measure=measure,
    wanted="a tensor of one number",
    trained=(),
    hints=("For one k, which answer should a model give, and in how many documents is it right?",
           "Add up the largest count of each row, and divide by the number of all documents.",
           "return counts.amax(-1).sum() / counts.sum()"),
    note="A test counts in this way, in a smaller world, what the chapter says of the towns, the box and the fact.",
)
