"""The book's Sphinx extension, part by part. What it makes of the whole book is tested in tests/browser."""
import pytest
from docutils import nodes

from _ext import admonitions, controls, live_figures, svg


def quote(lead, text=" Mind the scale."):
    return nodes.block_quote("", nodes.paragraph("", "", nodes.strong(text=lead), nodes.Text(text)))


@pytest.mark.parametrize("lead, kind", [
    ("Warning.", "warning"), ("Definition (softmax).", "definition"), ("Predict.", "predict"), ("Try it:", "try"),
    ("Claim tested.", "claim"), ("In a minute.", "takeaway"), ("Notebooks.", None), ("Somebody said", None)])
def test_the_bold_lead_of_a_quote_says_its_kind(lead, kind):
    assert admonitions.kind_of(lead) == kind


def test_a_quote_becomes_a_box_with_its_lead_as_title():
    block = quote("Warning.")
    box = admonitions.to_admonition(block, admonitions.lead_of(block), "warning")
    assert [child.astext() for child in box.children] == ["Warning", "Mind the scale."]
    assert "warning" in box["classes"]


def test_an_ordinary_quote_has_no_lead():
    assert admonitions.lead_of(nodes.block_quote("", nodes.paragraph(text="Attention is all you need."))) is None


PICTURE = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><metadata>who made it</metadata>
<defs><style>*{stroke-linejoin: round}</style><clipPath id="a"><rect width="9" height="9"/></clipPath></defs>
<g clip-path="url(#a)" fill="#abc"><use href="#a"/></g></svg>"""


def test_an_inline_picture_has_a_name_and_ids_of_its_own():
    made = svg.inline(PICTURE, 'Where "it" looks', "fig1-")
    assert 'role="img"' in made and "Where &quot;it&quot; looks" in made
    assert 'id="fig1-a"' in made and "url(#fig1-a)" in made and 'href="#fig1-a"' in made
    assert 'fill="#abc"' in made


def test_an_id_that_nothing_in_a_picture_uses_is_dropped():
    twice = PICTURE.replace("</svg>", '<image id="map1" width="3"/><image id="map1" width="3"/></svg>')
    made = svg.inline(twice, "two maps alike", "fig1-")
    assert made.count("<image") == 2 and "map1" not in made and 'id="fig1-a"' in made


def test_an_inline_picture_is_written_short_and_keeps_its_words():
    more = ['<path transform="scale(0.0123)" d="M 3.00024 -119.148759 L 9.5 0.1"/>',
            '<text x="1.23456">a  b <tspan> c</tspan> </text>', "</svg>"]
    made = svg.inline(PICTURE.replace("</svg>", "\n ".join(more)), "a picture", "fig1-")
    assert 'd="M 3.00 -119.15 L 9.5 0.1"' in made and 'scale(0.0123)' in made and "\n" not in made
    assert '<text x="1.23">a  b <tspan> c</tspan> </text>' in made


def test_an_inline_picture_styles_nothing_outside_itself():
    made = svg.inline(PICTURE, "a picture", "fig1-")
    assert "<style" not in made and "metadata" not in made
    assert 'style="stroke-linejoin: round"' in made


def test_a_control_is_written_with_its_name_its_range_and_its_reading():
    state = {"description": "temperature <T>", "min": 0.5, "max": 2, "step": 0.5, "value": 1.0, "readout_format": ".2f"}
    made = controls.CONTROLS["FloatSliderModel"]("m1", state)
    assert '<label for="m1">temperature &lt;T&gt;</label>' in made
    assert 'min="0.5" max="2" step="0.5" value="1.0" aria-valuetext="1.00" disabled' in made
    assert ">1.00</output>" in made


def test_a_figure_carries_its_own_widgets_and_no_others():
    models = {
        "box": {"model_name": "VBoxModel", "state": {"children": ["IPY_MODEL_slider", "IPY_MODEL_canvas"]}},
        "slider": {"model_name": "IntSliderModel", "state": {"value": 1, "_view_name": "IntSliderView",
                                                             "tooltip": None}},
        "canvas": {"model_name": "AnyModel", "state": {}},
        "link": {"model_name": "LinkModel", "state": {"source": ["IPY_MODEL_slider", "value"],
                                                      "target": ["IPY_MODEL_canvas", "h"]}},
        "stray": {"model_name": "IntSliderModel", "state": {"value": 2}},
        "stray link": {"model_name": "LinkModel", "state": {"source": ["IPY_MODEL_stray", "value"],
                                                            "target": ["IPY_MODEL_canvas", "h"]}},
    }
    mine = live_figures.closure("box", models)
    assert set(mine) == {"box", "slider", "canvas", "link"}
    assert mine["slider"]["state"] == {"value": 1}
