"""Arguments, as torch understands them: numbers, axes, sizes, and what dtype and shape a result has."""
import operator

import numpy as np

from torch._dtypes import B, C128, C64, COMPLEX, F64, FLOAT, INTEGER, NAME, OF_PYTHON, SPOKEN, promote_types
from torch._base import error, make, NotHere, Tensor


def python_type(value):
    """bool, int, float or complex, of a number; None of what is none."""
    if isinstance(value, (bool, int, float, complex)):
        return next(kind for kind in OF_PYTHON if isinstance(value, kind))
    if isinstance(value, np.generic):
        return type(value.item())
    return int if hasattr(type(value), "__index__") and not isinstance(value, Tensor) else None


def type_of(value):
    """The name of a value's type, as C has it."""
    kind = type(value)
    of_c = not kind.__flags__ & 1 << 9 and kind.__module__ != "builtins"
    return f"{kind.__module__}.{kind.__name__}" if of_c else NAME.__get__(kind)


def all_tensors(values, place):
    """What torch says of a list, its argument of this place, that has something else in it."""
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise error(TypeError, f"expected Tensor as element {i} in argument {place}, but got {type_of(value)}")


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


def as_tensor_of(value):
    """A tensor, or a Python number as one of no axes."""
    return value if isinstance(value, Tensor) else make(np.asarray(value, WIDE[python_type(value)]))


WIDE = {bool: "?", int: "i8", float: "f8", complex: "c16"}


def spoken(kind):
    """A dtype as C++ calls it."""
    if kind.name not in SPOKEN:
        raise NotHere(f"what torch calls {kind}")
    return SPOKEN[kind.name]


def whole(value):
    """A Python integer, of a tensor of one too."""
    if isinstance(value, bool):
        raise NotHere("True or False for a number")
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
