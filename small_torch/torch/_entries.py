"""Entry by entry: functions of one tensor, of two, comparisons, choices and casts."""
import math

import numpy as np

from torch._dtypes import B, COMPLEX, DTYPES, F32, F64, FLOAT, dtype, laid, packed
from torch._base import OPS, OTHERWISE, error, make, need, NotHere, op, Tensor
from torch._arguments import whole


# --- Functions of one tensor -----------------------------------------------------------------------------------------

ERF = np.vectorize(math.erf, otypes=[float])


def log_gamma(x):
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


LGAMMA = np.vectorize(log_gamma, otypes=[float])
# name -> (the function, its derivative by x and the result r, which of the two the derivative reads)
OF_FLOATS = {
    "exp": (np.exp, lambda x, r: r, "r"),
    "log": (np.log, lambda x, r: 1 / x, "x"),
    "log2": (np.log2, lambda x, r: 1 / (x * math.log(2)), "x"),
    "log10": (np.log10, lambda x, r: 1 / (x * math.log(10)), "x"),
    "log1p": (np.log1p, lambda x, r: 1 / (1 + x), "x"),
    "expm1": (np.expm1, lambda x, r: r + 1, "r"),
    "exp2": (np.exp2, lambda x, r: r * math.log(2), "r"),
    "sqrt": (np.sqrt, lambda x, r: 1 / (2 * r), "r"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x, r: -0.5 * r ** 3, "r"),
    "reciprocal": (lambda x: 1 / x, lambda x, r: -r * r, "r"),
    "sin": (np.sin, lambda x, r: np.cos(x), "x"),
    "cos": (np.cos, lambda x, r: -np.sin(x), "x"),
    "tan": (np.tan, lambda x, r: 1 + r * r, "r"),
    "sinh": (np.sinh, lambda x, r: np.cosh(x), "x"),
    "cosh": (np.cosh, lambda x, r: np.sinh(x), "x"),
    "tanh": (np.tanh, lambda x, r: 1 - r * r, "r"),
    "acos": (np.arccos, lambda x, r: -1 / np.sqrt(1 - x * x), "x"),
    "asin": (np.arcsin, lambda x, r: 1 / np.sqrt(1 - x * x), "x"),
    "atan": (np.arctan, lambda x, r: 1 / (1 + x * x), "x"),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda x, r: r * (1 - r), "r"),
    "erf": (lambda x: ERF(x), lambda x, r: 2 / math.sqrt(math.pi) * np.exp(-x * x), "x"),
    "lgamma": (lambda x: LGAMMA(x), None, "x"),
    "special.entr": (lambda x: np.where(x == 0, 0, np.where(x < 0, -math.inf, -x * np.log(x))),
                     lambda x, r: -1 - np.log(x), "x"),
}
ANOTHER = {                                             # the same, rounded otherwise
    "exp": lambda x: np.where(x > -1, np.expm1(x) + 1, np.exp(x / 2) ** 2),
    "sin": lambda x: 2 * np.sin(x / 2) * np.cos(x / 2),
    "cos": lambda x: 1 - 2 * np.sin(x / 2) ** 2,
    "log": lambda x: np.log(x / 2) + math.log(2),
    "lgamma": lambda x: LGAMMA(x + 1) - np.log(np.abs(x)),
}
OF_ALL = {
    "square": (np.square, lambda x, r: 2 * x, "x"),
    "neg": (np.negative, lambda x, r: -1, ""),
    "sign": (np.sign, lambda x, r: 0, ""),
    "floor": (np.floor, lambda x, r: 0, ""),
    "ceil": (np.ceil, lambda x, r: 0, ""),
    "trunc": (np.trunc, lambda x, r: 0, ""),
    "relu": (lambda x: np.maximum(x, 0), lambda x, r: r > 0, "r"),
}
REAL = {"sign", "floor", "ceil", "trunc", "relu", "erf", "lgamma", "exp2", "log2", "sigmoid", "atan", "acos", "asin",
        "special.entr"}


