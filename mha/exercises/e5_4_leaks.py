"""5.4: a test that finds leaks."""
import functools

import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.report import Mistake


def leaks(f, n, d):
    x = torch.randn(n, d, dtype=torch.float64)
    before = f(x)
    for j in range(1, n):
        y = x.clone()
        y[j] = torch.randn(d, dtype=torch.float64)
        if not torch.allclose(f(y)[:j], before[:j]):
            return True
    return False


# The functions under test: (n, d) -> (n, d), each with or without a leak.

def weights_of(x, seen):
    return (x @ x.mT / x.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf).softmax(-1)


def causal(x):
    return weights_of(x, torch.ones(len(x), len(x)).tril() > 0) @ x


def one_ahead(x):
    return weights_of(x, torch.ones(len(x), len(x)).tril(1) > 0) @ x


def last_place(x):
    """Leaks in one place only: the last token but one sees the last."""
    seen = torch.ones(len(x), len(x)).tril() > 0
    seen[-2:, -1] = True
    return weights_of(x, seen) @ x


def early_place(x):
    """Leaks in one place only: the first token sees the second."""
    seen = torch.ones(len(x), len(x)).tril() > 0
    seen[0, 1] = True
    return weights_of(x, seen) @ x


def everyone(x):
    return weights_of(x, torch.ones(len(x), len(x)) > 0) @ x


def through_the_mean(x):
    """The attention is causal; what leaks is a mean over all tokens."""
    return causal(x - x.mean(0))


def masked_afterwards(x):
    """The mask comes after the softmax: the sum below the fraction line has seen the future."""
    return ((x @ x.mT).softmax(-1) * (torch.ones(len(x), len(x)).tril() > 0)) @ x


def first_sees_last(x):
    out = causal(x)
    return torch.cat([out[:1] + 0.01 * x[-1:], out[1:]])


def two_layers(x):
    return causal(causal(x).tanh())


def itself_only(x):
    return x * 3


def previous(x):
    return torch.cat([x[:1] * 0, x[:-1]])


def shifted_back(x):
    """Token i gives what token i + 1 is: the clearest leak of all."""
    return torch.cat([x[1:], x[:1] * 0])


def by_a_step(x):
    """Leaks through rounding, which has no derivative."""
    return causal(x) + (10 * x[-1]).round()


def by_differences(x):
    """Leaks how the coordinates of a token differ, which one number added to all of them does not change."""
    return causal(x) + (4 * (x - x[:, :1])).round().mean(0)


SAFE, LEAKY = (causal, two_layers, itself_only, previous), (everyone, one_ahead, last_place, early_place,
                                                            through_the_mean, masked_afterwards, by_a_step,
                                                            first_sees_last, shifted_back, by_differences)
UNDER_TEST = [f for pair in zip(LEAKY, SAFE * 3) for f in pair]


@functools.cache
def who_moves(f, n, d, by="fresh"):
    """(n, n), boolean: whether output i moves when token j is drawn anew ("fresh") or has 1 added to all of it
    ("shift"), or whether it has a derivative with respect to it ("derivative").
    """
    g = torch.Generator().manual_seed(n)
    x = torch.randn(n, d, dtype=torch.float64, generator=g)
    if by == "derivative":
        return torch.autograd.functional.jacobian(f, x).abs().amax((1, 3)) > 1e-9
    seen = torch.zeros(n, n, dtype=torch.bool)
    for j in range(n):
        for _ in range(4):
            y = x.clone()
            y[j] = x[j] + 1 if by == "shift" else torch.randn(d, dtype=torch.float64, generator=g)
            seen[:, j] |= (f(y) - f(x)).abs().amax(-1) > 1e-9
    return seen


