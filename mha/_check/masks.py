"""Masks and biases, and the options that stand for masks."""

import torch
from torch import Tensor

from mha._check.calls import ONES
from mha._check.inputs import came, is_tensor, number, positive_int, probability, same_device, truth, whole

SIZES = "the weights' shape is (..., h, n, m) = (heads, queries, keys)"


def mask_and_bias(mask, bias, q: Tensor, shape: tuple[int, ...]) -> None:
    if mask is not None:
        mask_type(mask)
        same_device({"q": q, "mask": mask})
        fits_scores("mask", mask, shape)
    if bias is not None:
        bias_type(bias)
        same_device({"q": q, "bias": bias})
        fits_scores("bias", bias, shape)


def mask_type(mask) -> None:
    is_tensor("mask", mask, ", such as mha.masks.causal(n)")
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask is {mask.dtype}; it must be bool, True = may attend: use mask.bool() if its ones mean 'may "
            f"attend', or bias= if it is to be added to the scores"
        )


def bias_type(bias) -> None:
    is_tensor("bias", bias, ", such as mha.position.alibi_bias(h, n)[None]")
    if not bias.is_floating_point():
        raise TypeError(
            f"bias is {bias.dtype}; it must be floating point, it is added to the scores: for a boolean one use "
            f"mask= (True = may attend)"
        )
    if bias.dtype.itemsize < 2:
        raise TypeError(f"bias is {bias.dtype}; torch adds nothing in 8 bits: bias.to(torch.bfloat16)")


def fits_scores(name: str, t: Tensor, shape: tuple[int, ...]) -> None:
    """Two axes (n, m), or as many as the scores; each size the scores' or 1."""
    axes = len(shape)
    if t.ndim not in (2, axes):
        raise ValueError(_wrong_axes(name, t, shape))
    if any(a not in (1, b) for a, b in zip(reversed(t.shape), reversed(shape))):
        rows = f"; if its rows are sequences, write {name}[:, None, None]" if t.shape == (shape[0], shape[-1]) else ""
        raise ValueError(
            f"{name} has shape {tuple(t.shape)}, which does not broadcast to {shape}: {SIZES}, "
            f"and every size must be that or 1{rows if axes == 4 else ''}"
        )


def _wrong_axes(name: str, t: Tensor, shape: tuple[int, ...]) -> str:
    if t.ndim == 3 and len(shape) == 4:
        both = f", {name}.unflatten(0, {shape[:2]}) if it is both" if t.shape[0] == shape[0] * shape[1] else ""
        return (
            f"{name} has 3 axes, {tuple(t.shape)}, which is ambiguous beside scores of shape {shape}: write "
            f"{name}[:, None] if its first axis is the batch, {name}[None] if it is the heads{both}"
        )
    as_many = f", or {len(shape)}, to fit the scores' shape {shape}" if len(shape) > 2 else ""
    return f"{name} has {t.ndim} axes, {tuple(t.shape)}; give 2, (n, m) = {shape[-2:]}{as_many}"


def offset(value, tokens: Tensor | None = None, batch: tuple = ()) -> None:
    """How many keys came before the first query: a whole number, or a tensor of one for each sequence."""
    if not isinstance(value, Tensor):
        whole("offset", value, "how many keys came before the first query; or a tensor, a number for each sequence")
    elif value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
        raise TypeError(f"offset is {value.dtype}; it must hold whole numbers: how many keys came before each sequence")
    elif tokens is not None:
        if value.shape != batch:
            raise ValueError(f"offset has shape {tuple(value.shape)}; it must be a number, or {tuple(batch)}: one for "
                             f"each sequence")
        same_device({"q": tokens, "offset": value})


