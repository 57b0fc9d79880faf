"""Indices: what x[...] reads and writes, gather and scatter, and the steps that change a tensor in place."""
import builtins
import operator

import numpy as np

from torch._dtypes import B, FLOAT, laid
from torch._base import OPS, error, make, NotHere, op, Tensor, view
from torch._arguments import as_tensor_of, axis_of, python_type, summed_to
from torch._gradient import refuse_leaf, write
from torch._create import tensor


def resolved(input, index):
    """An index as numpy takes it: integers, slices, None, an ellipsis, arrays. Its bounds are checked."""
    parts = []
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, (list, range)):
            part = tensor(list(part))
        if isinstance(part, bool):
            raise NotHere("an index that is True or False")
        if isinstance(part, slice):
            if any(n is not None and not hasattr(type(n), "__index__") for n in (part.start, part.stop, part.step)):
                raise error(TypeError, "slice indices must be integers or None or have an __index__ method")
            if not input.ndim and part is index:
                raise error(IndexError, "slice() cannot be applied to a 0-dim tensor.")
            part = slice(*(None if n is None else operator.index(n) for n in (part.start, part.stop, part.step)))
            if part.step == 0:
                raise error(ValueError, "slice step cannot be zero")
            if part.step is not None and part.step < 0:
                raise error(ValueError, "step must be greater than zero")
        elif isinstance(part, Tensor):
            if part.dtype.rank >= FLOAT:
                raise error(IndexError, "tensors used as indices must be long, int, byte or bool tensors")
            if part.dtype.name == "uint8" or part.dtype is B and not part.ndim:
                raise NotHere("an index of uint8, or of one boolean")
            part = part.array if part.ndim else int(part.array)
        elif isinstance(part, float):
            raise error(IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                        "are valid indices (got float)")
        elif isinstance(part, str):
            raise error(TypeError, "new(): invalid data type 'str'")
        elif part is not None and part is not Ellipsis:
            part = operator.index(part)
        parts.append(part)
    return in_bounds(input.array.shape, parts)


def in_bounds(shape, parts):
    used = [0 if part is None or part is Ellipsis else part.ndim if is_mask(part) else 1 for part in parts]
    if builtins.sum(part is Ellipsis for part in parts) > 1:
        raise NotHere("two ellipses")
    if builtins.sum(used) > len(shape):
        raise error(IndexError, f"too many indices for tensor of dimension {len(shape)}" if shape or len(parts) > 1 else
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                    "convert a 0-dim tensor to a number")
    axis = chosen = 0                                   # chosen: how many tensors come before, by which torch counts
    for part, count in zip(parts, used):
        if part is Ellipsis:
            axis = len(shape) - builtins.sum(used[parts.index(Ellipsis):])
        if isinstance(part, int) and not -shape[axis] <= part < shape[axis]:
            raise error(IndexError, f"index {part} is out of bounds for dimension {axis} with size {shape[axis]}")
        if is_mask(part):
            for k in range(part.ndim):
                if part.shape[k] != shape[axis + k]:
                    raise error(IndexError, f"The shape of the mask {list(part.shape)} at index {k} does not match the "
                                f"shape of the indexed tensor {list(shape)} at index {axis + k}")
        elif isinstance(part, np.ndarray):
            outside = part[(part < -shape[axis]) | (part >= shape[axis])]
            if outside.size and not shape[axis]:
                raise error(IndexError, "index is out of bounds for dimension with size 0")
            if outside.size:
                raise error(IndexError, f"index {outside[0]} is out of bounds for dimension {chosen} with size "
                            f"{shape[axis]}")
        chosen += count if isinstance(part, np.ndarray) else 0
        axis += count
    places = [part for part in parts if isinstance(part, np.ndarray) and not is_mask(part)]
    try:
        np.broadcast_shapes(*(part.shape for part in places))
    except ValueError:
        raise error(IndexError, "shape mismatch: indexing tensors could not be broadcast together with shapes "
                    f"{', '.join(str(list(part.shape)) for part in places)}") from None
    return parts


def is_mask(part):
    return isinstance(part, np.ndarray) and part.dtype == bool


def split_index(parts):
    """(what makes a view of it: integers, slices and None; the arrays that are left for what remains)."""
    simple = tuple(slice(None) if isinstance(part, np.ndarray) and not is_mask(part) else part for part in parts)
    if not any(isinstance(part, np.ndarray) for part in parts):
        return (*simple, *(() if Ellipsis in parts else (Ellipsis,))), None
    if any(is_mask(part) and part.ndim > 1 for part in parts) and any(isinstance(part, int) for part in parts):
        raise NotHere("an index of a mask and numbers mixed")
    simple = tuple(slice(None) if isinstance(part, np.ndarray) else part for part in parts
                   for _ in range(part.ndim if is_mask(part) else 1))
    return simple, tuple(part if isinstance(part, np.ndarray) or part is Ellipsis else slice(None)
                         for part in parts if not isinstance(part, int))


def part_of(input, simple):
    shape = input.array.shape

    def back(gradient):
        whole = np.zeros(shape, gradient.dtype)
        whole[simple] = gradient
        return whole
    return view(input, lambda a: a[simple], back)


