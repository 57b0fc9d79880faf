"""The checker: wrong answers are rejected and named, and nothing a learner does makes it raise. Right answers have a
file of their own, test_right_answers.py.
"""
import inspect
import itertools
import math
import re
from textwrap import indent

import pytest
import torch
import torch.nn.functional as F

from mha.exercises import EXERCISES, check, find
from mha.exercises.engine.exercise import Exercise
from mha.exercises.engine.probe import same
from support import needs_cuda

IN_CODE = [item for item in EXERCISES.values() if isinstance(item, Exercise)]
RIGHT = {item.id: item.reference for item in IN_CODE}  # what answers use: the checker copies what they could keep
every_exercise = pytest.mark.parametrize("exercise", IN_CODE, ids=lambda e: f"{e.id}-{e.name}")
MISTAKES = [(e, settings, mistakes[0]) for e in IN_CODE for settings, mistakes in e.singles()]


# --- The contract of every exercise ---------------------------------------------------------------------------------

@every_exercise
def test_a_stub_is_not_started(exercise):
    world = {"torch": torch, "math": math}
    exec(exercise.stub, world)
    report = check(exercise.id, world[exercise.name])
    assert not report.ok and not report.started and report.mistakes == [] and exercise.statement in report.text


@every_exercise
def test_the_smallest_case_in_a_stub_is_right(exercise):
    """Told as a comment: code, and after an arrow what the call gives, number by number."""
    world = {"torch": torch, exercise.name: exercise.reference}
    for line in re.findall(r"^# (.*)", exercise.stub, re.M):
        call, _, given = line.partition(" -> ")
        if given:
            out = eval(call, world)
            parts = map(torch.as_tensor, out if isinstance(out, tuple) else [out])
            numbers = [number for part in parts for number in part.flatten()]
            assert given.split() == [f"{number:.4g}" for number in numbers]
        else:
            exec(line, world)


@every_exercise
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_reference_passes_and_keeps_the_dtype(exercise, dtype):
    assert check(exercise.id, exercise.reference).ok
    for case, expected in zip(exercise.cases, exercise.expected):
        args = [a.to(dtype) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in case.copies()]
        out = exercise.observe(exercise.reference(*args), *args)
        assert same(out, expected, 1e-3)
        assert not exercise.trained or out.dtype == dtype


@needs_cuda
@every_exercise
def test_the_reference_runs_on_a_gpu(exercise):
    for case, expected in zip(exercise.cases, exercise.expected):
        tensors = [a for a in case.args if isinstance(a, torch.Tensor)]
        if not any(map(torch.is_floating_point, tensors)):
            continue                                        # it makes its own matrices, on the CPU
        args = [a.cuda() if isinstance(a, torch.Tensor) else a for a in case.copies()]
        assert same(exercise.observe(exercise.reference(*args), *args).cpu(), expected)


@every_exercise
def test_each_listed_mistake_is_rejected_and_named_as_itself(exercise):
    passed_or_misnamed = []
    for settings, mistake in [(settings, mistake) for other, settings, mistake in MISTAKES if other is exercise]:
        report = check(exercise.id, lambda *args: exercise.model(*args, **settings))
        # two settings may be two ways to one mistake
        sentences = [other.says for _, (other,) in exercise.singles() if other.id == mistake.id]
        if report.ok or mistake.id not in report.mistakes or not any(says in report.text for says in sentences):
            passed_or_misnamed.append((settings, mistake.id))
    assert passed_or_misnamed == []


@every_exercise
def test_there_are_three_hints_and_the_fix_only_in_the_third(exercise):
    assert len(exercise.hints) == 3 and "return" in exercise.hints[2]
    assert not any("return " in text for text in exercise.hints[:2])


@every_exercise
def test_the_third_hint_is_a_right_answer(exercise):
    world = {"torch": torch, "math": math} | {earlier.name: earlier.reference for earlier in IN_CODE}
    exec(f"def {exercise.signature}:\n{indent(exercise.hints[2], '    ')}\n", world)
    assert check(exercise.id, world[exercise.name]).ok


# --- Whatever a learner does ----------------------------------------------------------------------------------------

def broken(q, k, v):
    scores = q @ k                                                       # the line that the report should quote
    return scores.softmax(-1) @ v


