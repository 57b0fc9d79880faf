"""Claims about heads that share keys and values, about latents in their place, and about what decoding keeps."""
from itertools import permutations

import torch
import torch.nn.functional as F

from mha import MultiHeadAttention, MultiHeadLatentAttention, merge_heads
from mha.lab.folklore.claim import READING, ROUNDING, SETTINGS, SIZES, claim, row
from mha.position import rope

ELEVEN = "11_sharing_heads"
V2 = {"d_model": 5120, "num_heads": 128, "d_k": 128, "device": "meta"}  # DeepSeek-V2, as its code is configured


# --- Sharing ----------------------------------------------------------------------------------------------------------

def padded(Q):
    """Queries (h, n, d) for one key that is all keys side by side: each with zeros where the others' keys stand."""
    h, n, d = Q.shape
    return torch.stack([F.pad(q, (i * d, (h - 1 - i) * d)) for i, q in enumerate(Q)])  # (h, n, h d)


def serves(order, mark):
    """Whether keys of one number, in this order, let a query for either value of a mark prefer it."""
    return order[0][mark] == order[1][mark] != order[2][mark] == order[3][mark]


@claim("sharing", '"at the cost of each head\'s specialization", of one key and one value for all heads.', SIZES,
       ELEVEN)
def specialization():
    Q, K = torch.randn(2, 4, 32, 5).double()
    top = (Q @ K[0].T).argmax(-1)  # (4 heads, 32 queries), on one key
    apart = sum(len(set(column)) > 1 for column in top.T.tolist())
    gap = (padded(Q) @ merge_heads(K).T - Q @ K.mT).abs().max()
    orders = list(permutations([(0, 0), (0, 1), (1, 0), (1, 1)]))
    one, both = (sum(all(serves(order, mark) for mark in marks) for order in orders) for marks in ((0,), (0, 1)))
    return ("Queries stay private: on one key of 5 coordinates four heads disagree about the best of 32 tokens in "
            f"{apart} of 32 rows. Without rotary positions one key of 20 does what four of 5 do, to {ROUNDING:.0e}. "
            "A narrow key lacks room: one coordinate puts the four tokens of two yes-or-no properties in an order, "
            f"and of {len(orders)} orders {one} set one property's yes apart from its no, and {both} do so for both.",
            gap < ROUNDING and apart > 16 and one > both == 0)


def kept(layer):
    """How many numbers a layer keeps of a token."""
    return layer.new_cache(1, 1).per_token


def parameters(layer):
    """How many numbers are in its matrices."""
    return sum(p.numel() for p in layer.parameters())


def unread(g, d_v=4, numbers=16):
    """The share of a token's independent numbers that g values of d_v numbers, drawn at random, do not tell."""
    return 1 - torch.linalg.matrix_rank(torch.randn(numbers, g * d_v).double()) / numbers


@claim("sharing", '"cutting memory and compute without sacrificing quality", of grouped-query attention.', SETTINGS,
       ELEVEN)
def without_sacrifice():
    private, shared = (MultiHeadAttention(4096, 32, num_kv_heads=g, bias=False, device="meta") for g in (32, 8))
    parts, memory = (count(private) / count(shared) for count in (parameters, kept))  # widths of Llama 3 8B
    scores = MultiHeadAttention(48, 6, num_kv_heads=2)(torch.randn(7, 48), need_weights=True)[1].shape
    lost = torch.stack([unread(g) for g in (4, 2, 1)])
    return (f"With 8 KV heads for 32 query heads the cache is {memory:.0f} times smaller, but of the compute only the "
            f"projections shrink, {parts:.1f} times, because every query head keeps its scores. Quality depends on "
            "the task: where four heads want 16 independent numbers, 4, 2 and 1 KV heads of width 4 leave "
            f"{row(lost, 2)} unread, unless the attention weights carry it.",
            memory == 4 and scores == (6, 7, 7) and lost.tolist() == [0, 0.5, 0.75])


# --- A latent for keys and values -------------------------------------------------------------------------------------

@claim("sharing", '"smaller than MQA", of what multi-head latent attention (MLA) keeps.', SIZES, ELEVEN)
def smaller_cache():
    latent, private, one = (kept(layer) for layer in (
        MultiHeadLatentAttention(d_c=512, d_r=64, **V2), MultiHeadAttention(**V2),
        MultiHeadAttention(num_kv_heads=1, **V2)))
    return (f"In DeepSeek-V2 it is larger: MLA caches {latent} numbers for each token and layer, one KV head of width "
            f"{V2['d_k']} would cache {one}, and {V2['num_heads']} of them {private:,}. It is smaller only where the "
            "latent and its rotated key are together narrower than one key and one value.",
            (latent, one, private) == (576, 256, 32768))


