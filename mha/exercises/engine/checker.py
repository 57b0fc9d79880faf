"""Finds what is wrong with an answer, from cheap to dear; the first layer that can explain it speaks, and what was
measured is always shown.

Nothing here may say an untrue sentence. A mistake is named only where a model of it gives the learner's numbers on
every case, or where the fault itself was seen; that an answer works for some shapes is said only after other numbers of
the same shapes have been tried.

What an answer with the right values may still get wrong is asked in behaviour_checks.py; what an exception means is
said in exceptions.py.
"""
import itertools

import torch

from mha.exercises.engine import exceptions, sizes
from mha.exercises.engine.alarm import TooLong
from mha.exercises.engine.behaviour_checks import check_behaviour, side_effects
from mha.exercises.engine.calls import (
    LIMIT, Caught, IsolatedFunction, UnexpectedOutput, always, guarded, listening, observe_run, observed, on_copies,
    run,
)
from mha.exercises.engine.evidence import counterexample, nearly, repairs, shapes_in_words
from mha.exercises.engine.probe import same
from mha.exercises.engine.steady import chance_or_memory, unlike_before

GOT_NOTHING = (type(None), type(Ellipsis))
LONG, WIDE = 8, 76                                                # of what an answer prints: lines, characters
SHORT = 60                                                        # characters of inputs that are told beside a name


def examine(exercise, answer):
    """The report on an answer. Never raises for anything that the answer does, short of stopping Python."""
    if not callable(answer):
        return exercise.not_started() if isinstance(answer, GOT_NOTHING) else wrong_kind(exercise, answer)
    with listening() as heard:
        with Caught():
            return with_prints(exercise, judged(exercise, answer), heard)
        return exercise.report(False, ["not-analysed"],
                               "What it does could not be analysed, so whether it is right is not known.",
                               f'hint("{exercise.id}") says more.')


def judged(exercise, answer):
    """(the report, the index of the case that it is about)"""
    alone = IsolatedFunction(answer)
    outputs, failures, touched = [], [], {}
    for i, case in enumerate(exercise.cases):
        args = case.copies()
        output, failure = run(answer, args)
        nothing = failure is None and isinstance(output, GOT_NOTHING)
        if not i and (nothing or isinstance(failure, NotImplementedError)) and untouched(answer):
            return exercise.not_started(), 0
        no_output = (does_not_end(exercise, case) if isinstance(failure, TooLong) else
                     nothing_returned(exercise, case, bool(i)) if nothing else elsewhere(exercise, case, output))
        if no_output:
            return no_output, i
        outputs.append(observed(exercise, output, case.copies()) if failure is None else None)
        failures.append(failure)
        touched.update({name: change(a, b) for name, a, b in zip(exercise.arguments, args, case.args)
                        if isinstance(a, torch.Tensor) and not same(a, b, 0)})
    right = [same(output, expected) for output, expected in zip(outputs, exercise.expected)]
    if all(right):
        return check_behaviour(exercise, answer, alone, touched, outputs), 0
    return explain(exercise, answer, alone, outputs, failures, right, touched), right.index(False)


def with_prints(exercise, found, heard):
    """The report, and what the call printed that it is about. The others print the same for other inputs."""
    report, index = found
    printed = heard[index].rstrip().splitlines()
    if not (report.started and printed):
        return report
    case = exercise.describe(exercise.cases[index])
    often = "once" if len(heard) == 1 else f"{len(heard)} times"
    lines = (f"It was called {often} for this report. In the call for {case} it printed:",
             *(f"   {line[:WIDE]}" for line in printed[:LONG]), *["   ..."] * (len(printed) > LONG))
    return report.followed_by(*lines)


# --- Before the values -----------------------------------------------------------------------------------------------

def untouched(answer):
    """Whether a function that gives nothing is a stub: it sets no variable and uses no name."""
    code = getattr(answer, "__code__", None)
    return code is None or code.co_nlocals == code.co_argcount and set(code.co_names) <= {"NotImplementedError"}


def does_not_end(exercise, case):
    return exercise.report(False, ["does-not-end"],
                           f"For {exercise.describe(case)} it had not come back after {LIMIT} seconds. Is there a loop "
                           "whose condition stays true?")


def elsewhere(exercise, case, output):
    """The report on an output on another device than its inputs; None where it is on theirs."""
    parts = output if isinstance(output, (tuple, list)) else [output]
    devices = [part.device.type for part in parts if isinstance(part, torch.Tensor) and part.device.type != "cpu"]
    return exercise.report(False, ["other-device"],
                           f"For {exercise.describe(case)} it returns a tensor on {devices[0]}; the inputs were on "
                           "the CPU. What it returns should be where its inputs are: for an input x, x.device says "
                           "where, and device=x.device makes a new tensor there.") if devices else None


def nothing_returned(exercise, case, later):
    before = ", though it returned something for smaller inputs" if later else ""
    return exercise.report(False, ["no-return"], f"It returns nothing for {exercise.describe(case)}{before}. Is a "
                           "`return` reached there?")


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
    unsteady, lines, means = bool({"random", "keeps-state"} & {*ids}), [], None
    little = not named and not fits(output, exercise.expected[first])
    where, question = ("", "") if unsteady else sizes.condition(exercise, answer, little)
    if failure is not None:
        means = None if ids else exceptions.meaning(failure)
        lines += exceptions.described(exercise, failure, case)
    elif not unsteady:
        lines += [counterexample(exercise, output, first), *shapes_in_words(exercise, outputs)]
    if where and named:
        lines.append(where)
    elif where:
        asks = [f"{where} {question}"]
    elif not unsteady:
        lines += where_it_works(exercise, answer, right, named, asks)
    if means:                                     # what an exception means in general comes after what is known of this
        ids, named = [means.id], [] if where else [means.says]
        lines += [means.says] * bool(where)
    if not ids and failure is None:
        near = nearly(exercise, outputs)
        if near and not exercise.measures_closely:
            lines += near
        else:
            lines += [*repairs(exercise, outputs), *guarded(exercise.measure, on_copies(answer))] or near
    if touched and not unsteady:
        lines.append(f"It also changes its own inputs: {side_effects(touched)}.")
    return exercise.report(False, ids, *lines, f'hint("{exercise.id}") says more.', named=named, asks=asks)


