"""What a reader has is kept under one key, with a version; what the first version of the book kept is taken over, and
nothing is lost to bad JSON, to a full browser or to a newer version.
"""
import json

import pytest

import served
from mha.exercises.engine import progress
from mha.exercises.engine.question import read_number
from test_exercises_in_pages import FULL

LOOKUP, HEAD, MAP = "chapters/01_soft_lookup.html", "chapters/02_one_head.html", "chapters/index.html"
LAB = "chapters/01_soft_lookup_lab.html"
# A reader of the first version: exercises, a guess that came after a wrong one, own words, blanks, claims, a place
OLD = {
    "mha-progress": {"version": 1, "solved": ["2.5", "c2.1", "B.3"]},
    "mha-bets": {"1.6": "a", "6.7+": 1},
    "mha-claims": {"2": "wrong"},
    "mha-words": {"2.9": "A sum spreads.", "2.9+": [0, 1], "2.5": "25", "2.5+": "25"},
    "mha-blanks": {"2.1": [2, "q @ k.mT"], "2.1+": ["q @ k.mT"]},
    "mha-where": {"page": "02_one_head.html", "anchor": "here", "title": "1. A section", "of": "One head"},
}
NEW = {"version": 2, "solved": {"2.5": 1, "c2.1": 1, "B.3": 1}, "bets": OLD["mha-bets"], "claims": OLD["mha-claims"],
       "words": OLD["mha-words"], "blanks": OLD["mha-blanks"], "place": OLD["mha-where"]}
KEPT = "Object.fromEntries(Object.entries(localStorage).filter(([name]) => name.startsWith('mha')))"


def before(**stored):
    """A script that finds these keys in a browser that has no key of today, and only once."""
    puts = "".join(f"localStorage.setItem({json.dumps(name)}, {json.dumps(text)});" for name, text in stored.items())
    return f"if (!sessionStorage.put) {{ sessionStorage.put = 1; {puts} }}"


def old(**changed):
    return before(**{name: json.dumps(part) for name, part in OLD.items()} | changed)


def kept(page):
    return {name: json.loads(text) for name, text in page.evaluate(KEPT).items()}


def test_all_that_a_reader_had_is_there_under_one_key(visit):
    one = visit(HEAD, script=old(), bets=True)
    assert kept(one.page) == {"mha": NEW} and one.errors == []
    assert one.page.locator("#exercise-2-5 .done").inner_text().strip() == "✓ solved"
    assert one.page.locator("#exercise-2-1 .done").inner_text().strip() == "◐ completed"
    assert one.page.locator("#ask-2-9 textarea").input_value() == "A sum spreads."
    assert one.page.locator("#ask-2-9 .ask-checklist input:checked").count() == 2
    assert one.page.locator("#ask-2-5 input").input_value() == "25"
    assert "25 is too large." in one.page.locator("#ask-2-5 .ask-reply").inner_text()
    assert one.page.locator("#complete-2-1 select").first.evaluate("el => el.selectedOptions[0].text") == "q @ k.mT"
    one.page.goto(one.page.url.replace(HEAD, LAB))
    assert one.page.locator("#ask-1-6.is-made").count() == 1
    one.page.goto(one.page.url.replace(LAB, MAP))
    assert "Go on: 1. A section" in one.page.locator(".where-start").inner_text()
    assert progress.decode(one.page.locator("#progress-out").input_value()) == ["2.5", "B.3", "c2.1"]
    one.page.goto(one.page.url.replace(MAP, "chapters/A_folklore.html"))
    assert one.page.locator("#claim-2.is-judged").count() == 1


def test_who_read_without_bets_still_does(visit):
    one = visit(LOOKUP, script=before(**{"mha-bets-off": "1"}), bets=True)
    assert one.page.locator(".bet-cover[hidden]").count() == 0
    assert kept(one.page) == {"mha": {"version": 2, "settings": {"bets": "off"}}}


@pytest.mark.parametrize("bad", [dict.fromkeys([*OLD][::2], "5"), dict.fromkeys([*OLD][1::2], "{"), *(
    {"mha-progress": text} for text in ("{", '{"version": 99, "solved": ["2.6"]}', '{"version": 1, "solved": "x"}'))])
def test_of_old_keys_those_that_cannot_be_read_stay_and_lose_no_other(visit, bad):
    one = visit(HEAD, script=old(**bad), bets=True)
    parts = {{"mha-progress": "solved", "mha-where": "place"}.get(name, name.removeprefix("mha-")) for name in bad}
    assert bad.items() <= one.page.evaluate("({ ...localStorage })").items()
    assert json.loads(one.page.evaluate("localStorage.mha")) == {key: NEW[key] for key in NEW if key not in parts}
    assert one.errors == []


