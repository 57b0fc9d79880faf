"""12.2: one more tile of keys for a head that keeps a running maximum, sum and output."""
import math

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

WHICH_TOP = "To which maximum do the old sum and output refer, and to which the new powers?"
UNSEEN = "What is minus infinity less minus infinity?"

PROGRAM = Program("""\
def tile_step(top, total, acc, scores, v):
    new_top = <top>
    safe = <safe>
    old = <old>
    powers = <powers>
    new_total = <total>
    new_acc = <acc>
    return new_top, new_total, new_acc
""", {
    "top": Blank("torch.maximum(top, scores.amax(-1))", offered=3, wrong={
        "scores.amax(-1)": Mistake("tile-maximum",
            "The maximum is that of the tile alone, and the maximum so far is forgotten.",
            "May the largest score lie in an earlier tile?"),
        "torch.maximum(top, scores.amax())": Mistake("one-maximum-for-all",
            "The tile's maximum is taken over all queries. Each query has scores of its own, and its own maximum.",
            "Whose scores does a softmax compare?"),
        "torch.maximum(top, scores.amax(-2))": Mistake("maximum-over-queries",
            "The maximum is taken over the queries.",
            "Along which axis do the keys of a tile lie?"),
    }),
    "safe": Blank("new_top.masked_fill(new_top == -math.inf, 0.0)", offered=1, wrong={
        "new_top": Mistake("blind-row-nan",
            "A query that sees no key of this tile, and has seen none before, becomes NaN, and stays so.",
            UNSEEN),
    }),
    "old": Blank("(top - safe).exp()", offered=4, wrong={
        "torch.ones_like(top)": Mistake("old-not-rescaled",
            "The sum and output so far are not rescaled when the maximum grows.",
            WHICH_TOP),
        "(safe - top).exp()": Mistake("rescaled-upwards",
            "The old sum and output are multiplied by e to the power of new less old, which is at least 1: the sign is "
            "turned over.",
            WHICH_TOP),
        "top - safe": Mistake("not-exponentiated",
            "The old sum and output are multiplied by the difference of the maxima. The factor is e to its power.",
            WHICH_TOP),
    }),
    "powers": Blank("(scores - safe[:, None]).exp()", offered=3, wrong={
        "scores.exp()": Mistake("maximum-not-taken-off",
            "The maximum is not taken off the tile's scores, while the sum so far has it taken off.",
            WHICH_TOP),
        "(scores - scores.amax(-1, keepdim=True)).exp()": Mistake("tiles-own-maximum",
            "The tile's own maximum is taken off its scores, while the sum refers to the largest of all so far.",
            WHICH_TOP),
        "(scores - safe[:, None]).softmax(-1)": Mistake("softmax-in-the-tile",
            "The tile's powers are divided by their own sum. That is done once, at the end, by the sum of all.",
            "How much weight should a tile of small scores have beside one of large scores?"),
    }),
    "total": Blank("old * total + powers.sum(-1)", offered=3, wrong={
        "total + powers.sum(-1)": Mistake("sum-not-rescaled",
            "The output so far is rescaled, and the sum so far is not.",
            WHICH_TOP),
        "old * total + 1": Mistake("tile-counts-once",
            "The sum grows by 1 for each tile. It should grow by the sum of the tile's powers.",
            "What will the output be divided by?"),
        "powers.sum(-1)": Mistake("sum-forgotten",
            "The sum so far is forgotten.",
            "What will the output be divided by?"),
    }),
    "acc": Blank("old[:, None] * acc + powers @ v", offered=3, wrong={
        "acc + powers @ v": Mistake("output-not-rescaled",
            "The sum so far is rescaled, and the output so far is not.",
            WHICH_TOP),
        "powers @ v": Mistake("output-forgotten",
            "The output so far is forgotten.",
            "What is known of the keys of earlier tiles, other than acc?"),
        "(old[:, None] * acc + powers @ v) / new_total[:, None]": Mistake("divided-too-early",
            "The output is divided by the sum in each step. It is divided once, after the last tile.",
            "By what would the values of the first tile be divided after two steps?"),
        "(old[:, None] * total[:, None] * acc + powers @ v) / new_total[:, None]": Mistake("acc-is-not-the-output",
            "acc is taken for the output of the keys so far. It is not divided yet: acc / total is that output.",
            "What does the statement call acc?"),
    }),
})


