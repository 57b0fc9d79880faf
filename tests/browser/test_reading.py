"""What a reader does with a page: search, download, open on Colab, print, read without JavaScript."""
import html
import re

import pytest
from playwright.sync_api import expect
from support import pairwise

import served
from _ext import terms
from _ext.publishing import colab_url
from mha.widgets import FIGURES
from operate import figure_called

CHAPTERS = served.chapters() if served.chromium() else []
LIVE = [page for page in CHAPTERS if served.live_figures(page)]

every_live_page = pytest.mark.parametrize("page", LIVE)


def test_links_to_colab_lead_to_the_repository_that_is_published_or_are_not_there():
    for page in CHAPTERS:
        links = re.findall(r'href="(https://colab[^"#]*)', (served.HTML / page).read_text("utf8"))
        address = colab_url(page.removesuffix(".html"))
        assert set(links) == ({address} if address else set()), page


def test_a_chapter_can_be_downloaded_as_a_notebook():
    for page in CHAPTERS:
        [link] = re.findall('<a href="([^"]*)" download>Download the notebook', (served.HTML / page).read_text("utf8"))
        assert link.endswith(".ipynb") and ((served.HTML / page).parent / link).resolve().exists(), page


@pytest.mark.parametrize("words, section", [("detailed balance", "chapters/03_query_and_key_lab.html#"),
                                            ("padding mask", "chapters/05_masks.html#")])
def test_search_leads_to_a_section_names_it_and_tells_of_it(visit, words, section):
    page = visit(f"search.html?q={words}").page
    page.wait_for_selector(f'#search-results li a[href*="{section}"]')
    link = page.locator(f'#search-results li a[href*="{section}"]').first
    told = link.locator("xpath=..").locator("p.context").inner_text()
    assert ">" in link.inner_text() and any(word in told.lower() for word in words.split())
    place = link.get_attribute("href").rpartition("#")[2]
    link.click()
    page.wait_for_url(f"**#{place}")
    assert page.locator(f"section#{place}").count() == 1


ENTRIES = re.findall(r"^(.+)\n: (.+)$", (served.ROOT / "chapters" / "glossary.md").read_text("utf8"), re.M)
TERMS = [(terms.names(term), re.findall(r"\((\w+)\.ipynb\)", said)) for term, said in ENTRIES]
HITS = """
  (names) => names.map((name) => Search._performSearch(...Search._parseQuery(name)).reverse()
    .map(([page, , anchor]) => [page, anchor]))
"""


def test_every_word_of_the_glossary_leads_to_the_section_that_explains_it(visit):
    page = visit("search.html").page
    page.wait_for_function("() => Search.hasIndex()")
    wanted = [(name, chapters) for names, chapters in TERMS for one in names if chapters
              for name in {one, one.upper(), one.lower(), one.replace("-", " ")}]
    assert len(wanted) > 100
    for (name, chapters), hits in zip(wanted, page.evaluate(HITS, [name for name, _ in wanted])):
        first = [found.removeprefix("chapters/") for found, anchor in hits[:len(chapters) + 1] if anchor]
        assert {*chapters} <= {*first, "glossary"}, (name, hits[:4])
        assert len({tuple(hit) for hit in hits}) == len(hits)


def test_a_word_of_the_glossary_stands_in_the_chapters_that_its_entry_names():
    texts = {chapter: re.sub("<[^>]*>", "", (served.HTML / "chapters" / f"{chapter}.html").read_text("utf8")).lower()
             for _, chapters in TERMS for chapter in chapters}
    assert [(names, chapter) for names, chapters in TERMS for chapter in chapters
            if not any(name.lower() in texts[chapter] for name in names)] == []


@pytest.mark.parametrize("words", ["GQA", "MQA", "KV cache", "MLA", "SDPA"])
def test_search_finds_the_field_s_own_words_where_they_are_taught_and_shows_them(visit, words):
    page = visit(f"search.html?q={words}").page
    page.wait_for_selector("#search-results li p.context")
    first = page.locator("#search-results li").first
    first.locator("p.context").wait_for()
    if words.endswith("QA"):                                 # one word, which stands on every page that is found
        page.wait_for_function("() => /\\d/.test(document.querySelector('.search-summary').textContent)")
        found = page.locator("#search-results li")
        for hit in found.all():
            expect(hit).to_contain_text(words)
        assert page.locator(".search-summary").inner_text() == f"Pages found: {found.count()}."
    assert words in first.inner_text() and re.match(r"(11|2) \u00b7 ", first.inner_text())
    first.locator("a").click()
    page.wait_for_url("**/chapters/**#*")
    assert words in page.locator(f"[id='{page.url.rpartition('#')[2]}']").inner_text()