def test_what_a_page_of_the_first_version_writes_later_is_added(visit):
    page = visit(HEAD, script=old(), bets=True).page
    page.evaluate("localStorage.setItem('mha-progress', '{\"version\": 1, \"solved\": [\"2.6\"]}')")
    page.reload()
    assert kept(page) == {"mha": {**NEW, "solved": {**NEW["solved"], "2.6": 1}}}


def test_in_a_full_browser_the_old_keys_stay_and_all_is_there(visit):
    one = visit(HEAD, script=old() + FULL, bets=True)
    assert kept(one.page) == OLD and one.errors == []
    assert one.page.locator("#exercise-2-5 .done").count() == 1


@pytest.mark.parametrize("text", ["{", "5", "null", "[]"])
def test_what_cannot_be_read_is_set_aside_and_the_reader_begins_anew(visit, text):
    one = visit(HEAD, script=before(mha=text), bets=True)
    solve(one.page)
    assert json.loads(one.page.evaluate("localStorage.mha"))["solved"] == {"2.5": 1}
    assert one.page.evaluate("localStorage.getItem('mha-unreadable')") == text and one.errors == []


@pytest.mark.parametrize("stored", ["5", "null", '"x"', '{"2.1": 5, "2.5": [], "2.9+": [7], "02_one_head:0": "a"}'])
def test_parts_that_cannot_be_read_do_no_harm(visit, stored):
    parts = ", ".join(f'"{name}": {stored}' for name in ("bets", "words", "blanks", "claims"))
    one = visit(HEAD, script=served.keeping(parts), bets=True)
    assert one.page.locator("#bet-1 + .bet-cover[hidden]").count() == 1
    one.page.locator("#bet-1 .bet-show").click()
    solve(one.page)
    for select in one.page.locator("#complete-2-1 select").all():
        select.select_option(value="0")
    one.page.locator("#complete-2-1 button[type=submit]").click()
    assert one.page.locator("#complete-2-1 .ask-verdict").inner_text().startswith("✓ Right")
    assert one.page.locator("#bet-1 + .bet-cover[hidden]").count() == 0 and one.errors == []


def test_what_a_newer_version_keeps_stays_as_it_is(visit):
    text = '{"version": 99, "solved": {"2.6": 1}}'
    one = visit(HEAD, script=before(mha=text, **{"mha-claims": "{\"2\": \"wrong\"}"}), bets=True)
    solve(one.page)
    assert one.page.locator("#exercise-2-6 .done").count() == 0 and one.errors == []
    assert kept(one.page) == {"mha": json.loads(text), "mha-claims": {"2": "wrong"}}
    one.page.goto(one.page.url.replace(HEAD, MAP))
    assert "keeps nothing" in one.page.locator(".progress-panel .ask-reply").inner_text()


def solve(page):
    page.locator("#ask-2-5 input").fill("24")
    page.locator("#ask-2-5 input").press("Enter")
    page.wait_for_selector("#exercise-2-5 .done")


def test_two_tabs_keep_what_both_were_told(chrome, address):
    context = chrome.new_context()
    tabs = [context.new_page(), context.new_page()]
    for tab in tabs:
        tab.goto(address + HEAD)
    tabs[1].locator("#ask-2-9 textarea").fill("Their words")
    tabs[1].locator("#ask-2-9 textarea").blur()
    solve(tabs[0])
    tabs[1].wait_for_selector("#exercise-2-5 .done")
    stored = kept(tabs[1])["mha"]
    assert stored["solved"] == {"2.5": 1} and stored["words"]["2.9"] == "Their words" and stored["words"]["2.5"] == "24"
    context.close()


def test_numbers_are_read_as_the_package_reads_them(visit):
    written = ["0.25", "0,25", "1/4", " .25 ", "25 %", "2.5e-1", "-3", "+3", "a", "1,050,624", "1 050 624", "1'000",
               "1,000", "0,546", "\u22120.5", "1/0", "0x10", "--1", "1e3", "1.", "3/ 4", "12 345,6", "1,050,62",
               "256.", "256,", "3./4", "25. %", "1.e2", "1,050,624.", "1,000.", "1. 000", "1..", ".", "1e400", "-1e400"]
    read = visit(HEAD).page.evaluate("(written) => written.map(mha.readNumber)", written)
    assert read == [read_number(text) for text in written]
