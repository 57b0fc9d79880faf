"""What is asked of an answer whose values are right on every case: side effects, gradients, large numbers.

QUESTIONS lists them in order; each is a function that returns a report where the answer fails it. All get the same:

    answer    the learner's function        alone    the same, before its first call (`calls.IsolatedFunction`)
    touched   argument -> how a call changed it          outputs   one for each case

Remarks are true sentences that do not cost the point.
"""
import math

import torch

from mha.exercises.engine import exceptions
from mha.exercises.engine.calls import Used, observe_run, refilled, run
from mha.exercises.engine.gradients import gradient_fault, nan_arrives
from mha.exercises.engine.probe import same
from mha.exercises.engine.steady import chance_or_memory, varies


def check_behaviour(exercise, answer, alone, touched, outputs):
    """The report on an answer whose values are all right: what one of the QUESTIONS found, or that nothing is wrong."""
    for question in QUESTIONS:
        found = question(exercise, answer, alone, touched, outputs)
        if found:
            return by_chance(exercise, answer, alone) or found
    return exercise.report(True, [], exercise.note, *(f"A remark: {remark}" for remark in remarks(exercise, alone)))


def by_chance(exercise, answer, alone):
    """The report on an answer that gives different outputs for the same input, whatever else was found; else None."""
    for case in exercise.cases:
        if varies(exercise, answer, case.copies):
            return unsteady(exercise, answer, alone, case)


def does_without(exercise, answer, alone, touched, outputs):
    if not exercise.without:
        return None
    with Used() as used:
        for case in exercise.cases:
            run(answer, case.copies())
    ruled_out = next((mistake for name, mistake in exercise.without.items() if name in used.names), None)
    if ruled_out:
        return exercise.report(False, [ruled_out.id], "The values are right.", f'hint("{exercise.id}") says more.',
                               named=[ruled_out.says], asks=[ruled_out.asks])


def leaves_its_inputs(exercise, answer, alone, touched, outputs):
    if touched:
        return exercise.report(False, ["changes-input"],
                               "The values are right, but the function changes its own inputs: "
                               f"{side_effects(touched)}. Whoever called it will be surprised. Functions whose names "
                               "end in _ (masked_fill_, transpose_, resize_) do that, and so do x[...] = ..., x += "
                               "..., x -= ..., x *= ... and x /= ...")


def says_yes_or_no(exercise, answer, alone, touched, outputs):
    if not exercise.boolean:
        return None
    kinds = [output.dtype for output, failure in (run(answer, case.copies()) for case in exercise.cases)
             if isinstance(output, torch.Tensor)]
    if any(kind != torch.bool for kind in kinds):
        return exercise.report(False, ["not-boolean"],
                               f"The entries are right, but they are numbers ({str(kinds[0])}) and not True and False. "
                               "scaled_dot_product_attention adds a mask of floats to the scores, so this one would "
                               "hide nothing, and it refuses whole numbers. A comparison gives booleans, and so does "
                               ".bool() at the end.")


def keeps_the_dtype(exercise, answer, alone, touched, outputs):
    for case in exercise.cases if exercise.keeps_dtype else ():
        output, given = run(answer, case.copies())[0], case.args[0].dtype
        if isinstance(output, torch.Tensor) and output.dtype != given:
            return exercise.report(False, ["other-dtype"],
                                   f"The values are right. For {exercise.describe(case)} they come in {output.dtype}, "
                                   f"and should have the dtype of {exercise.arguments[0]}, {given}. What stands behind "
                                   f"it may raise, or go on in another precision: .to({exercise.arguments[0]}.dtype).")


def stays_right(exercise, answer, alone, touched, outputs):
    """Right again when it is called again, for other numbers too; and what it returned before stays as it was."""
    for case, expected, earlier in zip(exercise.cases, exercise.expected, outputs):
        other, failed = observe_run(exercise, answer, refilled(case, 1))
        again, failed_again = observe_run(exercise, answer, case.copies())
        steady = same(other, reference(exercise, refilled(case, 1))) and same(again, expected)
        if failed or failed_again or not steady:
            return depends_on_more(exercise, answer, alone, case, failed_again is None and same(again, expected))
        if not same(earlier, expected):
            return exercise.report(False, ["overwrites-results"],
                                   "The values are right, but a later call changes what an earlier one has returned, "
                                   f"for {exercise.describe(case)}: it gives out a buffer that it writes into again. "
                                   "Make a new tensor at each call.")


