"""6.2: write the heads' outputs side by side."""
from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, traces
from mha.exercises.engine.report import Mistake

BESIDE_D = "Which axis must stand beside d before the two can be joined?"
HOW_WIDE = "How wide should a row of the output be?"
HOW_MANY_ROWS = "How many rows should the output have?"
COUNTS_HEADS = "Which axis of y counts the heads?"
COUNTS_TOKENS = "Which axis should count the tokens?"
WRONG_ORDER = "Which two axes stand in the wrong order?"

PROGRAM = Program("""\
def merge_heads(y):
    B, <axes>, d = y.shape
    <order>
    rows = y<turn>
    rows = rows.reshape(<joined>)<end>
    <instead>
    return rows
""", {
    "axes": Blank("h, n", offered=1, wrong={
        "n, h": Mistake("tokens-read-as-heads",
            "The shape of y is read as (B, n, h, d), and it is (B, h, n, d): h and n change places.",
            COUNTS_HEADS),
    }),
    "order": Blank("", wrong={
        "y = y.reshape(h, B, n, d).transpose(0, 1)": Mistake("batch-read-as-heads",
            "The first two axes are read as (h, B), and they are (B, h): heads of different sentences are joined.",
            COUNTS_HEADS),
        "y = y[:, 1:]; h = h - 1": Mistake("first-head-left-out",
            "The first head is left out.",
            "Are heads counted from 0 or from 1?"),
    }),
    "turn": Blank(".transpose(1, 2)", offered=3, wrong={
        "": Mistake("view-for-transpose",
            "It forces the shape without moving the head axis. A row is filled with the next numbers in order, which "
            "run through the tokens of one head before the next. It should hold all heads of one token.",
            BESIDE_D),
        ".mT": Mistake("wrong-transpose",
            "The last two axes were exchanged, (B, h, d, n), where heads and tokens should be.",
            WRONG_ORDER),
        ".permute(0, 2, 3, 1)": Mistake("interleaved",
            "The heads' columns are interleaved: the axes of heads and columns were joined as (d, h), not as (h, d).",
            "Which columns should come first, all of head 1 or the first of every head?"),
        ".transpose(0, 2)": Mistake("batch-exchanged",
            "The batch axis was exchanged with the tokens: numbers of other sentences come in.",
            WRONG_ORDER),
        ".permute(2, 0, 1, 3)": Mistake("tokens-before-batch",
            "The tokens were put in front of the batch, (n, B, h, d), before the heads were joined, and the shape was "
            "then forced.",
            WRONG_ORDER),
        ".permute(0, 3, 2, 1)": Mistake("wrong-transpose",
            "The axes were put in the order (B, d, n, h) before they were joined.",
            "In which order must they stand?"),
    }),
    "joined": Blank("B, n, h * d", offered=3, wrong={
        "B, n * h, d": Mistake("heads-below",
            "Heads and tokens are joined into one axis, (B, n h, d); heads and columns should be.",
            HOW_MANY_ROWS),
        "B, h * d, n": Mistake("forced-into-columns",
            "The numbers are forced into the shape (B, h d, n): columns come before tokens there, and no axis was "
            "moved for it.",
            COUNTS_TOKENS),
        "B, n, h, d": Mistake("not-joined",
            "The axes are in the right order, (B, n, h, d), and the last two are not joined yet.",
            "How many axes should the output have?"),
    }),
    "end": Blank("", offered=2, wrong={
        ".mT": Mistake("output-transposed",
            "Tokens and columns of the output are exchanged.",
            COUNTS_TOKENS),
        ".flatten(0, 1)": Mistake("batch-and-tokens-merged",
            "Batch and tokens are one axis.",
            "How many axes should the output have?"),
    }),
    "instead": Blank("", wrong={
        "rows = y.sum(1)": Mistake("heads-summed",
            "The heads are added up, not written side by side.",
            HOW_WIDE),
        "rows = y.mean(1)": Mistake("heads-averaged",
            "The heads are averaged, not written side by side.",
            HOW_WIDE),
        "rows = y[:, -1]": Mistake("last-head-only",
            "Only the last head is returned.",
            HOW_WIDE),
        "rows = torch.cat(list(y), -1)": Mistake("sentences-side-by-side",
            "The sentences are written side by side, where the heads should be.",
            COUNTS_HEADS),
        "rows = y.flatten(1)": Mistake("tokens-joined-too",
            "Heads, tokens and columns are all joined into one axis.",
            HOW_MANY_ROWS),
    }),
}, together={
    "axes turn": {
        ("n, h", ""): Mistake("tokens-joined",
            "The tokens of a head are joined, (B, h, n d): the axes are taken for (B, n, h, d).",
            COUNTS_HEADS),
    },
    "joined end": {
        ("B, n, h, d", ".mT"): Mistake("not-joined",
            "The axes stand as (B, n, d, h), and the last two are not joined yet; for that, the heads must stand "
            "before the columns.",
            "How many axes should the output have?"),
    },
    "turn joined": {
        (".mT", "B, h, n * d"): Mistake("tokens-joined",
            "The tokens of a head are joined, column by column: (B, h, d n).",
            COUNTS_HEADS),
        ("", "B, n * h, d"): Mistake("heads-below",
            "The heads are written below each other, (B, h n, d), not side by side.",
            HOW_MANY_ROWS),
        (".mT", "B, h * d, n"): Mistake("output-transposed",
            "The output has the columns before the tokens: (B, h d, n).",
            COUNTS_TOKENS),
    },
    "turn joined end": {
        ("", "B, h * d, n", ".mT"): Mistake("reshape-then-transpose",
            "The numbers are forced into (B, h d, n) and then transposed: the head axis has to be moved before "
            "anything is joined.",
            "Which axis must stand beside d before the two are joined?"),
    },
})


def measure(answer):
    """Where the numbers go."""
    yield from traces(answer, numbers(51, 2, 2, 3, 2), PROGRAM.reference,
                      (("sentence", "head", "token", "column"), ("sentence", "token", "column")))


EXERCISE = Exercise(
    id="6.2", name="merge_heads", chapter="06_multi_head_lab", stars=1, minutes=5, after="chapter 6",
    signature="merge_heads(y)",
    statement="Write `merge_heads(y)`: y is `(B, h, n, d)`. Return `(B, n, h*d)`: the outputs of head 1 in the first "
              "d columns, then head 2, and so on. Gradients must reach y.",
    stub="# merge_heads(torch.arange(4.).view(1, 2, 2, 1)) -> 0 2 1 3\n"
         "def merge_heads(y):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(52, 1, 2, 3, 2),)), Case((numbers(53, 2, 3, 5, 4),)), Case((numbers(54, 3, 7, 2, 5),)),
           Case((numbers(55, 4, 4, 4, 4),)), Case((numbers(56, 2, 1, 5, 3),)),
           Case((numbers(57, 2, 4, 1, 1),)), Case((numbers(58, 2, 12, 20, 4),))],
    sized=lambda B, h, n, d: Case((numbers(1, B, h, n, d),)),
    measure=measure,
    hints=("It is the way back from split_heads: undo its two steps, in reverse order.",
           "Move the heads beside their columns, (B, n, h, d). Then join the last two axes.",
           "B, h, n, d = y.shape\n"
           "return y.transpose(1, 2).reshape(B, n, h * d)"),
    note="Transpose, then join. merge_heads(split_heads(x, h)) is x.",
)
