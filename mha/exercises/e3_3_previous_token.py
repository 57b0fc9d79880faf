"""3.3: a head by hand that looks one back."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import PREFERENCES, most_of, preferences
from mha.exercises.report import Mistake


def previous_token(n):
    position = torch.arange(n)
    before = torch.eye(n, dtype=torch.float64)[(position - 1).clamp(min=0)]
    return 20 * n**0.5 * before, torch.eye(n, dtype=torch.float64)


def model(n, where="before", sharp="sharp", roles="right"):
    """A head that looks one back, with switches: each can be set wrong."""
    i = torch.arange(n)
    target = {"before": (i - 1).clamp(min=0), "next": (i + 1).clamp(max=n - 1), "self": i,
              "two-back": (i - 2).clamp(min=0), "wraps": (i - 1) % n, "first": i * 0, "next-wraps": (i + 1) % n}[where]
    factor = {"sharp": 20 * n**0.5, "one": 1.0, "no-root": min(20.0, 3 * n**0.5), "minus": -20 * n**0.5}[sharp]
    W_Q, W_K = factor * torch.eye(n, dtype=torch.float64)[target], torch.eye(n, dtype=torch.float64)
    return (W_Q, W_K) if roles == "right" else (W_K, W_Q)


def weights_of(output, n):
    W_Q, W_K = (part.double() for part in output)
    if W_Q.ndim != 2 or W_Q.shape != W_K.shape or W_Q.shape[0] != n:
        raise ValueError("not the shapes")
    return (W_Q @ W_K.mT / W_Q.shape[1] ** 0.5).softmax(-1)


def observe(output, n):
    return preferences(weights_of(output, n))


SWITCHES = {
    "where": {
        "next": Mistake("next-token",
                        "Every token looks at the next one, not at the one before.",
                        "Row i of the scores belongs to token i. Which column should win?"),
        "self": Mistake("looks-at-itself", "Every token looks at itself.",
                        "Which key should the query of token i fit?"),
        "two-back": Mistake("two-back", "Every token looks two back.", "Which key should the query of token 3 fit?"),
        "wraps": Mistake("wraps-around",
                         "The first token looks at the last one. It should look at itself.",
                         "What does -1 mean as an index?"),
        "first": Mistake("looks-at-the-first", "Every token looks at the first one.",
                         "Which key should the query of token 3 fit?"),
        "next-wraps": Mistake("next-token",
                              "Every token looks at the next one, and the last at the first.",
                              "Row i of the scores belongs to token i. Which column should win?"),
    },
    "sharp": {
        "one": Mistake("too-soft",
                       "No weight passes 0.99: the largest score of a row does not lead by enough.",
                       "Which lead does a weight of 0.99 need, and what divides the lead before the softmax?"),
        "no-root": Mistake("too-soft",
                           "For small n the largest score of a row leads by enough, for larger n it does not: the "
                           "scores are divided by the root of d_k.",
                           "How does the lead that you need grow with n and d_k?"),
        "minus": Mistake("minus",
                         "The sign is wrong: the token before gets the least.",
                         "Should a score that should win be large or small?"),
    },
    "roles": {"exchanged": Mistake("roles-exchanged",
                                   "W_Q and W_K are exchanged: a token is looked at by the one before it, and so "
                                   "looks at the next.",
                                   "Which of the two matrices should shift the position?")},
}


def measure(answer):
    """Whom each token looks at."""
    weights = weights_of(answer(5), 5)
    yield "With n = 5, " + most_of(weights) + "."


EXERCISE = Exercise(
    id="3.3", name="previous_token", chapter="03_query_and_key", stars=3, minutes=20, after="section 5", core=True,
    signature="previous_token(n)",
    statement="Build a head by hand. There are n tokens, and token i is the one-hot vector of its position i (counted "
              "from 0). Write `previous_token(n)`: return W_Q and W_K, both `(n, d_k)` with a d_k of your choice, so "
              "that in `softmax(W_Q W_K^T / sqrt(d_k))` every token gives more than 0.99 to the token before it. The "
              "first one looks at itself.",
    stub="def previous_token(n):\n    ...\n",
    reference=previous_token,
    cases=[Case((3,)), Case((5,)), Case((2,)), Case((16,)), Case((64,))],
    model=model, switches=SWITCHES, measure=measure, observe=observe, wanted="a pair W_Q, W_K of one shape, (n, d_k)",
    trained=(),
    compared=PREFERENCES,
    hints=("With one-hot tokens, row i of W_Q is the query of token i, and row j of W_K is the key of token j.",
           "Let W_K be the identity: key j is the direction j. Then query i must point in direction i - 1. How long "
           "must it be?",
           "before = torch.eye(n)[(torch.arange(n) - 1).clamp(min=0)]; return 20 * n ** 0.5 * before, torch.eye(n)"),
    note="One matrix could do it too, with lengths that grow along the line: a line needs no second, a circle does. "
         "Two make it easy. Heads like this one are found in trained models.",
)
