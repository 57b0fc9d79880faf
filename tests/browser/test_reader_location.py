"""The book says where its reader is: in a chapter's head, at its end, and on the front page."""
import re
import time

import pytest
from playwright.sync_api import expect

import served
from mha.exercises import EXERCISES

PAGE, ITEMS = "chapters/02_one_head.html", [item for item in EXERCISES.values() if item.chapter == "02_one_head"]


@pytest.mark.parametrize("page, first", [("chapters/02_one_head.html", "2.1"),
                                         ("chapters/07_how_many_heads.html", "7.2")])
def test_a_chapter_counts_what_is_done_and_names_what_is_open(visit, page, first):
    """And those on the core path by themselves, where they are not all."""
    items = [item for item in EXERCISES.values() if item.chapter == page.split("/")[1].removesuffix(".html")]
    core = [item.id for item in items if item.core]
    path = (lambda words: f", {words} on the core path") if len(core) < len(items) else (lambda words: "")
    tab = visit(page).page
    head, end = tab.locator(".where-head"), tab.locator(".where-end")
    assert head.inner_text() == f"{len(items)} exercises{path(f'{len(core)} of them')}"
    assert f"0 of {len(items)} done" in end.inner_text() and "What comes:" in end.inner_text()
    tab.evaluate(f"mha.solve(mha.completed('{first}'))")
    done = path(f"1 of {len(core)}")
    assert head.inner_text() == f"1 of {len(items)} exercises done{done}"
    assert f"Exercises: 1 of {len(items)} done{done}." in end.inner_text()
    links = end.locator(".where-open a")
    assert links.all_inner_texts() == [id for id in core if id != first]
    for link in links.all():
        assert tab.locator(link.get_attribute("href")).count() == 1


def test_what_comes_has_one_stop_behind_its_title():
    ends = [(served.HTML / page).read_text("utf8").partition("What comes: ")[2] for page in served.chapters()]
    assert all(re.search(r"(\?</a>|[^?]</a>\.) ", end) for end in filter(None, ends))


def test_a_chapter_shows_its_place_in_the_whole_and_leads_there(visit):
    page = visit("chapters/03_query_and_key.html").page
    place = page.locator(".you-are-here")
    assert place.inner_text() == "You are here in the whole: query, key, score"
    assert place.locator(".is-lit").count() == 6               # three parts of two heads
    with page.expect_navigation():
        place.click()
    expect(page.locator(".live-figure output").first).to_have_text("2 \u00b7 queries")


def test_the_map_counts_minutes_and_exercises(visit):
    page = visit("chapters/index.html").page
    row = page.locator("article tr", has=page.get_by_role("link", name="2 \u00b7 One head"))
    assert row.locator("td").all_inner_texts()[-2:] == ["30 min", f"0 of {len(ITEMS)}"]


def test_the_front_page_goes_on_where_the_reader_was(visit):
    page = visit(PAGE).page
    front = page.url.replace("02_one_head", "index")
    page.goto(front)
    assert page.locator(".where-start").inner_text().startswith("Start: ")
    page.goto(page.url.replace("index", "02_one_head"))
    page.evaluate("document.querySelectorAll('article h2')[3].scrollIntoView()")
    title = page.locator("article h2").nth(3).evaluate("heading => heading.firstChild.textContent")
    page.wait_for_function("title => mha.store.get('place').title === title", arg=title)
    page.goto(front)
    assert title in page.locator(".where-start").inner_text()
    with page.expect_navigation():
        page.locator(".where-start a").click()
    assert page.url.split("#")[0].endswith(PAGE)
    place = "document.getElementById(location.hash.slice(1)).closest('section').querySelector('h2').textContent"
    assert title in page.evaluate(place)
    page.goto(front)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget everything").click()
    assert page.locator(".where-start").inner_text().startswith("Start: ")


# Is the current chapter's line all in its list, which scrolls, and in the window?
HERE = """
  () => {
    const { top, bottom } = document.querySelector(".sidebar-drawer .current-page").getBoundingClientRect();
    const list = document.querySelector(".sidebar-scroll").getBoundingClientRect();
    return bottom > top && top > Math.max(list.top, 0) - 1 && bottom < Math.min(list.bottom, innerHeight) + 1;
  }
"""


