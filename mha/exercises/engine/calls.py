"""Calls a learner's function: whatever it raises or prints is kept, what it remembers can be left out, and its inputs
can be filled anew.
"""
import copy
import io
import itertools
import math
import types
from contextlib import contextmanager, nullcontext, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from mha.exercises.engine.alarm import Alarm
from mha.exercises.engine.probe import same


class Caught:
    """Keeps what is raised inside a `with`, whatever it is, short of stopping Python: a learner's error becomes a
    sentence.
    """
    failure = None

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, where):
        self.failure = failure
        return isinstance(failure, Exception)


LIMIT = 10                                                      # seconds for one call
HEARD = ContextVar("heard")                                     # what each call has printed, in order


@contextmanager
def listening():
    """A list that gets what each call prints; calls inside others are heard by the inner one."""
    token = HEARD.set([])
    try:
        yield HEARD.get()
    finally:
        HEARD.reset(token)


def called(answer, args):
    """What an answer returns. What it prints is kept, not shown; what goes to stderr is not touched, since a warning
    that Python gives only once would be lost.

    Raises:
        TooLong: after LIMIT seconds. And whatever the answer raises.
    """
    printed = io.StringIO()
    try:
        with redirect_stdout(printed), Alarm(LIMIT):
            return answer(*args)
    finally:
        HEARD.get([]).append(printed.getvalue()[:2000])


def run(answer, args):
    """(output, None), or (None, what was raised)."""
    with Caught() as caught:
        return called(answer, args), None
    return None, caught.failure


class Used(TorchFunctionMode):
    """The names of the functions and attributes of torch that are used inside a `with`."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, function, types, args=(), named=None):
        owner = getattr(function, "__self__", None)                  # x.grad is a call of Tensor.grad.__get__
        self.names |= {getattr(function, "__name__", ""), getattr(owner, "__name__", "")}
        return function(*args, **named or {})


def on_the_cpu():
    """A context in which new tensors are made where the inputs of the exercises are, whatever torch's default device.
    """
    return nullcontext() if torch.get_default_device().type == "cpu" else torch.device("cpu")


TORCH = {torch: "torch", torch.Tensor: "torch.Tensor", F: "F", nn: "nn", torch.linalg: "torch.linalg", math: "math"}
OWN = {(home, name): getattr(home, name) for home in TORCH for name in dir(home)
       if name[0] != "_" and callable(getattr(home, name))}
TOO_EARLY = [f"{TORCH[home]}.{name}" for (home, name), own in OWN.items() if home in (torch, F)  # replaced before that
             and getattr(own, "__module__", None) == "__main__" and name in getattr(home, "__all__", [name])]


@contextmanager
def own_torch():
    """The names of what somebody has replaced in torch and in math since this module was read. In this context all of
    it is as it was, since the right answers and the comparisons need it too.
    """
    others = {(home, name): getattr(home, name, None) for (home, name), own in OWN.items()
              if getattr(home, name, None) is not own and not is_torchs(getattr(home, name, None), name)}
    for home, name in others:
        setattr(home, name, OWN[home, name])
    try:
        yield [f"{TORCH[home]}.{name}" for home, name in others]
    finally:
        for (home, name), other in others.items():
            setattr(home, name, other)


def is_torchs(value, name):
    """Whether torch itself put something there: it wraps functions when it compiles, and has classes that follow the
    default dtype.
    """
    if isinstance(value, type):
        return value.__module__.startswith("torch")
    code = getattr(value, "__code__", None)
    return (code is not None and value.__name__ == name
            and Path(torch.__file__).parent in Path(code.co_filename).parents)


def observe_run(exercise, answer, args):
    """(what is compared, None), or (None, what was raised)."""
    asked = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]      # the answer may change its own
    output, failure = run(answer, args)
    return (observed(exercise, output, asked), None) if failure is None else (None, failure)


def observed(exercise, output, args):
    """The tensor to compare; the output itself where it is not of the kind that can be observed."""
    with Caught():
        return exercise.observe(output, *args)
    return UnexpectedOutput(output)


@dataclass(frozen=True)
class UnexpectedOutput:
    """An output that is not what was asked for."""
    output: object

    def __str__(self):
        if isinstance(self.output, torch.Tensor):
            return f"a tensor of shape {tuple(self.output.shape)}"
        if isinstance(self.output, (tuple, list)) and self.output and all(
            isinstance(part, torch.Tensor) for part in self.output):
            mixed = len({part.dtype for part in self.output}) > 1
            kinds = [f" of {part.dtype}".replace("torch.", "") * mixed for part in self.output]
            return (f"a {type(self.output).__name__} of {len(self.output)} tensors: "
                    f"{', '.join(f'{tuple(part.shape)}{kind}' for part, kind in zip(self.output, kinds))}")
        return f"a {type(self.output).__name__}"


class IsolatedFunction:
    """A function as it was before its first call: variables of its module that it and the functions which it calls
    there use, and their default arguments, are copied.
    """

    def __init__(self, answer):
        self.answer = answer
        if isinstance(answer, types.FunctionType):
            self.world = {name: kept(value) for name, value in used_by(answer).items()}
            self.defaults = {function: tuple(map(kept, function.__defaults__ or ()))
                             for function in (answer, *self.world.values()) if is_of(function, answer)}

    def __call__(self, *args):
        if not isinstance(self.answer, types.FunctionType):
            return self.answer(*args)
        world = {**self.answer.__globals__, **{name: kept(value) for name, value in self.world.items()}}
        world |= {name: self.anew(value, world) for name, value in self.world.items() if is_of(value, self.answer)}
        return self.anew(self.answer, world)(*args)

    def anew(self, function, world):
        """The same function with variables and default arguments of its own."""
        alone = types.FunctionType(function.__code__, world, function.__name__,
                                   tuple(map(kept, self.defaults[function])) or None, function.__closure__)
        alone.__kwdefaults__ = function.__kwdefaults__
        return alone


def is_of(value, answer):
    """Whether something is a function of the module where the answer stands."""
    return isinstance(value, types.FunctionType) and value.__globals__ is answer.__globals__


def used_by(answer):
    """name -> value of all in its module that a function uses, itself or through the functions which it calls there."""
    found, waiting = {}, [answer]
    while waiting:
        names = names_in(waiting.pop().__code__) - found.keys()
        new = {name: answer.__globals__[name] for name in names if name in answer.__globals__}
        found |= new
        waiting += [value for value in new.values() if is_of(value, answer)]
    return found


def names_in(code):
    """Every global name that a piece of code uses, the functions inside it included."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(names_in, inner))