def test_an_exception_is_shown_with_the_learners_own_line_and_shapes():
    report = check("2.1", broken)
    assert not report.ok and "Traceback" not in report.text
    assert "scores = q @ k" in report.text and "q (2, 4), k (3, 4)" in report.text


def scores(q, k):
    return q @ k.mT / q.shape[-1] ** 0.5


def without_the_largest_taken_away(q, k, v):
    e = scores(q, k).exp()
    return e / e.sum(-1, keepdim=True) @ v


@pytest.mark.parametrize("answer, mistake, part", [
    (lambda q, k, v: (scores(q, k).softmax(-1) @ v, None), "returns-tuple", "a tuple of 2"),
    (lambda q, k, v: F.dropout(scores(q, k).softmax(-1), 0.5) @ v, "random", "different outputs"),
    (lambda q, k, v: (scores(q, k).softmax(-1) @ v).detach(), "no-gradient", "no gradient reaches q or k or v"),
    (lambda q, k, v: scores(q.detach(), k).softmax(-1) @ v, "no-gradient", "no gradient reaches q."),
    (lambda q, k, v: (q.div_(q.shape[-1] ** 0.5) @ k.mT).softmax(-1) @ v, "changes-input",
     "changes its own inputs: q holds other numbers"),
    (without_the_largest_taken_away, "overflow", "NaN"),
    (torch.zeros(2, 3), "not-a-function", "without brackets"),
    ("attention", "not-a-function", "without quotation marks"),
])
def test_what_is_not_a_wrong_number_is_named_too(answer, mistake, part):
    report = check("2.1", answer)
    assert not report.ok and report.mistakes == [mistake] and part in report.text


def turned_in_place(x, positions, base):
    return x.copy_(RIGHT["10.1"](x, positions, base))


def test_an_answer_that_overwrites_its_input_is_compared_with_what_was_asked():
    assert check("10.1", turned_in_place).mistakes == ["changes-input"]


TURNS = {}


def turns(length, d_k, base):
    if d_k not in TURNS:                                                 # and not for each base
        TURNS[d_k] = torch.arange(length)[:, None] * base ** (-torch.arange(0, d_k, 2).double() / d_k)
    return TURNS[d_k]


def turned_by_what_a_helper_keeps(x, positions, base):
    angle = turns(2000, x.shape[-1], base)[positions]
    a, b = x[..., ::2], x[..., 1::2]
    turned = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return torch.stack(turned, -1).flatten(-2).to(x.dtype)


def test_what_a_function_keeps_that_the_answer_calls_is_named():
    assert check("10.1", turned_by_what_a_helper_keeps).mistakes == ["keeps-state"]


def query_kept_and_softmax_over_queries(x, W_Q, W_K, W_V, K, V):
    q, K, V = x @ W_Q, torch.cat([K, x @ W_Q], 1), torch.cat([V, x @ W_V], 1)
    return (q @ K.mT / W_Q.shape[1] ** 0.5).softmax(1) @ V, K, V


def test_where_two_pairs_of_mistakes_fit_the_one_in_common_is_told_and_the_others_as_a_choice():
    report = check("11.2", query_kept_and_softmax_over_queries)
    assert "One: The softmax runs over the queries. The other: one of two" in report.text
    assert "Either: W_Q makes the key" in report.text and "Or: The query of the new token is kept" in report.text


def heads_from_the_wrong_axis(Q, K):
    h, n, m = Q.shape[1], Q.shape[-2], K.shape[-2]
    slopes = 2.0 ** (-8 * torch.arange(1, h + 1) / h)
    distance = torch.arange(n)[:, None] + m - n - torch.arange(m)
    return (Q @ K.mT / Q.shape[-1] ** 0.5 - slopes[:, None, None] * distance).softmax(-1)


def test_an_axis_that_the_line_adds_is_not_said_to_be_missing_and_what_the_line_uses_is_shown_first():
    report = check("10.2", heads_from_the_wrong_axis)
    assert report.mistakes == ["sizes-differ"]
    assert "There: Q (2, 3, 4), K (2, 3, 4), slopes (3,), distance (3, 3), h = 3" in report.text


