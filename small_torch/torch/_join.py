"""Tensors joined and taken apart; triangles and diagonals; padding."""
import builtins
import functools

import numpy as np

from torch._dtypes import B, I64, packed, promote_types
from torch._base import OPS, error, make, need, NotHere, op, Tensor, view
from torch._arguments import all_tensors, axis_of, broadcast, whole
from torch._index import narrow, part_of, setitem


def tensors_in(tensors, name):
    tensors = list(tensors)
    if not tensors:
        if name == "stack":
            raise error(RuntimeError, "stack expects a non-empty TensorList")
        raise error(ValueError, "torch.cat(): expected a non-empty list of Tensors")
    all_tensors(tensors, 0)
    return tensors


@op
def stack(tensors, dim=0):
    tensors = tensors_in(tensors, "stack")
    shape, axis = tensors[0].array.shape, axis_of(dim, tensors[0].ndim + 1)
    for i, tensor in enumerate(tensors):
        if tensor.array.shape != shape:
            raise error(RuntimeError, f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 "
                        f"and {list(tensor.shape)} at entry {i}")
    kind = functools.reduce(promote_types, [tensor.dtype for tensor in tensors])
    array = np.stack([tensor.array.astype(kind.numpy) for tensor in tensors], axis)
    return make(packed(array), kind,
                [(tensor, lambda g, i=i: np.take(g, i, axis)) for i, tensor in enumerate(tensors)])


@op
def cat(tensors, dim=0):
    tensors = tensors_in(tensors, "cat")
    for i, tensor in enumerate(tensors):
        if not tensor.ndim:
            raise error(RuntimeError, f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    parts = [tensor for tensor in tensors if tensor.array.shape != (0,)] or tensors
    axis, shape = axis_of(dim, parts[0].ndim), parts[0].array.shape
    for i, tensor in enumerate(parts):
        if tensor.ndim != len(shape):
            raise error(RuntimeError, f"Tensors must have same number of dimensions: got {len(shape)} and "
                        f"{tensor.ndim}")
        for k, (size, other) in enumerate(zip(shape, tensor.shape)):
            if k != axis and size != other:
                raise error(RuntimeError, f"Sizes of tensors must match except in dimension {axis}. Expected size "
                            f"{size} but got size {other} for tensor number {i} in the list.")
    if len(shape) in (4, 5) and any(
            not t.array.flags.c_contiguous and t.array.strides[1] == t.array.itemsize for t in parts):
        raise NotHere("cat of channels that come last")
    kind = functools.reduce(promote_types, [tensor.dtype for tensor in tensors])
    ends = np.cumsum([0] + [tensor.shape[axis] for tensor in parts])
    array = np.concatenate([tensor.array.astype(kind.numpy) for tensor in parts], axis)
    backs = [(tensor, lambda g, place=(slice(None),) * axis + (slice(start, end),): g[place])
             for tensor, start, end in zip(parts, ends, ends[1:])]
    backs += [(tensor, lambda g: np.zeros(0)) for tensor in tensors if tensor.array.shape == (0,)]
    return make(packed(array), kind, backs)


@op
def hstack(tensors):
    tensors = [tensor if tensor.ndim else tensor.reshape(1) for tensor in tensors_in(tensors, "hstack")]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1)


@op
def vstack(tensors):
    return cat([tensor if tensor.ndim > 1 else tensor.reshape(1, -1) for tensor in tensors_in(tensors, "vstack")])


@op
def column_stack(tensors):
    tensors = tensors_in(tensors, "column_stack")
    return hstack([tensor if tensor.ndim > 1 else tensor.reshape(-1, 1) for tensor in tensors])


def several(parts):
    """Views that were made at once: none may be changed in place where gradients are recorded."""
    parts = tuple(parts)
    for part in parts:
        if part.of is not None:
            part.of.many = True
    return parts


