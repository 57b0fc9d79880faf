"""Ways to compute a step of decoding, for `mha.lab.bench`: the next tokens, behind those that a cache holds."""
import torch
import torch.nn.functional as F

from mha import masks, merge_heads, split_heads

LATENT = {"d_c": 256, "d_r": 32}  # for 8 heads of 64, in the proportions of DeepSeek-V2: 4 d_k and d_k / 2


def projected(layer, x):
    """Queries, keys and values of every head, (B, h or h_kv, n, d_k) each."""
    heads = (layer.num_heads, layer.num_kv_heads, layer.num_kv_heads)
    return [split_heads(W(x), h) for W, h in zip((layer.W_Q, layer.W_K, layer.W_V), heads)]


def again(layer, cache, m, x):
    """The next tokens behind the first m, once more: what was written behind them is written over, and not cleared as
    `crop` would, which is no part of a step.
    """
    cache._length = cache._filled = m
    return layer(x, cache=cache)


def filled(layer, case):
    """The tokens that are kept, and a cache that holds them, with room for the next ones."""
    layer.eval()
    weight = layer.W_O.weight
    earlier = torch.randn(case.batch, case.kept, layer.d_model, device=weight.device, dtype=weight.dtype)
    cache = layer.new_cache(case.batch, case.kept + case.n)
    with torch.no_grad():
        layer(earlier, cache=cache)
    return earlier, cache


def decoding(layer, case):
    """The next n tokens behind those that are kept: with our cache, with torch's kernel, and without a cache."""
    earlier, cache = filled(layer, case)
    m, end = case.kept, case.kept + case.n
    seen = None if case.n == 1 else masks.causal(case.n, end, m, device=earlier.device)

    def cached(x):
        return again(layer, cache, m, x)

    def kernel(x):
        Q, K, V = projected(layer, x)
        cache.K[:, :, m:end], cache.V[:, :, m:end] = K, V
        out = F.scaled_dot_product_attention(Q, cache.K, cache.V, attn_mask=seen, enable_gqa=True)
        return layer.W_O(merge_heads(out)), None

    return {"mha": cached, "SDPA": kernel, "without a cache": whole(layer, earlier)}


def decoding_latents(layer, case):
    """The same of a layer that keeps latents: absorbed, as it is written, and without a cache, as written."""
    earlier, cache = filled(layer, case)

    def way(absorbed, call):
        def run(x):
            layer.absorbed = absorbed
            return call(x)
        return run

    def cached(x):
        return again(layer, cache, case.kept, x)

    return {"mha": way(True, cached), "as written": way(False, cached),
            "without a cache": way(False, whole(layer, earlier))}


def whole(layer, earlier):
    """All tokens once more, of which the last ones are new."""
    return lambda x: (layer(torch.cat([earlier, x], 1))[0][:, earlier.shape[1]:], None)