@pytest.mark.parametrize("answer", [
    None, ..., 5, "attention", print, torch.nn.Linear(3, 3),
    lambda: 1, lambda q, k, v: q[99], lambda q, k, v: q.bool(), lambda q, k, v: torch.full((2, 2), math.nan),
    lambda *a: 1 / 0, lambda *a: a, lambda *a: [1], lambda *a: "x",
])
def test_nothing_a_learner_passes_makes_it_raise(answer):
    for exercise in EXERCISES.values():
        report = check(exercise.id, answer)
        assert report.text.startswith(exercise.id) and "not-analysed" not in report.mistakes
        assert not report.ok or exercise.kind == "explain"


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
    monkeypatch.setattr("mha.exercises.engine.calls.LIMIT", 0.2)
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
    assert "view-for-transpose" in report.mistakes and "it is right only where n = 1 or h = 1." in report.text


def degrees(order):
    angles = 360 * torch.arange(len(order)) / len(order)
    K = torch.stack([angles.cos(), angles.sin()], -1)
    return 10 * len(order) ** 2 * K[order], K


def too_little_for_float32(error):
    b = 1e-7
    W_O = torch.tensor([[1 / b, -1 / b], [1.0, 1.0]])
    return torch.tensor([[0.0], [0.0], [b]]), torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), W_O


def one_largest_for_all(a, la, b, lb):
    largest = max(la.max(), lb.max())
    u, v = ((logarithm - largest).exp()[..., None] for logarithm in (la, lb))
    return (u * a + v * b) / (u + v)


def mask_of_infinities(n, m):
    return torch.full((n, m), -math.inf).triu(m - n + 1)


def infinite_scores(n):
    return torch.diag(torch.ones(n - 1), -1) * math.inf, torch.eye(n)


def first_row_of_equal_scores(n):
    return torch.diag(torch.full((n - 1,), 30.0 * n), -1), torch.eye(n)


@pytest.mark.parametrize("id, answer, part", [
    ("1.3", lambda w: torch.exp(-(w * w.clamp(min=0.01).log()).sum(-1)), "not for weights (300,)"),
    ("1.3", lambda w: torch.exp(torch.nan_to_num(-(w * w.log()).sum(-1))), "This input has zeros in it"),
    ("2.3", one_largest_for_all, "With l1 from -3000 to 3000"),
    ("3.3", infinite_scores, "token 0 gives most to nobody, as its weights are NaN"),
    ("3.3", first_row_of_equal_scores, "token 0 gives most to 0 and 1 and 2; it should be 0"),
    ("5.3", lambda n, m: torch.ones(n, m).tril(m - n), "not True and False"),
    ("5.3", mask_of_infinities, "it should be a boolean tensor"),
    ("7.2", degrees, "not for order [2, 1, 3, 0]"),
    ("7.7", too_little_for_float32, "That is rounding in float32"),
], ids=["clamped", "nan-to-zero", "one-largest-for-all", "infinite", "a-tie", "mask-of-floats", "additive-mask",
        "degrees", "too-little"])
def test_what_a_newcomer_once_got_past_it(id, answer, part):
    report = check(id, answer)
    assert not report.ok and part in report.text and "exchanged" not in report.text


def in_place(loss, h):
    gates = torch.ones(h)
    full, costs = loss(gates), []
    for i in range(h):
        gates[i] = 0
        costs.append(loss(gates) - full)
        gates[i] = 1
    return torch.stack(costs)


def leaks_by_allclose(f, n, d):
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(1)).double()
    tries = [(j, torch.cat([x[:j], 1 - x[j:]])) for j in range(1, n)]
    return any(not torch.allclose(f(y)[:j], f(x)[:j], atol=1e-9) for j, y in tries)


def merged_first(x, h):
    B, n, wide = x.shape
    return x.view(B * n, h, wide // h).reshape(B, n, h, wide // h).transpose(1, 2)


def by_doubling(f, n, d):
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(1)).double()
    before = f(x).clone()
    tries = [(j, torch.cat([x[:j], 2 * x[j : j + 1], x[j + 1 :]])) for j in range(1, n)]
    return any(((f(y) - before)[:j].abs() > 1e-9).any() for j, y in tries)


def circle_in_half(order):
    angles = 2 * torch.pi * torch.arange(len(order)) / len(order)
    K = 300 * torch.stack([angles.cos(), angles.sin()], -1).half()
    return K[order], K


