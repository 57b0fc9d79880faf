"""Claims about the matrices of a head, W_Q, W_K and W_V, and about masks."""
import math

import torch

from mha import AsymmetricHead, Head, MultiHeadAttention, attention, masks
from mha.lab.assets import real_heads
from mha.lab.findings.heads import number_of
from mha.lab.folklore.claim import READING, RIGHT, ROUNDING, SETTINGS, SIZES, SOME, WRONG, claim, row
from mha.lab.train import fit_pattern, fit_pointers

THREE = "03_query_and_key"
FOUR = "04_value_and_output"
FIVE = "05_masks"
SEVEN = "07_how_many_heads"
EIGHT = "08_what_heads_do"


# --- Query and key ----------------------------------------------------------------------------------------------------

@claim("matrices",
       '"our current embedding enforces these semantic relationships to be symmetric", with one matrix W for query '
       'and key.',
       READING, THREE)
def symmetric_weights():
    x = torch.randn(5, 8).double() @ torch.randn(8, 4).double()
    scores = x @ x.T / 2
    weights = scores.masked_fill(torch.eye(5, dtype=torch.bool), -math.inf).softmax(-1)
    return (f"The scores are symmetric, to {ROUNDING:.0e}. The weights are not, because each row has its own "
            f"normaliser, and they differ from their transpose by up to {(weights - weights.T).abs().max():.2f}.",
            (scores - scores.T).abs().max() < ROUNDING and (weights - weights.T).abs().max() > 0.1)


@claim("matrices", "With symmetric scores a head cannot represent a relation that has a direction.", SETTINGS, THREE)
def direction():
    near, solved = 0.01, 0.05
    circle, line = (fit_pointers(task, "one symmetric form") for task in ("circle of 3", "line of 7"))
    coin = math.log(2)
    return (f"On a circle it cannot: where three tokens should each attend to the next, all {len(circle)} runs end "
            f"within {near} of ln 2 = {coin:.3f}, the loss of a coin. Along a line of seven tokens it can, and all "
            f"runs end below {solved}.",
            circle.min() > coin - 1e-4 and circle.max() < coin + near and line.max() < solved)


@claim("matrices", "The output of token i is a weighted sum over the other tokens, j != i.", WRONG, THREE)
def without_itself():
    q = torch.randn(5, 4)
    usual = torch.nn.functional.scaled_dot_product_attention(q[None], q[None], q[None])[0]
    with_self, others = attention(q, q, q)[0], attention(q, q, q, mask=~torch.eye(5, dtype=torch.bool))[0]
    alone = torch.full((1, 1), -math.inf).softmax(-1)
    return ("torch's attention includes j = i, and leaving it out moves its outputs by up to "
            f"{(others - usual).abs().max():.2f}. A token alone would have a softmax over nothing, which gives "
            f"{float(alone)}.",
            torch.allclose(usual, with_self, atol=1e-6) and not torch.allclose(usual, others, atol=0.1)
            and alone.isnan().all())


@claim("matrices", "A token attends most to itself, since nothing is more like it.", SETTINGS, THREE)
def looks_at_itself():
    x, W_Q, W_K = torch.randn(1000, 16, 64), *torch.randn(2, 1000, 64, 8)
    one, two = (((x @ W_Q) @ (x @ W).mT).argmax(-1).eq(torch.arange(16)).double().mean() for W in (W_Q, W_K))
    anywhere, among_words = real_heads().tops.itself.mean(), real_heads().own.largest.mean()
    return (f"Of 16 random tokens with d_k = 8, {one:.0%} score highest with themselves if one matrix makes query and "
            f"key, and {two:.0%} if two do. In our encoder's 72 trained heads {anywhere:.0%} of the tokens attend "
            f"most to themselves, or {among_words:.0%} if only words count.",
            one > 0.7 and two < 0.1 and anywhere < among_words < 0.5)


@claim("matrices", "W_Q W_K^T has rank d_k at most.", RIGHT, THREE)
def rank():
    layer = MultiHeadAttention(96, 6).double()
    ranks = {int(torch.linalg.matrix_rank(layer.qk(i))) for i in range(6)}
    return (f"Six heads of d_k = {layer.d_k} in a layer of width 96 have products of shape {tuple(layer.qk(0).shape)} "
            f"and of rank {', '.join(map(str, ranks))}.",
            ranks == {layer.d_k})


