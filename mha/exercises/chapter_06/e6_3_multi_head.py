"""6.3: multi-head attention, all of it."""
from functools import partial

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, same
from mha.exercises.engine.report import Mistake

CUT_FIRST = Mistake("embedding-cut-first",
    "The token is cut into h parts before the projection, so a head sees a part of the token only. Each head sees all "
    "of it; the projections are cut.",
    "What does head 1 read, the whole token or its first coordinates?")


def cut_first(part, rows="i"):
    """Code that projects a part of each token for each head."""
    return (f"torch.stack([{part} @ W[{rows} * (W.shape[0] // h) : ({rows} + 1) * (W.shape[0] // h), "
            "i * (W.shape[1] // h) : (i + 1) * (W.shape[1] // h)] for i in range(h)], 1)")


PROGRAM = Program("""\
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
    B, n, _ = x.shape
    <matrices>
    Q, K, V = (<split> for W in (W_Q, W_K, W_V))
    scores = Q @ K.mT <scale>
    scores = <hide>
    weights = <shares>
    out = <join>
    return <use>
""", {
    "matrices": Blank("", wrong={
        "W_K = W_Q": Mistake("one-matrix",
            "W_Q makes the keys as well: W_K is not used.",
            "Who asks, and who is found?"),
        "W_V = W_K": Mistake("keys-as-values",
            "W_K makes the values: W_V is not used.",
            "What should the head return for a token?"),
        "W_V, W_O = W_V[:, : W_Q.shape[1]], W_O[: W_Q.shape[1]]": Mistake("d_k-for-values",
            "W_V and W_O are cut in steps of d_k. There a head owns d_v columns and rows.",
            "How many columns has W_V, and how many W_Q?"),
        "W_Q, W_K = W_K, W_Q": Mistake("roles-exchanged",
            "W_Q and W_K are exchanged.",
            "Which matrix makes the vector that asks?"),
        "x = torch.nn.functional.layer_norm(x, x.shape[-1:])": Mistake("normalises-tokens",
            "The tokens are normalised first (a layer norm). A transformer's block may do that; the layer does not.",
            "What should the layer do with x first?"),
    }),
    "split": Blank("(x @ W).reshape(B, n, h, -1).transpose(1, 2)", offered=3, wrong={
        "(x @ W).reshape(B, h, n, -1)": Mistake("view-for-transpose",
            "Queries, keys and values are reshaped to (B, h, n, d_k) directly: a head is filled with the next "
            "numbers in memory, which run through all columns of one token before the next. It should hold a few "
            "columns of all tokens.",
            "Which numbers stand next to each other in memory?"),
        "(x @ W).reshape(B, n, -1, h).permute(0, 3, 1, 2)": Mistake("interleaved",
            "The columns are cut as (d_k, h): each head takes every h-th column.",
            "Which columns of W_Q belong to head 1?"),
        "(x @ W).transpose(1, 2).reshape(B, h, n, -1)": Mistake("transpose-then-view",
            "Tokens and columns are exchanged before the cut, and the shape is then forced.",
            "What should be cut, before anything is exchanged?"),
        "torch.stack([part @ W.chunk(h, 0)[i].chunk(h, 1)[i] for i, part in enumerate(x.chunk(h, -1))], 1)": CUT_FIRST,
        cut_first("x[..., i * (W.shape[0] // h) : (i + 1) * (W.shape[0] // h)]"): CUT_FIRST,
        cut_first("x.reshape(B, n, h, -1)[:, :, i]"): CUT_FIRST,
        "x.reshape(B, n, h, -1).transpose(1, 2) @ W[: W.shape[0] // h, : W.shape[1] // h]": CUT_FIRST,
        cut_first("x[..., i * (W.shape[0] // h) : (i + 1) * (W.shape[0] // h)]", "0"): CUT_FIRST,
        "(x @ W)[:, None]": Mistake("one-head",
            "The columns are never cut: all of them make one single head.",
            "How many tables of weights are there?"),
    }),
    "scale": Blank("/ math.sqrt(Q.shape[-1])", offered=3, wrong={
        "": Mistake("no-scale", "The scores are not divided by the root of d_k.", "How wide is one head?"),
        "/ math.sqrt(x.shape[-1])": Mistake("scale-root-d_model",
            "The scores are divided by the root of d_model, the width of a token. One head is d_k wide.",
            "How many products does one score of one head sum?"),
        "/ math.sqrt(W_Q.shape[-1])": Mistake("scale-root-all-heads",
            "The scores are divided by the root of h d_k, the width of all heads together. Each head sums d_k "
            "products.",
            "How many products does one score of one head sum?"),
        "/ Q.shape[-1]": Mistake("scale-d_k",
            "The scores are divided by d_k, not by its root.",
            "What is the standard deviation of q.k?"),
        "/ math.sqrt(x.shape[-1] // h)": Mistake("scale-root-d_model-over-h",
            "The scores are divided by the root of d_model // h. That is d_k where h d_k is d_model, elsewhere by "
            "chance alone.",
            "From which tensor can d_k be read?"),
        "/ math.sqrt(V.shape[-1])": Mistake("scale-root-d_v",
            "The scores are divided by the root of d_v, the width of a value. A score sums d_k products.",
            "How many products does one score of one head sum?"),
        "/ math.sqrt(n)": Mistake("scale-root-n",
            "The scores are divided by the root of n, the number of tokens.",
            "How many products does one score of one head sum?"),
        "/ math.sqrt(h)": Mistake("scale-root-h",
            "The scores are divided by the root of h, the number of heads.",
            "How many products does one score of one head sum?"),
        "* math.sqrt(Q.shape[-1])": Mistake("scale-times-root",
            "The scores are multiplied by the root of d_k.",
            "Should the scores of a wide head become larger or smaller?"),
    }),
    "hide": Blank("scores.masked_fill(~mask[:, None], -math.inf)", offered=3, wrong={
        "scores.masked_fill(mask[:, None], -math.inf)": Mistake("polarity",
            "The mask is applied the wrong way round: True means may attend.",
            "Does masked_fill fill where the mask is True or where it is False?"),
        "scores.masked_fill(~mask, -math.inf)": Mistake("mask-lacks-heads",
            "With several sentences it runs only where there are as many heads. Then head i of every sentence gets the "
            "mask of sentence i, as happens when the mask has no head axis and its sentences lie along the heads.",
            "With which axis of the scores (B, h, n, n) does the B of the mask (B, n, n) meet?"),
        "scores.masked_fill(~mask[:, None], 0)": Mistake("zero-for-minus-infinity",
            "Masked scores become 0, and e^0 is 1: masked keys keep a weight.",
            "Which score has the power 0?"),
        "scores": Mistake("no-mask",
            "The mask is not applied.",
            "Does what you do with the mask reach the weights? masked_fill, for one, returns a new tensor."),
        "scores.masked_fill(torch.ones(n, n).tril() == 0, -math.inf)": Mistake("own-mask",
            "It hides what comes later by a mask of its own: the mask that is given plays no part.",
            "What if the given mask hides something else?"),
        "scores + mask[:, None]": Mistake("mask-added",
            "The boolean mask is added to the scores: what may be seen gets 1 more, and nothing is hidden.",
            "Which number, added to a score, hides a key?"),
        "scores.masked_fill(~mask.repeat(h, 1, 1).view(B, h, n, n), -math.inf)": Mistake("mask-heads-order",
            "Heads of one sentence get the masks of others: the masks are repeated for the heads in the wrong "
            "order. mask[:, None] has the shape (B, 1, n, n) and serves all heads of its sentence.",
            "Which axis of the scores is missing in the mask?"),
        "scores.masked_fill(~mask.mT[:, None], -math.inf)": Mistake("mask-transposed",
            "The mask is transposed: keys by queries.",
            "Which axis of the mask counts the queries?"),
    }),
    "shares": Blank("scores.softmax(-1)", offered=2, wrong={
        "scores.softmax(-2)": Mistake("softmax-axis-queries",
            "The softmax runs over the queries.",
            "Whose weights should sum to 1?"),
        "scores.softmax(1)": Mistake("softmax-axis-heads",
            "The softmax runs over the heads (axis 1 of four).",
            "Whose weights should sum to 1?"),
    }),
    "join": Blank("(weights @ V).transpose(1, 2).flatten(2)", offered=2, wrong={
        "(weights @ V).reshape(B, n, -1)": Mistake("merge-without-transpose",
            "The heads' outputs are reshaped to (B, n, h d_v) without bringing head and column side by side: a row "
            "is filled with the next numbers in order, which run through the tokens of one head before the next. "
            "It should hold all heads of one token.",
            "Which axis must stand beside d_v before the two are joined?"),
        "(weights @ V).permute(0, 2, 3, 1).flatten(2)": Mistake("merge-interleaved",
            "The heads' columns are interleaved when they are merged.",
            "Which columns should come first, all of head 1 or the first of every head?"),
        "(weights @ V[:, :1]).transpose(1, 2).flatten(2)": Mistake("values-of-one-head",
            "All heads mix the values of head 1. Each head has columns of W_V of its own.",
            "Which columns of W_V belong to head 2?"),
    }),
    "use": Blank("out @ W_O", offered=1, wrong={
        "out": Mistake("no-W_O",
            "W_O is missing: the heads stay side by side, unmixed.",
            "What comes after the concatenation?"),
        "out @ W_O.mT": Mistake("W_O-transposed",
            "W_O is transposed. The statement has it as (h d_v, d_model), for y @ W_O.",
            "Which shape has W_O?"),
        "out[..., -V.shape[-1] :] @ W_O[-V.shape[-1] :]": Mistake("last-head-only",
            "It gives the part of the last head alone. In a loop, out = ... forgets the heads before; out = out + ... "
            "adds.",
            "What is a concatenation times W_O, written as a sum over heads?"),
        "sum(part @ W_O[: V.shape[-1]] for part in (weights @ V).unbind(1))": Mistake("one-block-for-all",
            "All heads meet the first rows of W_O. Each head has rows of its own.",
            "Which columns of the concatenation come from head 2, and which rows of W_O meet them?"),
    }),
}, together={
    "hide shares": {
        ("scores", "scores.softmax(-1) * mask[:, None]"): Mistake("mask-after-softmax",
            "The mask is applied after the softmax, and rows that hide something no longer sum to 1.",
            "What should a row sum to?"),
        ("scores.masked_fill(~mask[:, None], -1e9)", "scores.softmax(1)"): Mistake("softmax-axis-heads",
            "The softmax runs over the heads (axis 1 of four): for each pair of tokens the heads' weights sum to 1.",
            "Whose weights should sum to 1?"),
    },
})


