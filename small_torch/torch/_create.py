"""Tensors from nothing: from numbers, of one number, in a row; and torch's own random numbers."""
import contextlib
import functools
import math

import numpy as np

from torch._dtypes import B, C64, F32, F64, FLOAT, I64, OF_PYTHON, OfC, laid, promote_types
from torch._base import error, make, NotHere, op, Tensor
from torch._arguments import python_type, sizes_of, type_of, whole


OF_TYPE = {float: F64, int: I64, bool: B}


def chosen(dtype, default):
    return default if dtype is None else OF_TYPE.get(dtype, dtype)


def finished(tensor, requires_grad=False):
    if requires_grad and tensor.dtype.rank < FLOAT:
        raise error(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients")
    return tensor.requires_grad_() if requires_grad else tensor


def created(function):
    """A function that makes tensors: device, layout and pin_memory are as here, or not here."""
    @functools.wraps(function)
    def called(*args, device=None, layout=None, requires_grad=False, pin_memory=False, **kwargs):
        if pin_memory or layout not in (None, "strided") or str(device or "cpu") != "cpu":
            raise NotHere(f"{function.__name__} on another device or in another layout")
        return finished(function(*args, **kwargs), requires_grad)
    return op(called)


# --- From numbers ----------------------------------------------------------------------------------------------------

def leaves(data):
    for item in data:
        if isinstance(item, (list, tuple)):
            yield from leaves(item)
        else:
            yield item


def numbers_of(data):
    if isinstance(data, Tensor):
        return data.array.tolist()
    return [numbers_of(item) for item in data] if isinstance(data, (list, tuple, range)) else data


@created
def tensor(data, dtype=None):
    if isinstance(data, Tensor):
        return make(data.array.copy(), chosen(dtype, data.dtype))
    if isinstance(data, np.ndarray):
        raise NotHere("a tensor of a numpy array")
    items = list(leaves(data)) if isinstance(data, (list, tuple)) else []
    if any(isinstance(item, Tensor) for item in items):
        if any(isinstance(item, Tensor) and item.array.size != 1 for item in items):
            raise error(ValueError, "only one element tensors can be converted to Python scalars")
        kinds = [item.dtype if isinstance(item, Tensor) else OF_PYTHON[python_type(item)] for item in items]
        dtype, data = dtype or functools.reduce(promote_types, kinds), numbers_of(data)
    if items and isinstance(items[0], str):
        raise error(ValueError, "too many dimensions 'str'")
    if isinstance(data, str):
        raise error(TypeError, "new(): invalid data type 'str'")
    one_kind = items if len({type(item) for item in items}) == 1 else []
    if not items and not isinstance(data, (list, tuple)):
        one_kind = [data]
    if one_kind and dtype is None and not isinstance(one_kind[0], Tensor) and python_type(one_kind[0]) is None:
        raise error(RuntimeError, f"Could not infer dtype of {type_of(one_kind[0])}")
    array = np.array(data)
    if array.dtype.kind not in "bifc":
        raise NotHere(f"a tensor of {array.dtype}")
    kind = {"b": B, "i": I64, "f": F32, "c": C64}[array.dtype.kind] if array.size else F32
    return make(array, chosen(dtype, kind))


@created
def as_tensor(data, dtype=None):
    if isinstance(data, Tensor):
        return data if dtype in (None, data.dtype) else data.to(dtype)
    return tensor(data, dtype=dtype)


# --- Of one number, in a row -----------------------------------------------------------------------------------------

def shape_of(args, size=None):
    shape = sizes_of(args if size is None else (size,))
    if any(n < 0 for n in shape):
        raise error(RuntimeError, f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def filled(shape, value, kind):
    if kind.rank < FLOAT and not np.isfinite(value):
        raise NotHere(f"{value} as {kind}")
    return make(np.full(shape, value, kind.numpy), kind)


@created
def zeros(*args, size=None, dtype=None):
    shape = sizes_of(args if size is None else (size,))
    if any(n < 0 for n in shape):
        raise error(RuntimeError, "zeros: Dimension size must be non-negative.")
    return filled(shape, 0, chosen(dtype, F32))


@created
def ones(*args, size=None, dtype=None):
    return filled(shape_of(args, size), 1, chosen(dtype, F32))


@created
def empty(*args, size=None, dtype=None):
    """Numbers of all sizes stand in it, as in memory that others have used."""
    kind, shape = chosen(dtype, F32), shape_of(args, size)
    if kind.rank < FLOAT:
        return filled(shape, 0, kind)
    random = np.random.default_rng()
    return make(random.standard_normal(shape) * 10.0 ** random.integers(-30, 30), kind)


@created
def full(size, fill_value, dtype=None):
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return filled(shape_of((size,)), value, chosen(dtype, OF_PYTHON[python_type(value)]))


@created
def eye(n, m=None, dtype=None):
    kind = chosen(dtype, F32)
    if n < 0:
        raise error(RuntimeError, f"n must be greater or equal to 0, got {n}")
    return make(np.eye(whole(n), None if m is None else whole(m), dtype=kind.numpy), kind)


@created
def arange(*args, start=None, end=None, step=None, dtype=None):
    args = tuple(arg.item() if isinstance(arg, Tensor) else arg for arg in args)
    if start is not None or end is not None or step is not None:
        if args and (start is not None or len(args) > 1 and end is not None):
            raise NotHere("arange with these arguments")
        args = (*((start,) if start is not None else ()), *args, *((end,) if end is not None else ()),
                *((step,) if step is not None else ()))
        args = (0, *args) if step is not None and len(args) == 2 else args
    kind = chosen(dtype, I64 if all(python_type(arg) in (int, bool) for arg in args) else F32)
    low, high, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    if step == 0:
        raise error(RuntimeError, "step must be nonzero")
    if (high - low) / step < 0:
        raise error(RuntimeError, "upper bound and lower bound inconsistent with step sign")
    if kind.rank < FLOAT:
        low, high, step = int(low), int(high), int(step)
    count = math.ceil((high - low) / step)
    return make(low + step * np.arange(count, dtype="f8" if kind.rank >= FLOAT else "i8"), kind)


@created
def linspace(start, end, steps, dtype=None):
    kind = chosen(dtype, F32)
    if kind.rank < FLOAT or kind.itemsize == 2:
        raise NotHere(f"linspace of {kind}")
    return make(np.linspace(float(start), float(end), whole(steps)), kind)


@created
def logspace(start, end, steps, base=10.0, dtype=None):
    kind = chosen(dtype, F32)
    if kind not in (F32, F64):
        raise NotHere(f"logspace of {kind}")
    return make(np.logspace(float(start), float(end), whole(steps), base=base), kind)


for name in ("zeros", "ones", "empty", "full", "randn", "rand"):
    def like(input, *args, dtype=None, memory_format=None, _name=name, **kwargs):
        made = OPS_OF[_name](tuple(input.shape), *args, dtype=dtype or input.dtype, **kwargs)
        made.array = laid(made.array, input.array)
        return made

    def new(input, *args, dtype=None, _name=name, **kwargs):
        if _name == "zeros":
            return finished(filled(shape_of(args), 0, dtype or input.dtype), **kwargs)
        return OPS_OF[_name](*args, dtype=dtype or input.dtype, **kwargs)

    op(like, f"{name}_like")
    op(new, f"new_{name}")
op(lambda input, data, dtype=None, **kwargs: tensor(data, dtype=dtype or input.dtype, **kwargs), "new_tensor")


# --- Random numbers: torch's own, of one seed the same ---------------------------------------------------------------

class Generator(metaclass=OfC):
    """The Mersenne Twister, and torch's ways from its integers to numbers."""

    def __init__(self, device="cpu", **more):
        for name in more:
            raise error(TypeError, f"Generator() got an unexpected keyword argument '{name}'")
        self.manual_seed(67280421310721)

    def manual_seed(self, *args, **more):
        if more:
            raise error(TypeError, "Generator.manual_seed() takes no keyword arguments")
        if len(args) != 1:
            raise error(TypeError, f"Generator.manual_seed() takes exactly one argument ({len(args)} given)")
        seed, = args
        if isinstance(seed, (bool, Tensor)) or not hasattr(type(seed), "__index__"):
            raise error(RuntimeError, f"manual_seed expected a long, but got {type_of(seed)}")
        self.twister, self.spare = np.random.RandomState(whole(seed) & 0xFFFFFFFF), None
        return self

    def __getattr__(self, name):
        raise NotHere(f"Generator.{name}")

    def integers(self, count, bits=32):
        words = self.twister.randint(0, 2 ** 32, count * bits // 32, dtype=np.uint32)
        if bits == 32:
            return words
        words = words.astype(np.uint64).reshape(count, 2)
        return (words[:, 0] << np.uint64(32)) | words[:, 1]

    def uniform(self, count, kind):
        if kind is F64:
            return (self.integers(count, 64) & np.uint64(2 ** 53 - 1)).astype(np.float64) * 2.0 ** -53
        return (self.integers(count) & np.uint32(2 ** 24 - 1)).astype(np.float32) * np.float32(2.0 ** -24)

    def normal(self, count, kind):
        """Box and Muller's: in blocks of 16 where there are as many, else in pairs."""
        if count < 16:
            return np.array([self.one_normal() for _ in range(count)], kind.numpy)
        half = kind.itemsize == 2                                   # draws for whole blocks only
        drawn = np.zeros(count, kind.numpy)
        drawn[:count - half * (count % 16)] = self.uniform(count - half * (count % 16), kind)
        for start in range(0, count - 15, 16):
            as_normal(drawn[start:start + 16])
        if count % 16:
            drawn[count - 16:] = self.uniform(16, kind)
            as_normal(drawn[count - 16:])
        return drawn

    def one_normal(self):
        if self.spare is not None:
            spare, self.spare = self.spare, None
            return spare
        turn, length = self.uniform(2, F64)
        radius, angle = math.sqrt(-2 * math.log1p(-length)), 2 * math.pi * turn
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)


Generator.called("torch._C.Generator")


def as_normal(block):
    radius = np.sqrt(-2 * np.log(1 - block[:8]))
    angle = (2 * math.pi * block[8:].copy()).astype(block.dtype)
    block[:8], block[8:] = radius * np.cos(angle), radius * np.sin(angle)


DEFAULT = Generator()


def manual_seed(seed):
    return DEFAULT.manual_seed(seed)


@contextlib.contextmanager
def fork_rng(devices=None):
    before = DEFAULT.twister.get_state(), DEFAULT.spare
    try:
        yield
    finally:
        DEFAULT.twister.set_state(before[0])
        DEFAULT.spare = before[1]


@created
def randn(*args, size=None, generator=None, dtype=None):
    kind, shape = chosen(dtype, F32), shape_of(args, size)
    return make((generator or DEFAULT).normal(math.prod(shape), kind).reshape(shape), kind)


@created
def rand(*args, size=None, generator=None, dtype=None):
    kind, shape = chosen(dtype, F32), shape_of(args, size)
    return make((generator or DEFAULT).uniform(math.prod(shape), kind).reshape(shape), kind)


@created
def randint(low, high=None, size=None, generator=None, dtype=None):
    low, high, size = (0, low, high) if size is None else (low, high, size)
    shape, low, high = shape_of((size,)), whole(low), whole(high)
    if not 0 < high - low < 2 ** 32:
        raise NotHere("randint of such a range")
    drawn = (generator or DEFAULT).integers(math.prod(shape)).astype(np.int64)
    return make((drawn % (high - low) + low).reshape(shape), chosen(dtype, I64))


@created
def randperm(n, generator=None, dtype=None):
    source, order = generator or DEFAULT, list(range(n))
    for i in range(n - 1):
        j = i + int(source.integers(1)[0]) % (n - i)
        order[i], order[j] = order[j], order[i]
    return make(np.array(order, np.int64), chosen(dtype, I64))


OPS_OF = {function.__name__: function for function in (zeros, ones, empty, full, randn, rand)}