@claim("matrices", "A narrow head can make simple patterns only, because of that rank.", SIZES, SEVEN)
def narrow_patterns():
    order = torch.randperm(8)
    right = {d_k: fit_pattern(torch.eye(8)[order], d_k).argmax(-1).eq(order).sum(-1) for d_k in (1, 2)}
    shared = (torch.eye(8).roll(1, 1) + torch.eye(8).roll(3, 1)) / 2
    kl = {d_k: torch.where(shared > 0, shared * (shared / fit_pattern(shared, d_k)).log(), 0).sum(-1).mean(-1)
          for d_k in (2, 3)}
    return ("If queries and keys are free, and not made of tokens, and each of eight queries wants a key that no other "
            f"wants, at most {right[1].max()} get it with d_k = 1, in {len(right[1])} runs, but all {right[2].min()} "
            "do with d_k = 2. If each wants the key 1 further on and the one 3 further on, half and half, "
            "d_k = 2 stays above 0.1 nats in all runs, and the best run with d_k = 3 ends below 0.01.",
            right[1].max() == 2 and right[2].min() == 8 and kl[2].min() > 0.1 and kl[3].min() < 0.01)


@claim("matrices", "Two matrices, and so asymmetry, let a head tell subject from object.", SETTINGS, THREE)
def subject_and_object():
    head, words, places = AsymmetricHead(8, 4).double(), torch.randn(3, 8).double(), torch.randn(3, 8).double()
    def bites(places, mask):
        return torch.stack([head(words[order] + places, mask=mask)[0][1] for order in ([0, 1, 2], [2, 1, 0])])
    cases = (0, None), (places, None), (0, masks.causal(3))
    same, apart, causal = (bites(*case).diff(dim=0).abs().max() for case in cases)
    head.W_K = head.W_Q
    blind, one_apart, one_causal = (bites(*case).diff(dim=0).abs().max() for case in cases)
    return ("Positions or a causal mask do, even with one matrix. From \"dog bites man\" to \"man bites dog\" the "
            f"output of \"bites\" moves by {apart:.2f} with positions and by {causal:.2f} with a causal mask, with one "
            f"matrix by {one_apart:.2f} and {one_causal:.2f}, but by less than {ROUNDING:.0e} without "
            "either, because then the head sees a set.",
            max(same, blind) < ROUNDING and min(apart, causal, one_apart, one_causal) > 0.01)


@claim("matrices", "Query and key must be made by different matrices.", SOME, f"{EIGHT}_lab")
def two_matrices():
    stored = real_heads()
    same, one, learned, none = (stored.surgeries[name].cosine for name in (
        "W_Q in both", "one matrix", "learned matrix", "no heads"))
    head, before = number_of("0.2"), stored.before_learned
    trained, with_one, with_two = before.trained[head], before.one[head], before.two[head]
    return (f"With one matrix learned for each head, our encoder keeps a cosine of {learned:.2f} to its own sentence "
            f"vectors; with the nearest single matrices it is {one:.2f}, below the {none:.2f} of no heads. Some heads "
            f"lose by it: head 0.2 gave the token before {trained:.2f}, and on fresh sentences {with_one:.2f} with "
            f"one learned matrix and {with_two:.2f} with two.",
            max(same, one) < none < learned - 0.2 and with_one < with_two - 0.2)


# --- Value -----------------------------------------------------------------------------------------------------------

@claim("values",
       '"As the simple weighted sum of the input vectors, this output doesn\'t have much flexibility for expression"',
       RIGHT, FOUR)
def hull():
    x = torch.randn(4, 8)
    outs = torch.stack([AsymmetricHead(8, 4)(10 * x)[0] / 10 for _ in range(500)])  # (500, 4, 8); 10: sharp weights
    inside = ((outs <= x.amax(0) + 1e-5) & (outs >= x.amin(0) - 1e-5)).all()
    return ("A weighted mean never leaves the hull of its inputs. In the first coordinate the inputs are "
            f"{row(x[:, 0], 2)}, and the outputs of 500 random heads run from {outs[..., 0].min():.2f} to "
            f"{outs[..., 0].max():.2f}.",
            bool(inside))


