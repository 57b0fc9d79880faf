"""13.3: a score as a sum over parts of the stream."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers
from mha.exercises.engine.report import Mistake

ONE_SIZE = "By what does RMSNorm divide a token, and how many such numbers are there for one token?"
SCALE = "By what is a score divided, whatever the parts are?"

PROGRAM = Program("""\
def attribution(x, y, W_Q, W_K):
    size = lambda parts: <size>
    Q = <queries>
    K = <keys>
    return <table>
""", {
    "size": Blank("parts.sum(0).square().mean().sqrt()", offered=4, wrong={
        "parts.square().mean(-1, keepdim=True).sqrt()": Mistake("own-size",
            "Each part is divided by its own size, so all parts count as if they were equally long, and the table does "
            "not sum to the score. Divide all by the size of their sum.",
            ONE_SIZE),
        "parts.square().mean(-1).sum().sqrt()": Mistake("squares-added",
            "The squares of the parts are added. That is the size of the sum only where parts are orthogonal.",
            ONE_SIZE),
        "parts.sum(0).norm()": Mistake("length",
            "The parts are divided by the length of the token, the root of the sum of squares. RMSNorm divides by the "
            "root of their mean.",
            ONE_SIZE),
        "torch.ones(())": Mistake("not-normalised",
            "The parts enter as they are. The head reads the normalised token.",
            ONE_SIZE),
        "parts.mean(0).square().mean().sqrt()": Mistake("mean-of-parts",
            "The token is taken for the mean of its parts. It is their sum.",
            ONE_SIZE),
        "parts.sum(0).square().mean()": Mistake("no-root",
            "The parts are divided by the mean of squares. RMSNorm divides by its root.",
            ONE_SIZE),
    }),
    "queries": Blank("x / size(x) @ W_Q", offered=2, wrong={
        "x / size(y) @ W_Q": Mistake("other-tokens-size",
            "The query's parts are divided by the size of the key's token.",
            ONE_SIZE),
        "x.sum(0, keepdim=True) / size(x) @ W_Q": Mistake("queries-summed",
            "The query's parts are added up, so the table has one row only.",
            "How many rows should the table have?"),
    }),
    "keys": Blank("y / size(y) @ W_K", offered=1, wrong={
        "y / size(x) @ W_K": Mistake("key-by-query-size",
            "The key's parts are divided by the size of the query's token.",
            ONE_SIZE),
    }),
    "table": Blank("Q @ K.T / W_Q.shape[1] ** 0.5", offered=4, wrong={
        "Q @ K.T": Mistake("no-scale",
            "The division by the root of d_k is missing.",
            SCALE),
        "Q @ K.T / W_Q.shape[0] ** 0.5": Mistake("root-of-d_model",
            "It divides by the root of d_model. The scale of a score is the root of d_k.",
            SCALE),
        "Q @ K.T / W_Q.shape[1]": Mistake("by-d_k",
            "It divides by d_k. The scale of a score is its root.",
            SCALE),
        "K @ Q.T / W_Q.shape[1] ** 0.5": Mistake("transposed",
            "Rows and columns are exchanged: the key's parts stand in the rows.",
            "What should the rows of the table count?"),
        "(Q @ K.T / W_Q.shape[1] ** 0.5).softmax(-1)": Mistake("softmax",
            "A softmax runs over the parts. They do not compete: they add up to one score.",
            "What should the whole table sum to?"),
        "(Q @ K.T / W_Q.shape[1] ** 0.5).abs()": Mistake("sizes",
            "The signs are lost. A part may lower the score.",
            "What should the whole table sum to?"),
    }),
}, together={
    "size table": {
        ("torch.ones(())", "Q @ K.T"): Mistake("plain-products",
            "Neither the sizes of the tokens nor the root of d_k divides: these are plain products of projected parts.",
            SCALE),
    },
    "queries keys": {
        ("x @ W_Q", "y @ W_K / size(y)"): Mistake("query-not-normalised",
            "The query's parts are not divided by the size of their token.",
            ONE_SIZE),
        ("x / size(x) @ W_Q", "y @ W_K"): Mistake("key-not-normalised",
            "The key's parts are not divided by the size of their token.",
            ONE_SIZE),
    },
})


def measure(answer):
    """Whether the table sums to the score, which is the point of it."""
    x, y, W_Q, W_K = numbers(1341, 2, 4), numbers(1342, 3, 4), numbers(1343, 4, 2), numbers(1344, 4, 2)
    found, wanted = answer(x, y, W_Q, W_K), PROGRAM.reference(x, y, W_Q, W_K)
    if isinstance(found, torch.Tensor) and found.numel() and abs(found.sum() - wanted.sum()) > 1e-4:
        yield (f"On a small input its table sums to {float(found.sum()):.4g}, and the score is "
               f"{float(wanted.sum()):.4g}.")


def case(seed, p, q, d_model, d_k):
    return Case((numbers(seed, p, d_model), 2 * numbers(seed + 1, q, d_model), numbers(seed + 2, d_model, d_k),
                 numbers(seed + 3, d_model, d_k)))


EXERCISE = Exercise(
    id="13.3", name="attribution", chapter="13_heads_that_write_lab", stars=3, minutes=12, after="section 6",
    signature="attribution(x, y, W_Q, W_K)",
    statement="Which part of the stream made a score? x is `(p, d_model)`, the parts of the query token, such as "
              "its embedding and what each earlier head added; their sum is its vector. y is `(q, d_model)`, the parts "
              "of the key token. W_Q and W_K are `(d_model, d_k)`. The head reads each token through an "
              "RMSNorm without gain, which divides it by the root of the mean of its squares. Write `attribution(x, y, "
              "W_Q, W_K)`: return `(p, q)`, what each pair of parts adds to the score, with both sizes as they are for "
              "the whole tokens, so that the table sums to the score, scale included. No gradient is needed.",
    stub="# attribution(torch.ones(2, 1), torch.ones(1, 1), torch.ones(1, 1), torch.ones(1, 1)) -> 0.5 0.5\n"
         "def attribution(x, y, W_Q, W_K):\n    ...\n",
    program=PROGRAM,
    cases=[case(1351, 2, 2, 3, 2), case(1355, 3, 2, 4, 3), case(1359, 2, 4, 5, 2), case(1363, 1, 3, 6, 4),
           case(1367, 4, 3, 7, 5)],
    sized=lambda p, q, d_model, d_k: case(1, p, q, d_model, d_k),
    measure=measure, trained=(),
    hints=("With the size of the token held fixed, RMSNorm is a factor. What is a factor of a sum, part by part?",
           "Divide the parts by one number for each token, then project them as if they were tokens: p queries and q "
           "keys.",
           "x, y = (t / t.sum(0).square().mean().sqrt() for t in (x, y))\n"
           "return x @ W_Q @ (y @ W_K).T / W_Q.shape[1] ** 0.5"),
    note="The table is exact, and it is no intervention: take a part away, and the size changes too, and with it what "
         "all other parts add. So test what it names by leaving the part out. A softmax sees differences only, so "
         "compare a key's row with that of the other keys.",
)
