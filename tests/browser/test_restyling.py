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


@pytest.mark.parametrize("page", PAGES)
def test_a_word_that_changes_in_a_figure_styles_few_elements_anew(opened, chrome, page):
    tab = opened(page).page
    if not tab.locator(".live-figure .mha-figure :is(.status, .says)").count():
        pytest.skip("its figures say nothing that changes")
    chrome.start_tracing(page=tab, categories=["blink.user_timing", "devtools.timeline"])
    tab.evaluate(CHANGE)
    events = json.loads(chrome.stop_tracing())["traceEvents"]
    start, end = sorted(event["ts"] for event in events if event["name"] in ("change starts", "change ends"))
    styled = [event["args"]["elementCount"] for event in events
              if start < event["ts"] < end and "elementCount" in event.get("args", {})]
    assert styled and max(styled) < FEW
