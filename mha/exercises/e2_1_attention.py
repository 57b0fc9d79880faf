"""2.1: scaled dot-product attention, the formula of chapter 2."""
import math

import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers, reads_weights
from mha.exercises.report import Mistake

SCALES = {
    "none": (lambda q, k, v: 1.0, Mistake("no-scale",
                                          "The scores are not divided by the square root of d_k.",
                                          "How large is a dot product of two vectors with d_k coordinates?")),
    "d_k": (lambda q, k, v: 1 / q.shape[-1], Mistake("scale-d_k",
                                                     "The scores are divided by d_k, not by its square root (or by "
                                                     "the root twice).",
                                                     "What is the standard deviation of q.k, and what its variance?")),
    "half": (lambda q, k, v: 2 / q.shape[-1], Mistake("scale-half-d_k",
                                                      "The scores are divided by d_k / 2. In Python, d_k ** 1/2 means "
                                                      "(d_k ** 1) / 2.",
                                                      "Which comes first in d_k ** 1/2, the power or the division?")),
    "times": (lambda q, k, v: math.sqrt(q.shape[-1]), Mistake("scale-times-root",
                                                              "The scores are multiplied by the square root of d_k, "
                                                              "not divided.",
                                                              "Should the scores of a wide head become larger or "
                                                              "smaller?")),
    "keys": (lambda q, k, v: k.shape[-2] ** -0.5, Mistake("scale-root-m",
                                                          "The scores are divided by the square root of the number of "
                                                          "keys, not of d_k.",
                                                          "Over which axis does the dot product sum?")),
    "queries": (lambda q, k, v: q.shape[-2] ** -0.5, Mistake("scale-root-n",
                                                             "The scores are divided by the square root of the number "
                                                             "of queries, not of d_k.",
                                                             "Over which axis does the dot product sum?")),
    "d_v": (lambda q, k, v: v.shape[-1] ** -0.5, Mistake("scale-root-d_v",
                                                         "The scores are divided by the square root of d_v, the width "
                                                         "of a value, not of d_k.",
                                                         "Whose coordinates are multiplied to make a score?")),
    "first": (lambda q, k, v: q.shape[0] ** -0.5, Mistake("scale-root-first-axis",
                                                          "The scores are divided by the square root of the first "
                                                          "size of q, which is not d_k.",
                                                          "Which axis of q holds the coordinates?")),
    "whole": (lambda q, k, v: 1 / int(math.sqrt(q.shape[-1])), Mistake("scale-whole-root",
                                                                       "The scores are divided by the square root of "
                                                                       "d_k rounded down to a whole number. It is "
                                                                       "right where d_k is a square.",
                                                                       "What is int(3 ** 0.5)?")),
    "double": (lambda q, k, v: 1 / (2 * math.sqrt(q.shape[-1])), Mistake("scale-twice-root",
                                                                         "The scores are divided by twice the square "
                                                                         "root of d_k.",
                                                                         "")),
    "fourth": (lambda q, k, v: q.shape[-1] ** -0.25, Mistake("scale-fourth-root",
                                                             "The scores are divided by the fourth root of d_k: a "
                                                             "root was taken twice, or only one of q and k was "
                                                             "scaled.",
                                                             "")),
}


def attention(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v


def normalised(scores, how):
    """Weights out of scores, right or in one of the wrong ways."""
    return {
        "softmax": lambda: scores.softmax(-1),
        "queries": lambda: scores.softmax(-2),
        "first": lambda: scores.softmax(0),
        "second": lambda: scores.softmax(1),
        "implicit": lambda: scores.softmax(0 if scores.ndim in (1, 3) else 1),
        "all": lambda: scores.flatten(-2).softmax(-1).view(scores.shape),
        "everything": lambda: scores.flatten().softmax(-1).view(scores.shape),
        "nothing": lambda: scores,
        "exp": lambda: scores.exp(),
        "log": lambda: scores.log_softmax(-1),
        "sigmoid": lambda: scores.sigmoid(),
        "relu": lambda: scores.relu(),
        "sum": lambda: scores / scores.sum(-1, keepdim=True),
        "twice": lambda: scores.softmax(-1).softmax(-1),
        "minus": lambda: (-scores).softmax(-1),
        "exp-queries": lambda: scores.exp() / scores.exp().sum(-2, keepdim=True),
        "exp-all": lambda: scores.exp() / scores.exp().sum(),
        "tanh": lambda: scores.tanh(),
        "hard": lambda: torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0),
        "uniform": lambda: torch.ones_like(scores) / scores.shape[-1],
    }[how]()


