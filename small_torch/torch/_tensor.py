"""What a tensor answers by itself: its sizes, its numbers, its operators."""
import numpy as np

from torch._dtypes import B, COMPLEX, F32, FLOAT, I64
from torch._base import OPS, device, error, make, Node, NotHere, op, Size, Tensor
from torch._arguments import axis_of
from torch._index import getitem, setitem


def method(function, name=None):
    setattr(Tensor, name or function.__name__, op(function, name or function.__name__))
    return function


# --- Sizes -----------------------------------------------------------------------------------------------------------

def constant(value):
    return property(lambda self: value)


Tensor.shape = property(lambda self: Size(self.array.shape))
Tensor.ndim = property(lambda self: self.array.ndim)
Tensor.is_leaf = property(lambda self: self.node is None or self.node.leaf is not None)
Tensor.itemsize = property(lambda self: self.dtype.itemsize)
Tensor.nbytes = property(lambda self: self.array.size * self.dtype.itemsize)
Tensor.device, Tensor.layout = property(lambda self: device()), constant("strided")
for name in ("cuda", "mps", "sparse", "nested", "quantized", "meta"):
    setattr(Tensor, f"is_{name}", constant(False))
Tensor.is_cpu = constant(True)


@method
def size(self, dim=None):
    return self.shape if dim is None else self.array.shape[axis_of(dim, self.ndim)]


@method
def dim(self):
    return self.array.ndim


@method
def numel(self):
    return int(self.array.size)


@method
def element_size(self):
    return self.dtype.itemsize


