"""7.7: one head, two numbers."""
import functools
import math

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, off, same
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def two_from_one(error):
    b = <little>
    W_K = torch.tensor(<scores>)
    W_V = torch.tensor([<names>, [0.0, 1.0]])
    W_O = torch.tensor([<difference>, <mean>])
    return W_K, W_V, W_O
""", {
    "little": Blank("error / 2", offered=3, wrong={
        "1.0": Mistake("sees-too-much",
            "The contents enter the scores with the factor 1. The weights then follow them along a curve, and what is "
            "read off by a linear map is off.",
            "Where is a softmax of two scores nearly straight?"),
        "error": Mistake("factor-too-large",
            "The contents enter the scores with the factor error. The guesses are then off by a little more than "
            "error: a smaller factor is needed.",
            "How does the error go with the factor?"),
        "0.05": Mistake("fixed-factor",
            "The contents enter the scores with the factor 0.05, whatever error is allowed. A smaller error needs a "
            "smaller factor.",
            "How does the error go with the factor?"),
    }),
    "scores": Blank("[[0.0], [0.0], [b]]", offered=1, wrong={
        "[[b], [-b], [0.0]]": Mistake("scores-of-names",
            "The scores see the names and not the contents, so the weights are the same whatever the contents are.",
            "What must the score of a token depend on, if the weights are to say something about the contents?"),
    }),
    "names": Blank("[1.0, 0.0], [-1.0, 0.0]", offered=3, wrong={
        "[1.0, 0.0], [1.0, 0.0]": Mistake("names-alike",
            "Both names are carried by the same value. The two weights add up to 1, so what is returned of the names "
            "is always the same.",
            "Which part of a value could tell the two weights apart?"),
        "[1.0, 0.0], [0.0, 0.0]": Mistake("one-name",
            "Only the name of token 1 is carried, so its weight is returned, about one half. What is needed is the "
            "difference of the two weights, which is 0 where the contents are equal.",
            "What do the guesses show for the contents 0, 0?"),
        "[0.0, 0.0], [0.0, 0.0]": Mistake("weights-unread",
            "Both guesses are what the head mixes from the contents. How the weight is divided is not read.",
            "Which part of a value could tell the two weights apart?"),
    }),
    "difference": Blank("[1 / b, -1 / b]", offered=4, wrong={
        "[1.0, -1.0]": Mistake("no-gain",
            "The difference of the two weights is read as it is. It is far smaller than that of the contents, since "
            "the scores see little of them.",
            "By which factor is the difference of the weights too small?"),
        "[1 / b, 1 / b]": Mistake("same-for-both",
            "The difference of the two weights enters both guesses alike, so both are about c1.",
            "c1 is the mean plus half the difference. What is c2?"),
        "[2 / b, -2 / b]": Mistake("gain-doubled",
            "The difference of the two weights is read with twice the gain that is needed, so the guesses differ by "
            "twice of what the contents do.",
            "With scores b c1 and b c2, by how much do the two weights differ, to first order?"),
        "[-1 / b, 1 / b]": Mistake("contents-exchanged",
            "The two guesses are exchanged.",
            "Which token gets more weight when c1 is the larger one?"),
    }),
    "mean": Blank("[1.0, 1.0]", offered=2, wrong={
        "[0.0, 0.0]": Mistake("mean-missing",
            "The guesses are plus and minus half the difference of the contents. Their mean is missing.",
            "What does the head mix from the contents when the weights are nearly equal?"),
        "[2.0, 2.0]": Mistake("mean-doubled",
            "The mixture of the contents is counted twice: it is their mean already.",
            "What are two weights of about one half?"),
    }),
}, together={
    "difference mean": {
        ("[0.0, 0.0]", "[0.0, 0.0]"): Mistake("always-zero",
            "Both guesses are 0, whatever the contents.",
            "Which two numbers does a head return?"),
    },
    "little difference": {
        ("0.0", "[0.0, 0.0]"): Mistake("blind-scores",
            "Both guesses are the mean of the two contents: how the weight is divided does not show in them, as "
            "happens when the scores do not see the contents, or see so little of them that it is lost in rounding. In "
            "mean square, one fixed mixture allows no better.",
            "What must the score of a token depend on, if the weights are to say something about the contents? And how "
            "small may that part be, beside the digits that your dtype keeps?"),
    },
})


GRID = torch.cartesian_prod(*2 * [torch.linspace(-1, 1, 9, dtype=torch.float64)])       # (81, 2), the contents


def guesses(output, contents):
    """What the head reads of these contents, (..., 2), in their dtype; and its weights."""
    W_K, W_V, W_O = (W.to(contents) for W in output)
    if W_K.shape != (3, 1) or W_V.ndim != 2 or len(W_V) != 3 or W_O.shape != (W_V.shape[1], 2):
        raise ValueError("not the shapes")
    names = torch.eye(2).to(contents).expand(*contents.shape, 2)
    x = torch.cat([names, contents[..., None]], -1)                                     # (..., 2, 3)
    weights = (x @ W_K).mT.softmax(-1)                                                  # (..., 1, 2)
    return (weights @ (x @ W_V) @ W_O)[..., 0, :], weights[..., 0, :]


def own_dtype(output):
    """That of the matrices, half precision too; float32 where they are whole numbers."""
    own = functools.reduce(torch.promote_types, (W.dtype for W in output))
    return own if own.is_floating_point else torch.float32


def observe(output, error):
    """The guesses; where one is close enough, the content itself, for then it does not matter how close. It must be so
    in the dtype of the matrices too, where rounding may show; other guesses are those of float64.
    """
    contents = GRID.to(output[0].device)
    guess, _ = guesses(output, contents)
    own, _ = guesses(output, contents.to(own_dtype(output)))
    close, rounded_close = ((found - contents).abs() <= error * (1 + 1e-6) for found in (guess, own))
    return torch.where(close, torch.where(rounded_close, contents, own.double()), guess)


def describe_difference(guess, contents):
    """The pair of contents whose guesses are farthest off."""
    worst = (guess - contents).nan_to_num(math.inf).abs().amax(-1).argmax()
    wrong = int((guess != contents).any(-1).sum())
    off_ones = [(name, found) for name, found, right in zip(("first", "second"), guess[worst], contents[worst])
                if found != right]                                          # `observe` shows others as the content
    return (f"for {wrong} of 81 pairs of contents a guess is off by more than error. For the contents "
            f"{listed(contents[worst])} "
            f"{' and '.join(f'the {name} guess is {found + 0:.3g}' for name, found in off_ones)}.")


def measure(answer):
    """What the scores and the values see, and how the guesses follow small contents."""
    output = answer(0.1)
    W_K, W_V, W_O = (W.double() for W in output)
    bent = (guesses(output, GRID)[0] - GRID).abs().max() > 0.1 * (1 + 1e-6)
    for error, rounded in ((0.1, False), (0.01, False), (0.1, True), (0.01, True)):
        made = answer(error)
        contents = GRID.to(own_dtype(made)) if rounded else GRID
        errors = (guesses(made, contents)[0] - GRID).abs().amax(-1)
        if errors.max() > error * (1 + 1e-6):
            yield (f"For error = {error} its largest error is {errors.max():.3g}, at the contents "
                   f"{listed(GRID[errors.argmax()])}.")
            if rounded:
                yield (f"That is rounding in {str(contents.dtype).removeprefix('torch.')}; without it the matrices "
                       "would do. Which of their numbers is so small that its digits are lost?")
            break
    if all(map(same, answer(0.5), answer(0.01))):
        yield "The matrices are the same for error = 0.5 and for error = 0.01."
    _, weights = guesses(output, torch.tensor([[1.0, -1.0], [-1.0, 1.0]], dtype=torch.float64))
    yield (f"For error = 0.1 its weights are {listed(weights[0])} for the contents 1, -1, and {listed(weights[1])} for "
           "the contents -1, 1.")
    if W_K[2] == 0:
        yield ("The last row of W_K is 0, so the scores do not see the contents. Then a linear map can read one "
               "mixture of the contents and no more.")
    if not off((W_V @ W_O)[0], (W_V @ W_O)[1]):
        yield ("The two names are read alike (the first two rows of W_V W_O are equal), so the division of the weight "
               "shows in the mixture of the contents only.")
    middle = torch.zeros(2, dtype=torch.float64)
    slopes = torch.autograd.functional.jacobian(lambda contents: guesses(output, contents)[0], middle)
    slopes = slopes.round(decimals=6) + 0.0                                                  # no -0, and no rounding
    if off(guesses(output, middle)[0], 0):
        yield f"For the contents 0, 0 the guesses are {listed(guesses(output, middle)[0])}."
    if slopes.sub(torch.eye(2)).abs().max() > 0.1:
        yield (f"Near the contents 0, 0 the first guess moves by {slopes[0, 0]:.3g} times c1 and {slopes[0, 1]:.3g} "
               f"times c2, the second by {slopes[1, 0]:.3g} times c1 and {slopes[1, 1]:.3g} times c2; they should be 1 "
               "and 0, then 0 and 1.")
        yield from in_parts(slopes)
    elif bent and slopes.sub(torch.eye(2)).abs().max() < 0.01 and not off(guesses(output, middle)[0], 0):
        yield ("For error = 0.1 and small contents the guesses are right, and with large ones they go off. Two things "
               "are straight only where the weights are nearly one half each: the softmax, and the mixture of the "
               "contents. How near must they be?")


def in_parts(slopes):
    """The same in terms of the mean of the contents and of half their difference, where each enters by a factor."""
    (a, b), (c, d) = slopes.tolist()
    if abs(a - d) + abs(b - c) < 0.02:
        yield (f"In other words, the mean of the contents enters with the factor {a + b:.2g}, and half of their "
               f"difference with the factor {a - b:.2g}, turned round in the second guess; both factors should be 1.")


EXERCISE = Exercise(
    id="7.7", name="two_from_one", chapter="07_how_many_heads_lab", stars=3, minutes=30, after="section 2",
    signature="two_from_one(error)",
    statement="Build by hand what falls through the floor: one head that fetches two numbers. Token 1 is the row `(1, "
              "0, c1)`, token 2 is `(0, 1, c2)`: a name and a content, any number from -1 to 1. Stack them to x, `(2, "
              "3)`. The token that asks has the query 1, and d_k = 1, so the two scores are x @ W_K. Write "
              "`two_from_one(error)`: return W_K `(3, 1)`, W_V `(3, d_v)` and W_O `(d_v, 2)`, with a d_v of your "
              "choice, so that `softmax((x @ W_K).T) @ (x @ W_V) @ W_O` (softmax along the row) is (c1, c2), each "
              "within error, whatever the contents, in the dtype of your matrices. error is at least `0.01`.",
    stub="def two_from_one(error):\n    ...\n",
    program=PROGRAM,
    cases=[Case((error,)) for error in (0.5, 0.2, 0.05, 0.02, 0.01)],
    measure=measure, measures_closely=True, observe=observe, trained=(),
    wanted="three matrices: W_K of shape (3, 1), W_V of shape (3, d_v), W_O of shape (d_v, 2)",
    describe_difference=describe_difference,
    hints=("The head returns two numbers: what it mixes from the contents, and how the weight is divided. Let the "
           "scores see the contents, so that the second says something.",
           "With scores b c1 and b c2 and a small b, the weights differ by about b (c1 - c2) / 2, and the mixture is "
           "about (c1 + c2) / 2. Let the names in the values tell the weights apart, and W_O make up for the small "
           "b.",
           "b = error / 2\n"
           "X = torch.tensor([[1., 0.], [-1., 0.], [0., 1.]])\n"
           "return torch.tensor([[0.], [0.], [b]]), X, torch.tensor([[1 / b, -1 / b], [1., 1.]])"),
    note="So one softmax serves two targets, to any precision, and a linear map reads them. It has a price: the error "
         "falls with b, and W_O grows like 1/b, so that any noise in the weights grows with it. Exact it never is: "
         "for an exact linear reading the weights would have to stand still, and then they carry nothing.",
)
