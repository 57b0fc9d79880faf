"""Complex numbers, and their parts."""
import numpy as np

from torch._dtypes import C128, C64, COMPLEX, F32, F64, FLOAT, laid
from torch._base import OPS, error, make, NotHere, op, view
from torch._arguments import broadcast, summed_to


# --- Complex numbers, as pairs ---------------------------------------------------------------------------------------

@op
def view_as_complex(input):
    if input.array.shape[-1:] != (2,):
        raise error(RuntimeError, "Tensor must have a last dimension of size 2")
    if input.array.strides[-1] != input.array.itemsize:
        raise error(RuntimeError, "Tensor must have a last dimension with stride 1")
    if input.dtype not in (F32, F64):
        raise NotHere("view_as_complex of this")
    kind = C64 if input.dtype is F32 else C128
    return view(input, lambda a: a.view(kind.numpy)[..., 0], lambda g: np.stack([g.real, g.imag], -1), kind=kind)


@op
def view_as_real(input):
    kind = F32 if input.dtype is C64 else F64
    if input.dtype.rank != COMPLEX:
        raise error(RuntimeError, "view_as_real is only supported for complex tensors")

    return view(input, lambda a: a[..., None].view(kind.numpy), lambda g: g[..., 0] + 1j * g[..., 1], kind=kind)


@op
def complex(real, imag):
    if real.dtype is not imag.dtype or real.dtype not in (F32, F64):
        raise NotHere("complex of these")
    one, two = real.array, imag.array
    broadcast(one.shape, two.shape)
    return make(laid((one + 1j * two).astype(C64.numpy if real.dtype is F32 else C128.numpy), one, two), None, [
        (real, lambda g: summed_to(g.real, one.shape)), (imag, lambda g: summed_to(g.imag, two.shape))])


@op
def polar(abs, angle):
    if min(abs.dtype.rank, angle.dtype.rank) < FLOAT:
        raise error(RuntimeError, "Expected both inputs to be Half, Float or Double tensors but got "
                    f"{abs.dtype.short} and {angle.dtype.short}")
    if abs.dtype is not angle.dtype:
        raise error(RuntimeError, f"Expected object of scalar type {abs.dtype.short} but got scalar type "
                    f"{angle.dtype.short} for second argument")
    return complex(OPS["mul"](abs, OPS["cos"](angle)), OPS["mul"](abs, OPS["sin"](angle)))


@op
def real(input):
    if input.dtype.rank < COMPLEX:
        return input
    return OPS["select"](OPS["view_as_real"](input), -1, 0)


@op
def imag(input):
    return OPS["select"](OPS["view_as_real"](input), -1, 1)


@op
def conj(input):
    return input if input.dtype.rank < COMPLEX else make(np.conj(input.array), input.dtype, [(input, np.conj)])