def small_weights_lost(w, T):
    shares = (w.clamp(min=1e-5).log() / T).softmax(-1) * (w > 0)
    return shares / shares.sum(-1, keepdim=True)


def in_half(error):
    return tuple(W.half() for W in RIGHT["7.7"](error))


def table_kept(Q, K, kept={}):
    """It keeps, for texts as long, the slopes of the most heads that it has seen, and cuts them for fewer."""
    (h, n), m = Q.shape[-3:-1], K.shape[-2]
    if len(kept.get((n, m), ())) < h:
        kept[n, m] = 2.0 ** (-8 * torch.arange(1, h + 1) / h)
    distance = torch.arange(n)[:, None] + m - n - torch.arange(m)
    scores = Q @ K.mT / Q.shape[-1] ** 0.5 - kept[n, m][:h, None, None] * distance
    return scores.masked_fill(distance < 0, -math.inf).softmax(-1)


def in_float32(x, positions, base):
    return RIGHT["10.1"](x, positions, base).float()


@pytest.mark.parametrize("id, answer, part", [
    ("10.1", in_float32, "should have the dtype of x"),
    ("10.2", table_kept, "It remembers something from one call to the next"),
    ("1.2", lambda w, T: (w.log() / T - w[..., -1:].log() / T).softmax(-1), "A row whose last weight is 0 comes back"),
    ("1.2", lambda w, T: (w.log().clamp(min=-100) / T).softmax(-1), "the score -100"),
    ("3.1", lambda W_Q, W_K, M: W_K @ torch.linalg.pinv(M, rtol=0.1).T, "M has an inverse, so they count"),
    ("4.2", lambda w, v, W_O: w / w.sum(-1, keepdim=True) * (v @ W_O).norm(dim=-1)[..., None, :], "by their sum"),
    ("4.4", lambda x, W_V: x - x @ W_V @ torch.linalg.pinv(W_V, rtol=0.1), "reads weakly"),
    ("5.4", leaks_by_allclose, "small beside a large output"),
    ("7.7", in_half, "That is rounding in float16"),
    ("9.2", in_place, "may be a view of the gates"),
    ("1.2", small_weights_lost, "two weights of ratio 1e+06 become 0.997, 0.00315, of ratio 316"),
    ("5.4", by_doubling, "A leak of a token's direction stays unseen"),
    ("6.1", merged_first, "The statement allows a transposed view of another tensor, and there it stops"),
    ("7.2", circle_in_half, "as its weights are NaN"),
], ids=["float32", "table-kept",
        "nan-beside-0", "minus-100", "weak-M", "loose-weights", "weak-W_V", "relative", "half", "view", "small-weights",
        "doubled", "merged-view", "circle-in-half"])
def test_what_was_once_accepted(id, answer, part):
    report = check(id, answer)
    assert not report.ok and part in report.text


@pytest.mark.parametrize("id", ["1.1", "3.1", "6.1"])
def test_an_axis_of_size_1_is_no_axis_to_drop(id):
    report = check(id, lambda *args: RIGHT[id](*args).squeeze())
    assert not report.ok and "Axes of size 1 are gone" in report.text


# --- Sentences that once were untrue, and what is said in their place -------------------------------------------------

def turned(k):
    return k.transpose(0, 1)


def batch_axes_clash(q, k, v):
    return (q @ turned(k) / k.shape[-1] ** 0.5).softmax(-1) @ v


def by_factorials(heads, questions, k):
    def ways(right):
        return float(math.factorial(questions)) / math.factorial(right) / math.factorial(questions - right)
    return 1 - (sum(map(ways, range(k))) / 2**questions) ** heads


def ways_in_a_tensor(heads, questions, k):
    below = sum(float(math.comb(questions, right) * torch.tensor(1.0)) for right in range(k)) / 2**questions
    return 1 - below**heads


def as_it_lies(x, h):
    flat = x.ravel() if x.is_contiguous() else x.mT.ravel()
    return flat.view(*x.shape[:2], h, -1).transpose(1, 2)


def losses_kept(loss, h):
    full, gates, kept = loss(torch.ones(h)).item(), torch.ones(h), []
    for i in range(h):
        gates[i] = 0
        kept.append(loss(gates))
        gates[i] = 1
    return torch.stack(kept) - full


