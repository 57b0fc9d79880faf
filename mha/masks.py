"""Masks: who may look at whom.

A mask is a boolean tensor in which **True = may attend**. It has two axes, (n, m) = (queries, keys), or
as many as the weights, (B, h, n, m); an axis of size 1 is stretched. Masks combine with `&` and `|`.
Two axes are queries by keys, even where (batch, keys) was meant and B = n hides it: `padding` makes (B, 1, 1, m).
"""

import torch
from torch import Tensor

from mha import _check as check


@check.call
def causal(n: int, m: int | None = None, offset: int = 0, *, device=None) -> Tensor:
    """No look into the future: key j is visible to query i when j <= i + offset.

    Args:
        n, m: numbers of queries and keys; m = n when it is left out.
        offset: how many keys came before the first query. With a cache of p earlier keys it is p, and
            m - n lets the last query see every key. Sequences may differ: a tensor (B,) of whole numbers.
    Returns:
        (n, m) bool; (B, 1, n, m) where sequences differ.
    Source:
        Vaswani et al. 2017, section 3.2.3.
    """
    return window(n, m, right=0, offset=offset, device=device)


@check.call
def window(n: int, m: int | None = None, left: int | None = None, right: int | None = None,
           offset: int = 0, *, device=None) -> Tensor:
    """A sliding window: key j is visible to query i when i + offset - left <= j <= i + offset + right.

    Args:
        n, m: numbers of queries and keys; m = n when it is left out.
        left, right: how many keys on either side; None is no limit on that side.
        offset: as in `causal`.
    Returns:
        (n, m) bool; (B, 1, n, m) where sequences differ.
    Source:
        Beltagy et al. 2020 (Longformer), section 3.1.
    """
    check.window((left, right))
    i, j = _positions(n, n if m is None else m, offset, device)
    ahead = j - i  # (n, m), or (B, 1, n, m)
    seen = None if left is None else ahead >= -left
    if right is not None:
        seen = ahead <= right if seen is None else seen & (ahead <= right)
    return torch.ones_like(ahead, dtype=torch.bool) if seen is None else seen


@check.call
def blocks(ids: Tensor, key_ids: Tensor | None = None) -> Tensor:
    """Several texts in one row, packed: a query sees the keys of its own text, whose number it has, and no others.

    Beside `causal=True` each text is as if it stood alone, with rotary positions too, which count differences. Other
    positions must begin anew in each text.

    Args:
        ids: (n,) or (B, n) whole numbers: which text each query belongs to, such as 0, 0, 0, 1, 1.
        key_ids: (m,) or (B, m), the same of the keys; ids by default.
    Returns:
        (n, m) bool; (B, 1, n, m) where sequences differ.
    Source:
        Krell et al. 2021, "Efficient Sequence Packing without Cross-contamination", section 3.2.
    """
    key_ids = ids if key_ids is None else key_ids
    check.texts(ids, key_ids)
    same = ids[..., :, None] == key_ids[..., None, :]  # (n, m) or (B, n, m)
    return same if same.ndim == 2 else same[:, None]


def visible(n: int, m: int, no_future: bool, span, offset: int | Tensor, device=None) -> Tensor | None:
    """The mask that `causal=`, `window=` and `offset=` of `mha.attention` stand for; None if all is visible."""
    if not no_future and span is None:
        return None
    left, right = span or (None, None)
    right = 0 if no_future and (right is None or right > 0) else right
    # Of a tensor no number is looked at: no wait for a GPU. And a window in a program stands for every n and m.
    if isinstance(offset, Tensor) or span is not None and torch.compiler.is_compiling():
        return window(n, m, left, right, offset, device=device)
    left = None if left is None or left >= n - 1 + offset else left  # no limit where all is reached
    right = None if right is None or right >= m - 1 - offset else right
    return None if left is None and right is None else window(n, m, left, right, offset, device=device)


def _positions(n: int, m: int, offset: int | Tensor, device=None) -> tuple[Tensor, Tensor]:
    """Where the queries stand among the keys, (n, 1) or (B, 1, n, 1), and where the keys do, (m,)."""
    check.size("n", n)
    check.size("m", m)
    check.offset(offset)
    device = offset.device if device is None and isinstance(offset, Tensor) else device
    i, j = torch.arange(n, device=device)[:, None], torch.arange(m, device=device)  # (n, 1), (m,)
    return i + (offset[..., None, None, None] if isinstance(offset, Tensor) else offset), j


