"""Claims about the matrices of a head, W_Q, W_K and W_V, and about masks."""
import math

import torch

from mha import AsymmetricHead, Head, MultiHeadAttention, attention, masks
from mha.lab.assets import real_heads
from mha.lab.findings.heads import number_of
from mha.lab.folklore.choices import TOKEN_BEFORE
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
    return (f"Scores, yes: they differ by less than {ROUNDING:.0e} from their mirror image. Weights, no: each row has "
            f"its own sum, and they differ by up to {(weights - weights.T).abs().max():.2f}.",
            (scores - scores.T).abs().max() < ROUNDING and (weights - weights.T).abs().max() > 0.1)


@claim("matrices", "With symmetric scores a head cannot represent a relation that has a direction.", SETTINGS, THREE)
def direction():
    near, solved = 0.01, 0.05
    circle, line = (fit_pointers(task, "one symmetric form") for task in ("cycle of 3", "line of 7"))
    coin = math.log(2)
    return ("Around a circle it cannot: trained on three tokens of which each should look at the next, all "
            f"{len(circle)} runs end within {near} of ln 2 = {coin:.3f}, the loss of a coin, and none below. Along a "
            f"line of seven it can: all end below {solved}.",
            circle.min() > coin - 1e-4 and circle.max() < coin + near and line.max() < solved)


@claim("matrices", "The output of token i is a weighted sum over the other tokens, j != i.", WRONG, THREE)
def without_itself():
    q = torch.randn(5, 4)
    usual = torch.nn.functional.scaled_dot_product_attention(q[None], q[None], q[None])[0]
    with_self, others = attention(q, q, q)[0], attention(q, q, q, mask=~torch.eye(5, dtype=torch.bool))[0]
    alone = torch.full((1, 1), -math.inf).softmax(-1)
    return ("torch's attention includes j = i; leaving it out moves its outputs by up to "
            f"{(others - usual).abs().max():.2f}. And for a token alone the sum without itself needs a softmax over "
            f"nothing: {float(alone)}.",
            torch.allclose(usual, with_self, atol=1e-6) and not torch.allclose(usual, others, atol=0.1)
            and alone.isnan().all())


@claim("matrices", "A token attends most to itself, since nothing is more like it.", SETTINGS, THREE)
def looks_at_itself():
    x, W_Q, W_K = torch.randn(1000, 16, 64), *torch.randn(2, 1000, 64, 8)
    one, two = (((x @ W_Q) @ (x @ W).mT).argmax(-1).eq(torch.arange(16)).double().mean() for W in (W_Q, W_K))
    anywhere, among_words = real_heads().tops.itself.mean(), real_heads().own.largest.mean()
    return (f"With one matrix for query and key and d_k = 8: {one:.0%} of 16 random tokens score highest with "
            f"themselves. With two: {two:.0%}. In 72 trained heads {anywhere:.0%} of the tokens look most at "
            f"themselves, {among_words:.0%} if only words count.",
            one > 0.7 and two < 0.1 and anywhere < among_words < 0.5)


@claim("matrices", "W_Q W_K^T has rank d_k at most.", RIGHT, THREE)
def rank():
    layer = MultiHeadAttention(96, 6).double()
    ranks = {int(torch.linalg.matrix_rank(layer.qk(i))) for i in range(6)}
    return (f"Six heads of d_k = {layer.d_k} in a layer 96 wide: each product is {tuple(layer.qk(0).shape)} and has "
            f"rank {', '.join(map(str, ranks))}.",
            ranks == {layer.d_k})


@claim("matrices", "A narrow head can make simple patterns only, because of that rank.", SIZES, SEVEN)
def narrow_patterns():
    order = torch.randperm(8)
    right = {d_k: fit_pattern(torch.eye(8)[order], d_k).argmax(-1).eq(order).sum(-1) for d_k in (1, 2)}
    shared = (torch.eye(8).roll(1, 1) + torch.eye(8).roll(3, 1)) / 2
    kl = {d_k: torch.where(shared > 0, shared * (shared / fit_pattern(shared, d_k)).log(), 0).sum(-1).mean(-1)
          for d_k in (2, 3)}
    return ("Eight tokens with free queries and keys, each to look at one, no two at the same. d_k = 1: "
            f"{right[1].max()} of 8 look at the right one at best, in {len(right[1])} runs. d_k = 2: {right[2].min()} "
            "of 8 at worst: keys on a ring can all win, as clearly as one likes. Not so where each looks at two, half "
            "and half, the next and the third after it: d_k = 2 stays above 0.1 nats in all runs, d_k = 3 ends below "
            "0.01 in the best.",
            right[1].max() == 2 and right[2].min() == 8 and kl[2].min() > 0.1 and kl[3].min() < 0.01)


@claim("matrices", "Two matrices, and so asymmetry, let a head tell subject from object.", SETTINGS, THREE)
def subject_and_object():
    head, words, places = AsymmetricHead(8, 4).double(), torch.randn(3, 8).double(), torch.randn(3, 8).double()
    def bites(order, places, mask):
        return head(words[order] + places, mask=mask)[0][1]
    cases = (0, None), (places, None), (0, masks.causal(3))
    same, apart, causal = ((bites([0, 1, 2], *case) - bites([2, 1, 0], *case)).abs().max() for case in cases)
    return ("Only with positions, or a mask that tells places apart, such as a causal one. \"Dog bites man\" and \"man "
            f"bites dog\": the vector of \"bites\" moves by {apart:.2f} with positions, by {causal:.2f} with a causal "
            f"mask, and by less than {ROUNDING:.0e} without either. Without either, a head sees a set.",
            same < ROUNDING and min(apart, causal) > 0.01)