def measure(answer):
    """Whether the mask acts, and whether one head is right."""
    x, W = numbers(601, 1, 3, 4), [numbers(602 + i, 4, 4) for i in range(4)]
    mask = torch.ones(1, 3, 3).tril() > 0
    moved = x.clone()
    moved[:, -1] += 1

    def moves(mask):
        return (answer(x, *W, 2, mask) - answer(moved, *W, 2, mask)).abs().amax(-1)[0]
    if not (answer(x, *W, 2, mask) - answer(x, *W, 2, mask | True)).any():
        yield ("With a causal mask and with one that shows all it gives the same."
               + " And where the mask shows all, a change of the last token leaves the first output as it was: what is "
                 "hidden there is hidden by something else." * bool(moves(mask | True)[0] < 1e-9))
    elif moves(mask)[:2].max() > 1e-9:
        yield (f"With a causal mask and the last of three tokens changed, the outputs move by {listed(moves(mask))}; "
               "the first two should not move.")
    narrow = [W[0][:, :3], W[1][:, :3], W[2], W[3]]
    alone = [bool((answer(x, *matrices, 1, mask) - PROGRAM.reference(x, *matrices, 1, mask)).abs().max() < 1e-6)
             for matrices in (W, narrow)]
    if not any(alone):
        yield "With a single sentence and a single head it is wrong too, where there is nothing to cut or to join."
    elif alone[0] and not alone[1]:
        yield ("With a single sentence and a single head it is right where d_k, d_v and d_model are all 4, and "
               "wrong where d_k is 3 and the others are 4, as happens when one of these sizes is taken for another, a "
               "size is written as a number, or a root is rounded.")
    else:
        wrong = []
        for head, rows in ((1, slice(2, 4)), (2, slice(0, 2))):
            W_O = W[3].clone()
            W_O[rows] = 0
            args = x, *W[:3], W_O, 2, mask
            wrong += [str(head)] * bool((answer(*args) - PROGRAM.reference(*args)).abs().max() > 1e-6)
        if wrong:
            yield (f"With two heads, and the rows of W_O that belong to one of them set to zero, it is wrong for what "
                   f"is left: for head {' and for head '.join(wrong)}.")


