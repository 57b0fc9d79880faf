"""4.1: one head with its three matrices."""
import torch

from mha.exercises import e2_1_attention as e2_1
from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers, reads_weights
from mha.exercises.report import Mistake


def head(x, W_Q, W_K, W_V):
    Q, K, V = x @ W_Q, x @ W_K, x @ W_V
    return (Q @ K.mT / W_Q.shape[-1] ** 0.5).softmax(-1) @ V


def model(x, W_Q, W_K, W_V, use="right", scale="root", weights="softmax", pair="qk", after="nothing", carried="v",
          hidden="nothing", bend="nothing"):
    """A head with switches: each can be set wrong."""
    if use == "shared":
        W_K = W_Q
    if use == "shared-keys":
        W_Q = W_K
    if use == "exchanged":
        W_Q, W_K = W_K, W_Q
    if use == "turned":
        W_Q, W_K, W_V = W_Q.mT, W_K.mT, W_V.mT
    Q, K = (x, x) if use == "no-QK" else (x @ W_Q, x @ W_K)
    V = {"no-V": x, "keys": K, "queries": Q}.get(use, x @ W_V)
    if bend == "relu":
        Q, K, V = Q.relu(), K.relu(), V.relu()
    if bend == "tanh":
        Q, K, V = Q.tanh(), K.tanh(), V.tanh()
    if bend == "unit":
        x = torch.nn.functional.layer_norm(x, x.shape[-1:])
        Q, K, V = x @ W_Q, x @ W_K, x @ W_V
    if use == "raw-query":
        Q = x
    if use == "raw-key":
        K = x
    if scale == "model":
        Q, scale = Q * (Q.shape[-1] / x.shape[-1]) ** 0.5, "root"
    out = e2_1.model(Q, K, V, scale=scale, weights=weights, pair=pair, after=after, carried=carried, hidden=hidden)
    return out @ W_V if use == "V-twice" else out


USES = {
    "shared": Mistake("one-matrix",
                      "W_Q makes the queries and the keys: W_K is never used. The scores are symmetric then.",
                      "Who asks, and who is found?"),
    "shared-keys": Mistake("one-matrix",
                           "W_K makes the queries and the keys: W_Q is never used. The scores are symmetric then.",
                           "Who asks, and who is found?"),
    "exchanged": Mistake("roles-exchanged",
                         "W_Q and W_K are exchanged: queries are made with W_K.",
                         "Which matrix makes the vector that asks?"),
    "turned": Mistake("matrices-transposed",
                      "The matrices are transposed: x @ W.T. The statement has them as (d, d_k), for x @ W. torch's "
                      "layers store them the other way.",
                      "Which shape has x @ W?"),
    "no-QK": Mistake("no-projection",
                     "Queries and keys are the tokens themselves: W_Q and W_K are never used.", "What does W_Q make?"),
    "raw-query": Mistake("query-not-projected",
                         "The queries are the tokens themselves: W_Q is never used.", "What does W_Q make?"),
    "raw-key": Mistake("key-not-projected",
                       "The keys are the tokens themselves: W_K is never used.", "What does W_K make?"),
    "no-V": Mistake("no-values",
                    "The tokens themselves are mixed: W_V is never used.", "What should a token bring home?"),
    "keys": Mistake("keys-as-values", "The keys are mixed, not the values.", "What should a token bring home?"),
    "queries": Mistake("queries-as-values", "The queries are mixed, not the values.",
                       "What should a token bring home?"),
    "V-twice": Mistake("values-twice",
                       "W_V is applied twice, before the mixture and after it.",
                       "How often does W_V appear in the formula?"),
}
ROOT_MODEL = Mistake("scale-root-d_model",
                     "The scores are divided by the square root of d, the width of a token, not of d_k, the width of "
                     "a query.",
                     "How many products does one score sum?")
SCALES = {name: e2_1.SWITCHES["scale"][name] for name in ("none", "d_k", "half", "times", "queries", "d_v", "fourth")}
AFTER = {name: mistake for name, mistake in e2_1.SWITCHES["after"].items() if name not in ("residual", "v-residual")}
CARRIED = {name: e2_1.SWITCHES["carried"][name] for name in ("w", "scores", "transposed")}
BENDS = {
    "relu": Mistake("bends-projections",
                    "A relu is taken of queries, keys and values. They are plain products with the matrices.",
                    "Is there anything between x W and the scores?"),
    "tanh": Mistake("bends-projections",
                    "A tanh is taken of queries, keys and values. They are plain products with the matrices.",
                    "Is there anything between x W and the scores?"),
    "unit": Mistake("normalises-tokens",
                    "The tokens are normalised first (a layer norm). A transformer's block may do that; the head does "
                    "not.",
                    "What should the head do with x first?"),
}
PAIRS = {name: e2_1.SWITCHES["pair"][name] for name in ("kq", "distance", "square", "cosine", "reshape")}

EXERCISE = Exercise(
    id="4.1", name="head", chapter="04_value_and_output", stars=2, core=True, minutes=15, after="section 2",
    signature="head(x, W_Q, W_K, W_V)",
    statement="Write `head(x, W_Q, W_K, W_V)`: x is `(..., n, d)`, W_Q and W_K are `(d, d_k)`, W_V is `(d, d_v)`. "
              "Return the head's output, `(..., n, d_v)`, with the scores divided by the root of d_k.",
    stub="def head(x, W_Q, W_K, W_V):\n    ...\n",
    reference=head,
    cases=[Case((numbers(71, 2, 3), numbers(72, 3, 4), numbers(73, 3, 4), numbers(74, 3, 5))),
           Case((numbers(75, 5, 6), numbers(76, 6, 2), numbers(77, 6, 2), numbers(78, 6, 3))),
           Case((numbers(79, 3, 4, 7), numbers(80, 7, 9), numbers(81, 7, 9), numbers(82, 7, 2))),
           Case((numbers(83, 4, 4), numbers(84, 4, 4), numbers(85, 4, 4), numbers(86, 4, 4))),
           Case((numbers(87, 2, 1, 3, 5), numbers(88, 5, 3), numbers(89, 5, 3), numbers(90, 5, 1)))],
    large=(Case((60 * numbers(71, 7, 3), 20 * numbers(72, 3, 4), numbers(73, 3, 4), numbers(74, 3, 5))),),
    model=model, switches={"use": USES, "scale": {**SCALES, "model": ROOT_MODEL}, "weights": e2_1.SWITCHES["weights"],
                           "pair": PAIRS, "after": AFTER,
                           "carried": CARRIED, "hidden": e2_1.SWITCHES["hidden"], "bend": BENDS},
    measure=lambda answer: reads_weights(lambda q, k, v: answer(torch.eye(len(q), dtype=q.dtype), q, k, v), 4, 4),
    hints=("Three products first: queries, keys and values, each from x. Print their shapes.",
           "Then it is the attention of chapter 2, with the root of d_k, which is W_Q.shape[-1].",
           "Q, K, V = x @ W_Q, x @ W_K, x @ W_V; return (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(-1) @ "
           "V"),
    note="Three matrices: one to ask, one to be found, one for what is carried. mha.Head holds them as torch layers, "
         "which store each matrix transposed.",
)
