"""mha.cache: a layer that keeps keys and values gives what it gives without, whatever the pieces."""
import copy
import gc
import pickle

import pytest
import torch

from mha import KVCache, MultiHeadAttention, MultiHeadLatentAttention, MultiHeadLoop, masks, pick_device
from mha.position import Rope, alibi_bias
from support import ROADS, close, needs_gpu, refused, tokens

B, N, D, H, H_KV, D_K, D_V, ROOM = 3, 11, 13, 6, 2, 4, 5, 17
LENGTHS = [2, 7, 5]
PIECES = {"at_once": (11,), "in_two": (7, 4), "in_four": (2, 3, 5, 1), "one_by_one": 11 * (1,),
          "some_empty": (0, 9, 0, 2)}
SEATS = pytest.mark.parametrize("on_qk", [None, Rope()], ids=["plain", "rope"])


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


def latent_layer(**options):
    return MultiHeadLatentAttention(D, H, d_k=D_K, d_c=5, d_r=2, causal=True, dtype=torch.float64, **options)


def causal_layer(num_kv_heads=H_KV, **options):
    layer = MultiHeadAttention(D, H, num_kv_heads=num_kv_heads, d_k=D_K, d_v=D_V, causal=True, dtype=torch.float64,
                               **options)
    for W in (layer.W_Q, layer.W_K, layer.W_V, layer.W_O):
        torch.nn.init.normal_(W.bias)
    return layer


def fed(layer, x, pieces, cache, of_pair=None, **options):
    """The outputs of all pieces side by side, and each piece's weights. of_pair: (name, mask or bias of the whole)."""
    outs, weights, start = [], [], cache.filled
    for piece in x.split(pieces, 1):
        end = start + piece.shape[1]
        more = {of_pair[0]: of_pair[1][..., start:end, :end]} if of_pair else {}
        out, w = layer(piece, cache=cache, **more, **options)
        outs.append(out), weights.append(w)
        start = end
    return torch.cat(outs, 1), weights


def padded(layer, cache):
    """Fill a cache with texts of LENGTHS tokens, and forget the padding behind them, which is wild."""
    x = tokens(B, max(LENGTHS), D)
    for b, length in enumerate(LENGTHS):
        x[b, length:] *= 1000
    layer(x, cache=cache)
    cache.crop(LENGTHS)
    return x


# --- With a cache and without ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
@SEATS
@ROADS
def test_pieces_give_what_the_whole_text_gives(num_kv_heads, pieces, on_qk, need_weights):
    layer, x = causal_layer(num_kv_heads, on_qk=on_qk), tokens(B, N, D)
    whole, all_weights = layer(x, need_weights=True)
    cache = layer.new_cache(B, ROOM)
    out, weights = fed(layer, x, pieces, cache, need_weights=need_weights)
    close(out, whole)
    assert cache.length == cache.filled == N
    start = 0
    for n, w in zip(pieces, weights):
        if need_weights:
            close(w, all_weights[..., start:start + n, :start + n])
        else:
            assert w is None
        start += n


