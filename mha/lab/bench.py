"""Six ways to compute one layer of multi-head attention, side by side: `python -m mha.lab.bench`.

Every way gets the same weights and the same input. They are timed in turn, A B C A B C ..., so that the ratios in a row
hold even where the machine's speed drifts. Compare within a row, never between runs. One process beside several, a
thread each: `torchrun --nproc-per-node 2 -m mha.lab.bench`.
"""
import argparse
import copy
import math
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

from mha import (
    MultiHeadAttention,
    MultiHeadLatentAttention,
    MultiHeadLoop,
    attention,
    masks,
    merge,
    merge_heads,
    pick_device,
)
from mha.lab.steps import LATENT, decoding, decoding_latents, projected

HEADINGS = ("median time of a call, ratio to the fastest in the row, peak memory of a call, and its multiplications a "
            "second\nas a part of what a product of two large matrices does here")


@dataclass(frozen=True)
class Case:
    """One row: B sentences of n tokens, forward or training, with the weights of every head or without.

    padded: every second sentence has padding in its last quarter. biased: each head adds a bias to its scores.
    kept: tokens that a cache holds when the n tokens come, and num_kv_heads what keys and values are shared by; latent:
    the cache holds latents instead, from which each head makes its own.
    """

    batch: int
    n: int
    causal: bool = False
    training: bool = False
    weights: bool = False
    dtype: torch.dtype = torch.float32
    padded: bool = False
    biased: bool = False
    kept: int = 0
    num_kv_heads: int = 8
    latent: bool = False

    def __str__(self):
        shared = f"latents of {' + '.join(map(str, LATENT.values()))}" if self.latent else (
            f"num_kv_heads={self.num_kv_heads}")
        parts = [f"B={self.batch} n={self.n}", f"{self.kept} kept, {shared}" * bool(self.kept),
                 "causal" * self.causal, "padded" * self.padded, "biased" * self.biased,
                 "forward+backward" if self.training else "forward",
                 "weights" * self.weights, str(self.dtype).removeprefix("torch.")]
        return ", ".join(filter(None, parts))


def fused(layer, x, mask=None):
    """torch's kernel between the same four layers. It cannot give weights."""
    out = F.scaled_dot_product_attention(*projected(layer, x), attn_mask=mask,
                                         is_causal=layer.causal and mask is None)
    return layer.W_O(merge_heads(out)), None


def textbook(layer, x, mask=None, bias=None):
    """The formula as most tutorials write it: product, mask, softmax, product."""
    Q, K, V = projected(layer, x)
    scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(layer.d_k)  # (B, h, n, n)
    if layer.causal:
        scores = scores.masked_fill(~masks.causal(x.shape[-2], device=x.device), -math.inf)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return layer.W_O(merge_heads(torch.matmul(weights, V))), weights


