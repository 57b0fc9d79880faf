"""The checker: right answers pass in every style, wrong ones are rejected and named, and nothing a learner does makes
it raise.
"""
import ast
import copy
import math
import re

import pytest
import torch
import torch.nn.functional as F

import mha
from mha.exercises import EXERCISES, check, find, hint, solution
from mha.exercises.calls import refilled
from mha.exercises.exercise import Exercise
from mha.exercises.probe import same
from right_answers import RIGHT

IN_CODE = [item for item in EXERCISES.values() if isinstance(item, Exercise)]
every_exercise = pytest.mark.parametrize("exercise", IN_CODE, ids=lambda e: f"{e.id}-{e.name}")
STYLES = [(name, source) for name, sources in RIGHT.items() for source in sources]
MISTAKES = [(e, settings, mistakes[0]) for e in IN_CODE for settings, mistakes in e.singles()]


def define(source, name):
    """The function that a source defines."""
    world = {"torch": torch, "math": math, "F": F, "mha": mha}
    exec(compile(source, "learner", "exec"), world)
    return world[name]


# --- The contract of every exercise ---------------------------------------------------------------------------------

@every_exercise
def test_a_stub_is_not_started(exercise):
    report = check(exercise.id, define(exercise.stub, exercise.name))
    assert not report.ok and not report.started and report.mistakes == [] and exercise.statement in report.text


@every_exercise
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_reference_passes_and_keeps_the_dtype(exercise, dtype):
    assert check(exercise.id, exercise.reference).ok
    for case, expected in zip(exercise.cases, exercise.expected):
        args = [a.to(dtype) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in case.copies()]
        out = exercise.reference(*args)
        assert same(exercise.observe(out, *args), expected, 1e-3)
        assert not exercise.trained or out.dtype == dtype


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@every_exercise
def test_the_reference_runs_on_a_gpu(exercise):
    for case, expected in zip(exercise.cases, exercise.expected):
        args = [a.cuda() if isinstance(a, torch.Tensor) else a for a in case.copies()]
        assert same(exercise.observe(exercise.reference(*args), *args).cpu(), expected)


@pytest.mark.parametrize("exercise, settings, mistake", MISTAKES, ids=lambda part: getattr(part, "id", None)
                         if not isinstance(part, dict) else str(part))
def test_a_listed_mistake_is_rejected_and_named_as_itself(exercise, settings, mistake):
    report = check(exercise.id, lambda *args: exercise.model(*args, **settings))
    # two ways to write one function
    same_id = [other.says for _, (other,) in exercise.singles() if other.id == mistake.id]
    assert not report.ok and mistake.id in report.mistakes and any(says in report.text for says in same_id)


@every_exercise
def test_there_are_three_hints_and_the_fix_only_in_the_third(exercise):
    assert len(exercise.hints) == 3 and "return" in exercise.hints[2]
    assert not any("return " in text for text in exercise.hints[:2])


# --- Right answers raise no alarm -----------------------------------------------------------------------------------

@pytest.mark.parametrize("name, source", STYLES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(STYLES)])
def test_a_right_answer_in_any_style_passes(name, source):
    report = check(find(name), define(source, name))
    assert report.ok and report.mistakes == [], report.text


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
        for value in (node.value + 1, node.value - 1, -node.value, 2 * node.value):
            if value != node.value:
                yield ast.Constant(value)
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
        for other in set("qkv") - {node.id}:
            yield ast.Name(other, ast.Load())


def mutants(source):
    """Every source that differs from this one in a single place."""
    tree = ast.parse(source)
    places = [i for i, node in enumerate(ast.walk(tree))]
    for place in places:
        for change in changes(list(ast.walk(tree))[place]):
            mutant = copy.deepcopy(tree)
            target = list(ast.walk(mutant))[place]

            class Put(ast.NodeTransformer):
                def visit(self, node):
                    return copy.deepcopy(change) if node is target else self.generic_visit(node)

            yield ast.unparse(ast.fix_missing_locations(Put().visit(mutant)))


