"""Formulas: from TeX to MathML. What browsers make of them is tested in tests/browser."""
import re
from html import unescape
from types import SimpleNamespace

import pytest
from docutils import nodes
from math_core import LatexError
from support import PAGES, formulas_of

from _ext import formulas

CSS = formulas.__file__.replace("formulas.py", "static/book.css")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_formula_of_the_book_is_understood_and_carries_its_tex(page):
    for tex, display in formulas_of(page):
        made = formulas.mathml(tex, display)
        assert unescape(re.search('"application/x-tex">(.*?)</annotation>', made, re.S)[1]) == tex
        assert ('display="block"' in made) == display
        assert " style=" not in made


def test_the_book_has_formulas_to_look_at():
    assert sum(len(formulas_of(page)) for page in PAGES) > 600


class Warnings(list):
    def warning(self, words, *values, location):
        self.append((words % values, location))


def test_what_is_no_formula_is_a_warning_that_names_its_place_and_shows_the_tex(monkeypatch):
    warnings = Warnings()
    monkeypatch.setattr(formulas, "LOG", warnings)
    node = nodes.math("", r"\sofmax(x) < 1")
    made = formulas.written(SimpleNamespace(encode=lambda text: text.replace("<", "&lt;")), node, False)
    assert made == r"<code>\sofmax(x) &lt; 1</code>"
    assert [place for _, place in warnings] == [node] and r"\sofmax(x)" in warnings[0][0]


def test_a_style_that_has_no_class_is_no_formula():
    with pytest.raises(LatexError):
        formulas.mathml(r"\begin{align} a &= b \end{align}", True)


def test_each_class_of_a_formula_is_in_the_style_sheet():
    css = open(CSS, encoding="utf8").read()
    assert all(f".{name} {{" in css for name in formulas.CLASSES.values())


@pytest.mark.parametrize("around, tied", [
    ("so {}, and", "so [{},] and"), ("({}) is", "[({})] is"), ("“{}”.", "[“{}”.]"), ("so {} is", "so {} is"),
    ("{}, {} and {}.", "[{},] {} and [{}.]"), ("<p>{}</p>", "<p>{}</p>")])
def test_a_formula_keeps_what_touches_it_on_its_line(around, tied):
    context = {"body": around.replace("{}", formulas.mathml("d_k"))}
    formulas.finish(SimpleNamespace(add_js_file=lambda *a, **b: None), "", "", context, None)
    wanted = tied.replace("[", '<span class="math-tied">').replace("]", "</span>")
    assert context["body"] == wanted.replace("{}", formulas.mathml("d_k"))


def coloured(tex):
    """The letters of a formula that have the colour of a query, a key or a value, by colour."""
    found = re.findall(r'class="hue-(\w+)">(\w)<', formulas.mathml(tex))
    return {hue: "".join(letter for other, letter in found if other == hue) for hue, _ in found}


@pytest.mark.parametrize("tex, wanted", [
    (r"\text{softmax}(QK^{\mathsf T}/\sqrt{d_k})V", {"query": "Q", "key": "K", "value": "V"}),
    (r"q_i \cdot k_j", {"query": "q", "key": "k"}),
    (r"x_i W^Q W_i^{K\mathsf T}", {"query": "WQ", "key": "WK"}),
    (r"\lVert w_{ij}\,v_j W_V W_O\rVert", {"value": "vWV"}),
    (r"W^{QK}", {}),
    (r"(B, h, n, d_k) + d_v", {}),
    (r"\sum_k e_k", {}),
    (r"{}1 - k/4", {}),
])
def test_queries_keys_and_values_have_their_colours_and_indices_have_none(tex, wanted):
    assert coloured(tex) == wanted


def test_symbols_are_set_in_running_text_and_nowhere_else():
    page = ('<h1>Why d_k?<a class="headerlink" href="#why-d_k">#</a></h1>\n'
            '<p>h_kv, <code>W_Q</code>, <pre>d_v</pre> <a href="#d_k">no W_Q_x, one W_UK^T</a>, (c W_O)^T '
            '<math>d_k</math></p>')
    low, high = '<i class="formula">{}<sub>{}</sub></i>'.format, '<i class="formula">{}<sup>{}</sup></i>'.format
    wanted = page
    for typed, made in (("Why d_k?", f"Why {low('d', 'k')}?"), ("<p>h_kv", f"<p>{low('h', 'kv')}"),
                        ("one W_UK^T", f"one {high('W', 'UK')}{high('', '⊤')}"),
                        ("(c W_O)^T", f"(c {high('W', 'O')}){high('', '⊤')}")):
        wanted = wanted.replace(typed, made)
    assert formulas.set_in_text(page) == wanted


def test_what_only_looks_like_a_symbol_stays_as_it_is():
    typed = "W_i Q_h d_keys W_Qs 2^questions e^score ^T snd_k"
    assert formulas.set_symbols(typed) == typed


def test_a_power_is_set_high():
    assert formulas.set_symbols("n^2, M^{-1} and d_model") == (
        'n<i class="formula"><sup>2</sup></i>, M<i class="formula"><sup>−1</sup></i> and '
        '<i class="formula">d<sub class="word">model</sub></i>')
