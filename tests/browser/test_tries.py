"""What a chapter asks the reader to try, its button does, in the figure before it."""
import json

import pytest

import served

WHOLE = "chapters/00_the_whole.html"
PAGES = [page for page in served.chapters() if "class=\"try\"" in (served.HTML / page).read_text("utf8")]
STATE = """
  (button) => {
    const before = (one) => one.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
    const figures = [...document.querySelectorAll(".live-figure")];
    const figure = figures.filter(before).at(-1) ?? figures[0];
    return figure.settings.holds(JSON.parse(button.dataset.set));
  }
"""


def test_there_are_pages_with_something_to_try():
    assert WHOLE in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_every_try_is_a_button_that_brings_its_figure_there(visit, page):
    tab = visit(page).page
    assert tab.locator("span.try").count() == 0, "a try names what its figure does not have"
    for button in tab.locator("button.try").all():
        button.evaluate("(button) => button.click()")
        assert button.evaluate(STATE), button.get_attribute("data-set")
        assert "(tried)" in button.evaluate("(button) => button.textContent")


def test_whoever_brings_the_figure_there_by_hand_has_found_it(visit):
    tab = visit(WHOLE).page
    button = tab.locator("button.try").first
    assert json.loads(button.get_attribute("data-set")) == {"step": "1 · words"}
    tab.locator(".go.next").click()
    tab.wait_for_function("() => document.querySelector('button.try').classList.contains('is-found')")


def test_a_figure_out_of_sight_is_shown_and_a_button_leads_back(visit):
    tab = visit(WHOLE).page
    tab.emulate_media(reduced_motion="reduce")
    button = tab.locator("button.try").last
    button.scroll_into_view_if_needed()
    was = tab.evaluate("scrollY")
    button.click()
    tab.wait_for_function("(was) => scrollY < was - 500", arg=was)
    tab.get_by_role("button", name="Back to the text").click()
    tab.wait_for_function("(was) => Math.abs(scrollY - was) < innerHeight", arg=was)
    assert tab.locator(".try-back").count() == 0


def test_a_link_asks_for_a_step(visit):
    tab = visit(WHOLE + "#step=5").page
    assert tab.locator(".live-figure output").first.inner_text() == "5 · scores"


def test_without_a_script_a_try_is_a_sentence(chrome, address):
    tab = chrome.new_page(java_script_enabled=False)
    tab.goto(address + WHOLE)
    assert tab.locator("button.try").count() == 0 and "Begin with step 1." in tab.locator("article").inner_text()


def test_reset_sets_everything_back(visit):
    tab = visit(WHOLE).page
    shown = "() => JSON.stringify(document.querySelector('.live-figure [data-figure]').numbers)"
    first = tab.evaluate(shown)
    tab.locator("button.try").nth(1).evaluate("(button) => button.click()")
    tab.wait_for_function(f"(first) => ({shown})() !== first", arg=first)
    tab.get_by_role("button", name="Reset").first.click()
    tab.wait_for_function(f"(first) => ({shown})() === first", arg=first)
    assert tab.locator(".live-figure output").first.inner_text() == "the whole"
    assert tab.get_by_role("checkbox", name="head 1").is_checked()
