"""Heads are pressed off and on in the grid of chapter 9, by mouse and by keyboard, and each setting is what was run."""
import pytest

import served
from operate import READ, unpack
from test_figures import compare, open_figure

PAGE = "chapters/09_pruning.html"
pytestmark = pytest.mark.skipif(not served.chromium(), reason="no Chromium")


def head(tab, name):
    return tab.locator(f".switch[aria-label^='head {name} is']")


def agrees(tab, figure, layer, off):
    """The page shows these heads of this layer off, and what was measured of them."""
    tab.evaluate("flushFrames()")
    pressed = tab.locator(".switch[aria-pressed=true]").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert {name.split()[1] for name in pressed} == {f"{layer}.{number}" for number in off}
    assert tab.locator(".live-control output").all_inner_texts()[:2] == [str(layer), str(len(off))]
    setting = {"layer": layer, "removed": len(off), "off": [int(number in off) for number in range(12)]}
    compare(unpack(tab.evaluate(READ, 0)), figure.numbers(**setting), setting)


def test_a_press_switches_a_head_off_and_another_on_again(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    agrees(tab, figure, 5, {0, 1, 6})
    head(tab, "5.9").click()
    agrees(tab, figure, 5, {0, 1, 6, 9})
    for name in ("5.0", "5.1"):
        head(tab, name).click()
    agrees(tab, figure, 5, {6, 9})


def test_a_press_in_another_layer_begins_there(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    head(tab, "2.11").click()
    agrees(tab, figure, 2, {11})
    head(tab, "2.0").click()
    agrees(tab, figure, 2, {0, 11})


def test_arrows_go_over_the_edges_and_space_presses(visit):
    tab, figure = open_figure(visit, PAGE, 0)
    stops = tab.locator(".switch[tabindex='0']")
    stops.focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowLeft", "Space"):
        tab.keyboard.press(key)
    agrees(tab, figure, 0, {11})
    assert stops.count() == 1 and tab.evaluate("document.activeElement.ariaLabel").startswith("head 0.11 is off")


def test_a_slider_takes_the_cheapest_whatever_was_pressed(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    head(tab, "5.9").click()
    tab.get_by_label("heads off", exact=True).press("ArrowLeft")
    agrees(tab, figure, 5, {0, 1, 6})


def test_squares_move_after_a_press_and_follow_a_slider_at_once(visit):
    tab, _ = open_figure(lambda *args, **options: visit(*args, motion="no-preference", **options), PAGE, 0)
    all_of = "document.querySelector('.head-removal').getAnimations({ subtree: true })"
    running = f"flushFrames(), {all_of}.length"
    assert head(tab, "5.9").evaluate(f"(head) => {{ head.click(); return ({running}); }}") > 0
    tab.evaluate(f"Promise.all({all_of}.map((one) => one.finished)).then(() => null)")
    tab.get_by_label("heads off", exact=True).press("End")
    assert tab.evaluate(running) == 0
