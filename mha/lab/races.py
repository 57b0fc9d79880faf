"""The races that chapters run on the machine of their reader: timed in turn by `bench`, compared within one run."""
import torch
from torch.utils.flop_counter import FlopCounterMode

from mha import MultiHeadAttention, MultiHeadLatentAttention, pick_device
from mha.lab import bench, steps
from mha.position import Rope


def count(module):
    """How many numbers a module learns."""
    return sum(p.numel() for p in module.parameters())


def race(lengths=(16, 64, 256, 1024), width=64, batch=4, device=None):
    """One head against an LSTM of as many parameters, forward and backward, on this machine.

    Args:
        lengths: numbers of tokens.
        width: size of a token.
        batch: sentences at once.
        device: `mha.pick_device()` by default.
    Returns:
        str, a table of the steps that must wait for each other, the median milliseconds of both, and how many times
        longer the LSTM took.
    """
    device = torch.device(device or pick_device())
    lstm = torch.nn.LSTM(width, width // 4 * 3, batch_first=True, device=device)
    head = MultiHeadAttention(width, 1, d_k=width * 5 // 4, d_v=width * 5 // 4, device=device)
    lines = [f"{bench.machine(device).split(';')[0]}",
             f"{count(lstm):,} and {count(head):,} parameters, width d = {width}",
             "tokens      steps  ms LSTM  ms head  ratio"]
    for n in lengths:
        x = torch.randn(batch, n, width, device=device, requires_grad=True)
        times = bench.seconds({"lstm": lstm, "head": head}, x, bench.Case(batch, n, training=True), rounds=7)
        lstm_ms, head_ms = 1e3 * times["lstm"], 1e3 * times["head"]
        lines.append(f"{n:6}{f'{n} / 1':>11}{lstm_ms:9.2f}{head_ms:9.2f}{lstm_ms / head_ms:7.2f}")
    return "\n".join(lines)


def multiplications(cell, n, width):
    """How many numbers a layer multiplies on n tokens, as torch counts them.

    Args:
        cell: "LSTM", "RNN" (one product with the token and one with the state, no gates), or "head".
        n: number of tokens.
        width: of a token, of a state, and of the queries, keys and values of the head.
    Returns:
        int, the multiplications of its matrix products, forward.
    """
    x = torch.randn(n, width)
    with FlopCounterMode(display=False) as seen, torch.no_grad():
        if cell == "head":
            MultiHeadAttention(width, 1, bias=False)(x, need_weights=True)
        else:
            step, state = getattr(torch.nn, f"{cell}Cell")(width, width, bias=False), None
            for token in x:
                state = step(token[None], state)
    return seen.get_total_flops() // 2  # torch counts an addition for each multiplication


def race_kept(kept=(256, 1024, 4096), d_model=512, num_heads=8, batch=4, device=None):
    """The next token behind those that are kept, by layers that keep less and less.

    Layers with num_heads, 2 and 1 heads of keys and values, all turned by Rope, and one with a latent (d_c = 64, d_r =
    32), absorbed.

    Args:
        kept: numbers of tokens in the cache.
        d_model: size of a token.
        num_heads: heads of queries, an even number.
        batch: texts at once.
        device: `mha.pick_device()` by default.
    Returns:
        str, a table of the numbers that a token leaves in a layer, and for each number of tokens the MiB of the cache,
        the median milliseconds of one more token, and how many times longer the layer with all its heads took.
    """
    device = torch.device(device or pick_device())
    torch.manual_seed(0)
    layers = {f"h_kv = {h_kv}": MultiHeadAttention(d_model, num_heads, num_kv_heads=h_kv, causal=True, on_qk=Rope(),
                                                   device=device) for h_kv in (num_heads, 2, 1)}
    layers["latent"] = MultiHeadLatentAttention(d_model, num_heads, d_c=64, d_r=32, causal=True, absorbed=True,
                                                device=device)
    token = torch.randn(batch, 1, d_model, device=device)
    lines = [bench.machine(device).split(";")[0], "  tokens  layer        a token adds   MiB kept        ms   ratio"]
    for m in kept:
        ways, caches = {}, {}
        for name, layer in layers.items():
            caches[name] = layer.eval().new_cache(batch, m + 1)
            with torch.no_grad():
                layer(torch.randn(batch, m, d_model, device=device), cache=caches[name])
            ways[name] = next_token(layer, caches[name], m)
        times = bench.seconds(ways, token, bench.Case(batch, 1), rounds=9)
        slowest = times[next(iter(layers))]
        for name, cache in caches.items():
            left = cache.K[0, :, 0].numel() + cache.V[0, :, 0].numel()
            size = batch * m * left * cache.K.element_size() / 2**20
            lines.append(f"{m:8}  {name:9}{left:16}{size:11.1f}{1e3 * times[name]:10.2f}{slowest / times[name]:8.2f}")
    return "\n".join(lines)


def next_token(layer, cache, m):
    """A function of one more token (B, 1, d_model), that may be called again and again with the same m tokens kept."""
    def step(token):
        return steps.again(layer, cache, m, token)
    return step