def model(q, k, v, scale="root", pair="qk", weights="softmax", carried="v", after="nothing", hidden="nothing"):
    """Attention with switches: each can be set wrong."""
    first, second = {"qk": (q, k), "qq": (q, q), "kk": (k, k), "kq": (k, q), "qv": (q, v),
                     "vv": (v, v)}.get(pair, (q, k))
    factor = SCALES[scale][0](q, k, v) if scale != "root" else 1 / math.sqrt(q.shape[-1])
    if pair == "distance":
        scores = -torch.cdist(q, k)
    elif pair == "square":
        scores = -torch.cdist(q, k).square()
    elif pair == "cosine":
        scores = torch.nn.functional.normalize(q, dim=-1) @ torch.nn.functional.normalize(k, dim=-1).mT
    elif pair == "no-transpose":
        scores = q @ k
    elif pair == "reshape":
        scores = q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    else:
        scores = first @ second.mT
    if after != "scaled-weights":
        scores = scores * factor
    n, m = scores.shape[-2:]
    seen = {"future": torch.ones(n, m).tril() > 0, "past": torch.ones(n, m).triu() > 0,
            "self": ~(torch.eye(n, m) > 0)}.get(hidden)
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    w = normalised(scores, weights)
    if after == "scaled-weights":
        w = w * factor
    if carried == "w":
        return w
    if carried == "scores":
        return scores
    V = {"v": v, "k": k, "q": q}.get(carried, v)
    out = w.mT @ V if carried == "transposed" else w @ V
    return {"nothing": lambda: out, "scaled-weights": lambda: out, "scaled-out": lambda: out * factor,
            "residual": lambda: out + q, "mean": lambda: out / v.shape[-2],
            "transposed": lambda: out.mT, "twice": lambda: w @ out, "v-residual": lambda: out + v}[after]()


