"""The mask of chapter 5 is painted by mouse and by keyboard, and what follows is what torch computes."""
import numpy as np
import pytest

import served
from mha.widgets.mask_painter import STRONGEST, WORDS
from test_figures import compare, open_figure
from operate import READ, unpack

PAGE = "chapters/05_masks.html"
pytestmark = pytest.mark.skipif(not served.chromium(), reason="no Chromium")


def painted(tab):
    """The mask as the page shows it, row by row."""
    tab.evaluate("flushFrames()")
    return [int(cell.get_attribute("aria-pressed") == "true") for cell in tab.locator(".paint").all()]


def agrees(tab, figure, **setting):
    compare(unpack(tab.evaluate(READ, 0)), figure.numbers(mask=1, painted=painted(tab),
                                                          **{"applied": 0, "layers": 1} | setting), setting)


def test_a_click_toggles_one_pair_and_the_figure_follows(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    before = painted(tab)
    tab.get_by_role("button", name="cat (2) may not look at mat (6)").click()
    tab.get_by_role("button", name="on (4) may look at The (1)").click()
    after = painted(tab)
    assert [i for i in range(36) if before[i] != after[i]] == [11, 18]
    agrees(tab, figure)


def test_arrows_and_space_paint_and_the_focus_stays(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    tab.locator(".paint").first.focus()
    for key in ("ArrowRight", "ArrowDown", "Space", "ArrowUp", "Home", "ArrowLeft", "ArrowRight", "End", "Space"):
        tab.keyboard.press(key)
    pressed = painted(tab)
    assert pressed[7] == 0 and pressed[5] == 1
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')").startswith("The (1) may look at mat")
    agrees(tab, figure)


def test_a_row_painted_empty_gives_zeros(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    tab.get_by_role("button", name="The (1) may look at The (1)").click()
    assert painted(tab)[:6] == [0] * 6
    agrees(tab, figure)
    assert "sees nothing" in tab.locator(".mha-figure .status").first.inner_text()


def test_a_preset_replaces_what_was_painted(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    tab.get_by_role("button", name="cat (2) may not look at mat (6)").click()
    tab.get_by_label("mask", exact=True).select_option(index=0)
    assert painted(tab) == [1] * 36


def test_the_list_of_masks_says_what_is_painted(opened):
    tab, _ = open_figure(opened, PAGE, 0)
    chosen = tab.get_by_label("mask", exact=True).locator("option:checked")
    for name, says in (("cat (2) may not look at mat (6)", "a mask of your own"),
                       ("cat (2) may look at mat (6)", "causal: nobody looks ahead")):
        tab.get_by_role("button", name=name).click()
        tab.evaluate("flushFrames()")
        assert chosen.inner_text() == says


def framed(tab):
    """The row whose bars are shown, and these bars: weights and influences as shares of the height."""
    tab.evaluate("flushFrames()")
    name = tab.locator(".row-of .plane-title b").inner_text()
    heights = [tab.locator(f".two {bars}").evaluate_all("(all) => all.map((one) => parseFloat(one.style.height) / 100)")
               for bars in (".weighs", ".influences")]
    return name, heights


def test_the_bars_are_of_the_row_that_is_pointed_at_or_has_the_focus(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    tab.mouse.move(0, 0)
    shown = figure.numbers(mask=1, applied=0, layers=1)
    weights, leaks = shown["weight"], shown["leak"].view(6, 6)

    def agrees(row):
        name, bars = framed(tab)
        assert name == f"“{WORDS[row]}”"
        for drawn, values in zip(bars, (weights[row], leaks[row] / STRONGEST)):
            assert np.allclose(drawn, values.numpy(), atol=1e-5), row

    agrees(3)
    tab.locator(".square").nth(1).locator(".cell").nth(7).hover()
    agrees(1)
    tab.locator(".paint").first.focus()
    agrees(0)
    tab.keyboard.press("ArrowUp")
    agrees(5)


def test_a_leak_is_marked_in_the_bars(opened):
    tab, _ = open_figure(opened, PAGE, 0)
    tab.get_by_text("after it (a bug)").click()
    tab.evaluate("flushFrames()")
    assert tab.locator(".two .leaks").count() == 2 and tab.locator(".two b").all_inner_texts().count("!") == 2
