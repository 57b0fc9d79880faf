"""Finds what is wrong with an answer, from cheap to dear; the first layer that can explain it speaks, and what was measured is always shown.

Nothing here may say an untrue sentence. A mistake is named only where a model of it gives the learner's numbers on every case.
"""
import linecache
import traceback

import torch

from mha.exercises.exercise import same
from mha.exercises.report import Report

GOT_NOTHING = (type(None), type(Ellipsis))


def examine(exercise, answer):
    """The report on an answer. Never raises for anything that the answer does, short of stopping Python."""
    if not callable(answer):
        return not_started(exercise) if isinstance(answer, GOT_NOTHING) else wrong_kind(exercise, answer)
    outputs, failures, touched = [], [], False
    for case in exercise.cases:
        args = case.copies()
        output, failure = run(answer, args)
        if isinstance(failure, NotImplementedError) or isinstance(output, GOT_NOTHING) and failure is None:
            return not_started(exercise) if not outputs else nothing_returned(exercise, case)
        outputs.append(output)
        failures.append(failure)
        touched |= any(isinstance(a, torch.Tensor) and not same(a, b, 0) for a, b in zip(args, case.args))
    right = [same(output, expected) for output, expected in zip(outputs, exercise.expected)]
    if all(right):
        return when_values_are_right(exercise, answer, touched)
    return explain(exercise, answer, outputs, failures, right)


class Caught:
    """Keeps what is raised inside a `with`, whatever it is, short of stopping Python: a learner's error becomes a sentence."""
    failure = None

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, where):
        self.failure = failure
        return isinstance(failure, Exception)


def run(answer, args):
    """(output, None), or (None, what was raised)."""
    with Caught() as caught:
        return answer(*args), None
    return None, caught.failure


# --- Before the values -----------------------------------------------------------------------------------------------

def not_started(exercise):
    return Report(False, [], f"{exercise.id} {exercise.name}: not started.\n{exercise.statement.replace('`', '')}", started=False)


def nothing_returned(exercise, case):
    return Report(False, ["no-return"], headline(exercise) + f"It returns nothing for {exercise.describe(case)}, though it did for smaller inputs. Is there a `return` on every path?")


def wrong_kind(exercise, answer):
    return Report(False, ["not-a-function"], headline(exercise) + f"check wants the function itself, {exercise.signature}, and got a {type(answer).__name__}. "
                  f"Write check(\"{exercise.id}\", {exercise.name}), without brackets after the name.")


def headline(exercise):
    return f"{exercise.id} {exercise.name}: not yet.\n"


# --- The values are right --------------------------------------------------------------------------------------------

def when_values_are_right(exercise, answer, touched):
    """Right on every case. What remains: side effects, gradients, large numbers, and remarks that do not cost the point."""
    if touched:
        return Report(False, ["changes-input"], headline(exercise) + "The values are right, but the function changes its own inputs: after the call they hold other numbers. "
                      "Whoever called it will be surprised. Functions whose names end in _ (such as masked_fill_) do that, and so does x[...] = ...")
    lost = without_gradient(exercise, answer)
    if lost:
        return Report(False, ["no-gradient"], headline(exercise) + f"The values are right, but no gradient reaches {lost}. Nothing that this function is part of could learn. "
                      "Look for .detach(), .item(), .data, numpy, torch.tensor(...) of computed numbers, or torch.no_grad().")
    if exercise.large is not None:
        output, failure = run(answer, exercise.large.copies())
        if failure is not None or not same(output, exercise.reference(*exercise.large.copies()), 1e-3):
            shown = "raises " + type(failure).__name__ if failure else "gives " + ("NaN" if isinstance(output, torch.Tensor) and output.isnan().any() else "other numbers")
            return Report(False, ["overflow"], headline(exercise) + f"The values are right for ordinary scores. With scores in the thousands it {shown}: the power e^1000 does not fit. "
                          "A shift of all scores of a row changes no weight, so subtract the largest first, or use softmax.")
    return Report(True, [], f"{exercise.id} {exercise.name}: right.\n{exercise.note}" + "".join(f"\nA remark: {r}" for r in remarks(exercise, answer)))