def tiled(layer, x, mask=None, bias=None, tiles=4):
    """The keys in four parts, joined by their log-sum-exps: no more than a quarter of the scores stands at a time."""
    (Q, K, V), size, parts = projected(layer, x), -(-x.shape[-2] // tiles), []
    for start in range(0, x.shape[-2], size):
        at = slice(start, start + size)
        parts.append(attention(Q, K[:, :, at], V[:, :, at], causal=layer.causal, need_lse=True,
                               offset=-start if layer.causal else None, mask=mask if mask is None else mask[..., at],
                               bias=bias if bias is None else bias[..., at])[::2])
    return layer.W_O(merge_heads(merge(*zip(*parts))[0])), None


def ways(layer, case):
    """name -> function from x to (out, weights or None); only the ways that can do what the case asks."""
    if case.kept:
        return decoding_latents(layer, case) if case.latent else decoding(layer, case)
    device, dtype, n = layer.W_Q.weight.device, layer.W_Q.weight.dtype, case.n
    torchs = layer.prune(range(layer.num_heads))  # a copy that is not causal: torch's layer has no such option
    torchs.causal = False
    theirs = torchs.to_torch()
    loop = MultiHeadLoop([layer.head(i) for i in range(layer.num_heads)])
    loop.W_O = layer.W_O
    hidden = ~masks.causal(n, device=device) if case.causal else None
    lengths = torch.tensor([n - n // 4 * (b % 2) for b in range(case.batch)], device=device)
    mask = masks.padding(lengths, n) if case.padded else None
    bias = torch.randn(1, layer.num_heads, n, n, device=device, dtype=dtype) if case.biased else None
    added = None if bias is None else bias.expand(case.batch, -1, -1, -1).flatten(0, 1)  # as torch's layer takes it
    for_kernel = bias if mask is None else mask & ~hidden if case.causal else mask
    found = {
        "mha": lambda x: layer(x, mask=mask, bias=bias, need_weights=case.weights),
        "nn.MultiheadAttention": lambda x: theirs(x, x, x, attn_mask=hidden if bias is None else added,
                                                  key_padding_mask=None if mask is None else ~mask[:, 0, 0],
                                                  is_causal=case.causal and not (case.weights or case.padded),
                                                  need_weights=case.weights, average_attn_weights=False),
        "SDPA": lambda x: fused(layer, x, for_kernel),
        "tiles": lambda x: tiled(layer, x, mask, bias),
        "textbook": lambda x: textbook(layer, x, mask, bias),
        "loop over heads": lambda x: loop(x, mask=mask, bias=bias, need_weights=case.weights),
    }
    if case.weights:
        del found["SDPA"], found["tiles"]
    for module in (layer, theirs, loop):
        module.train(case.training)
    return found


def run(way, x, training):
    """One call: forward, or forward and backward."""
    if not training:
        with torch.no_grad():
            return way(x)
    way(x)[0].sum().backward()
    return None


def seconds(found, x, case, rounds):
    """Median seconds of each way, timed in turn."""
    times = {name: [] for name in found}
    for _ in range(rounds + 1):
        for name, way in found.items():
            wait_for(x.device)
            start = perf_counter()
            run(way, x, case.training)
            wait_for(x.device)
            times[name].append(perf_counter() - start)
    return {name: median(t[1:]) for name, t in times.items()}  # the first round warms up


def wait_for(device):
    """A GPU works on while Python goes ahead: wait until it is done."""
    if device.type != "cpu":
        getattr(torch, device.type).synchronize()


def peak_bytes(way, x, case):
    """The most bytes that one call holds at a time beyond what stands before it."""
    run(way, x, case.training)
    if x.device.type == "cuda":
        wait_for(x.device)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run(way, x, case.training)
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run(way, x, case.training)
    held = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak


def layer_of(case, device="cpu", d_model=512, num_heads=8):
    """The layer that a row computes."""
    kind, options = (MultiHeadLatentAttention, LATENT) if case.latent else (
        MultiHeadAttention, {"num_kv_heads": case.num_kv_heads})
    return kind(d_model, num_heads, causal=case.causal, device=device, dtype=case.dtype, **options)


def measure(case, device, d_model=512, num_heads=8, rounds=9):
    """One row: name -> (seconds, peak bytes)."""
    torch.manual_seed(0)
    layer = layer_of(case, device, d_model, num_heads)
    x = torch.randn(case.batch, case.n, d_model, device=device, dtype=case.dtype, requires_grad=case.training)
    found = ways(layer, case)
    times = seconds(found, x, case, rounds)
    return {name: (times[name], peak_bytes(way, x, case)) for name, way in found.items()}


def cases(quick=False):
    """The rows of the table; quick ones are tiny, to see that everything runs."""
    sizes = [(1, 3), (2, 32), (1, 64)] if quick else [(1, 8), (8, 512), (1, 2048)]
    short, wide, long = ({"batch": b, "n": n} for b, n in sizes)
    plain = [short, wide, long, {**long, "causal": True}, {**long, "training": True},
             {**long, "causal": True, "training": True}]
    found = [Case(**options, weights=w) for options in plain for w in (False, True)]
    found += [Case(**wide, padded=True), Case(**wide, padded=True, causal=True), Case(**long, biased=True)]
    found += [Case(**long, dtype=torch.bfloat16), Case(**long, dtype=torch.bfloat16, causal=True),
              Case(**wide, dtype=torch.bfloat16, padded=True)]
    kept = 30 if quick else 4096
    found += [Case(4, 1, causal=True, kept=kept, num_kv_heads=shared) for shared in (8, 2, 1)]
    return found + [Case(4, 1, causal=True, kept=kept, latent=True)]


def product_rate(device, dtype, size=2048, rounds=5):
    """How many multiplications a second a product of two (size, size) matrices does here."""
    a = torch.randn(size, size, device=device, dtype=dtype)
    times = seconds({"product": lambda x: (x @ x, None)}, a, Case(1, size), rounds)
    return size ** 3 / times["product"]


def needed(case, d_model=512, num_heads=8):
    """How many multiplications the layer's products ask for; a causal layer's scores need half of them. Of latents:
    absorbed.
    """
    shared = case.num_kv_heads / num_heads
    projections = case.batch * case.n * d_model ** 2 * (2 + 2 * shared)
    pairs = case.n * (case.n + 2 * case.kept + 1) / 2 if case.causal else case.n ** 2
    if case.latent:
        d_c, d_r = LATENT["d_c"], LATENT["d_r"]
        projections = case.batch * case.n * d_model * (2 * d_model + 3 * d_c + (num_heads + 1) * d_r)
        return projections + case.batch * pairs * num_heads * (2 * d_c + d_r)
    return (projections + 2 * case.batch * pairs * d_model) * (3 if case.training else 1)


def machine(device):
    """What it ran on, in one line."""
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
    else:
        name = (f"{torch.backends.cpu.get_cpu_capability()} {cpu_name()}, {os.cpu_count()} cores, "
                f"{torch.get_num_threads()} threads")
    return f"{name}; torch {torch.__version__}; d_model 512, 8 heads"


def cpu_name():
    """The processor's own name where Linux tells it, else its kind."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text("utf-8").splitlines() if facts.exists() else []
    names = [line for line in lines if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()


def row(case, found, rate):
    """One row of text: milliseconds, ratio to the fastest, peak memory, speed of its products beside a plain one's."""
    fastest = min(time for time, _ in found.values())
    lines = [f"  {name:23}{1e3 * time:9.2f} ms{time / fastest:7.2f} x{memory / 2**20:9.1f} MiB"
             f"{needed(case) / time / rate:8.0%}" for name, (time, memory) in found.items()]
    return "\n".join([str(case), *lines])


def split_ways(layer, mesh):
    """name -> the layer in the first process, while the others wait, and the layer split over all."""
    from mha.parallel import split_over_heads  # torch.distributed is slow to load
    split, first = split_over_heads(copy.deepcopy(layer), mesh), mesh.get_local_rank() == 0
    return {"one process": lambda x: layer(x) if first else (x, None), f"{mesh.size()} processes": split}


def on_processes(quick):
    """The table of one layer on one process and on several, from inside each."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    mesh, device = init_device_mesh("cpu", (dist.get_world_size(),)), torch.device("cpu")
    if mesh.get_local_rank() == 0:
        rate = product_rate(device, torch.float32, 64 if quick else 2048)
        print(machine(device), HEADINGS, sep="\n")
    for case in cases(quick)[:12:2]:  # the plain ones, without weights
        torch.manual_seed(0)
        found = split_ways(MultiHeadAttention(512, 8, causal=case.causal), mesh)
        x = torch.randn(case.batch, case.n, 512, requires_grad=case.training)
        times = seconds(found, x, case, 2 if quick else 9)
        found = {name: (times[name], peak_bytes(way, x, case)) for name, way in found.items()}
        if mesh.get_local_rank() == 0:
            print(row(case, found, rate), flush=True)
    dist.destroy_process_group()


def main():
    if "KINETO_LOG_LEVEL" not in os.environ:  # the profiler's own remarks; torch reads this once, when it is loaded
        os.environ["KINETO_LOG_LEVEL"] = "99"
        os.execv(sys.executable, [sys.executable, "-m", "mha.lab.bench", *sys.argv[1:]])
    parser = argparse.ArgumentParser(prog="python -m mha.lab.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--device", default=None, help="cpu, cuda or mps; by default the best that is here")
    options = parser.parse_args()
    if "WORLD_SIZE" in os.environ:
        return on_processes(options.quick)
    device = torch.device(options.device) if options.device else pick_device()
    print(machine(device), HEADINGS, sep="\n")
    found = cases(options.quick)
    size = 64 if options.quick else 4096 if device.type == "cuda" else 2048
    rates = {dtype: product_rate(device, dtype, size) for dtype in {case.dtype for case in found}}
    for case in found:
        print(row(case, measure(case, device, rounds=2 if options.quick else 9), rates[case.dtype]), flush=True)


if __name__ == "__main__":
    main()
