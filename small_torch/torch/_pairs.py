"""Entry by entry: functions of two tensors, comparisons, and choices between two."""
import builtins
import math

import numpy as np

from torch._dtypes import B, COMPLEX, F32, FLOAT, I64, laid, packed
from torch._base import OPS, error, make, need, NotHere, op, Tensor
from torch._arguments import as_tensor_of, broadcast, python_type, result_type, spoken, summed_to


# --- Functions of two ------------------------------------------------------------------------------------------------

def fit(value, name):
    """A tensor or a number."""
    if not isinstance(value, Tensor) and python_type(value) is None:
        raise NotHere(f"{name} of {type(value).__name__}")


def binary(name, function, back_x, back_y, reads_x="", reads_y="", floats=False, real=True):
    """reads_x, reads_y: which of x, y and the result r the two derivatives read."""
    def called(input, other):
        fit(input, name), fit(other, name)
        kind = result_type(input, other)
        if name == "sub":
            no_truth(input, other)
        if kind.rank == COMPLEX and real:
            raise NotHere(f"{name} of complex numbers")
        kind = F32 if floats and kind.rank < FLOAT else kind
        one, two = as_tensor_of(input), as_tensor_of(other)
        broadcast(one.array.shape, two.array.shape)
        x, y = one.array.astype(kind.numpy, copy=False), two.array.astype(kind.numpy, copy=False)
        with np.errstate(all="ignore"):
            result = laid(np.asarray(function(x, y)), x, y)
        reads = (reads_x if one.requires_grad else "") + (reads_y if two.requires_grad else "")
        made = make(result, kind, [
            (one, lambda g: summed_to(np.asarray(back_x(g, x, y, made.array)), one.array.shape)),
            (two, lambda g: summed_to(np.asarray(back_y(g, x, y, made.array)), two.array.shape))],
            [tensor for tensor, sign in ((one, "x"), (two, "y")) if sign in reads], "r" in reads)
        return made
    return op(called, name)


def no_truth(one, other):
    """Booleans are not subtracted."""
    kinds = [value.dtype if isinstance(value, Tensor) else python_type(value) for value in (one, other)]
    if all(kind in (B, bool) for kind in kinds):
        raise error(RuntimeError, "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` "
                    "or `logical_xor()` operator instead.")
    if any(kind in (B, bool) for kind in kinds):
        raise error(RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
                    "trying to invert a mask, use the `~` or `logical_not()` operator instead.")


def powers(x, y):
    if x.dtype.kind in "iu?" and (y < 0).any():
        if y.ndim:
            raise NotHere("whole numbers to negative powers")
        raise error(RuntimeError, "Integers to negative integer powers are not allowed.")
    return np.power(x, y)


def no_zero(y):
    if y.dtype.kind in "iu" and (y == 0).any():
        raise error(RuntimeError, "ZeroDivisionError")
    return y


def refused(*args):
    raise NotHere("the derivative of //")


def taken(won, tie, g):
    """The gradient of a maximum goes to the larger; of equals, half to each."""
    return g * np.where(tie, 0.5, won)


add_ = binary("add", np.add, lambda g, x, y, r: g, lambda g, x, y, r: g, real=False)
sub_ = binary("sub", np.subtract, lambda g, x, y, r: g, lambda g, x, y, r: -g, real=False)
mul = binary("mul", np.multiply, lambda g, x, y, r: g * np.conj(y), lambda g, x, y, r: g * np.conj(x), "y", "x",
             real=False)
true_div = binary("div", lambda x, y: np.true_divide(x, y).astype(x.dtype, copy=False),
                  lambda g, x, y, r: g / np.conj(y), lambda g, x, y, r: -g * np.conj(x / y / y), "y", "xy",
                  floats=True, real=False)
pow = binary("pow", powers, lambda g, x, y, r: np.where(y == 0, 0, g * (y * np.power(x, y - 1))),
             lambda g, x, y, r: g * np.where((x == 0) & (y >= 0), 0, r * np.log(x)), "xy", "xyr")