def fits(output, expected):
    """Whether it is a tensor of the right shape."""
    return isinstance(output, torch.Tensor) and output.shape == expected.shape


def what_it_is(exercise, answer, alone, outputs, failures, first):
    """(ids, what names the mistake, what asks about it) of the first explanation that holds; all empty where none
    does.
    """
    case, output, failure = exercise.cases[first], outputs[first], failures[first]
    unwrapped = tuple_of(outputs, exercise.expected)
    if unwrapped:
        return ["returns-tuple"], [f"It returns {unwrapped}, and the statement asks for one tensor. The right tensor "
                                   "is among them: return that alone."], []
    right_alone = same(observe_run(exercise, alone, case.copies())[0], exercise.expected[first])
    unlike = case if right_alone else unlike_before(exercise, answer, outputs, failures, first)
    if unlike:
        ids, line = chance_or_memory(exercise, answer, alone, unlike.copies)
        return ids, [line], []
    ids, says, asks = modelled(exercise, answer, outputs, failure is not None)
    if ids:
        return ids, says, asks
    shown = failure is not None and exceptions.shown_by_operands(exercise, failure, case)
    if shown:
        return [shown.id], [shown.says], [shown.asks]
    if all(isinstance(o, torch.Tensor) and o.numel() == e.numel() and same(o.reshape(e.shape), e)
           for o, e in zip(outputs, exercise.expected)):
        return ["wrong-shape"], ["For these inputs its numbers are right and in the right order. Only the shape is "
                                 "not."], []
    if failure is None and not isinstance(output, (torch.Tensor, UnexpectedOutput)):
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


def modelled(exercise, answer, outputs, stops):
    """The mistakes whose model gives these outputs on every case that ran: (ids, what names them, what asks)."""
    # where it raised, or gave what was not asked for, the model must fail too
    tensors = {i: output if isinstance(output, torch.Tensor) and not output.is_complex() else None
               for i, output in enumerate(outputs)}
    found = ([mistakes for settings, mistakes in exercise.explanations(tensors)
              if (seen_wrong(exercise, tensors) or stops and len(mistakes) == 1)
              and sizes.alike(exercise, answer, settings, strictly=not seen_wrong(exercise, tensors))]
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
    return ids[:3], [as_likely(says, seen_wrong(exercise, tensors))], asks[:1]


def as_likely(says, certain):
    """One mistake, or two that come to the same; where only the inputs that stop it are those of a model, as a guess.
    """
    if len(says) > 1:
        which = "come to the same here" if certain else "stop for the same inputs; yours may be another"
        return f"One of two mistakes, which {which}. Either: {says[0]}\nOr: {says[1]}"
    return says[0] if certain else f"It stops for the same inputs as this mistake, and yours may be another. {says[0]}"


def seen_wrong(exercise, tensors):
    """Whether wrong numbers were seen, and not only that it stops."""
    return any(output is not None and not same(output, right)
               for output, right in zip(tensors.values(), exercise.expected))


def in_pairs(found):
    """One mistake and another; and, where two pairs fit that have the one in common, what may stand for the other."""
    pairs = list({frozenset(mistake.id for mistake in pair): pair for pair in reversed(found)}.values())[::-1]
    common = [mistake for mistake in found[0] if all(mistake.id in {each.id for each in pair} for pair in pairs)]
    if len(pairs) != 2 or len(common) != 1:
        return found[0]
    return [*common, *(mistake for pair in pairs for mistake in pair if mistake.id != common[0].id)]


def where_it_works(exercise, answer, right, named, asked):
    """For which inputs it is right whatever the numbers, if there are any; or that it depends on the numbers. Beside a
    mistake that is named, only where that is short.

    Args:
        asked: whether the learner has a question to think about already.
    """
    first = right.index(False)
    cases = [(case, ok) for case, ok, expected in zip(exercise.cases, right, exercise.expected) if expected.numel() > 1
             or not ok]
    if not any(ok for _, ok in cases):
        return []
    failing = always(exercise, answer, exercise.cases[first], False)
    if failing is None:
        floats = [a for a in exercise.cases[first].args if isinstance(a, torch.Tensor) and a.is_floating_point()]
        rare = ("infinite numbers" if any(a.isinf().any() for a in floats) else
                "zeros" if any((a == 0).any() for a in floats) else "")
        return ["With other numbers of the same shapes it can be right: here it is the numbers that matter, not the "
                "shapes." + f" This input has {rare} in it." * bool(rare)]
    wrong = exercise.describe(exercise.cases[first])
    good = (exercise.describe(case) for case, ok in cases if ok and exercise.describe(case) != wrong
            and always(exercise, answer, case, True))
    good = list(dict.fromkeys(itertools.islice(good, 2)))
    if not good or named and sum(map(len, [*good, wrong])) > SHORT:
        return []
    question = "" if asked else " What is different there?"
    return [f"Of the inputs tried, {exercise.right_where} for {'; '.join(good)}, and not for {wrong}.{question}"]
