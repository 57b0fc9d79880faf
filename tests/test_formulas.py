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


def set_as(typed, made):
    return f'<i class="formula" data-typed="{typed}">{made}</i>'


def test_symbols_are_set_in_running_text_and_nowhere_else():
    page = ('<h1>Why d_k?<a class="headerlink" href="#why-d_k">#</a></h1>\n'
            '<p>h_kv, <code>W_Q</code>, <pre>d_v</pre> <a href="#d_k">no W_Q_x, one W_UK^T</a>, (c W_O)^T '
            '<math>d_k</math></p>')
    turned = set_as("^T", "<sup>⊤</sup>")
    wanted = page
    for typed, made in (("Why d_k?", f"Why {set_as('d_k', 'd<sub>k</sub>')}?"),
                        ("<p>h_kv", f"<p>{set_as('h_kv', 'h<sub>kv</sub>')}"),
                        ("one W_UK^T", f"one {set_as('W_UK', 'W<sup>UK</sup>')}{turned}"),
                        ("(c W_O)^T", f"(c {set_as('W_O', 'W<sup>O</sup>')}){turned}")):
        wanted = wanted.replace(typed, made)
    assert formulas.set_in_text(page) == wanted


@pytest.mark.parametrize("typed", ["W_i", "Q_h", "d_keys", "W_Qs", "2^questions", "e^score", " ^T", "snd_k",
                                   "R_k2", "q_idx", "w_out"])
def test_what_only_looks_like_a_symbol_stays_as_it_is(typed):
    assert formulas.set_symbols(typed) == typed


@pytest.mark.parametrize("typed, made", [("n^2", "n" + set_as("^2", "<sup>2</sup>")),
                                         ("M^{-1}", "M" + set_as("^{-1}", "<sup>−1</sup>")),
                                         ("e^(-a)", "e" + set_as("^(-a)", "<sup>−a</sup>")),
                                         ("w_ij", set_as("w_ij", "w<sub>ij</sub>")),
                                         ("R_-37", set_as("R_-37", "R<sub>−37</sub>")),
                                         ("R_(j - i)", set_as("R_(j - i)", "R<sub>j − i</sub>")),
                                         ("d_model", set_as("d_model", 'd<sub class="word">model</sub>'))])
def test_powers_stand_high_and_indices_low(typed, made):
    assert formulas.set_symbols(typed) == made