def getitem(input, index):
    simple, arrays = split_index(resolved(input, index))
    part = part_of(input, simple)
    if arrays is None:
        return part
    shape = part.array.shape

    def back(gradient):
        whole = np.zeros(shape, gradient.dtype)
        np.add.at(whole, arrays, gradient)
        return whole
    return make(laid(part.array[arrays], layout(part.array, arrays)), input.dtype, [(part, back)])


def layout(array, arrays):
    """An array of the strides by which torch orders the result of an index: 0 where tensors chose."""
    if array.flags.c_contiguous:
        return array
    kinds = [kind for part in arrays for kind in ([part] + [None] * (part.ndim - 1) if is_mask(part) else [part])]
    rest = [slice(None)] * (array.ndim - sum(kind is not Ellipsis for kind in kinds))
    kinds = [kind for part in kinds for kind in (rest if part is Ellipsis else [part])]
    kinds += [slice(None)] * (array.ndim - len(kinds))
    places = [k for k, kind in enumerate(kinds) if not isinstance(kind, slice)]
    first = places[0] if places == list(range(places[0], places[-1] + 1)) else 0
    shape = array[arrays].shape
    steps = [(size, step) for size, step, kind in zip(array.shape, array.strides, kinds) if isinstance(kind, slice)]
    chosen = len(shape) - len(steps)
    steps[first:first] = [(size, 0) for size in shape[first:first + chosen]]
    return np.lib.stride_tricks.as_strided(array, [size for size, _ in steps], [step for _, step in steps])


def setitem(input, index, value):
    simple, arrays = split_index(resolved(input, index))
    if not isinstance(value, Tensor) and python_type(value) is None:
        raise error(TypeError, f"can't assign a {type(value).__name__} to a {input.type()}")
    new = as_tensor_of(value)
    if input.dtype.rank < FLOAT <= new.dtype.rank and not isinstance(value, Tensor):
        new = make(new.array.astype(input.array.dtype), input.dtype)
    if all(part in (Ellipsis, slice(None)) for part in simple):
        refuse_leaf(input)
    part = part_of(input, simple)
    refuse_leaf(part)
    target = part.array.shape if arrays is None else part.array[arrays].shape
    new = meeting(new, target, arrays)
    if arrays is not None:
        new = put(part, arrays, new)
    write(part, new if new.dtype is part.dtype else OPS["to"](new, part.dtype))


op(getitem, "__getitem__")
op(setitem, "__setitem__")


def meeting(value, target, arrays):
    """What is assigned, without the axes of size 1 that it has too many."""
    shape = value.array.shape
    while shape and shape[0] == 1:
        shape = shape[1:]
    if len(shape) > len(target) or any(a not in (1, b) for a, b in zip(shape[::-1], target[::-1])):
        if arrays is not None:
            raise error(RuntimeError, f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to "
                        f"indexing result of shape {list(target)}")
        OPS["expand"](OPS["reshape"](value, shape), target)                             # which refuses it
    return OPS["reshape"](value, shape) if shape != value.array.shape else value


def put(input, arrays, value):
    """A copy of a tensor with other numbers at some places."""
    array = input.array.copy()
    array[arrays] = value.array.astype(array.dtype)
    if value.requires_grad and counts_twice(input.array.shape, arrays):
        raise NotHere("the gradient of an assignment twice to one place")
    shape = value.array.shape

    def kept(gradient):
        gradient = gradient.copy()
        gradient[arrays] = 0
        return gradient

    def taken(gradient):
        return summed_to(gradient[arrays], shape)
    return make(array, input.dtype, [(input, kept), (value, taken)])


def counts_twice(shape, arrays):
    counts = np.zeros(shape, int)
    np.add.at(counts, arrays, 1)
    return (counts > 1).any()


@op
def select(input, dim, index):
    axis = axis_of(dim, input.ndim)
    if not input.ndim:
        raise error(IndexError, "select() cannot be applied to a 0-dim tensor.")
    if not -input.shape[axis] <= index < input.shape[axis]:
        raise error(IndexError, f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
                    f"dimension {axis}")
    return part_of(input, (slice(None),) * axis + (operator.index(index),) + (Ellipsis,))


@op
def narrow(input, dim, start, length):
    axis, start = axis_of(dim, input.ndim), operator.index(start)
    size = input.array.shape[axis]
    start = start + size if start < 0 else start
    if length < 0 or start + length > size or start < 0:
        raise NotHere("narrow beyond the end")
    return part_of(input, (slice(None),) * axis + (slice(start, start + length), Ellipsis))


@op
def nonzero(input, *, as_tuple=False):
    if not input.ndim:
        raise NotHere("nonzero without axes")
    places = np.nonzero(input.array)
    if as_tuple:
        return tuple(make(place.astype(np.int64)) for place in places)
    return make(np.stack(places).astype(np.int64).T)


@op
def argwhere(input):
    return nonzero(input)


@op
def masked_select(input, mask):
    if mask.dtype is not B:
        raise NotHere("masked_select with no booleans")
    input, mask = OPS["broadcast_tensors"](input, mask)
    return getitem(input, mask)
