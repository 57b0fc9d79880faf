"""Trainings of one causal layer that finds its tokens by where they stand, each way of telling it in its turn."""
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from mha.attention import attention
from mha.multihead import merge_heads, split_heads
from mha.position import alibi_bias, rope, sinusoids
from mha.lab.train.loop import fit, normal, xavier

TASKS = ("offsets", "nearest")
POSITIONS = ("none", "sinusoids", "learned", "rotary", "ALiBi")
SLOPES = (1.0, 1 / 4, 1 / 16, 1 / 64)
OFFSETS, NAMES, D_NAME, CONTENT, D_POSITION, H, D_K, D_V = (1, 3), 8, 16, 4, 24, 4, 16, 8


def draw(task: str, names: Tensor, batch: int, n: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences of n tokens, each a name and random contents, and what each token should bring back from earlier ones.

    Args:
        task: "offsets": the contents of the tokens 1 and 3 places back; "nearest": those of the nearest earlier token
            of the same name.
        names: (R, NAMES, D_NAME), a vector for each name, in each of R runs.
    Returns:
        x: (R, batch, n, D_NAME + CONTENT).
        wanted: (R, batch, n, CONTENT), twice as wide for "offsets".
        asked: (R, batch, n) bool, the tokens for which there is an answer.
    """
    shape = len(names), batch, n
    contents = torch.randn(*shape, CONTENT, generator=generator)
    name = torch.randint(names.shape[1], shape, generator=generator)
    i = torch.arange(n)
    if task == "offsets":
        wanted = torch.cat([contents.roll(offset, dims=2) for offset in OFFSETS], -1)
        asked = (i > max(OFFSETS)).expand(shape)
    else:
        same = (name[..., :, None] == name[..., None, :]) & (i < i[:, None])  # (R, batch, n, n)
        nearest = (same * (i + 1)).amax(-1) - 1  # -1 where there is none
        wanted = contents.take_along_dim(nearest.clamp(min=0)[..., None], 2)
        asked = nearest >= 0
    x = torch.cat([names[torch.arange(len(names))[:, None, None], name], contents], -1)
    return x, wanted, asked


@dataclass
class Fitted:
    """What `fit_positions` found. An error is the part of the contents' variance not answered; 1 knows nothing."""

    errors: Tensor
    """(runs, lengths), on sentences of each length."""
    windowed: Tensor
    """(runs, lengths), where each token sees no further back than in training."""
    without: Tensor | None
    """(runs, d_k / 2), with one pair of the queries' numbers at zero, the fastest first; None where none are turned."""
    parameters: int


def fit_positions(task: str, positions: str, *, n=24, lengths=(24, 48, 96), steps=800, rate=0.01, runs=6, batch=16,
                  seed=0, device=None) -> Fitted:
    """Train a causal layer of 4 heads on sentences of n tokens, and try it on longer ones.

    Sinusoids and learned positions stand beside a token's numbers, 24 of them; "rotary" turns queries and keys; "ALiBi"
    adds its bias, with the slopes 1, 1/4, 1/16 and 1/64. Queries and keys have biases in all of them, so that a head
    may look by place alone.

    Args:
        task: one of TASKS. positions: one of POSITIONS.
        n: tokens of a sentence in training. lengths: of the sentences it is tried on.
        steps, rate: of `fit`. runs: independent runs. batch: sentences in a step. seed: of all runs.
    Raises:
        ValueError: an unknown task or way of telling positions.
    """
    if task not in TASKS or positions not in POSITIONS:
        raise ValueError(f"task must be one of {TASKS} and positions one of {POSITIONS}, got {task!r} and "
                         f"{positions!r}")
    g = torch.Generator().manual_seed(seed)
    names = torch.randn(runs, NAMES, D_NAME, generator=g)
    names = names * (D_NAME ** 0.5 / names.norm(dim=-1, keepdim=True))
    start = torch.Generator().manual_seed(seed + 1)
    d, d_out = D_NAME + CONTENT + D_POSITION, CONTENT * (len(OFFSETS) if task == "offsets" else 1)
    W_Q, W_K = (xavier(start, runs, 1, d, H * D_K, device=device) for _ in range(2))
    b_Q, b_K = (normal(start, runs, 1, 1, H * D_K, std=0.3, device=device) for _ in range(2))
    W_V = xavier(start, runs, 1, d, H * D_V, device=device)
    W_O = xavier(start, runs, 1, H * D_V, d_out, device=device)
    table = [normal(start, runs, 1, max(lengths), D_POSITION, std=0.7, device=device)] if positions == "learned" else []

    def answer(x, keep=None, reach=None):
        size = x.shape[2]
        told = table[0][:, :, :size] if table else torch.zeros(size, D_POSITION, device=device)
        if positions == "sinusoids":
            told = sinusoids(size, D_POSITION, device=device)
        x = torch.cat([x, told.expand(*x.shape[:-1], -1)], -1)  # (R, B, n, d)
        Q, K, V = (split_heads(t, H) for t in (x @ W_Q + b_Q, x @ W_K + b_K, x @ W_V))  # (R, B, h, n, .)
        if positions == "rotary":
            i = torch.arange(size, device=device)
            Q, K = rope(Q, i, interleaved=True), rope(K, i, interleaved=True)
            Q = Q if keep is None else Q * keep.repeat_interleave(2)
        bias = None
        if positions == "ALiBi":
            bias = alibi_bias(H, size, slopes=torch.tensor(SLOPES), device=device).to(device)[None, None]
        out, _ = attention(Q, K, V, bias=bias, causal=True, window=reach and (reach, 0))
        return merge_heads(out) @ W_O  # (R, B, n, d_out)

    def errors(size, sentences, **limits):
        x, wanted, asked = (t.to(device) for t in draw(task, names, sentences, size, g))
        missed = (answer(x, **limits) - wanted).square().mean(-1) * asked
        return missed.sum((1, 2)) / asked.sum((1, 2))

    parameters = [W_Q, W_K, b_Q, b_K, W_V, W_O, *table]
    fit(parameters, lambda: errors(n, batch), steps=steps, rate=rate)
    with torch.no_grad():
        tried, windowed = (torch.stack([errors(size, math.ceil(64 * n / size), reach=reach) for size in lengths], -1)
                           for reach in (None, n - 1))
        pairs = 1 - torch.eye(D_K // 2, device=device)
        without = torch.stack([errors(n, 64, keep=keep) for keep in pairs], -1).cpu() if positions == "rotary" else None
    return Fitted(tried.cpu(), windowed.cpu(), without, sum(p[0].numel() for p in parameters))
