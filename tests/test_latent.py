"""mha.latent: both ways to compute it, the loop over its formulas, and its cache give the same numbers."""
import copy

import pytest
import torch
from torch import nn

from mha import MultiHeadAttention, MultiHeadLatentAttention
from mha.position import rope
from support import ROADS, close, needs_compiler, nothing_leaks, refused, tokens

B, N, D, H, D_C, D_K, D_V, D_R, ROOM = 2, 7, 13, 3, 11, 5, 19, 4, 17
LENGTHS = [2, 5]
FORMS = pytest.mark.parametrize("absorbed", [False, True], ids=["expanded", "absorbed"])
TURNED = pytest.mark.parametrize("d_r", [0, D_R])


def latent(d_r=D_R, **options):
    return MultiHeadLatentAttention(D, H, d_c=D_C, d_k=D_K, d_v=D_V, d_r=d_r, base=37.0,
                                    **{"dtype": torch.float64, **options})


def masks_of(kind):
    return {"none": None, "two_axes": torch.rand(N, N) > 0.4, "four_axes": torch.rand(B, H, N, N) > 0.4}[kind]


# --- The same function -----------------------------------------------------------------------------------------------

def by_the_formulas(layer, x, mask=None):
    """One sequence, head by head, from the class's own lines: rows times matrices, no function of attention."""
    n, d_r = len(x), layer.d_r
    W = {name: W.weight.T for name, W in layer.named_children() if isinstance(W, nn.Linear)}
    seen = torch.ones(n, n).tril().bool() if layer.causal else torch.ones(n, n).bool()
    c, places, outs, weights = x @ W["W_DKV"], torch.arange(n), [], []
    for i in range(layer.num_heads):
        keys, values = slice(i * layer.d_k, (i + 1) * layer.d_k), slice(i * layer.d_v, (i + 1) * layer.d_v)
        Q, K, V = x @ W["W_Q"][:, keys], c @ W["W_UK"][:, keys], c @ W["W_UV"][:, values]
        if d_r:
            Q = torch.cat([Q, rope(x @ W["W_QR"][:, i * d_r:(i + 1) * d_r], places, base=37.0)], 1)
            K = torch.cat([K, rope(x @ W["W_KR"], places, base=37.0)], 1)
        scores = Q @ K.T / (layer.d_k + d_r) ** 0.5
        mine = seen if mask is None else seen & mask.expand(layer.num_heads, n, n)[i]
        weights.append(scores.masked_fill(~mine, -torch.inf).softmax(-1).nan_to_num(0.0))
        outs.append(weights[-1] @ V)
    return torch.cat(outs, 1) @ W["W_O"], torch.stack(weights)


@FORMS
@TURNED
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "two_axes", "four_axes"])
@ROADS
def test_it_is_the_formulas_head_by_head(absorbed, d_r, causal, mask, need_weights):
    layer, x, mask = latent(d_r, causal=causal, absorbed=absorbed), tokens(B, N, D), masks_of(mask)
    out, weights = layer(x, mask=mask, need_weights=need_weights)
    for b in range(B):
        expected, its_weights = by_the_formulas(layer, x[b], mask if mask is None or mask.ndim == 2 else mask[b])
        close(out[b], expected)
        if need_weights:
            close(weights[b], its_weights)


@TURNED
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "four_axes"])
@ROADS
def test_absorbed_equals_expanded_in_outputs_weights_and_gradients(d_r, causal, mask, need_weights):
    layer, x, mask = latent(d_r, causal=causal), tokens(B, N, D).requires_grad_(), masks_of(mask)
    upstream, found = tokens(B, N, D), []
    for layer.absorbed in (False, True):
        out, weights = layer(x, mask=mask, need_weights=need_weights)
        found.append((out, weights, torch.autograd.grad(out, (x, *layer.parameters()), upstream)))
    (out, weights, gradients), (other, other_weights, other_gradients) = found
    close((out, gradients), (other, other_gradients), 1e-11)
    if need_weights:
        close(weights, other_weights)
    assert all(gradient.any() for gradient in gradients)


