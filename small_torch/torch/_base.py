"""What a small torch is made of: its exception, its dtypes, tensors that know what they were computed from, and the
wrapper of each function. See __init__.py for what it is and is not.
"""
import functools
import inspect
import json
import math
from pathlib import Path
from types import NoneType

import numpy as np

from torch._dtypes import FLOAT, NAME, OF_NUMPY, OfC, rounded


NAMES = {home: set(names) for home, names in
         json.loads((Path(__file__).parent / "names.json").read_text(encoding="utf-8")).items()}
GRAD = [True]                                           # whether what is computed is recorded
FIRST = {"input", "self", "tensor", "A", "a", "x", "x1", "real", "abs", "elements", "sorted_sequence", "query"}
DEPTH = [0]                                             # of functions of torch that call others
OTHERWISE = [False]                                     # whether rounding is to go the other way: see sure
TRUTHS = {"keepdim", "keepdims", "unbiased", "descending", "stable", "largest", "sorted", "equal_nan", "is_causal",
          "as_tuple", "full_matrices", "upper", "left", "right", "return_inverse", "return_counts", "enable_gqa",
          "training"}                                   # arguments that are True or False, and no number
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
    before, DEPTH[0] = DEPTH[0], 0
    try:
        return function(*args)
    except Exception as failure:
        failure.of_torch = True
        raise
    finally:
        DEPTH[0] = before


def sure(function):
    """What a function returns, where it depends neither on last digits nor on a sign that torch leaves open.

    It is called a second time, in which sums go from the end, exp, sin and cos are computed in another way, the last
    digits of torch.linalg are others, and the vectors of a decomposition are turned round. Where that gives another
    text, it is not here.
    """
    found, OTHERWISE[0] = function(), True
    try:
        again = function()
    finally:
        OTHERWISE[0] = False
    if repr(again) != repr(found):
        raise NotHere("what hangs on the last digit")
    return found


def op(function, name=None):
    """A function of torch. What Python or numpy raises in it is not what torch would say: NotHere."""
    name = name or function.__name__.rstrip("_")
    names = list(inspect.signature(function).parameters)
    of_tensor, truths = next(iter(names), "") in FIRST, [i for i, key in enumerate(names) if key in TRUTHS]

    @functools.wraps(function)
    def called(*args, **kwargs):
        if MODES:
            return told(called, args, kwargs)
        DEPTH[0] += 1
        try:
            if of_tensor and args and not isinstance(args[0], Tensor):
                need(args[0], name)
            given = [args[i] for i in truths if i < len(args)] + [kwargs[key] for key in kwargs if key in TRUTHS]
            for value in given:
                if not isinstance(value, (bool, NoneType)):
                    raise NotHere(f"{name} with {value!r} for True or False")
            if "axis" in kwargs or "keepdims" in kwargs:
                kwargs = {{"axis": "dim", "keepdims": "keepdim"}.get(key, key): value for key, value in kwargs.items()}
            return function(*args, **kwargs)
        except Exception as failure:
            if hasattr(failure, "of_torch"):
                raise
            raise NotHere(f"{name} ({type(failure).__name__}: {failure})") from failure
        finally:
            DEPTH[0] -= 1

    called.__name__ = name.rpartition(".")[2]
    OPS[name] = called
    return called


def need(value, name):
    if not isinstance(value, Tensor):
        raise NotHere(f"{name} of {type(value).__name__}")
    return value


def told(function, args, kwargs):
    mode = MODES.pop()
    try:
        return mode.__torch_function__(function, (), args, kwargs)
    finally:
        MODES.append(mode)


def taking_out(function):
    """A function that also takes `out=`, where shape and dtype fit already."""
    @functools.wraps(function)
    def called(*args, out=None, **kwargs):
        return function(*args, **kwargs) if out is None else into(out, function(*args, **kwargs), function.__name__)
    return called


def into(out, result, name):
    if name == "softmax" and (result.requires_grad or out.requires_grad):
        raise NotHere("softmax with out= and gradients")
    if GRAD[0] and (result.requires_grad or out.requires_grad):
        raise error(RuntimeError, f"{name}(): functions with out=... arguments don't support automatic "
                    "differentiation, but one of the arguments requires grad.")
    if result.shape != out.shape or result.dtype is not out.dtype:
        raise NotHere(f"{name} with an out= of another shape or dtype")
    out.array[...] = result.array
    out.storage.version += 1
    return out


# --- Tensors ---------------------------------------------------------------------------------------------------------

class Size(tuple, metaclass=OfC):
    def numel(self):
        return math.prod(self)

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other):
        if not isinstance(other, tuple):
            raise error(TypeError, f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple(self) + other)

    def __radd__(self, other):
        return NotImplemented if not isinstance(other, tuple) else Size(tuple(other) + tuple(self))

    def __repr__(self):
        return f"torch.Size({list(self)})"


class device(metaclass=OfC):
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


Size.called("torch.Size"), device.called("torch.device")


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
    is_gradient = False                                 # then how it lies in memory is not known
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


class Parts(tuple, metaclass=OfC):
    """Several tensors with names; None for one that is not here."""

    def __getitem__(self, place):
        found = tuple.__getitem__(self, place)
        if found is None:
            raise NotHere(f"{self.names[place]} of {NAME.__get__(type(self))}")
        return found

    def __iter__(self):
        return map(self.__getitem__, range(len(self)))

    def __repr__(self):
        named = [f"{name}={self[i]}" for i, name in enumerate(self.names)]
        return f"{NAME.__get__(type(self))}(\n" + ",\n".join(named) + ")"


@functools.cache
def kind_of_parts(kind, names):
    named = {name: property(lambda self, i=i: self[i]) for i, name in enumerate(names)}
    return OfC(f"torch.return_types.{kind}", (Parts,), named | {"names": names})


def parts(kind, **tensors):
    return kind_of_parts(kind, tuple(tensors))(tensors.values())


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
