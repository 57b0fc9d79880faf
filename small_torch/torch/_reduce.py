"""Sums, means, extremes and norms along axes; softmax."""
import builtins
import math

import numpy as np

from torch._dtypes import COMPLEX, FLOAT, I64, packed
from torch._base import OPS, OTHERWISE, error, make, need, NotHere, op, parts, Tensor
from torch._arguments import axes_of, axis_of
from torch._create import chosen


def widened(gradient, axes, keepdim, shape):
    """A gradient of what was reduced, for every entry."""
    if not keepdim:
        for axis in sorted(axes):
            gradient = np.expand_dims(gradient, axis)
    return np.broadcast_to(gradient, shape)


def summed(array, axes, keepdim):
    """From the first or from the last."""
    array = np.array(np.flip(array, axes), order="C") if OTHERWISE[0] and axes else array
    return array.sum(axes, keepdims=keepdim)


@op
def sum(input, dim=None, keepdim=False, *, dtype=None):
    shape, axes = need(input, "sum").array.shape, axes_of(dim, input.ndim)
    kind = chosen(dtype, I64 if input.dtype.rank < FLOAT else input.dtype)
    array = input.array.astype(kind.numpy, copy=False)
    with np.errstate(all="ignore"):
        array = packed(summed(array, axes, keepdim))
    return make(array, kind, [(input, lambda g: widened(g, axes, keepdim, shape))])


@op
def mean(input, dim=None, keepdim=False, *, dtype=None):
    kind = chosen(dtype, need(input, "mean").dtype)
    if kind.rank < FLOAT:
        raise error(RuntimeError, "mean(): could not infer output dtype. Input dtype must be either a floating point "
                    f"or complex dtype. Got: {input.dtype.short}")
    axes, shape = axes_of(dim, input.ndim), input.array.shape
    count = math.prod(shape[axis] for axis in axes)
    with np.errstate(all="ignore"):
        array = summed(input.array.astype(kind.numpy, copy=False), axes, keepdim) if axes else input.array
        array = np.asarray(array / np.asarray(count, kind.numpy))
    return make(packed(array), kind,
                [(input, lambda g: widened(g / count, axes, keepdim, shape))])


@op
def prod(input, dim=None, keepdim=False, *, dtype=None):
    kind = chosen(dtype, I64 if need(input, "prod").dtype.rank < FLOAT else input.dtype)
    if dim is not None and not isinstance(dim, int):
        raise NotHere("prod over several axes")
    axes, x = axes_of(dim, input.ndim), input.array
    array = packed(x.astype(kind.numpy).prod(axes, keepdims=keepdim))

    def back(gradient):
        if (x == 0).any() or kind.rank == COMPLEX:
            raise NotHere("the derivative of prod at zero")
        return widened(gradient * array, axes, keepdim, x.shape) / x
    return make(array, kind, [(input, back)], [input])


# --- Extremes --------------------------------------------------------------------------------------------------------

def not_empty(input, axes, name):
    if any(input.shape[axis] == 0 for axis in axes):
        if not axes:
            raise NotHere(f"{name} of nothing")
        raise error(IndexError, f"{name}(): Expected reduction dim "
                    f"{next(axis for axis in axes if input.shape[axis] == 0)} to have non-zero size.")


def extreme(name, function):
    def called(input, dim=(), keepdim=False):
        axes, x = axes_of(dim, need(input, name).ndim), input.array
        not_empty(input, axes, name)
        if input.dtype.rank == COMPLEX or not x.size:
            raise NotHere(f"{name} of nothing, or of complex numbers")
        array = packed(function(x, axes, keepdims=keepdim))

        def back(gradient):
            won = x == widened(array.reshape(gradient.shape), axes, keepdim, x.shape)
            return widened(gradient, axes, keepdim, x.shape) * won / won.sum(axes, keepdims=True)
        return make(array, input.dtype, [(input, back)], [input], True)
    return op(called, name)


amax, amin = extreme("amax", np.max), extreme("amin", np.min)


def along(input, indices, axis, keepdim, kind):
    """The entries at these places, which keep the axis, and the places themselves."""
    shape = input.array.shape
    values = np.take_along_axis(input.array, indices, axis)

    def back(gradient):
        whole = np.zeros(shape, gradient.dtype)
        np.put_along_axis(whole, indices, gradient if keepdim else np.expand_dims(gradient, axis), axis)
        return whole
    if not keepdim:
        values, places = values.squeeze(axis), indices.squeeze(axis)
    else:
        places = indices
    return parts(kind, values=make(values, input.dtype, [(input, back)]), indices=make(places.astype(np.int64)))


