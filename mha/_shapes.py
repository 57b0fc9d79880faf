"""Axes, precisions and masks, brought into the one form in which attention computes."""

import torch
from torch import Tensor

from mha import _check as check
from mha import masks


def four_axes(t, lead) -> Tensor | None:
    """One batch axis, one head axis, whatever stood there: (..., h, n, d) -> (B, h, n, d)."""
    if t is None or t.ndim == 4:
        return t
    if t.ndim < 4:
        return t[(None,) * (4 - t.ndim)]
    return t.expand(*lead, *t.shape[-3:]).flatten(0, -4)


def fold_groups(Q, K, mask, bias, triangle) -> tuple[Tensor, Tensor | None, Tensor | None, bool]:
    """Where g heads share one key head, queue their queries one after the other: (B, h, n, .) -> (B, h_kv, g n, .).

    Copying K and V g times instead would move g times the memory.
    """
    h, n, h_kv = *Q.shape[1:3], K.shape[1]
    group = (h_kv, h // h_kv)
    if triangle:
        mask = masks.causal(n, device=Q.device)[None, None]  # (1, 1, n, n)
    return Q.unflatten(1, group).flatten(2, 3), fold_rows(mask, group, n), fold_rows(bias, group, n), False


def fold_rows(t, group, n) -> Tensor | None:
    """Fold a mask or a bias, (B, 1 or h, 1 or n, m), as its queries are: (B, 1 or h_kv, 1 or g n, m)."""
    if t is None or t.shape[1:3] == (1, 1):
        return t
    t = t.unflatten(1, group if t.shape[1] > 1 else (1, 1))  # (B, 1 or h_kv, 1 or g, 1 or n, m)
    return t.expand(-1, -1, group[1], n, -1).flatten(2, 3)


def in_both(a, b) -> Tensor | None:
    """Two masks in one; None is no mask."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def lowered(q, k, v) -> tuple[Tensor, Tensor, Tensor]:
    """Under torch.autocast, what a matrix product would do there: go to the lower precision."""
    if not check.autocasting(q):
        return q, k, v
    dtype = torch.get_autocast_dtype(q.device.type)
    return tuple(t if t.dtype == torch.float64 or not t.is_floating_point() else t.to(dtype) for t in (q, k, v))


def cast_bias(bias, dtype) -> Tensor:
    """A bias in another precision. What was finite stays finite, with room for the scores it is added to."""
    most = torch.finfo(dtype).max / 2
    if torch.finfo(bias.dtype).max / 2 <= most:
        return bias.to(dtype)
    return torch.where(bias.isinf(), bias, bias.clamp(-most, most)).to(dtype)