def equivalent(exercise, answer):
    """Whether an answer agrees with the reference on many more inputs than the checker tries."""
    for trial in range(40):
        args = refilled(exercise.cases[trial % len(exercise.cases)], trial)
        if trial % 2:
            args = [3 * a if isinstance(a, torch.Tensor) and a.is_floating_point() and a.min() < 0 else a for a in args]
        if not same(exercise.observe(answer(*args), *args), exercise.observe(exercise.reference(*args), *args)):
            return False
    return True


MUTANTS = [(name, mutant) for name, sources in RIGHT.items() for source in sources
           for mutant in dict.fromkeys(mutants(source))
           if not re.search(r"range\(|while |def .*def |trace|svd|eigh", mutant, re.S)]


def test_there_are_hundreds_of_mutants():
    assert len(MUTANTS) > 300


def test_every_exercise_has_right_answers_in_at_least_six_styles():
    assert all(len(RIGHT[exercise.name]) >= 6 for exercise in IN_CODE)


@pytest.mark.parametrize("name", RIGHT)
def test_a_mutant_is_rejected_or_the_same_function(name):
    exercise, slipped = EXERCISES[find(name)], []
    for mutant in (source for other, source in MUTANTS if other == name):
        answer = define(mutant, name)
        if check(exercise.id, answer).ok and not equivalent(exercise, answer):
            slipped.append(mutant)
    assert slipped == []


# --- Whatever a learner does ----------------------------------------------------------------------------------------

def broken(q, k, v):
    scores = q @ k                                                       # the line that the report should quote
    return scores.softmax(-1) @ v


def test_an_exception_is_shown_with_the_learners_own_line_and_shapes():
    report = check("2.1", broken)
    assert (not report.ok and "scores = q @ k" in report.text and "q (2, 4), k (3, 4)" in report.text
            and "Traceback" not in report.text)


