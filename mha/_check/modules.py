"""Layers: how they are cut into heads, put together from heads, and turned into torch's."""

import inspect

import torch
from torch import Tensor

from mha._check.calls import PROJECTIONS
from mha._check.inputs import is_tensor, is_whole, parameter_of, positive_int, same_device
from mha._check.processes import whole


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


def kv_heads(num_heads: int, num_kv_heads: int | None) -> int:
    """num_kv_heads, by default num_heads."""
    if num_kv_heads is None:
        return num_heads
    positive_int("num_kv_heads", num_kv_heads)
    if num_heads % num_kv_heads:
        raise ValueError(f"num_heads={num_heads} is no multiple of num_kv_heads={num_kv_heads}; each head of keys and "
                         f"values serves an equal group of heads")
    return num_kv_heads


def kept_groups(keep: list[int], group: int) -> list[int]:
    """The heads of keys and values that these heads use, `group` sharing one; each must keep as many of its own."""
    used = [i // group for i in keep]
    kv_heads = list(dict.fromkeys(used))
    if used != [j for j in kv_heads for _ in range(len(keep) // len(kv_heads))]:
        raise ValueError(f"keep={keep} takes groups apart: {group} adjacent heads share keys and values, and each "
                         f"group that stays must keep as many heads, side by side; or give each head its own keys: "
                         f"from_heads([layer.head(i) for i in keep], W_O)")
    return kv_heads


def on_qk(on_qk) -> None:
    if on_qk is None:
        return
    function = on_qk.forward if isinstance(on_qk, torch.nn.Module) else on_qk
    if isinstance(on_qk, type):
        what = f"the class {on_qk.__name__}"
    elif not callable(on_qk):
        what = f"a {type(on_qk).__name__}"
    elif not takes(function, 4):
        names = ", ".join(inspect.signature(function).parameters)
        what = f"{getattr(on_qk, '__name__', type(on_qk).__name__)}({names})"
    else:
        return
    raise TypeError(f"on_qk is {what}; it must be a function (Q, K, i, j) -> (Q, K), such as mha.position.Rope()")


def takes(function, count: int) -> bool:
    """Whether a function can be called with so many values; True where it does not tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # something built in
        return True
    return True


def turned(both):
    """What `on_qk` gave, (Q, K)."""
    if isinstance(both, Tensor) or not hasattr(both, "__iter__"):
        raise TypeError(f"on_qk gave a {type(both).__name__}; it must return both queries and keys, (Q, K)")
    return both


def matrices(layer, *names: str) -> None:
    """Projections of the layer's own sizes: whoever takes heads apart works on the matrices alone."""
    whole(layer)
    plain(layer, *names)
    h = getattr(layer, "num_heads", 1)  # a `Head` is one, and has no W_O
    h_kv, d_out = getattr(layer, "num_kv_heads", h), getattr(layer, "d_out", None)
    sizes = {"W_Q": (h * layer.d_k, layer.d_model), "W_K": (h_kv * layer.d_k, layer.d_context),
             "W_V": (h_kv * layer.d_v, layer.d_context), "W_O": (d_out, h * layer.d_v)}
    for name in names:
        came = tuple(getattr(layer, name).weight.shape)
        if came != sizes[name]:
            raise ValueError(f"{name}.weight has shape {came}, but this layer's num_heads, d_k, d_v, ... ask for "
                             f"{sizes[name]}: put the projection into a layer that was built with its sizes")


def plain(layer, *names: str) -> None:
    """Projections whose weight is all that they compute."""
    for name in names:
        W = getattr(layer, name)
        if not isinstance(W, torch.nn.Linear) or type(W).forward is not torch.nn.Linear.forward:
            what = f"a {type(W).__name__} of {type(W).__module__}, which computes more than its weight says"
        elif not W.weight.is_floating_point() or hasattr(W.weight, "full_tensor"):
            what = f"a {type(W).__name__} whose weight is {W.weight.dtype}, packed or split over processes"
        else:
            continue
        raise TypeError(f"{name} is {what}; here it must be a plain nn.Linear: merge an adapter into it, dequantise or "
                        f"gather it first")


def linear(layer, *names: str) -> list[torch.nn.Linear]:
    """The projections of these names, into which fresh parameters can be drawn."""
    whole(layer)
    projections = [getattr(layer, name) for name in names]
    for name, W in zip(names, projections):
        if not isinstance(W, torch.nn.Linear) or not W.weight.is_floating_point():
            raise TypeError(f"{name} is a {type(W).__name__} of {type(W).__module__}; fresh parameters are drawn for "
                            f"an nn.Linear of floats: take an adapter off first")
    return projections


def absorbs(layer) -> None:
    """A latent layer whose W_UK and W_UV are taken into the queries and the output, matrix by matrix."""
    if layer.shard is None:
        plain(layer, "W_UK", "W_UV")
    if layer.W_UV.bias is not None:
        raise ValueError("W_UV has a bias, which absorbed=True would lose; set layer.absorbed = False")


def function(name: str, value, shape: str) -> None:
    if not callable(value):
        raise TypeError(f"{name} is a {type(value).__name__}; it must be a function {shape}")


def state(layer, state_dict: dict, prefix: str) -> None:
    """What a layer is to load, unless it is that of torch's layer, or of another library's."""
    theirs = [prefix + name for name in ("in_proj_weight", "q_proj_weight") if prefix + name in state_dict]
    if theirs:
        raise ValueError(f"{theirs[0]} is a parameter of torch's nn.MultiheadAttention; load it into such a "
                         f"layer, and take that over with MultiHeadAttention.from_torch(layer)")
    for name, way in PROJECTIONS.items():
        if f"{prefix}{name}.weight" in state_dict and name not in layer._modules:
            raise ValueError(f"{prefix}{name}.weight is a parameter of another library's layer; {way}: rename the keys "
                             f"of what you load")


def splits(x: Tensor, num_heads: int) -> None:
    is_tensor("x", x)
    positive_int("num_heads", num_heads)
    if x.ndim < 2 or not x.shape[-1] or x.shape[-1] % num_heads:
        raise ValueError(
            f"x has shape {tuple(x.shape)}; to split it into {num_heads} heads it needs the shape "
            f"(..., n, {num_heads} * d): a last size that {num_heads} divides"
        )


def merges(y) -> None:
    is_tensor("y", y)
    if y.ndim < 3:
        raise ValueError(f"y has shape {tuple(y.shape)}; to put heads side by side it needs 3 axes, (..., h, n, d)")


def heads(heads, kind: type, equal: bool = False) -> None:
    """Heads of one kind (`mha.Head`) that can work side by side; `equal` where their matrices are to be stacked."""
    if not hasattr(heads, "__len__"):
        raise TypeError(f"heads is a {type(heads).__name__}; it must be a list of mha.{kind.__name__}: write [head]")
    if not len(heads):
        raise ValueError("got no heads; give a list of one Head or more")
    for head in heads:
        if not isinstance(head, kind):
            raise TypeError(
                f"one of the heads is a {type(head).__name__}; it must be a mha.{kind.__name__}, "
                f"which has W_Q, W_K, W_V"
            )
    names = ("d_model", "d_context") + (("d_k", "d_v", "causal", "dropout", "on_qk") if equal else ())
    for name in names:
        values = [getattr(head, name) for head in heads]
        if len(set(values)) > 1:
            one = ": one object, given to each" if name == "on_qk" else ""
            raise ValueError(f"the heads have {name} = {values}; here it must be the same in all of them{one}")
    for head in heads if equal else ():
        matrices(head, "W_Q", "W_K", "W_V")
    if equal and len({head.W_Q.bias is None for head in heads}) > 1:
        raise ValueError("some heads have a bias and some have none; here they must be alike")
    weights = [parameter_of(head.W_Q) for head in heads]
    kinds = {f"{weight.dtype} on {weight.device}" for weight in weights if weight is not None}
    if len(kinds) > 1:
        raise ValueError(f"the heads are {', '.join(sorted(kinds))}; they must be alike: use head.to(device, dtype)")


def fits_heads(W_O, wanted: int) -> None:
    """A W_O for heads that give `wanted` numbers side by side, or None."""
    if W_O is not None and not isinstance(W_O, torch.nn.Linear):
        raise TypeError(f"W_O is a {type(W_O).__name__}; it must be nn.Linear({wanted}, d_out), or None for a new one")
    if W_O is not None and W_O.in_features != wanted:
        raise ValueError(
            f"W_O takes {W_O.in_features} numbers, but the heads give {wanted} side by side "
            f"(num_heads * d_v); give nn.Linear({wanted}, d_out)"
        )


def head_numbers(keep, num_heads: int) -> list[int]:
    """Numbers of heads, each present and named once."""
    keep = keep.tolist() if hasattr(keep, "tolist") else keep
    if isinstance(keep, dict):
        raise TypeError("keep is a dict; it must be a list, of the heads of this layer that stay")
    if not hasattr(keep, "__iter__"):
        raise TypeError(f"keep={keep!r} is a {type(keep).__name__}; it must be a list of heads: write [{keep!r}]")
    keep = [i.tolist() if hasattr(i, "tolist") else i for i in keep]
    if not keep:
        raise ValueError(f"keep names no head; name at least one of the heads 0 to {num_heads - 1}")
    for i in keep:
        if not is_whole(i):
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
    if t.is_complex():
        raise TypeError(f"head_mask is {t.dtype}; it must hold a factor a head, such as 0.0 or 1.0")
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
        f"num_kv_heads={ours.num_kv_heads} is not num_heads={h}": ours.num_kv_heads != h,
        "on_qk is no option of its layer": ours.on_qk is not None,
        "causal=True is no option of its layer (set .causal = False, then pass attn_mask= with each call)": ours.causal,
    }
    wrong = [reason for reason, holds in reasons.items() if holds]
    if wrong:
        raise ValueError(f"nn.MultiheadAttention cannot express this layer: {'; '.join(wrong)}")
