"""12.7: what one of several machines holds of a layer that is split over its heads."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

WHICH_HEADS = "With 5 KV heads on 2 machines, which heads stand on each?"
WHOLE_HEADS = "Which columns of W_Q belong to the first head?"
WHO_SHARES = "With h = 4 and h_kv = 2, which query heads use KV head 1?"
WHICH_ROWS = "Which rows of W_O meet the output of the first head?"
HOW_OFTEN = "How often is b_O in the sum over all machines?"
HOW_WIDE = "How many columns has W_V, and how many W_K?"

STRIDED = Mistake("strided",
    "It takes every P-th column, so each head is cut up over the machines. A head owns columns side by side.",
    WHOLE_HEADS)
EVEN = Mistake("heads-cut-in-two",
    "Columns are cut into P equal parts. Where P does not divide h_kv, that cuts through a head, or between query "
    "heads that share a KV head.",
    WHICH_HEADS)
ROWS = Mistake("rows-of-projections",
    "It cuts rows of a projection. In x @ W the rows meet the entries of x; the columns make the heads.",
    WHOLE_HEADS)

PROGRAM = Program("""\
def my_slice(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank):
    d_k, d_v = W_K.shape[1] // h_kv, W_V.shape[1] // h_kv
    group = h // h_kv
    first = <first>
    last = <last>
    Q = <query>
    K, V = <keys>
    O = <output>
    b = <bias>
    return Q, K, V, O, b
