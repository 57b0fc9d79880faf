"""2.1: scaled dot-product attention, the formula of chapter 2."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, reads_weights
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def attention(q, k, v):
    scores = <pair> <scale>
    <hidden>
    weights = <weights>
    out = <mix>
    <after>
    return out
""", {
    "pair": Blank("q @ k.mT", offered=2, wrong={
        "q @ k": Mistake("no-transpose",
            "k is not transposed: q @ k pairs coordinates with keys. It runs only where there are as many keys as "
            "coordinates.",
            "Which axis should the product sum over?"),
        "k @ q.mT": Mistake("roles-exchanged",
            "The scores are k q^T: rows are keys and columns are queries.",
            "Which should the rows of the scores be?"),
        "q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])": Mistake("reshape-for-transpose",
            "k is reshaped where it should be transposed: the shape is right and the numbers are in other places.",
            "What does reshape do with the order of the numbers?"),
        "q @ q.mT": Mistake("queries-as-keys",
            "The scores are made of q with q: the keys are never used.",
            "Which two tensors should meet in a score?"),
        "k @ k.mT": Mistake("keys-as-queries",
            "The scores are made of k with k: the queries are never used.",
            "Which two tensors should meet in a score?"),
        "q @ v.mT": Mistake("values-as-keys",
            "The scores are made of q with v.",
            "Which two tensors should meet in a score?"),
    }),
    "scale": Blank("/ math.sqrt(q.shape[-1])", offered=4, wrong={
        "": Mistake("no-scale",
            "The scores are not divided by the square root of d_k.",
            "How large is a dot product of two vectors with d_k coordinates?"),
        "/ q.shape[-1]": Mistake("scale-d_k",
            "The scores are divided by d_k, not by its square root (or by the root twice).",
            "What is the standard deviation of q.k, and what its variance?"),
        "/ (q.shape[-1] ** 1/2)": Mistake("scale-half-d_k",
            "The scores are divided by d_k / 2. In Python, d_k ** 1/2 means (d_k ** 1) / 2.",
            "Which comes first in d_k ** 1/2, the power or the division?"),
        "/ math.sqrt(k.shape[-2])": Mistake("scale-root-m",
            "The scores are divided by the square root of the number of keys, not of d_k.",
            "Over which axis does the dot product sum?"),
        "* math.sqrt(q.shape[-1])": Mistake("scale-times-root",
            "The scores are multiplied by the square root of d_k, not divided.",
            "Should the scores of a wide head become larger or smaller?"),
        "/ math.sqrt(q.shape[-2])": Mistake("scale-root-n",
            "The scores are divided by the square root of the number of queries, not of d_k.",
            "Over which axis does the dot product sum?"),
        "/ math.sqrt(v.shape[-1])": Mistake("scale-root-d_v",
            "The scores are divided by the square root of d_v, the width of a value, not of d_k.",
            "Whose coordinates are multiplied to make a score?"),
        "/ math.sqrt(q.shape[0])": Mistake("scale-root-first-axis",
            "The scores are divided by the square root of the first size of q, which is not d_k.",
            "Which axis of q holds the coordinates?"),
        "/ math.sqrt(q.shape[1])": Mistake("scale-root-axis-1",
            "The scores are divided by the square root of the size of axis 1 of q, which holds the coordinates only "
            "without a batch.",
            "Which axis of q holds the coordinates, counted from the back?"),
        "/ math.sqrt(k.shape[0])": Mistake("scale-root-m",
            "The scores are divided by the square root of the first size of k, which is not d_k: without a batch it is "
            "the number of keys.",
            "Which axis of k holds the coordinates?"),
        "/ math.sqrt(k.shape[1])": Mistake("scale-root-axis-1",
            "The scores are divided by the square root of the size of axis 1 of k, which holds the coordinates only "
            "without a batch.",
            "Which axis of k holds the coordinates, counted from the back?"),
        "/ int(math.sqrt(q.shape[-1]))": Mistake("scale-whole-root",
            "The scores are divided by the square root of d_k rounded down to a whole number. It is right where "
            "d_k is a square.",
            "What is int(3 ** 0.5)?"),
    }),
    "hidden": Blank("", wrong={
        "scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -math.inf)": Mistake("causal",
            "Later keys are hidden. The statement asks for no mask.",
            "Which keys may a query see here?"),
    }),
    "weights": Blank("scores.softmax(-1)", offered=4, wrong={
        "scores.softmax(-2)": Mistake("softmax-axis-queries",
            "The softmax runs over the queries, not over the keys: with scores as (queries, keys), each column "
            "sums to 1, and the rows do not.",
            "Whose weights should sum to 1, those of one query or those of one key?"),
        "scores.softmax(1)": Mistake("softmax-axis-1",
            "The softmax runs over axis 1. With two axes these are the keys; with a batch they are not.",
            "Which axis holds the keys when there is a batch in front?"),
        "scores.exp()": Mistake("no-normalisation",
            "The exponentials are not divided by their sum, so the weights do not sum to 1.",
            "What should a row of weights sum to?"),
        "scores / scores.sum(-1, keepdim=True)": Mistake("divides-by-sum",
            "The scores are divided by their sum, without the exponential. Negative scores then spoil it.",
            "What does the exponential protect against?"),
        "scores.softmax(0)": Mistake("softmax-axis-0",
            "The softmax runs over axis 0, not over the keys, which are the last axis.",
            "What do the axes of the scores mean?"),
        "scores.softmax(0 if scores.ndim in (1, 3) else 1)": Mistake("softmax-implicit-dim",
            "The softmax runs over axis 0 when there are three axes, and over axis 1 otherwise: that is what torch "
            "chooses when no dim is given.",
            "Which axis holds the keys, counted from the back?"),
        "scores.flatten().softmax(-1).view(scores.shape)": Mistake("softmax-over-everything",
            "The softmax runs over all numbers at once, batch and heads included.",
            "How much weight should each query have to give?"),
        "scores": Mistake("no-softmax",
            "There is no softmax: the scores themselves are used as weights.",
            "What makes shares out of scores?"),
        "scores.log_softmax(-1)": Mistake("log-softmax",
            "It takes the logarithm of the softmax: weights below zero.",
            "Can a share of a mixture be negative?"),
        "scores.sigmoid()": Mistake("sigmoid",
            "It takes the sigmoid of each score, so the weights of a row do not sum to 1.",
            "Which function makes shares that compete?"),
        "scores.softmax(-1).softmax(-1)": Mistake("softmax-twice",
            "The softmax is taken twice.",
            "Is there a second softmax in a helper or a layer?"),
        "(-scores).softmax(-1)": Mistake("negative-scores",
            "The scores have the wrong sign: the key that fits least gets most.",
            "Should a large dot product give a large weight?"),
        "scores.exp() / scores.exp().sum(-2, keepdim=True)": Mistake("softmax-axis-queries",
            "The exponentials are divided by their sum over the queries (axis -2), not over the keys.",
            "Whose weights should sum to 1?"),
    }),
    "mix": Blank("weights @ v", offered=3, wrong={
        "weights": Mistake("returns-weights",
            "It returns the weights. The values are never mixed.",
            "Which step comes after the softmax?"),
        "weights.mT @ v": Mistake("weights-transposed",
            "The weights are transposed before they meet the values.",
            "Should row i of the output use row i or column i of the weights?"),
        "weights @ k": Mistake("keys-as-values",
            "The weights mix the keys, not the values.",
            "What should a query take home?"),
        "weights @ q": Mistake("queries-as-values",
            "The weights mix the queries, not the values.",
            "What should a query take home?"),
        "scores": Mistake("returns-scores",
            "It returns the scores. Softmax and mixture are missing.",
            "Which steps come after the scores?"),
    }),
    "after": Blank(""),
}, together={
    "pair weights mix": {                               # keys by queries all the way is right but for one step
        **{("k @ q.mT", weights, "weights"): Mistake("returns-weights",
            "It returns the weights, keys by queries. The values are never mixed.",
            "Which step comes after the softmax?")
           for weights in ("scores.softmax(-2)", "scores.softmax(1)", "scores.exp()",
                           "scores / scores.sum(-1, keepdim=True)")},
        ("k @ q.mT", "scores.softmax(1)", "weights.mT @ v"): Mistake("softmax-axis-1",
            "The scores are keys by queries, and the softmax runs over axis 1: without a batch these are the queries.",
            "Which axis of these scores holds the keys?"),
        ("k @ q.mT", "scores / scores.sum(-1, keepdim=True)", "weights.mT @ v"): Mistake("divides-by-sum",
            "The scores, keys by queries, are divided by their sum over the queries, without the exponential.",
            "Which axis of these scores holds the keys, and what makes a score positive?"),
    },
    "pair scale": {                                           # where q was scaled before it met the wrong one
        ("k @ k.mT", ""): Mistake("keys-as-queries",
            "The scores are made of k with k, and nothing divides them: the queries, scaled or not, are never used.",
            "Which two tensors should meet in a score?"),
        ("q @ q.mT", "/ q.shape[-1]"): Mistake("queries-as-keys",
            "The scores are made of q with q, divided by d_k: the keys are never used.",
            "Which two tensors should meet in a score?"),
    },
    "mix after": {
        ("weights @ q", "out = out / math.sqrt(q.shape[-1])"): Mistake("queries-as-values",
            "The weights mix the queries, divided by the root of d_k, and not the values.",
            "What should a query take home?"),
    },
})