def test_grouped_heads_are_a_case_of_it():
    """A latent that holds the keys and values of all groups, from which each head takes its group's."""
    h, groups, d_k, d_v = 6, 3, 5, 7
    grouped = MultiHeadAttention(D, h, num_kv_heads=groups, d_k=d_k, d_v=d_v, bias=False, causal=True,
                                 dtype=torch.float64)
    layer = MultiHeadLatentAttention(D, h, d_c=groups * (d_k + d_v), d_k=d_k, d_v=d_v, causal=True,
                                     dtype=torch.float64)
    with torch.no_grad():
        layer.W_Q.weight.copy_(grouped.W_Q.weight), layer.W_O.weight.copy_(grouped.W_O.weight)
        layer.W_DKV.weight.copy_(torch.cat([grouped.W_K.weight, grouped.W_V.weight]))
        layer.W_UK.weight.zero_(), layer.W_UV.weight.zero_()
        for i in range(h):
            group = i // (h // groups)
            for row in range(d_k):
                layer.W_UK.weight[i * d_k + row, group * d_k + row] = 1
            for row in range(d_v):
                layer.W_UV.weight[i * d_v + row, groups * d_k + group * d_v + row] = 1
    x = tokens(B, N, D)
    for layer.absorbed in (False, True):
        close(layer(x, need_weights=True), grouped(x, need_weights=True))


# --- Properties ------------------------------------------------------------------------------------------------------

@FORMS
@TURNED
@ROADS
def test_nothing_leaks_from_the_future_of_a_causal_layer(absorbed, d_r, need_weights):
    layer = latent(d_r, causal=True, absorbed=absorbed)
    assert nothing_leaks(lambda x: layer(x, need_weights=need_weights)[0], tokens(N, D))


@FORMS
def test_without_a_turned_part_shuffled_tokens_give_shuffled_outputs(absorbed):
    x, order = tokens(B, N, D), torch.tensor([3, 0, 6, 1, 5, 2, 4])
    layer, turned = latent(0, absorbed=absorbed), latent(absorbed=absorbed)
    close(layer(x[:, order])[0], layer(x)[0][:, order])
    assert not torch.allclose(turned(x[:, order])[0], turned(x)[0][:, order])


@FORMS
@TURNED
def test_any_batch_axes_will_do(absorbed, d_r):
    layer, x = latent(d_r, absorbed=absorbed, causal=True), tokens(2, 3, N, D)
    out, weights = layer(x, need_weights=True)
    close((out[1, 2], weights[1, 2]), layer(x[1, 2], need_weights=True))
    assert weights.shape == (2, 3, H, N, N)


@FORMS
@TURNED
@pytest.mark.parametrize("batch,n", [(B, 0), (0, N)])
def test_nothing_in_gives_nothing_out(absorbed, d_r, batch, n):
    out, weights = latent(d_r, absorbed=absorbed)(tokens(batch, n, D), need_weights=True)
    assert out.shape == (batch, n, D) and weights.shape == (batch, H, n, n)


@FORMS
def test_dropout_acts_in_training_only(absorbed):
    layer, x = latent(dropout=0.5, absorbed=absorbed), tokens(B, N, D)
    assert not torch.equal(layer(x)[0], layer(x)[0])
    layer.eval()
    assert torch.equal(layer(x)[0], layer(x)[0])
    close(layer(x, need_weights=True)[1].sum(-1), torch.ones(B, H, N, dtype=torch.float64))


@FORMS
@TURNED
def test_gradients_are_those_of_finite_differences_twice(absorbed, d_r):
    layer = MultiHeadLatentAttention(4, 2, d_c=3, d_r=d_r, causal=True, absorbed=absorbed, dtype=torch.float64)
    x = tokens(3, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: layer(t)[0], x)
    assert torch.autograd.gradgradcheck(lambda t: layer(t, need_weights=True)[0], x)


@FORMS
@TURNED
def test_half_of_the_heads_each_add_up_to_the_whole(absorbed, d_r):
    """Column-parallel: every projection to or from heads is cut, num_heads still says h."""
    layer = MultiHeadLatentAttention(D, 4, d_c=D_C, d_k=D_K, d_v=D_V, d_r=d_r, absorbed=absorbed, dtype=torch.float64)
    x, total = tokens(B, N, D), 0
    for half in (0, 1):
        part = copy.deepcopy(layer)
        for name in ("W_Q", "W_UK", "W_UV", "W_QR") if d_r else ("W_Q", "W_UK", "W_UV"):
            part.get_submodule(name).weight = nn.Parameter(layer.get_submodule(name).weight.chunk(2)[half])
        part.W_O.weight = nn.Parameter(layer.W_O.weight.chunk(2, 1)[half])
        total = total + part(x)[0]
    close(total, layer(x)[0])