@pytest.mark.skipif(served.chromium() and len(served.pages()) < 10, reason="a chapter built alone lists no others")
@pytest.mark.parametrize("page", ["chapters/03_query_and_key.html", "chapters/11_sharing_heads.html"])
@pytest.mark.parametrize("width, heights", [(1200, [420, 900]), (390, [500, 844])])
def test_the_list_of_chapters_shows_the_one_that_is_read(visit, page, width, heights):
    tab = visit(page, width=width).page
    for size in (width, heights[0]), (width, heights[1]), (1600, 900) if width > 1000 else (320, 256):
        tab.set_viewport_size(dict(zip(("width", "height"), size)))
        if size != (width, heights[0]):
            tab.reload(wait_until="load")
        if width < 1000:
            tab.evaluate("document.getElementById('__navigation').click()")
        tab.wait_for_function(HERE)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_says_how_far_its_reader_is(visit, width):
    tab = visit(PAGE, width=width).page
    headings = tab.locator("article > section > section > h2")
    count = headings.count()
    place = tab.locator(".sidebar-drawer .how-far" if width == 1280 else ".mobile-header .how-far")
    assert place.text_content() == f"{count} sections"
    headings.nth(2).evaluate("(heading) => heading.scrollIntoView({ behavior: 'instant' })")
    tab.wait_for_function("(el) => el.textContent.startsWith('Section 3 of')", arg=place.element_handle())
    assert place.text_content() == f"Section 3 of {count}"
    share = "(el) => el.firstElementChild.getBoundingClientRect().width / el.getBoundingClientRect().width"
    scrolled = tab.evaluate("scrollY / (document.documentElement.scrollHeight - innerHeight)")
    assert 0 < scrolled < 1 and abs(place.evaluate(share) - scrolled) < .02


def test_the_way_on_can_be_seen(visit):
    tab = visit(PAGE).page
    light = """(el) => {
      const of = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
        .map((part) => (part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [.2126, .7152, .0722][i], 0);
      return [getComputedStyle(el).color, getComputedStyle(document.body).backgroundColor].map(of);
    }"""
    for arrow in tab.locator(".related-pages svg").all():
        ink, paper = arrow.evaluate(light)
        assert (paper + .05) / (ink + .05) > 4.5


def test_nothing_stands_above_the_title_that_a_reader_does_not_need(visit):
    tab = visit(PAGE, width=390).page
    title = tab.locator("h1").bounding_box()["y"]
    command = tab.locator(".of-this-page", has_text="python3 book.py lab")
    assert title < 110 and command.bounding_box()["y"] > title


def test_to_forget_everything_is_no_button_that_one_is_led_to(visit):
    tab = visit("chapters/index.html").page
    ground = "(el) => getComputedStyle(el).backgroundColor"
    add, forget = (tab.get_by_role("button", name=name).evaluate(ground) for name in ("Add it", "Forget everything"))
    assert forget == "rgba(0, 0, 0, 0)" != add


@pytest.mark.parametrize("way", ["reload", "back"])
def test_who_comes_back_finds_the_place_in_a_figure_that_starts_late(visit, way):
    tab = visit("chapters/00_the_whole.html", width=390).page
    tall = tab.locator(".live-figure").first.bounding_box()["height"]
    tab.evaluate("(y) => scrollTo({ top: y, behavior: 'instant' })", tall - 400)
    tab.evaluate(served.DRAWN)
    before = tab.evaluate("scrollY")
    tab.route("**/host.js*", lambda route: (time.sleep(1), route.continue_()))
    if way == "reload":
        tab.reload(wait_until="load")
    else:
        tab.goto(tab.url.replace("00_the_whole", "glossary"))
        tab.go_back(wait_until="load")
    tab.evaluate(served.SETTLED)
    assert abs(tab.evaluate("scrollY") - before) < 5
    assert tab.evaluate("document.querySelector('.live-figure').matches('.is-live')")
