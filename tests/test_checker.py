"""What the checker says of answers that depend on chance, on memory, on a device, that do not end, that print, that a
library stops, or that are right for some sizes only: each sentence only where it is true.
"""
import math
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mha.exercises import EXERCISES, check
from mha.exercises.engine.alarm import Alarm, TooLong
from mha.exercises.engine.exercise import Exercise

SIZED = [item for item in EXERCISES.values() if isinstance(item, Exercise) and item.sized]


def shares(q, k):
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)


def cut(x, W, h):
    return (x @ W).unflatten(-1, (h, -1)).transpose(1, 2)


def multi_head(x, W_Q, W_K, W_V, W_O, h, mask, p=0.0, scale=None):
    Q, K, V = (cut(x, W, h) for W in (W_Q, W_K, W_V))
    scores = Q @ K.mT / math.sqrt(scale(Q, V) if scale else Q.shape[-1])
    weights = F.dropout(scores.masked_fill(~mask[:, None], -math.inf).softmax(-1), p)
    return (weights @ V).transpose(1, 2).flatten(2) @ W_O


# --- Chance and memory ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("id, answer", [
    ("2.1", lambda q, k, v: F.dropout(shares(q, k), 0.1) @ v),
    ("2.1", lambda q, k, v: F.dropout(shares(q, k), 0.02) @ v),
    ("6.3", lambda *args: multi_head(*args, p=0.02)),
], ids=["often", "seldom", "seldom-in-6.3"])
def test_chance_is_named_as_chance_however_seldom_it_shows(id, answer):
    for seed in range(12):
        torch.manual_seed(seed)
        assert check(id, answer).mistakes == ["random"], seed


def test_a_chance_that_shows_in_one_call_of_hundreds_is_not_called_memory():
    seen = set()
    for seed in range(12):
        torch.manual_seed(seed)
        report = check("2.1", lambda q, k, v: shares(q, k) @ v + (torch.rand(()) < 0.005))
        seen.add(tuple(report.mistakes))
        assert "It remembers something from one call to the next:" not in report.text
        assert report.ok or report.mistakes, report.text
    assert seen <= {(), ("random",), ("random", "keeps-state")}


class Counting(nn.Module):
    calls = 0

    def forward(self, q, k, v):
        self.calls += 1
        return self.calls * shares(q, k) @ v


def test_memory_is_said_only_where_a_copy_without_it_could_be_made():
    def counted(q, k, v, calls=[]):                              # noqa: B006, as this is what is tried
        calls.append(1)
        return len(calls) * shares(q, k) @ v
    assert check("2.1", counted).mistakes == ["keeps-state"]
    report = check("2.1", Counting())
    assert report.mistakes == ["random", "keeps-state"] and "Either something is left to chance" in report.text


def test_the_seed_of_the_learner_goes_on_as_if_nothing_had_been_checked():
    def drawn(checks):
        torch.manual_seed(5)
        for _ in range(checks):
            check("2.1", Counting())
        return torch.rand(3)
    assert torch.equal(drawn(0), drawn(2))


# --- Whose torch it is ----------------------------------------------------------------------------------------------

def test_what_is_put_in_place_of_torchs_is_told_and_stays_the_learners(monkeypatch):
    def mine(*args, **named):
        raise RuntimeError("mine")
    for home, name in ((torch, "allclose"), (F, "softmax"), (torch.Tensor, "softmax"), (math, "sqrt")):
        monkeypatch.setattr(home, name, mine)
    right, wrong = (check("2.1", lambda q, k, v, sign=sign: sign * shares(q, k) @ v) for sign in (1, -1))
    assert right.ok and not right.mistakes and not wrong.ok and wrong.mistakes[-1] == "torch-replaced"
    for report in (right, wrong):
        assert "has replaced torch.allclose, torch.Tensor.softmax, F.softmax, math.sqrt. The answer" in report.text
    assert torch.allclose is F.softmax is torch.Tensor.softmax is math.sqrt is mine