OPTIONS = {
    "window": lambda: ({"window": (2, 0)}, None),
    "window_of_nothing_to_the_left": lambda: ({"window": (0, None)}, None),
    "scale_and_softcap": lambda: ({"scale": 0.7, "softcap": 1.3}, None),
    "head_mask": lambda: ({"head_mask": torch.rand(B, H, dtype=torch.float64)}, None),
    "mask": lambda: ({}, ("mask", torch.rand(N, N) > 0.4)),
    "mask_of_each_head": lambda: ({}, ("mask", torch.rand(B, H, N, N) > 0.4)),
    "alibi": lambda: ({}, ("bias", alibi_bias(H, N)[None])),
    "bias_and_window": lambda: ({"window": (3, 0)}, ("bias", tokens(1, H, N, N))),
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("pieces", [PIECES["in_four"], PIECES["one_by_one"]], ids=["in_four", "one_by_one"])
@ROADS
def test_every_option_acts_as_on_the_whole_text(options, pieces, need_weights):
    options, of_pair = OPTIONS[options]()
    layer, x = causal_layer(on_qk=Rope()), tokens(B, N, D)
    whole = layer(x, **options, **({of_pair[0]: of_pair[1]} if of_pair else {}))[0]
    close(fed(layer, x, pieces, layer.new_cache(B, ROOM), of_pair, need_weights=need_weights, **options)[0], whole)


def test_what_stood_in_the_buffers_before_has_no_influence():
    layer, x = causal_layer(on_qk=Rope()), tokens(B, N, D)
    cache = layer.new_cache(B, ROOM)
    cache.K.fill_(1e9), cache.V.fill_(-1e9)
    close(fed(layer, x, PIECES["in_four"], cache)[0], layer(x)[0])


def test_inference_mode_and_no_grad_may_take_turns():
    layer, x = causal_layer(), tokens(B, N, D)
    cache, whole = layer.new_cache(B, ROOM), layer(x)[0]
    with torch.inference_mode():
        first = layer(x[:, :7], cache=cache)[0]
    close(torch.cat([first, layer(x[:, 7:], cache=cache)[0]], 1), whole)


@pytest.mark.parametrize("ragged", [True, False])
def test_a_cache_selected_in_inference_mode_serves_under_no_grad(ragged):
    cache, other = started(ragged), started(ragged)
    with torch.inference_mode():
        cache.select([1, 0])
    other.select([1, 0])
    close(LAYER(ONE[:2], cache=cache)[0], LAYER(ONE[:2], cache=other)[0])
    cache.crop(1), cache.select([0])
    assert repr(cache) == "KVCache(length=1 of 8, batch=1, num_kv_heads=2, d_k=4, d_v=5)"


def test_a_cache_made_in_inference_mode_serves_there():
    layer, x = causal_layer(on_qk=Rope()), tokens(B, N, D)
    with torch.inference_mode():
        cache = layer.new_cache(B, ROOM)
        close(fed(layer, x, PIECES["in_two"], cache)[0], layer(x)[0])
        cache.crop(LENGTHS)
        assert layer(x[:, :1], cache=cache)[0].isfinite().all()


def test_gradients_are_refused_and_a_frozen_layer_has_none():
    layer, x = causal_layer(), tokens(B, N, D)
    cache = layer.new_cache(B, ROOM)
    with torch.enable_grad():
        with pytest.raises(ValueError, match="keeps no gradients.*no_grad"):
            layer(x, cache=cache)
        assert cache.filled == 0 and not cache.K.any()
        close(layer.requires_grad_(False)(x, cache=cache)[0], layer(x)[0])


@pytest.mark.parametrize("make, learned", [
    (causal_layer, "W_Q"), (latent_layer, "W_Q"), (latent_layer, "W_UK"),
    (lambda: latent_layer(absorbed=True), "W_UK")])
def test_gradients_of_what_only_asks_the_cache_are_refused_too(make, learned):
    """They need keys that the next call writes over."""
    layer, x = make().requires_grad_(False), tokens(B, N, D)
    getattr(layer, learned).requires_grad_(True)
    cache = layer.new_cache(B, ROOM)
    with torch.enable_grad():
        with pytest.raises(ValueError, match="keeps no gradients.*no_grad"):
            layer(x, cache=cache)
        assert cache.filled == 0
        layer.requires_grad_(False).W_O.requires_grad_(True)           # what comes after the cache may learn
        assert layer(x, cache=cache)[0].requires_grad


def test_a_call_of_no_tokens_beside_one_that_is_kept_may_have_its_mask():
    layer, x = causal_layer(), tokens(B, N, D)
    cache = layer.new_cache(B, ROOM)
    layer(x[:, :1], cache=cache)
    assert layer(x[:, 1:1], cache=cache, mask=torch.ones(0, 1).bool())[0].shape == (B, 0, D)


@pytest.mark.parametrize("dtype,tolerance", [(torch.float16, 3e-3), (torch.bfloat16, 3e-2)])
def test_a_layer_of_16_bits_has_a_cache_of_16_bits(dtype, tolerance):
    layer, x = causal_layer(on_qk=Rope()), tokens(B, N, D)
    exact, layer = layer(x)[0], layer.to(dtype)
    cache = layer.new_cache(B, ROOM)
    out = fed(layer, x.to(dtype), PIECES["one_by_one"], cache)[0]
    assert out.dtype == cache.K.dtype == cache.V.dtype == dtype
    close(out.double(), exact, tolerance * 3)


def test_under_autocast_a_cache_of_the_lower_precision_serves():
    layer, x = causal_layer().float(), torch.randn(B, N, D)
    cache = KVCache(B, H_KV, ROOM, D_K, D_V, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        out = fed(layer, x, PIECES["in_two"], cache)[0]
    close(out.float(), layer(x)[0], 1e-1)


# --- Sequences of different lengths ----------------------------------------------------------------------------------

@pytest.mark.parametrize("steps", [(4,), (1, 1, 1, 1), (3, 1)], ids=str)
@pytest.mark.parametrize("options", [{}, {"window": (3, 0)}, {"softcap": 1.3}], ids=["plain", "window", "softcap"])
@SEATS
@ROADS
def test_each_sequence_goes_on_from_its_own_length(steps, options, on_qk, need_weights):
    layer, new = causal_layer(on_qk=on_qk), tokens(B, 4, D)
    cache = layer.new_cache(B, max(LENGTHS) + 4)
    x = padded(layer, cache)
    out, weights = fed(layer, new, steps, cache, need_weights=need_weights, **options)
    for b, length in enumerate(LENGTHS):
        alone, its_weights = layer(torch.cat([x[b, :length], new[b]]), need_weights=True, **options)
        close(out[b], alone[length:])
        if need_weights:
            last = weights[-1][b]
            close(last[..., :length + 4], its_weights[:, -steps[-1]:])
            assert (last[..., length + 4:] == 0).all()
    assert cache.length.tolist() == [length + 4 for length in LENGTHS] and cache.filled == max(LENGTHS) + 4


def test_a_mask_of_each_sequence_joins_the_lengths():
    layer, new = causal_layer(), tokens(B, 2, D)
    cache, end = layer.new_cache(B, ROOM), max(LENGTHS) + 2
    x, mask = padded(layer, cache), torch.rand(B, H, 2, end) > 0.4
    out = layer(new, cache=cache, mask=mask)[0]
    for b, length in enumerate(LENGTHS):
        seen = torch.ones(H, length + 2, length + 2, dtype=torch.bool)
        seen[:, -2:] = mask[b, :, :, :length + 2]
        close(out[b], layer(torch.cat([x[b, :length], new[b]]), mask=seen)[0][length:])


def test_an_empty_text_beside_others_starts_at_position_0():
    layer, x, new = causal_layer(on_qk=Rope()), tokens(2, 3, D), tokens(2, 2, D)
    cache = layer.new_cache(2, ROOM)
    layer(x, cache=cache)
    cache.crop([0, 3])
    out = layer(new, cache=cache)[0]
    close(out[0], layer(new[0])[0])
    close(out[1], layer(torch.cat([x[1], new[1]]))[0][3:])


# --- Rewinding -------------------------------------------------------------------------------------------------------

@SEATS
def test_cropping_forgets_and_the_text_goes_on(on_qk):
    layer, x, other = causal_layer(on_qk=on_qk), tokens(B, N, D), tokens(B, 5, D)
    cache = layer.new_cache(B, ROOM)
    fed(layer, x, PIECES["in_four"], cache)
    cache.crop(4)
    close(layer(other, cache=cache)[0], layer(torch.cat([x[:, :4], other], 1))[0][:, 4:])


@ROADS
def test_what_is_forgotten_reaches_nobody_even_if_it_was_nan(need_weights):
    """Padding of a batch may hold anything."""
    padded = KEPT.clone()
    padded[0, 1:], padded[2, 3:] = torch.nan, torch.inf
    cache, clean = LAYER.new_cache(B, 8), started()
    LAYER(padded, cache=cache)
    cache.crop([1, 5, 3]), clean.crop([1, 5, 3])
    close(LAYER(ONE, cache=cache, need_weights=need_weights)[0], LAYER(ONE, cache=clean)[0])


def test_cropping_to_one_length_makes_the_sequences_alike_again():
    layer, x = causal_layer(on_qk=Rope()), tokens(B, 3, D)
    cache = layer.new_cache(B, ROOM)
    start = padded(layer, cache)
    layer(x, cache=cache)
    cache.crop([2, 2, 2])
    assert cache.length == cache.filled == 2 and isinstance(cache.length, int)
    close(layer(x, cache=cache)[0], layer(torch.cat([start[:, :2], x], 1))[0][:, 2:])


@pytest.mark.parametrize("length", [[1, 4, 2], (1, 4, 2), torch.tensor([1, 4, 2]), torch.tensor([1, 4, 2]).numpy()],
                         ids=lambda length: type(length).__name__)
def test_lengths_come_in_many_forms(length):
    cache = KVCache(3, 1, 7, 2)
    cache.append(torch.ones(3, 1, 5, 2), torch.ones(3, 1, 5, 2))
    cache.crop(length)
    assert cache.length.tolist() == [1, 4, 2] and cache.filled == 4
    cache.crop(torch.tensor(1))
    assert cache.length == cache.filled == 1


# --- The cache on its own --------------------------------------------------------------------------------------------

def test_it_is_as_large_as_the_keys_and_values_it_keeps():
    cache = causal_layer(3).new_cache(B, ROOM)
    assert cache.K.shape == (B, 3, ROOM, D_K) and cache.V.shape == (B, 3, ROOM, D_V)
    assert cache.K.dtype == cache.V.dtype == torch.float64 and not cache.K.any() and not cache.V.any()
    assert cache.per_token == 3 * (D_K + D_V) == (cache.K.numel() + cache.V.numel()) / (B * ROOM)
    assert repr(cache) == "KVCache(length=0 of 17, batch=3, num_kv_heads=3, d_k=4, d_v=5)"


def test_written_tokens_count_once_they_are_advanced():
    cache, K, V = KVCache(2, 3, 7, 5, 4, dtype=torch.float64), tokens(2, 3, 6, 5), tokens(2, 3, 6, 4)
    cache.write(K[:, :, 3:], V[:, :, 3:])
    assert cache.length == cache.filled == 0
    cache.append(K[:, :, :2], V[:, :, :2])
    kept = cache.append(K[:, :, 2:], V[:, :, 2:])
    close(kept, (K, V))
    assert cache.length == 6 and all(t.untyped_storage().data_ptr() == own.untyped_storage().data_ptr()
                                     for t, own in zip(kept, (cache.K, cache.V)))


def test_sequences_of_different_lengths_are_written_where_each_ends():
    cache, K = KVCache(2, 1, 5, 1), torch.arange(1.0, 9.0).view(2, 1, 4, 1)
    cache.append(K, -K)
    cache.crop([1, 3])
    assert repr(cache) == "KVCache(length=[1, 3] of 5, batch=2, num_kv_heads=1, d_k=1, d_v=1)"
    cache.append(torch.full((2, 1, 2, 1), 9.0), torch.full((2, 1, 2, 1), -9.0))
    assert cache.K[0, 0, :3, 0].tolist() == [1, 9, 9] and cache.K[1, 0, :, 0].tolist() == [5, 6, 7, 9, 9]
    assert (cache.V[:, :, :, 0] == -cache.K[:, :, :, 0]).all()


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))],
                         ids=["copy", "deepcopy", "pickle"])
