"""8.1: how much a head looks at the token before."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import listed, numbers, off
from mha.exercises.report import Mistake


def previous_token_score(weights):
    return weights.diagonal(-1, -2, -1).mean(-1)


def model(weights, place="before", rows="with one", score="mean"):
    """The score with switches: each can be set wrong."""
    n = weights.shape[-1]
    offset = {"before": -1, "next": 1, "itself": 0, "two-back": -2}.get(place, -1)
    asking = torch.arange(max(0, -offset), n - max(0, offset))                # queries that have such a token
    if rows == "wraps":
        asking = torch.arange(n)
    wanted = (asking + offset) % n
    if rows == "first-itself":
        asking, wanted = torch.arange(n), (torch.arange(n) + offset).clamp(0, n - 1)
    weight = weights[..., asking, wanted]                                     # (..., N)
    if place == "all-before":
        weight = weights.tril(-1).sum(-1)[..., 1:]
    best = (weights[..., asking, :].argmax(-1) == wanted).to(weights.dtype)
    return {
        "mean": lambda: weight.mean(-1),
        "over-n": lambda: weight.sum(-1) / n,
        "over-n-n": lambda: weight.sum(-1) / n**2,
        "one-fewer": lambda: weight.sum(-1) / (len(asking) - 1),
        "block": lambda: weights[..., asking, :][..., wanted].mean((-2, -1)),
        "sum": lambda: weight.sum(-1),
        "each": lambda: weight,
        "largest": lambda: weight.amax(-1),
        "middle": lambda: weight.median(-1).values,
        "tops": lambda: best.mean(-1),
        "tops-over-n": lambda: best.sum(-1) / n,
        "one-number": lambda: weight.mean(),
        "over-heads": lambda: weight.mean(0),
        "first-axes": lambda: weights.diagonal(offset).mean(-1),
    }[score]()


SWITCHES = {
    "place": {
        "next": Mistake("next-token",
                        "It reads the weight on the token after. Or rows and columns are exchanged, which is the "
                        "same: a row is a query, and the token before is the column to its left.",
                        "Which of weights[2, 1] and weights[1, 2] is what token 2 gives to the token before it?"),
        "itself": Mistake("looks-at-itself", "It reads what each token gives to itself.",
                          "Where in the map stand the pairs (1, 0), (2, 1), (3, 2)?"),
        "two-back": Mistake("two-back", "It reads the weight on the token two places back.",
                            "Where in the map stand the pairs (1, 0), (2, 1), (3, 2)?"),
        "all-before": Mistake("all-before",
                              "It adds up the weight on all earlier tokens, not on the one before alone.",
                              "What should a head get that always looks two places back?"),
    },
    "rows": {
        "wraps": Mistake("wraps-around",
                         "It goes round the end: a query that has no such token is counted all the same, with one at "
                         "the other end. The first query has no token before it.",
                         "What does -1 mean as an index? What does roll do with the first row?"),
        "first-itself": Mistake("first-row-counted",
                                "A query that has no such token is counted all the same, with the token at that end. "
                                "The first query has no token before it; what it gives to itself should not count.",
                                "Which queries have a token before them?"),
    },
    "score": {
        "over-n": Mistake("divided-by-n",
                          "It divides by n. Only n - 1 queries have a token before them.",
                          "What should a head get that always looks at the token before?"),
        "over-n-n": Mistake("mean-over-the-map",
                            "The mean is taken over all n * n places of the map.",
                            "Over which n - 1 places is the mean?"),
        "one-fewer": Mistake("divided-by-one-fewer",
                             "It divides by one less than the number of weights that it adds up.",
                             "How many queries have a token before them?"),
        "block": Mistake("mean-over-a-block",
                         "It takes the mean over a whole block of the map, whose diagonal alone counts.",
                         "What should a head get that gives 0.5 to each of the two tokens before?"),
        "sum": Mistake("sum-not-mean", "It is the sum over the queries, not their mean.",
                       "What should a head get that always looks at the token before, in a long sentence?"),
        "each": Mistake("no-mean",
                        "It gives one number for each query. The mean over them is missing.",
                        "Which axis of the result counts the queries?"),
        "largest": Mistake("largest",
                           "It takes the largest of these weights, where their mean is asked for.",
                           "What if a head looks at the token before once and never again?"),
        "middle": Mistake("median", "It takes the median of these weights, where their mean is asked for.", ""),
        "tops": Mistake("counts-winners",
                        "It counts how often the token before gets the most. The mean weight is asked for: a head may "
                        "prefer that token always, and by very little.",
                        "What should a head get whose row is 0.3, 0.3 and 0.4, the last on the token before?"),
        "tops-over-n": Mistake("counts-winners",
                               "It counts how often the token before gets the most, as a share of all n queries. The "
                               "mean weight is asked for.",
                               "What should a head get whose row is 0.3, 0.3 and 0.4, the last on the token before?"),
        "one-number": Mistake("one-number-for-all",
                              "The mean is taken over all maps together. Each map should have its own.",
                              "How many numbers do 12 heads get?"),
        "over-heads": Mistake("mean-over-the-first-axis",
                              "The mean is taken along the first axis, which is that of the maps where there are "
                              "several. It should be along the queries.",
                              "How many numbers do 12 heads get?"),
        "first-axes": Mistake("diagonal-of-the-first-axes",
                              "The diagonal is taken along the first two axes, as diagonal does unless it is told "
                              "otherwise. Queries and keys are the last two.",
                              "Between which two axes does the diagonal run?"),
    },
}


def measure(answer):
    """Maps whose score is known, then single weights: which of them count?"""
    eye, even = torch.eye(5, dtype=torch.float64), torch.full((5, 5), 0.2, dtype=torch.float64)
    before, after = eye[[0, 0, 1, 2, 3]], eye[[1, 2, 3, 4, 4]]
    for weights, wanted, what in ((before, 1.0, "looks at the one before (the first at itself)"),
                                  (after, 0.0, "looks at the next (the last at itself)"),
                                  (eye, 0.0, "looks at itself"), (even, 0.2, "gives 0.2 to each")):
        found = answer(weights)
        if off(found.nan_to_num(9), wanted):
            yield f"For 5 tokens of which each {what}, it gives {listed(found)}; wanted is {wanted:g}."
    for i, j in ((0, 3), (0, 0), (1, 0), (3, 2)):
        single = torch.zeros(4, 4, dtype=torch.float64)
        single[i, j] = 1
        found, wanted = answer(single), 1 / 3 if i == j + 1 else 0
        if off(found.nan_to_num(9), wanted):
            yield (f"For a map of zeros but for a 1 at [{i}, {j}], 4 tokens, it gives {listed(found)}; wanted is "
                   f"{wanted:.3g}.")


EXERCISE = Exercise(
    id="8.1", name="previous_token_score", chapter="08_what_heads_do", stars=2, minutes=10, after="section 5",
    core=True,
    signature="previous_token_score(weights)",
    statement="How much does a head look at the token before? weights is `(..., n, n)`, rows are queries, n at least "
              "2. Write `previous_token_score(weights)`: the mean weight that a query gives to the token right before "
              "it, over the queries that have one. One number for each map: the result is `(...)`.",
    stub="def previous_token_score(weights):\n    ...\n",
    reference=previous_token_score,
    cases=[Case((numbers(811, 3, 3).softmax(-1),)), Case((numbers(812, 3, 5, 5).softmax(-1),)),
           Case((numbers(813, 2, 3, 7, 7).softmax(-1),)), Case((numbers(814, 2, 2).softmax(-1),)),
           Case((numbers(815, 5, 5, 5).softmax(-1),))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("Write down the pairs (query, key) that count, for n = 4. How many are there?",
           "They stand on a diagonal of the map, one step from the main one. Which way? And along which two axes must "
           "it be taken, when there are more than two?",
           "return weights.diagonal(-1, -2, -1).mean(-1)"),
    note="The first query has no token before it, so a perfect head gets 1 only where that row is left out. In the "
         "model of this chapter head 0.2 scores highest. A share of winners would be another score, and it cannot "
         "tell a weight of 0.4 from one of 0.9.",
)
