"""Exercises whose checker names the mistake: check, hint, solution, find.

    from mha.exercises import check
    check("2.1", attention)         # what is wrong, the evidence in your own numbers, and which hint is next
"""
import inspect

from mha.exercises import e1_1_softmax, e2_1_attention, e4_1_head, e5_1_causal_weights, e6_1_split_heads, e6_2_merge_heads
from mha.exercises.checker import examine
from mha.exercises.report import Report

EXERCISES = {module.EXERCISE.id: module.EXERCISE for module in (e1_1_softmax, e2_1_attention, e4_1_head, e5_1_causal_weights, e6_1_split_heads,
                                                                      e6_2_merge_heads)}
_hints_shown: dict[str, int] = {}
_tries: dict[str, int] = {}
_solved: set[str] = set()


def find(name):
    """The id of the exercise that asks for the function of this name: find("attention") is "2.1".

    Raises:
        ValueError: no exercise asks for it; the message lists those that there are.
    """
    for exercise in EXERCISES.values():
        if exercise.name == name:
            return exercise.id
    raise ValueError(f"no exercise asks for {name!r}; there are {', '.join(f'{e.name} ({e.id})' for e in EXERCISES.values())}")


def check(id, answer):
    """Say whether an answer is right, and if not, what is wrong. Never raises for what the answer does.

    Args:
        id: of the exercise, such as "2.1"; `find` knows it by the function's name. answer: the function itself.
    Returns:
        Report with ok, mistakes (ids, most likely first) and text, which is what a notebook shows.
    Raises:
        ValueError: there is no exercise of that id.
    """
    report = examine(_exercise(id), answer)
    if report.started:
        _tries[id] = _tries.get(id, 0) + 1
    if report.ok:
        _solved.add(id)
    return report


def hint(id):
    """One more hint at each call; the fix itself only in the third. Returns the text."""
    hints = _exercise(id).hints
    shown = _hints_shown[id] = min(_hints_shown.get(id, 0) + 1, len(hints))
    return f"Hint {shown} of {len(hints)}: {hints[shown - 1]}"


def solution(id, force=False):
    """The source of a right answer, after a pass or three tries, or with force=True. Returns the text."""
    exercise = _exercise(id)
    if not (force or id in _solved or _tries.get(id, 0) >= 3):
        return f"{3 - _tries.get(id, 0)} more tries of check(\"{id}\", ...) first, or solution(\"{id}\", force=True)."
    return inspect.getsource(exercise.reference)


def _exercise(id):
    if id not in EXERCISES:
        raise ValueError(f"no exercise has the id {id!r}; there are {', '.join(EXERCISES)}")
    return EXERCISES[id]


__all__ = ["EXERCISES", "Report", "check", "find", "hint", "solution"]
