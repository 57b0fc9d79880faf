"""Checks at the door: every wrong input gets a sentence with what came, what was wanted and how to mend it.

They look at shapes, dtypes and devices, never at values: no wait for a GPU, and meta tensors and
torch.compile pass through. They stand apart so that the lesson code stays free of them.
"""

import torch
from torch import Tensor

SIZES = "the weights' shape is (..., h, n, m) = (heads, queries, keys)"


def positive_int(name: str, value) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}={value!r} is a {type(value).__name__}; it must be a positive whole number (int)")
    if value < 1:
        raise ValueError(f"{name}={value} must be a positive whole number: 1 or more")


def positive_ints(**named) -> None:
    for name, value in named.items():
        positive_int(name, value)


def probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value} is no probability: give a number from 0 (off) to 1")


def head_size(d_model: int, num_heads: int, d_k: int | None) -> int:
    """d_k, by default d_model / num_heads."""
    if d_k is None and d_model % num_heads:
        raise ValueError(
            f"d_model={d_model} does not divide into num_heads={num_heads} equal heads; choose the size of a head "
            f"yourself with d_k= (for instance d_k={d_model // num_heads or 1}), or another num_heads"
        )
    d_k = d_model // num_heads if d_k is None else d_k
    positive_int("d_k", d_k)
    return d_k


def is_tensor(name: str, value) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} is a {type(value).__name__}; it must be a torch.Tensor: try torch.as_tensor({name})")


def layer_input(name: str, x, size: int, size_name: str, weight: Tensor) -> None:
    """An input of a layer: (..., n, size), of the weights' dtype and device."""
    is_tensor(name, x)
    if x.ndim < 2:
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}; it needs at least 2 axes, (..., tokens, {size_name}): "
            f"for one token use {name}[None]"
        )
    if x.shape[-1] != size:
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}: its last size is {x.shape[-1]}, but this layer has "
            f"{size_name}={size}; give (..., tokens, {size}) or build the layer with {size_name}={x.shape[-1]}"
        )
    same_device({name: x, "the layer": weight})
    if not x.is_floating_point():
        raise TypeError(f"{name} is {x.dtype}; it must be floating point: try {name}.to({weight.dtype})")
    if x.dtype != weight.dtype and not autocasting(x):
        raise TypeError(
            f"{name} is {x.dtype} but the layer is {weight.dtype}; convert one: {name}.to({weight.dtype}) or "
            f"layer.to({x.dtype}), or work under torch.autocast"
        )


def layer_inputs(x, context, layer) -> None:
    """x (..., n, d_model) and context (..., m, d_context) of a head or of many."""
    layer_input("x", x, layer.d_model, "d_model", layer.W_Q.weight)
    if context is x and layer.d_context == layer.d_model:
        return
    name = "context (x, since none was given)" if context is x else "context"
    layer_input(name, context, layer.d_context, "d_context", layer.W_K.weight)
    if x.shape[:-2] != context.shape[:-2]:
        raise ValueError(
            f"x has shape {tuple(x.shape)} and context {tuple(context.shape)}; the axes before the tokens (the batch) "
            f"must be equal, nothing is broadcast in silence: use .expand(...)"
        )


def autocasting(x: Tensor) -> bool:
    kind = x.device.type
    return kind != "meta" and torch.is_autocast_enabled(kind)


def same_device(tensors: dict[str, Tensor]) -> None:
    (first, a), *others = tensors.items()
    for name, b in others:
        if a.device != b.device:
            raise ValueError(f"{first} is on {a.device} but {name} is on {b.device}; move one with .to(device)")


def tensors(**named) -> None:
    for name, value in named.items():
        is_tensor(name, value)