def test_its_weights_start_as_those_of_multi_head_attention():
    """The same rule for each matrix from tokens: that of an ordinary layer whose matrix is of that size."""
    layer, ordinary = MultiHeadLatentAttention(64, 4, d_c=48, d_r=8), MultiHeadAttention(64, 4)
    spreads = [(layer.W_O.weight.std(), ordinary.W_O.weight.std())]
    sizes = {"W_Q": (64, 16), "W_DKV": (48, 12), "W_QR": (32, 8), "W_KR": (8, 2)}  # four heads of d_k numbers
    for name, (d_out, d_k) in sizes.items():
        alike = MultiHeadAttention(64, 4, d_k=d_k).W_Q.weight
        weight = layer.get_submodule(name).weight
        assert weight.shape == alike.shape == (d_out, 64)
        spreads.append((weight.std(), alike.std()))
    spreads += [(W.weight.std(), (2 / (48 + 64)) ** 0.5) for W in (layer.W_UK, layer.W_UV)]
    for ours, expected in spreads:
        assert abs(ours / expected - 1) < 0.1


# --- What decoding keeps ---------------------------------------------------------------------------------------------

@TURNED
def test_a_token_leaves_its_latent_and_its_turned_key_behind(d_r):
    layer = latent(d_r, causal=True)
    cache, x = layer.new_cache(B, ROOM), tokens(B, N, D)
    assert cache.K[0, :, 0].numel() + cache.V[0, :, 0].numel() == cache.per_token == D_C + d_r
    assert cache.K.dtype == torch.float64
    with torch.no_grad():
        layer(x, cache=cache)
        c, r = cache.K[:, 0, :N].split([D_C, d_r], -1)
        close(c, layer.W_DKV(x))
        if d_r:
            close(r, rope(layer.W_KR(x), torch.arange(N), base=37.0))


@FORMS
@TURNED
@pytest.mark.parametrize("pieces", [(7,), (3, 4), 7 * (1,)], ids=str)
@ROADS
@torch.no_grad()
def test_pieces_give_what_the_whole_text_gives(absorbed, d_r, pieces, need_weights):
    layer, x, mask = latent(d_r, causal=True, absorbed=absorbed), tokens(B, N, D), torch.rand(N, N) > 0.3
    cache, outs = layer.new_cache(B, ROOM), []
    cache.K.fill_(1e9), cache.V.fill_(-1e9)
    for piece in x.split(pieces, 1):
        start, end = cache.filled, cache.filled + piece.shape[1]
        out, weights = layer(piece, mask=mask[start:end, :end], cache=cache, need_weights=need_weights)
        outs.append(out)
    whole, all_weights = layer(x, mask=mask, need_weights=True)
    close(torch.cat(outs, 1), whole)
    if need_weights:
        close(weights, all_weights[:, :, -pieces[-1]:])


@TURNED
@torch.no_grad()
def test_each_sequence_goes_on_from_its_own_length_in_either_form(d_r):
    layer, x, new = latent(d_r, causal=True), tokens(B, 5, D), tokens(B, 3, D)
    cache, outs = layer.new_cache(B, ROOM), []
    x[0, 2:] *= 1000
    layer(x, cache=cache)
    cache.crop(LENGTHS)
    for step, layer.absorbed in zip(new.split(1, 1), (True, False, True)):
        outs.append(layer(step, cache=cache)[0])
    for b, length in enumerate(LENGTHS):
        close(torch.cat(outs, 1)[b], layer(torch.cat([x[b, :length], new[b]]))[0][length:])


@torch.no_grad()
def test_what_is_refused_leaves_the_cache_as_it_was():
    layer, x = latent(causal=True), tokens(B, N, D)
    cache = layer.new_cache(B, N + 1)
    layer(x[:, :5], cache=cache)
    for call in (lambda: layer(x, cache=cache), lambda: layer(x[:1, 5:], cache=cache),
                 lambda: layer(x[:, 5:], cache=cache, mask=torch.ones(3, 3).bool())):
        with pytest.raises(ValueError):
            call()
    assert cache.length == cache.filled == 5
    close(layer(x[:, 5:], cache=cache)[0], layer(x)[0][:, 5:])


# --- Number formats, compilers ---------------------------------------------------------------------------------------

