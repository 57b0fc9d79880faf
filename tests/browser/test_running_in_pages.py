"""What appendix D says of pages from the disk, and of scripts that do not arrive."""
import re

import pytest

import served

CHAPTERS = served.chapters() if served.chromium() else []
FIGURES = next((page for page in CHAPTERS if served.live_figures(page)), "")
FORM = 'class="ask write-here"'
WRITTEN = next((page for page in CHAPTERS if FORM in (served.HTML / page).read_text("utf8")), "")


@pytest.fixture
def tab(chrome):
    context = chrome.new_context()
    yield context.new_page()
    context.close()


def test_a_figure_whose_script_is_blocked_says_so_and_shows_its_first_setting(tab, address):
    tab.route("**/figures/**", lambda route: route.abort())
    tab.goto(address + FIGURES)
    tab.locator(".live-note").first.wait_for()
    assert tab.locator(".live-note").first.inner_text() == "This figure could not run, so it shows its first setting."
    assert tab.locator(".live-figure svg").first.is_visible()


def test_from_the_disk_figures_are_live_and_the_editor_says_that_it_could_not_be_loaded(tab):
    if not WRITTEN:
        pytest.skip("this book was built without Python for its pages")
    tab.goto((served.HTML / WRITTEN).as_uri())
    tab.wait_for_function("document.querySelectorAll('.live-figure.is-live').length")
    form = tab.locator("form.write-here").first
    tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    form.get_by_role("button", name=re.compile("^(Write it here|Open a cell)")).click()
    form.get_by_text("The editor could not be loaded.").wait_for()
