"""Layers: Module keeps parameters and modules, as torch's does; of the layers, those that `mha` is made of."""

import math

from torch._base import NAMES, OPS, NotHere, Tensor, error, make
from torch._dtypes import DTYPES
from torch.nn import functional, init


class Parameter(Tensor):
    """A tensor that a Module counts among its parameters."""

    def __new__(cls, data, requires_grad=True):
        parameter = make(data.array, data.dtype)
        parameter.__class__ = cls
        return parameter.requires_grad_(requires_grad)

    def __init__(self, *args, **kwargs):
        pass


class Module:
    """What has parameters and modules, and is called as `forward`."""

    training = True

    def __init__(self):
        for kind in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, kind, {})

    def __repr__(self):
        raise NotHere("how torch prints a layer")

    def __setattr__(self, name, value):
        kind = "_parameters" if isinstance(value, Parameter) else "_modules" if isinstance(value, Module) else None
        if kind is None:
            kind = next((kind for kind in ("_parameters", "_buffers") if name in self.__dict__.get(kind, ())), None)
        if kind is None:
            object.__setattr__(self, name, value)
        else:
            self.__dict__[kind][name] = value

    def __getattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(kind, ()):
                return self.__dict__[kind][name]
        if name in NAMES["Module"]:
            raise NotHere(f"Module.{name}")
        raise error(AttributeError, f"'{type(self).__name__}' object has no attribute '{name}'")

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def register_parameter(self, name, value):
        self._parameters[name] = value

    def register_buffer(self, name, value, persistent=True):
        self._buffers[name] = value

    def children(self):
        return iter(self._modules.values())

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self._modules.items():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self):
        return (module for _, module in self.named_modules())

    def named_parameters(self):
        for prefix, module in self.named_modules():
            for name, value in module._parameters.items():
                if value is not None:
                    yield f"{prefix}.{name}" if prefix else name, value

    def parameters(self):
        return (value for _, value in self.named_parameters())

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for value in self.parameters():
            value.requires_grad_(requires_grad)
        return self

    def to(self, *args, **kwargs):
        for module in self.modules():
            for kept in (module._parameters, module._buffers):
                for name, value in kept.items():
                    if value is not None:
                        changed = value.detach().to(*args, **kwargs)
                        kept[name] = Parameter(changed, value.requires_grad) if kept is module._parameters else changed
        return self

    def double(self):
        return self.to(DTYPES["float64"])

    def float(self):
        return self.to(DTYPES["float32"])


class ModuleList(Module):
    def __init__(self, modules=()):
        super().__init__()
        for i, module in enumerate(modules):
            self._modules[str(i)] = module

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, i):
        return list(self._modules.values())[i]

    def append(self, module):
        self._modules[str(len(self))] = module
        return self


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(OPS["empty"](out_features, in_features, dtype=dtype))
        if bias:
            self.bias = Parameter(OPS["empty"](out_features, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return functional.linear(input, self.weight, self.bias)


class Identity(Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Softmax(Module):
    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return functional.softmax(input, self.dim)


class MultiheadAttention(Module):
    def __init__(self, *args, **kwargs):
        raise NotHere("nn.MultiheadAttention")


def __getattr__(name):
    if name in NAMES["nn"]:
        raise NotHere(f"nn.{name}")
    raise error(AttributeError, f"module 'torch.nn' has no attribute '{name}'")
