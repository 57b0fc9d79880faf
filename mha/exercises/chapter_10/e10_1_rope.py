"""10.1: rotary positions, each pair of neighbours turned by an angle that grows with the position."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

PAIRED = "Which two columns make pair 0, and by which angles are these two turned?"
SPEEDS = "By which angle is the last pair turned at position 1, and by which the first?"
A_TURN = "What does a turn make of (1, 0), and of (0, 1)?"
WHERE = "Which position has the first row of x, if positions is [5, 6, 7]?"
BY_16_BITS = Mistake("angles-in-16-bits",
    "Positions, speeds or angles are rounded to the 16 bits of x. bfloat16 keeps two to three digits: 1001 and 1000 "
    "are one number there, and 0.1 is 0.1001. x may have 16 bits, angles may not.",
    "By how many radians is the angle off if 1001 is 1000, and if a speed of 0.1 is 0.1001, at position 1001?")
MIXED = Mistake("mixed-conventions",
    "Two conventions meet: angles for pairs of neighbours, (0, 1), (2, 3), ..., and parts exchanged between halves, 0 "
    "with d_k / 2, or the other way about. The two numbers of a pair are then turned by different angles, which is no "
    "turn, and scores no longer depend on the distance alone.",
    PAIRED)
BACKWARDS = Mistake("turned-backwards",
    "The pairs are turned the other way round: (a cos + b sin, b cos - a sin). Scores of queries and keys that are "
    "both turned so still depend on the distance alone; it is another function all the same.",
    A_TURN)
IN_TWO_STEPS = Mistake("turned-in-two-steps",
    "The second part is made of the first after its turn: b becomes a' sin + b cos, with the new a' where the old a "
    "belongs.",
    "Which value has a by the time b is computed?")
HALVES = "torch.cat([-x[..., d_k // 2 :], x[..., : d_k // 2]], -1)"

PROGRAM = Program("""\
def rope(x, positions, base):
    d_k = x.shape[-1]
    pair = torch.arange(d_k // 2, dtype=<wide>, device=x.device)
    angles = <place>[:, None] * base ** (<exponent>)
    angles = <layout>
    other = <other>
    out = x * angles.cos() <sign> other * angles.sin()
    <instead>
    return out.to(x.dtype)
""", {
    "wide": Blank("torch.float64", offered=1, wrong={
        "x.dtype": BY_16_BITS,
    }),
    "place": Blank("positions", offered=2, wrong={
        "torch.arange(x.shape[-2], device=x.device)": Mistake("positions-unused",
            "The rows of x are counted from 0, and positions is not used. Behind a cache the first row of x is not the "
            "first token.",
            WHERE),
        "(positions + 1)": Mistake("counted-from-one",
            "Every position counts one too many: what stands at position 0 should stay as it is. Scores see "
            "differences of positions alone and would not change, if queries and keys agree; but it is another "
            "function.",
            "By which angle is a row at position 0 turned?"),
        "positions.to(x.dtype)": BY_16_BITS,
        "-positions": BACKWARDS,
    }),
    "exponent": Blank("-2 * pair / d_k", offered=3, wrong={
        "-pair / d_k": Mistake("exponent-halved",
            "Pair i turns by position * base^(-i/d_k). The exponent wants 2 i. Slow pairs are too fast: with many "
            "of them the last turns by nearly 1/sqrt(base) a position, where nearly 1/base is meant.",
            SPEEDS),
        "2 * pair / d_k": Mistake("faster-and-faster",
            "The sign of the exponent is missing: each pair turns faster than the one before, where it should turn "
            "more slowly.",
            SPEEDS),
        "0 * pair": Mistake("one-speed",
            "All pairs turn at the same speed, one radian a token.",
            SPEEDS),
        "-4 * pair / d_k": Mistake("exponent-doubled",
            "The exponent is -4 i/d_k for pair i: doubled once too often, as happens when 0, 2, 4, ... are counted and "
            "then multiplied by 2 again.",
            SPEEDS),
        "-2 * pair / x.shape[-2]": Mistake("rows-for-columns",
            "The exponent is divided by the number of rows of x, and not by d_k.",
            "Should a pair turn faster in a longer text?"),
    }),
    "layout": Blank("angles.repeat_interleave(2, -1)", offered=1, wrong={
        "torch.cat([angles, angles], -1)": MIXED,
        "angles.repeat_interleave(2, -1).to(x.dtype)": BY_16_BITS,
        "(positions[:, None] * (base ** (-2 * pair / d_k)).to(x.dtype).double()).repeat_interleave(2, -1)":
            BY_16_BITS,
    }),
    "other": Blank("torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)", offered=3, wrong={
        HALVES: MIXED,
        "torch.stack([x[..., 1::2], x[..., ::2]], -1).flatten(-2)": Mistake("no-minus",
            "(a, b) becomes (a cos + b sin, a sin + b cos): the minus is missing. That is no turn: lengths change.",
            A_TURN),
        "torch.cat([-x[..., 1::2], x[..., ::2]], -1)": Mistake("other-parts-in-halves",
            "Neighbours are taken apart, and put together as halves: first all -b, then all a. Most numbers then meet "
            "one of another pair.",
            "Which number should stand beside x[..., 0], once the parts are exchanged?"),
        "torch.stack([x[..., 1::2], -x[..., ::2]], -1).flatten(-2)": BACKWARDS,
    }),
    "sign": Blank("+", offered=1, wrong={
        "-": BACKWARDS,
    }),
    "instead": Blank("", wrong={
        "a = out[..., ::2]\n"
        "b = a * angles[:, ::2].sin() + x[..., 1::2] * angles[:, ::2].cos()\n"
        "out = torch.stack([a, b], -1).flatten(-2)": IN_TWO_STEPS,
        "a = out[..., ::2].to(x.dtype)\n"                # as in a copy that is changed in place
        "b = a * angles[:, ::2].sin() + x[..., 1::2] * angles[:, ::2].cos()\n"
        "out = torch.stack([a, b], -1).flatten(-2)": IN_TWO_STEPS,
    }),
}, together={
    "layout other": {
        ("torch.cat([angles, angles], -1)", HALVES): Mistake("halves",
            "Column i is paired with column i + d_k / 2, as Hugging Face's code for Llama does. That is a rotary code "
            "too, and as good while queries and keys agree; the exercise asks for neighbours, as in the paper.",
            PAIRED),
        ("torch.cat([angles, angles], -1)", "torch.cat([-x[..., 1::2], x[..., ::2]], -1)"):
            Mistake("other-parts-in-halves",
            "Neighbours are taken apart, and put together as halves: first all -b, then all a, with angles laid the "
            "same way. But x itself, which is multiplied by the cosines, still stands as neighbours.",
            "Which number should stand beside x[..., 0], once the parts are exchanged?"),
    },
    "layout other instead": {
        ("torch.cat([angles, angles], -1)", HALVES, "out = torch.stack(out.chunk(2, -1), -1).flatten(-2)"):
            Mistake("halves-woven",
            "Column i is paired with column i + d_k / 2, and the two are then laid side by side. The pairs asked for "
            "are neighbours in x.",
            PAIRED),
    },
})


def exactly(x, positions, base):
    """The right answer in float64."""
    return PROGRAM.reference(x.double(), positions, base)


def observe(output, x, positions, base):
    """The output; for x of 16 bits, exactly the right number wherever the output is near it: roundings differ."""
    if x.dtype != torch.bfloat16 or not isinstance(output, torch.Tensor) or output.shape != x.shape:
        return output
    wanted, found = exactly(x, positions, base), output.to(x.dtype).double()
    return torch.where((found - wanted).abs() <= 0.03 * x.double().abs().max(), wanted, found)


def measure(answer):
    """What becomes of pairs that everybody can turn by hand, of their lengths, and of scores."""
    ones, at_1 = torch.tensor([[1.0, 0.0, 1.0, 0.0]], dtype=torch.float64), torch.tensor([1])
    out, wanted = answer(ones, at_1, 16), PROGRAM.reference(ones, at_1, 16)
    if out.shape != wanted.shape:
        return
    if off(out, wanted):
        yield (f"With base = 16 the row 1, 0, 1, 0 at position 1 becomes {listed(out)}; it should be {listed(wanted)}: "
               "one pair turned by 1 radian, one by 1/4.")
    x, places = numbers(1001, 5, 6), torch.arange(3, 8)
    if off(answer(x, places, 100).norm(dim=-1), x.norm(dim=-1)):
        yield "It changes the lengths of rows. A turn keeps them."
    q, k = numbers(1002, 4, 6), numbers(1003, 4, 6)
    near, far = (answer(q, place, 100) @ answer(k, place, 100).mT for place in (torch.arange(4), torch.arange(9, 13)))
    if off(near, far):
        yield (f"The score of a query at 3 and a key at 1 is {listed(near[3, 1])}, and of the same two at 12 and 10 it "
               f"is {listed(far[3, 1])}. Both have the distance 2.")


class OfDtypes(Exercise):
    """An exercise that says in its cases where x has 16 bits."""

    def describe(self, case):
        return super().describe(case) + " in bfloat16" * (case.args[0].dtype == torch.bfloat16)


def case(seed, shape, positions, base):
    return Case((numbers(seed, *shape), torch.tensor(positions), base))


EXERCISE = OfDtypes(
    id="10.1", name="rope", chapter="10_position", stars=2, minutes=15, after="section 2", core=True,
    signature="rope(x, positions, base)",
    statement="Write `rope(x, positions, base)`: x is `(..., n, d_k)`, queries or keys, d_k even; positions is `(n,)`, "
              "whole numbers from 0 on. Rotate each pair of neighbours, the columns 2i and 2i + 1 (i = 0, 1, ...), "
              "by the angle `position * base^(-2i/d_k)`: `(a, b)` becomes `(a cos - b sin, a sin + b cos)`. Return the "
              "shape and the dtype of x. x may be bfloat16, and its positions near 1000: then, too, angles should not "
              "be rounded to 16 bits. Gradients must reach x.",
    stub="# rope(torch.tensor([[1., 0.], [1., 0.]]), torch.tensor([0, 1]), 10000) -> 1 0 0.5403 0.8415\n"
         "def rope(x, positions, base):\n    ...\n",
    program=PROGRAM,
    cases=[case(1010, (3, 4), [0, 1, 2], 100), case(1011, (2, 3, 6), [5, 6, 7], 10000),
           case(1012, (4, 2), [9, 2, 0, 3], 7), case(1013, (2, 3, 5, 8), [0, 1, 2, 3, 4], 10000),
           case(1014, (1, 10), [12], 50), case(1015, (6, 6), [0, 1, 2, 3, 4, 5], 30),
           case(1016, (3, 1, 2, 12), [20, 4], 10000), case(1018, (3, 4), [4, 1, 7], 100),
           Case((torch.eye(2)[[0, 1, 0]].bfloat16(), torch.tensor([997, 1001, 1007]), 10000)),
           Case((numbers(1017, 2, 8).bfloat16(), torch.tensor([1001, 1003]), 10000))],
    measure=measure, observe=observe, keeps_dtype=True,
    hints=("Take one pair, (1, 0), at position 1. Where is it after the rotation? Then (0, 1).",
           "x[..., ::2] and x[..., 1::2] are the first and the second parts, (..., n, d_k / 2), and the angles (n, "
           "d_k / 2) fit both. torch.stack(..., -1).flatten(-2) weaves two such tensors into neighbours.",
           "d_k = x.shape[-1]\n"
           "t = positions[:, None] * base ** (-torch.arange(0, d_k, 2).double() / d_k)\n"
           "a, b = x[..., ::2], x[..., 1::2]\n"
           "turned = a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()\n"
           "return torch.stack(turned, -1).flatten(-2).to(x.dtype)"),
    note="A turn keeps lengths, and the score of a query at i and a key at j depends on i - j alone. "
         "mha.position.rope(x, positions, base=base, interleaved=True) gives the same.",
)
