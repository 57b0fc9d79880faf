"""A small torch over numpy, for the exercises of the book: what a reader writes runs in the page.

It is not torch. Of each function it either does what torch 2.13 does on a CPU, numbers, dtypes, shapes, strides,
gradients and the words of errors, or it raises NotHere, and the page says that the line runs on Colab: it never
guesses. No compiler, no devices but the CPU, no second derivatives, no numpy() of a tensor. tests/test_small_torch.py
compares it with torch: the reports of the checker, torch's own samples of inputs, and the words of each error.
"""
import math
import sys
import types

from torch import _arguments, _base, _gradient
from torch._base import NAMES, OPS, NotHere, Size, Tensor, device, error, not_here
from torch._dtypes import DTYPES, dtype, promote_types
from torch._create import DEFAULT, Generator, fork_rng, manual_seed
from torch._gradient import Mode, enable_grad, inference_mode, is_grad_enabled, no_grad, vmap

from torch import _entries, _pairs, _products, _reduce, _softmax, _order, _shape, _complex, _index, _places, _join
from torch import _linalg, _tensor, _operators
from torch._calls import refusing

__version__ = "2.13.0+small"
inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
strided, contiguous_format, preserve_format = "strided", "contiguous_format", "preserve_format"
globals().update(DTYPES)
globals().update({name: refusing(_base.taking_out(OPS[name]), "torch", name)
                  for name in OPS.keys() & NAMES["torch"] - DTYPES.keys()})
double, float, half = DTYPES["float64"], DTYPES["float32"], DTYPES["float16"]
long, int, short = DTYPES["int64"], DTYPES["int32"], DTYPES["int16"]
cfloat, cdouble = DTYPES["complex64"], DTYPES["complex128"]


def is_tensor(obj):
    return isinstance(obj, Tensor)


def get_default_dtype():
    return DTYPES["float32"]


def get_default_device():
    return device("cpu")


def is_autocast_enabled(*args):
    return False


def is_inference_mode_enabled():
    return False


def result_type(tensor1, tensor2):
    return _arguments.result_type(tensor1, tensor2)


class set_grad_enabled(Mode):
    """At once, and until the end of a `with` where it stands in one."""

    def __init__(self, mode):
        self.mode, self.before, _base.GRAD[0] = mode, _base.GRAD[0], mode

    def __enter__(self):
        return self


class SymInt:
    pass


class SymFloat:
    pass


class finfo:
    def __init__(self, *args, **kwargs):
        import numpy
        if len(args) > 1 or kwargs:
            raise NotHere("finfo with these arguments")
        type = args[0] if args else None
        if type is not None and not isinstance(type, dtype):
            raise error(TypeError, f"finfo(): argument 'type' (position 1) must be torch.dtype, not "
                        f"{_arguments.type_of(type)}")
        if type is not None and type.itemsize == 2:
            raise NotHere(f"finfo({type})")
        info = numpy.finfo((type or DTYPES["float32"]).numpy)
        self.max, self.min, self.eps, self.tiny = (info.max.item(), info.min.item(), info.eps.item(), info.tiny.item())
        self.smallest_normal, self.bits = self.tiny, info.bits


class iinfo:
    def __init__(self, type):
        import numpy
        info = numpy.iinfo(type.numpy)
        self.max, self.min, self.bits = info.max, info.min, info.bits


# --- The modules below it --------------------------------------------------------------------------------------------

def absent(home, key=None):
    """The __getattr__ of a module: NotHere for what torch has, its own words for what it has not."""
    def missing(name):
        if name.startswith("__"):
            raise AttributeError(name)
        if key is None or name in NAMES[key] or name.startswith("_"):
            raise NotHere(f"{home}.{name}")
        raise error(AttributeError, f"module '{home}' has no attribute '{name}'")
    return missing


def module(name, key=None, **content):
    made = types.ModuleType(f"torch.{name}")
    made.__dict__.update(content, __getattr__=absent(f"torch.{name}", key))
    sys.modules[f"torch.{name}"] = made
    return made


__getattr__ = absent("torch", "torch")
sure = _base.sure
linalg = module("linalg", "linalg", **{name: refusing(function, "linalg", name)
                                       for name, function in _linalg.HERE.items()})
special = module("special", "special", entr=OPS["special.entr"])
random = module("random", fork_rng=fork_rng, manual_seed=manual_seed)
autograd = module("autograd", grad=OPS["autograd.grad"], Function=_gradient.Function, no_grad=no_grad,
                  enable_grad=enable_grad, functional=module(
                      "autograd.functional", jacobian=OPS["autograd.functional.jacobian"]),
                  forward_ad=module("autograd.forward_ad", _current_level=-1))
cuda = module("cuda", is_available=lambda: False, device_count=lambda: 0)
backends = module("backends", mps=module("backends.mps", is_available=lambda: False))
compiler = module("compiler", is_compiling=lambda: False, is_exporting=lambda: False)
_C = types.SimpleNamespace(_are_functorch_transforms_active=lambda: False, _is_any_autocast_enabled=lambda: False,
                           _len_torch_dispatch_stack=lambda: 0, _get_tracing_state=lambda: None)


class Categorical:
    """torch.distributions.Categorical, for its entropy."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None) or validate_args:
            raise NotHere("Categorical with these arguments")
        (probs if logits is None else logits).dim()                 # what has none is no tensor
        if probs is not None:
            limits = finfo(probs.dtype)
            logits = (probs / probs.sum(-1, keepdim=True)).clamp(limits.eps, 1 - limits.eps).log()
        else:
            logits = logits - logits.logsumexp(-1, keepdim=True)
        self.logits, self.probs = logits, logits.softmax(-1) if probs is None else probs / probs.sum(-1, keepdim=True)

    def entropy(self):
        return -(self.logits.clamp(min=finfo(self.logits.dtype).min) * self.probs).sum(-1)

    def __getattr__(self, name):
        raise NotHere(f"Categorical.{name}")


distributions = module("distributions", Categorical=Categorical)


class TorchFunctionMode:
    """In a `with`, its __torch_function__ is told each call."""

    def __enter__(self):
        _base.MODES.append(self)
        return self

    def __exit__(self, *failure):
        _base.MODES.pop()


overrides = module("overrides", TorchFunctionMode=TorchFunctionMode)
import torch.nn  # noqa: E402
