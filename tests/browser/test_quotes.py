"""Quotation marks are curly wherever a reader reads: in the text, in what pages reply, and in what figures say."""
import pytest

import served

PAGES = [page for page in served.pages() if page != "index.html"] if served.chromium() else []
# Words outside code, and all that the page may still say, without what stands in its code
STRAIGHT = """
  () => {
    const code = "code, pre, script, style, textarea, select, noscript, annotation, input";
    const found = [];
    const walk = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { data, parentElement } = walk.currentNode;
      if (data.length > 1 && !parentElement.closest(code)) found.push(data.trim());
    }
    const html = (text) => new DOMParser().parseFromString(text, "text/html").body;
    const texts = (data) => (typeof data === "string" ? [data] : Object.values(data ?? {}).flatMap(texts));
    for (const script of document.querySelectorAll("article script[type='application/json']")) {
      for (const text of texts(JSON.parse(script.textContent))) {
        if (text.startsWith(" ")) continue; // printed code
        const said = html(text.replace(/`[^`]*`/g, ""));
        said.querySelectorAll("code, .formula").forEach((el) => el.remove());
        found.push(said.textContent);
      }
    }
    return found.filter((text) => /["']/.test(text));
  }
"""


@pytest.mark.parametrize("page", PAGES)
def test_no_quotation_mark_is_straight(visit, page):
    assert visit(page).page.evaluate(STRAIGHT) == []
