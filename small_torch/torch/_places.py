"""Places along one axis: gather, scatter, index_select and their like; and what changes a tensor in place."""

import numpy as np

from torch._dtypes import I64, packed
from torch._base import OPS, error, make, need, NotHere, op, Tensor
from torch._arguments import as_tensor_of, axis_of, python_type
from torch._gradient import write
from torch._index import counts_twice, setitem


# --- Along one axis --------------------------------------------------------------------------------------------------

def places_of(index, axis, name):
    """An index for gather and scatter, as numpy takes it."""
    if index.dtype is not I64:
        raise NotHere(f"{name} at places of {index.dtype}")
    grid = list(np.indices(index.array.shape, sparse=True))
    grid[axis] = index.array
    return tuple(grid)


def fits(input, axis, index, name):
    if not input.ndim or not index.ndim:
        raise NotHere("places in a tensor without axes")
    if index.ndim != input.ndim:
        raise error(RuntimeError, f"Index tensor must have the same number of dimensions as {name} tensor")
    size = input.shape[axis]
    outside = index.array[(index.array < 0) | (index.array >= size)]
    if outside.size:
        raise error(RuntimeError, f"index {outside[0]} is out of bounds for dimension {axis} with size {size}")
    if any(n > m for k, (n, m) in enumerate(zip(index.shape, input.shape)) if k != axis):
        raise NotHere("an index of more rows than there are")


@op
def gather(input, dim, index, *, sparse_grad=False):
    axis, shape = axis_of(dim, need(input, "gather").ndim), input.array.shape
    if index.dtype.rank <= I64.rank and index.dtype is not I64:
        raise NotHere(f"gather at places of {index.dtype}")
    if index.dtype is not I64:
        raise error(RuntimeError, "gather(): Expected dtype int32/int64 for index")
    fits(input, axis, index, "input")
    places = places_of(index, axis, "gather")

    def back(gradient):
        whole = np.zeros(shape, gradient.dtype)
        np.add.at(whole, places, gradient)
        return whole
    return make(packed(input.array[places]), input.dtype, [(input, back)], [index])


@op
def take_along_dim(input, indices, dim=None):
    if dim is None:
        raise NotHere("take_along_dim of all")
    axis = axis_of(dim, input.ndim)
    shape = [max(a, b) for a, b in zip(input.shape, indices.shape)]
    if input.ndim != indices.ndim or (indices.array < 0).any():
        raise NotHere("take_along_dim of other axes, or from behind")
    at, of = list(shape), list(shape)
    at[axis], of[axis] = indices.shape[axis], input.shape[axis]
    return gather(OPS["expand"](input, of), axis, OPS["expand"](indices, at))


def scattered(input, dim, index, src, add):
    axis = axis_of(dim, input.ndim)
    fits(input, axis, index, "self")
    places, array = places_of(index, axis, "scatter"), np.array(input.array, order="C")
    corner = tuple(slice(0, n) for n in index.array.shape)
    if isinstance(src, Tensor):
        if src.dtype is not input.dtype or any(n > m for n, m in zip(index.shape, src.shape)):
            raise NotHere("scatter of another dtype or size")
    if not add and isinstance(src, Tensor) and counts_twice(input.array.shape, places):
        raise NotHere("scatter twice to one place")
    numbers = src.array[corner] if isinstance(src, Tensor) else src
    if add:
        np.add.at(array, places, numbers)
    else:
        array[places] = numbers

    def kept(gradient):
        gradient = gradient.copy()
        if not add:
            gradient[places] = 0
        return gradient

    def taken(gradient):
        whole = np.zeros(src.array.shape, gradient.dtype)
        whole[corner] = gradient[places]
        return whole
    return make(array, input.dtype, [(input, kept), *([(src, taken)] if isinstance(src, Tensor) else [])], [index])


@op
def scatter(input, dim, index, src=None, value=None, *, reduce=None):
    if reduce is not None:
        raise NotHere("scatter with reduce")
    return scattered(input, dim, index, value if src is None else src, add=False)


@op
def scatter_add(input, dim, index, src):
    return scattered(input, dim, index, src, add=True)


@op
def index_select(input, dim, index):
    axis, shape = axis_of(dim, input.ndim), input.array.shape
    if index.ndim > 1 or not input.ndim or index.dtype.rank != 1:
        raise NotHere("index_select at these places")
    places = index.array.reshape(-1).astype(np.intp)
    if ((places < 0) | (places >= shape[axis])).any():
        raise error(IndexError, "index out of range in self")

    def back(gradient):
        whole = np.zeros(shape, gradient.dtype)
        np.add.at(whole, (slice(None),) * axis + (places,), gradient)
        return whole
    return make(packed(np.take(input.array, places, axis)), input.dtype, [(input, back)], [index])


def at_places(name, change):
    """index_fill, index_copy, index_add: a copy with some slices changed."""
    def called(input, dim, index, source):
        axis = axis_of(dim, input.ndim)
        if index.ndim > 1 or not input.ndim or index.dtype.rank != 1:
            raise NotHere(f"{name} with these options")
        if isinstance(source, Tensor) and source.dtype is not input.dtype or python_type(source) is None and not (
                isinstance(source, Tensor)):
            raise NotHere(f"{name} of another dtype")
        wanted = (*input.shape[:axis], index.array.size, *input.shape[axis + 1:])
        if name == "index_copy" and isinstance(source, Tensor) and source.array.shape != wanted:
            raise NotHere("index_copy of another shape")
        copy = OPS["clone"](input) if name == "index_fill" else OPS["clone"](input.contiguous())
        places = (slice(None),) * axis + (index.reshape(-1),)
        setitem(copy, places, change(copy, places, source))
        return copy
    return op(called, name)


at_places("index_fill", lambda input, places, value: value)
at_places("index_copy", lambda input, places, source: source)


@op
def index_add(input, dim, index, source, *, alpha=1):
    axis = axis_of(dim, input.ndim)
    if index.ndim != 1 or not input.ndim or source.dtype is not input.dtype or alpha != 1:
        raise NotHere("index_add of this")
    places, array = (slice(None),) * axis + (index.array,), input.array.copy()
    if array[places].shape != source.array.shape:
        raise NotHere("index_add of another shape")
    np.add.at(array, places, source.array)
    return make(array, input.dtype, [(input, lambda g: g), (source, lambda g: g[places])], [index])


# --- In place --------------------------------------------------------------------------------------------------------

def zero_(input):
    return write(input, OPS["zeros_like"](input))


def fill_(input, value):
    if isinstance(value, Tensor) and value.ndim:
        raise NotHere("fill_ with more than one number")
    return write(input, OPS["expand"](OPS["to"](as_tensor_of(value), input.dtype), input.shape))


def copy_(input, src, non_blocking=False):
    return write(input, OPS["to"](need(src, "copy_"), input.dtype))


def fill_diagonal_(input, fill_value, wrap=False):
    if wrap or input.ndim != 2:
        raise NotHere("fill_diagonal_ of this")
    fill_(OPS["diagonal"](input), fill_value)
    return input


def normal_(input, mean=0.0, std=1.0, *, generator=None):
    drawn = OPS["randn"](input.shape, generator=generator, dtype=input.dtype)
    return write(input, drawn if (mean, std) == (0, 1) else drawn * std + mean)


def uniform_(input, a=0.0, b=1.0, *, generator=None):
    return write(input, OPS["rand"](input.shape, generator=generator, dtype=input.dtype) * (b - a) + a)


for function in (zero_, fill_, copy_, fill_diagonal_, normal_, uniform_):
    op(function, function.__name__)
