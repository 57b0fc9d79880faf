"""Every page of the built site, wide and narrow, in light and dark, magnified, on paper and in forced colours."""
import re

import pytest

import served
from inspection import inspect

# The front door leads on at once; what it leads to is looked at.
PAGES = [page for page in served.pages() if page != "index.html"] if served.chromium() else []


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1200, 390])
def test_nothing_of_what_is_asked_of_every_page_is_wrong(opened, page, width):
    found = inspect(opened(page, width=width), page)
    assert {asked: faults for asked, faults in found.items() if faults} == {}


@pytest.mark.parametrize("width", [390, 320])
@pytest.mark.parametrize("page, table", [("chapters/index.html", "#the-map"),
                                         ("chapters/06_multi_head_lab.html", "#the-folklore-tested"),
                                         ("chapters/11_sharing_heads_lab.html", "#the-folklore-tested")])
def test_on_a_phone_no_column_of_a_table_with_links_is_cut(visit, page, table, width):
    box = visit(page, width=width).page.locator(f"{table} .table-wrapper")
    assert box.evaluate("(box) => box.scrollWidth - box.clientWidth") <= 0


@pytest.mark.parametrize("page", [page for page in PAGES if re.match(r"chapters/\d\d", page) and "_lab" not in page])
def test_a_core_page_and_all_that_it_loads_weigh_at_most_250_kib(visit, page):
    _, packed, _ = visit(page).weight()
    assert packed <= 250


def test_the_front_door_leads_to_the_book(chrome, address):
    page = chrome.new_page()
    page.goto(address)
    page.wait_for_url("**/chapters/index.html")
    page.close()
