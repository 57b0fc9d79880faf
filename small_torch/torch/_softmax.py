"""Running sums, and softmax with its kin."""
import numpy as np

from torch._dtypes import COMPLEX, F32, FLOAT, I64, packed
from torch._base import OTHERWISE, error, make, need, NotHere, op
from torch._arguments import axes_of, axis_of
from torch._create import chosen
from torch._entries import ANOTHER
from torch._reduce import widened


# --- Running, and softmax --------------------------------------------------------------------------------------------

@op
def cumsum(input, dim, *, dtype=None):
    axis = axis_of(dim, need(input, "cumsum").ndim)
    kind = chosen(dtype, I64 if input.dtype.rank < FLOAT else input.dtype)
    x = input.array.astype(kind.numpy)
    return make(packed(np.cumsum(x, axis)) if input.ndim else x, kind,
                [(input, lambda g: np.flip(np.cumsum(np.flip(g, axis), axis), axis) if g.ndim else g)])


@op
def cumprod(input, dim, *, dtype=None):
    axis = axis_of(dim, need(input, "cumprod").ndim)
    kind, x = chosen(dtype, I64 if input.dtype.rank < FLOAT else input.dtype), input.array
    if not input.ndim:
        raise NotHere("cumprod without axes")
    result = packed(np.cumprod(x.astype(kind.numpy), axis))

    def back(gradient):
        if (x == 0).any() or kind.rank == COMPLEX:
            raise NotHere("the derivative of cumprod at zero")
        return np.flip(np.cumsum(np.flip(gradient * result, axis), axis), axis) / x
    return make(result, kind, [(input, back)], [input])


@op
def logsumexp(input, dim, keepdim=False):
    if input.dtype.rank == COMPLEX or not input.array.size:
        raise NotHere("logsumexp of nothing, or of complex numbers")
    kind, axes = F32 if input.dtype.rank < FLOAT else input.dtype, axes_of(dim, input.ndim)
    x = input.array.astype(kind.numpy, copy=False)
    with np.errstate(all="ignore"):
        top = x.max(axes, keepdims=True) if x.ndim else x
        top = np.where(np.isfinite(top), top, 0)
        full = np.log(np.exp(x - top).sum(axes, keepdims=True)) + top
    kept = full if keepdim else full.squeeze(axes)
    return make(packed(kept), kind,
                [(input, lambda g: widened(g, axes, keepdim, x.shape) * np.exp(x - full))], [input], True)


def weights_of(input, dim, dtype, name):
    kind = chosen(dtype, need(input, name).dtype)
    if kind.rank < FLOAT:
        raise error(NotImplementedError, f"\"{name}_lastdim_kernel_impl\" not implemented for '{kind.short}'")
    if kind.rank == COMPLEX:
        raise NotHere(f"{name} of complex numbers")
    return kind, input.array.astype(kind.numpy, copy=False), axis_of(dim, input.ndim) if input.ndim else (
        axis_of(dim, 0) and None)


@op
def softmax(input, dim, dtype=None):
    kind, x, axis = weights_of(input, dim, dtype, "softmax")
    if not x.size:
        return make(np.zeros(x.shape, x.dtype), kind, [(input, lambda g: g)])
    with np.errstate(all="ignore"):
        raised = x - (x.max(axis, keepdims=True) if x.ndim else x)
        raised = ANOTHER["exp"](raised) if OTHERWISE[0] else np.exp(raised)
        result = raised / raised.sum(axis, keepdims=True)
    made = make(packed(result), kind, [(input, lambda g: made.array * (
        g - (g * made.array).sum(axis, keepdims=True)))], saves_result=True)
    return made


@op
def log_softmax(input, dim, dtype=None):
    kind, x, axis = weights_of(input, dim, dtype, "log_softmax")
    if not x.size:
        raise NotHere("log_softmax of nothing")
    with np.errstate(all="ignore"):
        lowered = x - (x.max(axis, keepdims=True) if x.ndim else x)
        result = lowered - np.log(np.exp(lowered).sum(axis, keepdims=True))
    made = make(packed(result), kind, [(input, lambda g: g - np.exp(made.array) * g.sum(axis, keepdims=True))],
                saves_result=True)
    return made