def qkv(q, k, v) -> None:
    """The three tensors of attention: q (..., h, n, d_k), k (..., h_kv, m, d_k), v (..., h_kv, m, d_v)."""
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.ndim < 2:
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it needs at least 2 axes, (..., tokens, size)")
        if not t.is_floating_point():
            raise TypeError(f"{name} is {t.dtype}; it must be floating point: try {name}.float()")
    same_device({"q": q, "k": k, "v": v})
    _qkv_dtypes(q, k, v)
    _qkv_shapes(q, k, v)


def _qkv_dtypes(q: Tensor, k: Tensor, v: Tensor) -> None:
    if not q.dtype == k.dtype == v.dtype:
        raise TypeError(
            f"q is {q.dtype}, k is {k.dtype} and v is {v.dtype}; they must agree: convert with .to({q.dtype}), "
            f"or work under torch.autocast"
        )


def _qkv_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"q has d_k={q.shape[-1]} but k has d_k={k.shape[-1]}; a dot product needs equal sizes "
            f"(shapes {tuple(q.shape)} and {tuple(k.shape)})"
        )
    if not q.shape[-1]:
        raise ValueError("q and k have d_k=0; a dot product needs at least one number")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"k has m={k.shape[-2]} keys but v has m={v.shape[-2]} values; each key needs one value "
            f"(shapes {tuple(k.shape)} and {tuple(v.shape)})"
        )
    if not q.ndim == k.ndim == v.ndim or not q.shape[:-3] == k.shape[:-3] == v.shape[:-3]:
        raise ValueError(
            f"q, k and v have shapes {tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}; the axes before the "
            f"heads (the batch) must be equal, nothing is broadcast in silence: use .expand(...)"
        )
    if k.shape[:-2] != v.shape[:-2]:
        raise ValueError(f"k has {k.shape[-3]} heads but v has {v.shape[-3]}; each head of k needs its v")
    if q.ndim > 2 and k.shape[-3] != q.shape[-3] and (not k.shape[-3] or q.shape[-3] % k.shape[-3]):
        raise ValueError(
            f"q has {q.shape[-3]} heads and k has {k.shape[-3]}; the first must be a multiple of the second, so "
            f"that each head of k serves an equal group of adjacent heads of q"
        )


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
    is_tensor("mask", mask)
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask is {mask.dtype}; it must be bool, True = may attend: use mask.bool() if its ones mean 'may "
            f"attend', or bias= if it is to be added to the scores"
        )


def bias_type(bias) -> None:
    is_tensor("bias", bias)
    if not bias.is_floating_point():
        raise TypeError(
            f"bias is {bias.dtype}; it must be floating point, it is added to the scores: for a boolean one use "
            f"mask= (True = may attend)"
        )


def fits_scores(name: str, t: Tensor, shape: tuple[int, ...]) -> None:
    """Two axes (n, m), or as many as the scores; each size the scores' or 1."""
    axes = len(shape)
    if t.ndim not in (2, axes):
        raise ValueError(_wrong_axes(name, t, shape))
    if any(a not in (1, b) for a, b in zip(reversed(t.shape), reversed(shape))):
        raise ValueError(
            f"{name} has shape {tuple(t.shape)}, which does not broadcast to {shape}: {SIZES}, "
            f"and every size must be that or 1"
        )


def _wrong_axes(name: str, t: Tensor, shape: tuple[int, ...]) -> str:
    if t.ndim == 3 and len(shape) == 4:
        return (
            f"{name} has 3 axes, {tuple(t.shape)}, which is ambiguous beside scores of shape {shape}: write "
            f"{name}[:, None] if its first axis is the batch, {name}[None] if it is the heads"
        )
    return (
        f"{name} has {t.ndim} axes, {tuple(t.shape)}; give 2, (n, m) = {shape[-2:]}, "
        f"or {len(shape)}, to fit the scores' shape {shape}"
    )