def test_what_torch_puts_in_place_of_its_own_is_not_told():
    """It does when it compiles, and for another default dtype; in a process of its own, as nothing undoes it."""
    code = ("from mha.exercises import check\nimport torch\nfrom torch.nn import functional as F\n"
            "torch.set_default_dtype(torch.float64)\nimport torch._dynamo\n"
            "assert 'replaced' not in check('2.1', F.scaled_dot_product_attention).text\n"
            "F.softmax = F.log_softmax\n"
            "assert 'replaced F.softmax.' in check('2.1', F.scaled_dot_product_attention).text\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_was_replaced_before_the_first_import_is_told_in_place_of_a_verdict():
    """What a notebook adds to torch replaces nothing."""
    code = ("import torch\nfrom torch.nn import functional as F\nown = torch.softmax\n"
            "torch.mine = F.silu = lambda x: x\ntorch.softmax = lambda x, dim: own(-x, dim)\n"
            "from mha.exercises import check\n"
            "for answer in (F.scaled_dot_product_attention,\n"
            "               lambda q, k, v: torch.softmax(q @ k.mT / q.shape[-1]**0.5, -1) @ v):\n"
            "    report = check('2.1', answer)\n"
            "    assert not report.ok and report.mistakes == ['torch-replaced'], report\n"
            "    assert 'not judged.' in report.text and 'had replaced torch.softmax, F.silu be' in report.text\n"
            "assert not check('2.1', ...).started\n")
    subprocess.run([sys.executable, "-c", code], check=True)


# --- Who raised it --------------------------------------------------------------------------------------------------

def own_assert(q, k, v):
    assert q.ndim == 7
    return v


@pytest.mark.parametrize("answer, mistake", [
    (lambda q, k, v: nn.MultiheadAttention(10, 3), "inside-a-library"),
    (own_assert, "assertion"),
    (lambda q, k, v: q.to("meta") @ k.mT @ v, "other-device"),
    (lambda q, k, v: torch.ones(3, device="meta").sum().item(), "other-device"),
    pytest.param(lambda q, k, v: q.cuda(), "no-device",
                 marks=pytest.mark.skipif(torch.cuda.is_available(), reason="has CUDA")),
])
def test_an_error_is_called_the_learners_own_only_where_it_is(answer, mistake):
    with suppress(Exception):                                    # the first call on "meta" loads much of torch
        answer(*EXERCISES["2.1"].cases[0].copies())
    report = check("2.1", answer)
    assert report.mistakes == [mistake] and ("of your own" in report.text) == (mistake == "assertion")


def test_a_sentence_on_the_line_is_not_made_of_a_line_of_a_library():
    report = check("2.1", lambda q, k, v: F.scaled_dot_product_attention(q, k.sum(-1), v))
    assert "Your line: " in report.text and "The line takes" not in report.text


# --- Devices --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("answer", [
    lambda q, k, v: (shares(q, k) @ v).to("meta"), lambda q, k, v: [v, v.to("meta")],
])
def test_an_answer_on_another_device_is_told_so(answer):
    report = check("2.1", answer)
    assert report.mistakes == ["other-device"]
    assert "returns a tensor on meta; the inputs were on the CPU" in report.text


def test_another_default_device_changes_no_verdict():
    """In a process of its own, as it is set before the exercises are made."""
    code = ("import torch; torch.set_default_device('meta')\n"
            "from mha.exercises import EXERCISES, check\n"
            "for item in EXERCISES.values():\n"
            "    if item.in_code and not item.core:\n"
            "        continue\n"
            "    assert not item.in_code or check(item.id, item.reference).ok, item.id\n"
            "    assert not check(item.id, lambda *args: torch.ones(7)).ok or item.kind == 'explain'\n"
            "assert torch.get_default_device().type == 'meta'\n")
    subprocess.run([sys.executable, "-c", code], check=True)


# --- What does not end ----------------------------------------------------------------------------------------------

def swallowed(q, k, v):
    while True:
        try:
            sum(range(10))
        except:                                                  # noqa: E722, as this is what is tried
            pass


def swallowed_twice(q, k, v):
    def once():
        try:
            return sum(range(10))
        except BaseException:
            return 0
    while True:
        try:
            once()
        except TimeoutError:
            pass
        except:                                                  # noqa: E722
            continue


def caught_and_answered(q, k, v):
    try:
        while True:
            pass
    except:                                                      # noqa: E722
        return shares(q, k) @ v


@pytest.mark.parametrize("answer", [swallowed, swallowed_twice, caught_and_answered])
def test_no_except_keeps_an_answer_running(answer, monkeypatch):
    monkeypatch.setattr("mha.exercises.engine.calls.LIMIT", 0.2)
    trace, start = sys.gettrace(), time.monotonic()
    assert check("2.1", answer).mistakes == ["does-not-end"]
    assert sys.gettrace() is trace and time.monotonic() - start < 60