def takes_any_memory(exercise, answer, alone, touched, outputs):
    """Right for the same numbers in another order of memory."""
    for scattered, so in (in_columns, "a transposed view"), (in_a_wider_one, "a slice"):
        args = [scattered(a) if isinstance(a, torch.Tensor) and a.ndim > 1 else a for a in exercise.cases[1].copies()]
        output, failure = observe_run(exercise, answer, args)
        if failure is not None and exercise.views:
            meaning = exceptions.meaning(failure)
            return exercise.report(False, [meaning.id] if meaning else [],
                                   "The values are right for tensors whose numbers lie side by side in memory. The "
                                   f"statement allows {so} of another tensor, and there it stops.",
                                   *exceptions.described(exercise, failure, exercise.cases[1]),
                                   named=[meaning.says] if meaning else [])
        if failure is None and not same(output, exercise.expected[1]):
            return exercise.report(False, ["assumes-contiguous"],
                                   "The values are right for tensors whose numbers lie side by side in memory. For "
                                   f"the same numbers in {so} of another tensor they are wrong: what it returns "
                                   "depends on how its input lies in memory, as with as_strided, stride or "
                                   "is_contiguous.")


def lets_gradients_through(exercise, answer, alone, touched, outputs):
    id, cut = gradient_fault(exercise, answer)
    if id == "nan-gradient":
        return exercise.report(False, [id],
                               f"The values are right, but {cut} A NaN that is replaced afterwards still stands in the "
                               "way back, and so does a slope that is infinite (of a root at 0, or of a division by "
                               "it): 0 times either is NaN. Let none arise"
                               + (": give a row that has nobody to look at harmless scores before the softmax, and set "
                                  "its weights to 0 after it." if exercise.masks else "."))
    if id == "no-gradient":
        return exercise.report(False, [id],
                               f"The values are right, but {cut} Whatever this function is part of would learn "
                               "wrongly, or not at all. Look for .detach(), .item(), .tolist(), .data, round, numpy, "
                               "torch.tensor(...) of computed numbers, torch.no_grad(), or an `if` that leaves out "
                               "what is 0.")


def bears_large_numbers(exercise, answer, alone, touched, outputs):
    for case in exercise.large:
        output, failure = observe_run(exercise, answer, case.copies())
        if failure is not None or not same(output, exercise.outcome(exercise.reference, case), 1e-3):
            said = (rows_apart(exercise, answer, case, output)
                    or overflow(exercise, answer, case, output, failure))
            return exercise.report(False, ["overflow"], said, f'hint("{exercise.id}") says more.')
        if nan_arrives(exercise, answer, case):
            return exercise.report(False, ["nan-gradient"],
                                   f"The values are right. With {exercise.extremes(case)} the gradient is NaN: a power "
                                   "that does not fit was computed on the way. What where, tril or masked_fill drops "
                                   "still stands in the way back, and 0 times infinity is NaN. So "
                                   f"{exercise.safe}.")


# In this order: what is cheap and certain first.
QUESTIONS = (does_without, leaves_its_inputs, says_yes_or_no, keeps_the_dtype, stays_right, takes_any_memory,
             lets_gradients_through, bears_large_numbers)


# --- Called again ---------------------------------------------------------------------------------------------------

def reference(exercise, args):
    return exercise.observe(exercise.reference(*args), *args)


def depends_on_more(exercise, answer, alone, case, again):
    """The report on an answer that was right at first, and is wrong with other numbers of the same shapes, or (again is
    False) when it is called again.
    """
    def other():
        return refilled(case, 1)
    right_alone = same(observe_run(exercise, alone, other())[0], reference(exercise, other()))
    if not again or right_alone or varies(exercise, answer, other):
        return unsteady(exercise, answer, alone, case, case.copies if not again else other)
    return exercise.report(False, [],
                           f"For one input of shapes {exercise.describe(case)} the values are right, and for "
                           "another of the same shapes they are wrong: it depends on the numbers.",
                           f'hint("{exercise.id}") says more.')


def unsteady(exercise, answer, alone, case, args=None):
    """The report on an answer whose output depends on chance or on earlier calls."""
    ids, line = chance_or_memory(exercise, answer, alone, args or case.copies)
    after = (f"Called for the first time it is right. After other calls, for {exercise.describe(case)}, its values are "
             "wrong.")
    return exercise.report(False, ids, line, after if ids == ["keeps-state"] else "")


def in_columns(tensor):
    """The same numbers, in memory column by column."""
    return tensor.mT.contiguous().mT


def in_a_wider_one(tensor):
    """The same numbers as a slice of a wider tensor."""
    wide = torch.cat([tensor, tensor], -1)
    return wide[..., : tensor.shape[-1]]


def rows_apart(exercise, answer, case, output):
    """Said where exactly the rows of lower scores fail, and the lowest is right where all rows are like it: one largest
    score was subtracted for all.
    """
    wanted = exercise.outcome(exercise.reference, case)
    if not isinstance(output, torch.Tensor) or output.shape != wanted.shape or wanted.ndim < 2:
        return ""
    tops = [a.amax(-1) if a.shape == wanted.shape else a for a in case.args if exercise.is_extreme(a)
            and a.shape in (wanted.shape, wanted.shape[:-1])]
    right = torch.isclose(output, wanted, atol=1e-3).all(-1).flatten()
    top = torch.stack(tops).amax(0).flatten() if tops else wanted.new_zeros(len(right))
    if right.any() and not right.all() and top[right].min() > top[~right].max():
        row, among = top.argmin(), wanted.shape[:-1]
        args = [a.flatten(0, len(among) - 1)[row].expand_as(a).clone() if isinstance(a, torch.Tensor)
                and a.shape[: len(among)] == among else a for a in case.copies()]
        alone, failure = observe_run(exercise, answer, args)
        if failure is not None or not same(alone, reference(exercise, args), 1e-3):
            return ""
        return (f"The values are right for ordinary numbers. With {exercise.extremes(case)}, rows with higher numbers "
                "are right and rows with lower ones are not. Alone, those are right too. That is what one largest "
                "number for all rows does: each row needs its own.")
    return ""