@pytest.mark.parametrize("words", ["temperature", "head", "softmax"])
def test_what_the_glossary_says_runs_into_no_excerpt(visit, words):
    page = visit(f"search.html?q={words}").page
    page.wait_for_selector("#search-results li p.context")
    page.wait_for_function("""() => document.querySelectorAll("#search-results li").length
      === document.querySelectorAll("#search-results p.context").length && /\\d/.test(Search.status.textContent)""")
    told = " ".join(page.locator("#search-results li:not(:has(a[href*=glossary])) p.context").all_inner_texts())
    meanings = [meaning for chapter in CHAPTERS for meaning in re.findall(r'<span class="meaning"[^>]*>([^<]{30})',
                (served.HTML / chapter).read_text("utf8"))]
    assert meanings and not [meaning for meaning in meanings if meaning[:25] in told]


@pytest.mark.parametrize("words, meant", [("softmx", "softmax"), ("mutli-query attention", "multi-query attention"),
                                          ("zzqqzz", None), ("detailed zzqq", None)])
def test_search_that_finds_nothing_says_what_to_do_to_a_screen_reader_too(visit, words, meant):
    page = visit(f"search.html?q={words}").page
    expect(page.locator("#search-results").get_by_role("status")).to_contain_text("No page has all the words")
    assert page.title().startswith(f"{words} - Search")
    status = page.locator(".search-summary")
    page.wait_for_function("() => document.querySelector('.search-summary').textContent.startsWith('No page has all')")
    assert words in status.inner_text() and "categories" not in status.inner_text()
    status.locator("a").click()
    page.wait_for_url("**/search.html?q=*" if meant else "**/chapters/glossary.html")
    if meant:
        expect(page.locator("#search-results li").first).to_contain_text(meant, ignore_case=True)


@pytest.mark.parametrize("query", ["", "?q=", "?q=%20"])
def test_a_search_for_nothing_says_where_to_write(visit, query):
    results = visit("search.html" + query).page.locator("#search-results")
    expect(results).to_have_text("Nothing is asked for yet. Write one or more words into "
                                 "\u201cSearch the book\u201d, above the list of chapters.")


def test_an_excerpt_has_no_formula_that_takes_more_than_one_line(visit):
    page = visit("search.html?q=softmax").page
    expect(page.locator("#search-results").get_by_role("status")).to_contain_text("Pages found: ")
    told = page.locator("#search-results li", has=page.locator("a[href*=glossary]")).locator("p.context").first
    expect(told).to_have_text(re.compile("^Positive, sums to 1"))
    assert "\u2211" not in page.locator("#search-results").inner_text()


# As browsers do it whose settings forbid to keep anything, and one whose room is full
FORBIDDEN = "Object.defineProperty(window, 'localStorage', { configurable: true, get() { throw Error(); } });"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"


@pytest.mark.parametrize("script", [FORBIDDEN, FULL], ids=["forbidden", "full"])
def test_where_the_browser_keeps_nothing_the_search_finds_all_the_same(visit, script):
    one = visit("search.html?q=softmax", script=script)
    one.page.wait_for_selector("#search-results li a")
    assert one.errors == []


@pytest.mark.parametrize("width", [1200, 390, 320])
def test_what_scripts_add_to_a_page_moves_nothing(visit, width):
    page = visit("chapters/02_one_head.html", width=width).page
    places = """() => [...document.querySelectorAll("article, .header-center, .toc-header-icon, .of-this-page")]
      .map((el) => JSON.stringify(el.getBoundingClientRect()))"""
    moved = page.evaluate(places)
    page.evaluate("document.documentElement.classList.add('no-js')")
    assert page.evaluate(places) == moved


def test_the_search_icon_stands_clear_of_the_words(visit):
    page = visit("chapters/index.html").page
    room = page.locator(".sidebar-search").evaluate("""(box) => {
      const icon = getComputedStyle(box.parentElement, "::before");
      return parseFloat(getComputedStyle(box).paddingLeft) - parseFloat(icon.left) - parseFloat(icon.width);
    }""")
    assert room >= 4


def test_the_reference_is_in_sight(visit):
    page = visit("chapters/index.html").page
    for name in ("Notation", "Glossary", "Bibliography"):
        box = page.locator(".sidebar-tree a", has_text=name).bounding_box()
        assert box["y"] + box["height"] <= 900 and box["x"] + box["width"] <= 330


def test_code_wraps_on_a_phone(visit):
    page = visit("chapters/06_multi_head.html", width=390).page
    assert page.evaluate("""[...document.querySelectorAll("article .cell_input pre")]
      .filter((el) => el.scrollWidth > el.clientWidth).map((el) => el.textContent.slice(0, 60))""") == []


