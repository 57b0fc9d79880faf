"""5.1: weights that do not see the future, the mask of chapter 5."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off, same
from mha.exercises.engine.report import Mistake

SECOND_ROW = "Write the row of the second token: which keys does it see?"

PROGRAM = Program("""\
def causal_weights(scores):
    seen = torch.ones_like(scores)<seen>
    scores = <hide>
    weights = <shares>
    return <result>
""", {
    "seen": Blank(".tril()", offered=3, wrong={
        ".tril(-1)": Mistake("diagonal-hidden",
            "A token does not see itself: the diagonal is hidden. The first token then sees nothing.",
            "Which keys does the first token see?"),
        ".triu()": Mistake("polarity",
            "The mask is the wrong way round: tokens see themselves and what comes later, not what came before.",
            SECOND_ROW),
        ".tril(1)": Mistake("one-too-many",
            "Each token but the last also sees the one right after it: the diagonal is off by one.",
            "Does token 1 see token 2?"),
        ".triu(1)": Mistake("polarity-strict",
            "The mask is the wrong way round: it hides the past and the token itself, and keeps the future.",
            SECOND_ROW),
        "": Mistake("no-mask",
            "Nothing is masked: every token sees every token.",
            SECOND_ROW),
    }),
    "hide": Blank("scores.masked_fill(seen == 0, -math.inf)", offered=4, wrong={
        "scores.masked_fill(seen == 1, -math.inf)": Mistake("polarity-strict",
            "The mask is the wrong way round: it hides the past and the token itself, and keeps the future.",
            SECOND_ROW),
        "scores.masked_fill(seen == 0, 0)": Mistake("zero-for-minus-infinity",
            "Masked scores are set to 0, or nearly 0, not to minus infinity. A score of 0 takes a share like any "
            "other.",
            "What is e to the power 0?"),
        "scores": Mistake("no-mask",
            "Nothing is masked: every token sees every token.",
            SECOND_ROW),
        "torch.full_like(scores, -1e9)": Mistake("all-hidden",
            "Every row is uniform, over past and future, as happens when all scores are filled with one number.",
            SECOND_ROW),
        "scores + (1 - seen) * -math.inf": Mistake("zero-times-infinity",
            "Every weight is NaN. The usual way there: 0 times infinity is NaN, so a mask of zeros and ones cannot be "
            "multiplied by minus infinity. masked_fill and torch.where choose, they do not multiply.",
            "What is 0 * float('-inf')?"),
        "scores + seen": Mistake("mask-added",
            "The mask is added to the scores as 0 and 1. Masked scores should become minus infinity.",
            "What must a masked score be, so that its power is 0?"),
        "scores - (1 - seen)": Mistake("mask-subtracted",
            "1 is subtracted from masked scores. They should become minus infinity.",
            "What must a masked score be, so that its power is 0?"),
        "scores.masked_fill(seen == 0, scores.min().item())": Mistake("small-number",
            "Masked scores are set to the smallest score that there is, which leaves them a share.",
            "What is e to the power of the smallest score?"),
        "scores.masked_fill(seen == 1, -1e9)": Mistake("polarity-strict",
            "The mask is the wrong way round, with a large negative number as fill: it hides the past and the token "
            "itself, and keeps the future. The last row, where all is hidden, becomes uniform.",
            SECOND_ROW),
        "scores.masked_fill(seen == 0, math.inf)": Mistake("plus-infinity",
            "Every row that hides something is NaN, as happens when masked scores are plus infinity. They should be "
            "minus infinity.",
            "What is -float('-inf')?"),
    }),
    "shares": Blank("scores.softmax(-1)", offered=2, wrong={
        "scores.softmax(-2)": Mistake("softmax-axis-queries",
            "The softmax runs over the queries (axis -2), so that columns sum to 1 and rows do not.",
            "Whose weights should sum to 1?"),
        "scores.softmax(1)": Mistake("softmax-axis-1",
            "The softmax runs over axis 1. With two axes that is the last one; with a batch it is not.",
            "What do the axes mean when there is a batch?"),
        "scores.softmax(0)": Mistake("softmax-axis-0",
            "The softmax runs over axis 0, not over the keys, which are the last axis.",
            "What do the axes mean when there is a batch?"),
        "scores.softmax(0 if scores.ndim == 3 else 1)": Mistake("softmax-implicit-dim",
            "The softmax runs over axis 0 when there are three axes, and over axis 1 otherwise: that is what torch "
            "chooses when no dim is given.",
            "Which axis holds the keys, counted from the back?"),
        "scores": Mistake("no-softmax",
            "The masked scores are returned: the softmax is missing.",
            "What makes shares out of scores?"),
        "scores.log_softmax(-1)": Mistake("log-softmax",
            "It returns the logarithm of the weights.",
            "Can a share be negative?"),
        "scores.exp() / scores.exp().sum(-1)": Mistake("keepdim",
            "The sums of the rows have lost their axis, so the sum of row j divides column j. keepdim=True keeps it.",
            "Which sum should divide the first row?"),
        "scores.sigmoid() * seen / (scores.sigmoid() * seen).sum(-1, keepdim=True)": Mistake("sigmoid",
            "The shares are made of sigmoids, where a softmax makes them of powers of e.",
            "How many times as much does a key get whose score is larger by 1?"),
    }),
    "result": Blank("weights", offered=1, wrong={
        "weights * seen": None,
        "weights * scores.shape[-1]": Mistake("times-n",
            "The weights are multiplied by n.",
            "What should a row sum to?"),
    }),
}, together={
    "hide result": {
        ("scores", "weights * seen"): Mistake("mask-after-softmax",
            "The mask acts after the softmax: masked weights are zero, but they have taken their share, and rows that "
            "hide something sum to less than 1.",
            "What does a row sum to?"),
        ("scores", "weights.masked_fill(seen == 0, -math.inf)"): Mistake("minus-infinity-after",
            "Minus infinity is put into the weights, after the softmax. It belongs into the scores, before it.",
            "Can a weight be minus infinity?"),
        ("scores.masked_fill(seen == 0, 0)", "weights * seen"): Mistake("zero-then-mask",
            "Masked scores are set to 0 before the softmax and masked weights to 0 after it. A score of 0 takes a "
            "share like any other.",
            "What is e to the power 0?"),
        ("scores.masked_fill(seen == 1, -math.inf)", "weights * seen"): Mistake("all-hidden",
            "Nothing is left, as happens when the past and the token itself are hidden before the softmax, and the "
            "future after it.",
            SECOND_ROW),
    },
    "hide shares": {
        ("scores * seen", "scores"): Mistake("scores-times-mask",
            "The scores are multiplied by the mask and returned: no softmax.",
            "What makes shares out of scores?"),
    },
    "seen hide": {
        (".tril(1)", "scores.masked_fill(seen == 1, -math.inf)"): Mistake("polarity-strict",
            "The mask is the wrong way round: it hides the past, the token itself and the one right after it, and "
            "keeps what comes later.",
            SECOND_ROW),
    },
})


def measure(answer):
    """Which keys each query sees, what its rows sum to, and whether masked scores still matter; first without a batch,
    then with one.
    """
    n = 4
    for shape in ((n, n), (2, n, n)):
        for seed in (31, 32, 33):
            scores = 3 * numbers(seed, *shape)
            out = answer(scores.clone())
            if not isinstance(out, torch.Tensor) or out.shape != shape or same(out, PROGRAM.reference(scores)):
                continue
            which = 0 if len(shape) == 2 else next(i for i in range(2)
                                                   if not same(out[i], PROGRAM.reference(scores[i])))
            one = out if len(shape) == 2 else out[which]
            signs = [["?" if w.isnan() else "x" if abs(w) > 1e-12 else "." for w in row] for row in one.detach()]
            wanted = [["x" if j <= i else "." for j in range(n)] for i in range(n)]
            of = f" in the batch {shape}, matrix {which}" if len(shape) == 3 else f" for {n} tokens"
            if signs != wanted:
                yield (f"Who sees whom{of} (a row is a query, x a weight that is not zero, ? is NaN):\n"
                       + "\n".join("   " + " ".join(row) for row in signs))
                yield "It should be x on and below the diagonal, and . above it."
            if not off(one.sum().nan_to_num(9), 1):
                yield f"For random scores {shape} all weights together sum to 1, where each row should."
            elif off(one.sum(-1).nan_to_num(9), 1):
                yield f"The rows{of} sum to {listed(one.sum(-1))}; each should sum to 1."
            elif signs == wanted:
                row = scores.view(-1, n)[which * n + n - 1]
                yield (f"Who sees whom is right{of}, and each row sums to 1. For scores {listed(row)} the last row is "
                       f"{listed(one[-1])}, and their softmax is {listed(row.softmax(-1))}.")
            other = scores.clone()
            other[..., ~torch.ones(n, n, dtype=torch.bool).tril()] += 3.0
            moved = (answer(other.clone()) - out).abs().amax(-1).reshape(-1, n)[which]
            leaks = [i for i in range(n) if moved[i] > 1e-9]
            if leaks:
                yield (f"When only masked scores change, the weights of row {', '.join(map(str, leaks))} (counted from "
                       "0) change: what is hidden still plays a part.")
            return


EXERCISE = Exercise(
    id="5.1", name="causal_weights", chapter="05_masks", stars=2, core=True, minutes=10, after="section 1",
    signature="causal_weights(scores)",
    statement="Write `causal_weights(scores)`: scores is `(..., n, n)`, rows are queries. Return weights of the same "
              "shape in which query i sees only keys `j <= i`, each row summing to 1. Scores in the thousands "
              "must do no harm, and gradients must reach them.",
    stub="# causal_weights(torch.zeros(2, 2)) -> 1 0 0.5 0.5\n"
         "def causal_weights(scores):\n    ...\n",
    program=PROGRAM,
    cases=[Case((2 * numbers(21, 3, 3),)), Case((2 * numbers(22, 2, 5, 5),)), Case((2 * numbers(23, 4, 4, 4),)),
           Case((numbers(24, 2, 3, 7, 7) - 6,)), Case((3 * numbers(25, 1, 1),)),
           Case((20 * numbers(26, 6, 6) - 90,)),
           Case((numbers(28, 1, 4, 4).round() * (numbers(29, 1, 4, 4) > 0),)), Case((numbers(30, 40, 40),))],
    sized=lambda B, n: Case((numbers(1, B, n, n),)),
    measure=measure,
    large=(Case((20000 * numbers(27, 6, 6),)), Case((2 * numbers(27, 5, 5) - 9000,))),
    hints=("Which scores must not take part? Write down the mask for n = 3, as a table of yes and no.",
           "torch.ones(n, n).tril() is 1 on and below the diagonal. A masked score becomes minus infinity, before the "
           "softmax.",
           "n = scores.shape[-1]\n"
           "seen = torch.ones(n, n, dtype=torch.bool).tril()\n"
           "return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)"),
    note="A masked score of minus infinity, or one so far below the others that its share is rounded to 0, takes no "
         "part in the sum: nothing of the future leaks.",
)