def overflow(exercise, answer, case, output, failure):
    """What happens with large numbers, and what it may come of, as far as other calls do not rule it out."""
    finite = isinstance(output, torch.Tensor) and not output.isnan().any()
    shown = f"raises {type(failure).__name__}" if failure else f"gives {'other numbers' if finite else 'NaN'}"
    why = of_hidden_keys(exercise, answer, case, output) or (
        "Is there a clamp that is too near, or a division of large scores?" if finite else
        "Scores that are all raised by 5000 do no harm, so something is taken off them first. Is it the largest of "
        "each row?" if bears_a_shift(exercise, answer, case) else
        f"e^1000 does not fit into a float, and e^-1000 is 0, so {exercise.safe}.")
    return f"The values are right for ordinary numbers. With {exercise.extremes(case)} it {shown}. {why}"


def of_hidden_keys(exercise, answer, case, output):
    """Whether large numbers do harm through keys that should be hidden, in a sentence."""
    scores = case.args[0]
    if not exercise.masks or not isinstance(output, torch.Tensor) or output.shape != scores.shape:
        return ""
    hidden = reference(exercise, [torch.zeros_like(scores), *case.copies()[1:]]) == 0
    if output[hidden].nan_to_num(0).max() > 1e-6:
        return (f"A masked key gets the weight {output[hidden].nan_to_num(0).max():.3g}. Its score is not low enough, "
                "as happens with a fill such as -1000, or with a clamp that is too near: it should be minus infinity.")
    low = scores.masked_fill(hidden, math.inf).amin(-1, keepdim=True).expand_as(scores)
    args = [torch.where(hidden, low, scores), *case.args[1:]]
    if same(observe_run(exercise, answer, args)[0], reference(exercise, args), 1e-3):
        return ("Where no masked score is far above the visible ones it is right, so masked scores still play a part. "
                "They should be hidden before the powers and their sum are taken.")
    return ""


def bears_a_shift(exercise, answer, case):
    """Whether ordinary scores that are all raised by 5000 give what is right, and should give the same as before."""
    usual = exercise.cases[1].copies()
    args = [a + 5000 if exercise.is_extreme(b) else a for a, b in zip(usual, case.args)]
    right = exercise.expected[1]
    return (same(reference(exercise, args), right, 1e-3)
            and same(observe_run(exercise, answer, args)[0], right, 1e-3))


def side_effects(touched):
    return " and ".join(f"{name} is {what} after the call" if what.startswith("now")
                        else f"{name} holds {what} after the call" for name, what in touched.items())


# --- Remarks --------------------------------------------------------------------------------------------------------

def remarks(exercise, answer):
    """True sentences about a right answer that could still surprise somebody."""
    for case in exercise.cases:
        if nan_arrives(exercise, answer, case):
            yield f"its gradient is NaN for an input such as this case of {exercise.describe(case)}."
            break
    if any(isinstance(a, torch.Tensor) and a.is_floating_point() for a in exercise.cases[1].args):
        yield from about_precision(exercise, answer)
    args = [in_columns(a) if isinstance(a, torch.Tensor) and a.ndim > 1 else a for a in exercise.cases[1].copies()]
    output, failure = run(answer, args)
    if failure is not None:
        yield ("it fails on a tensor that is a transposed view of another (non-contiguous). reshape does not mind, "
               "where view does.")


def about_precision(exercise, answer):
    """What happens to the dtype that comes in."""
    args = [a.float() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
            for a in exercise.cases[1].copies()]
    output, failure = run(answer, args)
    if (failure is None and isinstance(output, torch.Tensor) and output.is_floating_point()
        and output.dtype != torch.float32):
        yield f"for float32 input it returns {str(output.dtype).removeprefix('torch.')}."
    exact, failure = observe_run(exercise, answer, exercise.cases[1].copies())
    if failure is None and not same(exact, exercise.expected[1], 1e-9):
        off = max(error_of(exercise, answer, case) for case in (exercise.cases[1], *exercise.large))
        yield (f"for float64 input its numbers are off by up to {off:.0e} here: somewhere it computes in float32.")


def error_of(exercise, answer, case):
    """The largest error on a case; 0 where it cannot be taken."""
    output, failure = observe_run(exercise, answer, case.copies())
    wanted = exercise.outcome(exercise.reference, case)
    if failure is not None or not isinstance(output, torch.Tensor) or output.shape != wanted.shape:
        return 0.0
    return float((output.double() - wanted.double()).abs().max())
