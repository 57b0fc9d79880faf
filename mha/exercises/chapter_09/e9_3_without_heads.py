"""9.3: the smaller matrices."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

ROWS = Mistake("rows-of-projections",
    "It cuts the rows of W_Q, W_K and W_V. In x @ W the rows meet the entries of x; the columns make the heads.",
    "Which shape has x @ W_Q, and where in it is head 1?")
COLUMNS = Mistake("columns-of-W_O",
    "It cuts the columns of W_O. They are the entries of the output; head by head W_O is cut in rows.",
    "Which rows of W_O meet the first d_v columns of the heads side by side?")
INTERLEAVED = Mistake("interleaved",
    "It takes every h-th column for a head: the columns are cut as (d, h), not as (h, d).",
    "Which columns of W_Q belong to the first head?")
ONE_COLUMN = Mistake("one-column-per-head",
    "It takes a single column for each head. A head owns d_k neighbouring columns, or d_v.",
    "Which columns of W_Q belong to the first head?")
STEPS_OF_D_K = Mistake("d_k-for-values",
    "It cuts W_V and W_O in steps of d_k. There a head owns d_v columns and rows.",
    "How many columns has W_V, and how many W_Q?")


def columns(width):
    """Code that cuts the heads' columns out of W one by one."""
    return f"torch.cat([W[:, i * ({width}) : (i + 1) * ({width})] for i in keep.tolist()], 1)"


def rows(width):
    """Code that cuts the heads' rows out of W_O one by one."""
    return f"torch.cat([W_O[i * ({width}) : (i + 1) * ({width})] for i in keep.tolist()])"


def listed_columns(width):
    return f"W[:, [i * ({width}) + c for i in keep.tolist() for c in range({width})]]"


def listed_rows(width):
    return f"W_O[[i * ({width}) + c for i in keep.tolist() for c in range({width})]]"


ZERO_ROWS = "W_O * torch.isin(torch.arange(h), keep).repeat_interleave(len(W_O) // h)[:, None]"
ZEROED = Mistake("zeroed-not-removed",
    "The heads are set to zero where they should be taken out. The outputs are then the same, and nothing is saved.",
    "Which shapes should the smaller matrices have?")
ONLY_W_O_ZEROED = Mistake("zeroed-not-removed",
    "Rows of W_O are set to zero where they should be taken out.",
    "Which shape should the smaller W_O have?")