SWITCHES = {
    "scale": {name: mistake for name, (_, mistake) in SCALES.items()},
    "weights": {
        "queries": Mistake("softmax-axis-queries",
                           "The softmax runs over the queries, not over the keys: with scores as (queries, keys), "
                           "each column sums to 1, and the rows do not.",
                           "Whose weights should sum to 1, those of one query or those of one key?"),
        "first": Mistake("softmax-axis-0",
                         "The softmax runs over axis 0, not over the keys, which are the last axis.",
                         "What do the axes of the scores mean?"),
        "second": Mistake("softmax-axis-1",
                          "The softmax runs over axis 1, not over the keys. With two axes that is the same; with a "
                          "batch it is not.",
                          "Which axis holds the keys when there is a batch in front?"),
        "implicit": Mistake("softmax-implicit-dim",
                            "The softmax runs over axis 0 when there are three axes, and over axis 1 otherwise: that "
                            "is what torch chooses when no dim is given.",
                            "Which axis holds the keys, counted from the back?"),
        "all": Mistake("softmax-over-all-pairs",
                       "The softmax runs over all query-key pairs at once, so that a whole matrix sums to 1.",
                       "How much weight should each query have to give?"),
        "everything": Mistake("softmax-over-everything",
                              "The softmax runs over all numbers at once, batch and heads included.",
                              "How much weight should each query have to give?"),
        "nothing": Mistake("no-softmax",
                           "There is no softmax: the scores themselves are used as weights.",
                           "What makes shares out of scores?"),
        "exp": Mistake("no-normalisation",
                       "The exponentials are not divided by their sum, so the weights do not sum to 1.",
                       "What should a row of weights sum to?"),
        "log": Mistake("log-softmax",
                       "It takes the logarithm of the softmax: weights below zero.",
                       "Can a share of a mixture be negative?"),
        "sigmoid": Mistake("sigmoid",
                           "It takes the sigmoid of each score, so the weights of a row do not sum to 1.",
                           "Which function makes shares that compete?"),
        "relu": Mistake("relu",
                        "It takes the relu of the scores in place of a softmax.",
                        "Which function makes shares that compete?"),
        "sum": Mistake("divides-by-sum",
                       "The scores are divided by their sum, without the exponential. Negative scores then spoil it.",
                       "What does the exponential protect against?"),
        "twice": Mistake("softmax-twice", "The softmax is taken twice.",
                         "Is there a second softmax in a helper or a layer?"),
        "minus": Mistake("negative-scores",
                         "The scores have the wrong sign: the key that fits least gets most.",
                         "Should a large dot product give a large weight?"),
        "exp-queries": Mistake("softmax-axis-queries",
                               "The exponentials are divided by their sum over the queries (axis -2), not over the "
                               "keys.",
                               "Whose weights should sum to 1?"),
        "exp-all": Mistake("softmax-over-everything",
                           "The exponentials are divided by one sum over all numbers.",
                           "How much weight should each query have to give?"),
        "tanh": Mistake("tanh",
                        "It takes the tanh of the scores in place of a softmax.",
                        "Which function makes shares that compete?"),
        "hard": Mistake("argmax",
                        "It takes the best key alone, with weight 1: a hard choice, no mixture.",
                        "What is soft about a soft lookup?"),
        "uniform": Mistake("uniform-weights",
                           "Every key gets the same weight, whatever the scores.", "Do the scores enter at all?"),
    },
    "pair": {
        "qq": Mistake("queries-as-keys",
                      "The scores are made of q with q: the keys are never used.",
                      "Which two tensors should meet in a score?"),
        "kk": Mistake("keys-as-queries",
                      "The scores are made of k with k: the queries are never used.",
                      "Which two tensors should meet in a score?"),
        "kq": Mistake("roles-exchanged",
                      "The scores are k q^T: rows are keys and columns are queries.",
                      "Which should the rows of the scores be?"),
        "qv": Mistake("values-as-keys", "The scores are made of q with v.",
                      "Which two tensors should meet in a score?"),
        "vv": Mistake("values-for-scores", "The scores are made of v with v.",
                      "Which two tensors should meet in a score?"),
        "distance": Mistake("distance",
                            "The scores are minus the distance of q and k, not their dot product.",
                            "What does a dot product reward besides closeness?"),
        "square": Mistake("squared-distance",
                          "The scores are minus the squared distance of q and k, not their dot product.",
                          "What does a dot product reward besides closeness?"),
        "cosine": Mistake("cosine",
                          "The vectors are normalised to length 1 before the dot product.",
                          "Should a long key be able to win?"),
        "no-transpose": Mistake("no-transpose",
                                "k is not transposed: q @ k pairs coordinates with keys. It runs only where both "
                                "sizes agree.",
                                "Which axis should the product sum over?"),
        "reshape": Mistake("reshape-for-transpose",
                           "k is reshaped where it should be transposed: the shape is right and the numbers are in "
                           "other places.",
                           "What does reshape do with the order of the numbers?"),
    },
    "carried": {
        "k": Mistake("keys-as-values", "The weights mix the keys, not the values.", "What should a query take home?"),
        "q": Mistake("queries-as-values", "The weights mix the queries, not the values.",
                     "What should a query take home?"),
        "w": Mistake("returns-weights",
                     "It returns the weights. The values are never mixed.", "Which step comes after the softmax?"),
        "scores": Mistake("returns-scores",
                          "It returns the scores. Softmax and mixture are missing.",
                          "Which steps come after the scores?"),
        "transposed": Mistake("weights-transposed",
                              "The weights are transposed before they meet the values.",
                              "Should row i of the output use row i or column i of the weights?"),
    },
    "after": {
        "scaled-weights": Mistake("scale-after-softmax",
                                  "The scale is applied to the weights, after the softmax. Then a row no longer sums "
                                  "to 1.",
                                  "What should be divided, scores or weights?"),
        "scaled-out": Mistake("scales-output",
                              "The output is divided by the square root of d_k once more.",
                              "How often does the root appear in the formula?"),
        "residual": Mistake("adds-query", "The queries are added to the output.", "Is there a sum in the formula?"),
        "v-residual": Mistake("adds-values", "The values are added to the output.", "Is there a sum in the formula?"),
        "mean": Mistake("divides-by-m",
                        "The output is divided by the number of keys. The weights sum to 1 already.",
                        "What do the weights of a row sum to?"),
        "transposed": Mistake("output-transposed", "The last two axes of the output are exchanged.",
                              "Which axis of the output should count the queries?"),
        "twice": Mistake("mixes-twice", "The weights are applied twice.", "How often does V appear in the formula?"),
    },
    "hidden": {
        "future": Mistake("causal",
                          "Later keys are hidden. The statement asks for no mask.", "Which keys may a query see here?"),
        "past": Mistake("hides-the-past",
                        "Earlier keys are hidden. The statement asks for no mask.", "Which keys may a query see here?"),
        "self": Mistake("excludes-self",
                        "Key i is hidden from query i. The statement asks for no mask.",
                        "Which keys may a query see here?"),
    },
}

