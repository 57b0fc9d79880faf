"""The book says where its reader is: in a chapter's head, at its end, and on the front page."""
from mha.exercises import EXERCISES

PAGE, ITEMS = "chapters/02_one_head.html", [item for item in EXERCISES.values() if item.chapter == "02_one_head"]
CORE = [item for item in ITEMS if item.core]


def test_a_chapter_counts_what_is_done_and_names_what_is_open(visit):
    page = visit(PAGE).page
    head, end = page.locator(".where-head"), page.locator(".where-end")
    assert head.inner_text() == f"{len(ITEMS)} exercises, {len(CORE)} of them on the core path"
    assert f"0 of {len(ITEMS)} done" in end.inner_text() and "What comes:" in end.inner_text()
    page.evaluate("mhaExercises.completed('2.1')")
    path = f"1 of {len(CORE)} on the core path"
    assert head.inner_text() == f"1 of {len(ITEMS)} exercises done, {path}"
    assert f"Exercises: 1 of {len(ITEMS)} done, {path}." in end.inner_text()
    links = end.locator(".where-open a")
    assert links.all_inner_texts() == [item.id for item in CORE if item.id != "2.1"]
    for link in links.all():
        assert page.locator(link.get_attribute("href")).count() == 1


def test_a_chapter_shows_its_place_in_the_whole_and_leads_there(visit):
    page = visit("chapters/03_query_and_key.html").page
    place = page.locator(".you-are-here")
    assert place.inner_text() == "You are here in the whole: query, key, score"
    assert place.locator(".is-lit").count() == 6               # three parts of two heads
    with page.expect_navigation():
        place.click()
    assert page.locator(".live-figure output").first.inner_text() == "2 \u00b7 queries"


def test_the_map_counts_minutes_and_exercises(visit):
    page = visit("chapters/index.html").page
    row = page.locator("article tr", has=page.get_by_role("link", name="2 \u00b7 One head"))
    assert row.locator("td").all_inner_texts()[-2:] == ["25 min", f"0 of {len(ITEMS)}"]


def test_the_front_page_goes_on_where_the_reader_was(visit):
    page = visit(PAGE).page
    front = page.url.replace("02_one_head", "index")
    page.goto(front)
    assert page.locator(".where-start").inner_text().startswith("Start: ")
    page.goto(page.url.replace("index", "02_one_head"))
    page.evaluate("document.querySelectorAll('article h2')[3].scrollIntoView()")
    title = page.locator("article h2").nth(3).evaluate("heading => heading.firstChild.textContent")
    page.wait_for_function("title => localStorage.getItem('mha-where')?.includes(title)", arg=title)
    page.goto(front)
    assert title in page.locator(".where-start").inner_text()
    with page.expect_navigation():
        page.locator(".where-start a").click()
    assert page.url.split("#")[0].endswith(PAGE)
    place = "document.getElementById(location.hash.slice(1)).closest('section').querySelector('h2').textContent"
    assert title in page.evaluate(place)
