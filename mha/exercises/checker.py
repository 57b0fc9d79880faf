"""Finds what is wrong with an answer, from cheap to dear; the first layer that can explain it speaks, and what was measured is always shown.

Nothing here may say an untrue sentence. A mistake is named only where a model of it gives the learner's numbers on every case.
"""
import linecache
import re
import traceback
from dataclasses import dataclass

import torch

from mha.exercises.probe import same
from mha.exercises.report import Mistake

GOT_NOTHING = (type(None), type(Ellipsis))


def examine(exercise, answer):
    """The report on an answer. Never raises for anything that the answer does, short of stopping Python."""
    if not callable(answer):
        return exercise.not_started() if isinstance(answer, GOT_NOTHING) else wrong_kind(exercise, answer)
    outputs, failures, touched = [], [], False
    for case in exercise.cases:
        args = case.copies()
        output, failure = run(answer, args)
        nothing = failure is None and isinstance(output, GOT_NOTHING)
        if not outputs and (nothing or isinstance(failure, NotImplementedError)) and untouched(answer):
            return exercise.not_started()
        if nothing:
            return nothing_returned(exercise, case, bool(outputs))
        outputs.append(observed(exercise, output, args) if failure is None else None)
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


def observe_run(exercise, answer, args):
    """(what is compared, None), or (None, what was raised)."""
    output, failure = run(answer, args)
    return (observed(exercise, output, args), None) if failure is None else (None, failure)


def observed(exercise, output, args):
    """The tensor to compare; the output itself where it is not of the kind that can be observed."""
    with Caught():
        return exercise.observe(output, *args)
    return Unread(output)


@dataclass(frozen=True)
class Unread:
    """An output that is not what was asked for."""
    output: object

    def __str__(self):
        if isinstance(self.output, torch.Tensor):
            return f"a tensor of shape {tuple(self.output.shape)}"
        if isinstance(self.output, (tuple, list)) and all(isinstance(part, torch.Tensor) for part in self.output):
            return f"a {type(self.output).__name__} of {len(self.output)} tensors: {', '.join(str(tuple(part.shape)) for part in self.output)}"
        return f"a {type(self.output).__name__}"


# --- Before the values -----------------------------------------------------------------------------------------------

def untouched(answer):
    """Whether a function that gives nothing is a stub: it sets no variable and uses no name."""
    code = getattr(answer, "__code__", None)
    return code is None or code.co_nlocals == code.co_argcount and set(code.co_names) <= {"NotImplementedError"}


def nothing_returned(exercise, case, later):
    said = ", though it returned something for smaller inputs. Is there a `return` on every path?" if later else ". Is the last line a `return`?"
    return exercise.report(False, ["no-return"], f"It returns nothing for {exercise.describe(case)}{said}")


def wrong_kind(exercise, answer):
    return exercise.report(False, ["not-a-function"], f"check wants the function itself, {exercise.signature}, and got a {type(answer).__name__}. "
                  f"Write check(\"{exercise.id}\", {exercise.name}), without brackets after the name.")


# --- The values are right --------------------------------------------------------------------------------------------

def when_values_are_right(exercise, answer, touched):
    """Right on every case. What remains: side effects, gradients, large numbers, and remarks that do not cost the point."""
    if touched:
        return exercise.report(False, ["changes-input"], "The values are right, but the function changes its own inputs: after the call they hold other numbers. "
                      "Whoever called it will be surprised. Functions whose names end in _ (such as masked_fill_) do that, and so does x[...] = ...")
    cut = gradient_fault(exercise, answer)
    if cut and "NaN" in cut:
        return exercise.report(False, ["nan-gradient"], f"The values are right, but {cut} A NaN that is replaced afterwards still stands in the way back: 0 times NaN is NaN. "
                               "Let no NaN arise: give such a row harmless scores before the softmax, and set its weights to 0 after it.")
    if cut:
        return exercise.report(False, ["no-gradient"], f"The values are right, but {cut} Whatever this function is part of would learn wrongly, or not at all. "
                               "Look for .detach(), .item(), .data, round, numpy, torch.tensor(...) of computed numbers, or torch.no_grad().")
    for case in exercise.large:
        output, failure = observe_run(exercise, answer, case.copies())
        if failure is not None or not same(output, exercise.outcome(exercise.reference, case), 1e-3):
            shown = "raises " + type(failure).__name__ if failure else "gives " + ("NaN" if isinstance(output, torch.Tensor) and output.isnan().any() else "other numbers")
            return exercise.report(False, ["overflow"], f"The values are right for ordinary scores. With scores in the thousands, above zero or below, it {shown}: e^1000 does not fit into a float, "
                                   "and e^-1000 is 0. A shift of all scores of a row changes no weight, so subtract the row's largest first, or use softmax.")
    return exercise.report(True, [], exercise.note, *(f"A remark: {remark}" for remark in remarks(exercise, answer)))


