"""Caches and positions."""

import weakref

import torch
from torch import Tensor

from mha._check.inputs import came, is_tensor, is_whole, layer_input, number, positive_int, same_device, truth, whole

NO_GRADIENTS = "a cache keeps no gradients; call the layer under torch.no_grad() or .inference_mode()"


def caching(layer, context, cache, offset, kind: type, **masks) -> None:
    """A call of a layer with a cache of this kind, `mha.KVCache`."""
    if not isinstance(cache, kind):
        raise TypeError(f"cache is a {type(cache).__name__}; it must be a mha.KVCache: layer.new_cache(batch, max_len)")
    if not layer.causal:
        raise ValueError("a cache needs a layer with causal=True: what is kept must not depend on later tokens")
    if context is not None:
        raise ValueError("a cache keeps the layer's own tokens; call layer(x, cache=cache), without a context")
    if offset is not None:
        raise ValueError(f"offset={offset} beside a cache; the cache brings its own, its length: leave offset= out")
    for name, t in masks.items():
        # Of no queries, in a call of no tokens, the one key may be all
        if t is not None and cache.filled and isinstance(t, Tensor) and t.ndim > 1 and t.shape[-1] == 1 and t.shape[-2]:
            raise ValueError(f"{name} has shape {tuple(t.shape)}, for one key; beside a cache it covers all keys, the "
                             f"{cache.filled} that are kept and then the new ones")
    if not torch.compiler.is_compiling():
        changing(cache)
        if cache.filler is None or cache.filler() is not layer:
            _of_one_layer(layer, cache)
    elif getattr(torch.compiler, "_is_exporting_flag", False):  # is_exporting() says so of torch 2.11's compile, too
        raise ValueError("an exported program would write to one place for ever: export a step that is given K and V")


def _of_one_layer(layer, cache) -> None:
    """Whoever begins to fill a cache goes on with it. (A copy of a cache belongs to nobody.)"""
    if not cache.filled:
        cache.filler = weakref.ref(layer)
    elif cache.filler is not None and cache.filler() is not None:
        raise ValueError("another layer has filled this cache; each needs its own: layer.new_cache(batch, max_len). If "
                         "this layer is a copy of that one, give it a copy: copy.deepcopy(cache)")


def attending(out: Tensor) -> None:
    """What came of attending to a cache, which will write over the keys and values that a gradient would need."""
    if out.requires_grad and torch.is_grad_enabled():
        raise ValueError(NO_GRADIENTS)


def writing(cache, K: Tensor, V: Tensor) -> None:
    """Keys and values of n more tokens of each sequence, for which there must be room."""
    for name, new, kept in (("K", K, cache.K), ("V", V, cache.V)):
        B, h_kv, max_len, d = kept.shape
        if (type(new) is Tensor and new.dtype == kept.dtype and not new.requires_grad and new.device == kept.device
                and new.layout is torch.strided and not new.is_nested and new.ndim == 4
                and new.shape == (B, h_kv, K.shape[2], d)):
            continue  # as nearly every call; what follows says what is wrong, if anything is
        is_tensor(name, new)
        if new.ndim != 4:
            raise ValueError(f"{name} has shape {tuple(new.shape)}; a cache takes (B, h_kv, n, d), made of x (B, n, "
                             f"d_model): x[None] for one sequence, x[:, None] for one token of each sequence")
        if (new.shape[0], new.shape[1], new.shape[3]) != (B, h_kv, d):
            raise ValueError(f"{name} has shape {tuple(new.shape)}, but this cache keeps {B} sequences of {h_kv} heads "
                             f"of size {d}: {(B, h_kv, 'n', d)}; make one that fits: {_fitting(cache, K, V)}"
                             .replace("'n'", "n"))
        same_device({name: new, "the cache": kept})
        if new.dtype != kept.dtype:
            raise TypeError(f"{name} is {new.dtype} but the cache holds {kept.dtype}; make one that fits: "
                            f"layer.new_cache(batch, max_len, dtype={new.dtype})")
        if torch.is_grad_enabled() and new.requires_grad:
            raise ValueError(NO_GRADIENTS)
    if K.shape[2] != V.shape[2]:
        raise ValueError(f"K has {K.shape[2]} tokens but V has {V.shape[2]}; each key needs one value")
    if cache.filled + K.shape[2] > max_len:
        raise ValueError(f"this cache has room for max_len={max_len} tokens and holds {cache.filled}; {K.shape[2]} "
                         f"more do not fit: build a longer one, or forget some with cache.crop(length)")


