"""The operators of tensors, and the methods that are functions of torch."""
from torch._base import NAMES, OPS, error, NotHere, op, Tensor
from torch._arguments import python_type
from torch._calls import SIGNATURES, refusing
from torch._gradient import refuse_leaf, write
from torch._shape import all_turned, last_turned
from torch._tensor import method, unknown


ALIASES = {
    "absolute": "abs", "negative": "neg", "divide": "div", "true_divide": "div", "multiply": "mul", "subtract": "sub",
    "clip": "clamp", "concat": "cat", "concatenate": "cat", "swapaxes": "transpose", "swapdims": "transpose",
    "moveaxis": "movedim", "greater_equal": "ge", "less_equal": "le", "not_equal": "ne", "greater": "gt", "less": "lt",
    }
for alias, name in ALIASES.items():
    OPS[alias] = OPS[name]


# --- Operators -------------------------------------------------------------------------------------------------------

def in_place(name):
    def step(input, *args, **kwargs):
        refuse_leaf(input)
        return write(input, OPS[name](input, *args, **kwargs))
    return op(step, f"{name}_")


for name in ("add", "sub", "mul", "div", "pow", "exp", "log", "sqrt", "neg", "abs", "clamp", "clamp_min", "clamp_max",
             "masked_fill", "tril", "triu", "sin", "cos", "tanh", "sigmoid", "relu", "square", "reciprocal", "rsqrt",
             "floor", "round", "index_fill", "index_copy", "index_add", "scatter", "scatter_add", "cumsum",
             "logical_not", "logical_and", "logical_or", "lerp", "remainder"):
    in_place(name)


def is_operand(value):
    return isinstance(value, Tensor) or python_type(value) is not None


def operator_of(name, turned=False):
    raw = OPS[name].__wrapped__
    function = op(lambda one, other: raw(one, other), f"operator of {name}")
    function.__name__ = name

    def called(self, other):
        if not is_operand(other):
            return NotImplemented
        return function(other, self) if turned else function(self, other)
    return called


def in_place_of(function):
    def called(self, other):
        if not is_operand(other):
            return NotImplemented
        refuse_leaf(self)
        return write(self, function(self, other))
    return called


for sign, name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "mod": "remainder",
                   "floordiv": "floor_divide", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}.items():
    setattr(Tensor, f"__{sign}__", operator_of(name))
    setattr(Tensor, f"__r{sign}__", operator_of(name, turned=True))
    method(in_place_of(OPS[name].__wrapped__), f"__i{sign}__")
for name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{name}__", operator_of(name))
Tensor.__matmul__ = lambda self, other: OPS["matmul"](self, other) if isinstance(other, Tensor) else NotImplemented
Tensor.__neg__, Tensor.__abs__, Tensor.__invert__ = OPS["neg"], OPS["abs"], OPS["bitwise_not"]
Tensor.__pos__ = lambda self: self
Tensor.__hash__ = object.__hash__
Tensor.__array_priority__ = 1000
for name in ("lshift", "rlshift", "ilshift", "rshift", "rrshift", "irshift", "imatmul", "divmod", "rdivmod",
             "array", "reduce_ex", "setstate", "dlpack"):
    setattr(Tensor, f"__{name}__", lambda self, *args, _name=name, **kwargs: unknown(f"Tensor.__{_name}__"))
Tensor.__class_getitem__ = classmethod(lambda cls, item: cls)
Tensor.__init__ = lambda self, *args, **kwargs: unknown("torch.Tensor(...)")
for name, turn in {"T": all_turned, "mT": last_turned}.items():
    setattr(Tensor, name, property(op(turn, name)))


def adjoint(self):
    if self.ndim != 2:
        raise error(RuntimeError, f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
                    f"{' For batches of matrices, consider using tensor.mH' if self.ndim > 2 else ''}")
    return OPS["conj"](OPS["mT"](self))


Tensor.H = property(op(adjoint, "H"))
Tensor.real, Tensor.imag = property(OPS["real"]), property(OPS["imag"])


def where_it_stays(self, condition, other):
    return OPS["where"](condition, self, other)


Tensor.where = op(where_it_stays, "Tensor.where")


def missing(self, name):
    if name.startswith("_"):
        raise AttributeError(name)
    if name in NAMES["Tensor"]:
        raise NotHere(f"Tensor.{name}")
    raise error(AttributeError, f"'{type(self).__name__}' object has no attribute '{name}'")


Tensor.__getattr__ = missing
for name in OPS.keys() & NAMES["Tensor"]:
    if name not in vars(Tensor) or name in SIGNATURES["Tensor"]:
        setattr(Tensor, name, refusing(vars(Tensor).get(name, OPS[name]), "Tensor", name))
