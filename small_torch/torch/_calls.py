"""Calls, as torch reads them: one that fits none of a function's signatures is refused in torch's own words.

signatures.json has them, from torch (tools/make_names.py). A parameter is a word there, name:type, with 1 where one
number may stand for several, ? where it may be None, = where it may be left out; * begins those that have names only.
"""
import functools
import json
from pathlib import Path

import numpy as np

from torch._base import DEPTH, NotHere, Tensor, device, error
from torch._arguments import python_type, type_of
from torch._dtypes import FLOAT, dtype

SIGNATURES = json.loads((Path(__file__).parent / "signatures.json").read_text(encoding="utf-8"))
SPOKEN = {"tensor": "Tensor", "number": "Number", "ints": "tuple of ints", "tensors": "tuple of Tensors",
          "dtype": "torch.dtype", "device": "torch.device"}
ALSO = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}      # as numpy has it
OF_NUMBERS = {"add", "sub", "mul", "div", "divide", "multiply", "subtract", "true_divide", "floor_divide", "remainder"}


class Parameter:
    def __init__(self, word, by_name):
        self.name, kind = word.split(":")
        self.optional, self.by_name = kind.endswith("="), by_name
        self.none = kind.rstrip("=").endswith("?")
        self.one = "1" in kind
        self.kind = kind.rstrip("1?=")

    def given(self, kwargs):
        return next((name for name in (self.name, *ALSO.get(self.name, ())) if name in kwargs), None)


@functools.cache
def parameters(text):
    names, _, by_name = f" {text} ".partition(" * ")
    return [Parameter(word, False) for word in names.split()] + [Parameter(word, True) for word in by_name.split()]


def is_whole(value):
    if isinstance(value, Tensor):
        return not value.ndim and value.dtype.name != "bool" and value.dtype.rank < FLOAT
    return not isinstance(value, (bool, np.bool_)) and hasattr(type(value), "__index__")


def is_size(value):
    """Of a list of whole numbers: there a tensor of one may have axes."""
    return is_whole(value.reshape(()) if isinstance(value, Tensor) and value.array.size == 1 else value)


def is_number(value):
    return python_type(value) is not None or isinstance(value, Tensor) and not value.ndim and not value.requires_grad


FITS = {
    "tensor": lambda value: isinstance(value, Tensor),
    "number": is_number,
    "int": is_whole,
    "float": lambda value: is_number(value) and not isinstance(value, complex),
    "bool": lambda value: isinstance(value, (bool, np.bool_)) or isinstance(value, Tensor) and not value.ndim and (
        value.dtype.name == "bool"),
    "str": lambda value: isinstance(value, str),
    "dtype": lambda value: isinstance(value, dtype) or value in (float, int, bool),
    "device": lambda value: isinstance(value, (device, str, int)) and not isinstance(value, bool),
    "ints": lambda value: isinstance(value, (tuple, list)) and (not value or is_size(value[0])),
    "tensors": lambda value: isinstance(value, (tuple, list)),
    "*": lambda value: True,
    }


def refusal(name, expected, args, kwargs):
    """Why a call does not fit a signature, in torch's words; None where it does."""
    by_place = [parameter for parameter in expected if not parameter.by_name]
    several = len(by_place) == 1 and by_place[0].kind == "ints" and args and is_size(args[0])
    if len(args) > len(by_place) and not several:
        return too_many(name, expected, by_place, args)
    place, read = 0, 0
    for i, parameter in enumerate(expected):
        by_name, value, missing = False, None, True
        if place < len(args):
            if parameter.by_name:
                return too_many(name, expected, by_place, args)
            value, missing = args[place], False
        elif parameter.given(kwargs):
            value, by_name, missing = kwargs[parameter.given(kwargs)], True, False
            read += 1
        if missing:
            if not parameter.optional:
                absent = [f'"{later.name}"' for later in expected[i:] if not later.optional]
                return (f"{name}() missing {len(absent)} required positional argument{'s' * (len(absent) == 1)}: "
                        f"{', '.join(absent)}")
            continue
        if not (value is None and parameter.none or FITS[parameter.kind](value) or
                parameter.one and is_whole(value) or
                parameter.kind == "tensor" and name.rstrip("_") in OF_NUMBERS and python_type(value) is not None):
            if several and place == 0:
                value, place = args, len(args) - 1
            else:
                where = "" if by_name else f" (position {place + 1})"
                kind = SPOKEN.get(parameter.kind, parameter.kind)
                said = f"{name}(): argument '{parameter.name}'{where} must be {kind}"
                if parameter.kind == "ints" and isinstance(value, (tuple, list)) and not by_name:
                    return f"{said}, but found element of type {type_of(value[0])} at pos 0"
                return f"{said}, not {type_of(value)}"
        if parameter.kind == "ints" and isinstance(value, (tuple, list)):
            for k, size in enumerate(value):
                if not hasattr(type(size), "__index__") or isinstance(size, Tensor) and not is_size(size):
                    raise error(TypeError, f"{name}(): argument '{parameter.name}' failed to unpack the object at pos "
                                f"{k + 1} with error \"type must be tuple of ints,but got {type_of(size)}\"")
        place += not by_name
    if read < len(kwargs):
        names = [parameter.name for parameter in expected]
        for key in kwargs:
            if key not in names:
                return f"{name}() got an unexpected keyword argument '{key}'"
            if names.index(key) < (1 if several else len(args)):
                return f"{name}() got multiple values for argument '{key}'"
    return None


