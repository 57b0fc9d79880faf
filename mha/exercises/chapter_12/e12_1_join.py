"""12.1: attention to two parts of the keys, joined."""
import math

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off
from mha.exercises.engine.report import Mistake

HOW_MUCH = "Of all the weight, which share would the keys of part a have?"
WHOLE = "What is the sum of e to the power of the scores, over the keys of both parts?"

ADDED = Mistake("outputs-added",
    "The two outputs are added. Each is a weighted mean already, so together they count twice.",
    HOW_MUCH)

PROGRAM = Program("""\
def join(out_a, lse_a, out_b, lse_b):
    lse = <whole>
    share_a, share_b = <shares>
    out = <mixed>
    return out, lse
""", {
    "whole": Blank("torch.logaddexp(lse_a, lse_b)", offered=4, wrong={
        "lse_a + lse_b": Mistake("logarithms-added",
            "The two logarithms are added, which multiplies the two sums. The sum over all keys is the sum of both.",
            WHOLE),
        "torch.maximum(lse_a, lse_b)": Mistake("larger-kept",
            "The larger log-sum-exp is kept, so the other part's keys are missing from the sum.",
            WHOLE),
        "(lse_a + lse_b) / 2": Mistake("logarithms-averaged",
            "The two logarithms are averaged. More keys make a larger sum, not one in between.",
            WHOLE),
        "lse_a.exp() + lse_b.exp()": Mistake("sum-not-logarithm",
            "The sum over both parts is right, and its logarithm is not taken.",
            "What does lse stand for?"),
    }),
    "shares": Blank("(lse_a - lse).exp(), (lse_b - lse).exp()", offered=4, wrong={
        "torch.full_like(lse, 0.5), torch.full_like(lse, 0.5)": Mistake("parts-averaged",
            "Both parts count one half, however large their scores are.",
            HOW_MUCH),
        "(lse_b - lse).exp(), (lse_a - lse).exp()": Mistake("shares-exchanged",
            "Each part has the share of the other.",
            HOW_MUCH),
        "lse_a / (lse_a + lse_b), lse_b / (lse_a + lse_b)": Mistake("ratio-of-logarithms",
            "The shares are ratios of logarithms. They should be ratios of the sums themselves.",
            HOW_MUCH),
        "torch.ones_like(lse), torch.ones_like(lse)": ADDED,
        "(lse_a - lse), (lse_b - lse)": Mistake("shares-not-exponentiated",
            "The differences of logarithms are used as shares. The share is e to the power of that difference.",
            HOW_MUCH),
    }),
    "mixed": Blank("share_a[..., None] * out_a + share_b[..., None] * out_b", offered=3, wrong={
        "out_a + out_b": ADDED,
        "share_a[..., None] * out_a": Mistake("part-b-lost",
            "The output of part b is not used.",
            "Which keys has part a not seen?"),
        "(share_a[..., None] * out_a + share_b[..., None] * out_b) / 2": Mistake("halved",
            "The weighted sum is halved. The shares sum to 1 already.",
            "What do the two shares sum to?"),
    }),
})


def measure(answer):
    """What becomes of outputs 1 and 0 where the shares are known: the share of part a."""
    for a, b in ((0.0, 0.0), (math.log(3), 0.0), (0.0, math.log(3))):
        one = torch.ones(1, 1, 1, dtype=torch.float64)
        result = answer(one, torch.full((1, 1), a).double(), 0 * one, torch.full((1, 1), b).double())
        if not (isinstance(result, tuple) and len(result) == 2):
            return
        share, wanted = result[0], math.exp(a) / (math.exp(a) + math.exp(b))
        if isinstance(share, torch.Tensor) and share.numel() == 1 and off(share.sum(), wanted):
            yield (f"With outputs 1 and 0, of parts whose sums are {math.exp(a):g} and {math.exp(b):g}, it returns "
                   f"{float(share.sum()):.4g}; the share of the first is {wanted:.4g}.")


def observe(output, out_a, lse_a, out_b, lse_b):
    """The output with lse as one more column, (h, n, d_v + 1)."""
    out, lse = output
    if out.shape != out_a.shape or lse.shape != lse_a.shape:
        raise ValueError("not the shapes")
    return torch.cat([out, lse[..., None]], -1)


def case(seed, h, n, d_v, loud=2.0):
    return Case((numbers(seed, h, n, d_v), loud * numbers(seed + 1, h, n), numbers(seed + 2, h, n, d_v),
                 loud * numbers(seed + 3, h, n)))


EXERCISE = Exercise(
    id="12.1", name="join", chapter="12_fast_heads", stars=2, minutes=8, after="section 1", core=True,
    signature="join(out_a, lse_a, out_b, lse_b)",
    statement="The keys of a text are split into parts a and b. For each part a kernel returns the heads' output over "
              "its keys alone, out `(h, n, d_v)`, and lse `(h, n)`, the logarithm of the sum of e to the power of the "
              "scores with its keys. Write `join(out_a, lse_a, out_b, lse_b)`: return the pair out, lse that the "
              "kernel would return for all keys at once. An lse in the thousands must do no harm, and gradients must "
              "reach all four.",
    stub="# one = torch.ones(1, 1)\n"
         "# join(3 * one[..., None], one, 5 * one[..., None], one)[0] -> 4\n"
         "def join(out_a, lse_a, out_b, lse_b):\n    ...\n",
    program=PROGRAM,
    cases=[case(12101, 1, 2, 3), case(12105, 2, 3, 5), case(12109, 3, 4, 4), case(12113, 5, 2, 7),
           case(12117, 4, 1, 1), case(12121, 2, 6, 3, 0.5)],
    sized=lambda h, n, d_v: case(1, h, n, d_v),
    measure=measure, observe=observe,
    wanted="two tensors: out (h, n, d_v) and lse (h, n)",
    compared="The output, and lse as one more column.",
    large=(case(12125, 3, 4, 5, 3000.0),),
    safe="the larger lse should be taken off both before any power of e (torch.logaddexp does that)",
    hints=("Each output is a mean over its part's keys. By which share of the total weight should it count?",
           "The sum over all keys is e^lse_a + e^lse_b, and torch.logaddexp gives its logarithm, lse. The share of "
           "part a is e^(lse_a - lse).",
           "lse = torch.logaddexp(lse_a, lse_b)\n"
           "return (lse_a - lse).exp()[..., None] * out_a + (lse_b - lse).exp()[..., None] * out_b, lse"),
    note="mha.merge does it for any number of parts, and for parts that a query does not see.",
)