""", {
    "first": Blank("rank * (h_kv // P)", offered=1, wrong={
        "rank": Mistake("one-head-each",
            "Machine `rank` is taken to begin at KV head `rank`. The machines before it hold h_kv // P heads each.",
            WHICH_HEADS),
        "(P - 1 - rank) * (h_kv // P)": Mistake("from-behind",
            "Machine 0 is taken to begin where the last machine should. Machines and heads should be counted in the "
            "same order.",
            WHICH_HEADS),
    }),
    "last": Blank("h_kv if rank == P - 1 else first + h_kv // P", offered=2, wrong={
        "first + h_kv // P": Mistake("remainder-lost",
            "The heads that remain stand on no machine. The last one should hold them too.",
            WHICH_HEADS),
        "h_kv": Mistake("all-that-follow",
            "Every machine holds all heads from its first on.",
            WHICH_HEADS),
    }),
    "query": Blank("W_Q[:, first * group * d_k : last * group * d_k]", offered=3, wrong={
        "W_Q[:, first * d_k : last * d_k]": Mistake("queries-by-kv-heads",
            "W_Q is cut as if it had h_kv heads. h / h_kv query heads use each KV head.",
            WHO_SHARES),
        "W_Q[:, rank::P]": STRIDED,
        "W_Q[first * group * d_k : last * group * d_k]": ROWS,
        "W_Q.tensor_split(P, 1)[rank]": EVEN,
        "W_Q[:, first * group * d_v : last * group * d_v]": Mistake("d_v-for-queries",
            "W_Q is cut in steps of d_v. There a head owns d_k columns.",
            HOW_WIDE),
        "W_Q": Mistake("W_Q-whole",
            "Every machine holds all of W_Q, though it needs its own query heads alone.",
            WHO_SHARES),
    }),
    "keys": Blank("W_K[:, first * d_k : last * d_k], W_V[:, first * d_v : last * d_v]", offered=4, wrong={
        "W_K[:, first * group * d_k : last * group * d_k], W_V[:, first * group * d_v : last * group * d_v]":
            Mistake("kv-heads-by-h",
            "W_K and W_V are cut as if they had h heads. They have h_kv.",
            WHO_SHARES),
        "W_K[:, rank::P], W_V[:, rank::P]": STRIDED,
        "W_K[first * d_k : last * d_k], W_V[first * d_v : last * d_v]": ROWS,
        "W_K[:, first * d_k : last * d_k], W_V[:, first * d_k : last * d_k]": Mistake("d_k-for-values",
            "W_V is cut in steps of d_k. There a head owns d_v columns.",
            HOW_WIDE),
        "W_K.tensor_split(P, 1)[rank], W_V.tensor_split(P, 1)[rank]": EVEN,
        "W_K, W_V": Mistake("kv-whole",
            "Every machine holds all keys and values. It needs those of its own KV heads alone.",
            WHO_SHARES),
    }),
    "output": Blank("W_O[first * group * d_v : last * group * d_v]", offered=3, wrong={
        "W_O[:, first * group * d_v : last * group * d_v]": Mistake("columns-of-W_O",
            "It cuts the columns of W_O. They are the entries of the output; head by head W_O is cut in rows.",
            WHICH_ROWS),
        "W_O[rank::P]": Mistake("strided-rows",
            "It takes every P-th row of W_O. A head owns rows side by side.",
            WHICH_ROWS),
        "W_O[first * d_v : last * d_v]": Mistake("W_O-by-kv-heads",
            "W_O is cut as if it had h_kv heads. Its rows meet the outputs of query heads.",
            WHICH_ROWS),
        "W_O[first * group * d_k : last * group * d_k]": Mistake("d_k-for-W_O",
            "W_O is cut in steps of d_k. There a head owns d_v rows.",
            WHICH_ROWS),
        "W_O.tensor_split(P)[rank]": Mistake("W_O-cut-in-a-head",
            "The rows of W_O are cut into P equal parts. Where P does not divide h_kv, that cuts through a head, or "
            "between query heads that share a KV head.",
            WHICH_HEADS),
        "W_O": Mistake("W_O-whole",
            "Every machine holds all of W_O. It needs the rows that meet its own heads.",
            WHICH_ROWS),
    }),
    "bias": Blank("b_O if rank == 0 else torch.zeros_like(b_O)", offered=3, wrong={
        "b_O": Mistake("bias-on-every-machine",
            "Every machine holds b_O, so the sum has it P times. That raises no error, and a b_O of zeros hides it.",
            HOW_OFTEN),
        "b_O / P": Mistake("bias-divided",
            "Every machine holds b_O / P. That adds up too, but here machine 0 should hold all of it.",
            "What should the other machines hold in its place?"),
        "torch.zeros_like(b_O)": Mistake("bias-lost",
            "No machine holds b_O.",
            HOW_OFTEN),
        "b_O if rank == P - 1 else torch.zeros_like(b_O)": Mistake("bias-on-the-last",
            "The last machine holds b_O. That adds up too, but it should be machine 0.",
            "Which machine holds b_O where P = 2?"),
        "b_O[first * group * d_v : last * group * d_v]": Mistake("bias-cut",
            "b_O is cut like the heads. It has an entry for each coordinate of the output, whichever head wrote there.",
            "How wide is the output of one machine?"),
    }),
}, together={
    "first last": {
        ("rank * h_kv // P", "(rank + 1) * h_kv // P"): Mistake("remainder-spread",
            "The heads that remain are spread over the machines. The last one should hold them all.",
            WHICH_HEADS),
        ("rank * -(-h_kv // P)", "min(first - (-h_kv // P), h_kv)"): Mistake("rounded-up",
            "The share is rounded up, so the last machine has fewer heads. It should be rounded down.",
            WHICH_HEADS),
        ("rank * (h_kv // P) + min(rank, h_kv % P)", "first + h_kv // P + (rank < h_kv % P)"):
            Mistake("remainder-on-the-first",
            "The heads that remain go to the first machines, one to each. The last one should hold them all.",
            WHICH_HEADS),
        ("(P - 1 - rank) * (h_kv // P)", "h_kv if rank == 0 else first + h_kv // P"): Mistake("ranks-turned-over",
            "Machine 0 holds what the last one should, and so on from behind. Machines and heads should be counted in "
            "the same order.",
            WHICH_HEADS),
    },
    "query keys output": {
        ("W_Q[:, rank::P]", "W_K[:, rank::P], W_V[:, rank::P]", "W_O[rank::P]"): STRIDED,
        ("W_Q.tensor_split(P, 1)[rank]", "W_K.tensor_split(P, 1)[rank], W_V.tensor_split(P, 1)[rank]",
         "W_O.tensor_split(P)[rank]"): EVEN,
    },
})

NAMES = "W_Q", "W_K", "W_V", "W_O", "b_O"


def observe(output, W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank):
    """A table for each of the five: its number of axes and its sizes in the first row, its numbers below."""
    size = max(3, *W_Q.shape, *W_V.shape, *W_O.shape)
    fits = (W.ndim == given.ndim and max(W.shape) <= size for W, given in zip(output, (W_Q, W_K, W_V, W_O, b_O)))
    if len(output) != 5 or not all(fits):
        raise ValueError("not four matrices and a vector")
    tables = W_Q.new_zeros(5, size + 1, size)
    for table, W in zip(tables, output):
        table[0, : W.ndim] = torch.tensor(W.shape)
        W = W if W.ndim == 2 else W[None]
        table[1 : W.shape[0] + 1, : W.shape[1]] = W
    return tables


def describe_difference(tables, wanted):
    """Which of the five are wrong, and whether in shape or in numbers."""
    def shape(name, table):
        return tuple(map(int, table[0, : 1 if name == "b_O" else 2]))

    shapes = [f"{name} has shape {shape(name, table)}, and should be {shape(name, right)}"
              for name, table, right in zip(NAMES, tables, wanted) if off(table[0, :2], right[0, :2])]
    wrong = [name for name, table, right in zip(NAMES, tables, wanted) if off(table, right)]
    return (f"{'; '.join(shapes)}." if shapes
            else f"the shapes are right, and numbers of {', '.join(wrong)} are wrong.")


def measure(answer):
    """Of which heads the columns and rows are on machine 1 of 2, and how often all machines together hold b_O."""
    number = torch.arange(4, dtype=torch.float64)
    Q, K, V, O = (number[:heads].repeat_interleave(d).expand(7, -1).clone()
                  for heads, d in ((4, 2), (2, 2), (2, 3), (4, 3)))
    b = torch.ones(7, dtype=torch.float64)
    held = [answer(Q.clone(), K.clone(), V.clone(), O.mT.clone(), b.clone(), 4, 2, 2, rank) for rank in range(2)]
    for name, part, wanted in zip(NAMES, (*held[1][:3], held[1][3].mT), ([2, 2, 3, 3], [1] * 2, [1] * 3,
                                                                        [2] * 3 + [3] * 3)):
        heads = part[0].tolist() if part.numel() and not off(part, part[:1]) else wanted
        if heads != wanted:
            yield (f"With h = 4, h_kv = 2, d_k = 2 and d_v = 3, the {'rows' if name == 'W_O' else 'columns'} of "
                   f"{name} on machine 1 of 2 come from the heads {', '.join(f'{head:g}' for head in heads)} (counted "
                   f"from 0); they should be {', '.join(map(str, wanted))}.")
    if held[0][4].shape == held[1][4].shape == b.shape and off(held[0][4] + held[1][4], b):
        yield f"Two machines together hold b_O {float((held[0][4] + held[1][4])[0]):.4g} times; it should be once."


def case(seed, d_model, h, h_kv, d_k, d_v, P, rank):
    return Case((numbers(seed, d_model, h * d_k), numbers(seed + 1, d_model, h_kv * d_k),
                 numbers(seed + 2, d_model, h_kv * d_v), numbers(seed + 3, h * d_v, d_model),
                 numbers(seed + 4, d_model), h, h_kv, P, rank))


class OfMachines(Exercise):
    """An exercise whose shapes all follow from a few sizes, which are told once."""

    def describe(self, case):
        W_Q, _, W_V, _, _, h, h_kv, P, rank = case.args
        return (f"d_model = {W_Q.shape[0]}, h = {h}, h_kv = {h_kv}, d_k = {W_Q.shape[1] // h}, d_v = "
                f"{W_V.shape[1] // h_kv}, P = {P}, rank = {rank}")


EXERCISE = OfMachines(
    id="12.7", name="my_slice", chapter="12_fast_heads", stars=2, minutes=12, after="section 3", core=True,
    signature="my_slice(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank)",
    statement="P machines split a layer over its heads. W_Q is `(d_model, h*d_k)`, W_K `(d_model, h_kv*d_k)`, W_V "
              "`(d_model, h_kv*d_v)` and W_O `(h*d_v, d_model)`, for x @ W, the first head owning the first columns; "
              "b_O `(d_model,)` is added after W_O. h/h_kv adjacent query heads share a KV head. In order of rank, "
              "from 0, each machine holds h_kv // P KV heads and the query heads that use them; the last one also "
              "holds those that remain. Write `my_slice(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank)`: return the five "
              "parts that machine `rank` holds, so that the machines' outputs sum to the layer's. Machine 0 holds "
              "b_O, the others zeros in its place.",
    stub="# W, b = torch.tensor([[1., 2.]]), torch.ones(1)\n"
         "# my_slice(W, W, W, W.mT, b, 2, 2, 2, 1) -> 2 2 2 2 0\n"
         "def my_slice(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank):\n    ...\n",
    program=PROGRAM,
    cases=[case(12701, 3, 2, 2, 1, 2, 2, 1), case(12706, 5, 4, 2, 3, 2, 2, 0), case(12711, 7, 6, 3, 2, 3, 2, 1),
           case(12716, 4, 8, 4, 2, 5, 2, 1), case(12721, 3, 3, 1, 2, 5, 1, 0), case(12726, 6, 10, 5, 2, 3, 3, 1),
           case(12731, 7, 5, 5, 3, 2, 3, 2), case(12736, 12, 6, 6, 2, 2, 3, 0),
           case(12741, 4, 3, 3, 2, 1, 2, 0), case(12746, 5, 7, 7, 2, 1, 3, 1)],
    measure=measure, observe=observe, trained=(),
    wanted="a tuple of five: parts of W_Q, W_K, W_V and W_O, and b_O or zeros of its shape",
    describe_difference=describe_difference,
    hints=("A head is computed on one machine. Which columns of W_Q make it, and which rows of W_O meet it?",
           "Count in KV heads: the machine holds those from first = rank (h_kv // P) up to first + h_kv // P, or to "
           "h_kv if it is the last. Times h/h_kv these are query heads, and times d_k or d_v columns.",
           "first, group = rank * (h_kv // P), h // h_kv\n"
           "last = h_kv if rank == P - 1 else first + h_kv // P\n"
           "k, v = W_K.shape[1] // h_kv, W_V.shape[1] // h_kv\n"
           "Q, O = W_Q[:, first * group * k : last * group * k], W_O[first * group * v : last * group * v]\n"
           "K, V = W_K[:, first * k : last * k], W_V[:, first * v : last * v]\n"
           "return Q, K, V, O, b_O if rank == 0 else torch.zeros_like(b_O)"),
    note="With heads that remain, all machines wait for the last one, so mha.parallel refuses a number that P does not "
         "divide. There each machine adds b_O / P before the sum.",
)
