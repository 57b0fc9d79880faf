"""10.4: weights that were trained with one pairing, for code that has the other."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, traces
from mha.exercises.engine.report import Mistake
from mha.position import rope

PER_HEAD = "In which columns of W stand the six numbers of head 2, if d_k = 6?"
SIX = "Write the order for one head of six columns: which old column comes first, which second?"
BACK = Mistake("the-other-way-back",
    "It is the way back: it makes neighbours of halves. For d_k = 2 and d_k = 4 the two ways are the same.",
    SIX)
WHOLE = Mistake("one-head-of-all-columns",
    "The columns are put in order as if all heads were one. Parts of one head then stand in another.",
    PER_HEAD)

PROGRAM = Program("""\
def to_halves(W, h):
    d_k = W.shape[1] // h
    first = torch.arange(0, d_k, 2)
    order = <order>
    start = <start>
    columns = <columns>.flatten()
    return <result>
""", {
    "order": Blank("torch.cat([first, first + 1])", offered=4, wrong={
        "torch.stack([first // 2, first // 2 + d_k // 2], -1).flatten()": BACK,
        "torch.stack([first, first + 1], -1).flatten()": Mistake("unchanged",
            "Every column stays where it is. Then the halves turn numbers together that belong to two pairs.",
            SIX),
        "torch.cat([first + 1, first])": Mistake("parts-exchanged",
            "The second parts stand in front of the first ones. Then every pair is turned the other way round.",
            "Which part of a pair should stand in the first half?"),
        "torch.cat([first, first.flip(0) + 1])": Mistake("second-half-reversed",
            "The second parts stand in reverse order, so that the first part of one pair meets the second of another.",
            SIX),
        "torch.cat([first, torch.cat([first, torch.arange(d_k // 2, d_k)])[1::2]])": Mistake("read-after-overwriting",
            "The second half is filled from columns that the first half has already overwritten.",
            "What stands in column 1 by the time it is read?"),
    }),
    "start": Blank("d_k * torch.arange(h)", offered=2, wrong={
        "torch.arange(h)": Mistake("heads-begin-too-early",
            "Head i (counted from 0) is taken to begin at column i. It begins at i d_k.",
            PER_HEAD),
        "torch.zeros(h, dtype=torch.int64)": Mistake("first-head-for-all",
            "All heads get the columns of the first.",
            PER_HEAD),
    }),
    "columns": Blank("(start[:, None] + order)", offered=2, wrong={
        "(start + order[:, None])": Mistake("heads-woven",
            "Neighbouring columns come from different heads. The first d_k columns all belong to head 1.",
            PER_HEAD),
        "torch.cat([torch.arange(0, h * d_k, 2), torch.arange(1, h * d_k, 2)])": WHOLE,
        "torch.arange(h * d_k).reshape(2, -1).T": Mistake("one-head-and-the-way-back",
            "It is the way back, from halves to neighbours, and for all columns as if they were one head.",
            PER_HEAD),
    }),
    "result": Blank("W[:, columns]", offered=2, wrong={
        "W[columns]": Mistake("rows-for-columns",
            "The rows of W are put in another order. In this book a head owns columns of W; in a weight of nn.Linear, "
            "which is stored transposed, it owns rows.",
            "Which axis of W has h d_k entries?"),
        "W[:, columns.argsort()]": BACK,
        "W[:, columns].unflatten(1, (h, -1))": Mistake("not-joined",
            "The columns are in the right order, and the heads still stand in an axis of their own, (d_model, h, d_k).",
            "How many axes has W?"),
    }),
}, together={
    "order result": {
        ("torch.cat([first + 1, first])", "W[:, columns.argsort()]"): Mistake("back-with-parts-exchanged",
            "It is the way back, from halves to neighbours, with the parts of every pair exchanged.",
            SIX),
    },
})


def measure(answer):
    """Where columns go, and what becomes of scores: pairs of neighbours before, halves after."""
    yield from traces(answer, numbers(1080, 2, 12), PROGRAM.reference, (("row", "column"),) * 2, 2)
    x, W_Q, W_K = numbers(1081, 5, 3), numbers(1082, 3, 6), numbers(1083, 3, 6)
    place = torch.arange(5)
    Q, K = (rope(x @ W, place, base=100, interleaved=True) for W in (W_Q, W_K))
    moved = [answer(W, 1) for W in (W_Q, W_K)]
    if all(W.shape == (3, 6) for W in moved):
        Q_moved, K_moved = (rope(x @ W, place, base=100) for W in moved)
        error = float((Q_moved @ K_moved.mT - Q @ K.mT).abs().max())
        if error > 1e-6:
            yield (f"With one head of six columns, scores that should stay change by up to {error:.3g}; the largest is "
                   f"{float((Q @ K.mT).abs().max()):.3g}.")


EXERCISE = Exercise(
    id="10.4", name="to_halves", chapter="10_position_lab", stars=3, minutes=15, after="section 4",
    signature="to_halves(W, h)",
    statement="A model was trained with pairs of neighbours, as in exercise 10.1: the columns 2i and 2i + 1 of a head "
              "are rotated by `position * base^(-2i/d_k)`. The code that shall run it pairs halves, as Hugging "
              "Face's code for Llama does: by that angle it rotates the columns i and i + d_k/2 of a head, as first "
              "and second part. Write `to_halves(W, h)`: W is `(d_model, h*d_k)`, its W_Q or its W_K; head 1 owns the "
              "first d_k columns. Return the same columns in the order with which that code gives the scores that the "
              "model was trained with: column i of a head should hold the first part of pair i. Gradients must reach "
              "W.",
    stub="# to_halves(torch.arange(6.)[None], 1) -> 0 2 4 1 3 5\n"
         "def to_halves(W, h):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(1084, 3, 6), 1)), Case((numbers(1085, 5, 12), 2)), Case((numbers(1086, 2, 12), 3)),
           Case((numbers(1087, 4, 24), 3)), Case((numbers(1088, 16, 16), 2)), Case((numbers(1089, 7, 4), 2)),
           Case((numbers(1090, 3, 40), 4))],
    measure=measure,
    hints=("Take one head with d_k = 6, whose columns are a0 b0 a1 b1 a2 b2. In which order do halves want them?",
           "First all first parts, then all second parts, in each head by itself. Cut the columns into heads, pairs "
           "and parts, and exchange the last two.",
           "return W.reshape(W.shape[0], h, -1, 2).transpose(2, 3).reshape(W.shape)"),
    note="W_V and W_O stay as they are, since values are not rotated. Both pairings are right; what goes wrong in "
         "practice is to run weights of the one in code of the other, and nothing crashes. With d_k = 4 the way there "
         "and the way back agree, so test with d_k = 6 at least.",
)
