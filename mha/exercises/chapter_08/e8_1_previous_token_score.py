"""8.1: how much a head looks at the token before."""
import itertools

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake

NEXT = Mistake("next-token",
    "It reads the weight on the token after. Or rows and columns are exchanged, which is the same: a row is a query, "
    "and the token before is the column to its left.",
    "Which of weights[2, 1] and weights[1, 2] is what token 2 gives to the token before it?")
ITSELF = Mistake("looks-at-itself",
    "It reads what each token gives to itself.",
    "Where in the map stand the pairs (1, 0), (2, 1), (3, 2)?")
FIRST_ROW = Mistake("first-row-counted",
    "A query that has no such token is counted all the same, with the token at that end. The first query has no token "
    "before it; what it gives to itself should not count.",
    "Which queries have a token before them?")
BLOCK = Mistake("mean-over-a-block",
    "It takes the mean over a whole block of the map, whose diagonal alone counts.",
    "What should a head get that gives 0.5 to each of the two tokens before?")

PROGRAM = Program("""\
def previous_token_score(weights):
    n = weights.shape[-1]
    queries = torch.arange(<queries>)
    keys = <keys>
    weight = <read>
    return <score>
""", {
    "queries": Blank("1, n", offered=2, wrong={
        "n": Mistake("wraps-around",
            "It goes round the end: a query that has no such token is counted all the same, with one at the other end. "
            "The first query has no token before it.",
            "What does -1 mean as an index? What does roll do with the first row?"),
        "2, n": Mistake("second-query-left-out",
            "It leaves out the query at place 1, the second. It has a token before it.",
            "Which queries have a token before them?"),
    }),
    "keys": Blank("queries - 1", offered=2, wrong={
        "queries": ITSELF,
        "queries + 1": None,
        "queries - 2": Mistake("two-back-and-round",
            "It reads the weight on the token two places back, and for query 1, which has none, on the last token: "
            "that is what the index -1 means.",
            "Where in the map stand the pairs (1, 0), (2, 1), (3, 2)?"),
    }),
    "read": Blank("weights[..., queries, keys]", offered=3, wrong={
        "weights[..., keys, queries]": NEXT,
        "weights[..., queries, :][..., keys]": Mistake("whole-block",
            "It reads a whole block of the map, each query with every key, where the diagonal of it alone counts.",
            "What is the difference between weights[1:, :-1] and its diagonal?"),
        "weights.diagonal(-1)": Mistake("diagonal-of-the-first-axes",
            "The diagonal is taken along the first two axes, as diagonal does unless it is told otherwise. Queries and "
            "keys are the last two.",
            "Between which two axes does the diagonal run?"),
    }),
    "score": Blank("weight.mean(-1)", offered=4, wrong={
        "weight.sum(-1) / n": Mistake("divided-by-n",
            "It divides by n. Only n - 1 queries have a token before them.",
            "What should a head get that always looks at the token before?"),
        "weight.mean()": Mistake("one-number-for-all",
            "The mean is taken over all maps together. Each map should have its own.",
            "How many numbers do 12 heads get?"),
        "weight.mean(0)": Mistake("mean-over-the-first-axis",
            "The mean is taken along the first axis, which is that of the maps where there are several. It should be "
            "along the queries.",
            "How many numbers do 12 heads get?"),
        "weight.amax(-1)": Mistake("largest",
            "It takes the largest of these weights, where their mean is asked for.",
            "What if a head looks at the token before once and never again?"),
        "weight.sum(-1)": Mistake("sum-not-mean",
            "It is the sum over the queries, not their mean.",
            "What should a head get that always looks at the token before, in a long sentence?"),
        "weight.sum(-1) / (len(queries) - 1)": Mistake("divided-by-one-fewer",
            "It divides by one less than the number of weights that it adds up.",
            "How many queries have a token before them?"),
        "weight.sum(-1) / n**2": Mistake("mean-over-the-map",
            "The mean is taken over all n * n places of the map.",
            "Over which n - 1 places is the mean?"),
        "weights.mean((-2, -1))": Mistake("mean-of-everything",
            "It takes the mean of the whole map. Since each row sums to 1, that is 1/n for every head.",
            "Which n - 1 places of the map count?"),
    }),
}, together={
    "queries keys": {
        ("n - 1", "queries + 1"): NEXT,
        ("n", "queries"): ITSELF,
        ("n - 1", "queries"): Mistake("looks-at-itself",
            "It reads what each token but the last gives to itself.",
            "Where in the map stand the pairs (1, 0), (2, 1), (3, 2)?"),
        ("2, n", "queries - 2"): Mistake("two-back",
            "It reads the weight on the token two places back.",
            "Where in the map stand the pairs (1, 0), (2, 1), (3, 2)?"),
        ("n", "(queries - 1).clamp(min=0)"): FIRST_ROW,
        ("n", "(queries + 1).clamp(max=n - 1)"): FIRST_ROW,
        ("n", "(queries + 1) % n"): Mistake("wraps-around",
            "It reads the weight on the token after, and goes round the end: the last query is counted with the first "
            "token.",
            "Which of weights[2, 1] and weights[1, 2] is what token 2 gives to the token before it?"),
    },
    "queries read": {
        ("n - 1", "weights[..., keys, queries]"): Mistake("wraps-around",
            "It reads the weight on the token after, and goes round the end: the last query is counted with the first "
            "token, and the last but one is left out.",
            "Which of weights[2, 1] and weights[1, 2] is what token 2 gives to the token before it?"),
    },
    "queries score": {
        ("n", "weight.sum(-1) / (n - 1)"): Mistake("wraps-around",
            "It goes round the end: what the first query gives to the last token is added to the sum, which is divided "
            "by n - 1.",
            "What does -1 mean as an index? What does roll do with the first row?"),
    },
    "read score": {
        ("weights[..., queries, :][..., keys]", "weight.mean((-2, -1))"): BLOCK,
    },
})


