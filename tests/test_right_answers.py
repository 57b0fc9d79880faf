"""Right answers raise no alarm, however they are written. What differs from one in a single place is rejected, or is
the same function.
"""
import ast
import re
from functools import cache, partial

import pytest
import torch

from mha.exercises import EXERCISES, check, find
from mha.exercises.engine.calls import observe_run, refilled
from mha.exercises.engine.exercise import Exercise
from mha.exercises.engine.probe import same
from right_answers import ANSWERS

IN_CODE = [item for item in EXERCISES.values() if isinstance(item, Exercise)]
every_exercise = pytest.mark.parametrize("exercise", IN_CODE, ids=lambda e: f"{e.id}-{e.name}")


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_a_right_answer_in_any_style_passes(answer):
    report = check(find(answer.name), answer.function)
    assert report.ok and report.mistakes == [], report.text


@every_exercise
def test_an_exercise_has_right_answers_in_at_least_three_styles(exercise):
    assert sum(answer.name == exercise.name for answer in ANSWERS) >= 3


# --- Mechanical mutants: each is rejected, or is the same function --------------------------------------------------

def changes(node):
    """What can be put in place of one node of the syntax tree."""
    if isinstance(node, ast.BinOp):
        for other in (ast.Add, ast.Sub, ast.Mult, ast.Div):
            if not isinstance(node.op, (other, ast.MatMult)):
                yield ast.BinOp(node.left, other(), node.right)
        yield ast.BinOp(node.right, node.op, node.left)
        yield node.left
    if isinstance(node, ast.Compare):
        for other in (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq):
            if not isinstance(node.ops[0], other):
                yield ast.Compare(node.left, [other()], node.comparators)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        others = {node.value + 1, node.value - 1, -node.value, 2 * node.value} - {node.value}
        yield from map(ast.Constant, sorted(others))
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("transpose", "permute", "swapaxes", "contiguous", "softmax", "tril", "triu", "exp"):
            yield node.func.value
        swap = {"tril": "triu", "triu": "tril", "softmax": "log_softmax", "sum": "mean", "amax": "amin",
                "exp": "sigmoid"}.get(node.func.attr)
        if swap:
            yield ast.Call(ast.Attribute(node.func.value, swap, ast.Load()), node.args, node.keywords)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in "qkv":
        for other in "qkv".replace(node.id, ""):
            yield ast.Name(other, ast.Load())


def places(tree):
    """Every node of a syntax tree, with a function that puts another into its place."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                yield from ((node, partial(value.__setitem__, i)) for i, node in enumerate(value))
            else:
                yield value, partial(setattr, parent, field)


def mutants(source):
    """Every source that differs from this one in a single place."""
    tree = ast.parse(source)
    for node, put in places(tree):
        for change in changes(node):
            put(change)
            yield ast.unparse(tree)
        put(node)


@cache
def mutants_of(name):
    """(a right answer, what is written in its place) for two answers to one exercise, without what may loop too long or
    decomposes a matrix: there, many outputs are right.
    """
    found = [[(answer, mutant) for mutant in dict.fromkeys(mutants(answer.source))
              if not re.search(r"\b(range|while|svd|eigh)\b", mutant)] for answer in ANSWERS if answer.name == name]
    return sum(sorted(found, key=len)[-2:], [])


def equivalent(exercise, answer):
    """Whether an answer agrees with the reference on many more inputs than the checker tries."""
    for trial in range(40):
        args = refilled(exercise.cases[trial % len(exercise.cases)], trial)
        if trial % 2:
            args = [3 * a if isinstance(a, torch.Tensor) and a.is_floating_point() and (a < 0).any() else a for a in
                    args]
        if not same(exercise.observe(answer(*args), *args), exercise.observe(exercise.reference(*args), *args)):
            return False
    return True


def test_there_are_many_mutants_of_all_but_four_exercises():
    counts = {exercise.name: len(mutants_of(exercise.name)) for exercise in IN_CODE}
    assert {name for name, count in counts.items() if count < 5} == {"same_scores", "factor", "one_matrix", "leaks"}
    assert sum(counts.values()) > 1000


def given(exercise, answer):
    """What an answer gives on every case, rounded; of what stops or is no tensor, its type."""
    runs = [observe_run(exercise, answer, case.copies()) for case in exercise.cases]
    return str([(out.shape, out.double().mul(1e6).round().tolist()) if isinstance(out, torch.Tensor)
                else (type(out), type(failure)) for out, failure in runs])


@every_exercise
def test_a_mutant_is_rejected_as_one_mistake_or_the_same_function(exercise):
    """Of those that give the same wrong outputs, one is tried."""
    slipped, told_twice, right, tried = [], [], given(exercise, exercise.reference), set()
    for answer, source in mutants_of(exercise.name):
        mutant = answer.rewritten(source)
        outputs = given(exercise, mutant)
        if outputs in tried:
            continue
        tried.add(outputs if outputs != right else source)
        report = check(exercise.id, mutant)
        if report.ok and not equivalent(exercise, mutant):
            slipped.append(source)
        if "two mistakes together" in report.text:
            told_twice.append(source)
    assert slipped == [] and told_twice == []
