"""What a small torch is made of: its exception, its dtypes, tensors that know what they were computed from, and the
wrapper of each function. See __init__.py for what it is and is not.
"""
import functools
import json
import math
import operator
from pathlib import Path

import numpy as np

from torch._dtypes import B, C128, C64, COMPLEX, F64, FLOAT, INTEGER, OF_NUMPY, OF_PYTHON, promote_types, rounded


NAMES = {home: set(names) for home, names in
         json.loads((Path(__file__).parent / "names.json").read_text(encoding="utf-8")).items()}
GRAD = [True]                                           # whether what is computed is recorded
MODES = []                                              # TorchFunctionMode that are told each call
OPS = {}                                                # name -> the function, for torch.NAME and Tensor.NAME
not_here = []


class NotHere(BaseException):
    """This small torch does not know what torch does here. No Exception, so that a reader's `except Exception` lets it
    pass; what was raised stays in `torch.not_here`, in case that a bare `except:` has swallowed it.
    """

    def __init__(self, name):
        super().__init__(name)
        not_here.append(str(name))


def error(kind, text):
    """What torch raises, in its own words: tests/small_torch/errors.txt compares each."""
    failure = kind(text)
    failure.of_torch = True
    return failure


def user(function, *args):
    """Calls what the reader gave: its errors are theirs."""
    try:
        return function(*args)
    except Exception as failure:
        failure.of_torch = True
        raise


def op(function, name=None):
    """A function of torch. What Python or numpy raises in it is not what torch would say: NotHere."""
    name = name or function.__name__.rstrip("_")

    @functools.wraps(function)
    def called(*args, **kwargs):
        if MODES:
            return told(called, args, kwargs)
        try:
            if "axis" in kwargs or "keepdims" in kwargs:
                kwargs = {{"axis": "dim", "keepdims": "keepdim"}.get(key, key): value for key, value in kwargs.items()}
            if kwargs.get("out") is not None:
                return into(kwargs.pop("out"), function(*args, **kwargs), name)
            return function(*args, **kwargs)
        except Exception as failure:
            if hasattr(failure, "of_torch"):
                raise
            raise NotHere(f"{name} ({type(failure).__name__}: {failure})") from failure

    called.__name__ = name.rpartition(".")[2]
    OPS[name] = called
    return called


def told(function, args, kwargs):
    mode = MODES.pop()
    try:
        return mode.__torch_function__(function, (), args, kwargs)
    finally:
        MODES.append(mode)


def into(out, result, name):
    """`out=`, where shape and dtype fit already."""
    if GRAD[0] and (result.requires_grad or out.requires_grad):
        raise error(RuntimeError, f"{name}(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad.")
    if result.shape != out.shape or result.dtype is not out.dtype:
        raise NotHere(f"{name} with an out= of another shape or dtype")
    out.array[...] = result.array
    out.storage.version += 1
    return out


# --- Tensors ---------------------------------------------------------------------------------------------------------

class Size(tuple):
    def numel(self):
        return math.prod(self)

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other):
        return Size(tuple(self) + tuple(other))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self))

    def __repr__(self):
        return f"torch.Size({list(self)})"


class device:
    index = None
    type = "cpu"

    def __init__(self, type="cpu", index=None):
        if str(type) != "cpu":
            raise NotHere(f"the device {type}")

    def __eq__(self, other):
        return isinstance(other, device)

    def __hash__(self):
        return 1

    def __repr__(self):
        return "device(type='cpu')"

    def __str__(self):
        return "cpu"


class Storage:
    """What views share. version: how often their numbers were changed."""

    def __init__(self):
        self.version = 0


class Node:
    """A step that was recorded. parents: pairs of a Node and the function that takes a gradient there. saved: the
    storages whose numbers those functions read, and their versions then. leaf: the tensor whose .grad it fills.
    """

    def __init__(self, parents, shape, kind, saves=(), leaf=None):
        self.parents, self.shape, self.dtype, self.leaf = parents, shape, kind, leaf
        self.saved = [(tensor.storage, tensor.storage.version) for tensor in saves]


class View:
    """How a tensor lies in another, its base. read: from an array like the base's to the part; back: from a gradient
    of the part to one of the base; many: one of several that a function made at once.
    """

    def __init__(self, base, read, back, many):
        self.base, self.read, self.back, self.many, self.version = base, read, back, many, base.storage.version


class Tensor:
    """array: its numbers, a numpy array. Its methods stand in _tensor.py."""
    grad = None
    of = None                                           # its View
    written = None                                      # its Node

    @property
    def node(self):
        """What it was computed by; of a view whose base has changed since, by that change."""
        if self.of is not None and self.of.version != self.storage.version:
            base = self.of.base
            self.written = base.node and Node([(base.node, self.of.back)], self.array.shape, self.dtype)
            self.of.version = self.storage.version
        return self.written

    @node.setter
    def node(self, node):
        self.written = node

    @property
    def requires_grad(self):
        return self.node is not None

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)