def test_a_timeout_of_the_answers_own_is_not_an_answer_that_did_not_end():
    def gives_up(q, k, v):
        raise TimeoutError("no server")
    report = check("2.1", gives_up)
    assert "does-not-end" not in report.mistakes and "TimeoutError: no server" in report.text


def test_in_another_thread_nothing_is_ended_and_nothing_breaks():
    found = []
    thread = threading.Thread(target=lambda: found.append(check("2.1", lambda q, k, v: shares(q, k) @ v).ok))
    thread.start()
    thread.join()
    assert found == [True]


def test_time_in_which_others_had_the_core_ends_no_answer(monkeypatch):
    """A right answer takes long where many graders share a core: here it has none at all for a while."""
    monkeypatch.setattr("mha.exercises.engine.calls.LIMIT", 0.05)
    monkeypatch.setattr("mha.exercises.engine.alarm.waited_for_core", time.monotonic, raising=False)

    def slow(q, k, v):
        time.sleep(0.2)
        return shares(q, k) @ v
    assert check("2.1", slow).ok


def test_the_alarm_leaves_no_timer_behind():
    with pytest.raises(TooLong), Alarm(0.05):
        while True:
            pass
    time.sleep(0.1)


# --- What is printed ------------------------------------------------------------------------------------------------

def prints(q, k, v):
    print("q is", tuple(q.shape))
    return (q @ k.mT).softmax(-1) @ v


def test_what_is_printed_is_shown_once_for_the_call_that_the_report_is_about(capsys):
    report = check("2.1", prints)
    assert capsys.readouterr().out == ""
    assert report.text.count("q is") == 1 and "   q is (2, 4)" in report.text.splitlines()
    assert int(report.text.split("It was called ")[1].split()[0]) > 10


def test_prints_of_a_right_answer_are_shown_for_its_first_call(capsys):
    def loud(q, k, v):
        print("\n".join("abcdefghijkl"))
        return shares(q, k) @ v
    report = check("2.1", loud)
    assert report.ok and report.text.count("   a\n") == 1 and report.text.endswith("   h\n   ...")
    assert capsys.readouterr().out == ""


# --- For which sizes it is right ------------------------------------------------------------------------------------

def values_in_steps_of_d_k(x, W_Q, W_K, W_V, W_O, h, mask):
    B, n, d_k = *x.shape[:2], W_Q.shape[1] // h
    Q, K, V = ((x @ W).reshape(B, n, h, d_k).transpose(1, 2) for W in (W_Q, W_K, W_V))
    scores = (Q @ K.mT / d_k**0.5).masked_fill(~mask[:, None], -math.inf)
    return (scores.softmax(-1) @ V).transpose(1, 2).flatten(2) @ W_O


def one_sentence(y):
    return torch.cat(list(y[0]), -1)[None]


@pytest.mark.parametrize("id, answer, where", [
    ("6.2", one_sentence, "it is right only where B = 1."),
    ("6.2", lambda y: y.transpose(1, 2).flatten(2).squeeze(1), "it is wrong only where n = 1."),
    ("6.3", values_in_steps_of_d_k, "it is right only where d_k = d_v."),
    ("9.1", lambda y, gates, W_O: (y.transpose(1, 2) * gates[:, None, None]).flatten(2) @ W_O,
     "it is right only where h = 1."),
])
def test_the_size_that_decides_is_told(id, answer, where):
    report = check(id, answer)
    assert not report.ok and f"Of the sizes tried, {where}" in report.text, report.text


@pytest.mark.parametrize("exercise", SIZED, ids=lambda exercise: exercise.id)
def test_the_reference_is_right_for_all_sizes_that_are_tried(exercise):
    from mha.exercises.engine.sizes import condition, probes, tried
    assert all(all(right) for right in tried(exercise, exercise.reference).values())
    assert condition(exercise, exercise.reference, little=True) == ("", "") and len(probes(exercise)) > 3


def stretched(Q, K, V):
    K, V = (t.expand(-1, Q.shape[1], -1, -1) for t in (K, V))
    return shares(Q, K) @ V


def test_a_mistake_is_only_guessed_where_nothing_but_the_sizes_that_stop_it_are_its_own():
    report = check("11.1", stretched)
    assert "stop for the same inputs; yours may be another" in report.text
    assert "it is right only where h_kv = 1 or h/h_kv = 1." in report.text