def test_a_copy_goes_on_by_itself(again):
    layer, x = causal_layer(on_qk=Rope()), tokens(B, 2, D)
    cache = layer.new_cache(B, ROOM)
    padded(layer, cache)
    other = again(cache)
    close(layer(x, cache=other)[0], layer(x, cache=cache)[0])
    layer(x, cache=other)
    assert cache.filled == 9 and other.filled == 11 and not cache.K[:, :, 9:].any()


def test_meta_tensors_go_through():
    layer = MultiHeadAttention(12, H, num_kv_heads=2, causal=True, on_qk=Rope(), device="meta")
    cache = layer.new_cache(B, ROOM)
    layer(torch.empty(B, N, 12, device="meta"), cache=cache)
    assert layer(torch.empty(B, 1, 12, device="meta"), cache=cache, need_weights=True)[1].shape == (B, H, 1, N + 1)


# --- Compilers and devices -------------------------------------------------------------------------------------------

def test_a_compiled_step_gives_the_same_numbers_and_is_compiled_three_times():
    """In one graph, with lengths alike or not. crop reads its numbers, so that it stays outside."""
    layer, x = causal_layer(on_qk=Rope()).float(), torch.randn(B, N, D)
    compiled, graphs = [], []

    def counting(graph, inputs):
        graphs.append(graph)
        return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)
    step = torch.compile(lambda x, cache: layer(x, cache=cache)[0], fullgraph=True, backend=counting)
    cache, plain = layer.new_cache(B, 3 * N), layer.new_cache(B, 3 * N)
    for lengths in (0, LENGTHS):
        cache.crop(lengths), plain.crop(lengths)
        for token in x.split(1, 1):
            compiled.append(step(token, cache))
            close(compiled[-1], layer(token, cache=plain)[0], 1e-5)
        assert cache.filled == plain.filled
    assert len(graphs) <= 3                                 # the first token, any other, and lengths that differ