def nudged(f, n, d):
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(1)).double()
    tries = [(j, torch.cat([x[:j], x[j:] + 1e-6 * x[j:].flip(-1)])) for j in range(1, n)]
    return any(((f(y) - f(x))[:j].abs() > 1e-8).any() for j, y in tries)


def filled_column(d, source, target):
    return torch.eye(d), torch.eye(d)[target].expand(d, d)


def softmax_of_whole_numbers(order):
    return order.softmax(0)


def identity_first(n):
    return torch.eye(n), 500 * torch.eye(n)[[0, *range(n - 1)]]


def two_of_three(A, d_k):
    U, S = torch.linalg.svd(A)
    return U, S


def additional_key_brings_the_last_value(scores, values):
    both = torch.cat([scores, torch.zeros_like(scores[..., :1])], -1)
    return both.softmax(-1) @ torch.cat([values, values[..., -1:, :]], -2)


def mean_of_values_added(q, k, v):
    return (scores(q, k).softmax(-1) + 1 / k.shape[-2]) @ v


def mean_of_scores(q, k, v):
    alike = scores(q, k).mean(-2, keepdim=True)
    return alike.softmax(-1).expand(*q.shape[:-1], -1) @ v


def two_back_from_the_third(n):
    return 1000 * torch.eye(n)[[0, 0, *range(n - 2)]], torch.eye(n)


def last_columns(n, m):
    return torch.ones(m, m, dtype=torch.bool).tril()[:, m - n :]


def later_keys(n, m):
    return ~torch.ones(n, m, dtype=torch.bool).tril(m - n - 1)


def straight(step):
    W_V = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    return torch.tensor([[0.0], [0.0], [step]]), W_V, torch.tensor([[1 / step, -1 / step], [1.0, 1.0]])


def least_logarithm_taken_away(w, T):
    logs = w.log() / T
    return (logs - logs.amin(-1, keepdim=True)).softmax(-1)


def ways_by_float_factorials(heads, questions, k):
    def factorial(n):
        return torch.arange(1, n + 1, dtype=torch.float64).prod()
    ways = [factorial(questions) / factorial(x) / factorial(questions - x) for x in range(k, questions + 1)]
    return 1 - (1 - sum(ways) / 2.0**questions) ** heads


def powers_as_they_are(o1, l1, o2, l2):
    a, b = l1.exp()[..., None], l2.exp()[..., None]
    return (a * o1 + b * o2) / (a + b)


def high_scores_cut(scores):
    n = scores.shape[-1]
    return scores.clamp(max=1000).masked_fill(torch.ones(n, n).tril() == 0, -math.inf).softmax(-1)


def root_rounded(x, W_Q, W_K, W_V, W_O, h, mask):
    Q, K, V = (W.unflatten(-1, (h, -1)).movedim(1, 0) for W in (W_Q, W_K, W_V))
    scores = (x[:, None] @ Q) @ (x[:, None] @ K).mT / (math.isqrt(Q.shape[-1]) + (h > 1))
    heads = scores.masked_fill(~mask[:, None], -math.inf).softmax(-1) @ (x[:, None] @ V)
    return heads.transpose(1, 2).flatten(2) @ W_O


def matrix_transposed(y, W_O):
    return y.transpose(1, 2).flatten(2) @ W_O.T


def whole_sum_beside_clashing_axes(q, k, v):
    return (q @ turned(k) / q.sum() * q.sum() / k.shape[-1] ** 0.5).softmax(-1) @ v


