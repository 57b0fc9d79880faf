"""The head by hand follows the numbers that a reader types."""
import numpy as np
import pytest
import torch

import served
from operate import READ, unpack
from test_figures import open_figure

PAGE = "chapters/02_one_head.html"
SETTINGS = 500
# Types each list of 24 numbers into the fields, and says after each what the figure shows
TYPE = """
  ([index, lists]) => {
    const fields = [...document.querySelectorAll(".live-figure")[index].querySelectorAll("input[type=number]")];
    const read = %s;
    return lists.map((list) => {
      fields.forEach((field, i) => {
        field.value = list[i];
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      flushFrames();
      return read(index);
    });
  }
"""


def open_head(visit):
    index = served.live_figures(PAGE).index("head-by-hand")
    return open_figure(visit, PAGE, index)[0], index


def test_what_is_typed_is_what_torch_computes_with(visit):
    from mha.widgets.head_by_hand import GIVEN, HeadByHand

    tab, index = open_head(visit)
    typed = (18 * torch.rand(SETTINGS, 3, 4, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 9)
    typed = (typed * 10).round() / 10
    shown = tab.evaluate(TYPE % READ.strip(), [index, typed.flatten(1).tolist()])
    figure = HeadByHand()
    for matrices, page in zip(typed, map(unpack, shown)):
        given = dict(zip(("W_Q", "W_K", "W_V"), matrices.tolist()), x=GIVEN["x"])
        for name, values in figure.numbers(times=1, scaled=True, given=given).items():
            assert np.allclose(page[name], values.numpy(), rtol=1e-5, atol=1e-5), (name, given)


def test_the_arrow_keys_change_a_number_and_reset_brings_it_back(visit):
    tab, index = open_head(visit)
    head = tab.locator(".live-figure").nth(index)
    field = head.get_by_label("W_Q, row 1, column 1")
    field.press("ArrowUp")
    assert field.input_value() == "0.5"
    head.get_by_role("button", name="Reset").click()
    tab.evaluate("flushFrames()")
    assert field.input_value() == "0.4"


@pytest.mark.parametrize("keys", [["Delete"], ["-"], ["-", "ArrowLeft"]])
def test_what_is_no_number_is_left_behind_as_the_number_that_counts(visit, keys):
    tab, index = open_head(visit)
    field = tab.locator(".live-figure").nth(index).get_by_label("W_Q, row 1, column 1")
    for key in ["Control+a", *keys, "Tab"]:
        field.press(key)
    assert field.input_value() == "0.4"
