"""What follows the order of numbers: sort, topk, median, unique, counts."""
import numpy as np

from torch._dtypes import COMPLEX, F32, laid
from torch._base import GRAD, error, make, need, NotHere, op, Tensor, parts
from torch._arguments import axis_of
from torch._reduce import along


# --- Order -----------------------------------------------------------------------------------------------------------

def ordered(array, axis, descending=False):
    """Where the numbers stand, in their order: equal ones as they come, NaN as the largest."""
    if descending:
        last = array.shape[axis] - 1
        return last - np.flip(np.argsort(np.flip(array, axis), axis, kind="stable"), axis)
    return np.argsort(array, axis, kind="stable")


def untied(values, axis):
    """Whether no two of them are equal: where some are, and more than 16, torch's order of their places is its own."""
    return bool((np.diff(values.array, axis=axis) != 0).all())


@op
def sort(input, dim=-1, descending=False, stable=False):
    axis = axis_of(dim, need(input, "sort").ndim)
    if not input.ndim or input.dtype.rank in (0, COMPLEX):
        raise NotHere(f"sort without axes, or of {input.dtype}")
    order = ordered(input.array, axis, descending)
    values, indices = along(input, laid(order, input.array), axis, True, "sort")
    values.array = laid(values.array, input.array)
    known = stable or input.shape[axis] <= 16 or untied(values, axis)
    return parts("sort", values=values, indices=indices if known else None)


@op
def argsort(input, dim=-1, descending=False, stable=False):
    return sort(input, dim, descending, stable)[1]


@op
def topk(input, k, dim=-1, largest=True, sorted=True):
    axis = axis_of(dim, need(input, "topk").ndim)
    if not input.ndim or input.dtype.rank in (0, COMPLEX) or not sorted:
        raise NotHere("topk with these options")
    if not 0 <= k <= input.shape[axis]:
        raise error(RuntimeError, "selected index k out of range")
    order = ordered(input.array, axis, largest)
    values, indices = along(input, np.take(order, range(k), axis), axis, True, "topk")
    return parts("topk", values=values, indices=indices if untied(sort(input, axis)[0], axis) else None)


@op
def median(input, dim=None, keepdim=False):
    if input.requires_grad and GRAD[0] or not input.array.size or np.isnan(input.array).any():
        raise NotHere("the median of nothing, or its derivative")
    if dim is None:
        return make(np.sort(input.array.reshape(-1))[(input.array.size - 1) // 2], input.dtype)
    axis = axis_of(dim, input.ndim)
    order = np.argsort(input.array, axis, kind="stable")
    values, indices = along(input, np.take(order, [(input.shape[axis] - 1) // 2], axis), axis, keepdim, "median")
    return parts("median", values=values, indices=indices if untied(sort(input, axis)[0], axis) else None)


@op
def mode(input, dim=-1, keepdim=False):
    axis = axis_of(dim, need(input, "mode").ndim)
    if input.requires_grad or not input.ndim or not input.array.size or input.shape[axis] > 100:
        raise NotHere("mode of nothing, or its derivative")
    rows = np.moveaxis(input.array, axis, -1)
    places = np.zeros(rows.shape[:-1], np.int64)
    for place in np.ndindex(*places.shape):
        found, counts = np.unique(rows[place], return_counts=True)
        places[place] = np.flatnonzero(rows[place] == found[counts.argmax()])[-1]
    return along(input, np.expand_dims(places, axis), axis, keepdim, "mode")


@op
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        raise NotHere("unique along an axis")
    found, inverse, counts = np.unique(input.array, return_inverse=True, return_counts=True)
    result = (make(found, input.dtype), *([make(inverse.reshape(input.array.shape).astype(np.int64))]
              if return_inverse else []), *([make(counts.astype(np.int64))] if return_counts else []))
    return result if len(result) > 1 else result[0]


@op
def bincount(input, weights=None, minlength=0):
    if input.ndim != 1 or input.dtype.rank != 1 or (input.array < 0).any():
        raise NotHere("bincount of this")
    if weights is None:
        return make(np.bincount(input.array.astype(np.intp), None, minlength).astype(np.int64))
    counts = np.bincount(input.array.astype(np.intp), weights.array, minlength)
    return make(counts.astype(np.float32) if weights.dtype is F32 else counts)


@op
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    if sorted_sequence.ndim != 1 or side is not None or sorter is not None:
        raise NotHere("searchsorted in several rows")
    places = np.searchsorted(sorted_sequence.array, input.array if isinstance(input, Tensor) else input,
                             "right" if right else "left")
    return make(np.asarray(places, np.int32 if out_int32 else np.int64))
