"""6.1: cut a projection into heads."""
from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, traces
from mha.exercises.engine.report import Mistake

OF_HEAD_1 = "Which columns belong to head 1?"
ORDER = "In which order should the axes stand?"
FIRST_CUT = "What should be cut, before anything is exchanged?"
HOW_WIDE = "How wide is one head?"

PROGRAM = Program("""\
def split_heads(x, h):
    B, n, wide = x.shape
    d = wide <per_head>
    heads = x<first>.reshape(<cut>)<turn>
    <instead>
    return heads
""", {
    "per_head": Blank("// h", offered=1, wrong={
        # no whole number, and reshape wants one: what is raised says so
        "/ h": None,
    }),
    "first": Blank("", offered=1, wrong={
        ".mT": Mistake("transpose-then-view",
            "The tokens and columns are exchanged before the cut, and the shape is then forced: numbers of different "
            "tokens meet in one row.",
            FIRST_CUT),
    }),
    "cut": Blank("B, n, h, d", offered=3, wrong={
        "B, h, n, d": Mistake("view-for-transpose",
            "The shape is forced into (B, h, n, d) before an axis is moved, so each head is filled with the next "
            "numbers in memory; the transpose then moves the axes away again.",
            "Which numbers follow each other in x: those of one token or those of one head?"),
        "B, n, d, h": Mistake("pieces-of-h",
            "It makes d pieces of h columns, where h pieces of d columns are wanted. split takes the width of a piece, "
            "chunk their number.",
            HOW_WIDE),
        "B, h, d, n": Mistake("scrambled",
            "The axes are cut in an order that mixes tokens and columns.",
            OF_HEAD_1),
    }),
    "turn": Blank(".transpose(1, 2)", offered=4, wrong={
        "": Mistake("no-transpose",
            "The axes stay (B, n, h, d): the head axis should stand in front of the tokens.",
            "In which order should the axes stand, so that one product serves all heads?"),
        ".mT": Mistake("not-the-head-axis",
            "The last two axes are exchanged, heads and columns: (B, n, d, h). Heads and tokens should be.",
            ORDER),
        ".transpose(0, 1)": Mistake("batch-and-tokens-exchanged",
            "Batch and tokens change places: (n, B, h, d).",
            "Which axis should come first?"),
        ".permute(0, 3, 1, 2)": Mistake("axes-permuted",
            "The axes stand in the order (B, d, n, h).",
            ORDER),
        ".permute(2, 0, 1, 3)": Mistake("heads-before-batch",
            "The head axis stands in front of the batch.",
            "Which axis should come first?"),
        ".permute(0, 3, 2, 1)": Mistake("axes-permuted",
            "The axes stand in the order (B, d, h, n).",
            ORDER),
    }),
    "instead": Blank("", wrong={
        "heads = x.reshape(h, B, n, d).transpose(0, 1)": Mistake("heads-from-batch",
            "The batch axis takes part in the cut: with more than one sentence, heads hold numbers of others.",
            "Which axis alone should be cut?"),
        "heads = torch.cat(x.chunk(h, -1), 0).reshape(B, h, n, d)": Mistake("heads-in-batch-order",
            "The pieces are laid behind each other along the batch, head by head, and then read as (B, h, ...): "
            "sentences and heads change places.",
            "Which changes faster along the joined axis, the sentence or the head?"),
        "heads = x[:, None].expand(B, h, n, wide)": Mistake("every-head-whole",
            "Every head gets all the columns.",
            "How many columns has one head?"),
    }),
}, together={
    "cut turn": {
        ("B, h, n, d", ""): Mistake("view-for-transpose",
            "It forces the shape without moving an axis. Each head is filled with the next numbers in order, so it "
            "holds whole tokens, or pieces of them, where it should hold some columns of every token.",
            "Which numbers follow each other in x: those of one token or those of one head?"),
        ("B, n, d, h", ".permute(0, 3, 1, 2)"): Mistake("interleaved",
            "Each head takes every h-th column: the columns are cut as (d, h), not as (h, d).",
            OF_HEAD_1),
    },
    "first cut turn": {
        (".mT", "B, h, n, d", ""): Mistake("transpose-then-view",
            "The tokens and columns are exchanged before the cut, and the shape is then forced: numbers of different "
            "tokens meet in one row.",
            FIRST_CUT),
    },
})


def measure(answer):
    """Where the numbers go."""
    yield from traces(answer, numbers(41, 2, 3, 4), PROGRAM.reference,
                      (("sentence", "token", "column"), ("sentence", "head", "token", "column")), 2)


EXERCISE = Exercise(
    id="6.1", name="split_heads", chapter="06_multi_head_lab", stars=2, minutes=10, after="chapter 6",
    signature="split_heads(x, h)",
    statement="Write `split_heads(x, h)`: x is `(B, n, h*d)`, and head 1 owns the first d columns. Return `(B, h, n, "
              "d)`. x may be a slice or a transposed view of another tensor, and gradients must reach it.",
    stub="# split_heads(torch.arange(4.).view(1, 2, 2), 2) -> 0 2 1 3\n"
         "def split_heads(x, h):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(42, 1, 2, 6), 2)), Case((numbers(43, 2, 3, 10), 2)), Case((numbers(44, 3, 5, 14), 7)),
           Case((numbers(45, 4, 4, 16), 4)), Case((numbers(46, 2, 5, 3), 1)), Case((numbers(47, 5, 2, 6), 3)),
           Case((numbers(48, 2, 1, 4), 4)), Case((numbers(49, 2, 20, 48), 12))],
    sized=lambda B, n, h, d: Case((numbers(1, B, n, h * d), h)),
    measure=measure, views=True,
    hints=("Number the entries of a small x and write down by hand what head 1 should hold.",
           "Split the last axis into (h, d). That gives (B, n, h, d). Then move one axis.",
           "B, n, wide = x.shape\n"
           "return x.reshape(B, n, h, wide // h).transpose(1, 2)"),
    note="Split, then transpose. A view alone has the right shape and the wrong numbers, and with h = 1 nobody would "
         "notice.",
)
