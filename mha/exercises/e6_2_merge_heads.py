"""6.2: write the heads' outputs side by side."""
from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers, traces
from mha.exercises.report import Mistake


def merge_heads(y):
    return y.transpose(1, 2).flatten(2)


def model(y, join="side-by-side", order="right", turn="nothing"):
    """Merging with switches: each can be set wrong."""
    B, h, n, d = y.shape
    if order == "reversed":
        y = y.flip(1)
    if order == "columns-reversed":
        y = y.flip(-1)
    out = {
        "side-by-side": lambda: y.transpose(1, 2).reshape(B, n, h * d),
        "view": lambda: y.reshape(B, n, h * d),
        "interleaved": lambda: y.permute(0, 2, 3, 1).reshape(B, n, h * d),
        "sum": lambda: y.sum(1),
        "mean": lambda: y.mean(1),
        "max": lambda: y.amax(1),
        "first": lambda: y[:, 0],
        "last": lambda: y[:, -1],
        "below": lambda: y.reshape(B, h * n, d),
        "below-tokens": lambda: y.transpose(1, 2).reshape(B, n * h, d),
        "last-two": lambda: y.mT.reshape(B, n, h * d),
        "columns-tokens": lambda: y.permute(0, 1, 3, 2).reshape(B, h * d, n),
        "batch": lambda: y.transpose(0, 2).reshape(B, n, h * d),
        "only-transposed": lambda: y.transpose(1, 2),
        "column-head-token": lambda: y.permute(0, 3, 1, 2).reshape(B, n, h * d),
        "column-token": lambda: y.permute(0, 3, 2, 1).reshape(B, n, h * d),
        "product": lambda: y.prod(1),
        "batch-as-heads": lambda: y.reshape(h, B, n, d).permute(1, 2, 0, 3).reshape(B, n, h * d),
        "tokens-joined": lambda: y.flatten(2),
        "all-joined": lambda: y.flatten(1),
        "first-left-out": lambda: y[:, 1:].transpose(1, 2).flatten(2),
        "columns-as-rows": lambda: y.reshape(B, h * d, n).mT,
    }[join]()
    return {"nothing": lambda: out, "transposed": lambda: out.transpose(1, 2),
            "tokens-first": lambda: out.transpose(0, 1), "flat": lambda: out.flatten(0, 1)}[turn]()