@pytest.mark.parametrize("id, answer, mistake", [
    ("6.3", lambda *args: multi_head(*args, scale=lambda Q, V: V.shape[-1]), "scale-root-d_v"),
    ("6.3", lambda x, W_Q, W_K, W_V, W_O, h, mask: multi_head(
        x.unflatten(-1, (h, -1)).transpose(1, 2) @ W_Q, W_Q, W_K, W_V, W_O, h, mask), "embedding-cut-first"),
    ("9.1", lambda y, gates, W_O: (y.transpose(1, 2) * gates[:, None, None]).flatten(2) @ W_O, "gates-on-tokens"),
    ("11.3", lambda W_Q, W_UK, W_UV, W_O, h: in_steps_of_d_k(W_Q, W_UK, W_UV, W_O, h), "d_k-for-values"),
])
def test_what_the_readers_found_unnamed_is_named(id, answer, mistake):
    report = check(id, answer)
    assert mistake in report.mistakes, report.text


def in_steps_of_d_k(W_Q, W_UK, W_UV, W_O, h):
    d_k = W_Q.shape[1] // h
    cuts = [slice(i * d_k, (i + 1) * d_k) for i in range(h)]
    return (torch.stack([W_Q[:, c] @ W_UK[:, c].mT / d_k**0.5 for c in cuts]),
            torch.stack([W_UV[:, c] @ W_O[c] for c in cuts]))


def late_mask(scores):
    weights = scores.softmax(-1).tril()
    return weights / weights.sum(-1, keepdim=True)


@pytest.mark.parametrize("id, answer, says, never", [
    ("5.1", late_mask, "Where no masked score is far above the visible ones it is right", "does not fit into a float"),
    ("5.1", lambda s: s.masked_fill(torch.ones_like(s).tril() == 0, -1000).softmax(-1), "A masked key gets the weight",
     "division"),
    ("1.1", lambda s: (s - s.mean(-1, keepdim=True)).exp() / (s - s.mean(-1, keepdim=True)).exp().sum(-1, keepdim=True),
     "Is it the largest of each row?", "clamp"),
    ("1.1", lambda s: s.exp() / s.exp().sum(-1, keepdim=True), "e^1000 does not fit into a float", "clamp"),
    ("3.1", lambda W_Q, W_K, M: W_K @ torch.linalg.inv(M + 0.001 * torch.eye(len(M))).mT,
     "The formula is right, with 0.001 added to the diagonal of M", "clamp"),
    ("4.3", lambda d, s, t: (torch.eye(d), torch.eye(d).roll(t - s, 1)), "Other coordinates come along", "1 of it"),
    ("5.4", lambda f, n, d: False, "About everyone: ", "wanted"),
    ("9.2", lambda loss, h: torch.ones(h), "About sum_of_heads: every head takes something off", "wanted"),
    ("13.1", lambda V, other, head, places: V.clone(), "V comes back as it was", "nothing changes"),
    ("11b.1", lambda out, ln_Z, sinks: out * torch.sigmoid(ln_Z - sinks)[..., None], "lacks the last axis of ln_Z",
     "lacks the last axis of out"),
    ("3.2", lambda A, d_k: (A[:, :d_k], torch.eye(len(A))[:, :d_k]), "and of one dtype", "NaN"),
    ("8.2", lambda heads, questions, k: 1 - (1 - math.erfc((2 * k - 1 - questions) / (2 * questions) ** 0.5) / 2)
     ** heads, "it gives 0.999995; it should be 1.", "it gives 1;"),
    ("10.2", lambda Q, K: torch.zeros(*Q.shape[:-1], K.shape[-2], dtype=Q.dtype), "gives no weight to some token",
     "-69"),
    ("5.4", lambda f, n, d: None if n < 3 else bool(f(torch.ones(n, d)).any()),
     "Is a `return` reached there?", "last line"),
])
def test_suspects_that_other_calls_rule_out_are_not_told(id, answer, says, never):
    report = check(id, answer)
    assert not report.ok and says in report.text and never not in report.text, report.text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells the place of an error in its line from 3.11 on")
def of_one_matrix(weights, v, W_O):
    return torch.stack([weights[i] * (v @ W_O).norm(dim=-1) for i in range(weights.shape[-2])])


def asserts_in_float32(s):
    e = (s - s.amax(-1, keepdim=True)).exp()
    out = e / e.sum(-1, keepdim=True)
    assert torch.allclose(out.sum(-1), torch.ones(s.shape[:-1]))
    return out


