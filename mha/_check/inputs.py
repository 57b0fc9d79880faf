"""Sizes, numbers, and the tensors that attention and its layers are given."""

import math
import numbers

import torch
from torch import Tensor


FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}


def is_whole(value) -> bool:
    """Whether a value is a whole number: Python's, numpy's, or one that torch traces. True and False are none."""
    return type(value) is int or (isinstance(value, (torch.SymInt, numbers.Integral)) and not isinstance(value, bool))


def is_real(value) -> bool:
    return type(value) is float or is_whole(value) or isinstance(value, (torch.SymFloat, numbers.Real)) and (
        not isinstance(value, bool))


def came(name: str, value) -> str:
    """What came under a name. Of a tensor the shape: its numbers would have to be waited for, and fill the screen."""
    if isinstance(value, Tensor):
        return f"{name} is a Tensor of shape {tuple(value.shape)}"
    return f"{name}={value!r} is a {type(value).__name__}"


def whole(name: str, value, meaning: str) -> None:
    if not is_whole(value):
        raise TypeError(f"{came(name, value)}; it must be a whole number: {meaning}")


def number(name: str, value, meaning: str) -> None:
    """A number that is neither NaN nor infinite."""
    if not is_real(value):
        raise TypeError(f"{came(name, value)}; it must be a number: {meaning}")
    if not -math.inf < value < math.inf:
        raise ValueError(f"{name}={value} must be finite: {meaning}")


def positive_int(name: str, value) -> None:
    if not is_whole(value):
        raise TypeError(f"{came(name, value)}; it must be a positive whole number (int)")
    if value < 1:
        raise ValueError(f"{name}={value} must be a positive whole number: 1 or more")


def positive_ints(**named) -> None:
    for name, value in named.items():
        positive_int(name, value)


def truths(**named) -> None:
    for name, value in named.items():
        truth(name, value)


def truth(name: str, value, otherwise: str = "") -> None:
    if value is not True and value is not False:
        shown = f"a Tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"{value!r}"
        raise TypeError(f"{name} is {shown}; it must be True or False{otherwise}")


def probability(name: str, value: float) -> None:
    if not is_real(value):
        raise TypeError(f"{came(name, value)}; it must be a number from 0 (off) to 1")
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value} is no probability: give a number from 0 (off) to 1")


def is_tensor(name: str, value, such: str = "") -> None:
    """An ordinary tensor; `such` ends the sentence about what is none, with an example."""
    if not isinstance(value, Tensor):
        if isinstance(value, tuple) and not such:
            such = f": if a layer gave this, (out, weights), take {name}[0]"
        elif hasattr(value, "__len__") and not isinstance(value, str):
            such = f": try torch.as_tensor({name})"
        kind = "tuple" if isinstance(value, tuple) else type(value).__name__
        raise TypeError(f"{name} is a {kind}; it must be a torch.Tensor{such}")
    if value.is_nested:
        raise TypeError(f"{name} is a nested tensor; pad it, torch.nested.to_padded_tensor({name}, 0.0), and hide the "
                        f"padding with mask=mha.masks.padding(lengths, m)")
    if value.layout is not torch.strided:
        raise TypeError(f"{name} has the layout {value.layout}; it must be an ordinary tensor: {name}.to_dense()")


def layer_dtype(dtype) -> None:
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point and dtype.itemsize > 1):
        raise TypeError(f"dtype={dtype!r} must be a floating-point torch.dtype of 16 bits or more, as torch.float32 or "
                        f"torch.bfloat16")


def tensors(**named) -> None:
    for name, value in named.items():
        is_tensor(name, value)


def same_device(tensors: dict[str, Tensor]) -> None:
    first, a = next(iter(tensors.items()))
    for name, b in tensors.items():
        if a.device != b.device:
            raise ValueError(f"{first} is on {a.device} but {name} is on {b.device}; move one with .to(device)")


def autocasting(x: Tensor) -> bool:
    kind = x.device.type
    return kind != "meta" and torch.is_autocast_enabled(kind)


