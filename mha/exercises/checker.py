"""Finds what is wrong with an answer, from cheap to dear; the first layer that can explain it speaks, and what was
measured is always shown.

Nothing here may say an untrue sentence. A mistake is named only where a model of it gives the learner's numbers on
every case, or where the fault itself was seen; that an answer works for some shapes is said only after other numbers of
the same shapes have been tried.

What an answer with the right values may still get wrong is asked in beyond_values.py; what an exception means is said
in raised.py.
"""
import itertools

import torch

from mha.exercises import raised
from mha.exercises.beyond_values import beyond_values, remembers_or_random, side_effects
from mha.exercises.calls import LIMIT, Caught, Pristine, Unread, always, guarded, observe_run, observed, on_copies, run
from mha.exercises.probe import same

GOT_NOTHING = (type(None), type(Ellipsis))


def examine(exercise, answer):
    """The report on an answer. Never raises for anything that the answer does, short of stopping Python."""
    if not callable(answer):
        return exercise.not_started() if isinstance(answer, GOT_NOTHING) else wrong_kind(exercise, answer)
    alone = Pristine(answer)
    outputs, failures, touched = [], [], {}
    for case in exercise.cases:
        args = case.copies()
        output, failure = run(answer, args)
        if isinstance(failure, TimeoutError):
            return exercise.report(False, ["does-not-end"],
                                   f"For {exercise.describe(case)} it had not come back after {LIMIT} seconds. Is "
                                   "there a loop whose condition stays true?")
        nothing = failure is None and isinstance(output, GOT_NOTHING)
        if not outputs and (nothing or isinstance(failure, NotImplementedError)) and untouched(answer):
            return exercise.not_started()
        if nothing:
            return nothing_returned(exercise, case, bool(outputs))
        outputs.append(observed(exercise, output, case.copies()) if failure is None else None)
        failures.append(failure)
        touched.update({name: change(a, b) for name, a, b in zip(exercise.arguments, args, case.args)
                        if isinstance(a, torch.Tensor) and not same(a, b, 0)})
    right = [same(output, expected) for output, expected in zip(outputs, exercise.expected)]
    if all(right):
        return beyond_values(exercise, answer, alone, touched, outputs)
    with Caught():
        return explain(exercise, answer, alone, outputs, failures, right, touched)
    return exercise.report(False, ["not-analysed"],
                           "It is not right, and what it does could not be analysed further.",
                           f'hint("{exercise.id}") says more.')


# --- Before the values -----------------------------------------------------------------------------------------------

def untouched(answer):
    """Whether a function that gives nothing is a stub: it sets no variable and uses no name."""
    code = getattr(answer, "__code__", None)
    return code is None or code.co_nlocals == code.co_argcount and set(code.co_names) <= {"NotImplementedError"}


def nothing_returned(exercise, case, later):
    said = (", though it returned something for smaller inputs. Is there a `return` on every path?" if later
            else ". Is the last line a `return`?")
    return exercise.report(False, ["no-return"], f"It returns nothing for {exercise.describe(case)}{said}")


def wrong_kind(exercise, answer):
    why = "without quotation marks" if isinstance(answer, str) else "without brackets after the name"
    return exercise.report(False, ["not-a-function"],
                           f"check wants the function itself, {exercise.signature}. This is of type "
                           f"{type(answer).__name__}. Write check(\"{exercise.id}\", {exercise.name}), {why}.")


def change(after, before):
    return f"now of shape {tuple(after.shape)}" if after.shape != before.shape else "other numbers"


# --- The values are wrong --------------------------------------------------------------------------------------------

def explain(exercise, answer, alone, outputs, failures, right, touched):
    """Name the mistake if a model of it gives the same numbers; always show the smallest counterexample and what was
    measured.
    """
    first = right.index(False)
    case, output, failure = exercise.cases[first], outputs[first], failures[first]
    ids, named, asks = what_it_is(exercise, answer, alone, outputs, failures, first)
    lines, unsteady = [], ids in (["random"], ["keeps-state"])
    if failure is not None:
        lines += raised.described(exercise, answer, failure, case)
    elif not unsteady:
        lines += [counterexample(exercise, output, first), *shapes_in_words(exercise, outputs)]
    if not unsteady:
        lines += where_it_works(exercise, answer, right, asks)
    if not ids and failure is None:
        lines += nearly(outputs, exercise.expected) or [*repairs(exercise, outputs),
                                                        *guarded(exercise.measure, on_copies(answer))]
    if touched and ids != ["keeps-state"]:
        lines.append(f"It also changes its own inputs: {side_effects(touched)}.")
    return exercise.report(False, ids, *lines, f'hint("{exercise.id}") says more.', named=named, asks=asks)