@needs_gpu
def test_the_gpu_keeps_what_the_cpu_keeps():
    layer, x, device = causal_layer(on_qk=Rope()).float(), torch.randn(B, N, D), pick_device()
    whole, layer = layer(x)[0], layer.to(device)
    cache = layer.new_cache(B, ROOM)
    close(fed(layer, x.to(device), PIECES["in_four"], cache)[0].cpu(), whole, 1e-3)
    cache.crop(LENGTHS)
    out = layer(x[:, :1].to(device), cache=cache)[0].cpu()
    for b, length in enumerate(LENGTHS):
        alone = layer(torch.cat([x[b, :length], x[b, :1]]).to(device))[0].cpu()
        close(out[b], alone[length:], 1e-3)


# --- Whose it is -----------------------------------------------------------------------------------------------------

def test_a_cache_that_was_emptied_serves_another_layer():
    cache, other = started(), causal_layer()
    cache.crop(0)
    close(other(KEPT, cache=cache)[0], other(KEPT)[0])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))],
                         ids=["copied", "stored"])
def test_a_copy_of_a_cache_goes_on_with_a_copy_of_the_layer(copied):
    cache, other = started(), copy.deepcopy(LAYER)
    with pytest.raises(ValueError, match="another layer has filled this cache"):
        other(ONE, cache=cache)
    assert torch.equal(other(ONE, cache=copied(cache))[0], LAYER(ONE, cache=cache)[0])