def measure(answer):
    """Maps whose score is known, then single weights: which of them count? Three lines are enough."""
    yield from itertools.islice(wrong_scores(answer), 3)


def wrong_scores(answer):
    eye, even = torch.eye(5, dtype=torch.float64), torch.full((5, 5), 0.2, dtype=torch.float64)
    before, after = eye[[0, 0, 1, 2, 3]], eye[[1, 2, 3, 4, 4]]
    for weights, wanted, what in ((before, 1.0, "looks at the one before (the first at itself)"),
                                  (after, 0.0, "looks at the next (the last at itself)"),
                                  (eye, 0.0, "looks at itself"), (even, 0.2, "gives 0.2 to each")):
        found = observe(answer(weights))
        if found.ndim:
            return
        if off(found.nan_to_num(9), wanted):
            yield f"For 5 tokens of which each {what}, it gives {listed(found)}; it should be {wanted:g}."
    for i, j in ((0, 3), (0, 0), (1, 0), (3, 2)):
        single = torch.zeros(4, 4, dtype=torch.float64)
        single[i, j] = 1
        found, wanted = observe(answer(single)), 1 / 3 if i == j + 1 else 0
        if off(found.nan_to_num(9), wanted):
            yield (f"For a map of zeros but for a 1 at [{i}, {j}], 4 tokens, it gives {listed(found)}; it should be "
                   f"{wanted:.3g}.")


def observe(output, *args):
    return torch.tensor(output, dtype=torch.float64) if isinstance(output, float) else output


EXERCISE = Exercise(
    id="8.1", name="previous_token_score", chapter="08_what_heads_do", stars=2, minutes=10, after="section 2",
    core=True,
    signature="previous_token_score(weights)",
    statement="How much does a head look at the token before? weights is `(..., n, n)`, rows are queries, n at least "
              "2. Write `previous_token_score(weights)`: the mean weight that a query gives to the token right before "
              "it, over the queries that have one. One number for each map: the result is `(...)`.",
    stub="# previous_token_score(torch.tensor([[1., 0.], [0.4, 0.6]])) -> 0.4\n"
         "def previous_token_score(weights):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(811, 3, 3).softmax(-1),)), Case((numbers(812, 3, 5, 5).softmax(-1),)),
           Case((numbers(813, 2, 3, 7, 7).softmax(-1),)), Case((numbers(814, 2, 2).softmax(-1),)),
           Case((numbers(815, 5, 5, 5).softmax(-1),)), Case((numbers(816, 1, 4, 4).softmax(-1),))],
    measure=measure, observe=observe, trained=(),
    hints=("Write down the pairs (query, key) that count, for n = 4. How many are there?",
           "They stand on a diagonal of the map, one step from the main one. Which way? And along which two axes must "
           "it be taken, when there are more than two?",
           "return weights.diagonal(-1, -2, -1).mean(-1)"),
    note="The first query has no token before it, so a perfect head gets 1 only where that row is left out. In the "
         "model of this chapter head 0.2 scores highest. A share of winners would be another score, and it cannot "
         "tell a weight of 0.4 from one of 0.9.",
)
