"""Axes, precisions and masks, brought into the one form in which attention computes."""

import math

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter

from mha import _check as check
from mha import masks


def to_heads(x: Tensor, d: int) -> Tensor:
    """`mha.split_heads` by the size of a head: (..., n, h d) -> (..., h, n, d), however many heads x holds."""
    *lead, width = x.shape
    return x.view(*lead, width // d, d).transpose(-3, -2)  # (..., n, h, d), then (..., h, n, d)


def concat_heads(y: Tensor) -> Tensor:
    """`mha.merge_heads`, unchecked."""
    return y.transpose(-3, -2).flatten(-2)  # (..., n, h, d), then (..., n, h d)


def heads_of(rank: int, processes: int, num_heads: int) -> range:
    """Which heads stand on one of several processes: as many adjacent ones on each, in the order of their ranks."""
    each = num_heads // processes
    return range(rank * each, (rank + 1) * each)


def to_bhnd(t, lead) -> Tensor | None:
    """One batch axis, one head axis, whatever stood there: (..., h, n, d) -> (B, h, n, d)."""
    if t is None or t.ndim == 4:
        return t
    if t.ndim < 4:
        return t[(None,) * (4 - t.ndim)]
    return t.expand(*lead, *t.shape[-3:]).flatten(0, -4)


def fold_groups(Q, K, mask, bias, is_causal) -> tuple[Tensor, Tensor | None, Tensor | None, bool]:
    """Where g heads share one key head, queue their queries one after the other: (B, h, n, .) -> (B, h_kv, g n, .).

    Copying K and V g times instead would move g times the memory.
    """
    h, n, h_kv = *Q.shape[1:3], K.shape[1]
    group = (h_kv, h // h_kv)
    if is_causal:
        mask = masks.causal(n, device=Q.device)[None, None]  # (1, 1, n, n)
    return Q.unflatten(1, group).flatten(2, 3), fold_rows(mask, group, n), fold_rows(bias, group, n), False


def fold_rows(t, group, n) -> Tensor | None:
    """Fold a mask or a bias, (B, 1 or h, 1 or n, m), as its queries are: (B, 1 or h_kv, 1 or g n, m)."""
    if t is None or t.shape[1:3] == (1, 1):
        return t
    if t.shape[1] == 1:  # the same rows for each head: (B, 1, n, m) -> (B, 1, g n, m)
        return t.repeat(1, 1, group[1], 1)
    return t.expand(-1, -1, n, -1).unflatten(1, group).flatten(2, 3)  # (B, h, n, m), then (B, h_kv, g n, m)


def unfold_groups(t, h) -> Tensor:
    """`fold_groups` undone: (B, h_kv, g n, .) -> (B, h, n, .)."""
    return t.unflatten(2, (h // t.shape[1], -1)).flatten(1, 2) if t.shape[1] != h else t


def combine_masks(a, b) -> Tensor | None:
    """Two masks in one; None is no mask."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def to_autocast_dtype(q, k, v) -> tuple[Tensor, Tensor, Tensor]:
    """Under torch.autocast, what a matrix product would do there: go to the lower precision."""
    if not check.autocasting(q):
        return q, k, v
    dtype = torch.get_autocast_dtype(q.device.type)
    return tuple(t if t.dtype == torch.float64 or not t.is_floating_point() else t.to(dtype) for t in (q, k, v))


FAR = 100.0  # an offset of scores that costs a float32 gradient 1e-5 at most


def subtract_row_max(bias, mask, dtype) -> Tensor:
    """The bias, each row lowered by its largest number over the visible keys, which a softmax ignores.

    A row of -1e9 would swallow its scores: float32 numbers of that size are 64 apart. And for its gradient torch's
    kernel keeps only the logarithm of a row's sum, which is then -1e9 for one key or a thousand. Where the numbers may
    be read, a bias stays as it is if no row is FAR off: a gradient is then off by about FAR roundings.
    """
    if 0 in bias.shape or mask is not None and 0 in mask.shape:
        return bias
    bias = bias.to(torch.promote_types(bias.dtype, dtype))  # or the subtraction would round in the bias's precision
    kept, read = bias.detach(), is_readable(bias)
    if read and mask is not None:
        low, high = kept.aminmax()
        if -FAR <= low and high <= FAR:
            return bias
    top = (kept if mask is None else kept.masked_fill(~mask, -math.inf)).amax(-1, keepdim=True)  # (B, h, n, 1)
    top = top.masked_fill(top == -math.inf, 0.0)  # a row that sees no key
    return bias if read and not (top.abs() > FAR).any() else bias - top


def cast_bias(bias, dtype) -> Tensor:
    """A bias in another precision. What was finite stays finite, with room for the scores it is added to."""
    most = torch.finfo(dtype).max / 2
    if torch.finfo(bias.dtype).max / 2 <= most:
        return bias.to(dtype)
    return torch.where(bias.isinf(), bias, bias.clamp(-most, most)).to(dtype)


def is_readable(t) -> bool:
    """Whether Python may look at a tensor's numbers: on a CPU no one waits for them, and nothing is being traced."""
    return t.is_cpu and type(t) in (Tensor, Parameter) and in_eager_mode(forward=True)


def in_eager_mode(forward: bool = False) -> bool:
    """Whether torch computes as it is told to, with nothing that traces or transforms it; perhaps in forward mode.

    Whether torch.func or a dispatch mode is at work, torch tells in these private places alone.
    """
    return not (torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
                or torch._C._len_torch_dispatch_stack() or torch._C._get_tracing_state()
                or not forward and forward_ad._current_level >= 0)


def in_forward_mode_ad() -> bool:
    """Whether derivatives are taken in forward mode: torch.func.jvp, or forward_ad.dual_level."""
    return not torch.compiler.is_compiling() and forward_ad._current_level >= 0
