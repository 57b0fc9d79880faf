"""5.4: a test that finds leaks."""
from itertools import zip_longest

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.report import Mistake

ONLY_THE_LAST = "What if only the last place leaks?"
WHICH_STAND_STILL = "Which outputs may move when token j does?"

PROGRAM = Program("""\
def leaks(f, n, d):
    g = torch.Generator().manual_seed(0)
    x = <start>
    before = f(x)
    for j in <tokens>:
        y = <copy>
        y[j] <change>
        moved = <moved> > <rounding>
        if <found>:
            return <hit>
    return <end>
""", {
    "start": Blank("torch.randn(n, d, generator=g).double()", wrong={
        "torch.zeros(n, d).double()": Mistake("zeros-for-tokens",
            "Some leaks do not show, as happens when all tokens are 0 before the change and too much is equal.",
            "What does attention mix when all values are the same?"),
    }),
    "tokens": Blank("range(1, n)", offered=3, wrong={
        "[n - 1]": Mistake("last-token-only",
            "A leak at other tokens than the last stays unseen, as happens when the last alone is changed.",
            "What if the last token is the only one that is hidden well?"),
        "range(1, n)[:1]": Mistake("second-token-only",
            "A leak at tokens after the second stays unseen, as happens when the second alone is changed.",
            ONLY_THE_LAST),
        "range(1, n - 1)": Mistake("last-token-left-out",
            "A leak of the last token stays unseen, as happens when it is never changed.",
            "Which index has the last token, and where does range(1, n - 1) end?"),
    }),
    "copy": Blank("x.clone()", offered=1, wrong={
        "x": Mistake("no-copy",
            "It goes wrong, as happens when x itself is changed, not a copy. What was done to one token is still there "
            "when the next is tried, so outputs move that nothing later has moved; and where f gives a view of x, what "
            "was kept from before moves along.",
            "What does x hold when the second token has been tried?"),
    }),
    "change": Blank("= torch.randn(d, generator=g)", offered=2, wrong={
        "+= 1": Mistake("one-number-added",
            "A leak of how a token's coordinates differ stays unseen, as happens when one number is added to all of "
            "them. A layer norm takes such a change out again.",
            "Which change of a token does nothing that follows take back?"),
        "*= 2": Mistake("only-the-length",
            "A leak of a token's direction stays unseen, as happens when only its length is changed.",
            "What does a normalisation leave of a token that is doubled?"),
    }),
    "moved": Blank("(f(y) - before).abs().amax(-1)", wrong={
    }),
    "rounding": Blank("1e-9", offered=2, wrong={
        "0": Mistake("rounding-counts",
            "It takes rounding for a leak, as happens when numbers must be equal to the last bit.",
            "Is 0.1 + 0.2 - 0.2 equal to 0.1?"),
        "0.01": Mistake("too-coarse",
            "A leak that moves an output by little stays unseen.",
            "How far must an output move before it counts?"),
        "1e-8 + 1e-5 * before.abs().amax(-1)": Mistake("relative-tolerance",
            "A leak that is small beside a large output stays unseen. It is one all the same: what counts is how "
            "far an output moves.",
            "What do torch.allclose and torch.isclose forgive, unless rtol is given?"),
    }),
    "found": Blank("moved[:j].any()", offered=3, wrong={
        "moved.any()": Mistake("whole-output",
            "With two tokens or more, whatever depends on its tokens is called leaky. A changed token may change its "
            "own output and later ones. Only earlier outputs must stand still.",
            WHICH_STAND_STILL),
        "moved[: j + 1].any()": Mistake("own-output-counts",
            "A token that moves its own output is called a leak. It may do that. Only earlier outputs must stand "
            "still.",
            "Is it [:j] or [:j + 1]?"),
        "moved[:j].all()": Mistake("all-earlier-must-move",
            "A leak that moves only some of the earlier outputs stays unseen. One that moves is enough.",
            "How many outputs must see the future before the model leaks?"),
        "moved[j - 1]": Mistake("output-before-only",
            "A leak that misses the output before the changed token stays unseen, as happens when that alone is seen.",
            "What if the first output sees the last token?"),
    }),
    "hit": Blank("True", wrong={
        "False": Mistake("always-false",
            "It says that nothing leaks.",
            "What does it say of a head without a mask?"),
    }),
    "end": Blank("False", wrong={
        "True": Mistake("always-true",
            "It says that everything leaks.",
            "What does it say of a causal head?"),
    }),
}, together={
    "hit end": {
        ("False", "True"): Mistake("inverted",
            "Its answers are exchanged: True should mean that it leaks.",
            "What does True mean?"),
    },
    "tokens found": {
        ("range(1, n)[:1]", "moved[0]"): Mistake("one-pair-only",
            "It finds a leak only where the second token moves the first output.",
            ONLY_THE_LAST),
    },
})


# The functions under test: (n, d) -> (n, d), each with or without a leak.

def scores_of(x):
    return x @ x.mT / x.shape[-1]              # not by the root: no weight is so small that its leak could be overseen


def weights_of(x, seen):
    return scores_of(x).masked_fill(~seen, -torch.inf).softmax(-1)


def causal(x):
    """causal attention"""
    return weights_of(x, torch.ones(len(x), len(x)).tril() > 0) @ x


def one_ahead(x):
    """its mask is off by one: each token sees the next"""
    return weights_of(x, torch.ones(len(x), len(x)).tril(1) > 0) @ x


def last_place(x):
    """the last token but one sees the last, and all else is hidden well"""
    seen = torch.ones(len(x), len(x)).tril() > 0
    seen[-2:, -1] = True
    return weights_of(x, seen) @ x