@op
def split(tensor, split_size_or_sections, dim=0):
    axis, size = axis_of(dim, need(tensor, "split").ndim), split_size_or_sections
    total = tensor.shape[axis]
    if isinstance(size, (list, tuple)):
        sizes = [whole(n) for n in size]
        if min(sizes, default=0) < 0:
            raise error(RuntimeError, "split_with_sizes expects split_sizes have only non-negative entries, but got "
                        f"split_sizes={sizes}")
        if builtins.sum(sizes) != total:
            raise error(RuntimeError, f"split_with_sizes expects split_sizes to sum exactly to {total} (input "
                        f"tensor's size at dimension {dim}), but got split_sizes={sizes}")
    else:
        if whole(size) <= 0 or not total:
            raise NotHere("split into parts of this size")
        sizes = [min(size, total - start) for start in range(0, total, size)]
    ends = np.cumsum([0] + sizes)
    return several(narrow(tensor, axis, int(start), n) for start, n in zip(ends, sizes))


@op
def chunk(input, chunks, dim=0):
    axis = axis_of(dim, need(input, "chunk").ndim)
    if whole(chunks) <= 0:
        raise error(RuntimeError, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not input.shape[axis]:
        raise NotHere("chunks of nothing")
    return split(input, -(-input.shape[axis] // whole(chunks)), axis)


@op
def tensor_split(input, indices_or_sections, dim=0):
    axis = axis_of(dim, need(input, "tensor_split").ndim)
    total, parts = input.shape[axis], indices_or_sections
    if isinstance(parts, (list, tuple)):
        ends = [slice(whole(n)).indices(total)[1] for n in parts]
    elif isinstance(parts, int) and parts > 0:
        ends = [i * (total // parts) + builtins.min(i, total % parts) for i in range(1, parts)]
    else:
        raise NotHere("tensor_split into such parts")
    return several(narrow(input, axis, start, builtins.max(end - start, 0))
                   for start, end in zip([0, *ends], [*ends, total]))


@op
def unbind(input, dim=0):
    axis = axis_of(dim, need(input, "unbind").ndim)
    if not input.ndim:
        raise error(IndexError, "Dimension specified as 0 but tensor has no dimensions")
    return several(part_of(input, (slice(None),) * axis + (i, Ellipsis)) for i in range(input.shape[axis]))


@op
def broadcast_tensors(*tensors):
    shape = broadcast(*(tensor.array.shape for tensor in tensors))
    return tuple(OPS["expand"](tensor, shape) for tensor in tensors)


@op
def meshgrid(*tensors, indexing=None):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    all_tensors(tensors, 0)
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise error(RuntimeError, "meshgrid expects all tensors to have the same dtype")
    if any(tensor.ndim > 1 for tensor in tensors) or indexing not in (None, "ij", "xy"):
        raise NotHere("meshgrid of these")
    sizes = [tensor.array.size for tensor in tensors]
    grids = tuple(OPS["expand"](tensor.view((1,) * i + (sizes[i],) + (1,) * (len(sizes) - i - 1)), sizes)
                  for i, tensor in enumerate(tensors))
    return tuple(grid.transpose(0, 1) for grid in grids) if indexing == "xy" and len(sizes) > 1 else grids


@op
def cartesian_prod(*tensors):
    all_tensors(tensors, 0)
    for tensor in tensors:
        if tensor.ndim != 1:
            raise error(RuntimeError, f"Expect a 1D vector, but got shape {list(tensor.shape)}")
    return tensors[0] if len(tensors) == 1 else stack([grid.flatten() for grid in meshgrid(*tensors)], -1)


@op
def block_diag(*tensors):
    tensors = [tensor if tensor.ndim == 2 else tensor.reshape(1, -1) for tensor in tensors]
    made = OPS["zeros"](*(builtins.sum(tensor.shape[k] for tensor in tensors) for k in (0, 1)),
                        dtype=functools.reduce(promote_types, [tensor.dtype for tensor in tensors]))
    row = column = 0
    for tensor in tensors:
        n, m = tensor.shape
        setitem(made, (slice(row, row + n), slice(column, column + m)), tensor)
        row, column = row + n, column + m
    return made


@op
def diff(input, n=1, dim=-1, prepend=None, append=None):
    if n != 1 or prepend is not None or append is not None or not input.ndim or input.dtype is B:
        raise NotHere("diff with these options")
    axis = axis_of(dim, input.ndim)
    count = builtins.max(input.shape[axis] - 1, 0)
    return narrow(input, axis, input.shape[axis] - count, count) - narrow(input, axis, 0, count)


@op
def cdist(x1, x2, p=2.0, compute_mode=None):
    if p != 2 or x1.requires_grad or x2.requires_grad:
        raise NotHere("cdist with these options")
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1] or x1.dtype is not x2.dtype:
        raise NotHere("cdist of these")
    return OPS["linalg.vector_norm"](x1.unsqueeze(-2) - x2.unsqueeze(-3), 2, -1)


# --- Triangles and diagonals -----------------------------------------------------------------------------------------

for name in ("tril", "triu"):
    def triangle(input, diagonal=0, _name=name):
        if need(input, _name).ndim < 2:
            raise error(RuntimeError, f"{_name}: input tensor must have at least 2 dimensions")
        kept = getattr(np, _name)(np.ones(input.array.shape[-2:], bool), whole(diagonal))
        array = np.where(kept, input.array, np.zeros((), input.array.dtype))
        return make(packed(array), input.dtype, [(input, lambda g: np.where(kept, g, 0))])

    def places(row, col, offset=0, dtype=None, device=None, _name=name):
        return make(np.stack(getattr(np, f"{_name}_indices")(row, offset, col)).astype(np.int64), dtype or I64)

    op(triangle, name)
    op(places, f"{name}_indices")


@op
def diagonal(input, offset=0, dim1=0, dim2=1):
    one, two, shape = axis_of(dim1, input.ndim), axis_of(dim2, input.ndim), input.array.shape
    if one == two:
        raise error(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")

    def read(array):
        found = np.diagonal(array, offset, one, two)
        return np.lib.stride_tricks.as_strided(found, found.shape, found.strides) if not array.flags.writeable else (
            writeable(found))

    def back(gradient):
        whole = np.zeros(shape, gradient.dtype)
        read(whole)[...] = gradient
        return whole
    return view(input, read, back)


def writeable(array):
    array.flags.writeable = True
    return array


@op
def diag(input, diagonal=0):
    if need(input, "diag").ndim not in (1, 2):
        raise error(RuntimeError, f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    return diag_embed(input, diagonal) if input.ndim == 1 else OPS["clone"](OPS["diagonal"](input, diagonal))


@op
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    if (dim1, dim2) != (-2, -1) or not input.ndim:
        raise NotHere("diag_embed along these axes")
    size = input.shape[-1] + abs(offset)
    made = OPS["zeros"](*input.shape[:-1], size, size, dtype=input.dtype)
    OPS["copy_"](OPS["diagonal"](made, offset, -2, -1), input)
    return made


@op
def one_hot(tensor, num_classes=-1):
    if tensor.dtype is not I64:
        raise error(RuntimeError, "one_hot is only applicable to index tensor of type LongTensor.")
    if not tensor.array.size or tensor.array.min() < 0:
        raise NotHere("one_hot of nothing, or of negative numbers")
    count = int(tensor.array.max()) + 1 if num_classes == -1 else num_classes
    if tensor.array.max() >= count:
        raise error(RuntimeError, "Class values must be smaller than num_classes.")
    return make(np.eye(count, dtype=np.int64)[tensor.array])


@op
def pad(input, pad, mode="constant", value=None):
    if isinstance(pad, Tensor):
        raise error(TypeError, "pad(): argument 'pad' (position 2) must be tuple of ints, not Tensor")
    if mode != "constant" or len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise NotHere("pad with these options")
    widths = [(0, 0)] * (input.ndim - len(pad) // 2) + [(whole(pad[i]), whole(pad[i + 1]))
                                                         for i in range(0, len(pad), 2)][::-1]
    for axis, (before, after) in enumerate(widths):
        input = narrow(input, axis, builtins.max(-before, 0),
                       input.shape[axis] + builtins.min(before, 0) + builtins.min(after, 0))
    widths = [(builtins.max(before, 0), builtins.max(after, 0)) for before, after in widths]
    inside = tuple(slice(before, before + n) for (before, _), n in zip(widths, input.array.shape))
    array = np.pad(input.array, widths, constant_values=0 if value is None else value) if input.ndim else input.array
    return make(packed(array).reshape(array.shape), input.dtype, [(input, lambda g: g[inside])])
