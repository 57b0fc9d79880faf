"""The notation of what to try: which settings a comment means, and what is wrong with one."""
import pytest
from docutils import nodes

from _ext.figure_buttons import Try, settings, wrap


def test_a_setting_is_a_number_yes_or_no_or_a_choice_as_it_is_called():
    said = settings("head_1=no; masked = yes; temperature=0.05; step=7 · weights; turn=-120")
    assert said == {"head_1": False, "masked": True, "temperature": 0.05, "step": "7 · weights", "turn": -120}


@pytest.mark.parametrize("wrong", ["", "head_1", "=3", "step=1; follow", "a-b=2"])
def test_what_is_no_setting_is_named(wrong):
    with pytest.raises(ValueError, match="name=value"):
        settings(wrong)


def test_sentences_on_one_line_are_a_try_each():
    paragraph = nodes.paragraph()
    for sentence in ("Before.\nAsk. ", " Add ", " Rest.\nTake. "):
        paragraph += [nodes.Text(sentence), nodes.raw("", "<!-- try: a=1 -->", format="html")]
    for comment in list(paragraph.findall(nodes.raw)):
        wrap(comment, {"a": 1})
    assert [one.astext() for one in paragraph.findall(Try)] == ["Ask.", "Add", "Take."]
    assert paragraph.astext() == "Before.\nAsk. Add Rest.\nTake."