def options(n: int, m: int, causal: bool, offset, window_, dropout: float) -> None:
    probability("dropout", dropout)
    window(window_)
    if not causal and window_ is None:
        if offset is not None:
            raise ValueError(f"offset={offset} does nothing by itself; it shifts causal=True or window=(left, right)")
    elif offset is None and n != m:
        what = "causal=True" if causal else "window="
        raise ValueError(
            f"{what} with n={n} queries and m={m} keys can mean two things: give offset=0 (query i sees keys up to "
            f"key i) or offset={m - n} (m - n: the last query sees the last key). In a layer, take causal=False "
            f"and mask=mha.masks.causal(n, m, offset)"
        )


def window(span) -> None:
    if span is None:
        return
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        raise ValueError(f"window={span!r} must be a pair (left, right); None in it means no limit on that side")
    if any(side is not None and side < 0 for side in span):
        raise ValueError(
            f"window={tuple(span)} has a negative side; count the keys to the left and to the right, 0 or more, "
            f"or None for no limit"
        )


def lengths(lengths, m: int) -> Tensor:
    """Sentence lengths as a (B,) tensor. Values are looked at only where they came as a list: no wait for a GPU."""
    if not isinstance(lengths, Tensor):
        wrong = [length for length in lengths if not 0 <= length <= m]
        if wrong:
            raise ValueError(f"lengths has {wrong[0]}, outside 0 to m={m}: a sentence has at most m tokens")
        lengths = torch.tensor(lengths, dtype=torch.long) if not len(lengths) else torch.tensor(lengths)
    if lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise TypeError(f"lengths is {lengths.dtype}; it must hold whole numbers: the count of real tokens of each row")
    if lengths.ndim != 1:
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}; it must be (B,), one number for each sentence")
    return lengths


def mask_for_reading(mask) -> None:
    mask_type(mask)
    if not 2 <= mask.ndim <= 4:
        raise ValueError(f"mask has {mask.ndim} axes, {tuple(mask.shape)}; explain reads 2 to 4: (B, h, n, m)")


def torch_masks(mask, key_padding_mask, num_heads) -> None:
    if mask is None and key_padding_mask is None:
        raise ValueError("from_torch got no mask; give attn_mask as the first argument, or key_padding_mask=")
    for name, t in (("mask", mask), ("key_padding_mask", key_padding_mask)):
        if t is not None and t.dtype != torch.bool:
            raise TypeError(f"{name} is {t.dtype}; only a bool one can be turned round: give a float one as bias=")
    if mask is not None and (mask.ndim not in (2, 3) or (mask.ndim == 3 and not num_heads)):
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}; torch knows (n, m), and (B * num_heads, n, m), "
            f"for which num_heads= is needed here"
        )
    if mask is not None and mask.ndim == 3 and mask.shape[0] % num_heads:
        raise ValueError(f"mask has {mask.shape[0]} rows of heads, no multiple of num_heads={num_heads}")
    if key_padding_mask is not None and key_padding_mask.ndim not in (1, 2):
        raise ValueError(f"key_padding_mask has shape {tuple(key_padding_mask.shape)}; torch knows (B, m) and (m,)")


def splits(x: Tensor, num_heads: int) -> None:
    positive_int("num_heads", num_heads)
    if x.ndim < 2 or x.shape[-1] % num_heads:
        raise ValueError(
            f"x has shape {tuple(x.shape)}; to split it into {num_heads} heads it needs the shape "
            f"(..., n, {num_heads} * d): a last size that {num_heads} divides"
        )


def heads(heads, equal: bool = False) -> None:
    """Heads that can work side by side; `equal` where their matrices are to be stacked."""
    heads = list(heads)
    if not heads:
        raise ValueError("got no heads; give a list of one Head or more")
    for head in heads:
        if type(head).__name__ != "Head" and not hasattr(head, "W_V"):
            raise TypeError(f"one of the heads is a {type(head).__name__}; it must be a mha.Head, which has W_Q, W_K, "
                            "W_V")
    names = ("d_model", "d_context") + (("d_k", "d_v", "causal", "dropout") if equal else ())
    for name in names:
        values = [getattr(head, name) for head in heads]
        if len(set(values)) > 1:
            raise ValueError(f"the heads have {name} = {values}; here it must be the same in all of them")
    if equal and len({head.W_Q.bias is None for head in heads}) > 1:
        raise ValueError("some heads have a bias and some have none; here they must be alike")