def gradient_fault(exercise, answer):
    """What is wrong with the gradients, as a clause; empty where they are those of the reference."""
    names = exercise.arguments
    for case in (exercise.cases[i] for i in exercise.trained):
        wanted, found = gradients(exercise, exercise.reference, case), gradients(exercise, answer, case)
        if found is None:
            continue
        lost = [names[i] for i, grad in wanted.items() if grad is not None and (found.get(i) is None or not found[i].any() and grad.any())]
        if lost:
            return f"no gradient reaches {' or '.join(lost)}."
        nan = [names[i] for i, grad in wanted.items() if grad is not None and found[i].isnan().any() and not grad.isnan().any()]
        if nan:
            return f"the gradient that reaches {' and '.join(nan)} is NaN for {exercise.describe(case)}."
        other = [names[i] for i, grad in wanted.items() if grad is not None and not same(found[i], grad)]
        if other:
            return f"the gradient that reaches {' and '.join(other)} is not the right one: a part of the computation was cut off from it."
    return ""


def gradients(exercise, function, case):
    """index of a tensor argument -> its gradient, None where none arrives. None in all where the function cannot be run so."""
    args = case.copies()
    tensors = {i: a.requires_grad_() for i, a in enumerate(args) if isinstance(a, torch.Tensor) and a.is_floating_point()}
    output, failure = observe_run(exercise, function, args)
    if failure is not None or not isinstance(output, torch.Tensor):
        return None
    if not output.requires_grad:
        return dict.fromkeys(tensors)
    weighted = (output * torch.arange(1.0, output.numel() + 1).view(output.shape)).sum()
    return dict(zip(tensors, torch.autograd.grad(weighted, list(tensors.values()), allow_unused=True)))


def remarks(exercise, answer):
    """True sentences about a right answer that could still surprise somebody."""
    args = [a.float() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in exercise.cases[1].copies()]
    output, failure = run(answer, args)
    if failure is None and isinstance(output, torch.Tensor) and output.dtype != torch.float32:
        yield f"for float32 input it returns {str(output.dtype).removeprefix('torch.')}."
    args = [a.mT.contiguous().mT if isinstance(a, torch.Tensor) and a.ndim > 1 else a for a in exercise.cases[1].copies()]
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
    again, failed_again = observe_run(exercise, answer, exercise.cases[first].copies())
    random = failures[first] is None and failed_again is None and isinstance(again, torch.Tensor) and not same(again, outputs[first])
    if random:
        mistakes, lines = ["random"], ["Called twice with the same input, it gives different outputs. Something in it is random: dropout, or a layer made anew at each call."]
    if not lines:
        mistakes, lines = named(exercise, outputs)
    if not lines and failures[first] is None and not isinstance(outputs[first], (torch.Tensor, Unread)):
        mistakes, lines = ["not-a-tensor"], ["It returns something else than a tensor. Lists are joined by torch.stack (a new axis) or torch.cat (along one that is there); numpy loses the gradient."]
    if failures[first] is not None:
        meaning, axis = recognised(failures[first]), lost_axis(failures[first])
        if not mistakes and axis:
            mistakes, lines = ["keepdim"], [f"{axis} With keepdim=True it stays, with size 1, and can be stretched along the other."]
        elif not mistakes and meaning:
            mistakes, lines = [meaning.id], [meaning.says]
        lines = lines + what_was_raised(exercise, answer, failures[first], exercise.cases[first])
    elif not random:
        lines = lines + [counterexample(exercise, outputs[first], first)]
    lines += where_it_works(exercise, right)
    if not mistakes and failures[first] is None and not random:
        lines += repairs(outputs, exercise.expected)
        lines += guarded(exercise.measure, answer)
    lines.append(f'hint("{exercise.id}") says more.')
    return exercise.report(False, mistakes, *lines)


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
        wanted = exercise.wanted if isinstance(output, Unread) else f"a tensor of shape {tuple(expected.shape)}"
        return f"For {exercise.describe(case)} it returns {output if isinstance(output, Unread) else Unread(output)}; wanted is {wanted}."
    if output.shape != expected.shape:
        return f"For {exercise.describe(case)} the output has shape {tuple(output.shape)}; wanted is {tuple(expected.shape)}."
    if output.isnan().any():
        return f"For {exercise.describe(case)} {int(output.isnan().sum())} of {output.numel()} numbers are NaN."
    off = ~torch.isclose(output.double(), expected.double(), rtol=1e-5, atol=1e-5)
    at = tuple(off.nonzero()[0].tolist())
    return (f"{exercise.compared} " * bool(exercise.compared) + f"For {exercise.describe(case)} {int(off.sum())} of {off.numel()} numbers are wrong; the first, at {list(at)}, is {number(output[at], expected[at])}, "
            f"wanted {number(expected[at], output[at])}.")