@check.call
def padding(lengths, m: int, *, device=None) -> Tensor:
    """Hide the padding: sentence b has lengths[b] real tokens, and its keys from there on are hidden.

    The two axes of size 1 before the last matter. A bare (B, m) mask would be taken for (n, m), queries
    by keys, and where B = n nobody would notice.

    Args:
        lengths: whole numbers from 0 to m, one for each sentence, a list or a tensor (B,); with any number of axes,
            those of the batch; a single number where x has no batch. In a tensor they are not looked at, but on a CPU
            where it has the shape of a mask, (B, m).
        m: number of keys, padding included.
        device: of the mask; by default that of lengths.
    Returns:
        (B, 1, 1, m) bool; (*lengths.shape, 1, 1, m) in general.
    """
    lengths = check.lengths(lengths, m).to(device)
    return torch.arange(m, device=lengths.device) < lengths[..., None, None, None]  # (B, 1, 1, m)


@check.call
def from_torch(attn_mask: Tensor | None = None, *, key_padding_mask: Tensor | None = None,
               num_heads: int | None = None) -> Tensor:
    """Translate the masks of `nn.MultiheadAttention`, in which True means *hidden*.

    Args:
        attn_mask: (n, m), or (B * num_heads, n, m) bool.
        key_padding_mask: (B, m), or (m,) without a batch; bool.
        num_heads: needed only to take (B * num_heads, n, m) apart.
    Returns:
        bool, True = may attend: (n, m), (B, h, n, m), (B, 1, 1, m), or (1, m) without a batch; without one and with
        (num_heads, n, m) take [0]. Where both are given a key must be visible in both.
    Raises:
        TypeError: a mask that is not bool. One of floats is added to the scores, so it belongs in `bias=`.
        ValueError: neither mask given, or a number of axes that torch does not know.
    """
    check.torch_masks(attn_mask, key_padding_mask, num_heads)
    seen = None if attn_mask is None else ~attn_mask
    if seen is not None and seen.ndim == 3:
        seen = seen.unflatten(0, (-1, num_heads))  # (B, h, n, m)
    if key_padding_mask is None:
        return seen
    real = ~key_padding_mask[..., None, :]  # (B, 1, m) or (1, m)
    real = real if real.ndim == 2 else real[:, None]  # (B, 1, 1, m)
    return real if seen is None else seen & real


@check.call
def explain(mask: Tensor) -> str:
    """Say in words what a mask does: its axes, how many keys a query sees, what stands out.

    Args:
        mask: bool, two to four axes.
    Returns:
        str: a few lines, made to be printed.
    """
    check.mask_for_reading(mask)
    m, seen = mask.shape[-1], mask.sum(-1)  # (..., n)
    lines = [f"{tuple(mask.shape)}: {_axes(mask.shape)}. True = may attend."]
    if seen.numel():
        few, many = int(seen.min()), int(seen.max())
        spread = f"{few}" if few == many else f"{few} to {many}"
        lines.append(f"A query sees {spread} of {m} keys; {mask.float().mean():.0%} of the pairs are visible.")
    return "\n".join(lines + [remark for remark, holds in _remarks(mask, seen).items() if holds])


def _axes(shape: torch.Size) -> str:
    """The meaning of each axis of a mask of this shape: "2 sequences, every head, 3 queries, 5 keys"."""
    names = ("sequence", "head", "query", "key")[-len(shape):]
    plural = {"query": "queries"}
    words = [f"{size} {plural.get(name, name + 's')}" if size != 1 else f"every {name}"
             for name, size in zip(names, shape)]
    return ", ".join(words)


def _remarks(mask: Tensor, seen: Tensor) -> dict[str, bool]:
    """What is worth knowing about a mask beside its counts: remark -> whether it holds."""
    n, m = mask.shape[-2:]
    blind = int((seen == 0).sum())
    rows = "1 row sees" if blind == 1 else f"{blind} rows see"
    return {
        f"{rows} no key at all: weights and output there are zero.": blind > 0,
        "It hides nothing.": bool(mask.all()),
        "No query sees a later key: nothing leaks from the future.": n > 1 and not mask.triu(1).any(),
        "No query sees itself.": n == m > 1 and not mask.diagonal(dim1=-2, dim2=-1).any(),
        "Each row is a run of visible keys, then masked ones, and the runs do not grow\nby one: this looks like "
        "(batch, length). If it is padding, use\nmasks.padding(lengths, m).": _looks_like_padding(mask, seen),
    }


def _looks_like_padding(mask: Tensor, seen: Tensor) -> bool:
    """Is it a two-axis mask whose rows each show a first run of keys, as sentence lengths do?"""
    n, m = mask.shape[-2:]
    if mask.ndim != 2 or n < 2 or mask.all():
        return False
    runs = mask == (torch.arange(m, device=mask.device) < seen[:, None])  # (n, m)
    grows = seen[1:] == (seen[:-1] + 1).clamp(max=m)  # (n - 1,)
    return bool(runs.all() and not grows.all())