def found_in(name, whole, place, of_two):
    def called(input, dim=None, keepdim=False):
        need(input, name)
        if isinstance(dim, Tensor):
            return of_two(input, dim)
        if input.dtype.rank == COMPLEX:
            raise NotHere(f"{name} of complex numbers")
        if dim is None:
            if not input.array.size:
                raise error(RuntimeError, f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                            "Specify the reduction dim with the 'dim' argument.")
            return whole(input)
        axis = axis_of(dim, input.ndim)
        if not input.ndim:
            return called(OPS["unsqueeze"](input, 0), 0)
        not_empty(input, (axis,), name)
        return along(input, np.expand_dims(place(input.array, axis), axis), axis, keepdim, name)
    return op(called, name)


found_in("max", amax, np.argmax, OPS["maximum"])
found_in("min", amin, np.argmin, OPS["minimum"])


def first_of(name, function):
    def called(input, dim=None, keepdim=False):
        if not need(input, name).array.size or input.dtype.rank in (0, COMPLEX):
            raise NotHere(f"{name} of nothing, or of {input.dtype}")
        axis = None if dim is None else axis_of(dim, input.ndim)
        array = function(input.array, axis, keepdims=keepdim) if input.ndim else np.int64(0)
        return make(np.asarray(array, np.int64))
    return op(called, name)


first_of("argmax", np.argmax)
first_of("argmin", np.argmin)


def truth(name, function):
    def called(input, dim=None, keepdim=False):
        axes = axes_of(dim, need(input, name).ndim)
        if input.dtype.name == "uint8":
            raise NotHere(f"{name} of uint8")
        return make(function(input.array.astype(bool), axes, keepdims=keepdim))
    return op(called, name)


truth("all", np.all)
truth("any", np.any)


@op
def count_nonzero(input, dim=None):
    axes = axes_of(dim, input.ndim)
    return make(np.asarray((input.array != 0).sum(axes), np.int64))


# --- Spread, norms ---------------------------------------------------------------------------------------------------

@op
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None or input.dtype.rank != FLOAT:
        raise NotHere("var with these options")
    correction = int(unbiased) if unbiased is not None else 1 if correction is None else correction
    axes, x = axes_of(dim, input.ndim), input.array
    count = math.prod(x.shape[axis] for axis in axes)
    with np.errstate(all="ignore"):
        centred = x - x.mean(axes, keepdims=True) if input.ndim else x - x
        freedom = np.asarray(builtins.max(count - correction, 0), x.dtype)
        array = np.asarray(np.square(centred).sum(axes, keepdims=keepdim) / freedom)
    return make(packed(array), input.dtype,
                [(input, lambda g: widened(g, axes, keepdim, x.shape) * centred * (2 / freedom))], [input])


@op
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    spread = var(input, dim, unbiased, keepdim, correction=correction)
    root = np.sqrt(spread.array)
    safe = np.where(root == 0, 1, root)
    return make(root, spread.dtype, [(spread, lambda g: np.where(root == 0, 0, g / (2 * safe)))])


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    if x.dtype.rank < FLOAT:
        raise error(RuntimeError, "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                    f"{x.dtype.short}")
    if dtype is not None or ord not in (1, 2, math.inf):
        raise NotHere("a norm of this order")
    axes, array = axes_of(dim, x.ndim), x.array
    if ord == 2:
        norm = np.sqrt(np.square(np.abs(array)).sum(axes, keepdims=True))

        def back(gradient):
            unit = array / np.where(norm == 0, 1, norm)
            return widened(gradient, axes, keepdim, array.shape) * np.where(norm == 0, 0, unit)
        kept = norm if keepdim else norm.squeeze(axes)
        return make(packed(kept), None if x.dtype.rank == COMPLEX else x.dtype,
                    [(x, back)], [x])
    sizes = OPS["abs"](x)
    return amax(sizes, axes, keepdim) if ord == math.inf else sum(sizes, axes, keepdim)


op(vector_norm, "linalg.vector_norm")


@op
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    if p not in ("fro", None, 1, 2, math.inf) or p == 1 and dim is None and input.ndim != 1:
        raise NotHere("a norm of this order")
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)
