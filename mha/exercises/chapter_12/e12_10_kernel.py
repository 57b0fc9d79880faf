"""12.10: attention in tiles, judged by its output and by what it moves to and from slow memory (traffic.py)."""
from mha.exercises.chapter_12.traffic import Keeping, Watched, describe_difference, observe, plain
from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, same
from mha.exercises.engine.report import Mistake
from mha.lab.fast import TileMemory

HOW_OFTEN = "How many queries could use a key while it is in fast memory?"
WHICH_TOP = "To which maximum do the old sums refer, and to which the new powers?"
WHAT_GROWS = "What must fast memory hold for a query that has seen a thousand keys?"

PROGRAM = Program("""\
def kernel(memory):
    for queries in <queries>:
        q = memory.read("Q", queries)
        top = torch.full_like(q[:, :1], -torch.inf)
        total, acc = 0.0, 0.0
        <first>
        for keys in <keys>:
            <tiles>
            scores = <scores>
            <kept>
            new = <top>
            old, powers = <old>, (scores - new).exp()
            total = <total>
            acc = <acc>
            top = new
            <step>
        <output>
    return memory
""", {
    "queries": Blank('memory.tiles("Q")', offered=2, wrong={
        'memory.tiles("Q", 1)': Mistake("once-a-query",
            "Every key and value is read once for each query. All queries of a tile can share one read.",
            HOW_OFTEN),
        "[slice(None)]": Mistake("all-queries",
            "More queries are read at once than fast memory has room for.",
            "How many rows has the largest tile of Q that fits?"),
    }),
    "first": Blank("", wrong={
        'for keys in memory.tiles("K"):\n'
        '    scores = q @ memory.read("K", keys).mT / q.shape[-1] ** 0.5\n'
        "    top = torch.maximum(top, scores.amax(-1, keepdim=True))": Mistake("keys-twice",
            "Keys are read more often than once for each tile of queries, and values are not, as with a first pass "
            "that looks for the maximum alone. One pass is enough if the sums are rescaled when the maximum grows.",
            WHICH_TOP),
    }),
    "keys": Blank('memory.tiles("K")', offered=1, wrong={
        "[slice(None)]": Mistake("all-keys",
            "More keys and values are read at once than fast memory has room for.",
            "How many rows has the largest tile of K that fits?"),
    }),
    "tiles": Blank('k = memory.read("K", keys)\nv = memory.read("V", keys)', offered=1, wrong={
        'q = memory.read("Q", queries)\nk = memory.read("K", keys)\nv = memory.read("V", keys)':
            Mistake("queries-again",
            "Queries are read again while they are still in fast memory.",
            "Does the tile of queries change while tiles of keys pass by?"),
        'k = memory.read("K", keys)\nv = memory.read("K", keys)': Mistake("keys-for-values",
            "It never reads V, and returns means of the keys.",
            "Of what is the output a weighted mean?"),
    }),
    "scores": Blank("q @ k.mT / q.shape[-1] ** 0.5", wrong={
        "q @ k.mT": Mistake("no-scale",
            "The scores are not divided by the square root of d_k.",
            "What does the statement divide the products by?"),
    }),
    "kept": Blank("", offered=1, wrong={
        'memory.write("scores", scores)\nscores = memory.read("scores")': Mistake("scores-written",
            "A number for each query and key is written to slow memory, as the plain code does with scores and "
            "weights.",
            "Who needs a tile's scores after its values were added?"),
    }),
    "top": Blank("torch.maximum(top, scores.amax(-1, keepdim=True))", offered=2, wrong={
        "scores.amax(-1, keepdim=True)": Mistake("tile-maximum",
            "The maximum is that of the tile alone, and the maximum so far is forgotten. Where that was much larger, "
            "the factor of the old sums overflows.",
            "May the largest score lie in an earlier tile?"),
        "torch.zeros_like(top)": Mistake("no-maximum",
            "The largest score of a row is not taken off before the powers, so where scores are in the thousands the "
            "powers overflow, or all of them are 0.",
            "What is e to the power of 1000, as a float?"),
    }),
    "old": Blank("(top - new).exp()", offered=1, wrong={
        "1.0": Mistake("sums-not-rescaled",
            "The sums so far are not rescaled when the maximum grows.",
            WHICH_TOP),
    }),
    "total": Blank("old * total + powers.sum(-1, keepdim=True)", wrong={
        "total + powers.sum(-1, keepdim=True)": Mistake("total-not-rescaled",
            "The sum of the values so far is rescaled when the maximum grows, and the sum of the powers is not.",
            WHICH_TOP),
        "powers.sum(-1, keepdim=True)": Mistake("total-forgotten",
            "The sum of the powers is that of the last tile alone.",
            WHAT_GROWS),
    }),
    "acc": Blank("old * acc + powers @ v", wrong={
        "acc + powers @ v": Mistake("output-not-rescaled",
            "The sum of the powers so far is rescaled when the maximum grows, and the sum of the values is not.",
            WHICH_TOP),
        "powers @ v": Mistake("output-forgotten",
            "The sum of the values is that of the last tile alone.",
            WHAT_GROWS),
    }),
    "step": Blank("", offered=1, wrong={
        'memory.write("O", acc / total, queries)': Mistake("written-each-step",
            "Rows of O are written more than once. Only what is written last counts.",
            "After which tile of keys is a row of O known?"),
    }),
    "output": Blank('memory.write("O", acc / total, queries)', wrong={
        'memory.write("O", acc, queries)': Mistake("not-divided",
            "The sum of the values is written without being divided by the sum of the powers.",
            "What do the weights of a query sum to?"),
    }),
}, together={
    "queries keys kept": {
        ("[slice(None)]", "[slice(None)]", 'memory.write("scores", scores)\nscores = memory.read("scores")'):
            Mistake("plain-code",
            "More rows are read at once than fast memory has room for, and a number for each query and key is written "
            "to slow memory: that is the traffic of the plain code.",
            HOW_OFTEN),
    },
})