def _fitting(cache, K: Tensor, V: Tensor) -> str:
    """The call that makes a cache for these keys and values."""
    (batch, h_kv, _, d_k), max_len = K.shape, cache.K.shape[2]
    usual = f"layer.new_cache({batch}, {max_len})"
    if h_kv >= cache.K.shape[1] or d_k != cache.K.shape[3]:
        return usual
    return (f"{usual}; or, since a layer split over processes (tensor parallelism) holds a part of its heads in each, "
            f"mha.KVCache(batch={batch}, num_kv_heads={h_kv}, max_len={max_len}, d_k={d_k}, d_v={V.shape[-1]})")


def keeping(layer, context) -> None:
    """A context whose keys and values a layer shall keep for calls to come."""
    if getattr(layer, "num_kv_heads", None) is None:
        raise TypeError(f"of_context got a {type(layer).__name__}; it takes one layer, a mha.MultiHeadAttention")
    if layer.causal:
        raise ValueError("a layer with causal=True keeps its own tokens: layer.new_cache(batch, max_len). A context is "
                         "asked by a layer that is not causal")
    if layer.on_qk is not None:
        raise ValueError("this layer has on_qk, which turns queries and keys of one call together; call layer(x, "
                         "context) each time")
    layer_input("context", context, layer.d_context, "d_context", layer.W_K)
    if context.ndim != 3 or not context.numel():
        raise ValueError(f"context has shape {tuple(context.shape)}; what is kept is (B, m, d_context), one token of "
                         f"one sequence at least: context[None] for one sequence")


def remembered(layer, kept, x: Tensor) -> tuple[Tensor, Tensor]:
    """What `keeping` has let a layer keep of a context: K, V (B, h_kv, m, d). It goes with x of as many sequences."""
    if not torch.compiler.is_compiling() and kept.filler is not None and kept.filler() is not layer:
        raise ValueError("another layer has kept this context; each needs its own: KVCache.of_context(layer, context)")
    if layer.causal or layer.on_qk is not None:
        raise ValueError("context is a KVCache, of a layer that is not causal and has no on_qk; to decode, call "
                         "layer(x, cache=cache)")
    if x.ndim != 3 or len(x) != len(kept.K):
        raise ValueError(f"x has shape {tuple(x.shape)}, but {len(kept.K)} sequences of a context are kept: x must be "
                         f"({len(kept.K)}, n, d_model); kept.select(rows) takes some of them, or repeats them")
    if isinstance(kept.length, Tensor):
        raise ValueError(f"what is kept was cropped to lengths that differ, {kept.length.tolist()}; keep it whole, and "
                         f"hide the padding: mask=mha.masks.padding(lengths, {kept.filled})")
    return kept.K[:, :, :kept.filled], kept.V[:, :, :kept.filled]


def advancing(cache, n) -> None:
    whole("n", n, "how many tokens were written")
    if not 0 <= n <= cache.K.shape[2] - cache.filled:
        raise ValueError(f"n={n} tokens cannot have been written: this cache has room for max_len={cache.K.shape[2]} "
                         f"and holds {cache.filled}; to forget some, cache.crop(length)")
    if n > cache._uncounted:
        raise ValueError(f"n={n} tokens cannot be counted: {cache._uncounted} were written behind the {cache.filled} "
                         f"that are kept; cache.write(K, V) first, or cache.append(K, V), which does both")


def cropping(cache, length) -> list[int]:
    """How many tokens of each sequence to keep, none more than there are."""
    changing(cache)
    B = len(cache.K)
    kept = cache.length.tolist() if isinstance(cache.length, Tensor) else [cache.length] * B
    wanted = length.tolist() if hasattr(length, "tolist") else length
    wanted = [wanted] * B if not isinstance(wanted, (list, tuple)) else list(wanted)
    if len(wanted) != B:
        raise ValueError(f"length has {len(wanted)} numbers; give one, or {B}: one for each sequence")
    for new, old in zip(wanted, kept):
        whole("length", new, "how many tokens to keep; or a list or tensor, a number for each sequence")
        if not 0 <= new <= old:
            raise ValueError(f"length={new} cannot be kept: the sequence has {old} tokens; give 0 to {old}")
    return wanted


def selecting(cache, rows) -> list[int]:
    """Which sequences to keep."""
    changing(cache)
    wanted = rows.tolist() if hasattr(rows, "tolist") else rows
    if not isinstance(wanted, (list, tuple)) or not wanted:
        raise ValueError(f"{came('rows', rows)}; it must be a list or a tensor of at least one number of a sequence")
    for row in wanted:
        whole("rows", row, "numbers of the sequences to keep")
        if not 0 <= row < len(cache.K):
            raise ValueError(f"rows has {row}; this cache holds the sequences 0 to {len(cache.K) - 1}")
    return list(wanted)


