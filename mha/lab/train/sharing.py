"""What sharing keys and values costs: h query heads on h_kv heads of keys and values, or on a latent.

The three tasks ask for different things. In each a token asks, and r other tokens have to be found and read.

    "same"      `KeyTask`: each relation wants the whole content. One key and one value can serve all heads.
    "slices"    `SliceTask`: each relation wants another slice of the content. One value for all has to hold all of it.
    "fields"    `FieldTask`: each relation compares another name. One key for all has to hold all of them.
"""
import torch
from torch import Tensor

from mha.attention import attention
from mha.lab.data import FieldTask, KeyTask, SliceTask
from mha.lab.train.loop import fit, xavier

SHARING_TASKS = ("same", "slices", "fields")
WANTED = 4  # numbers of each of the r tokens


def sharing_task(task: str, runs: int, r: int, seed: int) -> KeyTask | SliceTask | FieldTask:
    """The task of that name, in sentences of 2 r tokens.

    Raises:
        ValueError: an unknown task.
    """
    if task not in SHARING_TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, SHARING_TASKS))}, got {task!r}")
    if task == "fields":
        return FieldTask(runs, r, names=8, d_name=8, n=2 * r, content=WANTED, seed=seed)
    size = {"names": 32, "d_name": 28, "n": 2 * r, "seed": seed}
    return KeyTask(runs, r, content=WANTED, **size) if task == "same" else SliceTask(runs, r, wanted=WANTED, **size)


def split(x: Tensor, W: Tensor, heads: int) -> Tensor:
    """x W, cut into heads: (R, B, n, d), (R, d, heads * width) -> (R, B, heads, n, width)."""
    projected = x.flatten(1, 2) @ W  # (R, B n, heads * width): one product for all sentences of a run
    return projected.unflatten(1, x.shape[1:3]).unflatten(-1, (heads, -1)).transpose(2, 3)


def attend_shared(asking: Tensor, c: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor, h: int, h_kv: int) -> Tensor:
    """Let one token of each sentence ask, with h heads that share h_kv keys and values.

    Args:
        asking: (R, B, d), the token that asks.
        c: (R, B, n, d_c), what keys and values are made from: the tokens or their latents.
        W_Q: (R, d, h d_k). W_K: (R, d_c, h_kv d_k). W_V: (R, d_c, h_kv d_v).
    Returns:
        (R, B, h, d_v).
    """
    out, _ = attention(split(asking[:, :, None], W_Q, h), split(c, W_K, h_kv), split(c, W_V, h_kv))
    return out.squeeze(-2)


def fit_sharing(task, *, h=4, h_kv=None, d_k=8, d_v=4, d_c=None, r=4, steps=1200, rate=0.01, runs=8, batch=64, seed=0,
                device=None) -> tuple[Tensor, int, int]:
    """Train one layer of h heads on one of three tasks; one W_O mixes what the heads bring back.

        K = x W_K,  V = x W_V                  h_kv heads of each; adjacent query heads share one
        K = c W_UK, V = c W_UV, c = x W_DKV    with d_c: h heads of each, made from a latent of d_c numbers

    Args:
        task: "same", "slices" or "fields".
        h: number of heads.
        h_kv: number of heads of keys and values, a divisor of h; h by default.
        d_k, d_v: width of a key and of a value.
        d_c: width of the latent; None is no latent.
        r: number of relations; 4 numbers are wanted for each.
        steps, rate: of `fit`.
        runs: independent runs.
        batch: sentences in a step.
        seed: of all runs.
    Returns:
        error (runs,): mean squared error on 8192 fresh sentences; a model that knows nothing gets 1.
        kept: how many numbers a token leaves behind, h_kv (d_k + d_v) or d_c.
        parameters: of one run.
    Raises:
        ValueError: an unknown task, an h_kv that does not divide h, or h_kv and d_c together.
    """
    world = sharing_task(task, runs, r, seed)
    if h_kv is not None and d_c is not None:
        raise ValueError(f"heads share keys and values or make them from a latent; got h_kv={h_kv} and d_c={d_c}")
    shared = h if h_kv is None else h_kv
    if shared < 1 or h % shared:
        raise ValueError(f"h_kv must divide h={h}, got {h_kv}")
    g = torch.Generator().manual_seed(seed + 1)
    d, source = world.d_model, d_c or world.d_model  # source: width of what keys and values are made from
    shapes = [(d, h * d_k), (source, shared * d_k), (source, shared * d_v), (h * d_v, r * WANTED)]
    W_Q, W_K, W_V, W_O = (xavier(g, runs, *shape, device=device) for shape in shapes)
    W_DKV = [xavier(g, runs, d, d_c, device=device)] if d_c else []
    matrices = [W_Q, W_K, W_V, W_O, *W_DKV]

    def errors(size):
        asking, x, wanted = (t.to(device) for t in world.draw(size))  # (R, B, d), (R, B, n, d), (R, B, r, 4)
        c = x @ W_DKV[0][:, None] if d_c else x  # (R, B, n, source)
        outs = attend_shared(asking, c, W_Q, W_K, W_V, h, shared)  # (R, B, h, d_v)
        return (outs.flatten(2) @ W_O - wanted.flatten(2)).square().mean((1, 2))

    fit(matrices, lambda: errors(batch), steps=steps, rate=rate)
    with torch.no_grad():
        error = torch.stack([errors(2048) for _ in range(4)]).mean(0).cpu()
    return error, d_c or shared * (d_k + d_v), sum(W[0].numel() for W in matrices)


def slices_floor(h_kv: int, *, d_v=4, r=4) -> float:
    """The least error on "slices", if the scores do not see the contents: 1 - h_kv d_v / (4 r).

    Given the names, such weights are constants, and of the 4 r numbers x of a token's content nothing is read but x W,
    the h_kv d_v numbers that the value maps keep. Contents are independent and normal. So the best guess of slice k of
    token k is made from x W of this token alone, and it explains the trace of block k of P, the projection on the
    columns of W. The r slices are r different blocks, and their traces add up to the trace of P. That is its rank, at
    most h_kv d_v, out of 4 r numbers.

    Scores that see the contents may carry more, but never more of a token than is kept of it: h_kv (d_k + d_v) numbers,
    or the d_c of a latent. With these for h_kv d_v the floor holds for every score.

    Args:
        h_kv, d_v, r: as in `fit_sharing`.
    Returns:
        From 0 to 1, where 1 is knowing nothing.
    """
    return max(0.0, 1 - h_kv * d_v / (r * WANTED))
