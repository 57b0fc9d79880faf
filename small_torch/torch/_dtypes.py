"""dtypes, how they meet, and how half floats round."""
import numpy as np



BOOL, INTEGER, FLOAT, COMPLEX = range(4)


NAME = type.__dict__["__name__"]                        # of a class: what Python's own errors call it


class OfC(type):
    """The class of what is written in C in torch: its errors call it by a longer name than its __name__."""
    __name__ = property(lambda cls: NAME.__get__(cls).rpartition(".")[2])

    def called(cls, name):
        NAME.__set__(cls, name)
        return cls


class dtype(metaclass=OfC):
    """rank: of its kind, bool < integer < float < complex. Half floats are kept as float32, rounded after each step."""

    def __init__(self, name, numpy, rank, short, itemsize):
        self.name, self.numpy, self.rank, self.short, self.itemsize = name, np.dtype(numpy), rank, short, itemsize
        self.is_floating_point, self.is_complex, self.is_signed = rank == FLOAT, rank == COMPLEX, short not in (
            "Bool", "Byte")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return DTYPES.__getitem__, (self.name,)


DTYPES = {row[0]: dtype(*row) for row in [
    ("bool", "?", BOOL, "Bool", 1), ("uint8", "u1", INTEGER, "Byte", 1), ("int8", "i1", INTEGER, "Char", 1),
    ("int16", "i2", INTEGER, "Short", 2), ("int32", "i4", INTEGER, "Int", 4), ("int64", "i8", INTEGER, "Long", 8),
    ("float32", "f4", FLOAT, "Float", 4), ("float64", "f8", FLOAT, "Double", 8), ("float16", "f4", FLOAT, "Half", 2),
    ("bfloat16", "f4", FLOAT, "BFloat16", 2), ("complex64", "c8", COMPLEX, "ComplexFloat", 8),
    ("complex128", "c16", COMPLEX, "ComplexDouble", 16)]}
B, I64, F16, BF16, F32, F64, C64, C128 = (DTYPES[name] for name in (
    "bool", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"))
OF_NUMPY = {kind.numpy: kind for kind in reversed(DTYPES.values()) if kind not in (F16, BF16)}
OF_PYTHON = {bool: B, int: I64, float: F32, complex: C64}


def packed(array):
    """Row by row, in one piece."""
    return np.asarray(array, order="C")


def laid(result, *operands):
    """A result of these operands, entry by entry, in the order in memory that torch gives it: TensorIterator's."""
    operands = [array for array in operands if array.ndim]
    if all(array.flags.c_contiguous for array in operands):
        return packed(result)
    shape, ndim = result.shape, result.ndim
    steps = [[0] * (ndim - array.ndim) + [0 if n != m else step for n, m, step in
             zip(array.shape, shape[ndim - array.ndim:], array.strides)] for array in operands]

    def slower(one, other):
        for step in steps:
            if step[one] and step[other] and step[one] != step[other]:
                return 1 if step[one] > step[other] else -1
            if step[one] and step[one] == step[other] and shape[one] > shape[other]:
                return 1
        return 0

    order = list(range(ndim))[::-1]                     # the fastest axis first
    for i in range(1, ndim):
        for j in range(i)[::-1]:
            found = slower(order[j], order[j + 1])
            if found < 0:
                break
            if found > 0:
                order[j], order[j + 1] = order[j + 1], order[j]
    order.reverse()
    return packed(result.transpose(order)).transpose(np.argsort(order))


SPOKEN = {"float32": "float", "float64": "double", "float16": "c10::Half", "int64": "long int", "int32": "int",
          "bool": "bool"}


def rounded(array, kind):
    """float32 to the nearest number of a half type, ties to even."""
    if kind is F16:
        with np.errstate(all="ignore"):
            return array.astype(np.float16).astype(np.float32)
    bits = packed(array).view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    out = np.empty_like(array)
    out[...] = np.where(np.isnan(array), array, nearest.view(np.float32).reshape(array.shape))
    return out


dtype.called("torch.dtype")


def promote_types(type1, type2):
    if type1 is type2:
        return type1
    if type1.rank != type2.rank:
        high, low = sorted((type1, type2), key=lambda kind: -kind.rank)
        return C128 if high is C64 and low is F64 else high
    if type1.rank == FLOAT and type1.itemsize == type2.itemsize:
        return F32                                      # float16 and bfloat16
    if type1.rank == FLOAT:
        return max(type1, type2, key=lambda kind: kind.itemsize)
    return OF_NUMPY[np.promote_types(type1.numpy, type2.numpy)]