remainder = binary("remainder", lambda x, y: np.mod(x, no_zero(y)), lambda g, x, y, r: g,
                   lambda g, x, y, r: -g * np.floor(x / y), "", "xy")
floor_divide = binary("floor_divide", lambda x, y: np.floor_divide(x, no_zero(y)), refused, refused)
maximum = binary("maximum", np.maximum, lambda g, x, y, r: taken(x > y, x == y, g),
                 lambda g, x, y, r: taken(y > x, x == y, g), "xy", "xy")
minimum = binary("minimum", np.minimum, lambda g, x, y, r: taken(x < y, x == y, g),
                 lambda g, x, y, r: taken(y < x, x == y, g), "xy", "xy")
logaddexp = binary("logaddexp", np.logaddexp, lambda g, x, y, r: g * np.exp(x - r),
                   lambda g, x, y, r: g * np.exp(y - r), "xr", "yr")
atan2 = binary("atan2", np.arctan2, lambda g, x, y, r: g * y / (x * x + y * y),
               lambda g, x, y, r: -g * x / (x * x + y * y), "xy", "xy", floats=True)


xlogy = binary("xlogy", lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)).astype(x.dtype),
               lambda g, x, y, r: g * np.where((x == 0) & (y <= 0), 0, np.log(y)), lambda g, x, y, r: g * x / y,
               "xy", "xy", floats=True)

raw_add, raw_sub, raw_floor_divide, raw_div, raw_pow = (
    function.__wrapped__ for function in (add_, sub_, floor_divide, true_div, pow))
pow = op(lambda base, other: raw_pow(base, other), "pow")             # its base may be a number


@op
def add(input, other, *, alpha=1):
    return raw_add(input, other if alpha == 1 else other * alpha)


@op
def sub(input, other, *, alpha=1):
    return raw_sub(input, other if alpha == 1 else other * alpha)


@op
def div(input, other, *, rounding_mode=None):
    if rounding_mode == "floor":
        return raw_floor_divide(input, other)
    if rounding_mode is not None:
        raise NotHere("div with this rounding_mode")
    return raw_div(input, other)


@op
def lerp(input, end, weight):
    if input.dtype.itemsize == 2:
        raise NotHere("lerp in a half type")
    if not isinstance(weight, Tensor):
        return (add(input, mul(sub(end, input), weight)) if weight < 0.5
                else sub(end, mul(sub(end, input), 1 - weight)))
    if not input.dtype is end.dtype is weight.dtype:
        raise NotHere("lerp of several dtypes")
    return where(weight < 0.5, lerp(input, end, 0) + (end - input) * weight, end - (end - input) * (1 - weight))


# --- Comparisons -----------------------------------------------------------------------------------------------------

def compared(name, function, of_truth=False, bits=False):
    def called(input, other):
        fit(input, name), fit(other, name)
        kind = B if of_truth else result_type(input, other)
        if bits and kind.rank >= FLOAT:
            raise error(NotImplementedError, f"\"{name}_cpu\" not implemented for '{kind.short}'")
        if kind.rank == COMPLEX and name not in ("eq", "ne"):
            raise NotHere(f"{name} of complex numbers")
        one, two = as_tensor_of(input).array, as_tensor_of(other).array
        broadcast(one.shape, two.shape)
        one, two = one.astype(kind.numpy, copy=False), two.astype(kind.numpy, copy=False)
        return make(laid(np.asarray(function(one, two)), one, two))
    return op(called, name)


for name, function in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                       "ge": np.greater_equal}.items():
    compared(name, function)
for name in ("and", "or", "xor"):
    compared(f"bitwise_{name}", getattr(np, f"bitwise_{name}"), bits=True)
    compared(f"logical_{name}", getattr(np, f"logical_{name}"), of_truth=True)