def test_a_cell_that_only_checks_is_one_line_until_it_is_opened(visit):
    page = visit("chapters/07_how_many_heads_lab.html").page
    fold = page.locator("details.fold").first
    summary, code = fold.locator("summary"), fold.locator(".cell_input pre")
    assert summary.inner_text().startswith("Holds: ") and not code.is_visible()
    summary.press("Enter")
    assert code.is_visible() and "Holds" not in code.inner_text()
    summary.press("Enter")
    page.emulate_media(media="print")
    assert summary.is_visible() and code.is_visible()


def test_the_code_of_a_table_is_one_word_until_it_is_opened_and_the_table_stands(visit):
    page = visit("chapters/07_how_many_heads_lab.html").page
    fold = page.locator("details.fold-code").first
    summary, code = fold.locator("summary"), fold.locator(".cell_input pre")
    output = fold.locator("xpath=following-sibling::*[1]")
    assert summary.inner_text() == "Code" and output.is_visible() and not code.is_visible()
    summary.press("Enter")
    assert code.is_visible()
    page.emulate_media(media="print")
    assert output.is_visible() and not summary.is_visible() and not code.is_visible()


def test_there_is_one_search_box_in_the_sidebar(visit):
    page = visit("chapters/index.html").page
    assert page.locator('form[role="search"]:visible').count() == 1


@pytest.mark.parametrize("how", pairwise(path=["chapters/01_soft_lookup.html", "search.html?q=softmax"],
                                         script=["", FORBIDDEN, FULL], scheme=["light", "dark"]), ids=str)
def test_the_switch_goes_through_the_schemes_and_keeps_one_where_the_browser_keeps_anything(visit, how):
    one, theme = visit(**how), "document.body.dataset.theme"
    schemes = [*{"light": ["dark", "light"], "dark": ["light", "dark"]}[how["scheme"]], "auto"]
    for wanted in [*schemes, *schemes, schemes[0]]:
        one.page.locator(".theme-toggle:visible").first.press("Enter")
        assert one.page.evaluate(theme) == wanted
    one.page.reload()
    assert one.page.evaluate(theme) == ("auto" if how["script"] else schemes[0]) and one.errors == []


@every_live_page
def test_without_javascript_a_figure_shows_its_picture_and_its_numbers(unscripted, page):
    tab = unscripted(page, width=1200, height=900)
    for figure in tab.locator(".live-figure").all():
        assert figure.locator(".live-first svg").bounding_box()["height"] > 50
        assert all(field.is_disabled() for field in figure.locator("input, select").all())
        figure.locator("summary").click()
        assert figure.locator("details.numbers pre").is_visible()


def test_every_figure_of_the_package_is_in_the_book_and_the_numbers_beside_it_are_those_of_mha():
    of_mha, found = {name: figure_called(name).text.strip() for name in FIGURES}, []
    everywhere = [name for page in LIVE for name in served.live_figures(page)]
    for page in LIVE:
        source = (served.HTML / page).read_text("utf8")
        shown = re.findall('<figure class="live-figure" role="group" aria-label="([^"]*)".*?<pre tabindex="0">(.*?)'
                           "</pre>", source, re.S)
        assert len(shown) == len(served.live_figures(page))
        names = served.live_figures(page)
        for (alt, numbers), name in zip(shown, names):
            alt, numbers, text = html.unescape(alt), html.unescape(numbers), of_mha[name]
            if everywhere.count(name) == 1:                             # else each opens at a setting of its own
                assert text.startswith(alt) and text.endswith(numbers), (page, name)
            assert alt.startswith(text.partition(".")[0]), (page, name)
        found += names
    assert {*found} == {*FIGURES} and all(figure_called(name).canvas.label.endswith(".") for name in FIGURES)


def test_a_word_of_the_glossary_answers_to_pointer_and_keyboard_and_escape_closes_it(visit):
    page = visit("chapters/06_multi_head_lab.html").page
    term = page.locator(".term", has_text="entropy").first
    meaning = term.locator(".meaning")
    for open_it in (term.locator("a").hover, term.locator("a").focus):
        open_it()
        page.wait_for_function("el => getComputedStyle(el).visibility === 'visible'", arg=meaning.element_handle())
        box, width = meaning.bounding_box(), page.viewport_size["width"]
        assert "number of keys" in meaning.inner_text() and box["x"] >= 0 and box["x"] + box["width"] <= width
        page.keyboard.press("Escape")
        assert not meaning.is_visible()
        page.mouse.move(0, 0)
    link = term.locator("a").get_attribute("href")
    glossary = (served.HTML / "chapters" / "glossary.html").read_text("utf8")
    assert link.startswith("glossary.html#") and f'id="{link.rpartition("#")[2]}"' in glossary