def without_gradient(exercise, answer):
    """Names of the tensors that no gradient reaches; empty where all is well."""
    args = exercise.cases[1].copies()
    tensors = [(i, a.requires_grad_()) for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
    output, failure = run(answer, args)
    if failure is not None or not isinstance(output, torch.Tensor):
        return ""
    names = exercise.arguments
    if not output.requires_grad:
        return " or ".join(names[i] for i, _ in tensors)
    grads = torch.autograd.grad((output * torch.arange(1.0, output.numel() + 1).view(output.shape)).sum(), [a for _, a in tensors], allow_unused=True)
    return " or ".join(names[i] for (i, _), grad in zip(tensors, grads) if grad is None)


def remarks(exercise, answer):
    """True sentences about a right answer that could still surprise somebody."""
    args = [a.float() if isinstance(a, torch.Tensor) else a for a in exercise.cases[1].copies()]
    output, failure = run(answer, args)
    if failure is None and isinstance(output, torch.Tensor) and output.dtype != torch.float32:
        yield f"for float32 input it returns {str(output.dtype).removeprefix('torch.')}."
    args = [a.mT.contiguous().mT if isinstance(a, torch.Tensor) else a for a in exercise.cases[1].copies()]
    output, failure = run(answer, args)
    if failure is not None:
        yield "it fails on a tensor that is a transposed view of another (non-contiguous). reshape does not mind, where view does."


# --- The values are wrong --------------------------------------------------------------------------------------------

def explain(exercise, answer, outputs, failures, right):
    """Name the mistake if a model of it gives the same numbers; always show the smallest counterexample and what was measured."""
    first = right.index(False)
    lines, mistakes = [], []
    unwrapped = tuple_of(outputs, exercise.expected)
    if unwrapped is not None:
        mistakes, lines = ["returns-tuple"], [f"It returns {unwrapped}, and the statement asks for one tensor. The right tensor is among them: return that alone."]
    again, failed_again = run(answer, exercise.cases[first].copies())
    random = failures[first] is None and failed_again is None and isinstance(again, torch.Tensor) and not same(again, outputs[first])
    if random:
        mistakes, lines = ["random"], ["Called twice with the same input, it gives different outputs. Something in it is random: dropout, or a layer made anew at each call."]
    if not lines:
        mistakes, lines = named(exercise, outputs)
    if failures[first] is not None:
        lines = lines + what_was_raised(exercise, answer, failures[first], exercise.cases[first])
        if not mistakes:
            mistakes = recognised(failures[first])
    elif not random:
        lines = lines + [counterexample(exercise, outputs[first], first)]
    lines += where_it_works(exercise, right)
    if not mistakes and failures[first] is None and not random:
        lines += repairs(outputs, exercise.expected)
        lines += guarded(exercise.measure, answer)
    lines.append(f'hint("{exercise.id}") says more.')
    return Report(False, mistakes, headline(exercise) + "\n".join(lines))


def tuple_of(outputs, expected):
    """"a tuple of 2", where every output is a tuple or list that holds the right tensor; else None."""
    if not all(isinstance(output, (tuple, list)) and any(same(part, right) for part in output) for output, right in zip(outputs, expected)):
        return None
    return f"a {type(outputs[0]).__name__} of {len(outputs[0])}"


def named(exercise, outputs):
    """The mistakes whose model gives these outputs on every case that ran: (ids, lines)."""
    tensors = {i: output for i, output in enumerate(outputs) if isinstance(output, torch.Tensor) and not output.is_complex()}
    found = [mistakes for _, mistakes in exercise.explanations(tensors)] if tensors else []
    if not found:
        return [], []
    ids = list(dict.fromkeys(mistake.id for mistakes in found for mistake in mistakes))
    says = list(dict.fromkeys(" And: ".join(mistake.says for mistake in mistakes) for mistakes in found))[:2]
    asks = [mistake.asks for mistake in found[0] if mistake.asks]
    return ids[:3], ["\nOr: ".join(says)] + asks[:1]


def counterexample(exercise, output, index):
    """The smallest case on which the output is wrong, with one number of each."""
    expected, case = exercise.expected[index], exercise.cases[index]
    if not isinstance(output, torch.Tensor):
        return f"For {exercise.describe(case)} it returns a {type(output).__name__}; wanted is a tensor of shape {tuple(expected.shape)}."
    if output.shape != expected.shape:
        return f"For {exercise.describe(case)} the output has shape {tuple(output.shape)}; wanted is {tuple(expected.shape)}."
    if output.isnan().any():
        return f"For {exercise.describe(case)} {int(output.isnan().sum())} of {output.numel()} numbers are NaN."
    off = ~torch.isclose(output.double(), expected.double(), rtol=1e-4, atol=1e-4)
    at = tuple(off.nonzero()[0].tolist())
    return (f"For {exercise.describe(case)} {int(off.sum())} of {off.numel()} numbers are wrong; the first, at {list(at)}, is {output[at].item():.4g}, "
            f"wanted {expected[at].item():.4g}.")


def where_it_works(exercise, right):
    """Which cases are right: a mistake that hides on some sizes says where."""
    good = [case for case, expected, ok in zip(exercise.cases, exercise.expected, right) if ok and expected.numel() > 1]
    if not good:
        return []
    bad = [case for case, ok in zip(exercise.cases, right) if not ok]
    return [f"It is right for {'; '.join(exercise.describe(c) for c in good)}, and not for {exercise.describe(bad[0])}. What is different there?"]


def repairs(outputs, expected):
    """A simple change that would make every output right: transposed, or times a constant."""
    pairs = [(o, e) for o, e in zip(outputs, expected) if isinstance(o, torch.Tensor)]
    if len(pairs) == len(expected) and all(o.ndim >= 2 and same(o.mT, e) for o, e in pairs):
        return ["Its last two axes exchanged, every output would be right."]
    if len(pairs) == len(expected) and all(o.shape == e.shape for o, e in pairs):
        factors = [float((o.double() * e.double()).sum() / e.double().square().sum()) for o, e in pairs]
        if all(same(o.double(), f * e.double(), 1e-5) for f, (o, e) in zip(factors, pairs)) and all(abs(f) > 1e-9 for f in factors):
            return ["Every output is a constant times the right one; the constants, case by case: " + ", ".join(f"{f:.4g}" for f in factors) + "."]
    return []


def guarded(measure, answer):
    """The sentences of a measurement, up to the first that cannot be taken."""
    lines = []
    with Caught():
        for line in measure(answer):
            lines.append(line)
    return lines


# --- Exceptions ------------------------------------------------------------------------------------------------------

def what_was_raised(exercise, answer, failure, case):
    """The learner's own line, what was raised there, and the shapes of the tensors in it."""
    frames = list(traceback.walk_tb(failure.__traceback__))
    own = [(frame, line) for frame, line in frames if frame.f_code.co_filename == getattr(getattr(answer, "__code__", None), "co_filename", None)]
    said = f"{type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else 'no message'}"
    if not own:
        return [f"For {exercise.describe(case)} it stops with {said}"]
    frame, line = own[-1]
    source = linecache.getline(frame.f_code.co_filename, line).strip()
    shapes = [f"{name} {tuple(value.shape)}" for name, value in frame.f_locals.items() if isinstance(value, torch.Tensor)]
    lines = [f"For {exercise.describe(case)} it stops with {said}"]
    lines += [f"Your line: {source}"] if source else [f"In line {line} of your code."]
    return lines + ([f"Tensors there: {', '.join(shapes[:6])}."] if shapes else [])


EXCEPTIONS = {"view size is not compatible": "view-after-transpose", "is not implemented for": "dtype", "NameError": "name", "UnboundLocalError": "name",
              "AttributeError": "attribute", "AssertionError": "assertion"}


def recognised(failure):
    """The mistake that an exception tells by itself."""
    text = f"{type(failure).__name__} {failure}"
    return [mistake for sign, mistake in EXCEPTIONS.items() if sign in text][:1]
