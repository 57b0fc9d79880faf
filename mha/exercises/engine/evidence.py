"""What is seen of wrong values: the counterexample, shapes, how far off they are, what would make them right."""
import itertools

import torch

from mha.exercises.engine.calls import UnexpectedOutput
from mha.exercises.engine.probe import same


def counterexample(exercise, output, index):
    """The smallest case on which the output is wrong, with one number of each."""
    expected, case = exercise.expected[index], exercise.cases[index]
    if not isinstance(output, torch.Tensor):
        unexpected = isinstance(output, UnexpectedOutput)
        wanted = exercise.wanted if unexpected else f"a tensor of shape {tuple(expected.shape)}"
        return (f"For {exercise.describe(case)}: it returns {output if unexpected else UnexpectedOutput(output)}; it "
                f"should be {wanted}.")
    if output.shape != expected.shape:
        return (f"For {exercise.describe(case)}: the output has shape {tuple(output.shape)}; it should be "
                f"{tuple(expected.shape)}.")
    if output.isnan().any():
        return f"For {exercise.describe(case)}: {int(output.isnan().sum())} of {output.numel()} numbers are NaN."
    if exercise.describe_difference:
        difference = exercise.describe_difference(output, expected)
        return f"For {exercise.describe(case)}: {difference}{exercise.about_functions(case)}"
    if output.numel() == 1:
        return (f"For {exercise.describe(case)}: it is {digits(output.flatten()[0], expected.flatten()[0])} and should "
                f"be {digits(expected.flatten()[0], output.flatten()[0])}.")
    off = ~torch.isclose(output.double(), expected.double(), rtol=1e-5, atol=1e-5)
    at = tuple(off.nonzero()[0].tolist())
    whole = " All its numbers are whole." if output.any() and is_whole(output) and not is_whole(expected) else ""
    compared = f"{exercise.compared} " if exercise.compared else ""
    which = f"the first, at {list(at)}," if at else "it"
    wrong = f"{int(off.sum())} of {off.numel()} numbers {'is' if off.sum() == 1 else 'are'} wrong"
    return (f"{compared}For {exercise.describe(case)}: {wrong}; {which} is "
            f"{digits(output[at], expected[at])} and should be {digits(expected[at], output[at])}.{whole}"
            f"{exercise.about_functions(case)}")


def is_whole(tensor):
    """Whether it holds whole numbers alone, and enough of them not to do so by chance."""
    return tensor.numel() >= 3 and bool(tensor.isfinite().all()) and same(tensor.double(), tensor.double().round(), 0)


def digits(value, other):
    """A number with as many digits as tell it from the other; yes and no as such, and what rounding left of 0 as 0."""
    if value.dtype == torch.bool:
        return str(bool(value))
    if abs(value) < 1e-6 < 1e-3 < abs(other):
        return "0"
    return next(text for places in (4, 6, 8, 17)
                if (text := f"{value.item():.{places}g}") != f"{other.item():.{places}g}" or places == 17)


def shapes_in_words(exercise, outputs):
    """How its shapes differ from what is wanted, told on the case whose sizes differ most from each other and from 1;
    nothing where that is not simple.
    """
    shapes = [(tuple(o.shape), tuple(e.shape), i) for i, (o, e) in enumerate(zip(outputs, exercise.expected))
              if isinstance(o, torch.Tensor)]
    if not any(got != wanted for got, wanted, _ in shapes):
        return []
    if all(got == tuple(size for size in wanted if size != 1) for got, wanted, _ in shapes):
        return ["Axes of size 1 are gone, wherever there are any; all others are right."]
    got, wanted, i = max((s for s in shapes if s[0] != s[1]), key=lambda s: len(set(s[1]) - {1}))
    words = in_words(got, wanted) or permuted(outputs[i], exercise.expected[i])
    return [f"For {exercise.describe(exercise.cases[i])}: it is {got} for {wanted}. {words}"] if words else []


def in_words(got, wanted):
    """How one shape differs from another, where that is simple."""
    if got == ():
        return "It is one number for everything."
    if len(got) == len(wanted) + 1:
        for i, size in enumerate(got):
            if got[:i] + got[i + 1 :] == wanted:
                return f"Axis {i}, of size {size}, is left over."
    if len(got) + 1 == len(wanted):
        for i, size in enumerate(wanted):
            if got == wanted[:i] + wanted[i + 1 :]:
                return f"The axis of size {size} is missing."
        for i in range(len(got)):
            if got == wanted[:i] + (wanted[i] * wanted[i + 1],) + wanted[i + 2 :]:
                return f"Axes {i} and {i + 1} are joined into one."
    return ""


def permuted(output, expected):
    """Whether the axes are right but for their order."""
    if output.ndim == expected.ndim <= 4 and any(same(output.permute(order), expected)
                                                 for order in itertools.permutations(range(output.ndim))):
        return "Its numbers are right, and its axes stand in another order."
    return ""


def nearly(exercise, outputs):
    """Sentences for outputs that are off by less than two per cent of the largest number, everywhere; else nothing."""
    expected = exercise.expected
    if not all(isinstance(o, torch.Tensor) and o.shape == e.shape and o.isfinite().all()
               for o, e in zip(outputs, expected)):
        return []
    off = max(float((o.double() - e.double()).abs().max() / e.double().abs().max().clamp(min=1e-30))
              for o, e in zip(outputs, expected) if e.numel())
    return [f"For the inputs tried it is nearly right: off by at most {100 * off:.2g} % of the largest number. Is a "
            "small constant added somewhere, a number rounded or clamped, or a step taken in place of a derivative?"
            ] if off < 0.02 else []


def repairs(exercise, outputs):
    """A simple change that would make every output right: transposed, or times a constant."""
    pairs = [(o, e) for o, e in zip(outputs, exercise.expected) if isinstance(o, torch.Tensor)]
    if len(pairs) == len(outputs) and all(o.ndim >= 2 and same(o.mT, e) for o, e in pairs):
        return ["Its last two axes exchanged, every output would be right."]
    alike = len(pairs) == len(outputs) and all(o.shape == e.shape for o, e in pairs)
    if alike and any(e.numel() > 1 for _, e in pairs):
        factors = [float((o.double() * e.double()).sum() / e.double().square().sum()) for o, e in pairs]
        fits = [same(o.double(), f * e.double(), 1e-5) for f, (o, e) in zip(factors, pairs)]
        if all(fits) and all(abs(f) > 1e-9 for f in factors):
            return ["Every output is a constant times the right one: "
                    + "; ".join(f"{f:.4g} for {exercise.describe(case)}" for f, case in zip(factors, exercise.cases))
                    + "."]
    return []
