"""Formulas in what exercises ask: which letters are variables, and what stays on one line."""
import re

import pytest

from _ext import statements
from mha.exercises import EXERCISES


def shown(text):
    """Plain text as it is set: what stays together in square brackets, what is in italics in braces."""
    made = re.sub(r'<span class="math-tied">(.*?)</span>', r"[\1]", statements.set_text(text))
    made = re.sub(r'<i class="formula"[^>]*>(.*?)</i>', r"{\1}", made)
    return re.sub(r"<su[bp][^>]*>(.*?)</su[bp]>", r"'\1", made)


@pytest.mark.parametrize("text, wanted", [
    ("the score of tokens i and j is (x_i W) (x_j W)^T.",
     "the score of tokens {i} and {j} is [({x'i} {W}) ({x'j} {W}){'⊤}]."),
    ("one full matrix A, as x A y^T. A head has W_Q", "one full matrix {A}, as [{x} {A} {y}{'⊤}]. A head has {W'Q}"),
    (": A is any form", ": {A} is any form"),
    ("two tokens by x W W^T y.", "two tokens by [{x} {W} {W}{'⊤} {y}]."),
    ("W_V by W_V M and W_O by M^{-1} W_O", "{W'V} by [{W'V} {M}] and {W'O} by [{M}{'−1} {W'O}]"),
    ("queries (n &lt;= m). Each", "queries [({n} &lt;= {m})]. Each"),
    ("in d_k = 16 the 3 keys", "in [{d'k} = 16] the 3 keys"),
    ("the columns 2i and 2i + 1", "the columns [2{i}] and [2{i} + 1]"),
    ("W_K’^T stays", "[{W'K}’{'⊤}] stays"),
    ("the first h/h_kv heads, all n tokens to n³", "the first [{h}/{h'kv}] heads, all {n} tokens to {n}³"),
])
def test_a_formula_is_set_and_stays_on_its_line(text, wanted):
    assert shown(text) == wanted


@pytest.mark.parametrize("text", [
    "A head has a query. I ask.", "twelve tokens, X X X X Y Y Y", "B.", "of didn't, the \"t\" is left", "e.g. a word",
    "torch.ones(n, n).tril() is 1", "What is 1 + 2?", "Python's lists (or others) - and so on", "e^score",
])
def test_what_is_no_formula_stays_as_it_is(text):
    assert shown(text) == text


def test_no_formula_of_a_question_is_wider_than_a_phone_and_none_ends_in_a_sign():
    runs = [run for item in EXERCISES.values() for run in re.findall(r"\[(.*?[^\\])\]", shown(item.statement))]
    plain = [re.sub(r"[{}'\[\]]", "", run) for run in runs]
    assert len(plain) > 30
    assert [run for run in plain if len(run) > statements.LONGEST or run[-1] in "=+-/, "] == []


def test_only_exercises_are_set_and_their_code_is_not():
    page = '<p>W</p><section class="exercise" id="exercise-3-6"><p>is W, <code>W</code></p></section><p>W</p>'
    made = '<i class="formula" data-typed="W">W</i>'
    assert statements.set_formulas(page) == page.replace("is W", f"is {made}")