def measure(answer):
    """Whether O would be right if tiles stayed as they were when others are read."""
    for case in EXERCISE.cases:
        first, kept = case.copies()[0], Keeping.like(case.copies()[0])
        right = plain(first)
        found = [answer(memory) for memory in (first, kept)]
        found = [memory.tensors.get("O") if isinstance(memory, TileMemory) else None for memory in found]
        if same(found[1], right) and not same(found[0], right):
            yield ("It uses a tile whose place a later one has taken: on a memory that gives every tile a place of its "
                   f"own, O would be right for {EXERCISE.describe(case)}.")
            return


class OnMemory(Case):
    """A case whose argument is a memory, for each call another."""

    def copies(self):
        return [self.args[0].copy()]


def case(seed, n, m, d_k, d_v, rows, width, loud=1.0, low=False):
    """`low`: all scores are far below zero."""
    Q, K, V = numbers(seed, n, d_k), numbers(seed + 1, m, d_k), numbers(seed + 2, m, d_v)
    if low:
        Q, K = 1 + Q.sigmoid(), -1 - K.sigmoid()
    return OnMemory((Watched(loud * Q, K, V, rows, width),))


class OnTiles(Exercise):
    """An exercise whose case is told by its sizes."""

    def describe(self, case):
        Q, K, V = (case.args[0].tensors[name] for name in "QKV")
        rows, width = case.args[0].room["Q"], case.args[0].room["K"]
        scores = Q @ K.mT / K.shape[1] ** 0.5
        loud = f", scores from {scores.min():.0f} to {scores.max():.0f}" if scores.abs().max() > 100 else ""
        return (f"n = {len(Q)}, m = {len(K)}, d_k = {K.shape[1]}, d_v = {V.shape[1]}, Q in tiles of {rows}, K "
                f"and V of {width}{loud}")


EXERCISE = OnTiles(
    id="12.10", name="kernel", chapter="12_fast_heads_lab", stars=3, minutes=15, after="section 1",
    signature="kernel(memory)",
    statement="A kernel computes one head. Slow memory holds Q `(n, d_k)`, K `(m, d_k)` and V `(m, d_v)`. Fast memory "
              "has room for one tile of each, for the scores of that tile of queries with that tile of keys, and for "
              "a few sums of each of these queries. `memory.tiles(\"K\")` lists the tiles of K, each a slice of rows. "
              "`memory.read(\"K\", rows)` brings one into fast memory, where it takes the place of the one before. "
              "`memory.write(\"O\", value, rows)` writes rows of the output to slow memory. Every number that is read "
              "or written is counted. Write `kernel(memory)`: write all rows of O, softmax(Q K^T / sqrt(d_k)) V, read "
              "K and V no more than once for each tile of queries, move nothing that is not needed, and return "
              "`memory`. Scores may be in the thousands.",
    stub="# from mha.lab.fast import TileMemory\n"
         "# one = torch.ones(2, 1)\n"
         "# kernel(TileMemory(one, one, 3 * one, 1, 1)).tensors[\"O\"] -> 3 3\n"
         "def kernel(memory):\n    ...\n",
    program=PROGRAM,
    cases=[case(121001, 3, 3, 1, 2, 2, 2), case(121005, 3, 4, 2, 1, 1, 2), case(121009, 5, 7, 2, 3, 2, 3),
           case(121013, 7, 8, 4, 2, 3, 3), case(121017, 4, 4, 3, 3, 4, 1), case(121021, 6, 10, 2, 5, 4, 2),
           case(121029, 2, 60, 2, 2, 2, 2), case(121025, 5, 9, 3, 2, 2, 3, 3000.0),
           case(121033, 3, 4, 1, 2, 2, 2, 1000.0, low=True)],
    measure=measure, observe=observe, trained=(), describe_difference=describe_difference,
    wanted="the memory that it was given", right_where="both O and what is moved are right",
    hints=("While the keys pass by, what must be kept of each query? Nothing of it grows with m.",
           "Read a tile of queries, then let all tiles of keys and values pass by. Keep the largest score, the sum of "
           "the powers and the sum of the values times the powers, and rescale both sums when the maximum grows, as "
           "`tile_step` does. Write O behind the inner loop.",
           "for queries in memory.tiles(\"Q\"):\n"
           "    q = memory.read(\"Q\", queries)\n"
           "    top, total, acc = torch.full_like(q[:, :1], -torch.inf), 0.0, 0.0\n"
           "    for keys in memory.tiles(\"K\"):\n"
           "        k, v = memory.read(\"K\", keys), memory.read(\"V\", keys)\n"
           "        scores = q @ k.mT / q.shape[-1] ** 0.5\n"
           "        new = torch.maximum(top, scores.amax(-1, keepdim=True))\n"
           "        old, powers = (top - new).exp(), (scores - new).exp()\n"
           "        total = old * total + powers.sum(-1, keepdim=True)\n"
           "        acc, top = old * acc + powers @ v, new\n"
           "    memory.write(\"O\", acc / total, queries)\n"
           "return memory"),
    note="No score crosses the slow memory: it moves n (d_k + d_v) + T m (d_k + d_v) numbers at most, with T tiles of "
         "queries. FlashAttention-2 has the same two loops.",
)