SWITCHES = {
    "join": {
        "view": Mistake("view-for-transpose",
                        "It forces the shape without moving the head axis. Each row is filled with the next numbers "
                        "in memory, so tokens of one head stand in it, where all heads of one token should.",
                        "Which axis must stand beside d before the two can be joined?"),
        "interleaved": Mistake("interleaved",
                               "The heads' columns are interleaved: the axes of heads and columns were joined as (d, "
                               "h), not as (h, d).",
                               "Which columns should come first, all of head 1 or the first of every head?"),
        "batch-as-heads": Mistake("batch-read-as-heads",
                                  "The first two axes are read as (h, B), and they are (B, h): heads of different "
                                  "sentences are joined.",
                                  "Which axis of y counts the heads?"),
        "tokens-joined": Mistake("tokens-joined",
                                 "The tokens of a head are joined, (B, h, n d): the axes are taken for (B, n, h, d).",
                                 "Which axis of y counts the heads?"),
        "all-joined": Mistake("tokens-joined-too",
                              "Heads, tokens and columns are all joined into one axis.",
                              "How many rows should the output have?"),
        "first-left-out": Mistake("first-head-left-out", "The first head is left out.",
                                  "Are heads counted from 0 or from 1?"),
        "columns-as-rows": Mistake("reshape-then-transpose",
                                   "The numbers are forced into (B, h d, n) and then transposed: the head axis has to "
                                   "be moved before anything is joined.",
                                   "Which axis must stand beside d before the two are joined?"),
        "sum": Mistake("heads-summed", "The heads are added up, not written side by side.",
                       "How wide should a row of the output be?"),
        "mean": Mistake("heads-averaged", "The heads are averaged, not written side by side.",
                        "How wide should a row of the output be?"),
        "max": Mistake("heads-maximised",
                       "The largest number over the heads is taken; they should stand side by side.",
                       "How wide should a row of the output be?"),
        "product": Mistake("heads-multiplied",
                           "The heads are multiplied; they should stand side by side.",
                           "How wide should a row of the output be?"),
        "first": Mistake("first-head-only", "Only the first head is returned.",
                         "How wide should a row of the output be?"),
        "last": Mistake("last-head-only", "Only the last head is returned.", "How wide should a row of the output be?"),
        "below": Mistake("heads-below",
                         "The heads are written below each other, (B, h n, d), not side by side.",
                         "How many rows should the output have?"),
        "below-tokens": Mistake("heads-below",
                                "Heads and tokens are joined into one axis, (B, n h, d); heads and columns should "
                                "be.",
                                "How many rows should the output have?"),
        "last-two": Mistake("wrong-transpose",
                            "The last two axes were exchanged, (B, h, d, n), where heads and tokens should be.",
                            "Which two axes stand in the wrong order?"),
        "columns-tokens": Mistake("output-transposed",
                                  "The output has the columns before the tokens: (B, h d, n).",
                                  "Which axis should count the tokens?"),
        "batch": Mistake("batch-exchanged",
                         "The batch axis was exchanged with the tokens: numbers of other sentences come in.",
                         "Which two axes stand in the wrong order?"),
        "only-transposed": Mistake("not-joined",
                                   "The axes are in the right order, (B, n, h, d), and the last two are not joined "
                                   "yet.",
                                   "How many axes should the output have?"),
        "column-head-token": Mistake("wrong-transpose",
                                     "The axes were put in the order (B, d, h, n) before they were joined.",
                                     "In which order must they stand?"),
        "column-token": Mistake("wrong-transpose",
                                "The axes were put in the order (B, d, n, h) before they were joined.",
                                "In which order must they stand?"),
    },
    "order": {
        "reversed": Mistake("heads-reversed", "The heads come in reverse order.",
                            "Which head should own the first columns?"),
        "columns-reversed": Mistake("columns-reversed", "The columns inside each head come in reverse order.", ""),
    },
    "turn": {
        "transposed": Mistake("output-transposed", "Tokens and columns of the output are exchanged.",
                              "Which axis should count the tokens?"),
        "tokens-first": Mistake("tokens-before-batch", "The tokens stand in front of the batch.",
                                "Which axis should come first?"),
        "flat": Mistake("batch-and-tokens-merged", "Batch and tokens are one axis.",
                        "How many axes should the output have?"),
    },
}


def measure(answer):
    """Where the numbers go."""
    yield from traces(answer, numbers(51, 2, 2, 3, 2), merge_heads,
                      (("sentence", "head", "token", "column"), ("sentence", "token", "column")))


EXERCISE = Exercise(
    id="6.2", name="merge_heads", chapter="06_multi_head", stars=1, core=True, minutes=5, after="section 4",
    signature="merge_heads(y)",
    statement="Write `merge_heads(y)`: y is `(B, h, n, d)`. Return `(B, n, h*d)`: the outputs of head 1 in the first "
              "d columns, then head 2, and so on.",
    stub="def merge_heads(y):\n    ...\n",
    reference=merge_heads,
    cases=[Case((numbers(52, 1, 2, 3, 2),)), Case((numbers(53, 2, 3, 5, 4),)), Case((numbers(54, 3, 7, 2, 5),)),
           Case((numbers(55, 4, 4, 4, 4),)), Case((numbers(56, 2, 1, 5, 3),)),
           Case((numbers(57, 2, 4, 1, 1),)), Case((numbers(58, 2, 12, 20, 4),))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("It is the way back from split_heads: undo its two steps, in reverse order.",
           "Move the heads beside their columns, (B, n, h, d). Then join the last two axes.",
           "return y.transpose(1, 2).reshape(B, n, h * d), with B, h, n, d = y.shape"),
    note="Transpose, then join. merge_heads(split_heads(x, h)) is x.",
)