PROGRAM = Program("""\
def without_heads(W_Q, W_K, W_V, W_O, keep, h):
    <order>
    Q, K, V = (<columns> for W in (W_Q, W_K, W_V))
    O = <rows>
    <whole>
    return <result>
""", {
    "order": Blank("", offered=2, wrong={
        "keep = keep.sort().values": Mistake("order-lost",
            "The heads stand in their old order. They should stand in the order of keep.",
            "What should come first for keep = [2, 0]?"),
        "keep = keep - 1": Mistake("counted-from-one",
            "It counts the heads from 1. In keep they count from 0.",
            "Which columns belong to head 0?"),
        "keep = torch.tensor([i for i in range(h) if i not in keep], dtype=torch.long)": Mistake("removes-them",
            "It takes away the heads that should stay, and keeps the others.",
            "What does keep name: those that stay, or those that go?"),
    }),
    "columns": Blank("W.unflatten(1, (h, -1))[:, keep].flatten(1)", offered=3, wrong={
        "W.unflatten(0, (h, -1))[keep].flatten(0, 1)": ROWS,
        "W.unflatten(1, (-1, h))[:, :, keep].flatten(1)": INTERLEAVED,
        "W[:, keep]": ONE_COLUMN,
        columns("W.shape[1] // h").replace("W[:, ", "W[").replace("], 1)", "])"): ROWS,
        columns("W_V.shape[1] // h"): Mistake("d_v-for-queries",
            "It cuts W_Q and W_K in steps of d_v. There a head owns d_k columns.",
            "How many columns has W_V, and how many W_Q?"),
        columns("W_Q.shape[1] // h"): Mistake("d_k-for-values",
            "It cuts W_V in steps of d_k. There a head owns d_v columns.",
            "How many columns has W_V, and how many W_Q?"),
    }),
    "rows": Blank("W_O.unflatten(0, (h, -1))[keep].flatten(0, 1)", offered=3, wrong={
        "W_O.unflatten(1, (h, -1))[:, keep].flatten(1)": COLUMNS,
        "W_O[keep]": Mistake("one-row-per-head",
            "It takes a single row of W_O for each head. A head owns d_v of them.",
            "How many columns does one head bring to W_O?"),
        rows("W_Q.shape[1] // h"): Mistake("d_k-for-values",
            "It cuts W_O in steps of d_k. There a head owns d_v rows.",
            "How many columns has W_V, and how many W_Q?"),
        columns("W_V.shape[1] // h").replace("W[", "W_O["): COLUMNS,
        ZERO_ROWS: ONLY_W_O_ZEROED,
    }),
    "whole": Blank(""),
    "result": Blank("Q, K, V, O", offered=2, wrong={
        "Q.mT, K.mT, V.mT, O": Mistake("matrices-transposed",
            "W_Q, W_K and W_V come back transposed. torch's layers store them so; here x @ W is meant.",
            "Which shape has x @ W_Q?"),
        "Q, K, V, O.mT": Mistake("W_O-transposed",
            "W_O comes back transposed.",
            "Which shape has W_O?"),
    }),
}, together={
    "columns rows": {
        ("W.unflatten(1, (-1, h))[:, :, keep].flatten(1)", "W_O.unflatten(0, (-1, h))[:, keep].flatten(0, 1)"):
            INTERLEAVED,
        ("W[:, keep]", "W_O[keep]"): ONE_COLUMN,
        (columns("W_Q.shape[0] // h"), rows("W_Q.shape[0] // h")): Mistake("d_model-over-h",
            "It takes d_model / h columns for each head. W_Q and W_V have widths of their own: count their columns.",
            "Which d makes h d equal to the number of columns?"),
        (columns("W_Q.shape[1] // h"), rows("W_Q.shape[1] // h")): STEPS_OF_D_K,
        (listed_columns("W_Q.shape[1] // h"), listed_rows("W_Q.shape[1] // h")): STEPS_OF_D_K,
        ("W * torch.isin(torch.arange(h), keep).repeat_interleave(W.shape[1] // h)",
         ZERO_ROWS): ZEROED,
    },
    "rows whole": {
        (ZERO_ROWS, "Q, K, V = W_Q, W_K, W_V"): ZEROED,
        ("W_O", "Q, K, V = W_Q, W_K, W_V"): Mistake("nothing-removed",
            "All four matrices come back whole.",
            "Which shapes should the smaller matrices have?"),
    },
})


def observe(output, W_Q, W_K, W_V, W_O, keep, h):
    """One table for each matrix: its sizes in the first row, its numbers below. Any two tuples of four matrices differ
    somewhere.
    """
    size = max(*W_Q.shape, *W_V.shape, *W_O.shape)
    if len(output) != 4 or any(W.ndim != 2 or max(W.shape) > size for W in output):
        raise ValueError("not four matrices")
    tables = W_Q.new_zeros(4, size + 1, size)
    for table, W in zip(tables, output):
        table[0, :2] = torch.tensor(W.shape)
        table[1 : W.shape[0] + 1, : W.shape[1]] = W
    return tables


NAMES = "W_Q", "W_K", "W_V", "W_O"


def describe_difference(tables, wanted):
    """Which of the four matrices are wrong, and whether in shape or in numbers."""
    shapes = [f"{name} has shape {tuple(map(int, table[0, :2]))}, and should be {tuple(map(int, right[0, :2]))}"
              for name, table, right in zip(NAMES, tables, wanted) if off(table[0, :2], right[0, :2])]
    numbers = [name for name, table, right in zip(NAMES, tables, wanted) if off(table, right)]
    return (f"{'; '.join(shapes)}." if shapes
            else f"the shapes are right, and numbers of {', '.join(numbers)} are wrong.")