def what_it_is(exercise, answer, alone, outputs, failures, first):
    """(ids, what names the mistake, what asks about it) of the first explanation that holds; all empty where none
    does.
    """
    case, output, failure = exercise.cases[first], outputs[first], failures[first]
    unwrapped = tuple_of(outputs, exercise.expected)
    if unwrapped:
        return ["returns-tuple"], [f"It returns {unwrapped}, and the statement asks for one tensor. The right tensor "
                                   "is among them: return that alone."], []
    fresh, failed = observe_run(exercise, alone, case.copies())
    again, failed_again = observe_run(exercise, answer, case.copies())
    right_alone = failed is None and same(fresh, exercise.expected[first])
    ran_twice = failure is None and failed_again is None
    if right_alone or ran_twice and isinstance(again, torch.Tensor) and not same(again, output):
        ids, line = remembers_or_random(exercise, alone, case)
        return ids, [line], []
    ids, says, asks = modelled(exercise, outputs)
    if ids:
        return ids, says, asks
    if all(isinstance(o, torch.Tensor) and o.numel() == e.numel() and same(o.reshape(e.shape), e)
           for o, e in zip(outputs, exercise.expected)):
        return ["wrong-shape"], ["For these inputs its numbers are right and in the right order. Only the shape is "
                                 "not."], []
    if failure is not None:
        meaning = raised.meaning(failure)
        return ([meaning.id], [meaning.says], []) if meaning else ([], [], [])
    if not isinstance(output, (torch.Tensor, Unread)):
        joins = (" Lists are joined by torch.stack (a new axis) or torch.cat (along one that is there)."
                 if isinstance(output, list) else "")
        return ["not-a-tensor"], [f"It returns a {type(output).__name__}, and not a tensor.{joins}"], []
    return [], [], []


def tuple_of(outputs, expected):
    """"a tuple of 2", where every output is a tuple or list that holds the right tensor; else None."""
    if not all(isinstance(output, (tuple, list)) and any(same(part, right) for part in output)
               for output, right in zip(outputs, expected)):
        return None
    return f"a {type(outputs[0]).__name__} of {len(outputs[0])}"


def modelled(exercise, outputs):
    """The mistakes whose model gives these outputs on every case that ran: (ids, what names them, what asks)."""
    # where it raised, or gave what was not asked for, the model must fail too
    tensors = {i: output if isinstance(output, torch.Tensor) and not output.is_complex() else None
               for i, output in enumerate(outputs)}
    found = ([mistakes for _, mistakes in exercise.explanations(tensors)]
             if any(output is not None for output in tensors.values()) else [])
    if not found:
        return [], [], []
    if len(found[0]) > 1:  # two mistakes at once: more than one such reading only confuses
        one, other, *rest = in_pairs(found)
        asks = [mistake.asks for mistake in (one, other) if mistake.asks]
        either = [f"one of two, which come to the same here. Either: {other.lead} Or: {rest[0].lead}"] if rest else []
        said = (f"one mistake made twice (yours may be written otherwise). {one.says}" if one.says == other.says else
                "two mistakes together, each told as if it were alone (yours may be written otherwise). "
                f"One: {one.lead} The other: {(either or [other.lead])[0]}")
        return list(dict.fromkeys((one.id, other.id))), [f"It gives the numbers of {said}"], asks[:1]
    ids = list(dict.fromkeys(mistake.id for mistakes in found for mistake in mistakes))
    says = list({mistakes[0].id: mistakes[0].says for mistakes in reversed(found)}.values())[::-1][:2]
    asks = [mistake.asks for mistake in found[0] if mistake.asks]
    if len(says) > 1:
        says = [f"One of two mistakes, which come to the same here. Either: {says[0]}\nOr: {says[1]}"]
    return ids[:3], says, asks[:1]