EXERCISE = Exercise(
    id="2.1", name="attention", chapter="02_one_head", stars=2, core=True, minutes=15, after="section 1",
    signature="attention(q, k, v)",
    statement="Write `attention(q, k, v)`: q is `(..., n, d_k)`, k is `(..., m, d_k)`, v is `(..., m, d_v)`. Return "
              "`softmax(q k^T / sqrt(d_k)) v`, of shape `(..., n, d_v)`.",
    stub="def attention(q, k, v):\n    ...\n",
    reference=attention,
    cases=[Case((numbers(1, 2, 4), numbers(2, 3, 4), numbers(3, 3, 5))),
           Case((numbers(4, 5, 3), numbers(5, 2, 3), numbers(6, 2, 7))),
           Case((numbers(7, 3, 2, 9), numbers(8, 3, 5, 9), numbers(9, 3, 5, 4))),
           Case((numbers(10, 4, 4, 4), numbers(11, 4, 4, 4), numbers(12, 4, 4, 4))),
           Case((numbers(13, 2, 3, 5, 16), numbers(14, 2, 3, 7, 16), numbers(15, 2, 3, 7, 6))),
           Case((numbers(19, 1, 1, 3).round(), numbers(20, 1, 4, 3).round(), numbers(21, 1, 4, 2))),
           Case((numbers(1, 2, 4), numbers(2, 3, 4) * torch.tensor([[1], [0], [1]]), numbers(3, 3, 5))),
           Case((numbers(22, 40, 8), numbers(23, 33, 8), numbers(24, 33, 1)))],
    model=model, switches=SWITCHES, measure=reads_weights,
    large=(Case((400 * numbers(16, 6, 4), 40 * numbers(17, 7, 4), numbers(18, 7, 5))),
           Case((numbers(16, 6, 4) + 60, numbers(17, 7, 4) - 60, numbers(18, 7, 5))),
           Case((numbers(16, 6, 4) + 60, numbers(17, 7, 4) + 60, numbers(18, 7, 5)))),
    hints=("Four steps: score, scale, softmax, mix. After each, print the shape.",
           "The scores have shape (..., n, m): a row for each query. The softmax works along the keys, the last axis.",
           "return torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) @ v"),
    note="Score, scale, softmax, mix. torch.nn.functional.scaled_dot_product_attention(q, k, v) gives the same for "
         "three or four axes.",
)