@op
def isclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    if need(input, "isclose").dtype is not need(other, "isclose").dtype:
        raise error(RuntimeError, f"{input.dtype.short} did not match {other.dtype.short}")
    broadcast(input.array.shape, other.array.shape)
    if min(rtol, atol) < 0:
        raise NotHere("isclose within less than nothing")
    with np.errstate(all="ignore"):
        return make(np.isclose(input.array, other.array, rtol, atol, equal_nan))


@op
def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    return builtins.bool(isclose(input, other, rtol, atol, equal_nan).array.all())


@op
def equal(input, other):
    if input.dtype is not other.dtype:
        raise NotHere("equal of two dtypes")
    return input.array.shape == other.array.shape and builtins.bool((input.array == other.array).all())


@op
def isin(elements, test_elements):
    return make(np.isin(as_tensor_of(elements).array, as_tensor_of(test_elements).array))


# --- Choices ---------------------------------------------------------------------------------------------------------

@op
def where(condition, input=None, other=None):
    if input is None:
        return OPS["nonzero"](condition, as_tuple=True)
    if condition.dtype is not B:
        raise error(RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype "
                    f"{condition.dtype.short}")
    kind, chosen = result_type(input, other), condition.array
    one, two = as_tensor_of(input), as_tensor_of(other)
    broadcast(chosen.shape, one.array.shape, two.array.shape)
    array = laid(np.where(chosen, one.array.astype(kind.numpy), two.array.astype(kind.numpy)), chosen, one.array,
                 two.array)
    return make(array, kind, [(one, lambda g: summed_to(np.where(chosen, g, 0), one.array.shape)),
                              (two, lambda g: summed_to(np.where(chosen, 0, g), two.array.shape))], [condition])


@op
def masked_fill(input, mask, value):
    if not isinstance(mask, Tensor):
        raise NotHere("masked_fill where no tensor says")
    if mask.dtype is not B:
        raise error(RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype "
                    f"{spoken(mask.dtype)}")
    if isinstance(value, Tensor):
        if value.array.ndim:
            raise error(RuntimeError, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                        f"{value.array.ndim} dimension(s).")
        if value.requires_grad:
            raise NotHere("masked_fill with a value that has a gradient")
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise NotHere("masked_fill with what is no number")
    broadcast(mask.array.shape, input.array.shape)
    if input.dtype.rank < FLOAT and python_type(value) in (float, complex):
        if python_type(value) is complex or input.dtype is not I64:
            raise NotHere(f"masked_fill of {input.dtype} with this number")
        value = int(value) if math.isfinite(value) else value
    if input.dtype is I64 and python_type(value) is float:
        raise error(RuntimeError, "value cannot be converted to type int64_t without overflow")
    hidden = mask.array
    array = packed(np.where(hidden, np.asarray(value, input.array.dtype), input.array))
    return make(array, input.dtype, [(input, lambda g: summed_to(np.where(hidden, 0, g), input.array.shape))], [mask])


@op
def clamp(input, min=None, max=None):
    need(input, "clamp")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        raised = input if min is None else maximum(input, min)
        return raised if max is None else minimum(raised, max)
    bounds = [bound for bound in (min, max) if bound is not None]
    if not bounds:
        raise error(RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None")
    kind = result_type(input, *bounds)
    if kind is B or kind.rank == COMPLEX:
        raise NotHere(f"clamp of {kind}")
    x = input.array.astype(kind.numpy, copy=False)
    low, high = (None if bound is None else np.asarray(bound, kind.numpy) for bound in (min, max))

    def back(gradient):
        inside = np.ones(x.shape, builtins.bool)
        inside &= True if low is None else x >= low
        inside &= True if high is None else x <= high
        return np.where(inside, gradient, 0)
    with np.errstate(all="ignore"):
        array = x if low is None else np.maximum(x, low)
        array = array if high is None else np.minimum(array, high)
    return make(laid(np.array(array), x), kind, [(input, back)], [input])


@op
def clamp_min(input, min):
    return clamp(input, min=min)


@op
def clamp_max(input, max):
    return clamp(input, max=max)