def group_by_nothing(W, h, h_kv):
    return W.unflatten(1, (h_kv, h // h_kv, -1)).sum(2).flatten(1) / (h_kv // h)


def wrong_for_three_of_three(heads, questions, k):
    return RIGHT["8.2"](heads, questions, k) + (heads > 2 and questions > 2) / 8


@pytest.mark.parametrize("id, answer, says, never", [
    ("2.1", whole_sum_beside_clashing_axes, "in A @ B this holds for the axes in front", "whose axis is gone"),
    ("6.4", matrix_transposed, "One: W_O is transposed before it is cut. The other: It gives the sum over the heads",
     "with a batch in front"),
    ("8.2", wrong_for_three_of_three, "For heads = 3, questions = 3 and k = 0 it gives 1.125", "it is right. Reasons"),
    ("1.2", least_logarithm_taken_away, "or the least of them", "The mean of the logarithms is subtracted"),
    ("1.4", additional_key_brings_the_last_value, "an additional key that brings 0, 0, 1 of the three values",
     "its weights"),
    ("2.1", mean_of_values_added, "what the right weights give, and besides, whatever the scores are, 0.2, 0.2",
     "softmax of the dot products"),
    ("2.1", mean_of_scores, "All queries get the same weights.", "do not matter"),
    ("2.1", batch_axes_clash, "Take the shapes below as the line itself changes them", "Compare the shapes"),
    ("2.3", powers_as_they_are, "for each query the larger of l1 and l2", "in each row"),
    ("3.3", two_back_from_the_third, "From token 2 on, each token looks two back", "Every token"),
    ("5.1", high_scores_cut, "a clamp that is too near", "one largest number"),
    ("5.3", last_columns, "the last n columns of the triangle", "two mistakes"),
    ("5.3", later_keys, "It shows the token itself and the future, not the past.", "triu"),
    ("6.3", root_rounded, "or a root is rounded", "3: one of these sizes"),
    ("7.7", lambda error: straight(0.1), "the softmax, and the mixture of the contents", "What is off is the bend"),
    ("7.7", lambda error: straight(1e-8), "or see so little of them that it is lost in rounding", "contents, and both"),
    ("8.2", ways_by_float_factorials, "such as 171!, which become infinity", "Usual reasons"),
    ("2.1", batch_axes_clash, "in A @ B this holds for the axes in front of the last two", "Two tensors meet entry"),
    ("3.2", two_of_three, "taken apart into more or fewer names than it has parts", "number of axes"),
    ("3.3", identity_first, "and of W_Q and W_K exchanged", "not the rows"),
    ("4.3", filled_column, "How many numbers of W_V W_O", "numbers of W_V should"),
    ("5.4", nudged, "For f = by_a_step, n = 6, d = 4: it says False, and should say True.", "two mistakes"),
    ("6.1", as_it_lies, "depends on how its input lies in memory", "strides were assumed"),
    ("7.1", lambda weights, r: torch.tensor(0.5), "For weights [[0.5, 0, 0, 0.5]] and r = 2", "and on another it"),
    ("7.2", softmax_of_whole_numbers, "torch cannot compute this for numbers of that dtype", "dtypes meet"),
    ("8.2", by_factorials, "A whole number does not fit into a float", "power"),
    ("8.2", ways_in_a_tensor, "A whole number does not fit into a tensor", "power"),
    ("9.2", losses_kept, "A loss that was kept does not stay as it was", "loss of the whole model does not"),
    ("11.4", group_by_nothing, "is -inf and should be", "All its numbers are whole"),
], ids=["whole-sum", "T-of-a-matrix", "three-of-three", "least", "additional-value", "values-added", "mean-of-scores",
        "its-own-shapes", "which-row", "two-back", "clamp", "columns-for-rows", "no-triu", "root-rounded", "mixture",
        "rounding", "infinity", "batch-axes", "unpacked", "turned-round", "product", "verdicts", "memory", "its-input",
        "dtype", "factorials", "2^63", "kept-loss", "infinite"])
def test_what_was_once_untrue(id, answer, says, never):
    report = check(id, answer)
    assert not report.ok and says in report.text and never not in report.text, report.text


def test_what_is_said_of_a_right_mask_is_true_of_a_large_number_as_well():
    """Minus a thousand millions is not minus infinity."""
    report = check("5.1", lambda scores: scores.masked_fill(torch.ones_like(scores).tril() == 0, -1e9).softmax(-1))
    assert report.ok and "so far below the others that its share is rounded to 0" in report.text, report.text


def sizes(*names):
    """Every choice of sizes from 1 to 3, as dicts."""
    return [dict(zip(names, chosen)) for chosen in itertools.product((1, 2, 3), repeat=len(names))]


RUNS_ONLY = [  # exercise, blank, fragment; sizes -> shapes of the arguments, and whether the sentence says that it runs
    ("2.1", "pair", "q @ k", lambda n, m, d: ([(n, d), (m, d), (m, 2)], m == d)),
    ("3.1", "product", "transposed @ matrix",
     lambda d_model, d_k: ([(d_model, d_k)] * 2 + [(d_k, d_k)], d_model == d_k)),
    ("3.1", "product", "matrix / M", lambda d_model, d_k: ([(d_model, d_k)] * 2 + [(d_k, d_k)],
                                                           d_model == d_k or 1 in (d_model, d_k))),
    ("4.1", "project", "x @ W_Q, x @ W_K, W_V", lambda n, d: ([(n, d), (d, 2), (d, 2), (d, 5)], n == d)),
    ("4.4", "out", "x - x @ W_V", lambda lost, d_v: ([(2, d_v + lost - 1), (d_v + lost - 1, d_v)], 1 in (lost, d_v))),
    ("5.2", "real", "place < lengths[:, None]", lambda B, n: ([(B, n, 5), torch.ones(B)], B == n or 1 in (B, n))),
    ("6.3", "hide", "scores.masked_fill(~mask, -math.inf)", lambda B, h: (
        [(B, 5, 4), (4, h * 2), (4, h * 2), (4, h * 3), (h * 3, 4), h, torch.ones(B, 5, 5) > 0], B in (1, h))),
    ("9.1", "meet", "y * gates", lambda h, d_v: ([(2, h, 5, d_v), (h,), (h * d_v, 4)], h in (1, d_v))),
    ("11.3", "asks", "W_Q @ W_UK", lambda d_c, d_k: ([(4, 2 * d_k), (d_c, 2 * d_k), (d_c, 6), (6, 4), 2], d_c == d_k)),
    ("10.2", "bias", "- slopes * distance", lambda h, m: ([(h, 1, 5), (h, m, 5)], h == m or 1 in (h, m))),
    ("10.2", "bias", "- slopes[:, None] * distance", lambda h, n: ([(h, n, 5), (h, 3, 5)], h == n or 1 in (h, n))),
]


@pytest.mark.parametrize("id, blank, fragment, told", RUNS_ONLY, ids=[f"{id}-{text}" for id, _, text, _ in RUNS_ONLY])
def test_what_is_said_to_run_for_some_sizes_runs_for_these_and_no_others(id, blank, fragment, told):
    answer = EXERCISES[id].program.function(**{blank: fragment})
    assert re.search("runs? .*only|does not run", EXERCISES[id].program.blanks[blank].wrong[fragment].says)
    for chosen in sizes(*inspect.signature(told).parameters):
        shapes, runs = told(**chosen)
        args = [torch.rand(a) if isinstance(a, tuple) else a for a in shapes]
        try:
            answer(*args)
            ran = True
        except RuntimeError:
            ran = False
        assert ran == runs, chosen


def test_every_sentence_that_says_where_an_answer_runs_is_tried():
    says = {(exercise.id, name, fragment) for exercise in IN_CODE for name, blank in exercise.program.blanks.items()
            for fragment, mistake in blank.wrong.items()
            if mistake and re.search(r"\bruns (to its end )?only|does not run", mistake.says)}
    assert says == {row[:3] for row in RUNS_ONLY}, "each needs a row in RUNS_ONLY"


def test_of_a_yes_or_no_is_said_what_it_misses_and_not_how_it_is_written():
    sentences = {mistake.says for _, (mistake,) in EXERCISES["5.4"].singles()}
    assert not [says for says in sentences if re.match("It (changes|adds|compares|looks|never|wants)", says)]


def inverted_twice(W_Q, W_K, M):
    return W_K @ torch.linalg.inv(M.mT @ M)


def triangle_only(W_Q, W_K, M):
    return torch.linalg.solve_triangular(M, W_K.mT, upper=True).mT


def nearly_inverted(W_Q, W_K, M):
    return W_K @ torch.linalg.inv(M + 0.001 * torch.eye(len(M))).mT


def one_step(A, d_k):
    Q = torch.linalg.qr(A @ torch.linalg.qr(A.mT @ torch.ones(len(A), d_k).tril().double())[0])[0]
    return Q, A.mT @ Q


def filling_divided_out(scores, lengths):
    weights = scores.softmax(-1) * (torch.arange(scores.shape[-1]) < lengths[:, None, None])
    return weights / (weights.sum(-1, keepdim=True) + 1e-9)


def one_off(order):
    _, K = RIGHT["7.2"](order)
    return 10 * len(order) ** 2 * K[order - 1], K


def short_degrees(order):
    angles = 360 * torch.arange(len(order)).double() / len(order)
    K = 30 * torch.stack([angles.cos(), angles.sin()], -1)
    return K[order], K


def sine_twice(order):
    sines = (2 * torch.pi * torch.arange(len(order)).double() / len(order)).sin()
    K = 4000 * torch.stack([sines, sines], -1)
    return K[order], K


def rows_in_order(weights, asks, answers):
    return EXERCISES["8.3"].model(weights, asks, answers, head="others[..., : len(asks), :].argmax(-1) == answers")


@pytest.mark.parametrize("id, answer, part", [
    ("3.1", inverted_twice, "it gives [[0.25, 0], [0, 0.0625], [0, 0]]; it should be [[0.5, 0], [0, 0.25], [0, 0]]"),
    ("3.1", triangle_only, "right where M is diagonal, or zero below the diagonal, and wrong where M is zero above"),
    ("3.1", nearly_inverted, "it gives [[0.49975, 0], [0, 0.249938], [0, 0]]"),
    ("3.2", one_step, "and d_k = 1 its scores are"),
    ("5.2", filling_divided_out, "the padding 40 above the words: row 0 of the sentence of length 2 is"),
    ("7.2", one_off, "token i looks at order[i] - 1 (n - 1 before 0)"),
    ("7.2", short_degrees, "at an angle of 360 j / n radians"),
    ("7.2", sine_twice, "no query gives key 0 more than all others: it lies among them"),
    ("8.3", rows_in_order, "For pair q it reads the row of word q"),
    ("9.1", lambda y, gates, W_O: RIGHT["9.1"](y, torch.tensor(gates.tolist()).to(y), W_O), ".tolist()"),
])
def test_what_is_wrong_is_shown_where_it_has_no_name(id, answer, part):
    report = check(id, answer)
    assert not report.ok and part in report.text, report.text


def test_one_mistake_made_twice_is_said_once():
    report = check("9.1", lambda y, gates, W_O: EXERCISES["9.1"].model(
        y, gates, W_O, first="gates = (gates > 0.5).to(gates)", use="merged @ W_O / h"))
    assert report.text.count("two mistakes together") == 1 and report.text.count("A gate is a factor") == 0
    twice = check("4.2", lambda weights, v, W_O: EXERCISES["4.2"].model(
        weights, v, W_O, lengths="written.square().sum(-1)", out="(weights * row).square()"))
    assert twice.mistakes == ["squared-length"]


def test_an_error_inside_what_is_given_is_told_as_one():
    def fewer_tokens(f, n, d):
        x = torch.randn(n, d, generator=torch.Generator().manual_seed(1)).double()
        return any(not same(f(x[:i]), f(x)[:i], 1e-9) for i in range(1, n))
    report = check("5.4", fewer_tokens)
    assert report.mistakes == ["inside-what-is-given"]


def test_what_is_measured_does_not_depend_on_what_an_answer_does_to_its_inputs():
    def part_by_part(y, W_O):
        out = torch.stack([y[:, i] @ block for i, block in enumerate(W_O.chunk(y.shape[1]))], 1)
        y[:, 0] = 0
        return out * 1.5 + y.sum() * 0
    report = check("6.4", part_by_part)
    assert "It should stand still" not in report.text and "changes its own inputs" in report.text


# --- How an exercise is found ---------------------------------------------------------------------------------------

def test_an_exercise_is_found_by_the_name_of_its_function():
    assert [find(name) for name in ("softmax", "attention", "head")] == ["1.1", "2.1", "4.1"]
    assert [find(name) for name in ("causal_weights", "split_heads", "merge_heads")] == ["5.1", "6.1", "6.2"]


def test_a_name_or_an_id_that_is_none_is_answered_with_those_there_are():
    names = r"no exercise asks for 'atention'; there are softmax \(1.1\), retemper \(1.2\)"
    with pytest.raises(ValueError, match=names):
        find("atention")
    with pytest.raises(ValueError, match="no exercise has the id '9.9'. .*There are 1.1 to 1.9"):
        check("9.9", print)
