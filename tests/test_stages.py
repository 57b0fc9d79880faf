"""The notation of a stage: which paragraphs are its steps, what is no step, and the picture of a step."""
import pytest
from docutils import nodes

from _ext.stages import SHOW, runs, view_before
from mha.widgets import BeatsCycle


def test_a_comment_at_a_paragraphs_end_is_told_from_a_try():
    assert SHOW.fullmatch("<!-- show: turn_q=60; tied=no -->")[1] == "turn_q=60; tied=no"
    assert not SHOW.fullmatch("<!-- try: turn_q=60 -->")


def test_paragraphs_next_to_each_other_are_one_stage():
    section = nodes.section()
    section += [nodes.paragraph(text=word) for word in "abcde"]
    a, b, _, d, e = section
    assert runs([a, b, d, e]) == [[a, b], [d, e]]


def test_a_step_without_a_figure_right_before_it_is_named():
    section = nodes.section("", nodes.paragraph(text="words"), nodes.paragraph(text="a step"))
    for paragraph in section:
        with pytest.raises(ValueError, match="no live figure"):
            view_before(paragraph)


def test_a_figure_draws_another_picture_of_another_setting():
    figure = BeatsCycle()
    first = figure.picture()
    figure.canvas.turn_q, figure.canvas.tied = 120, False
    assert str(figure.picture().text) != str(first.text)