@claim("values", "W_V is needed to bring what is mixed into the space of the output.", SIZES, FOUR)
def value_matrix():
    weights = torch.randn(5, 5).double().softmax(-1)
    x = torch.randn(5, 12).double()
    W_V = torch.randn(12, 4).double()
    W_O = torch.randn(4, 12).double()
    gap = (weights @ (x @ W_V) @ W_O - (weights @ x) @ (W_V @ W_O)).abs().max()
    a, b = torch.randn(2, 100_000)
    lost = (a - (a + b) / 2).square().mean()
    return (f"One head does not need it, because a matrix after the weighted mean does the same, to {ROUNDING:.0e}. "
            "Two heads need a map each, which W_V or a block of W_O can be: one matrix for both gets the sum of what "
            f"they return, and {lost:.2f} of the variance of two contents in the same coordinates is lost.",
            gap < ROUNDING and (lost - 0.5).abs() < 0.02)


@claim("values",
       'W_V pushes forward "the fact that we are using the token \'deposit\' with its verb sense".', SETTINGS, FOUR)
def verb_sense():
    x = torch.randn(5, 12, requires_grad=True)
    slope, = torch.autograd.grad(Head(12, 4).W_V(x)[2].sum(), x)
    seen = slope.abs().sum(-1).gt(0).nonzero().flatten().tolist()
    return (f"It can, if the token's own vector says so already. Of five tokens value 2 depends on {seen} alone, "
            "because W_V is one map for all tokens and does not see the sentence.",
            seen == [2])


# --- Masks ------------------------------------------------------------------------------------------------------------

def leaks(layer, x):
    """How much output i moves with token j: (n, n)."""
    return torch.autograd.functional.jacobian(layer, x).square().sum((1, 3)).sqrt()


@claim("masks",
       "`scores.masked_fill(mask == 0, float('-inf'))` hides the padding, with a mask of shape (batch, length).",
       SIZES, FIVE)
def padding_mask():
    scores, natural = torch.randn(4, 1, 4, 4), masks.padding([4, 2, 3, 1], 4)[:, 0, 0]
    trap, right = (scores.masked_fill(mask == 0, -math.inf).softmax(-1) for mask in (natural, natural[:, None, None]))
    leaked, held = ((weights * (natural[:, None, None] == 0)).sum(-1).max() for weights in (trap, right))
    alone = scores[1:2].masked_fill(natural[1:2] == 0, -math.inf).softmax(-1)[..., 2:].max()
    return (f"For one sentence it does, and {alone:.0f} of the weight is on padding. With four sentences of four "
            f"tokens torch reads (batch, length) as (queries, keys) without an error, and a row puts {leaked:.2f} "
            f"of its weight on padding; with shape (batch, 1, 1, length) it is {held:.0f}.",
            leaked > 0.5 and held == alone == 0)


@claim("masks", "-1e9 is a safe way to write minus infinity.", SETTINGS, FIVE)
def large_number():
    hidden, scores = torch.ones(1, 4, dtype=torch.bool), torch.randn(1, 4)
    wide = scores.masked_fill(hidden, -1e9).softmax(-1)
    added = scores.half() + hidden.half() * -1e9
    half = added.softmax(-1)
    try:
        answer = str(scores.half().masked_fill(hidden, -1e9))
    except RuntimeError as error:
        answer = str(error)
    return ("In float32 it is safe for rows that see something, but a row that sees nothing becomes "
            f"{row(wide[0], 2)}, so what is masked is read. In float16 masked_fill refuses the number, and if added "
            f"it becomes {added.max():.0f} without an error, so that a row that sees nothing is {half.max():.0f}.",
            torch.equal(wide, torch.full((1, 4), 0.25)) and "overflow" in answer and half.isnan().all())