def options(q: Tensor, m: int, causal: bool, offset_, window_, scale, softcap, dropout: float, need_weights,
            need_lse) -> None:
    n = q.shape[-2]
    truth("causal", causal, "; a mask goes into mask=")
    truth("need_weights", need_weights)
    truth("need_lse", need_lse)
    if offset_ is not None:
        offset(offset_, q, q.shape[:-3])
    window(window_)
    if scale is not None:
        many = ("; one that is learned, or differs from head to head, goes into q: attention(q * factor, k, v, "
                "scale=1.0)" if isinstance(scale, Tensor) else "")
        number("scale", scale, f"the factor of all scores{many}")
    if softcap is not None:
        number("softcap", softcap, "the scores' bound; leave it out for none")
        if softcap <= 0:
            raise ValueError(f"softcap={softcap} must be above 0: it bounds the scores; leave it out for no bound")
    probability("dropout", dropout)
    if need_lse and dropout:
        raise ValueError(f"need_lse=True beside dropout={dropout}: parts are joined by the weights of whole rows, of "
                         f"which dropout has lost some; leave it out")
    if not causal and window_ is None:
        if offset_ is not None:
            what = "offset" if isinstance(offset_, Tensor) else f"offset={offset_}"
            raise ValueError(f"{what} does nothing by itself; it shifts causal=True or window=(left, right)")
    elif offset_ is None and n != m:
        what = "causal=True" if causal else "window="
        raise ValueError(
            f"{what} with n={n} queries and m={m} keys can mean two things: give offset=0 (query i sees keys up to "
            f"key i) or offset={m - n} (m - n: the last query sees the last key). Where there is no offset=, take "
            f"causal=False and mask=mha.masks.causal(n, m, offset)"
        )


def size(name: str, value) -> None:
    """A number of queries or of keys."""
    whole(name, value, "how many there are")
    if value < 0:
        raise ValueError(f"{name}={value} is negative; it says how many there are: 0 or more")


def window(span) -> None:
    if span is None:
        return
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        raise ValueError(f"{came('window', span)}; it must be a pair (left, right), None for no limit on that side")
    for name, side in zip(("left", "right"), span):
        if side is not None:
            whole(f"of a window, {name}", side, "how many keys to that side are visible, None for no limit")
    if any(side is not None and side < 0 for side in span):
        raise ValueError(
            f"window={tuple(span)} has a negative side; count the keys to the left and to the right, 0 or more, "
            f"or None for no limit"
        )


def lengths(lengths, m: int) -> Tensor:
    """Sentence lengths as a tensor. Values are looked at only where they came as numbers: no wait for a GPU."""
    size("m", m)
    if not isinstance(lengths, Tensor):
        for length in _numbers(lengths):
            many = ("; of tensors make one: torch.stack(lengths)" if isinstance(length, Tensor) else
                    f"; {ONES}" if isinstance(length, bool) else "")
            whole("lengths", length, f"the count of real tokens of a sentence{many}")
            if not 0 <= length <= m:
                raise ValueError(f"lengths has {length}, outside 0 to m={m}: a sentence has at most m tokens")
        try:
            lengths = torch.as_tensor(lengths, dtype=torch.long)
        except (TypeError, ValueError):
            raise ValueError(f"lengths={lengths!r} is no list, or has rows of different sizes; give a list, with one "
                             f"size for each axis of the batch") from None
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise TypeError(f"lengths is {lengths.dtype}; it must hold whole numbers: the count of real tokens of each "
                        f"sentence; {ONES}")
    if (lengths.ndim > 1 and 1 < m == lengths.shape[-1] and lengths.numel() and type(lengths) is Tensor
            and lengths.is_cpu and not torch.compiler.is_compiling() and lengths.max() <= 1):
        raise ValueError(f"lengths has shape {tuple(lengths.shape)} and no number above 1, so it is a mask of m={m} "
                         f"keys and no count of real tokens: {ONES}")
    return lengths


