"""Quotation marks are curly in the text of a page, in what it replies, and in what its figures say."""
import pytest

import served

# The claims are quoted, and the works named, as their authors and BibTeX typed them
AS_TYPED = ("index.html", "chapters/A_folklore.html", "chapters/bibliography.html")
PAGES = [page for page in served.pages() if page not in AS_TYPED] if served.chromium() else []
# Words outside code, printed tables and the names of controls, which are Python's, and all that the page may still say,
# without what stands in its code
STRAIGHT = """
  () => {
    const code = "code, pre, script, style, textarea, select, noscript, annotation, input, .live-control label, "
      + ".cell_output table:not(.live-figure *)";
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