def fits_heads(W_O, wanted) -> None:
    if W_O.in_features != wanted.in_features:
        raise ValueError(
            f"W_O takes {W_O.in_features} numbers, but the heads give {wanted.in_features} side by side "
            f"(num_heads * d_v); give nn.Linear({wanted.in_features}, d_out)"
        )


def head_numbers(keep, num_heads: int) -> list[int]:
    """Numbers of heads, each present and named once."""
    keep = keep.tolist() if isinstance(keep, Tensor) else list(keep)
    if not keep:
        raise ValueError(f"keep names no head; name at least one of the heads 0 to {num_heads - 1}")
    for i in keep:
        if isinstance(i, bool) or not isinstance(i, int):
            raise TypeError(f"{i!r} is no head's number; name heads by whole numbers, 0 to {num_heads - 1}")
        if not 0 <= i < num_heads:
            raise ValueError(f"there is no head {i}; this layer has heads 0 to {num_heads - 1}")
    repeated = [i for i in keep if keep.count(i) > 1]
    if repeated:
        raise ValueError(f"keep names head {repeated[0]} {keep.count(repeated[0])} times; name each head once")
    return keep


def head_mask(t, out: Tensor) -> None:
    """(h,), or one row of h for each sequence of out (B, h, n, d_v)."""
    is_tensor("head_mask", t)
    same_device({"x": out, "head_mask": t})
    shape = tuple(out.shape[:-2])
    if tuple(t.shape) not in (shape, shape[-1:]):
        raise ValueError(f"head_mask has shape {tuple(t.shape)}; it must be {shape[-1:]}, or {shape}: a factor a head")


def from_torch(theirs) -> None:
    if not isinstance(theirs, torch.nn.MultiheadAttention):
        raise TypeError(f"from_torch got a {type(theirs).__name__}; it takes a torch.nn.MultiheadAttention")
    if theirs.bias_k is not None or theirs.add_zero_attn:
        option = "add_zero_attn" if theirs.bias_k is None else "add_bias_kv"
        raise ValueError(
            f"this nn.MultiheadAttention was built with {option}=True, which mha does not support; build it "
            f"without, or append the extra key and value to the context yourself"
        )
    if theirs.kdim != theirs.vdim:
        raise ValueError(
            f"this nn.MultiheadAttention has kdim={theirs.kdim} and vdim={theirs.vdim}; in mha keys and values come "
            f"from one context, so they must be equal (d_context)"
        )


def to_torch(ours) -> None:
    h, d_k, d_v, d_model = ours.num_heads, ours.d_k, ours.d_v, ours.d_model
    reasons = {
        f"num_heads * d_k = {h * d_k} is not d_model={d_model}": h * d_k != d_model,
        f"d_v={d_v} is not d_k={d_k}": d_v != d_k,
        f"d_out={ours.d_out} is not d_model={d_model}": ours.d_out != d_model,
        "causal=True is no option of its layer (set .causal = False, then pass attn_mask= with each call)": ours.causal,
    }
    wrong = [reason for reason, holds in reasons.items() if holds]
    if wrong:
        raise ValueError(f"nn.MultiheadAttention cannot express this layer: {'; '.join(wrong)}")


def something_to_record(model, found: dict) -> None:
    if found:
        return
    theirs = [name for name, m in model.named_modules() if isinstance(m, torch.nn.MultiheadAttention)]
    hint = f"; {theirs[0] or 'it'} is torch's: convert it with MultiHeadAttention.from_torch" if theirs else ""
    raise ValueError(f"{type(model).__name__} has no mha.MultiHeadAttention inside to record{hint}")
