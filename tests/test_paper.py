"""What paper shows and a screen does not, without a browser. tests/browser/test_on_paper.py reads the PDF itself."""
import pytest

from _ext import answers, paper
from mha.exercises import EXERCISES
from tools import make_pdf


def test_the_last_line_of_a_printed_page_names_no_address_where_none_is_known():
    assert "http" not in paper.origin("A book", "chapters/06_multi_head", None)
    assert " https://ada.github.io/book/chapters/06_multi_head.html." in paper.origin(
        "A book", "chapters/06_multi_head", "https://ada.github.io/book/")


def test_the_pdf_has_the_pages_of_the_book_in_its_order():
    pages = make_pdf.pages()
    assert pages[0]["stem"] == "index" and pages[-1]["stem"] == "bibliography"
    assert {path.stem for path in (make_pdf.ROOT / "chapters").glob("*.ipynb")} <= {page["stem"] for page in pages}
    parts = [page["part"] for page in pages if page["part"]]
    assert pages[0]["part"] is None and parts[:2] == ["The whole", "One head"]


@pytest.mark.parametrize("item", EXERCISES.values(), ids=lambda item: item.id)
def test_every_exercise_has_an_answer_on_paper(item):
    made = answers.answer(item)
    if item.in_code:
        assert f"def {item.name}" in made
    elif item.kind == "explain":
        assert made.count("<li>") == len(item.checklist)
    elif item.letters:
        assert all(letter in made.partition("</strong>")[0] for letter in item.right)
    else:
        assert item.solution in made


def test_in_an_answer_an_address_is_a_link():
    assert answers.linked("a < b, see https://example.org/issues/30.") == (
        'a &lt; b, see '
        '<a href="https://example.org/issues/30">https://example.org/issues/30</a>.')