def of_operands(one, other, case):
    """A part of each token, before one of the matrices that make queries, keys and values."""
    x, *W, _, h, _ = case.args
    whole = any(same(other, matrix) for matrix in W)
    return CUT_FIRST if whole and h > 1 and one.shape[-1] * h == x.shape[-1] else None


def case(seed, B, n, d_model, h, d_k, d_v):
    W = (numbers(seed, d_model, h * d_k), numbers(seed + 1, d_model, h * d_k), numbers(seed + 2, d_model, h * d_v),
         numbers(seed + 3, h * d_v, d_model))
    mask = (numbers(seed + 4, B, n, n) > 0) | (torch.eye(n) > 0)
    return Case((numbers(seed + 5, B, n, d_model), *W, h, mask))


EXERCISE = Exercise(
    id="6.3", name="multi_head", chapter="06_multi_head", stars=3, minutes=25, after="section 4", core=True,
    signature="multi_head(x, W_Q, W_K, W_V, W_O, h, mask)",
    statement="Write `multi_head(x, W_Q, W_K, W_V, W_O, h, mask)`: x is `(B, n, d_model)`; W_Q and W_K "
              "are `(d_model, h*d_k)`, W_V is `(d_model, h*d_v)`, head 1 owning the first columns of each; W_O is "
              "`(h*d_v, d_model)`; mask is `(B, n, n)`, boolean, True = may attend, with no empty row. Return `(B, n, "
              "d_model)`. Gradients must reach x and the matrices.",
    stub="# x, W = torch.eye(2)[None], torch.eye(2)\n"
         "# multi_head(x, W, W, W, W, 2, torch.ones(1, 2, 2).tril() > 0) -> 1 0 0.5 0.7311\n"
         "def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):\n    ...\n",
    program=PROGRAM,
    cases=[case(610, 1, 3, 4, 2, 2, 2), case(620, 2, 3, 5, 2, 3, 4), case(630, 3, 4, 6, 3, 2, 5),
           case(640, 4, 4, 4, 4, 1, 1), case(650, 2, 5, 8, 1, 8, 8), case(660, 2, 2, 8, 2, 4, 4),
           case(670, 1, 20, 24, 12, 2, 2)],
    sized=partial(case, 1),
    large=(Case((60 * numbers(695, 2, 6, 4), *(numbers(696 + i, 4, 4) for i in range(4)), 2, torch.ones(2, 6, 6) > 0)),
           ),
    measure=measure, of_operands=of_operands,
    hints=("Project first, with all columns at once; then split into heads. After each step print the shape.",
           "(B, n, h*d_k) becomes (B, h, n, d_k). The scores are (B, h, n, n), and the mask lacks the head axis: "
           "mask[:, None].",
           "Q, K, V = ((x @ W).unflatten(-1, (h, -1)).transpose(1, 2)\n"
           "           for W in (W_Q, W_K, W_V))\n"
           "scores = Q @ K.mT / Q.shape[-1] ** 0.5\n"
           "w = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)\n"
           "return (w @ V).transpose(1, 2).flatten(2) @ W_O"),
    note="Four matrices, one softmax, two moves of axes. mha.MultiHeadAttention does the same with torch layers, and "
         "section 4 tests that it is equal to torch's own.",
)