def texts(ids, key_ids) -> None:
    """The number of the text that each query, and each key, belongs to."""
    for name, t in (("ids", ids), ("key_ids", key_ids)):
        is_tensor(name, t, ": which text each token belongs to, such as torch.tensor([0, 0, 0, 1, 1])")
        if t.is_floating_point() or t.is_complex() or t.dtype == torch.bool:
            raise TypeError(f"{name} is {t.dtype}; it must hold whole numbers: which text each token belongs to")
        if t.ndim not in (1, 2):
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it must be (n,), or (B, n) where sequences differ")
    if ids.ndim != key_ids.ndim or ids.shape[:-1] != key_ids.shape[:-1]:
        raise ValueError(f"ids has shape {tuple(ids.shape)} and key_ids {tuple(key_ids.shape)}; both must have the "
                         f"same batch, or both none")
    same_device({"ids": ids, "key_ids": key_ids})


def _numbers(nested):
    """The numbers in a number, a list, a list of lists, ..."""
    if isinstance(nested, (str, bytes, dict)) or not hasattr(nested, "__iter__") or getattr(nested, "ndim", 1) == 0:
        yield nested
    else:
        for one in nested:
            yield from _numbers(one)


def mask_for_reading(mask) -> None:
    mask_type(mask)
    if not 2 <= mask.ndim <= 4:
        raise ValueError(f"mask has {mask.ndim} axes, {tuple(mask.shape)}; explain reads 2 to 4: (B, h, n, m)")


def maps(weights, square: bool = False) -> None:
    """Weights to be measured, (..., n, m); square where each query is one of the keys."""
    is_tensor("weights", weights, ", such as layer(x, need_weights=True)[1]")
    if weights.ndim < 2 or square and weights.shape[-1] != weights.shape[-2]:
        raise ValueError(f"weights has shape {tuple(weights.shape)}; it must be (..., n, {'n' if square else 'm'})" + (
            ": an offset counts from a query's own token among the keys, so take the rows of all tokens" * square))


def torch_masks(mask, key_padding_mask, num_heads) -> None:
    if mask is None and key_padding_mask is None:
        raise ValueError("from_torch got no mask; give attn_mask= or key_padding_mask=")
    given = {name: t for name, t in (("attn_mask", mask), ("key_padding_mask", key_padding_mask)) if t is not None}
    for name, t in given.items():
        is_tensor(name, t)
        if t.dtype != torch.bool:
            raise TypeError(f"{name} is {t.dtype}; only a bool one can be turned round: give a float one as bias=, "
                            f"of an integer one take {name}.bool()")
    same_device(given)
    if num_heads is not None:
        positive_int("num_heads", num_heads)
    if mask is not None and (mask.ndim not in (2, 3) or (mask.ndim == 3 and not num_heads)):
        raise ValueError(
            f"attn_mask has shape {tuple(mask.shape)}; torch knows (n, m), and (B * num_heads, n, m), "
            f"for which num_heads= is needed here"
        )
    if mask is not None and mask.ndim == 3 and mask.shape[0] % num_heads:
        raise ValueError(f"attn_mask has {mask.shape[0]} rows of heads, no multiple of num_heads={num_heads}")
    if key_padding_mask is not None and key_padding_mask.ndim not in (1, 2):
        raise ValueError(f"key_padding_mask has shape {tuple(key_padding_mask.shape)}; torch knows (B, m) and (m,)")
    if len(given) == 2:
        _one_batch(mask, key_padding_mask, num_heads)


def _one_batch(mask: Tensor, key_padding_mask: Tensor, num_heads) -> None:
    B = mask.shape[0] // num_heads if mask.ndim == 3 else key_padding_mask.shape[0]
    if key_padding_mask.shape[-1] != mask.shape[-1] or (key_padding_mask.ndim == 2 and len(key_padding_mask) != B):
        raise ValueError(f"key_padding_mask has shape {tuple(key_padding_mask.shape)} and attn_mask "
                         f"{tuple(mask.shape)}; beside (n, m) or (B * num_heads, n, m) it must be (B, m), for the "
                         f"same keys")