EXERCISE = Exercise(
    id="2.1", name="attention", chapter="02_one_head", stars=2, core=True, minutes=15, after="section 1",
    signature="attention(q, k, v)",
    statement="Write `attention(q, k, v)`: q is `(..., n, d_k)`, k is `(..., m, d_k)`, v is `(..., m, d_v)`. Return "
              "`softmax(q k^T / sqrt(d_k)) v`, of shape `(..., n, d_v)`. Gradients must reach q, k and v.",
    stub="# attention(torch.eye(2)[:1], torch.eye(2), torch.tensor([[0.], [1.]])) -> 0.3302\n"
         "def attention(q, k, v):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(1, 2, 4), numbers(2, 3, 4), numbers(3, 3, 5))),
           Case((numbers(4, 5, 3), numbers(5, 2, 3), numbers(6, 2, 7))),
           Case((numbers(7, 3, 2, 9), numbers(8, 3, 5, 9), numbers(9, 3, 5, 4))),
           Case((numbers(10, 4, 4, 4), numbers(11, 4, 4, 4), numbers(12, 4, 4, 4))),
           Case((numbers(13, 2, 3, 5, 16), numbers(14, 2, 3, 7, 16), numbers(15, 2, 3, 7, 6))),
           Case((numbers(19, 1, 1, 3).round(), numbers(20, 1, 4, 3).round(), numbers(21, 1, 4, 2))),
           Case((numbers(1, 2, 4), numbers(2, 3, 4) * torch.tensor([[1], [0], [1]]), numbers(3, 3, 5))),
           Case((numbers(25, 2, 1, 4), numbers(26, 2, 3, 4), numbers(27, 2, 3, 5))),
           Case((numbers(22, 40, 8), numbers(23, 33, 8), numbers(24, 33, 1)))],
    sized=lambda n, m, d_k, d_v: Case((numbers(1, n, d_k), numbers(2, m, d_k), numbers(3, m, d_v))),
    measure=reads_weights,
    large=(Case((400 * numbers(16, 6, 4), 40 * numbers(17, 7, 4), numbers(18, 7, 5))),
           Case((numbers(16, 6, 4) + 60, numbers(17, 7, 4) - 60, numbers(18, 7, 5))),
           Case((numbers(16, 6, 4) + 60, numbers(17, 7, 4) + 60, numbers(18, 7, 5)))),
    hints=("Four steps: score, scale, softmax, mix. After each, print the shape.",
           "The scores have shape (..., n, m): a row for each query. The softmax works along the keys, the last axis.",
           "return torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) @ v"),
    note="Score, scale, softmax, mix. torch.nn.functional.scaled_dot_product_attention(q, k, v) gives the same for "
         "three or four axes.",
)