def make(array, kind=None, parents=(), saves=(), saves_result=False):
    """A tensor of these numbers.

    Args:
        parents: pairs of a tensor that it was computed from, and the function that takes a gradient of the result to
            one of that tensor.
        saves: the tensors whose numbers those functions read; saves_result: whether they read the result.
    """
    tensor = Tensor.__new__(Tensor)
    array = np.asarray(array)
    tensor.dtype = kind = kind or OF_NUMPY[array.dtype]
    if array.dtype != kind.numpy:
        with np.errstate(all="ignore"):
            array = array.astype(kind.numpy)
    tensor.array = rounded(array, kind) if kind.itemsize == 2 and kind.rank == FLOAT else array
    tensor.storage = Storage()
    if GRAD[0] and kind.rank >= FLOAT:
        parents = [(parent.node, back) for parent, back in parents if parent.node is not None]
        if parents:
            tensor.node = Node(parents, array.shape, kind, [*saves, tensor] if saves_result else saves)
    return tensor


def view(parent, read, back, many=False, kind=None):
    """A tensor that shares the numbers of its parent."""
    tensor = Tensor.__new__(Tensor)
    tensor.array, tensor.dtype, tensor.storage = read(parent.array), kind or parent.dtype, parent.storage
    if GRAD[0]:
        if parent.of is not None:
            inner, above = parent.of, (read, back)
            base, many = inner.base, many or inner.many
            read, back = (lambda a: above[0](inner.read(a))), (lambda g: inner.back(above[1](g)))
        else:
            base = parent
        tensor.of = View(base, read, back, many)
        if parent.node is not None and tensor.dtype.rank >= FLOAT:
            step = above[1] if parent.of is not None else back
            tensor.node = Node([(parent.node, step)], tensor.array.shape, tensor.dtype)
    return tensor


# --- What dtype a result has -----------------------------------------------------------------------------------------

def python_type(value):
    """bool, int, float or complex, of a number; None of what is none."""
    if isinstance(value, (bool, int, float, complex)):
        return next(kind for kind in OF_PYTHON if isinstance(value, kind))
    if isinstance(value, np.generic):
        return type(value.item())
    return int if hasattr(type(value), "__index__") and not isinstance(value, Tensor) else None


def result_type(*values):
    """The dtype of a sum of these: tensors with axes come before those without, and these before numbers."""
    found = [None, None, None]
    for value in values:
        is_tensor = isinstance(value, Tensor)
        place = 0 if is_tensor and value.array.ndim else 1 if is_tensor else 2
        kind = value.dtype if is_tensor else OF_PYTHON[python_type(value)]
        found[place] = kind if found[place] is None else promote_types(found[place], kind)
    return combined(found[0], combined(found[1], found[2]))


def combined(high, low):
    if high is None or low is None:
        return high or low
    if high.rank == FLOAT and low.rank == COMPLEX:
        return C128 if high is F64 else C64
    return promote_types(high, low) if high is B or low.rank > max(high.rank, INTEGER) else high


# --- Arguments -------------------------------------------------------------------------------------------------------

def as_tensor_of(value):
    """A tensor, or a Python number as one of no axes."""
    return value if isinstance(value, Tensor) else make(np.asarray(value, OF_PYTHON[python_type(value)].numpy if
                                                                   python_type(value) is not float else "f8"))


def need(value, name, argument="input"):
    if not isinstance(value, Tensor):
        raise error(TypeError, f"{name}(): argument '{argument}' (position 1) must be Tensor, not "
                    f"{type(value).__name__}")
    return value


def whole(value):
    """A Python integer, of a tensor of one too."""
    return operator.index(value)


def axis_of(dim, ndim):
    """An axis counted from the front."""
    count, dim = max(ndim, 1), whole(dim)
    if not -count <= dim < count:
        raise error(IndexError, f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got "
                    f"{dim})")
    return dim % count


def axes_of(dim, ndim):
    """The axes of a reduction: None and () are all of them."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    axes = [axis_of(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else [dim])]
    if len(set(axes)) < len(axes):
        raise error(RuntimeError, f"dim {next(a for a in axes if axes.count(a) > 1)} appears multiple times in the "
                    "list of dims")
    return tuple(axes) if ndim else ()


def sizes_of(args):
    """Sizes that were given as one sequence or one by one."""
    args = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    return tuple(whole(size) for size in args)


def broadcast(*shapes):
    """The shape in which these meet."""
    met = ()
    for shape in shapes:
        length = max(len(met), len(shape))
        one, other = ((1,) * (length - len(s)) + tuple(s) for s in (met, shape))
        for i in reversed(range(length)):
            if one[i] != other[i] and 1 not in (one[i], other[i]):
                raise error(RuntimeError, f"The size of tensor a ({one[i]}) must match the size of tensor b "
                            f"({other[i]}) at non-singleton dimension {i}")
        met = tuple(b if a == 1 else a for a, b in zip(one, other))
    return met


def summed_to(gradient, shape):
    """A gradient of what was broadcast from this shape."""
    if gradient.shape == tuple(shape):
        return gradient
    if gradient.ndim > len(shape):
        gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    stretched = tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1)
    return gradient.sum(stretched, keepdims=True) if stretched else gradient
