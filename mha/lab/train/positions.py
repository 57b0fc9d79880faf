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
    layer = PositionLayer(task, positions, max(lengths), runs, seed, device)
    fit(layer.parameters, lambda: layer.errors(n, batch), steps=steps, rate=rate)
    with torch.no_grad():
        tried, windowed = (torch.stack([layer.errors(size, math.ceil(64 * n / size), reach=reach) for size in lengths],
                                       -1) for reach in (None, n - 1))
        pairs = 1 - torch.eye(D_K // 2, device=device)
        without = (torch.stack([layer.errors(n, 64, keep=keep) for keep in pairs], -1).cpu() if positions == "rotary"
                   else None)
    return Fitted(tried.cpu(), windowed.cpu(), without, sum(p[0].numel() for p in layer.parameters))


class PositionLayer:
    """A causal layer of 4 heads, one for each run, before training; as `fit_positions` trains it."""

    def __init__(self, task, positions, longest, runs, seed, device=None):
        if task not in TASKS or positions not in POSITIONS:
            raise ValueError(f"task must be one of {TASKS} and positions one of {POSITIONS}, got {task!r} and "
                             f"{positions!r}")
        self.task, self.positions, self.device = task, positions, device
        self.sentences = torch.Generator().manual_seed(seed)
        names = torch.randn(runs, NAMES, D_NAME, generator=self.sentences)
        self.names = names * (D_NAME ** 0.5 / names.norm(dim=-1, keepdim=True))
        start = torch.Generator().manual_seed(seed + 1)
        d, d_out = D_NAME + CONTENT + D_POSITION, CONTENT * (len(OFFSETS) if task == "offsets" else 1)
        self.W_Q, self.W_K = (xavier(start, runs, 1, d, H * D_K, device=device) for _ in range(2))
        self.b_Q, self.b_K = (normal(start, runs, 1, 1, H * D_K, std=0.3, device=device) for _ in range(2))
        self.W_V = xavier(start, runs, 1, d, H * D_V, device=device)
        self.W_O = xavier(start, runs, 1, H * D_V, d_out, device=device)
        self.table = ([normal(start, runs, 1, longest, D_POSITION, std=0.7, device=device)]
                      if positions == "learned" else [])
        self.parameters = [self.W_Q, self.W_K, self.b_Q, self.b_K, self.W_V, self.W_O, *self.table]

    def answer(self, x, keep=None, reach=None, level=None, turn=rope, sharper=1):
        """The outputs (R, B, n, d_out) and weights (R, B, h, n, n) for sentences x.

        Args:
            keep: (d_k / 2,), by what the pairs of turned queries are multiplied. reach: how far back a token sees.
            level: keys further back than this are turned as if they were just so far; of rotary layers alone.
            turn: takes x and positions and turns pairs of neighbours. sharper: by what all scores are multiplied.
        """
        size = x.shape[2]
        told = self.table[0][:, :, :size] if self.table else torch.zeros(size, D_POSITION, device=self.device)
        if self.positions == "sinusoids":
            told = sinusoids(size, D_POSITION, device=self.device)
        x = torch.cat([x, told.expand(*x.shape[:-1], -1)], -1)  # (R, B, n, d)
        Q, K, V = (split_heads(t, H) for t in (x @ self.W_Q + self.b_Q, x @ self.W_K + self.b_K, x @ self.W_V))
        if self.positions == "rotary":
            i = torch.arange(size, device=self.device)
            raw_Q, raw_K = Q, K
            Q, K = turn(Q, i, interleaved=True), turn(K, i, interleaved=True)
            Q = Q if keep is None else Q * keep.repeat_interleave(2)
        bias = None
        if level is not None:
            far = i[:, None] - i > level
            as_if = turn(raw_Q, torch.full_like(i, level), interleaved=True) @ raw_K.mT
            bias = torch.where(far, as_if - Q @ K.mT, 0) / D_K ** 0.5
        if self.positions == "ALiBi":
            bias = alibi_bias(H, size, slopes=torch.tensor(SLOPES), device=self.device).to(self.device)[None, None]
        out, weights = attention(sharper * Q, K, V, bias=bias, causal=True, window=reach and (reach, 0),
                                 need_weights=True)
        return merge_heads(out) @ self.W_O, weights

    def missed(self, size, sentences, **limits):
        """The squared errors (R, B, n, d_out) on fresh sentences of a size, and which tokens were asked (R, B, n)."""
        x, wanted, asked = (t.to(self.device) for t in draw(self.task, self.names, sentences, size, self.sentences))
        return (self.answer(x, **limits)[0] - wanted).square(), asked

    def errors(self, size, sentences, **limits):
        """The mean squared error (R,) on fresh sentences of a size."""
        missed, asked = self.missed(size, sentences, **limits)
        return (missed.mean(-1) * asked).sum((1, 2)) / asked.sum((1, 2))