def too_many(name, expected, by_place, args):
    least, most = sum(not parameter.optional for parameter in expected), len(by_place)
    if least != most:
        return f"{name}() takes from {least} to {most} positional arguments but {len(args)} were given"
    return (f"{name}() takes {most} positional argument{'s' * (most != 1)} but {len(args)} "
            f"{'was' if len(args) == 1 else 'were'} given")


SIMPLE = {int, float, bool, str, dtype, type(None)}
FITTING = set()                                         # the types of calls that fitted, where these decide


def kind_of(value):
    kind = type(value)
    return kind if kind in SIMPLE or kind is Tensor and value.array.size > 1 else None


def refuse(told, args, kwargs):
    """Raises what torch raises of a call that fits no signature."""
    kinds = (id(told), *map(kind_of, args), *kwargs, *map(kind_of, kwargs.values()))
    if kinds in FITTING:
        return
    name, *forms = told
    hidden = forms[0] == "..."
    forms = [parameters(form) for form in forms[hidden:]]
    said = [refusal(name, form, args, kwargs) for form in forms]
    if None in said:
        FITTING.update([kinds] * (None not in kinds))
        return
    if hidden:
        raise NotHere(f"{name} with such arguments")
    if len(forms) > 1:
        count = len(args) + len(kwargs)
        said = [why for why, form in zip(said, forms)
                if sum(not parameter.optional for parameter in form) <= count <= len(form)]
    if len(said) != 1:
        if len(kwargs) > 1:
            raise NotHere(f"{name} with such arguments")
        given = ", ".join([*map(type_of, args), *(f"{key}={type_of(value)}" for key, value in kwargs.items())])
        given += ", " * (bool(kwargs) and not args)
        said = [f"{name}() received an invalid combination of arguments - got ({given}), but expected one of:"]
    raise error(TypeError, said[0])


def of_python(told):
    """A function of Python that does nothing, of another's name and signature: what it refuses, that refuses too."""
    world = {}
    exec(f"def function{told[2]}: pass", world)
    world["function"].__qualname__ = told[1]
    return world["function"]


class Function:
    """A function of torch, called from outside: `told` is its part of signatures.json."""

    def __init__(self, function, told):
        self.function, self.told, self.__name__ = function, told, function.__name__

    def __call__(self, *args, **kwargs):
        if not DEPTH[0]:
            refuse(self.told, args, kwargs)
        return self.function(*args, **kwargs)

    def __repr__(self):
        raise NotHere("how torch prints a function")


class Method(Function):
    def __get__(self, tensor, kind):
        return self if tensor is None else Bound(self, tensor)

    def __call__(self, *args, **kwargs):
        if not DEPTH[0] and args and isinstance(args[0], Tensor):
            self.refuse(args[1:], kwargs)
        return self.function(*args, **kwargs)

    def refuse(self, args, kwargs):
        if self.told == "none":
            if kwargs:
                raise error(TypeError, f"TensorBase.{self.__name__}() takes no keyword arguments")
            if args:
                raise error(TypeError, f"TensorBase.{self.__name__}() takes no arguments ({len(args)} given)")
        else:
            refuse(self.told, args, kwargs)


class Bound:
    """A method of one tensor."""
    __slots__ = "method", "tensor"

    def __init__(self, method, tensor):
        self.method, self.tensor = method, tensor

    def __call__(self, *args, **kwargs):
        if not DEPTH[0]:
            self.method.refuse(args, kwargs)
        return self.method.function(self.tensor, *args, **kwargs)

    def __repr__(self):
        raise NotHere("how torch prints a method")


Function.__name__ = Bound.__name__ = "builtin_function_or_method"
Method.__name__ = "method_descriptor"


def refusing(function, home, name):
    """A function as its home has it: it refuses what torch refuses there."""
    told = SIGNATURES[home].get(name)
    if told is None:
        return function
    if told[0] == "python":
        like, told = of_python(told), told[3:]

        @functools.wraps(function)
        def called(*args, **kwargs):
            if not DEPTH[0]:
                try:
                    like(*args, **kwargs)
                except TypeError as failure:
                    raise error(TypeError, str(failure)) from None
                if told and not any(isinstance(arg, Tensor) for arg in args[1:]):       # what is not Python, in it
                    refuse(told, args[home == "Tensor":], kwargs)
            return function(*args, **kwargs)
        return called
    return (Method if home == "Tensor" else Function)(function, told)