def test_a_cache_does_not_keep_its_layer_alive():
    layer = causal_layer()
    cache = layer.new_cache(B, 8)
    layer(KEPT, cache=cache)
    other = copy.deepcopy(layer)
    del layer
    gc.collect()
    close(other(ONE, cache=cache)[0], other(torch.cat([KEPT, ONE], 1))[0][:, -1:])


# --- Errors ----------------------------------------------------------------------------------------------------------

LAYER = causal_layer()
KEPT = tokens(B, 5, D)


def started(ragged=False):
    cache = LAYER.new_cache(B, 8)
    LAYER(KEPT, cache=cache)
    if ragged:
        cache.crop([1, 5, 3])
    return cache


ONE, FOUR = tokens(B, 1, D), tokens(B, 4, D)
REFUSED = {  # what refuses before the cache is written, and what refuses after
    "overflow": lambda cache: LAYER(FOUR, cache=cache),
    "batch": lambda cache: LAYER(ONE[:2], cache=cache),
    "dtype": lambda cache: LAYER(ONE.float(), cache=cache),
    "context": lambda cache: LAYER(ONE, ONE, cache=cache),
    "offset": lambda cache: LAYER(ONE, cache=cache, offset=5),
    "kind": lambda cache: LAYER(ONE, cache=type(cache)),
    "mask": lambda cache: LAYER(ONE, cache=cache, mask=torch.ones(1, 4).bool()),
    "float_mask": lambda cache: LAYER(ONE, cache=cache, mask=torch.ones(1, 6)),
    "bias": lambda cache: LAYER(ONE, cache=cache, bias=tokens(H, 1, 6)),
    "window": lambda cache: LAYER(ONE, cache=cache, window=3),
    "softcap": lambda cache: LAYER(ONE, cache=cache, softcap=-1.0),
    "head_mask": lambda cache: LAYER(ONE, cache=cache, head_mask=torch.ones(2)),
    "crop": lambda cache: cache.crop([1, 2, 99]),
    "unequal": lambda cache: cache.append(tokens(B, H_KV, 1, D_K), tokens(B, H_KV, 2, D_V)),
    "only_V_is_wrong": lambda cache: cache.append(tokens(B, H_KV, 1, D_K), tokens(B, H_KV, 1, D_K)),
}