def unary(name, function, derivative, reads, floats):
    def called(input):
        input = need(input, name)
        kind = F32 if floats and input.dtype.rank < FLOAT else input.dtype
        if kind.rank == COMPLEX and name in REAL or kind is B:
            raise NotHere(f"{name} of {kind}")
        x = input.array.astype(kind.numpy, copy=False)
        wide = x.astype("f8") if floats and kind.rank == FLOAT else x       # one rounding only, as of a good library
        way = ANOTHER.get(name, function) if OTHERWISE[0] and kind.rank == FLOAT else function
        with np.errstate(all="ignore"):
            result = laid(np.asarray(way(wide)).astype(kind.numpy), x)

        def back(gradient):
            if derivative is None:
                raise NotHere(f"the derivative of {name}")
            return gradient * np.conj(derivative(x, made.array))

        made = make(result, kind, [(input, back)], [input] if reads == "x" else [], reads == "r")
        return made
    return op(called, name)


for name, row in OF_FLOATS.items():
    unary(name, *row, floats=True)
for name, row in OF_ALL.items():
    unary(name, *row, floats=False)


def negative_of(input, plain=OPS["neg"]):
    if need(input, "neg").dtype is B:
        raise error(RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
                    "to invert a mask, use the `~` or `logical_not()` operator instead.")
    return plain(input)


op(negative_of, "neg")


@op
def abs(input):
    x = need(input, "abs").array
    if input.dtype is B:
        raise NotHere("abs of bool")

    def back(gradient):
        return gradient * (np.where(x == 0, 0, x / np.abs(x)) if x.dtype.kind == "c" else np.sign(x))
    return make(laid(np.abs(x), x), None if input.dtype.rank == COMPLEX else input.dtype, [(input, back)], [input])


@op
def round(input, *, decimals=0):
    if whole(decimals) < 0 or input.dtype is B or decimals and input.dtype not in (F32, F64):
        raise NotHere("round with these decimals")
    scale = np.asarray(10 ** decimals, input.array.dtype)
    array = np.round(input.array * scale) / scale if decimals else np.round(input.array)
    return make(laid(array, input.array), input.dtype, [(input, np.zeros_like)])


for name in ("isnan", "isinf", "isfinite", "isneginf", "isposinf"):
    op(lambda input, _name=name: make(getattr(np, _name)(need(input, _name).array)), name)


@op
def logical_not(input):
    return make(np.logical_not(need(input, "logical_not").array))


@op
def bitwise_not(input):
    if need(input, "bitwise_not").dtype.rank >= FLOAT:
        raise error(TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return make(np.invert(input.array))


@op
def nan_to_num(input, nan=None, posinf=None, neginf=None):
    finite = np.isfinite(need(input, "nan_to_num").array)
    if input.dtype.itemsize == 2 or input.dtype.rank == COMPLEX:
        raise NotHere(f"nan_to_num of {input.dtype}")
    array = np.nan_to_num(input.array, nan=nan or 0.0, posinf=posinf, neginf=neginf)
    return make(array, input.dtype, [(input, lambda g: np.where(finite, g, 0))])


# --- Casts and copies ------------------------------------------------------------------------------------------------

@op
def clone(input, *, memory_format=None):
    if memory_format is not None:
        raise NotHere("clone with a memory_format")
    return make(need(input, "clone").array.copy("K"), input.dtype, [(input, lambda g: g)])


@op
def contiguous(input):
    if input.array.flags.c_contiguous:
        return input
    return make(packed(input.array), input.dtype, [(input, lambda g: g)])


@op
def to(input, *args, dtype=None, device=None, non_blocking=False, copy=False):
    for value in args:
        if isinstance(value, KIND):
            dtype = value
        elif isinstance(value, Tensor):
            dtype = value.dtype
        elif isinstance(value, bool) or str(value or "cpu") != "cpu":
            raise NotHere(f"to({value})")
    if str(device or "cpu") != "cpu":
        raise NotHere(f"the device {device}")
    return cast(input, dtype or input.dtype, copy)


KIND = dtype


def cast(input, kind, copy=False):
    if kind is input.dtype:
        return clone(input) if copy else input
    if input.dtype.rank == COMPLEX > kind.rank:
        raise NotHere("a cast of complex numbers to real ones")
    if input.dtype.rank == FLOAT > kind.rank > 0 and not np.isfinite(input.array).all():
        raise NotHere("a cast of numbers that are not finite to whole ones")
    return make(laid(input.array.astype(kind.numpy), input.array), kind, [(input, lambda g: g)])


for name, kind in {"double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
                   "int": "int32", "short": "int16", "bool": "bool"}.items():
    op(lambda input, _kind=DTYPES[kind]: cast(input, _kind), name)
op(lambda input, other: cast(input, other.dtype), "type_as")
