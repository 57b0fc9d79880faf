"""Every page of the built site, at two widths, in light and dark."""
import pytest

import served

# The front door leads on at once; what it leads to is looked at.
PAGES = [page for page in served.pages() if page != "index.html"] if served.chromium() else []

every_page = pytest.mark.parametrize("page", PAGES)
every_screen = pytest.mark.parametrize("width, scheme", served.SCREENS)


@every_page
@every_screen
def test_no_error_reaches_the_console(look, page, width, scheme):
    assert look(page, width, scheme)["errors"] == []


@every_page
@every_screen
def test_nothing_is_asked_of_a_third_party(look, page, width, scheme):
    assert look(page, width, scheme)["foreign"] == []


@pytest.mark.parametrize("page, width, scheme", [(page, *screen) for page in PAGES
                                                 for screen in served.axe_screens(page)])
def test_axe_finds_nothing_by_any_of_its_rules(look, page, width, scheme):
    assert look(page, width, scheme)["axe"] == []


@every_page
@every_screen
def test_the_page_does_not_jump_while_it_loads(look, page, width, scheme):
    assert look(page, width, scheme)["shift"] < 0.05


@every_page
@every_screen
def test_nothing_sticks_out_sideways(look, page, width, scheme):
    assert look(page, width, scheme)["overflow"] <= 0


# What of the text and its controls lies outside the window and in no box that scrolls.
CUT = """
  () => {
    const scrolls = (el) => el.parentElement.closest("pre, .table-wrapper, .wide, svg, math");
    const out = ({ left, right }) => left < -1 || right > document.documentElement.clientWidth + 1;
    return [...document.querySelectorAll("article *")]
      .filter((el) => el.getClientRects().length && !scrolls(el) && out(el.getBoundingClientRect()))
      .map((el) => el.outerHTML.slice(0, 160));
  }
"""


@every_page
@pytest.mark.parametrize("width", [600, 320])
def test_nothing_is_cut_at_200_and_400_percent_of_a_screen_of_1200(visit, page, width):
    assert visit(page, width=width).page.evaluate(CUT) == []


@pytest.mark.parametrize("width", [390, 320])
@pytest.mark.parametrize("page, table", [("chapters/index.html", "#the-map"),
                                         ("chapters/06_multi_head.html", "#the-folklore-tested"),
                                         ("chapters/11_sharing_heads.html", "#the-folklore-tested")])
def test_on_a_phone_no_column_of_a_table_with_links_is_cut(visit, page, table, width):
    box = visit(page, width=width).page.locator(f"{table} .table-wrapper")
    assert box.evaluate("(box) => box.scrollWidth - box.clientWidth") <= 0


@every_page
@every_screen
def test_every_picture_and_control_has_a_name(look, page, width, scheme):
    assert look(page, width, scheme)["unnamed"] == []


@every_page
@every_screen
def test_the_words_in_a_picture_can_be_read(look, page, width, scheme):
    assert look(page, width, scheme)["small"] == []


@every_page
@pytest.mark.parametrize("width", [1200, 390])
def test_no_box_is_light_on_a_dark_page(look, page, width):
    assert look(page, width, "dark")["bright"] == []


@every_page
@every_screen
def test_every_live_figure_is_alive(look, page, width, scheme):
    assert look(page, width, scheme)["dead"] == 0


def test_the_front_door_leads_to_the_book(chrome, address):
    page = chrome.new_page()
    page.goto(address)
    page.wait_for_url("**/chapters/index.html")
    page.close()