def parameter_of(projection) -> Tensor | None:
    """What tells a projection's dtype and device, however it is wrapped or packed; None where nothing does."""
    weight = getattr(projection, "weight", None)
    if isinstance(weight, Tensor) and weight.is_floating_point():
        return weight
    return next((p for p in projection.parameters() if p.is_floating_point()), None)


def kept_as(projection, dtype) -> dict:
    """The device and dtype of what a projection gives: torch's own where nothing tells, as with 8 bits on a CPU."""
    weight = parameter_of(projection)
    return {"dtype": dtype} if weight is None else {"device": weight.device, "dtype": dtype or weight.dtype}


def layer_input(name: str, x, size: int, size_name: str, projection) -> None:
    """An input of a layer: (..., n, size), of the dtype and device of the projection that takes it."""
    weight = parameter_of(projection)
    if (isinstance(x, Tensor) and weight is not None and x.dtype == weight.dtype in FLOATS and x.device == weight.device
            and not x.is_nested and x.layout is torch.strided and x.ndim > 1 and x.shape[-1] == size):
        return  # as nearly every call; what follows says what is wrong, if anything is
    is_tensor(name, x)
    is_float(name, x)
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
    if weight is None:
        return
    same_device({name: x, "the layer": weight})
    if x.dtype != weight.dtype and not autocasting(x):
        raise TypeError(
            f"{name} is {x.dtype} but the layer is {weight.dtype}; convert one: {name}.to({weight.dtype}) or "
            f"layer.to({x.dtype}), or work under torch.autocast"
        )


def is_float(name: str, t: Tensor) -> None:
    """A tensor to compute with: of real floats, 16 bits or more."""
    if not t.is_floating_point():
        raise TypeError(f"{name} is {t.dtype}; it must be floating point: {_as_floats(name, t)}")
    if t.dtype.itemsize < 2:
        raise TypeError(f"{name} is {t.dtype}; 8 bits are a way to store numbers, torch does not add them: "
                        f"{name}.to(torch.bfloat16)")


def _as_floats(name: str, t: Tensor) -> str:
    if t.is_complex():
        return "attention over complex numbers is not defined here; real and imaginary parts may stand side by side"
    if t.dtype == torch.bool:
        return f"a mask goes into mask=; or try {name}.float()"
    return f"try {name}.float(), or, if these are numbers of tokens, look their vectors up first with nn.Embedding"


def layer_inputs(x, context, layer, kept: type = Tensor) -> None:
    """x (..., n, d_model) and context (..., m, d_context) of a head or of many; or what is kept of one, of that type.
    """
    layer_input("x", x, layer.d_model, "d_model", layer.W_Q)
    if context is x and layer.d_context == layer.d_model or kept is not Tensor and isinstance(context, kept):
        return
    name = "context (x, since none was given)" if context is x else "context"
    layer_input(name, context, layer.d_context, "d_context", layer.W_K)
    if x.shape[:-2] != context.shape[:-2]:
        raise ValueError(
            f"x has shape {tuple(x.shape)} and context {tuple(context.shape)}; the axes before the tokens (the batch) "
            f"must be equal, nothing is broadcast in silence: use .expand(...)"
        )


def untouched(q, k, v, *_, **options) -> None:
    """What `attention` failed on, perhaps before it was looked at."""
    tensors(q=q, k=k, v=v)
    if not autocasting(q):
        qkv(q, k, v)


def qkv(q, k, v) -> None:
    """The three tensors of attention: q (..., h, n, d_k), k (..., h_kv, m, d_k), v (..., h_kv, m, d_v)."""
    for name, t in (("q", q), ("k", k), ("v", v)):
        if t.ndim < 2:
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it needs at least 2 axes, (..., tokens, size)")
        is_float(name, t)
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
            f"that each head of k serves an equal group of adjacent heads of q (the axes are ..., heads, tokens, size)"
        )