@FORMS
@TURNED
@pytest.mark.parametrize("dtype,tolerance", [(torch.float32, 1e-5), (torch.float16, 3e-3), (torch.bfloat16, 3e-2)])
def test_lower_precision_is_close_to_float64(absorbed, d_r, dtype, tolerance):
    layer, x = latent(d_r, causal=True, absorbed=absorbed), tokens(B, N, D)
    exact, out = layer(x)[0], layer.to(dtype)(x.to(dtype))[0]
    assert out.dtype == dtype
    close(out.double(), exact, tolerance)


@FORMS
@TURNED
def test_autocast_lowers_the_precision_with_a_cache_too(absorbed, d_r):
    layer, x = latent(d_r, causal=True, absorbed=absorbed, dtype=torch.float32), torch.randn(B, N, D)
    cache = copy.deepcopy(layer).bfloat16().new_cache(B, ROOM)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        out, weights = layer(x, need_weights=True)
        cached = layer(x, cache=cache)[0]
    assert out.dtype == weights.dtype == cached.dtype == torch.bfloat16
    close((out.float(), cached.float()), (layer(x)[0],) * 2, 3e-2)


@needs_compiler
def test_the_compiled_layer_gives_the_same_numbers_with_a_cache_too():
    layer, x = latent(causal=True, dtype=torch.float32), torch.randn(B, N, D)
    for absorbed in (False, True):
        layer.absorbed = absorbed
        close(torch.compile(layer, fullgraph=True, backend="aot_eager")(x)[0], layer(x)[0], 1e-5)
    cache, whole = layer.new_cache(B, ROOM), layer(x)[0]
    step = torch.compile(lambda x, cache: layer(x, cache=cache)[0], fullgraph=True)
    with torch.no_grad():
        close(torch.cat([step(token, cache) for token in x.split(1, 1)], 1), whole, 1e-5)


# --- Errors ----------------------------------------------------------------------------------------------------------

X = torch.zeros(B, N, D)


def layer(**options):
    return latent(**{"dtype": torch.float32, **options})


@FORMS
def test_a_copy_and_a_loaded_state_give_the_same_numbers(absorbed):
    layer, x, fresh = latent(absorbed=absorbed), tokens(B, N, D), latent(absorbed=absorbed)
    fresh.load_state_dict(layer.state_dict())
    for other in (fresh, copy.deepcopy(layer)):
        assert torch.equal(other(x)[0], layer(x)[0])


ERRORS = {
    "d_c": (lambda: MultiHeadLatentAttention(12, H, d_c=0), ValueError, "d_c=0 must be a positive whole number"),
    "indivisible": (lambda: MultiHeadLatentAttention(13, H, d_c=5), ValueError, "d_model=13 does not divide"),
    "d_v": (lambda: MultiHeadLatentAttention(12, H, d_c=5, d_v=0), ValueError, "d_v=0"),
    "d_r_odd": (lambda: layer(d_r=3), ValueError, "d_r=3 must be even"),
    "d_r_float": (lambda: layer(d_r=2.0), TypeError, "d_r=2.0 is a float"),
    "base": (lambda: MultiHeadLatentAttention(12, H, d_c=5, d_r=2, base=0.0), ValueError, "base=0.0 must be above 0"),
    "absorbed": (lambda: layer(absorbed="yes"), TypeError, "absorbed is 'yes'; it must be True or False"),
    "dropout": (lambda: layer(dropout=2.0), ValueError, "dropout=2.0 is no probability"),
    "dtype": (lambda: layer(dtype=torch.int64), TypeError, "dtype=torch.int64 must be a floating-point torch.dtype"),
    "d_model": (lambda: layer()(X[..., :5]), ValueError, "last size is 5.*d_model=13"),
    "mask": (lambda: layer()(X, mask=torch.ones(N, 2).bool()), ValueError, "mask has shape"),
    "not_causal": (lambda: layer()(X, cache=layer().new_cache(B, N)), ValueError, "needs a layer with causal=True"),
    "gradients": (lambda: layer(causal=True)(X, cache=layer().new_cache(B, N)), ValueError, "keeps no gradients"),
    "others_cache": (lambda: layer(causal=True)(X, cache=MultiHeadAttention(12, H).new_cache(B, N)), ValueError,
                     r"this cache keeps 2 sequences of 3 heads of size 4.*layer.new_cache\(2, 7\)"),
}


test_wrong_input_gets_a_sentence_that_helps = refused(ERRORS)