def in_pairs(found):
    """One mistake and another; and, where two pairs fit that have the one in common, what may stand for the other."""
    pairs = list({frozenset(mistake.id for mistake in pair): pair for pair in reversed(found)}.values())[::-1]
    common = [mistake for mistake in found[0] if all(mistake.id in {each.id for each in pair} for pair in pairs)]
    if len(pairs) != 2 or len(common) != 1:
        return found[0]
    return [*common, *(mistake for pair in pairs for mistake in pair if mistake.id != common[0].id)]


def counterexample(exercise, output, index):
    """The smallest case on which the output is wrong, with one number of each."""
    expected, case = exercise.expected[index], exercise.cases[index]
    if not isinstance(output, torch.Tensor):
        wanted = exercise.wanted if isinstance(output, Unread) else f"a tensor of shape {tuple(expected.shape)}"
        return (f"For {exercise.describe(case)}: it returns "
                f"{output if isinstance(output, Unread) else Unread(output)}; wanted is {wanted}.")
    if output.shape != expected.shape:
        return (f"For {exercise.describe(case)}: the output has shape {tuple(output.shape)}; wanted is "
                f"{tuple(expected.shape)}.")
    if output.isnan().any():
        return f"For {exercise.describe(case)}: {int(output.isnan().sum())} of {output.numel()} numbers are NaN."
    if exercise.told:
        return f"For {exercise.describe(case)}: {exercise.told(output, expected)}"
    if output.numel() == 1:
        return (f"For {exercise.describe(case)}: it is {digits(output.flatten()[0], expected.flatten()[0])}, wanted "
                f"{digits(expected.flatten()[0], output.flatten()[0])}.")
    off = ~torch.isclose(output.double(), expected.double(), rtol=1e-5, atol=1e-5)
    at = tuple(off.nonzero()[0].tolist())
    whole = " All its numbers are whole." if output.any() and is_whole(output) and not is_whole(expected) else ""
    compared = f"{exercise.compared} " if exercise.compared else ""
    which = f"the first, at {list(at)}," if at else "it"
    return (f"{compared}For {exercise.describe(case)}: {int(off.sum())} of {off.numel()} numbers are wrong; {which} is "
            f"{digits(output[at], expected[at])}, wanted {digits(expected[at], output[at])}.{whole}")


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


def where_it_works(exercise, answer, right, asked):
    """For which inputs it is right whatever the numbers, if there are any; or that it depends on the numbers. asked:
    whether the learner has a question to think about already.
    """
    first = right.index(False)
    cases = [(case, ok) for case, ok, expected in zip(exercise.cases, right, exercise.expected) if expected.numel() > 1
             or not ok]
    if not any(ok for _, ok in cases):
        return []
    failing = always(exercise, answer, exercise.cases[first], False)
    if failing is None:
        zeros = any(isinstance(a, torch.Tensor) and a.is_floating_point() and (a == 0).any()
                    for a in exercise.cases[first].args)
        return ["With other numbers of the same shapes it can be right: here it is the numbers that matter, not the "
                "shapes." + " This input has zeros in it." * zeros]
    wrong = exercise.describe(exercise.cases[first])
    good = (exercise.describe(case) for case, ok in cases if ok and exercise.describe(case) != wrong
            and always(exercise, answer, case, True))
    good = list(itertools.islice(good, 2))
    question = "" if asked else " What is different there?"
    return [f"Of the inputs tried, the values are right for {'; '.join(dict.fromkeys(good))}, and not for "
            f"{wrong}.{question}"] if good else []


def nearly(outputs, expected):
    """A sentence for outputs that are off by less than two per cent of the largest number, everywhere; else nothing."""
    if not all(isinstance(o, torch.Tensor) and o.shape == e.shape and o.isfinite().all()
               for o, e in zip(outputs, expected)):
        return []
    off = max(float((o.double() - e.double()).abs().max() / e.double().abs().max().clamp(min=1e-30))
              for o, e in zip(outputs, expected) if e.numel())
    return [f"For the inputs tried it is nearly right: off by at most {100 * off:.2g} % of the largest number. Low "
            "precision, rounding, a step in place of a derivative, a small constant that was added, a clamp?"
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