@claim("matrices", "Query and key must be made by different matrices.", SOME, EIGHT)
def two_matrices():
    stored = real_heads()
    same, one, learned, none = (stored.surgeries[name].cosine for name in (
        "W_Q in both", "one matrix", "learned matrix", "no heads"))
    head, before = number_of("0.2"), stored.before_learned
    trained, with_one, with_two = before.trained[head], before.one[head], before.two[head]
    by_heart = TOKEN_BEFORE["one, 600 steps"][0]
    return ("Two, in a trained model, may be made one, if the one is chosen well. Its sentence vectors keep a cosine "
            f"of {same:.2f} with W_Q in both places, {one:.2f} with the nearest matrix, {learned:.2f} with one that is "
            f"learned from the heads' weights; with no heads {none:.2f}. What is lost shows in some heads: 0.2 gave "
            f"the token before {trained:.2f}, and then {with_one:.2f} (two learned in the same way: {with_two:.2f}) on "
            f"fresh sentences. With more steps, one gives it {by_heart:.2f} on those it learned from: by heart.",
            max(same, one) < none < learned - 0.2 and with_one < with_two - 0.2)


# --- Value -----------------------------------------------------------------------------------------------------------

@claim("values",
       '"As the simple weighted sum of the input vectors, this output doesn\'t have much flexibility for expression"',
       RIGHT, FOUR)
def hull():
    x = torch.randn(4, 8)
    outs = torch.stack([AsymmetricHead(8, 4)(10 * x)[0] / 10 for _ in range(500)])  # (500, 4, 8); 10: sharp weights
    inside = ((outs <= x.amax(0) + 1e-5) & (outs >= x.amin(0) - 1e-5)).all()
    return (f"It never leaves the hull of its inputs. First coordinate: inputs {row(x[:, 0], 2)}, outputs of 500 "
            f"random heads from {outs[..., 0].min():.2f} to {outs[..., 0].max():.2f}.",
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
    return (f"Not for one head: a matrix after the mixture does the same, to {ROUNDING:.0e}. Two heads that carry the "
            "tokens themselves into one matrix hand on a sum: of two contents in the same coordinates, "
            f"{lost:.2f} of the variance is lost. There each head needs a map of its own.",
            gap < ROUNDING and (lost - 0.5).abs() < 0.02)


@claim("values",
       'W_V pushes forward "the fact that we are using the token \'deposit\' with its verb sense".', SETTINGS, FOUR)
def verb_sense():
    x = torch.randn(5, 12, requires_grad=True)
    slope, = torch.autograd.grad(Head(12, 4).W_V(x)[2].sum(), x)
    seen = slope.abs().sum(-1).gt(0).nonzero().flatten().tolist()
    return (f"If the token's vector says so already. Value 2 of 5 depends on tokens {seen} and no other: W_V is one "
            "map for all, and cannot see the sentence.",
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
    return (f"One sentence alone: {alone:.0f} of the weight is on padding. Four sentences of four places: torch takes "
            f"(batch, length) for (queries, keys), in silence, and a row puts {leaked:.2f} of its weight on padding. "
            f"With shape (batch, 1, 1, length) it is {held:.0f}.",
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
    return (f"In float32, for rows that may see something. One that may see nothing becomes {row(wide[0], 2)}: "
            f"what is hidden is read. In float16 masked_fill refuses the number; added, it is {added.max():.0f} in "
            f"silence, and a row that sees nothing is {row(half[0], 2)}.",
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
    return (f"Scores to minus infinity, before the softmax: then {int((before > 0).sum())} of {len(before)} hidden "
            f"pairs leak. With weights set to zero after it {int((after > 0).sum())} do: what is hidden still took "
            "its share. What is missing is a division: each row by its new sum, and the outputs are the masked ones, "
            f"to {ROUNDING:.0e}.",
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
    return ("torch says both. With True for the last of tokens 0 to 4 and False for the others, an output of "
            f"nn.MultiheadAttention depends on {layers}, and one of scaled_dot_product_attention on {kernels}.",
            (layers, kernels) == ([0, 1, 2, 3], [4]))


@claim("masks", '"cat\'s output considers all words"', SETTINGS, FIVE)
def all_words():
    x = torch.randn(6, 8)
    encoder, decoder = (attention(x, x, x, causal=causal, need_weights=True)[1][1].gt(0).sum()
                        for causal in (False, True))
    return ("In an encoder, as its section says. Of \"The cat sat on the mat\", \"cat\" gives weight to "
            f"{encoder} words there, and to {decoder} in a model that writes.",
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
    return ("In scaled_dot_product_attention one that says no for yes gives shape "
            f"{tuple(shipped(x).shape)} and finite numbers; a softmax by hand gives {blind[0]:.0f} in the last row. "
            f"Change the last word: of the 5 outputs before it, which must not move, {int((moved > 0).sum())} do, by "
            f"up to {moved.max():.2f}.",
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
    return (f"One sentence alone: {alone:.0f} of the weight is on padding. With as many sentences as heads, torch "
            "takes the first axis for the heads, in silence, and a row puts "
            f"{leaked:.2f} of its weight on padding. With shape (batch, 1, queries, keys) it is {held:.0f}, with 2 "
            f"sentences and 8 heads {answer}.", leaked > 0.5 and held == alone == 0 and answer == "an error")