def early_place(x):
    """the first token sees the second, and all else is hidden well"""
    seen = torch.ones(len(x), len(x)).tril() > 0
    seen[0, 1] = True
    return weights_of(x, seen) @ x


def everyone(x):
    """it has no mask"""
    return weights_of(x, torch.ones(len(x), len(x)) > 0) @ x


def through_the_mean(x):
    """the attention is causal, and a mean over all tokens is taken away before it"""
    return causal(x - x.mean(0))


def masked_afterwards(x):
    """its mask comes after the softmax, whose sum has seen the future"""
    return (scores_of(x).softmax(-1) * (torch.ones(len(x), len(x)).tril() > 0)) @ x


def first_sees_last(x):
    """the first output gets the last token"""
    out = causal(x)
    return torch.cat([out[:1] + x[-1:], out[1:]])


def by_little(x):
    """a thousandth of the mean over all tokens is added"""
    return causal(x) + 0.001 * x.mean(0)


def on_large_outputs(x):
    """a hundredth of the mean over all tokens is added to outputs near 10000"""
    return causal(x) + 0.01 * x.mean(0) + 10000


def two_layers(x):
    """two causal layers"""
    return causal(causal(x).tanh())


def itself_only(x):
    """each output is three times its token"""
    return x * 3


def previous(x):
    """each output is the token before"""
    return torch.cat([x[:1] * 0, x[:-1]])


def shifted_back(x):
    """each output is the token after"""
    return torch.cat([x[1:], x[:1] * 0])


def by_a_step(x):
    """the last token leaks through rounding, which has no derivative"""
    return causal(x) + (10 * x[-1]).round()


def by_differences(x):
    """what leaks is how the coordinates of a token differ, which one number added to all of them does not change"""
    return causal(x) + (x - x[:, :1]).mean(0).sin()


def by_one_coordinate(x):
    """only the last coordinate of the last token leaks"""
    return causal(x) + 5 * x[-1, -1]


def in_opposite_ways(x):
    """the last token is added to one coordinate and taken from another, so that their sum stands still"""
    return causal(x) + 5 * x[-1, :1] * torch.tensor([1.0, -1.0]).repeat(x.shape[-1])[: x.shape[-1]]


def last_for_all(x):
    """every output is the last token, and a view of it"""
    return x[-1:].expand_as(x)


def by_size(x):
    """every output gets the mean size of all coordinates, whatever their signs"""
    return causal(x) + x.abs().mean()


def by_direction(x):
    """which way the last token points is added to all outputs, however long it is"""
    return causal(x) + torch.nn.functional.normalize(x[-1], dim=0)


def with_rounding(x):
    """causal attention to which a later token is added and taken away again: but for rounding, that cancels"""
    far = 1000 * x[-1]
    return causal(x) + far - far


def in_float64(x):
    """a causal head that takes float64 only"""
    return causal(x @ torch.eye(x.shape[-1], dtype=torch.float64))


SAFE = (causal, two_layers, itself_only, previous, with_rounding, in_float64)
LEAKY = (everyone, by_a_step, one_ahead, last_place, early_place, through_the_mean, masked_afterwards, first_sees_last,
         shifted_back, by_differences, by_one_coordinate, in_opposite_ways, last_for_all,
         by_size, by_direction, by_little, on_large_outputs)
UNDER_TEST = [(causal, 1), (everyone, 1), (causal, 2), (everyone, 2)]
UNDER_TEST += [(f, 5 + i % 2) for i, pair in enumerate(zip_longest(LEAKY, SAFE)) for f in filter(None, pair)]


def measure(answer):
    """Where its verdict is wrong, besides the first time: that is shown already."""
    wrong, right = [], 0
    for f, n in UNDER_TEST:
        said, leaky = bool(answer(f, n, 4)), f in LEAKY and n > 1
        if said == leaky:
            right += 1
        else:
            wrong.append(f"{f.__name__}, n = {n}, {'leaks' if leaky else 'does not leak'} ({f.__doc__}), and it says "
                         f"{said}.")
    yield from wrong[1:3]
    yield f"It is right in {right} of {right + len(wrong)} calls."


EXERCISE = Exercise(
    id="5.4", name="leaks", chapter="05_masks_lab", stars=3, minutes=25, after="section 2",
    signature="leaks(f, n, d)",
    statement="Write a test that finds leaks. f is any function from n tokens, `(n, d)`, to n outputs, `(n, d)`; call "
              "it with float64 tensors of n tokens, no fewer. It leaves them as they are, and what it returns may be a "
              "view of them. `leaks(f, n, d)` returns True if some output i depends on a later token j > i, and False "
              "if none does. A leak may stand at a single place; with tokens drawn by `torch.randn` it moves an output "
              "by 1e-4 or more, however large that output is. What moves by less than 1e-9 is rounding. You see "
              "what f returns, not how it is written.",
    stub="def leaks(f, n, d):\n    ...\n",
    program=PROGRAM,
    cases=[Case((f, n, 4)) for f, n in UNDER_TEST],
    measure=measure, observe=lambda output, *args: torch.tensor(float(bool(output))),
    wanted="True or False", trained=(),
    describe_difference=lambda said, wanted: f"it says {bool(said)}, and should say {bool(wanted)}.",
    hints=("What can you change at the input, and which outputs must stand still then?",
           "Change token j. Outputs before j must not move; j itself and later ones may. How many j must be tried?",
           "x, other = torch.randn(2, n, d).double()\n"
           "return any(((f(torch.cat([x[:j], other[j:]])) - f(x))[:j].abs() > 1e-9).any() for j in range(1, n))"),
    note="Such a test needs no look at the code, so keep it beside every model that you train. It finds a mask that "
         "comes too late, a mean over all tokens, and a normalisation over time as well.",
)
