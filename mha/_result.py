"""What `attention` and the layers return: a pair, which says so where somebody takes it for a tensor."""

from typing import NamedTuple

import torch
from torch import Tensor

HOW = "attention and its layers return (out, weights): take the output by out, _ = layer(x), or layer(x)[0]"


def pair(out: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """`Attended`; in a compiled program or an exported one, which has no use for sentences, an ordinary tuple."""
    both = (out, weights)
    return both if torch.compiler.is_compiling() else tuple.__new__(Attended, both)


class Attended(NamedTuple):
    """The output and the weights, which are None where nobody asked for them: a tuple with two names.

    Wherever torch meets it in the place of a tensor, it asks it what to do (`__torch_function__`), as Python does in
    x + layer(x) (`__radd__`).
    """

    out: Tensor
    weights: Tensor | None

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise TypeError(f"torch's {getattr(function, '__name__', function)} got a pair instead of a tensor; {HOW}")

    def __getattr__(self, name: str):
        raise AttributeError(f"a pair has no {name}{f'; {HOW}' if hasattr(Tensor, name) else ''}", name=name, obj=self)

    def __getitem__(self, i):
        if isinstance(i, (int, slice)):
            return tuple.__getitem__(self, i)
        raise TypeError(f"a pair has no element {i!r}; {HOW}")

    def __add__(self, other):
        return tuple.__add__(self, other) if isinstance(other, tuple) else self._computed_with(other)

    def _computed_with(self, *others):
        raise TypeError(f"a pair is no tensor to compute with; {HOW}")

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __matmul__ = __rmatmul__ = _computed_with
    __neg__ = _computed_with
    __repr__ = tuple.__repr__

    def _repr_pretty_(self, printer, cycle):  # a notebook lays a tuple out over several lines
        printer.pretty(tuple(self))