def kept(value):
    """A copy of what a function may keep things in; anything else as it is."""
    if isinstance(value, (list, dict, set)):
        with Caught():
            return copy.deepcopy(value)
    return value


def refilled(case, seed, of_any_sum=()):
    """The arguments of a case with other numbers in them: of the same shapes; weights stay weights, but for the
    arguments of_any_sum, what is never negative stays so, a mask shows something in every row, and what is a part of
    the question stays.
    """
    g = torch.Generator().manual_seed(seed)

    def other(i, value):
        if not isinstance(value, torch.Tensor) or is_given(value):
            return value
        if value.dtype == torch.bool:
            seen = torch.rand(value.shape, generator=g) > 0.5
            return seen | torch.eye(*value.shape[-2:], dtype=torch.bool)
        fresh = torch.randn(value.shape, generator=g, dtype=value.dtype)
        shares = i not in of_any_sum and are_shares(value)
        return fresh.softmax(-1) if shares else fresh.abs() if (value >= 0).all() else fresh

    return [other(i, value) for i, value in enumerate(case.copies())]


def is_given(value):
    """Whether the numbers of a tensor are a part of the question, as lengths, an order and gates are, no example."""
    if value.dtype == torch.bool:
        return value.ndim < 2
    return not value.is_floating_point() or value.ndim == 1 and bool(((value == 0) | (value == 1)).all())


def are_shares(value):
    """Whether the rows of a tensor are weights: none negative, and each row sums to 1."""
    return value.ndim > 0 and bool((value >= 0).all()) and same(value.sum(-1), torch.ones_like(value.sum(-1)))


def always(exercise, answer, case, right, tries=12):
    """Whether an answer is right on a case whatever its numbers: True, False, or None where that depends on them."""
    if not any(isinstance(value, torch.Tensor) for value in case.args):
        return right                               # nothing to fill anew
    for seed in range(tries):
        other, wanted = filled_anew(exercise, case, seed)
        output, failure = observe_run(exercise, answer, other.copies())
        if (failure is None and same(output, wanted)) is not right:
            return None
    return right


def filled_anew(exercise, case, seed):
    """(a case with other numbers, what is right there). Made once, then kept."""
    key = "filled anew", id(case), seed
    if key not in exercise._made:
        other = type(case)(tuple(refilled(case, seed, exercise.of_any_sum if seed % 2 else ())))
        exercise._made[key] = other, exercise.outcome(exercise.reference, other), case  # kept: so is its id
    return exercise._made[key][:2]


def on_copies(answer):
    """An answer that cannot change the tensors that it is called with, nor print, nor run for ever."""
    return lambda *args: called(answer, [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args])


def guarded(measure, answer):
    """The sentences of a measurement, up to the first that cannot be taken, or that a second measurement does not give.
    """
    taken = [], []
    for lines in taken:
        with Caught():
            for line in measure(answer):
                lines.append(line)
    return [one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*taken))]


def works_for(right, name, kinds):
    """For which kinds of a matrix an answer is right, and for which it never is.

    Args:
        right: function of the matrix, whether the answer is right there; what raises is not.
        kinds: what the matrix is -> three that are so.
    """
    def tried(matrix):
        with Caught():
            return right(matrix)
        return False

    results = {kind: [tried(matrix) for matrix in matrices] for kind, matrices in kinds.items()}
    good = [kind for kind, found in results.items() if all(found)]
    bad = [kind for kind, found in results.items() if not any(found)]
    if good and bad:
        yield (f"Tried with three matrices of each kind, it is right where {name} is {', or '.join(good)}, and wrong "
               f"where {name} is {', or '.join(bad)}.")
