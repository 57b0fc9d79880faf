"""10.2: weights that fall with the distance, ALiBi."""

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

SLOPES = "Which slopes have four heads, and which have eight?"
FAR = "Which key should lose more, the one before or the first of the text?"
WHICH_TOKEN = "Which token of the text is query 0, if there are three keys and two queries?"
AXES = "With which axis of (..., h, n, m) should the slopes meet?"
FARTHER = Mistake("farther-better",
    "The sign is wrong: the farther a key, the more it gains.",
    FAR)
ONE_SLOPE = Mistake("one-slope-for-all",
    "All heads fall equally steeply. Each should have a slope of its own.",
    SLOPES)
MULTIPLIED = Mistake("bias-multiplied",
    "The scores are multiplied by slope and distance. The bias is taken off, whatever the score is.",
    "What becomes of a score of 0 with a distance of 5?")
AFTER = Mistake("bias-after-softmax",
    "The distance is taken off the weights, after the softmax. Then a row no longer sums to 1, and weights can be "
    "negative.",
    "What should lose by distance, scores or weights?")

PROGRAM = Program("""\
def alibi_weights(Q, K):
    h, n, m = Q.shape[-3], Q.shape[-2], K.shape[-2]
    head = torch.arange(1, h + 1, device=Q.device)
    slopes = <slopes>
    i = torch.arange(n, device=Q.device)[:, None] <shift>
    j = torch.arange(m, device=Q.device)
    distance = <distance>
    scores = Q @ K.mT <scale> <bias>
    weights = <hide>.softmax(-1)
    <after>
    return weights
""", {
    "slopes": Blank("2.0 ** (-8 * head / h)", offered=2, wrong={
        "head / h": Mistake("slopes-in-a-line",
            "The slopes are 1/h, 2/h, ..., 1, in a line. They should be powers of two: 2^(-8/h), 2^(-16/h), ...",
            SLOPES),
        "2.0 ** -head": Mistake("slopes-of-eight-heads",
            "The slopes are 1/2, 1/4, 1/8, ... for every h. That is right for eight heads alone: the exponents go down "
            "to -8 in h steps.",
            SLOPES),
        "2.0 ** (-8 * (head - 1) / h)": Mistake("heads-from-zero",
            "The first slope is 1: heads are counted from 0, where the formula counts from 1.",
            SLOPES),
        "torch.full((h,), 2.0 ** (-8 / h), device=Q.device)": ONE_SLOPE,
        "torch.ones(h, device=Q.device)": ONE_SLOPE,
    }),
    "shift": Blank("+ m - n", offered=1, wrong={
        "": Mistake("offset-ignored",
            "The queries are taken for the first n tokens of the text, by the mask at least. They are the last n of m, "
            "so that query 0 has m - n tokens before it, which it may see.",
            WHICH_TOKEN),
        "+ m": Mistake("offset-too-large",
            "The queries are taken for tokens behind all keys, so none of the new keys is hidden from any of them.",
            "Which keys may the first query not see?"),
        "+ m - n + 1": Mistake("one-too-many",
            "Every query is taken for the token after it, and sees that one, where there is one.",
            WHICH_TOKEN),
    }),
    "distance": Blank("i - j", offered=3, wrong={
        "(i - j).abs()": None,                            # the same, wherever the mask lets anything be seen
        "j - i": FARTHER,
        "(torch.arange(n, device=Q.device)[:, None] - j).abs()": Mistake("offset-ignored-in-the-bias",
            "The mask knows that the queries are the last n tokens, and the distance does not: it is counted from "
            "queries at 0, 1, ..., with no sign, so keys that were kept lose too much, or too little.",
            WHICH_TOKEN),
    }),
    "scale": Blank("/ math.sqrt(Q.shape[-1])", wrong={
        "": Mistake("no-scale",
            "The products of queries and keys are not divided by the root of d_k.",
            "Which part of the scores does the root belong to?"),
        "/ Q.shape[-1]": Mistake("scale-d_k",
            "The products of queries and keys are divided by d_k, not by its root.",
            "What is the standard deviation of q.k?"),
    }),
    "bias": Blank("- slopes[:, None, None] * distance", offered=4, wrong={
        "+ slopes[:, None, None] * distance": FARTHER,
        "* slopes[:, None, None] * distance": MULTIPLIED,
        "- slopes[:, None, None] * distance / math.sqrt(Q.shape[-1])": Mistake("bias-scaled",
            "The bias is divided by the root of d_k as well, as happens when it is added before the scale. The root "
            "belongs to the products of queries and keys alone.",
            "By how much should the score at distance 1 fall in a head of slope 1/2?"),
        "- slopes * distance": Mistake("slope-per-key",
            "The slopes meet the last axis: each key has a slope, where each head should. It runs only where h = m, or "
            "where one of them is 1.",
            AXES),
        "": Mistake("no-bias",
            "No distance is taken off: it is causal attention without positions.",
            FAR),
        "* -slopes[:, None, None] * distance": MULTIPLIED,
        "- slopes.mean() * distance": ONE_SLOPE,
        "- slopes[:, None] * distance": Mistake("slope-per-query",
            "The slopes meet the axis of the queries, where they should meet that of the heads. It runs only where h = "
            "n, or where one of them is 1.",
            AXES),
    }),
    "hide": Blank("scores.masked_fill(j > i, -math.inf)", offered=1, wrong={
        "scores": Mistake("no-mask",
            "Later keys are not hidden.",
            "May a token see the one after it?"),
        "(scores * math.nan)": Mistake("all-nan",
            "Every weight is NaN, as happens when whole rows are hidden, or when 0 meets infinity.",
            "Which keys may the first query see, and which scores have they?"),
        "scores.masked_fill(j < i, -math.inf)": Mistake("polarity",
            "Earlier keys are hidden, and later ones seen.",
            "Which keys may a token see?"),
        "scores.masked_fill(j > i, 0)": Mistake("zero-for-minus-infinity",
            "Masked scores become 0, and take their share like any other.",
            "What is e to the power 0?"),
    }),
    "after": Blank(""),
}, together={
    "bias after": {
        ("", "weights = weights - slopes[:, None, None] * distance"): AFTER,
        ("", "weights = weights - slopes[:, None, None] * distance.clamp(min=0)"): AFTER,
        ("", "weights = (weights - slopes[:, None, None] * distance) * (distance >= 0)"): AFTER,
    },
    "distance hide": {
        ("(i - j).abs()", "scores"): Mistake("no-mask",
            "Later keys are not hidden: they lose by their distance, as earlier ones do.",
            "May a token see the one after it?"),
    },
})