@pytest.mark.parametrize("id, answer, mistakes", [("4.2", of_one_matrix, ["sizes-differ"]),
                                                  ("1.1", asserts_in_float32, ["dtype"])])
def test_an_error_names_the_cause_that_it_has(id, answer, mistakes):
    assert check(id, answer).mistakes == mistakes


@pytest.mark.parametrize("id, answer, says", [
    ("4.1", lambda x, W_Q, W_K, W_V: x @ W_Q @ W_K,
     "`x @ W_Q` has shape (2, 4) and `W_K` has shape (3, 4). In a product @ the last size of the first, 4, must be the "
     "last but one of the second, 3."),
    ("2.1", lambda q, k, v: q.mean(-1) - k.mean(-1) if q.ndim == 2 else v, "at axis -1 the sizes 2 and 3 meet"),
    ("11.1", lambda Q, K, V: (Q @ K.mT / 2).softmax(-1) @ V,
     "at axis -3 the sizes 4 and 2 meet: they must be equal, or one of them 1."),
])
def test_operands_that_do_not_fit_are_told_with_their_shapes(id, answer, says):
    report = check(id, answer)
    assert not report.ok and says in report.text, report.text


@pytest.mark.parametrize("id, answer, says", [
    ("5.1", lambda s: (s - s.logcumsumexp(-1).diagonal(dim1=-2, dim2=-1).unsqueeze(-1)).exp().tril(),
     "the gradient is NaN"),
    ("11b.1", lambda out, ln_Z, sinks: out / (1 + (sinks[:, None] - ln_Z).exp())[..., None], "the gradient is NaN"),
    ("5.1", lambda s: s.masked_fill(torch.ones_like(s).tril() == 0, -5000).softmax(-1), "A masked key gets the weight"),
    ("1.2", lambda w, T: torch.nn.functional.normalize(w ** (1 / T), p=1, dim=-1), "less than 1e-12"),
])
def test_what_the_statement_asks_of_large_and_small_numbers_is_asked_of_an_answer(id, answer, says):
    report = check(id, answer)
    assert not report.ok and says in report.text, report.text


# --- Fixed numbers, sizes, and what a statement rules out -------------------------------------------------------------

def scaled(divisor):
    return lambda q, k, v: (q @ k.mT / divisor(q, k, v)).softmax(-1) @ v


def head(divisor):
    return lambda x, W_Q, W_K, W_V: scaled(divisor)(x @ W_Q, x @ W_K, x @ W_V)


@pytest.mark.parametrize("factor", [0.5, 2, 1 / 3, 1 / 4])
def test_a_fixed_number_in_place_of_the_scale_is_told_as_one_mistake(factor):
    report = check("2.4", lambda W_Q: W_Q * factor)
    assert "whatever the sizes are" in report.text or "a fixed number" in report.text, report.text
    assert "two mistakes" not in report.text and {*report.mistakes} <= {"fixed-number"}


@pytest.mark.parametrize("c", [0.5, 2, 4])
@pytest.mark.parametrize("exercise", [e for e in SIZED if e.program and "/ math.sqrt" in e.source],
                         ids=lambda exercise: exercise.id)
def test_no_mistake_is_named_that_a_fixed_scale_resembles_by_luck_of_the_sizes(exercise, c):
    assert exercise.program.blanks["scale"].right.startswith("/ math.sqrt")
    assert check(exercise.id, exercise.program.function(scale=f"/ {c}")).mistakes == []


def test_a_mistake_is_not_named_that_fits_the_sizes_of_the_cases_alone():
    """It is the root of d_model rounded down there, as for one divisor 2 it was once for all cases."""
    report = check("2.4", lambda W_Q: W_Q / (2 if W_Q.shape[0] < 9 else 3))
    assert report.mistakes == [] and "it multiplies every entry by 0.5; it should be 0.5774." in report.text


