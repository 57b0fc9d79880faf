"""What follows the order of numbers: sort, topk, median, unique, counts."""
import numpy as np

from torch._dtypes import COMPLEX, F32
from torch._base import GRAD, axis_of, error, make, need, NotHere, op, Tensor
from torch._reduce import along


# --- Order -----------------------------------------------------------------------------------------------------------

@op
def sort(input, dim=-1, descending=False, stable=False):
    axis = axis_of(dim, need(input, "sort").ndim)
    if not input.ndim or input.dtype.rank in (0, COMPLEX):
        raise NotHere(f"sort without axes, or of {input.dtype}")
    order = np.argsort(-input.array if descending else input.array, axis, kind="stable")
    return along(input, order, axis, True, "sort")


@op
def argsort(input, dim=-1, descending=False, stable=False):
    return sort(input, dim, descending)[1]


@op
def topk(input, k, dim=-1, largest=True, sorted=True):
    axis = axis_of(dim, need(input, "topk").ndim)
    if not input.ndim or input.dtype.rank in (0, COMPLEX) or not sorted:
        raise NotHere("topk with these options")
    if not 0 <= k <= input.shape[axis]:
        raise error(RuntimeError, "selected index k out of range")
    order = np.argsort(-input.array if largest else input.array, axis, kind="stable")
    values = np.take_along_axis(input.array, order, axis)
    if k and any((np.diff(values, axis=axis) == 0).reshape(-1)):
        raise NotHere("topk where some are equal")
    return along(input, np.take(order, range(k), axis), axis, True, "topk")


@op
def median(input, dim=None, keepdim=False):
    if input.requires_grad and GRAD[0] or not input.array.size or np.isnan(input.array).any():
        raise NotHere("the median of nothing, or its derivative")
    if dim is None:
        return make(np.sort(input.array.reshape(-1))[(input.array.size - 1) // 2], input.dtype)
    axis = axis_of(dim, input.ndim)
    order = np.argsort(input.array, axis, kind="stable")
    return along(input, np.take(order, [(input.shape[axis] - 1) // 2], axis), axis, keepdim, "median")


@op
def mode(input, dim=-1, keepdim=False):
    axis = axis_of(dim, need(input, "mode").ndim)
    if input.requires_grad or not input.ndim or not input.array.size:
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
        return make(np.bincount(input.array, None, minlength).astype(np.int64))
    counts = np.bincount(input.array, weights.array, minlength)
    return make(counts.astype(np.float32) if weights.dtype is F32 else counts)


@op
def searchsorted(sorted_sequence, input, *, right=False):
    if sorted_sequence.ndim != 1:
        raise NotHere("searchsorted in several rows")
    places = np.searchsorted(sorted_sequence.array, input.array if isinstance(input, Tensor) else input,
                             "right" if right else "left")
    return make(np.asarray(places, np.int64))
