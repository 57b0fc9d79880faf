"""The formulas of the built book: all there, drawn in our font without a script, within the page, copied as TeX."""
import json
import re
from html import unescape

import pytest
from support import PAGES, formulas_of

import served

SOURCES = {f"chapters/{path.stem}.html": path for path in PAGES}
WITH_FORMULAS = [page for page, path in SOURCES.items() if formulas_of(path)] if served.chromium() else []

every_page = pytest.mark.parametrize("page", WITH_FORMULAS)


@every_page
def test_no_formula_is_lost_on_the_way_from_the_notebook(page):
    article = re.search("<article.*</article>", (served.HTML / page).read_text("utf8"), re.S)[0]
    chapter = re.sub(r'<span class="meaning".*?</span></span>', "", article)      # what the glossary says of a word
    chapter = re.sub(r'<p class="bet-came">.*?</p>', "", chapter, flags=re.S)     # a bet's answer, said once more
    made = re.findall(r"<math[ >].*?</math>", chapter, re.S)
    tex = [unescape(re.search('"application/x-tex">(.*?)</annotation>', one, re.S)[1]) for one in made]
    displayed = ['display="block"' in one for one in made]
    # In any order: a form stands below the words of its question.
    assert sorted(zip(tex, displayed)) == sorted(map(tuple, formulas_of(SOURCES[page])))


def test_search_knows_the_words_around_formulas_and_not_their_tex():
    index = (served.HTML / "searchindex.js").read_text("utf8")
    pages = json.loads(index[index.index("{"):index.rindex("}") + 1])["terms"]
    # A build on top of an older one keeps its words, with no page to them.
    assert pages["softmax"] and all(pages.get(word, []) == [] for word in ("mathsf", "tfrac", "cdot"))


# One of each sign, by the elements around it
ONE_OF_EACH = """
  () => {
    const path = (el) => (el.matches("math") ? "" : `${el.tagName} ${path(el.parentElement)}`);
    const signs = [...document.querySelectorAll("article math :is(mi, mn, mo, mtext)")];
    const one = new Map(signs.map((el) => [`${path(el)}${el.textContent}`, el]));
    one.forEach((el) => { el.dataset.sign = ""; });
  }
"""


@every_page
def test_without_scripts_a_formula_is_drawn_in_our_fonts(unscripted, page):
    tab = unscripted(page, width=1200, height=900)
    tab.evaluate("document.fonts.ready")
    heights = tab.evaluate("[...document.querySelectorAll('article math')].filter((el) => el.getClientRects().length)"
                           ".map((el) => el.getBoundingClientRect().height)")
    assert heights and min(heights) > 5
    tab.evaluate(ONE_OF_EACH)
    session = tab.context.new_cdp_session(tab)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    signs = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "[data-sign]"})
    fonts = {(font["familyName"], font["isCustomFont"]) for node in signs["nodeIds"]
             for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]}
    session.detach()
    assert fonts and all(custom and name in ("Book Math", "Book Serif") for name, custom in fonts), fonts


COPY_WORDS = """(words) => {
  getSelection().selectAllChildren(document.querySelector(words));
  const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
  document.dispatchEvent(event);
  return event.clipboardData.getData("text/plain");
}"""


@pytest.mark.skipif(not WITH_FORMULAS, reason="needs Chromium")
def test_a_symbol_in_words_is_copied_as_it_is_typed(visit):
    for page, exercise, words in (("10_position_lab", "10-8", "d_model = 512 and h = 8"),
                                  ("10_position", "10-10", "q = k R_-37")):
        copied = visit(f"chapters/{page}.html").page.evaluate(COPY_WORDS, f"#exercise-{exercise}")
        assert words in copied