@pytest.mark.parametrize("answer, mistake, part", [
    (lambda q, k, v: mha.attention(q, k, v, need_weights=True) if q.ndim == 2
     else ((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v, None), "returns-tuple", "a tuple of 2"),
    (lambda q, k, v: F.dropout((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1), 0.5) @ v, "random", "different outputs"),
    (lambda q, k, v: ((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v).detach(), "no-gradient",
     "no gradient reaches q or k or v"),
    (lambda q, k, v: (q.detach() @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v, "no-gradient", "no gradient reaches q."),
    (lambda q, k, v: (q.div_(q.shape[-1] ** 0.5) @ k.mT).softmax(-1) @ v, "changes-input",
     "changes its own inputs: q holds other numbers"),
    (lambda q, k, v: (lambda e: e / e.sum(-1, keepdim=True))((q @ k.mT / q.shape[-1] ** 0.5).exp()) @ v, "overflow",
     "NaN"),
    (torch.randn(2, 3), "not-a-function", "without brackets"),
    ("attention", "not-a-function", "without quotation marks"),
])
def test_what_is_not_a_wrong_number_is_named_too(answer, mistake, part):
    report = check("2.1", answer)
    assert not report.ok and report.mistakes == [mistake] and part in report.text


@pytest.mark.parametrize("answer", [None, ..., 5, "attention", lambda: 1, lambda *a: 1 / 0, lambda *a: a, lambda q, k,
                                    v: q[99], lambda *a: [1], lambda *a: "x",
                                    lambda q, k, v: torch.full((2, 2), math.nan), lambda q, k, v: q.bool(),
                                    torch.nn.Linear(3, 3), print])
def test_nothing_a_learner_passes_makes_it_raise(answer):
    for exercise in EXERCISES.values():
        report = check(exercise.id, answer)
        assert report.text.startswith(exercise.id) and (not report.ok
                                                        or exercise.kind
                                                        == "explain") and "not-analysed" not in report.mistakes


def test_a_way_back_that_fails_does_not_make_it_raise():
    class NoWayBack(torch.autograd.Function):
        @staticmethod
        def forward(context, s):
            return s.softmax(-1)

        @staticmethod
        def backward(context, grad):
            raise RuntimeError("no way back")

    assert check("1.1", NoWayBack.apply).text.startswith("1.1 softmax")


def test_what_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr("mha.exercises.calls.LIMIT", 0.2)
    report = check("1.1", lambda s: next(iter(int, 1)) or [1 for _ in iter(int, 1)])
    assert report.mistakes == ["does-not-end"] and "loop" in report.text


def test_two_mistakes_at_once_are_both_named():
    report = check("2.1", lambda q, k, v: (q @ k.mT).softmax(-2) @ v)
    assert set(report.mistakes) >= {"no-scale", "softmax-axis-queries"}


def test_an_unknown_mistake_is_measured():
    report = check("2.1", lambda q, k, v: (q @ k.mT / q.shape[-1] ** 0.7).softmax(-1) @ v)
    assert report.mistakes == [] and "0.3789 at d_k = 4" in report.text and "1 / sqrt(d_k) would be 0.5" in report.text


def test_a_mistake_that_hides_on_some_sizes_says_where_it_is_right():
    report = check("6.1", lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1) if h > 1 else x[:, None])
    assert "view-for-transpose" in report.mistakes and "It is right for x (2, 5, 3), h = 1" in report.text


def degrees(order):
    angles = 360 * torch.arange(len(order)) / len(order)
    K = torch.stack([angles.cos(), angles.sin()], -1)
    return 10 * len(order) ** 2 * K[order], K


@pytest.mark.parametrize("id, answer, part", [
    ("7.2", degrees, "not for order (4,)"),
    ("2.3", lambda a, la, b,
     lb: (lambda u, v: (u * a + v * b) / (u + v))(*(torch.exp(l - max(la.max(), lb.max()))[..., None]
                                                    for l in (la, lb))), "With l1 from -3000 to 3000"),
    ("1.3", lambda w: torch.exp(-(w * w.clamp(min=0.01).log()).sum(-1)), "not for weights (300,)"),
    ("1.3", lambda w: torch.exp(torch.nan_to_num(-(w * w.log()).sum(-1))), "This input has zeros in it"),
    ("5.3", lambda n, m: torch.ones(n, m).tril(m - n), "not True and False"),
    ("5.3", lambda n, m: torch.zeros(n, m).masked_fill(torch.ones(n, m).triu(m - n + 1).bool(), -torch.inf),
     "wanted is a boolean tensor"),
    ("3.3", lambda n: (torch.diag(torch.ones(n - 1), -1) * math.inf, torch.eye(n)), "the weights of token 0 are NaN"),
    ("3.3", lambda n: (torch.diag(torch.full((n - 1,), 30.0 * n), -1), torch.eye(n)),
     "token 0 gives 0.20 to each of the tokens 0, 1, 2, 3, 4"),
], ids=["degrees", "one-largest-for-all", "clamped", "nan-to-zero", "mask-of-floats", "additive-mask", "infinite",
        "a-tie"])
def test_what_a_newcomer_once_got_past_it(id, answer, part):
    report = check(id, answer)
    assert not report.ok and part in report.text and "exchanged" not in report.text


# --- The other doors ------------------------------------------------------------------------------------------------

def test_find_knows_the_names_and_lists_them():
    assert [find(name) for name in ("softmax", "attention", "head", "causal_weights", "split_heads",
                                    "merge_heads")] == ["1.1", "2.1", "4.1", "5.1", "6.1", "6.2"]
    with pytest.raises(ValueError,
                       match=r"no exercise asks for 'atention'; there are softmax \(1.1\), retemper \(1.2\)"):
        find("atention")
    with pytest.raises(ValueError, match="no exercise has the id '9.9'. .*There are 1.1 to 1.9"):
        check("9.9", print)


def test_hints_come_one_by_one_and_the_solution_after_three_tries():
    assert [hint("6.2")[:11] for _ in range(4)] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 3 of 3"]
    assert "def merge_heads" in solution("6.2", force=True)