def changing(cache) -> None:
    """A cache whose tensors may be written to, and that holds as many sequences as lengths."""
    if cache.K.is_inference() and not torch.is_inference_mode_enabled():
        raise ValueError("this cache was made under torch.inference_mode(), and can be used there only; one that is "
                         "made under torch.no_grad() can be used anywhere")
    if isinstance(cache.length, Tensor) and len(cache.length) != len(cache.K):
        raise ValueError(f"cache.K has {len(cache.K)} sequences and cache.length {len(cache.length)} numbers: "
                         f"cache.select(rows) takes some of the sequences, or reorders them, with their lengths")


def rope(x, positions, frequencies) -> None:
    is_tensor("x", x)
    is_tensor("positions", positions, ", such as torch.arange(n)")
    if not x.is_floating_point():
        raise TypeError(f"x is {x.dtype}; it must be floating point: queries or keys")
    if x.ndim < 2 or frequencies is None and (x.shape[-1] % 2 or not x.shape[-1]):
        raise ValueError(f"x has shape {tuple(x.shape)}; it must be (..., n, d_k), d_k even: pairs are turned")
    if frequencies is not None and 2 * len(frequencies) > x.shape[-1]:
        raise ValueError(f"x has shape {tuple(x.shape)} and frequencies {tuple(frequencies.shape)}; of {x.shape[-1]} "
                         f"numbers it can turn {x.shape[-1] // 2} pairs at most")
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise TypeError(f"positions is {positions.dtype}; it must hold whole numbers, such as torch.arange(n)")
    places = tuple(x.shape[:-1])
    if positions.ndim not in (1, len(places)) or any(
            a not in (1, b) for a, b in zip(positions.shape[:-1], places)) or positions.shape[-1] != places[-1]:
        raise ValueError(f"positions has shape {tuple(positions.shape)}; beside x of shape {tuple(x.shape)} it must be "
                         f"({places[-1]},), or have {len(places)} axes, the last of {places[-1]}, each other as x or 1")
    same_device({"x": x, "positions": positions})


def rope_options(base_, interleaved, frequencies, attention_factor) -> None:
    base(base_)
    truth("interleaved", interleaved)
    number("attention_factor", attention_factor, "turned queries and keys are multiplied by it")
    if attention_factor <= 0:
        raise ValueError(f"attention_factor={attention_factor} must be above 0: turned queries and keys are multiplied "
                         f"by it")
    if frequencies is None:
        return
    is_tensor("frequencies", frequencies, ", such as mha.position.frequencies(d_k)")
    if not frequencies.is_floating_point():
        raise TypeError(f"frequencies is {frequencies.dtype}; it must be floating point: radians for each token")
    if frequencies.ndim != 1 or not len(frequencies):
        raise ValueError(f"frequencies has shape {tuple(frequencies.shape)}; it must be (r / 2,), one for each of the "
                         f"pairs that turn, at least one")
    if base_ != 10000.0:
        raise ValueError(f"base={base_} does nothing beside frequencies: give one of the two")


def base(value) -> None:
    number("base", value, "the slowest pair turns once in 2 pi base^(1 - 2 / d_k) tokens")
    if value <= 0:
        raise ValueError(f"base={value} must be above 0: the slowest pair turns once in 2 pi base^(1 - 2 / d_k) tokens")


def pairs(d, base_) -> None:
    if not is_whole(d):
        raise TypeError(f"{came('d', d)}; it must be an even whole number: how many numbers turn")
    if d < 2 or d % 2:
        raise ValueError(f"d={d} must be even, 2 or more: pairs of numbers are turned")
    base(base_)


def longer(d, base_, factor, length, slow, fast, truncate=True) -> None:
    """Frequencies for texts longer than those of training."""
    pairs(d, base_)
    if base_ <= 1:
        raise ValueError(f"base={base_} must be above 1, so that some pairs turn more slowly than others")
    number("factor", factor, "how many times as long the texts become")
    if factor < 1:
        raise ValueError(f"factor={factor} must be 1 or more: how many times as long the texts become")
    positive_int("length", length)
    number("slow", slow, "a pair that turns so often within length is slowed")
    number("fast", fast, "a pair that turns so often within length stays as it is")
    if not 0 < slow < fast:
        raise ValueError(f"slow={slow} and fast={fast} must be turns within length, 0 < slow < fast")
    truth("truncate", truncate)


def slopes(t, num_heads: int) -> None:
    is_tensor("slopes", t, ", such as mha.position.alibi_slopes(num_heads)")
    if not t.is_floating_point():
        raise TypeError(f"slopes is {t.dtype}; it must be floating point: try slopes.float()")
    if tuple(t.shape) != (num_heads,):
        raise ValueError(f"slopes has shape {tuple(t.shape)}; it must be ({num_heads},): one for each head")


def turned_size(d_r) -> None:
    if not is_whole(d_r):
        raise TypeError(f"{came('d_r', d_r)}; it must be an even whole number, 0 for none")
    if d_r < 0 or d_r % 2:
        raise ValueError(f"d_r={d_r} must be even, 0 or more: pairs of numbers are turned")