def measure(answer):
    """From which heads the columns and rows come, read off matrices that hold the number of each head, counted from 1:
    zeros come from none.
    """
    number = torch.arange(1, 4, dtype=torch.float64)
    wide, wider = number.repeat_interleave(2).expand(7, 6), number.repeat_interleave(3).expand(7, 9)
    found = answer(wide.clone(), wide.clone(), wider.clone(), wider.mT.clone(), torch.tensor([2, 0]), 3)
    for name, part, d in zip(NAMES, (*found[:3], found[3].mT), (2, 2, 3, 3)):
        heads = part[0].tolist() if part.numel() and not off(part, part[:1]) else [None]
        if heads != [3] * d + [1] * d and {0, 1, 2, 3}.issuperset(heads):
            of = ", ".join("none" if head == 0 else f"{head - 1:g}" for head in heads)
            yield (f"With 3 heads, d_k = 2, d_v = 3 and keep = [2, 0] the {'rows' if name == 'W_O' else 'columns'} of "
                   f"its {name} come from the heads {of} (counted from 0); it should be "
                   f"{', '.join(['2'] * d + ['0'] * d)}.")


def case(seed, d_model, h, d_k, d_v, keep):
    return Case((numbers(seed, d_model, h * d_k), numbers(seed + 1, d_model, h * d_k),
                 numbers(seed + 2, d_model, h * d_v), numbers(seed + 3, h * d_v, d_model), torch.tensor(keep), h))


class OfHeads(Exercise):
    """An exercise whose shapes all follow from a few sizes, which are told once."""

    def describe(self, case):
        W_Q, _, W_V, _, keep, h = case.args
        return (f"d_model = {W_Q.shape[0]}, h = {h}, d_k = {W_Q.shape[1] // h}, d_v = {W_V.shape[1] // h}, keep = "
                f"{keep.tolist()}")


EXERCISE = OfHeads(
    id="9.3", name="without_heads", chapter="09_pruning_lab", stars=2, minutes=15, after="section 1",
    signature="without_heads(W_Q, W_K, W_V, W_O, keep, h)",
    statement="A head with gate 0 still costs time. Take it out. W_Q and W_K are `(d_model, h*d_k)`, W_V is "
              "`(d_model, h*d_v)`, W_O is `(h*d_v, d_model)`, for x @ W, the first head owning the first columns; d_k "
              "and d_v may differ. keep is `(k,)`, the numbers of the heads that stay, counted from 0, in the order "
              "in which they shall stand. Write `without_heads(W_Q, W_K, W_V, W_O, keep, h)`: return the four smaller "
              "matrices of the layer with only these k heads.",
    stub="# P, O = torch.tensor([[1., 2.]]), torch.tensor([[3.], [4.]])\n"
         "# without_heads(P, P, P, O, torch.tensor([1]), 2) -> 2 2 2 4\n"
         "def without_heads(W_Q, W_K, W_V, W_O, keep, h):\n    ...\n",
    program=PROGRAM,
    cases=[case(930, 3, 2, 1, 2, [1]), case(934, 5, 3, 2, 4, [0, 2]), case(938, 6, 3, 2, 2, [2, 0]),
           case(942, 3, 1, 3, 5, [0]), case(946, 8, 4, 3, 2, [3, 0, 1]), case(950, 6, 2, 3, 5, [0, 1]),
           case(954, 10, 5, 2, 3, [4, 1])],
    sized=lambda d_model, h, d_k, d_v: case(1, d_model, h, d_k, d_v, [*{h - 1, 0}]),
    measure=measure, observe=observe, trained=(),
    wanted="a tuple of four matrices, of shapes (d_model, k*d_k) twice, (d_model, k*d_v) and (k*d_v, d_model)",
    describe_difference=describe_difference,
    hints=("Which columns of x @ W_Q are head i? So which columns of W_Q make it? And which rows of W_O meet it?",
           "Give the heads an axis of their own: the columns (h*d_k) become (h, d_k), the rows of W_O become (h, "
           "d_v). Then pick along that axis, and join the two again.",
           "Q, K, V = (W.unflatten(1, (h, -1))[:, keep].flatten(1) for W in (W_Q, W_K, W_V))\n"
           "return Q, K, V, W_O.unflatten(0, (h, -1))[keep].flatten(0, 1)"),
    note="The smaller layer computes what the large one does with gates 0 for the others, with fewer parameters and "
         "fewer scores. (Where there are biases, those of W_Q, W_K and W_V are cut with the columns, and that of W_O "
         "stays.) `MultiHeadAttention.prune` does it with torch layers, whose weights are stored transposed.",
)
