"""A word that changes in a figure makes the browser style a few elements anew, not the page: what a move costs."""
import json

import pytest

import served

PAGES = [page for page in served.chapters() if served.live_figures(page)] if served.chromium() else []
FEW = 500                                   # a page has 1,300 to 7,700 elements
# One :has() whose subject may be anything makes it all of them
CHANGE = """
  async () => {
    const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const word = document.querySelector(".live-figure .mha-figure :is(.status, .says)");
    const words = [...word.childNodes];
    await frames();
    performance.mark("change starts");
    word.textContent = "another word";
    await frames();
    performance.mark("change ends");
    word.replaceChildren(...words);
  }
"""


# The second move of a control; the first takes it in hand
MOVE = """
  async () => {
    const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const slider = document.querySelector(".live-figure .live-control input[type=range]");
    const [first, stride] = [slider.value, Number(slider.step) * (slider.value === slider.max ? -1 : 1)];
    function put(value) {
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      flushFrames();
      return document.documentElement.offsetHeight; // which asks for the styles
    }
    put(Number(first) + stride);
    put(first);
    await frames();
    performance.mark("change starts");
    put(Number(first) + stride);
    performance.mark("change ends");
    put(first);
  }
"""


def styled_by(chrome, tab, change):
    """How many elements the browser styles anew, at the most at once, while a script makes its change."""
    chrome.start_tracing(page=tab, categories=["blink.user_timing", "devtools.timeline"])
    tab.evaluate(change)
    events = json.loads(chrome.stop_tracing())["traceEvents"]
    start, end = sorted(event["ts"] for event in events if event["name"] in ("change starts", "change ends"))
    styled = [event["args"]["elementCount"] for event in events
              if start < event["ts"] < end and "elementCount" in event.get("args", {})]
    assert styled
    return max(styled)


@pytest.mark.parametrize("page", PAGES)
def test_a_word_that_changes_in_a_figure_styles_few_elements_anew(opened, chrome, page):
    tab = opened(page).page
    if not tab.locator(".live-figure .mha-figure :is(.status, .says)").count():
        pytest.skip("its figures say nothing that changes")
    assert styled_by(chrome, tab, CHANGE) < FEW


@pytest.mark.parametrize("page", PAGES)
def test_a_slider_that_is_moved_on_a_phone_styles_its_figure_anew_and_not_the_page(opened, chrome, page):
    tab = opened(page, width=390).page
    if not tab.locator(".live-figure .live-control input[type=range]").count():
        pytest.skip("none of its figures has a slider")
    assert styled_by(chrome, tab, MOVE) < 2 * FEW