def model(f, n, d, how="right"):
    """A leak test with a switch that can be set wrong."""
    seen = who_moves(f, n, d, by=how if how in ("derivative", "shift") else "fresh")
    future = torch.ones(n, n).triu(1) > 0
    found = {
        "right": (seen & future).any(),
        "derivative": (seen & future).any(),
        "shift": (seen & future).any(),
        "always": torch.tensor(True),
        "never": torch.tensor(False),
        "inverted": ~(seen & future).any(),
        "whole-output": seen.any(1).any(),
        "diagonal-too": (seen & (torch.ones(n, n).triu(0) > 0)).any(),
        "past": (seen & (torch.ones(n, n).tril(-1) > 0)).any(),
        "last-on-first": seen[0, -1],
        "last-token": seen[:-1, -1].any(),
        "second-on-first": seen[0, 1],
        "middle": seen[: n // 2, n // 2].any(),
        "first-output": seen[0, 1:].any(),
        "all-must": seen[future].all(),
    }[how]
    return bool(found)


SWITCHES = {
    "how": {
        "derivative": Mistake("derivative-only",
                              "It looks at derivatives only. A leak through a step, such as rounding, a comparison or "
                              "an argmax, has none.",
                              "What else can you do to a token than take a derivative?"),
        "shift": Mistake("one-number-added",
                         "It adds one number to all coordinates of a token. That is a change that a layer norm takes "
                         "out again, so a leak behind one stays unseen.",
                         "Which change of a token does nothing that follows take back?"),
        "always": Mistake("always-true", "It says that everything leaks.", "What does it say of a causal head?"),
        "never": Mistake("always-false", "It says that nothing leaks.", "What does it say of a head without a mask?"),
        "inverted": Mistake("inverted",
                            "Its answers are exchanged: True should mean that it leaks.", "What does True mean?"),
        "whole-output": Mistake("whole-output",
                                "Every function of the tokens is called leaky. A changed token must change its own "
                                "output, and may change later ones. Only earlier outputs must stand still.",
                                "Which outputs may move when token j does?"),
        "diagonal-too": Mistake("own-output-counts",
                                "A token that moves its own output is called a leak. It may do that. Only earlier "
                                "outputs must stand still.",
                                "Is it [:j] or [:j + 1]?"),
        "past": Mistake("wrong-direction",
                        "It calls it a leak when an earlier token moves a later output. That is what attention is "
                        "for.",
                        "Which of the two is the future?"),
        "last-on-first": Mistake("one-pair-only",
                                 "It looks whether the last token moves the first output, and nowhere else.",
                                 "What if a token sees only the next one?"),
        "last-token": Mistake("last-token-only",
                              "It changes the last token only. A leak at other tokens stays unseen.",
                              "What if the last token is the only one that is hidden well?"),
        "second-on-first": Mistake("one-pair-only",
                                   "It looks whether the second token moves the first output, and nowhere else.",
                                   "What if only the last place leaks?"),
        "middle": Mistake("one-token-only", "It changes one token in the middle, and no other.",
                          "What if only the last place leaks?"),
        "first-output": Mistake("first-output-only", "It looks at the first output only.",
                                "What if only the last place leaks?"),
        "all-must": Mistake("every-pair-must-leak",
                            "It says that a function leaks only when every hidden pair does.",
                            "How many leaks make a model leaky?"),
    },
}


def measure(answer):
    """Its verdicts, one by one."""
    for f in UNDER_TEST[:7]:
        yield f"{f.__name__}: it says {bool(answer(f, 6, 4))}, and {f in LEAKY} is right."


EXERCISE = Exercise(
    id="5.4", name="leaks", chapter="05_masks", stars=3, minutes=25, after="section 1",
    signature="leaks(f, n, d)",
    statement="Write a test that finds leaks. f is any function from n tokens, `(n, d)`, to n outputs, `(n, d)`; call "
              "it with float64 tensors. `leaks(f, n, d)` returns True if some output i depends on a later token j > "
              "i, and False if none does. You see what f returns, not how it is written.",
    stub="def leaks(f, n, d):\n    ...\n",
    reference=leaks,
    cases=[Case((f, 6 if i % 2 else 5, 4)) for i, f in enumerate(UNDER_TEST)],
    model=model, switches=SWITCHES, measure=measure, observe=lambda output, *args: torch.tensor(float(bool(output))),
    wanted="True or False", trained=(),
    hints=("What can you change at the input, and which outputs must stand still then?",
           "Change token j. Outputs before j must not move; j itself and later ones may. How many j must be tried?",
           "x = torch.randn(n, d).double(); for each j from 1 to n - 1: y = x.clone(); y[j] = "
           "torch.randn(d).double(); return True if not torch.equal(f(y)[:j], f(x)[:j]); at the end return False"),
    note="Such a test needs no look at the code, so keep it beside every model that you train. It finds a mask that "
         "comes too late, a mean over all tokens, and a normalisation over time as well.",
)