def number(value, other):
    """A number with as many digits as tell it from the other."""
    return next(text for digits in (4, 6, 8, 17) if (text := f"{value.item():.{digits}g}") != f"{other.item():.{digits}g}" or digits == 17)


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


FIXED_AXES = Mistake("fixed-number-of-axes", "It counts on a fixed number of axes, and this input has another. Known are the last ones only: x.shape[-1] is the last size "
                     "however many axes stand in front, and @ takes any number of them, where mm and bmm take two and three.")
DTYPE = Mistake("dtype", "Tensors of different dtypes meet. The inputs here are float64, what torch.zeros or torch.ones makes is float32: give it dtype=x.dtype.")
EXCEPTIONS = [  # what the exception says -> what that means
    (r"view size is not compatible", Mistake("view-after-transpose", "view wants numbers that lie side by side in memory, and after a transpose they do not. reshape copies where it must.")),
    (r"argument 'input' .*must be Tensor, not (int|float)", Mistake("torch-function-of-a-number", "A function of torch wants a tensor and got a plain number. For a number there is math.sqrt, or ** 0.5.")),
    (r"only one element tensors|elements cannot be converted to Scalar|only length-1|only 0-dimensional", Mistake("number-function-of-a-tensor", "A function for a single number got a whole tensor. Those of torch, such as torch.exp, work on all numbers at once.")),
    (r"return_types", Mistake("max-gives-a-pair", "Along an axis, max returns two tensors, the values and their places. Take .values, or call amax.")),
    (r"values to unpack", FIXED_AXES),
    (r"Dimension out of range", Mistake("axis-out-of-range", "An axis is asked for that this input does not have. Counted from the back, -1 is the last axis however many stand in front.")),
    (r"must be a matrix|must be a 3D tensor|1D tensors expected|2D tensors expected|permute\(sparse_coo\)|number of dimensions in the tensor input", FIXED_AXES),
    (r"shapes cannot be multiplied|contracted dimensions need to match|Expected size for first two dimensions|einsum\(\): operands do not broadcast", Mistake("shapes-do-not-meet", "In a product of matrices the last size of the left one must be the last but one of the right one. Compare the shapes below.")),
    (r"invalid for input of size", Mistake("sizes-do-not-multiply", "A reshape keeps every number, so the sizes asked for must multiply to as many as there are. A size written as a fixed number fits one input only.")),
    (r"same dtype|same scalar type|expected scalar type|is not implemented for|can't be cast", DTYPE),
    (r"Overflow|math range error", Mistake("overflow", "A power does not fit into a float.")),
    (r"ZeroDivisionError", Mistake("division-by-zero", "Something that is divided by is 0 for this input.")),
    (r"NameError|UnboundLocalError", Mistake("name", "A name is used that nothing has been given to on this path. Inside the function there are its arguments, and what it makes itself.")),
    (r"AttributeError", Mistake("attribute", "Something is asked for a method or attribute that its kind does not have.")),
    (r"AssertionError", Mistake("assertion", "An assert of your own does not hold for this input.")),
]


def recognised(failure):
    """What an exception means: its Mistake, or None."""
    text = f"{type(failure).__name__}: {failure}"
    return next((mistake for sign, mistake in EXCEPTIONS if re.search(sign, text)), None)


def lost_axis(failure):
    """A tensor that lacks only the last axis of another in the learner's own frame: what a forgotten keepdim leaves."""
    if "must match the size of tensor" not in str(failure):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(failure.__traceback__)]
    tensors = {name: value.shape for name, value in frames[-1].f_locals.items() if isinstance(value, torch.Tensor)}
    line = linecache.getline(frames[-1].f_code.co_filename, list(traceback.walk_tb(failure.__traceback__))[-1][1])
    if re.search(r"\b(sum|max|amax|mean|norm|logsumexp)\(", line) and "keepdim" not in line:
        return "The line takes a sum, mean or maximum, whose axis is gone afterwards."
    for short, shape in tensors.items():
        for long, other in tensors.items():
            if len(shape) and shape == other[:-1]:
                return f"{short} {tuple(shape)} lacks the last axis of {long} {tuple(other)}."
    return None
