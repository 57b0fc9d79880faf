"""4.1: one head with its three matrices."""
import torch

from mha.exercises.chapter_02 import e2_1_attention as e2_1
from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, reads_weights
from mha.exercises.engine.report import Mistake


def of_attention(blank, *left_out, first={}, offered=0):
    """A blank of 2.1 with its mistakes, but for some; those of `first` come before them."""
    known = e2_1.PROGRAM.blanks[blank]
    wrong = {fragment: mistake for fragment, mistake in known.wrong.items() if mistake.id not in left_out}
    return Blank(known.right, first | wrong, offered)


PROGRAM = Program("""\
def head(x, W_Q, W_K, W_V):
    <matrices>
    q, k, v = <project>
    scores = <pair> <scale>
    <hidden>
    weights = <weights>
    out = <mix>
    <after>
    return out
""", {
    "matrices": Blank("", wrong={
        "W_K = W_Q": Mistake("one-matrix",
            "W_Q makes the queries and the keys: W_K is never used. The scores are symmetric then.",
            "Who asks, and who is found?"),
        "W_Q, W_K, W_V = W_Q.mT, W_K.mT, W_V.mT": Mistake("matrices-transposed",
            "The matrices are transposed: x @ W.T. The statement has them as (d, d_k), for x @ W. torch's layers store "
            "them the other way.",
            "Which shape has x @ W?"),
        "x = torch.nn.functional.layer_norm(x, x.shape[-1:])": Mistake("normalises-tokens",
            "The tokens are normalised first (a layer norm). A transformer's block may do that; the head does not.",
            "What should the head do with x first?"),
    }),
    "project": Blank("x @ W_Q, x @ W_K, x @ W_V", offered=3, wrong={
        "x @ W_K, x @ W_Q, x @ W_V": Mistake("roles-exchanged",
            "It gives the numbers of W_Q and W_K exchanged, so that keys ask. Scores whose rows count the keys give "
            "them, too.",
            "Which matrix makes the vectors that ask, and which axis of the scores counts these?"),
        "x @ W_Q, x @ W_K, x": Mistake("no-values",
            "The tokens themselves are mixed: W_V is never used.",
            "What should the head return for a token?"),
        "x @ W_Q, x, x @ W_V": Mistake("key-not-projected",
            "The keys are the tokens themselves: W_K is never used.", "What does W_K make?"),
        "x, x @ W_K, x @ W_V": Mistake("query-not-projected",
            "The queries are the tokens themselves: W_Q is never used.", "What does W_Q make?"),
        "x @ W_Q, x @ W_K, W_V": Mistake("values-without-tokens",
            "The weights mix the rows of W_V itself, not the values x W_V. It runs only where there are as many tokens "
            "as coordinates.",
            "What does W_V make, and of what?"),
        "x @ W_Q, x @ W_K, x @ W_Q": Mistake("queries-as-values",
            "The queries are mixed, not the values.", "What should the head return for a token?"),
    }),
    "pair": of_attention("pair", "no-transpose", "queries-as-keys", "keys-as-queries", "values-as-keys",
                         "values-for-scores", offered=1),
    "scale": of_attention("scale", "scale-root-m", "scale-root-first-axis", "scale-root-axis-1", "scale-whole-root",
                          "scale-twice-root", offered=4, first={
        "/ math.sqrt(x.shape[-1])": Mistake("scale-root-d_model",
            "The scores are divided by the square root of d, the width of a token, not of d_k, the width of a query.",
            "How many products does one score sum?"),
    }),
    "hidden": of_attention("hidden"),
    "weights": of_attention("weights", offered=3),
    "mix": of_attention("mix", "keys-as-values", "queries-as-values", offered=2, first={
        "v": Mistake("returns-values",
            "It returns the values as they are: every token gets its own back.",
            "Where do the weights come in?"),
    }),
    "after": of_attention("after"),
}, together={switch: settings for switch, settings in e2_1.PROGRAM.together.items() if switch != "pair scale"} | {
    "project scale": {
        ("x, x, x @ W_V", ""): Mistake("no-projection",
            "The scores are x x^T, neither projected nor divided: W_Q and W_K are never used.", "What does W_Q make?"),
    },
})


def of_one_hot_tokens(answer):
    """The same head as a function of queries, keys and values that are alike in all sentences: the rows of W_Q, W_K and
    W_V.
    """
    def attention(q, k, v):
        x = torch.eye(q.shape[-2], dtype=q.dtype).expand(*q.shape[:-2], -1, -1)
        return answer(x, *(t.reshape(-1, *t.shape[-2:])[0] for t in (q, k, v)))
    return attention


EXERCISE = Exercise(
    id="4.1", name="head", chapter="04_value_and_output", stars=2, core=True, minutes=15, after="section 2",
    signature="head(x, W_Q, W_K, W_V)",
    statement="Write `head(x, W_Q, W_K, W_V)`: x is `(..., n, d)`, W_Q and W_K are `(d, d_k)`, W_V is `(d, d_v)`. "
              "Return the head's output, `(..., n, d_v)`, with the scores divided by the root of d_k. Gradients must "
              "reach x and the three matrices.",
    stub="# one = torch.ones(1, 1)\n# head(torch.tensor([[0.], [1.]]), one, one, one) -> 0.5 0.7311\n"
         "def head(x, W_Q, W_K, W_V):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(71, 2, 3), numbers(72, 3, 4), numbers(73, 3, 4), numbers(74, 3, 5))),
           Case((numbers(75, 5, 6), numbers(76, 6, 2), numbers(77, 6, 2), numbers(78, 6, 3))),
           Case((numbers(79, 3, 4, 7), numbers(80, 7, 9), numbers(81, 7, 9), numbers(82, 7, 2))),
           Case((numbers(83, 4, 4), numbers(84, 4, 4), numbers(85, 4, 4), numbers(86, 4, 4))),
           Case((numbers(87, 2, 1, 3, 5), numbers(88, 5, 3), numbers(89, 5, 3), numbers(90, 5, 1)))],
    sized=lambda n, d, d_k, d_v: Case((numbers(1, n, d), numbers(2, d, d_k), numbers(3, d, d_k), numbers(4, d, d_v))),
    large=(Case((60 * numbers(71, 7, 3), 20 * numbers(72, 3, 4), numbers(73, 3, 4), numbers(74, 3, 5))),),
    measure=lambda answer: reads_weights(of_one_hot_tokens(answer), 4, 4, other=(7, 7)),
    hints=("Three products first: queries, keys and values, each from x. Print their shapes.",
           "Then it is the attention of chapter 2, with the root of d_k, which is W_Q.shape[-1].",
           "Q, K, V = x @ W_Q, x @ W_K, x @ W_V\n"
           "return (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(-1) @ V"),
    note="Three matrices: one to ask, one to be found, one for what is carried. mha.Head holds them as torch layers, "
         "which store each matrix transposed.",
)