@pytest.mark.parametrize("id, answer, is_fixed", [
    ("2.1", scaled(lambda q, k, v: 3), True), ("4.1", head(lambda q, k, v: 3), True),
    ("2.1", scaled(lambda q, k, v: (1 + k.shape[-2]) ** 0.5), False),
    ("2.1", scaled(lambda q, k, v: (1 + q.shape[-2]) ** 0.5), False),
    ("2.1", scaled(lambda q, k, v: (1 + v.shape[-1]) ** 0.5), False),
    ("2.1", scaled(lambda q, k, v: (2 + (q.shape[0] if q.ndim > 2 else 0)) ** 0.5), False),
    ("4.1", head(lambda q, k, v: len(q) ** 0.5), False),
])
def test_a_scale_is_called_a_fixed_number_only_where_no_size_changes_it(id, answer, is_fixed):
    text = check(id, answer).text
    assert ("for other sizes, too: a fixed number." in text) == is_fixed, text
    assert ("the same for every d_k, and no fixed number: for B = 13, n = " in text) != is_fixed, text


@pytest.mark.parametrize("divisor, mistake", [
    (lambda q, k, v: len(k) ** 0.5, "scale-root-m"), (lambda q, k, v: len(v) ** 0.5, "scale-root-m"),
    (lambda q, k, v: k.shape[1] ** 0.5, "scale-root-axis-1"),
], ids=["len-k", "len-v", "axis-1-of-k"])
def test_the_root_of_a_size_of_k_counted_from_the_front_is_named(divisor, mistake):
    assert check("2.1", scaled(divisor)).mistakes == [mistake]


def by_backward(weights, grad):
    scores = weights.log().detach().requires_grad_()
    scores.softmax(-1).backward(grad)
    return scores.grad


def by_autograd_backward(weights, grad):
    scores = weights.log()
    scores.requires_grad = True
    torch.autograd.backward(scores.softmax(-1), grad)
    return scores.grad


def by_grad(weights, grad):
    scores = weights.log().requires_grad_()
    return torch.autograd.grad(scores.softmax(-1), scores, grad)[0]


def by_grad_fn(weights, grad):
    return weights.log().requires_grad_().softmax(-1).grad_fn(grad)


def shares_of(scores):
    return scores.softmax(-1)


@pytest.mark.parametrize("id, mistake, answer", [
    *(("2.2", "autograd", answer) for answer in (
        by_backward, by_autograd_backward, by_grad, by_grad_fn,
        lambda w, g: torch.func.vjp(shares_of, w.log())[1](g)[0],
        lambda w, g: torch.func.jvp(shares_of, (w.log(),), (g,))[1],
        lambda w, g: torch.func.grad(lambda s: (shares_of(s) * g).sum())(w.log()),
        lambda w, g: torch.autograd.functional.vjp(shares_of, w.log(), g)[1],
        lambda w, g: torch.ops.aten._softmax_backward_data(g, w, -1, w.dtype))),
    *(("1.1", "torchs-softmax", answer) for answer in (
        shares_of, nn.Softmax(-1), lambda s: F.softmax(s, -1), lambda s: torch.special.softmax(s, -1),
        lambda s: F.softmin(-s, -1), lambda s: torch.log_softmax(s, -1).exp())),
])
def test_what_the_statement_rules_out_is_not_right_however_it_is_called(id, mistake, answer):
    report = check(id, answer)
    assert not report.ok and report.mistakes == [mistake] and "the statement asks for" in report.text, report.text


def test_an_answer_that_only_asks_whether_gradients_are_kept_leaves_nothing_to_autograd():
    @torch.no_grad()
    def by_hand(weights, grad):
        kept = weights.requires_grad or torch.is_grad_enabled()
        return weights * (grad - (weights * grad).sum(-1, keepdim=True)) + 0 * kept
    assert check("2.2", by_hand).ok


# --- What stops, in words -------------------------------------------------------------------------------------------

def looks_before_the_first(f, n, d):
    x = torch.randn(n, d).double()
    moved = f(torch.cat([x[:-1], torch.randn(1, d).double()])) - f(x)
    return moved[:-1].abs().max() > 1e-9


def combine(*args):
    return combine(*args)


@pytest.mark.parametrize("id, answer, mistake, says", [
    ("5.4", looks_before_the_first, "empty", "A slice is empty where there is nothing before the first"),
    ("1.1", lambda s: s[:0].amax(0), "empty", "The largest or least of no numbers at all is asked for."),
    ("1.1", lambda s: max(s[:0]), "empty", "The largest or least of no numbers at all is asked for."),
    ("2.3", combine, "recursion", "It calls itself without end"),
])
def test_what_stops_for_want_of_numbers_or_of_an_end_is_told_in_words(id, answer, mistake, says):
    report = check(id, answer)
    assert report.mistakes == [mistake] and says in report.text, report.text