@claim("masks", "To mask is to set weights to zero.", READING, FIVE)
def zero_weights():
    x, seen = torch.randn(6, 8).double(), masks.causal(6)
    def zeroed(x):
        return (x @ x.T / 8**0.5).softmax(-1) * seen
    def masked(x):
        return attention(x, x, x, causal=True)[0]
    before, after = (leaks(layer, x)[~seen] for layer in (masked, lambda x: zeroed(x) @ x))
    gap = (zeroed(x) / zeroed(x).sum(-1, keepdim=True) @ x - masked(x)).abs().max()
    return (f"If the weights are set to zero after the softmax, {int((after > 0).sum())} of {len(before)} masked "
            "pairs leak, because masked tokens stay in the normaliser; with scores of minus infinity "
            f"{int((before > 0).sum())} do. Divide each row by its new sum, and the two agree to {ROUNDING:.0e}.",
            not before.any() and bool((after > 0).all()) and gap < ROUNDING)


@claim("masks", "In a boolean mask, True means hidden.", SETTINGS, FIVE)
def true_means():
    x = torch.randn(1, 5, 8)
    mask = (torch.arange(5) == 4).expand(5, 5)
    layer = torch.nn.MultiheadAttention(8, 1, batch_first=True)
    kernel = torch.nn.functional.scaled_dot_product_attention
    def heard(attend):
        slopes = torch.autograd.functional.jacobian(lambda x: attend(x)[0, 0], x).abs().sum((0, 1, 3))
        return slopes.gt(0).nonzero().flatten().tolist()
    layers = heard(lambda x: layer(x, x, x, attn_mask=mask)[0])
    kernels = heard(lambda x: kernel(x, x, x, attn_mask=mask))
    return ("torch says both. With True for the last of tokens 0 to 4, an output of nn.MultiheadAttention depends on "
            f"{layers}, and one of scaled_dot_product_attention on {kernels}.",
            (layers, kernels) == ([0, 1, 2, 3], [4]))


@claim("masks", '"cat\'s output considers all words"', SETTINGS, FIVE)
def all_words():
    x = torch.randn(6, 8)
    encoder, decoder = (attention(x, x, x, causal=causal, need_weights=True)[1][1].gt(0).sum()
                        for causal in (False, True))
    return ("It does in an encoder, of which its section speaks. In \"The cat sat on the mat\", \"cat\" gives weight "
            f"to {encoder} words there, and to {decoder} under a causal mask.",
            (encoder, decoder) == (6, 2))


@claim("masks", "A mask that is wrong would be noticed.", WRONG, FIVE)
def wrong_mask():
    x, future = torch.randn(1, 6, 8), ~masks.causal(6)
    def shipped(x):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=future)[0]
    last = x.clone()
    last[0, -1] += 1
    moved = (shipped(last) - shipped(x)).abs().amax(-1)[:-1]
    blind = (x @ x.mT / 8**0.5).masked_fill(~future, -math.inf).softmax(-1)[0, -1]
    return ("An inverted causal mask in scaled_dot_product_attention gives finite numbers of the right shape. It "
            f"shows if you change the last word: {int((moved > 0).sum())} of the 5 outputs before it move, by up to "
            f"{moved.max():.2f}.",
            shipped(x).isfinite().all() and bool((moved > 0).all()) and blind.isnan().all())


@claim("masks", "A mask of shape (batch, queries, keys) fits the scores of all heads.", SIZES, FIVE)
def mask_of_three_axes():
    scores, mask = torch.randn(4, 4, 5, 5), masks.padding([5, 4, 2, 1], 5)[:, 0].expand(4, 5, 5)       # (B, n, n)
    leaked, held, alone = (
        (scores[-len(one):].masked_fill(~one, -math.inf).softmax(-1) * ~mask[-len(one):, None]).sum(-1).max()
        for one in (mask, mask[:, None], mask[-1:]))
    try:
        answer = str(torch.randn(2, 8, 5, 5).masked_fill(~mask[:2], -math.inf))
    except RuntimeError:
        answer = "an error"
    return (f"For one sentence it does, and {alone:.0f} of the weight is on padding. With four sentences and four "
            f"heads torch takes the first axis for the heads, and a row puts {leaked:.2f} of its weight on padding; "
            f"shape (batch, 1, queries, keys) leaves {held:.0f}, and with 2 sentences and 8 heads there is {answer}.",
            leaked > 0.5 and held == alone == 0 and answer == "an error")
