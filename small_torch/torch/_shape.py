"""Shapes: views that turn, split, add and drop axes, and copies where no view will do."""
import builtins
import math

import numpy as np

from torch._dtypes import F32, laid, packed
from torch._base import OPS, error, make, need, NotHere, op, Tensor, view
from torch._arguments import axes_of, axis_of, sizes_of, summed_to, whole


def resolved(shape, count):
    """A shape in which -1 has become a size."""
    if any(size < -1 for size in shape):
        raise error(RuntimeError, f"invalid shape dimension {min(shape)} at index {shape.index(min(shape))} of shape "
                    f"{list(shape)}")
    if shape.count(-1) > 1:
        raise error(RuntimeError, "only one dimension can be inferred")
    known = math.prod(size for size in shape if size != -1)
    if -1 in shape:
        if known == count == 0:
            raise error(RuntimeError, f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
                        "unspecified dimension size -1 can be any value and is ambiguous")
        if known and count % known == 0:
            return tuple(count // known if size == -1 else size for size in shape)
    elif known == count:
        return shape
    raise error(RuntimeError, f"shape '{list(shape)}' is invalid for input of size {count}")


def viewed(array, shape):
    """An array of this shape that shares the numbers; None where none can."""
    if array.size == 0:
        return array.reshape(shape)
    same = array.reshape(shape)
    return same if np.shares_memory(same, array) else None


def view_as(input, shape):
    before = input.array.shape
    return view(input, lambda a: viewed(a, shape), lambda g: g.reshape(before))


def view_(input, *shape):
    if builtins.any(isinstance(size, (float, type(F32))) for size in shape):
        raise NotHere("view of floats, or as another dtype")
    if input.is_gradient and input.ndim > 1:
        raise NotHere("view of a gradient")
    shape = resolved(sizes_of(shape), input.array.size)
    if viewed(input.array, shape) is None:
        raise error(RuntimeError, "view size is not compatible with input tensor's size and stride (at least one "
                    "dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
    return view_as(input, shape)


op(view_, "view")


@op
def reshape(input, *shape):
    shape = resolved(sizes_of(shape), need(input, "reshape").array.size)
    if viewed(input.array, shape) is not None:
        return view_as(input, shape)
    before = input.array.shape
    return make(packed(input.array).reshape(shape), input.dtype, [(input, lambda g: g.reshape(before))])


op(lambda input, other: reshape(input, other.shape), "reshape_as")
op(lambda input, other: view_(input, other.shape), "view_as")


@op
def flatten(input, start_dim=0, end_dim=-1):
    first, last = axis_of(start_dim, need(input, "flatten").ndim), axis_of(end_dim, input.ndim)
    if first > last:
        raise error(RuntimeError, "flatten() has invalid args: start_dim cannot come after end_dim")
    if input.ndim and first == last:
        return input
    shape = input.array.shape
    return reshape(input, (*shape[:first], math.prod(shape[first:last + 1]), *shape[last + 1:]))


@op
def ravel(input):
    return OPS["contiguous"](input).view(-1)


@op
def unflatten(input, dim, sizes):
    axis = axis_of(dim, need(input, "unflatten").ndim)
    if not isinstance(sizes, int) and not sizes:
        raise error(RuntimeError, "unflatten: sizes must be non-empty")
    sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    size, known = input.array.shape[axis], math.prod(n for n in sizes if n != -1)
    if any(n < -1 for n in sizes) or sizes.count(-1) > 1 or not sizes or known == 0 and -1 in sizes:
        raise NotHere("unflatten into these sizes")
    if size % known if -1 in sizes else size != known:
        raise error(RuntimeError, f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim "
                    f"{axis} ({size}) in the input tensor")
    sizes = [size // known if n == -1 else n for n in sizes]
    return view_(input, (*input.array.shape[:axis], *sizes, *input.array.shape[axis + 1:]))


# --- The order of axes -----------------------------------------------------------------------------------------------

def turned(input, order):
    back = np.argsort(order)
    return view(input, lambda a: a.transpose(order), lambda g: g.transpose(back))


@op
def transpose(input, dim0, dim1):
    order = list(range(need(input, "transpose").ndim))
    i, j = axis_of(dim0, input.ndim), axis_of(dim1, input.ndim)
    if input.ndim:
        order[i], order[j] = order[j], order[i]
    return turned(input, order)


@op
def permute(input, *dims):
    dims = sizes_of(dims)
    if len(dims) != need(input, "permute").ndim:
        raise error(RuntimeError, "permute(sparse_coo): number of dimensions in the tensor input does not match the "
                    f"length of the desired ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to "
                    f"len(dims) = {len(dims)}")
    order = [axis_of(dim, input.ndim) for dim in dims]
    if len(set(order)) < len(order):
        raise error(RuntimeError, "permute(): duplicate dims are not allowed.")
    return turned(input, order)


@op
def movedim(input, source, destination):
    source, destination = ([dim] if isinstance(dim, int) else list(dim) for dim in (source, destination))
    source, destination = ([axis_of(d, input.ndim) for d in dims] for dims in (source, destination))
    if len(set(source)) != len(set(destination)) or len(source) != len(destination):
        raise NotHere("movedim of these")
    order = [i for i in range(input.ndim) if i not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return turned(input, order)


@op
def t(input):
    if input.ndim > 2:
        raise error(RuntimeError, f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return turned(input, range(input.ndim)[::-1])


def all_turned(input):
    """.T, which torch warns of where there are more than two axes."""
    return turned(input, range(input.ndim)[::-1])


def last_turned(input):
    """.mT"""
    if input.ndim < 2:
        raise error(RuntimeError, "tensor.mT is only supported on matrices or batches of matrices. Got "
                    f"{input.ndim}-D tensor.")
    return transpose(input, -2, -1)


# --- Axes of size 1, and stretched ones ------------------------------------------------------------------------------

@op
def squeeze(input, dim=None):
    shape = need(input, "squeeze").array.shape
    axes = [axis for axis in axes_of(dim, input.ndim) if shape[axis] == 1]
    if dim == ():
        axes = []
    return view(input, lambda a: a.squeeze(tuple(axes)), lambda g: g.reshape(shape))


@op
def unsqueeze(input, dim):
    shape = need(input, "unsqueeze").array.shape
    count = input.ndim + 1
    dim = whole(dim)
    if not -count <= dim < count:
        axis_of(dim, count)
    return view(input, lambda a: np.expand_dims(a, dim % count), lambda g: g.reshape(shape))


@op
def expand(input, *sizes, implicit=False):
    sizes, shape = sizes_of(sizes), input.array.shape
    lead = len(sizes) - len(shape)
    if lead < 0:
        raise error(RuntimeError, f"expand(torch.{input.dtype.short}Tensor{{{list(shape)}}}, size={list(sizes)}): the "
                    f"number of sizes provided ({len(sizes)}) must be greater or equal to the number of dimensions in "
                    f"the tensor ({len(shape)})")
    target = list(sizes)
    for i in range(len(sizes))[::-1]:
        old = shape[i - lead] if i >= lead else 1
        if target[i] == -1:
            if i < lead:
                raise error(RuntimeError, f"The expanded size of the tensor (-1) isn't allowed in a leading, "
                            f"non-existing dimension {i}")
            target[i] = old
        elif old != target[i] and old != 1:
            raise error(RuntimeError, f"The expanded size of the tensor ({target[i]}) must match the existing size "
                        f"({old}) at non-singleton dimension {i}.  Target sizes: {list(sizes)}.  Tensor sizes: "
                        f"{list(shape)}")
    return view(input, lambda a: stretched(a, target), lambda g: summed_to(g, shape))


def stretched(array, shape):
    lead = len(shape) - array.ndim
    steps = [0] * lead + [0 if new != old else step for new, old, step in
                          zip(shape[lead:], array.shape, array.strides)]
    return np.lib.stride_tricks.as_strided(array, shape, steps)


op(lambda input, other: expand(input, other.shape), "expand_as")


@op
def broadcast_to(input, *size):
    return expand(input, *size)


# --- Copies ----------------------------------------------------------------------------------------------------------

@op
def repeat(input, *sizes):
    if not sizes:
        raise NotHere("repeat how often?")
    sizes, shape = sizes_of(sizes), input.array.shape
    lead = len(sizes) - len(shape)
    if lead < 0:
        raise error(RuntimeError, "Number of dimensions of repeat dims can not be smaller than number of dimensions "
                    "of tensor")
    if min(sizes, default=1) < 0:
        raise NotHere("repeat less than no times")
    padded = (1,) * lead + shape

    def back(gradient):
        parted = gradient.reshape([n for pair in zip(sizes, padded) for n in pair])
        return parted.sum(tuple(range(0, 2 * len(sizes), 2))).reshape(shape)
    return make(packed(np.tile(input.array, sizes)), input.dtype, [(input, back)])


@op
def tile(input, *dims):
    dims = sizes_of(dims)
    return repeat(input, (1,) * (input.ndim - len(dims)) + dims)


@op
def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    if dim is None:
        return repeat_interleave(flatten(input), repeats, 0)
    axis = axis_of(dim, need(input, "repeat_interleave").ndim)
    if isinstance(repeats, Tensor) and repeats.array.size != 1 and repeats.array.shape != (input.shape[axis],):
        raise NotHere("repeat_interleave as often as this")
    counts = repeats.array.reshape(-1) if isinstance(repeats, Tensor) else np.asarray([whole(repeats)])
    if counts.dtype.kind != "i":
        raise NotHere("repeat_interleave as often as this")
    if (counts < 0).any():
        raise NotHere("repeat_interleave less than no times")
    counts = counts.astype(np.intp)                      # of 32 bits in a page
    order = np.repeat(np.arange(input.shape[axis]), counts if len(counts) > 1 else int(counts[0]))
    return OPS["index_select"](input, axis, make(order))


@op
def flip(input, *args, dims=None):
    dims = sizes_of(args if dims is None else (dims,))
    axes = tuple(axis_of(dim, need(input, "flip").ndim) for dim in dims)
    if len(set(axes)) < len(axes):
        raise NotHere("flip twice along an axis")
    return make(laid(np.flip(input.array, axes), input.array) if input.ndim else input.array.copy(), input.dtype,
                [(input, lambda g: np.flip(g, axes))])


@op
def roll(input, shifts, dims=None):
    if dims is None:
        return view_as(roll(flatten(input), shifts, 0), input.array.shape)
    shifts, dims = ((value,) if isinstance(value, int) else tuple(value) for value in (shifts, dims))
    if len(shifts) != len(dims):
        raise error(RuntimeError, f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    axes = tuple(axis_of(dim, input.ndim) for dim in dims)
    return make(packed(np.roll(input.array, shifts, axes)), input.dtype,
                [(input, lambda g: np.roll(g, tuple(-shift for shift in shifts), axes))])