@method
def stride(self, dim=None):
    if self.is_gradient and self.ndim:
        raise NotHere("the stride of a gradient")
    if any(n < 2 for n in self.array.shape) and not self.array.flags.c_contiguous:
        raise NotHere("the stride of axes of size 1")
    steps = [step // self.array.itemsize for step in self.array.strides]
    for axis in range(self.ndim)[::-1]:                             # numpy leaves any step to an axis of size 1
        if self.array.flags.c_contiguous:
            steps[axis] = 1 if axis == self.ndim - 1 else steps[axis + 1] * max(self.array.shape[axis + 1], 1)
    return tuple(steps) if dim is None else steps[axis_of(dim, self.ndim)]


@method
def is_contiguous(self):
    if self.is_gradient and self.ndim:
        raise NotHere("how a gradient lies in memory")
    return bool(self.array.flags.c_contiguous)


@method
def data_ptr(self):
    return self.array.__array_interface__["data"][0]


@method
def is_floating_point(self):
    return self.dtype.rank == FLOAT


@method
def is_complex(self):
    return self.dtype.rank == COMPLEX


@method
def get_device(self):
    return -1


@method
def cpu(self):
    return self


def kind_of(self, dtype=None):
    if dtype is not None:
        raise NotHere("Tensor.type with a dtype")
    return f"torch.{self.dtype.short}Tensor"


method(kind_of, "type")


# --- Gradients -------------------------------------------------------------------------------------------------------

@method
def requires_grad_(self, requires_grad=True):
    if requires_grad and self.dtype.rank < FLOAT:
        raise error(RuntimeError, "only Tensors of floating point dtype can require gradients")
    if not requires_grad and not self.is_leaf:
        raise NotHere("requires_grad_(False) of what was computed")
    if not requires_grad:
        self.node = None
    elif self.node is None:
        self.node = Node([], self.array.shape, self.dtype, leaf=self)
    return self


@method
def detach(self):
    tensor = make(self.array, self.dtype)
    tensor.array, tensor.storage = self.array, self.storage
    return tensor


Tensor.data = property(detach, lambda self, value: unknown("an assignment to .data"))


def unknown(name):
    raise NotHere(name)


@property
def grad_fn(self):
    return None if self.is_leaf else unknown("Tensor.grad_fn")


Tensor.grad_fn = grad_fn


# --- Numbers ---------------------------------------------------------------------------------------------------------

@method
def item(self):
    if self.array.size != 1:
        raise error(RuntimeError, f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
    return self.array.reshape(()).item()


@method
def tolist(self):
    return self.array.tolist()


@method
def __bool__(self):
    if self.array.size != 1:
        raise error(RuntimeError, f"Boolean value of Tensor with {'more than one' if self.array.size else 'no'} "
                    f"value{'' if self.array.size else 's'} is ambiguous")
    return bool(self.array.reshape(())[()])


def number(self, kind):
    if self.array.size != 1:
        raise error(ValueError, "only one element tensors can be converted to Python scalars")
    return kind(self.array.reshape(()).item())


for name, kind in {"__float__": float, "__int__": int, "__complex__": complex}.items():
    method(lambda self, _kind=kind: number(self, _kind), name)


@method
def __index__(self):
    if self.array.size != 1 or self.dtype.rank > 1:
        raise error(TypeError, "only integer tensors of a single element can be converted to an index")
    return int(self.array.reshape(()))


@method
def __format__(self, spec):
    if self.ndim and spec:
        raise error(TypeError, "unsupported format string passed to Tensor.__format__")
    return format(item(self), spec) if not self.ndim else repr(self)


@method
def __contains__(self, value):
    return bool((self == value).any())


@method
def __len__(self):
    if not self.ndim:
        raise error(TypeError, "len() of a 0-d tensor")
    return self.array.shape[0]


@method
def __iter__(self):
    if not self.ndim:
        raise error(TypeError, "iteration over a 0-d tensor")
    return iter(OPS["unbind"](self, 0))


@method
def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise NotHere("a deep copy of what was computed")
    made = make(self.array.copy("K"), self.dtype)
    made.__class__ = self.__class__
    memo[id(self)] = made
    return made.requires_grad_(self.requires_grad)


method(getitem, "__getitem__")
method(setitem, "__setitem__")


# --- Text ------------------------------------------------------------------------------------------------------------

@method
def __repr__(self):
    """As torch prints it where the numbers are few; of more than a thousand, not here."""
    if self.array.size > 1000 or self.dtype.rank == COMPLEX:
        raise NotHere("how torch prints this")
    suffix = "" if self.dtype in (F32, I64, B) else f", dtype={self.dtype}"
    if not self.array.size:
        suffix = (f", size={tuple(self.shape)}" if self.ndim > 1 else "") + suffix
    if self.requires_grad:
        suffix += ", requires_grad=True" if self.is_leaf else unknown("how torch prints a grad_fn")
    return f"tensor({numbers(self.array, shown(self.array, self.dtype.rank), 7)}{suffix})"


def shown(array, rank):
    """The function that writes one number of these."""
    values = array.reshape(-1)
    if rank < FLOAT:
        width = max((len(str(value)) for value in values.tolist()), default=0)
        return lambda value: str(value).rjust(width)
    finite = values[np.isfinite(values) & (values != 0)].astype("f8")
    sizes = np.abs(finite)
    if not len(finite):
        width = max((len(f"{value:.0f}") + bool(np.isfinite(value)) for value in values), default=0)
        return lambda value: (f"{value:.0f}." if np.isfinite(value) else f"{value}").rjust(width)
    whole = (finite == np.ceil(finite)).all()
    scientific = sizes.max() / sizes.min() > 1000 or sizes.max() > 1e8 or not whole and sizes.min() < 1e-4
    form = "{:.4e}" if scientific else "{:.0f}." if whole else "{:.4f}"
    width = max(len(form.format(value)) for value in finite)
    width = max(width, max((len(f"{value}") for value in values if not np.isfinite(value)), default=0))
    return lambda value: (form.format(value) if np.isfinite(value) else f"{value}").rjust(width)


def numbers(array, write, indent):
    if not array.ndim:
        return write(array.item()).strip()
    if array.ndim == 1:
        return row(["".join(write(value)) for value in array.tolist()], indent)
    gap = ",\n" + "\n" * (array.ndim - 2) + " " * (indent + 1)
    return "[" + gap.join(numbers(part, write, indent + 1) for part in array) + "]"


def row(cells, indent):
    """One row of numbers, in lines of 80 characters."""
    width = max((len(cell) for cell in cells), default=0) + 2
    count = max(1, (80 - indent) // width)
    lines = [", ".join(cells[i:i + count]) for i in range(0, len(cells), count)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
