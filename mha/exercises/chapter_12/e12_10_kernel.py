"""12.10: attention in tiles, judged by its output and by what it moves to and from slow memory."""
import math
from dataclasses import dataclass

import torch

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
        top, total, acc = torch.full_like(q[:, :1], -math.inf), 0.0, 0.0
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
    "tiles": Blank('k, v = memory.read("K", keys), memory.read("V", keys)', offered=1, wrong={
        'q, k, v = memory.read("Q", queries), memory.read("K", keys), memory.read("V", keys)':
            Mistake("queries-again",
            "Queries are read again while they are still in fast memory.",
            "Does the tile of queries change while tiles of keys pass by?"),
        'k, v = memory.read("K", keys), memory.read("K", keys)': Mistake("keys-for-values",
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
})

LOST, UNWRITTEN, SHAPE = -1e6, -2e6, -3e6               # in O, instead of a number: NaN, never written, another shape
TOLD = 1e-9                                             # counts are told in such small units that none is compared
COUNTS = "Q", "K", "V", "O", "besides", "back", "most_Q", "most_K", "most_V", "most_O", "apart", "least", "high", "wide"
FLAGS = 10


@dataclass
class Account:
    """What a kernel has moved. flags: what is wrong with that, each 0 where nothing is. counts: what can be told."""
    flags: list[int]
    counts: dict[str, int]


def account(memory):
    """Of a memory after a kernel."""
    n, m = len(memory.tensors["Q"]), len(memory.tensors["K"])
    rows, width = memory.room["Q"], memory.room["K"]
    passes = -(-n // rows)
    least = m + (passes - 1) * max(m - width, 0)        # a tile of keys may stay for the next tile of queries
    read = {name: [one for one in memory.log if one[:2] == ("read", name)] for name in "QKVO"}
    written = [one for one in memory.log if one.what == "written"]
    of_O = [one for one in written if one.name == "O"]
    besides = {one.name: sum(other.count for other in written if other.name == one.name)
               for one in written if one.name != "O"}
    most = {name: max((len(one.rows) for one in read[name]), default=0) for name in "QKV"}
    most["O"] = max((len(one.rows) for one in of_O), default=0)
    too_many = [int(most[name] > memory.room[name]) for name in "QKV"] + [int(most["O"] > rows)]
    often = {name: times(read[name], size) for name, size in (("Q", n), ("K", m), ("V", m))}
    again = 0 if max(often["Q"]) < 2 else 1 if still_there(read["Q"]) else 2
    apart = 0 if any(too_many) else keys_apart(memory.log, m)
    few = (min(often["Q"]) == 0 or min(sum(often["K"]), sum(often["V"])) < least) and not (any(too_many) or again)
    counts = {name: sum(one.count for one in read[name]) for name in "QKV"}
    counts |= {"O": sum(one.count for one in of_O), "besides": sum(besides.values()),
               "back": sum(one.count for one in read["O"])}
    counts |= {f"most_{name}": count for name, count in most.items()} | {"apart": apart, "least": least}
    return Account([again, *(too_often(often[name], n, passes) for name in "KV"), *too_many,
                    int(max(times(of_O, n)) > 1), kind_of(besides, n * m, counts["back"]),
                    int(few) + 2 * int(apart > 2 * width)], counts)


def times(log, size):
    """How often each row was moved."""
    moved = [place for one in log for place in one.rows]
    return [moved.count(place) for place in range(size)]


def too_often(often, n, passes):
    """0 where there are no more reads than one pass for each tile of queries takes; 2 where each row is read n times."""
    if sum(often) <= passes * len(often):
        return 0
    return 2 if {*often} == {n} else 1


def still_there(log):
    """Whether each row that is read again is in the tile that was read last."""
    seen, last = set(), set()
    for one in log:
        if {*one.rows} & seen - last:
            return False
        seen, last = seen | {*one.rows}, {*one.rows}
    return True


def keys_apart(log, m):
    """The most keys, or values, that are read between a key and its value; of several readings the nearest counts."""
    passed, seen = {"K": 0, "V": 0}, {"K": {}, "V": {}}
    nearest = [math.inf] * m
    for one in log:
        if one.what != "read" or one.name not in seen:
            continue
        other = "V" if one.name == "K" else "K"
        for place in one.rows:
            if place in seen[other]:
                nearest[place] = min(nearest[place], passed[other] - seen[other][place])
        passed[one.name] += len(one.rows)
        seen[one.name] |= {place: passed[one.name] for place in one.rows}
    return max((gap for gap in nearest if gap < math.inf), default=0)


def kind_of(besides, scores, back):
    """What is kept in slow memory: 0 nothing but O, 1 as many numbers as there are scores, 2 others, 3 O, read back."""
    return 3 if back else 1 if scores in besides.values() else 2 if besides else 0


def observe(output, memory):
    """O, then what is wrong with the traffic, then what is told of it. The memory starts again."""
    if not isinstance(output, TileMemory):
        raise TypeError("not the memory")
    found = account(output)
    wanted = len(output.tensors["Q"]), output.tensors["V"].shape[1]
    O = output.tensors.get("O", torch.full(wanted, math.nan))
    written = torch.tensor(times([one for one in output.log if one[:2] == ("written", "O")], wanted[0]))
    found.counts |= dict(zip(("high", "wide"), (*O.shape, 0, 0)))
    O = torch.full(wanted, SHAPE) if O.shape != wanted else O.nan_to_num(LOST, math.inf, -math.inf)
    O = O.double().masked_fill((written == 0)[:, None], UNWRITTEN) if (O != SHAPE).any() else O.double()
    output.restart()
    told = [TOLD * found.counts[name] for name in COUNTS]
    return torch.cat([O.flatten(), torch.tensor([*found.flags, *told], dtype=torch.float64)])


def parts(observed):
    """O, the flags, and the counts by name."""
    told = (observed[-len(COUNTS):] / TOLD).round().int().tolist()
    return observed[: -len(COUNTS) - FLAGS], observed[-len(COUNTS) - FLAGS : -len(COUNTS)], dict(zip(COUNTS, told))


def describe_difference(observed, expected):
    """What is wrong with O, what was moved, and what else is wrong with that."""
    (O, flags, found), (right, _, enough) = parts(observed), parts(expected)
    said = [about_output(O, right, found)]
    besides = f", and {found['besides']} numbers that are not O" if found["besides"] else ""
    said.append(f"It reads {found['Q']} numbers of Q, {found['K']} of K and {found['V']} of V, and writes {found['O']} "
                f"of O{besides}; {enough['Q']}, {enough['K']}, {enough['V']} and {enough['O']} are enough.")
    for name, flag in zip("QKVO", flags[3:7].tolist()):
        if flag:
            said.append(f"It {'writes' if name == 'O' else 'reads'} {found[f'most_{name}']} rows of {name} at once, "
                        f"and a tile has {enough[f'most_{name}']}.")
    if flags[0] == 2:
        said.append("It reads rows of Q again after others had taken their place; each query can be finished before "
                    "the next tile of queries is read.")
    if flags[8] == 3:
        said.append(f"It reads back {found['back']} numbers of O.")
    if flags[9] in (1, 3):
        said.append(f"A kernel with room for one tile of each reads all of Q, and at least {enough['least']} rows of K "
                    "and of V, so this one has numbers from elsewhere.")
    if flags[9] in (2, 3):
        said.append(f"Between a key and its value it reads {found['apart']} others, so that keys, values or scores "
                    "must wait for which fast memory has no room.")
    return " ".join(said)


def about_output(O, right, found):
    if (O == SHAPE).all():
        shape = f"({', '.join(str(found[side]) for side in ('high', 'wide') if found[side])})"
        return f"O has shape {shape}, which is not (n, d_v)."
    for mark, words in ((UNWRITTEN, "never written"), (LOST, "NaN")):
        if (O == mark).any():
            return f"{int((O == mark).sum())} of {O.numel()} numbers of O are {words}."
    off = ~torch.isclose(O, right, rtol=1e-5, atol=1e-5)
    if not off.any():
        return "O is right."
    first = int(off.nonzero()[0])
    return (f"{int(off.sum())} of {O.numel()} numbers of O are wrong; the first is {O[first]:.4g} and should be "
            f"{right[first]:.4g}.")


class OnMemory(Case):
    """A case whose argument is a memory, for each call another."""

    def copies(self):
        return [self.args[0].copy()]


def case(seed, n, m, d_k, d_v, rows, width, loud=1.0):
    return OnMemory((TileMemory(loud * numbers(seed, n, d_k), numbers(seed + 1, m, d_k), numbers(seed + 2, m, d_v),
                                rows, width),))


class OnTiles(Exercise):
    """An exercise whose case is told by its sizes."""

    def describe(self, case):
        Q, K, V = (case.args[0].tensors[name] for name in "QKV")
        rows, width = case.args[0].room["Q"], case.args[0].room["K"]
        loud = f", scores to {(Q @ K.mT).max() / K.shape[1] ** 0.5:.0f}" if Q.abs().max() > 20 else ""
        return (f"n = {len(Q)}, m = {len(K)}, d_k = {K.shape[1]}, d_v = {V.shape[1]}, Q in tiles of {rows}, K "
                f"and V of {width}{loud}")


EXERCISE = OnTiles(
    id="12.10", name="kernel", chapter="12_fast_heads_lab", stars=3, minutes=15, after="section 1",
    signature="kernel(memory)",
    statement="A kernel computes one head. Slow memory holds Q `(n, d_k)`, K `(m, d_k)` and V `(m, d_v)`; fast memory "
              "has room for one tile of each, for the scores of that tile of queries with that tile of keys, and for "
              "a few sums of each query in it. `memory.tiles(\"K\")` lists the tiles of K, each a slice of rows. "
              "`memory.read(\"K\", rows)` brings one into fast memory, where it takes the place of the last tile of K. "
              "`memory.write(\"O\", value, rows)` writes rows of the output to slow memory. All numbers that are read or "
              "written are counted. Write `kernel(memory)`: it writes all rows of O, softmax(Q K^T / sqrt(d_k)) V, "
              "reads K and V no more than once for each tile of queries, moves nothing that is not needed, and returns "
              "`memory`. Scores may be in the thousands.",
    stub="# from mha.lab.fast import TileMemory\n"
         "# one = torch.ones(2, 1)\n"
         "# kernel(TileMemory(one, one, 3 * one, 1, 1)).tensors[\"O\"] -> 3 3\n"
         "def kernel(memory):\n    ...\n",
    program=PROGRAM,
    cases=[case(121001, 2, 3, 1, 2, 2, 2), case(121005, 3, 4, 2, 1, 1, 2), case(121009, 5, 7, 2, 3, 2, 3),
           case(121013, 7, 12, 4, 2, 3, 2), case(121017, 4, 4, 3, 3, 4, 1), case(121021, 6, 10, 2, 5, 4, 2),
           case(121025, 5, 9, 3, 2, 2, 3, 3000.0)],
    observe=observe, trained=(), describe_difference=describe_difference,
    wanted="the memory that it was given", right_where="both O and what is moved are right",
    hints=("While the keys pass by, what must be kept of each query? Nothing of it grows with m.",
           "Read a tile of queries, then let all tiles of keys and values pass by. Keep the largest score, the sum of "
           "the powers and the sum of the values times the powers, and rescale both sums when the maximum grows, as in "
           "12.2. Write O behind the inner loop.",
           "for queries in memory.tiles(\"Q\"):\n"
           "    q = memory.read(\"Q\", queries)\n"
           "    top, total, acc = torch.full_like(q[:, :1], -math.inf), 0.0, 0.0\n"
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