def as_latent(layer):
    """A layer of shared heads as latent attention: c is all keys and values of a token, of which each head takes its.

    The layer has no biases, and d_v = d_k.
    """
    h, g, d = layer.num_heads, layer.num_kv_heads, layer.d_k
    latent = MultiHeadLatentAttention(layer.d_model, h, d_c=2 * g * d, d_k=d, causal=layer.causal).double()
    takes = torch.eye(g * d).double().view(g, d, g * d).repeat_interleave(h // g, 0).flatten(0, 1)  # (h d, g d)
    weights = {"W_Q": layer.W_Q.weight, "W_O": layer.W_O.weight,
               "W_DKV": torch.cat([layer.W_K.weight, layer.W_V.weight]),
               "W_UK": torch.cat([takes, 0 * takes], 1), "W_UV": torch.cat([0 * takes, takes], 1)}
    latent.load_state_dict({f"{name}.weight": weight.detach() for name, weight in weights.items()})
    return latent


@claim("sharing", '"the approximation error is acceptable", of MLA.', SETTINGS, ELEVEN)
def approximation():
    shared, private = (MultiHeadAttention(48, 6, num_kv_heads=g, bias=False, causal=True).double() for g in (2, 6))
    x, exact, narrow = torch.randn(9, 48).double(), as_latent(shared), as_latent(private)
    U, S, V = torch.linalg.svd(narrow.W_DKV.weight.detach(), full_matrices=False)  # (96, 48), (48,), (48, 48)
    narrow.W_DKV.weight.data = U[:, :32] * S[:32] @ V[:32]  # what a latent of 32 numbers can hold of it
    gap = (exact(x)[0] - shared(x)[0]).abs().max()
    lost = (narrow(x)[0] - private(x)[0]).square().mean() / private(x)[0].square().mean()
    return ("Trained as MLA it approximates nothing, and without rotary positions and biases it can equal GQA: 6 heads "
            f"with 2 KV heads, {kept(shared)} numbers a token, are a latent of {kept(exact)}, to {ROUNDING:.0e}. "
            "Compression afterwards does cost: the best 32 numbers for the keys and values of 6 random heads leave a "
            f"squared error of {lost:.2f} of the output's mean square.",
            gap < ROUNDING and kept(exact) == kept(shared) and lost > 0.01)


def needed(layer, turns):
    """The dimension of what the matrices W_Q R W_UK^T of head 0 span, which an absorbed one replaces."""
    W_Q, W_UK = (W.weight[:layer.d_k].T for W in (layer.W_Q, layer.W_UK))  # (d_model, d_k), (d_c, d_k)
    return int(torch.linalg.matrix_rank(torch.stack([(W_Q @ R @ W_UK.T).flatten() for R in turns])))


@claim("sharing", 'W_UK can be absorbed into W_Q, the "Query projection, after applying RoPE".', SETTINGS, ELEVEN)
def absorption():
    layer, x = MultiHeadLatentAttention(32, 4, d_c=12).double(), torch.randn(7, 32).double()
    turns = [rope(torch.eye(8).double(), torch.full((8,), t)) for t in range(40)]  # the first is no turn
    one, all_of_them, written = needed(layer, turns[:1]), needed(layer, turns), layer(x)[0]
    layer.absorbed = True
    gap = (layer(x)[0] - written).abs().max()
    layer.W_Q.weight.data *= (8 / 12) ** 0.5  # what the scale 1 / sqrt(d_c) would make of the scores
    moved = (layer(x)[0] - written).abs().max()
    return (f"It can if no rotation stands between the two: then the outputs agree to {ROUNDING:.0e}, if scores are "
            "still divided by the root of the heads' width. With RoPE between them no one matrix will do, because "
            f"those of 40 offsets span {all_of_them} dimensions, d_k, and without a rotation {one}; so MLA rotates one "
            "extra key that all heads share.",
            gap < ROUNDING < 0.001 < moved and (one, all_of_them) == (1, 8))


# --- The cache --------------------------------------------------------------------------------------------------------

def decoded(layer, x):
    """What comes out of a layer token by token, with a cache: (1, n, d_model). And how many scores a head computed."""
    cache = layer.new_cache(1, x.shape[1])
    outs, weights = zip(*(layer(token, cache=cache, need_weights=True) for token in x.split(1, dim=1)))
    return torch.cat(outs, 1), sum(w[0, 0].numel() for w in weights)


@claim("sharing", '"a per-sequence cost of" O(T^2 d) without a cache; "With KV caching, we reuse stored K,V, so cost '
       'drops to" O(T d).', READING, ELEVEN)
def linear_decoding():
    layer, lengths = MultiHeadAttention(8, 1, causal=True), (64, 128)
    with torch.inference_mode():
        short, long = (decoded(layer, torch.randn(1, n, 8))[1] for n in lengths)
    anew, slow = sum(range(lengths[1] + 1)), [sum(i * i for i in range(n + 1)) for n in lengths]
    return (f"Making keys and values is linear: {lengths[1]} keys for {lengths[1]} tokens, in place of {anew:,}. A "
            f"head's scores for a whole text are not: {long:,} for {lengths[1]} tokens are {long / short:.1f} times "
            f"as many as for {lengths[0]}, where without a cache they are {slow[1] / slow[0]:.1f} times as many.",
            3.9 < long / short < 4 and 7.8 < slow[1] / slow[0] < 8 and short == 64 * 65 / 2)


@claim("sharing", '"exactly the same tokens as generating without it — bit-for-bit", of a cache.', READING, ELEVEN)
def to_the_bit():
    gaps, equal, bounds = [], [], (1e-12, 1e-5)
    for dtype in (torch.float64, torch.float32):
        layer, x = MultiHeadAttention(64, 8, causal=True, dtype=dtype), torch.randn(1, 50, 64, dtype=dtype)
        with torch.inference_mode():
            full, one_by_one = layer(x, need_weights=True)[0], decoded(layer, x)[0]
        gaps.append((full - one_by_one).abs().max())
        equal.append((full == one_by_one).double().mean())
    return ("In exact arithmetic it is so. On a computer sums run in another order: a layer's outputs for 50 tokens "
            f"agree to {bounds[0]:.0e} in float64 and to {bounds[1]:.0e} in float32, and less than half are equal bit "
            "for bit; Chodavarapu and Xu (2026) report that in float16 three models write other texts with a cache "
            "than without.",
            all(gap < bound for gap, bound in zip(gaps, bounds)) and max(equal) < 0.5)