@pytest.mark.parametrize("ragged", [False, True], ids=["alike", "ragged"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_the_cache_as_it_was(case, ragged):
    cache, untouched = started(ragged), started(ragged)
    with pytest.raises((ValueError, TypeError)):
        REFUSED[case](cache)
    assert repr(cache) == repr(untouched) and cache.filled == untouched.filled
    close(LAYER(ONE, cache=cache)[0], LAYER(ONE, cache=untouched)[0], 0)


@pytest.mark.parametrize("ragged", [False, True], ids=["alike", "ragged"])
@pytest.mark.parametrize("refused", [(3,), (3, 1), (1, 3)], ids=str)
@pytest.mark.parametrize("wrong", [{"head_mask": torch.ones(2)}, {"scale": "no"}], ids=lambda wrong: next(iter(wrong)))
@ROADS
def test_what_a_refused_call_has_written_reaches_nobody_even_if_it_was_nan(wrong, refused, ragged, need_weights):
    """Behind a shorter sequence lies what was written last: hidden, but no weight of 0 makes 0 of a NaN."""
    cache, untouched = started(ragged), started(ragged)
    for n in refused:
        with pytest.raises((ValueError, TypeError)):
            LAYER(torch.full((B, n, D), torch.nan, dtype=torch.float64), cache=cache, **wrong)
    for _ in range(3):
        close(LAYER(ONE, cache=cache, need_weights=need_weights)[0],
              LAYER(ONE, cache=untouched, need_weights=need_weights)[0], 0)


def test_of_tokens_written_and_counted_in_part_the_rest_is_cleared():
    cache = KVCache(2, 1, 9, 1)
    cache.append(torch.ones(2, 1, 5, 1), torch.ones(2, 1, 5, 1))
    cache.crop([1, 5])
    cache.write(torch.full((2, 1, 4, 1), 2.0), torch.full((2, 1, 4, 1), 2.0))
    cache.advance(1)
    K, V = cache.append(torch.full((2, 1, 1, 1), 3.0), torch.full((2, 1, 1, 1), 3.0))
    assert torch.equal(K, V) and K[:, 0, :, 0].tolist() == [[1, 2, 3, 0, 0, 0, 0], [1, 1, 1, 1, 1, 2, 3]]


@pytest.mark.parametrize("ragged", [True, False])
@pytest.mark.parametrize("rows", [[2, 0, 0, 1], torch.tensor([1, 2]), (0,)], ids=["beams", "one_done", "one_left"])
@SEATS
def test_sequences_that_are_selected_go_on_with_their_own_lengths(rows, ragged, on_qk):
    layer, lengths = causal_layer(on_qk=on_qk), LENGTHS if ragged else B * [max(LENGTHS)]
    cache, last = layer.new_cache(B, ROOM, dtype=torch.float64), tokens(len(rows), 1, D)
    x = padded(layer, cache) if ragged else tokens(B, max(LENGTHS), D)
    if not ragged:
        layer(x, cache=cache)
    cache.select(rows)
    texts = [torch.cat([x[row, :lengths[row]], new]) for row, new in zip(rows, last)]
    assert cache.filled == max(lengths[row] for row in rows)
    close(layer(last, cache=cache)[0][:, 0], torch.stack([layer(text[None])[0][0, -1] for text in texts]))


# --- What is kept of a context ---------------------------------------------------------------------------------------

def asking(**options):
    return MultiHeadAttention(D, H, num_kv_heads=H_KV, d_k=D_K, d_v=D_V, d_context=7, dtype=torch.float64, **options)


@pytest.mark.parametrize("options", [{}, {"need_weights": True}, {"scale": 0.3, "softcap": 2.0},
                                     {"head_mask": torch.arange(H)}, {"window": (3, 3), "offset": 1}],
                         ids=["plain", "weights", "scale", "head_mask", "window"])
def test_a_context_that_is_kept_is_attended_to_as_one_that_is_given(options):
    layer, x, context = asking(), tokens(B, N, D), tokens(B, 5, 7)
    mask = masks.padding(torch.tensor([2, 5, 3]), 5)
    kept = KVCache.of_context(layer, context)
    assert kept.length == kept.filled == 5 and kept.per_token == H_KV * (D_K + D_V)
    for got, wanted in zip(layer(x, kept, mask=mask, **options), layer(x, context, mask=mask, **options)):
        assert got is wanted is None or close(got, wanted) is None
    one_by_one = torch.cat([layer(piece, kept)[0] for piece in x.split(1, 1)], 1)
    close(one_by_one, layer(x, context)[0])
    assert kept.length == 5  # nothing was added
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    close(compiled(x, kept, mask=mask, **options)[0], layer(x, context, mask=mask, **options)[0])


def test_a_context_is_kept_in_the_dtype_in_which_it_is_computed():
    layer, x, context = asking().float(), tokens(B, 2, D).float(), tokens(B, 5, 7).float()
    with torch.autocast("cpu", torch.bfloat16):
        kept = KVCache.of_context(layer, context)
        assert kept.K.dtype == torch.bfloat16
        torch.testing.assert_close(layer(x, kept)[0], layer(x, context)[0])


def test_of_a_context_that_is_kept_beams_take_their_own():
    layer, x, context = asking(), tokens(4, 1, D), tokens(B, 5, 7)
    kept = KVCache.of_context(layer, context)
    kept.select([2, 0, 0, 1])
    close(layer(x, kept)[0], layer(x, context[[2, 0, 0, 1]])[0])
    close(copy.deepcopy(layer)(x, copy.deepcopy(kept))[0], layer(x, kept)[0], 0)


ASKING, CONTEXT = asking(), tokens(B, 5, 7)
TWO = tokens(B, 2, D)


def kept_of(layer=ASKING, context=CONTEXT):
    return KVCache.of_context(layer, context)


def cropped():
    kept = kept_of()
    kept.crop([1, 5, 2])
    return kept


@torch.enable_grad()
def with_gradients():
    kept_of()


test_a_context_that_is_kept_where_it_cannot_be_meets_a_sentence = refused({
    "gradients": (with_gradients, ValueError, "a cache keeps no gradients"),
    "latent": (lambda: kept_of(MultiHeadLatentAttention(D, 2, d_k=2, d_c=3)), TypeError,
               "got a MultiHeadLatentAttention.*one layer"),
    "causal": (lambda: kept_of(LAYER, FOUR), ValueError, "causal=True keeps its own tokens"),
    "turned": (lambda: kept_of(asking(on_qk=Rope())), ValueError, "has on_qk.*each time"),
    "no context": (lambda: KVCache.of_context(ASKING), TypeError, "got no context"),
    "width": (lambda: kept_of(context=TWO), ValueError, "d_context=7"),
    "one sequence": (lambda: kept_of(context=CONTEXT[0]), ValueError, r"shape \(5, 7\).*context\[None\]"),
    "no tokens": (lambda: kept_of(context=CONTEXT[:, :0]), ValueError, "one token of one sequence at least"),
    "another layer": (lambda: asking()(TWO, kept_of()), ValueError, "another layer has kept this context"),
    "fewer sequences": (lambda: ASKING(TWO[:1], kept_of()), ValueError, r"\(1, 2, 13\), but 3 seq.*kept.select"),
    "one text": (lambda: ASKING(TWO[0], kept_of()), ValueError, "3 sequences of a context"),
    "width of x": (lambda: ASKING(TWO[..., 1:], kept_of()), ValueError, "d_model=13"),
    "cropped": (lambda: ASKING(TWO, cropped()), ValueError, r"lengths that differ, \[1, 5, 2\].*padding\(lengths, 5"),
    "a decoder's": (lambda: LAYER(TWO, LAYER.new_cache(B, 9)), ValueError, "not causal.*cache=cache"),
    "beside a cache": (lambda: LAYER(TWO, kept_of(), cache=LAYER.new_cache(B, 9)), ValueError, "without a context"),
    "a loop": (lambda: MultiHeadLoop([ASKING.head(0)])(TWO, kept_of()), TypeError, "context.* is a KVCache"),
})


def test_a_cache_that_cannot_be_written_to_forgets_nothing():
    with torch.inference_mode():
        cache = LAYER.new_cache(B, 9)
        LAYER(FOUR, cache=cache)
    for call in (lambda: cache.crop(2), lambda: cache.select([0]), lambda: LAYER(ONE, cache=cache)):
        with pytest.raises(ValueError, match="made under torch.inference_mode.., and can be used there only"):
            call()
    assert cache.length == 4 and cache.K[:, :, 2:4].any()


def test_sequences_taken_by_hand_are_refused_where_their_lengths_stayed_behind():
    cache = started(True)
    cache.K, cache.V = cache.K[:2], cache.V[:2]
    with pytest.raises(ValueError, match="cache.K has 2 sequences and cache.length 3 numbers: cache.select"):
        LAYER(ONE[:2], cache=cache)


def test_to_set_the_length_is_to_crop():
    cache, cropped = started(), started()
    cache.length = [1, 5, 3]
    cropped.crop([1, 5, 3])
    assert repr(cache) == repr(cropped)
    close(LAYER(ONE, cache=cache)[0], LAYER(ONE, cache=cropped)[0], 0)
    with pytest.raises(AttributeError, match="filled"):
        cache.filled = 2


@pytest.mark.parametrize("ragged", [True, False])
def test_sums_in_place_on_a_length_that_was_read_leave_the_cache_as_it_is(ragged):
    cache, other = started(ragged), started(ragged)
    last = cache.length
    last -= 1                                               # where the last token of each sequence stands
    assert repr(cache) == repr(other)
    close(LAYER(ONE, cache=cache)[0], LAYER(ONE, cache=other)[0], 0)
    with pytest.raises(ValueError, match="cannot be kept"):
        cache.length += 1


def append(*shape, dtype=torch.float32, **options):
    KVCache(2, 3, 7, 5).append(torch.zeros(shape, dtype=dtype, **options), torch.zeros(shape, dtype=dtype, **options))


ERRORS = {
    "d_v": (lambda: KVCache(2, 3, 7, 5, -1), ValueError, "d_v=-1 is negative"),
    "new_cache": (lambda: LAYER.new_cache(B, 0), ValueError, "max_len=0"),
    "no_axis": (lambda: append(3, 1, 5), ValueError, r"K has shape \(3, 1, 5\).*x\[None\] for one sequence"),
    "heads": (lambda: append(2, 1, 1, 5), ValueError, r"layer.new_cache\(2, 7\)"),
    "dtype": (lambda: append(2, 3, 1, 5, dtype=torch.float64), TypeError, "K is torch.float64 but the cache holds "
              "torch.float32; make one that fits"),
    "device": (lambda: append(2, 3, 1, 5, device="meta"), ValueError, "K is on meta but the cache is on cpu"),
    "list": (lambda: KVCache(2, 3, 7, 5).append([1.0], [1.0]), TypeError, "K is a list"),
    "unequal": (lambda: KVCache(2, 3, 7, 5).append(torch.zeros(2, 3, 1, 5), torch.zeros(2, 3, 2, 5)), ValueError,
                "K has 1 tokens but V has 2"),
    "full_ragged": (lambda: LAYER(FOUR, cache=started(True)), ValueError, "holds 5; 4 more do not fit"),
    "set_forward": (lambda: setattr(started(), "length", 20), ValueError, "length=20 cannot be kept.*give 0 to 5"),
    "crop_count": (lambda: started().crop([1, 2]), ValueError, "length has 2 numbers; give one, or 3"),
    "select_none": (lambda: started().select([]), ValueError, r"rows=\[\] is a list; it must be a list or a tensor"),
    "select_far": (lambda: started().select([0, 3]), ValueError, "rows has 3; this cache holds the sequences 0 to 2"),
    "select_mask": (lambda: started().select([True, False, True]), TypeError, "rows=True is a bool; it must be"),
    "crop_float": (lambda: started().crop(2.0), TypeError, "length=2.0 is a float"),
    "context": (lambda: LAYER(ONE, KEPT, cache=started()), ValueError, "without a context"),
    "offset": (lambda: LAYER(ONE, cache=started(), offset=0), ValueError, "offset=0 beside a cache"),
    "dict": (lambda: LAYER(ONE, cache={}), TypeError, r"cache is a dict; .* layer.new_cache\(batch, max_len\)"),
}


test_wrong_input_gets_a_sentence_that_helps = refused(ERRORS)