def observe(output, top, total, acc, scores, v):
    """top, total and acc side by side, (n, 2 + d_v); minus infinity stands as a number that no score has."""
    new_top, new_total, new_acc = output
    if (new_top.shape, new_total.shape, new_acc.shape) != (top.shape, total.shape, acc.shape):
        raise ValueError("not the shapes")
    new_top = torch.where(new_top == -math.inf, -1e6, new_top)
    return torch.cat([new_top[:, None], new_total[:, None], new_acc], -1)


def case(seed, n, tile, d_v, loud=1.0, blind=0, hidden=0):
    """State of n queries after three keys, then a tile. `blind` queries have seen none; `hidden` see none of it."""
    before, scores = loud * numbers(seed, n, 3), loud * numbers(seed + 1, n, tile)
    before[:blind], scores[:hidden] = -math.inf, -math.inf
    top = before.amax(-1)
    powers = (before - top.masked_fill(top == -math.inf, 0.0)[:, None]).exp()
    return Case((top, powers.sum(-1), powers @ numbers(seed + 2, 3, d_v), scores, numbers(seed + 3, tile, d_v)))


def measure(answer):
    """A query that has seen one key of score 0 and value 1, and now sees one of value 0."""
    for score in (0.0, math.log(3), -math.log(3)):
        one = torch.ones(1, dtype=torch.float64)
        result = answer(0 * one, one, one[None], torch.full((1, 1), score).double(), 0 * one[None])
        if not (isinstance(result, tuple) and len(result) == 3 and all(isinstance(t, torch.Tensor) for t in result)):
            return
        share, wanted = (result[2] / result[1]).sum(), 1 / (1 + math.exp(score))
        if off(share, wanted):
            yield (f"After a key of score 0 and value 1 comes one of score {score:.4g} and value 0: acc / total is "
                   f"{float(share):.4g}, and should be {wanted:.4g}.")


EXERCISE = Exercise(
    id="12.2", name="tile_step", chapter="12_fast_heads", stars=3, minutes=14, after="section 1", core=True,
    signature="tile_step(top, total, acc, scores, v)",
    statement="A head reads its keys tile by tile. Of the keys so far it knows for each of n queries: top `(n,)`, the"
              " largest score; total `(n,)`, the sum of e to the power of score less top; acc `(n, d_v)`, the sum of "
              "the values times these powers, so acc / total is the output. A query that has seen no key has top "
              "minus infinity, total 0 and acc 0. Now comes a tile: scores `(n, tile)`, with minus infinity where a "
              "key is masked, and v `(tile, d_v)`. Write `tile_step(top, total, acc, scores, v)`: return the three "
              "after this tile. A tile may be masked for a query altogether, and scores may be in the thousands.",
    stub="# one = torch.ones(1)\n"
         "# tile_step(one, one, one[None], 1 * one[None], 3 * one[None])[2] -> 4\n"
         "def tile_step(top, total, acc, scores, v):\n    ...\n",
    program=PROGRAM,
    cases=[case(12201, 1, 2, 3), case(12205, 2, 3, 5), case(12209, 3, 4, 4), case(12213, 4, 1, 2),
           case(12217, 3, 2, 2, hidden=1), case(12221, 3, 2, 4, blind=1), case(12225, 4, 3, 2, blind=2, hidden=1)],
    sized=lambda n, tile, d_v: case(1, n, tile, d_v),
    measure=measure, observe=observe,
    wanted="three tensors: top (n,), total (n,) and acc (n, d_v)",
    compared="top, total and acc side by side, minus infinity as -1e6.",
    large=(case(12229, 3, 4, 5, 1000.0),),
    trained=(),
    hints=("The old sum was made with the old maximum taken off. By which factor does it change if the new maximum is "
           "larger?",
           "Multiply the old total and acc by e^(top - new_top). Where new_top is minus infinity, take off 0 instead.",
           "new_top = torch.maximum(top, scores.amax(-1))\n"
           "safe = new_top.masked_fill(new_top == -math.inf, 0.0)\n"
           "old, powers = (top - safe).exp(), (scores - safe[:, None]).exp()\n"
           "return new_top, old * total + powers.sum(-1), old[:, None] * acc + powers @ v"),
    note="After the last tile the output is acc / total. This is the loop of FlashAttention, without its memory.",
)