def measure(answer):
    """With queries of zeros the weights tell the slopes."""
    h, m = 4, 5
    weights = answer(torch.zeros(h, 2, 3, dtype=torch.float64), numbers(1030, h, m, 3))
    if weights.shape != (h, 2, m):
        return
    if off(weights.sum(-1), 1):
        yield f"For 4 heads, 2 queries of zeros and 5 keys the rows of head 1 sum to {listed(weights[0].sum(-1))}."
    if not (weights[:, -1] > 0).all():
        yield "For 4 heads and queries of zeros the last query gives no weight to some token. It should see all."
        return
    last, slopes = weights[:, -1].log(), 2.0 ** (-2 * torch.arange(1, h + 1).double())
    found = last[:, -1] - last[:, -2]
    if off(found, slopes):
        yield ("For 4 heads and queries of zeros, the logarithm of the weight falls from the last token to the one "
               f"before by {listed(found)}, head by head; they should be the slopes, {listed(slopes)}.")
    if off(last.diff(), last.diff()[:, -1:]):
        yield "In the last row that logarithm does not fall by the same for each further step."
    if off(weights[:, 0, -1], 0):
        yield "The last query but one gives weight to the last token, which is later."


def case(seed, *shape, m):
    return Case((numbers(seed, *shape), numbers(seed + 1, *shape[:-2], m, shape[-1])))


EXERCISE = Exercise(
    id="10.2", name="alibi_weights", chapter="10_position_lab", stars=2, minutes=15, after="section 5",
    signature="alibi_weights(Q, K)",
    statement="Write `alibi_weights(Q, K)`: Q is `(..., h, n, d_k)`, h a power of two, and K is `(..., h, m, d_k)`. "
              "The queries come from the last n of m tokens (n <= m), and each may see its own token and those before. "
              "From the scores `q k^T / sqrt(d_k)` of head i = 1, ..., h take off its slope `2^(-8i/h)` times the "
              "distance, the number of tokens from key to query; then the softmax. Return the weights, "
              "`(..., h, n, m)`. Gradients must reach Q and K.",
    stub="# alibi_weights(torch.zeros(1, 1, 2), torch.zeros(1, 2, 2)) -> 0.499 0.501\n"
         "def alibi_weights(Q, K):\n    ...\n",
    program=PROGRAM,
    cases=[case(1040, 2, 3, 4, m=3), case(1042, 2, 4, 2, 5, m=6), case(1044, 8, 5, 3, m=5), case(1046, 1, 1, 4, m=7),
           case(1048, 3, 1, 4, 9, m=4), case(1050, 4, 4, 4, m=4),
           case(1052, 2, 2, 6, 2, m=9), case(1054, 1, 1, 1, 3, m=1),
           Case((0 * numbers(1058, 2, 3, 4), numbers(1059, 2, 4, 4))), case(1062, 16, 3, 2, m=3)],
    large=(Case((400 * numbers(1056, 2, 4, 3), 40 * numbers(1057, 2, 6, 3))),),
    measure=measure,
    hints=("Write the table of distances for two queries and three keys. Which token of the text is query 0?",
           "slopes[:, None, None] is (h, 1, 1), and the table (n, m) fits behind it. What is hidden gets minus "
           "infinity, before the softmax.",
           "h, n, m = *Q.shape[-3:-1], K.shape[-2]\n"
           "d = torch.arange(n)[:, None] + m - n - torch.arange(m)\n"
           "s = 2.0 ** (-8 * torch.arange(1, h + 1) / h)\n"
           "scores = Q @ K.mT / Q.shape[-1] ** 0.5 - s[:, None, None] * d\n"
           "return scores.masked_fill(d < 0, -torch.inf).softmax(-1)"),
    note="i - j, |i - j| and plain -j come to the same here: keys with i < j are hidden, and what is the same for a "
         "whole row drops out of the softmax. mha.position.alibi_bias makes the bias for a layer, with |i - j|.",
)
