"""3.3: a head by hand that looks one back."""

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import most_of, preferences, preferred, same
from mha.exercises.engine.report import Mistake

TURNED_ROUND = Mistake("turned-round",
    "The scores are transposed: each token looks at the next one (the first at itself as well, the last at all "
    "alike). That can come of columns of the identity where rows should be shifted, and of W_Q and W_K exchanged.",
    "Row i of W_Q W_K^T holds the scores of token i. In which column should its largest stand, and where does it?")

TOO_SOFT = Mistake("too-soft",
    "For small n the largest score of a row is far enough above the others, for larger n it is not: the difference "
    "shrinks, or does not grow as the number of other keys asks for.",
    "How far above the others is the right score at n = 3 and at n = 64, after the division by the root of d_k? Which "
    "difference gives 0.99 over 2 others, and over 63?")

PROGRAM = Program("""\
def previous_token(n):
    i = torch.arange(n)
    before = <before>
    length = <length>
    W_Q = <queries>
    W_K = <keys>
    return W_Q, W_K
""", {
    "before": Blank("(i - 1).clamp(min=0)", offered=4, wrong={
        "i - 1": Mistake("wraps-around",
            "The first token looks at the last one. It should look at itself.",
            "Whom does the first token ask, if -1 counts from the end?"),
        "(i + 1).clamp(max=n - 1)": Mistake("next-token",
            "Every token looks at the next one (the last at itself), not at the one before.",
            "Row i of the scores belongs to token i. Which column should win?"),
        "i": Mistake("looks-at-itself", "Every token looks at itself.", "Which key should the query of token i fit?"),
        "(i - 2).clamp(min=0)": Mistake("two-back",
            "From token 2 on, each token looks two back. (Tokens 0 and 1 look at token 0, and should.)",
            "Which key should the query of token 3 fit?"),
        "0 * i": Mistake("looks-at-the-first",
            "Every token looks at the first one.",
            "Which key should the query of token 3 fit?"),
        "(i + 1) % n": Mistake("next-token",
            "Every token but the last looks at the next one, and the last at the first.",
            "Row i of the scores belongs to token i. Which column should win?"),
    }),
    "length": Blank("20 * n ** 0.5", offered=3, wrong={
        "20": TOO_SOFT,
        "n ** 0.5": Mistake("too-soft",
            "No weight passes 0.99: the largest score of a row is not far enough above the others.",
            "Which difference of scores does a weight of 0.99 need, and what divides it before the softmax?"),
        "-20 * n ** 0.5": Mistake("minus",
            "The key that should win gets the least, and all others share alike, as with the wrong sign.",
            "Should a score that should win be large or small?"),
        "0": Mistake("all-alike",
            "All keys get the same weight: every query is zero, or fits all keys alike.",
            "Which query fits one key better than the others?"),
        "7": TOO_SOFT,                                                          # right for n = 2 alone, and so on
        "10": TOO_SOFT,
        "30": TOO_SOFT,
        "1": Mistake("too-soft",
            "No weight passes 0.99: the largest score of a row is not far enough above the others.",
            "Which difference of scores does a weight of 0.99 need, and what divides it before the softmax?"),
    }),
    "queries": Blank("length * torch.eye(n)[before]", offered=2, wrong={
        "length * torch.eye(n)[:, before]": TURNED_ROUND,
        "length * torch.eye(n)": Mistake("looks-at-itself",
            "Every token looks at itself.",
            "Which key should the query of token i fit?"),
        "length * torch.diag(torch.ones(n - 1), -1)": Mistake("first-token-looks-at-all",
            "The first token gives the same weight to all, as happens when its query is 0. All others are right.",
            "Which row of W_Q belongs to the first token, and at whom should it look?"),
        "torch.eye(n)[before].log()": Mistake("all-nan",
            "All weights are NaN, as happens when a matrix holds an infinity: infinity times 0 is NaN.",
            "Which numbers are summed in the product of a row and a column?"),
    }),
    "keys": Blank("torch.eye(n)", offered=1, wrong={
        "torch.eye(n)[before]": Mistake("both-shifted",
            "Every token looks at itself, and the first two at each other as well, as happens when queries and keys "
            "are shifted alike.",
            "Which of the two matrices should shift the position?"),
    }),
}, together={
    "queries keys": {
        ("length * torch.eye(n)", "torch.eye(n)[before]"): TURNED_ROUND,
    },
})


def weights_of(output, n):
    """Of the head, in the dtype of its own matrices."""
    W_Q, W_K = (part if part.is_floating_point() else part.double() for part in output)
    if W_Q.ndim != 2 or W_Q.shape != W_K.shape or W_Q.shape[0] != n:
        raise ValueError("not the shapes")
    return (W_Q @ W_K.mT / W_Q.shape[1] ** 0.5).softmax(-1)


def observe(output, n):
    return preferences(weights_of(output, n))


def measure(answer):
    """Whom each token looks at, for the first n that fails."""
    for n in (5, 3, 2, 16, 64):
        weights = weights_of(answer(n), n)
        wanted = observe(PROGRAM.reference(n), n)
        if not same(preferences(weights)[1], wanted[1]):
            if n <= 5:
                yield f"With n = {n}, {most_of(weights)}."
            return
        if not same(preferences(weights), wanted):
            yield (f"With n = {n} every token looks where it should, and the one that does so least gives it "
                   f"{weights.amax(-1).min():.2f}; it should be more than 0.99.")
            return


EXERCISE = Exercise(
    id="3.3", name="previous_token", chapter="03_query_and_key", stars=3, minutes=20, after="section 3", core=True,
    signature="previous_token(n)",
    statement="Build a head by hand. There are n tokens, and token i is the one-hot vector of its position i (counted "
              "from 0). Write `previous_token(n)`, for n from 2 to 64: return W_Q and W_K, both `(n, d_k)` with a d_k "
              "of your choice, so that in `softmax(W_Q W_K^T / sqrt(d_k))` every token gives more than 0.99 to the "
              "token before it. The first one looks at itself. Floats and whole numbers will do.",
    stub="# W_Q, W_K = previous_token(2)\n"
         "# (W_Q @ W_K.T / W_Q.shape[1] ** 0.5).softmax(-1).round() -> 1 0 1 0\n"
         "def previous_token(n):\n    ...\n",
    program=PROGRAM,
    cases=[Case((3,)), Case((5,)), Case((2,)), Case((16,)), Case((64,))],
    measure=measure, observe=observe, wanted="a pair W_Q, W_K of one shape, (n, d_k), and one dtype",
    trained=(),
    describe_difference=preferred,
    hints=("With one-hot tokens, row i of W_Q is the query of token i, and row j of W_K is the key of token j.",
           "Let W_K be the identity: key j is the direction j. Then query i must point in direction i - 1. How long "
           "must it be?",
           "before = torch.eye(n)[(torch.arange(n) - 1).clamp(min=0)]\n"
           "return 20 * n ** 0.5 * before, torch.eye(n)"),
    note="One matrix could do it too, with lengths that fall along the line: a line needs no second, a circle does. "
         "Two make it easy. Heads like this one are found in trained models.",
)
