"""What a figure is to those who read it by ear, by keyboard, magnified or in their own colours."""
import io

import matplotlib.image
import pytest
from playwright.sync_api import expect

import served

WHOLE, CYCLE = "chapters/00_the_whole.html", "chapters/03_query_and_key.html"
PAGES = served.chapters() if served.chromium() else []
of_the_whole = pytest.mark.parametrize("page", [WHOLE])

@pytest.mark.parametrize("page", [CYCLE])
def test_the_ring_of_weights_is_named_for_what_it_draws_and_says_its_weights(visit, page):
    tab = visit(page).page
    figure = tab.locator(".live-figure", has=tab.locator('[data-figure="beats-cycle"]'))
    assert "arrows" in figure.get_attribute("aria-label") and "maps" not in figure.get_attribute("aria-label")
    ring = figure.locator(".graph svg[role=img]")

    def said():
        weights = figure.locator("[data-figure]").evaluate("(root) => root.numbers.weight")
        text = ring.get_attribute("aria-label")
        return [f"{weight:.2f}" in text for place, weight in enumerate(weights) if place % 4]

    assert said() == [True] * 6
    figure.locator("input[type=range]").first.press("Home")
    tab.evaluate(served.DRAWN)
    assert said() == [True] * 6


# Presses a button of each kind, on whatever page it stands, as often as the whole has steps, or until they go;
# where is the focus then? Last those that change all of the page.
PRESSED = """
  async (known) => {
    const [lost, kinds] = [[], new Map(known)];
    const later = () => new Promise((done) => setTimeout(done));
    const sees = (el) => el.checkVisibility({ visibilityProperty: true });
    const late = ".bet-again, .bet-off, .bet-on";
    const press = async (button) => {
      const name = button.outerHTML.slice(0, 90);
      for (let count = 0; count < 12 && button.isConnected && sees(button); count++) {
        button.focus();
        if (document.activeElement !== button) break;
        button.click();
        await flushFrames();
        if (document.activeElement === document.body) lost.push(`${name}, pressed ${count + 1} times`);
      }
      await later();
      if (document.activeElement === document.body) lost.push(`${name}, a little later`);
    };
    const kindOf = (el) => `${el.className} ${el.closest("[data-figure]")?.dataset.figure} ${el.dataset.do}`;
    for (const which of [`button:not(${late})`, late])
      for (const button of document.querySelectorAll(`article :is(${which})`)) {
        const pressed = kinds.get(kindOf(button)) ?? 0;
        if (pressed || button.matches("[aria-disabled=true]") || !sees(button)) continue;
        kinds.set(kindOf(button), pressed + 1);
        await press(button);
      }
    return [lost, [...kinds]];
  }
"""
KNOWN_KINDS = {}


@pytest.mark.parametrize("page", PAGES)
def test_no_button_loses_the_focus_when_it_is_pressed(opened, page):
    one = opened(page, bets=True)
    lost, kinds = one.page.evaluate(PRESSED, [*KNOWN_KINDS.items()])
    KNOWN_KINDS.update(kinds)
    one.page.evaluate("mha.store.forget()")
    one.errors.clear()                                       # it may not write what it copies
    assert lost == []


@of_the_whole
def test_the_arrows_stop_at_both_ends_and_say_so(visit, page):
    tab = visit(page).page
    back, forth = tab.get_by_role("button", name="one step back"), tab.get_by_role("button", name="next step")
    assert back.get_attribute("aria-disabled") == "true" and forth.get_attribute("aria-disabled") == "false"
    for arrow, end in ((forth, "11 \u00b7 added"), (back, "the whole")):
        arrow.focus()
        for _ in range(13):
            tab.keyboard.press("Enter")
        expect(tab.locator(".live-figure output").first).to_have_text(end)
        expect(arrow).to_have_attribute("aria-disabled", "true")
        assert arrow.evaluate("(arrow) => arrow === document.activeElement")


# Of the lanes, what a step makes that is not in sight between the top of the window and the sentence at its foot
UNSEEN = """
  () => {
    const foot = document.querySelector(".speech").getBoundingClientRect().top;
    return [...document.querySelectorAll(".lane .entry.made")].filter((el) => {
      const { top, bottom } = el.getBoundingClientRect();
      return top < 0 || bottom > foot;
    }).map((el) => el.dataset.at);
  }
"""


@pytest.mark.parametrize("width, height", [(1200, 900), (1440, 900), (1366, 768)])
def test_who_steps_on_from_a_try_sees_what_both_heads_make(visit, width, height):
    tab = visit(WHOLE, width=width).page
    tab.set_viewport_size({"width": width, "height": height})
    tab.locator(".try[role]").first.click()
    for step in range(2, 12):                       # the first is what it asks to try
        tab.get_by_role("button", name="next step").click()
        expect(tab.locator(".live-figure output").first).to_contain_text(f"{step} · ")
        tab.evaluate(served.DRAWN)
        assert not tab.evaluate(UNSEEN), step


# The share of the window that stays covered, whatever is scrolled past.
COVERED = """
  () => {
    const stuck = (el) => ["sticky", "fixed"].includes(getComputedStyle(el).position);
    const seen = [...document.querySelectorAll(".mobile-header, article *")].filter(stuck)
      .map((el) => el.getBoundingClientRect()).filter(({ top, bottom }) => bottom > 0 && top < innerHeight);
    const covered = seen.map(({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0));
    return covered.reduce((a, b) => a + b, 0) / innerHeight;
  }
"""


def magnified(tab):
    """A window of 1280 x 1024 at 400 percent, with the picture of the whole in it."""
    tab.set_viewport_size({"width": 320, "height": 256})
    tab.locator(".glance").evaluate("(el) => el.scrollIntoView({ block: 'start', behavior: 'instant' })")


@of_the_whole
def test_at_400_percent_the_window_is_for_the_figure(visit, page):
    tab = visit(page, width=320).page
    magnified(tab)
    assert tab.evaluate(COVERED) < .2
    tab.evaluate(served.TO_THE_FOOT, ".go.next")
    tab.get_by_role("button", name="next step").press("Enter")
    tab.evaluate(served.DRAWN)
    assert tab.evaluate(served.IN_SIGHT, ".go.next")         # to be pressed again, beside the sentence


@of_the_whole
def test_at_400_percent_before_and_after_stand_in_the_card_with_ribbons_between(visit, page):
    tab = visit(page, width=320).page
    magnified(tab)
    box = {name: tab.locator(name).first.bounding_box() for name in (".glance", ".flow", ".first", ".last")}
    card = box[".glance"]["x"], box[".glance"]["x"] + box[".glance"]["width"]
    assert box[".last"]["x"] + box[".last"]["width"] <= card[1] + .5 and box[".first"]["x"] >= card[0] - .5
    assert box[".flow"]["width"] > 60
    assert all(word.is_visible() for word in tab.locator(".glance .from [data-word]").all())  # where ribbons begin


@of_the_whole
@pytest.mark.parametrize("width", [320, 360, 390, 500, 600, 1200])
def test_the_names_of_columns_stand_on_one_line_and_before_and_after_at_one_height(opened, page, width):
    tab = opened(page, width=390).page
    tab.set_viewport_size({"width": width, "height": 900})
    tab.evaluate(served.DRAWN)
    lines = """(all) => all.map((el) => { const text = document.createRange(); text.selectNodeContents(el);
      return text.getClientRects().length; })"""
    assert set(tab.locator(".names.features span").evaluate_all(lines)) <= {0, 1}
    before, after = (tab.locator(f".{end} .end-name").bounding_box()["y"] for end in ("first", "last"))
    assert abs(before - after) < 1 or width <= 360           # there, before stands above


@of_the_whole
def test_nothing_that_the_sentence_covers_stands_out_beside_it(visit, page):
    tab = visit(page, width=390).page
    tab.evaluate(served.TO_THE_FOOT, ".glance .names .here") # where the mark of a word is behind the sentence
    tab.evaluate(served.DRAWN)
    box = tab.locator(".speech").bounding_box()
    strip = {"x": box["x"] - 9, "y": box["y"] + 2, "width": 8, "height": box["height"] - 4}
    shown = matplotlib.image.imread(io.BytesIO(tab.screenshot(clip=strip)))
    assert (shown == shown[0, 0]).all()


def test_forced_colours_keep_the_search_icon(visit):
    tab = visit("chapters/index.html").page
    tab.emulate_media(forced_colors="active")
    ink, paper = tab.locator(".sidebar-search-container").evaluate("""(box) =>
      [getComputedStyle(box, "::before"), getComputedStyle(box)].map((look) => look.backgroundColor)""")
    assert ink != paper and ink.startswith("rgb(")


@of_the_whole
def test_forced_colours_keep_the_frames_what_is_used_and_the_next_arrow(visit, page):
    tab = visit(page).page
    tab.emulate_media(forced_colors="active")
    for _ in range(5):
        tab.get_by_role("button", name="next step").press("Enter")
    tab.evaluate(served.DRAWN)
    width = "(el) => getComputedStyle(el).outlineStyle === 'none' ? 0 : parseFloat(getComputedStyle(el).outlineWidth)"
    plain, used = (tab.locator(f".entry{look}").first.evaluate(width) for look in (":not(.used, .made)", ".used"))
    assert 0 < plain < used
    colour = "(el) => [getComputedStyle(el).backgroundColor, getComputedStyle(document.body).backgroundColor]"
    disc, ground = tab.locator(".go.next").evaluate(colour)
    assert disc != ground
    hidden = tab.locator(".entry.blank").first.evaluate("(el) => getComputedStyle(el).color")
    assert hidden == "rgba(0, 0, 0, 0)"                      # what is not yet made is not there to read


@pytest.mark.parametrize("box, drawer", [("__navigation", ".sidebar-drawer"), ("__toc", ".toc-drawer")])
def test_a_drawer_opens_by_enter_takes_the_focus_and_closes_by_escape(visit, box, drawer):
    tab = visit(PAGES[0], width=390).page
    tab.locator(f"#{box}").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_function("(drawer) => document.activeElement.closest(drawer)", arg=drawer)
    tab.keyboard.press("Escape")
    assert tab.evaluate("(id) => [document.activeElement.id, document.getElementById(id).checked]", box) == [box, False]


@pytest.mark.parametrize("box, drawer", [("__navigation", ".sidebar-drawer"), ("__toc", ".toc-drawer")])
def test_an_open_drawer_holds_the_focus(visit, box, drawer):
    """Nothing else has it, at either end of the drawer's list: then the browser has its turn."""
    tab = visit(PAGES[0], width=390).page
    outside = """(drawer) => {
      const stops = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")];
      return stops.filter((el) => {
        el.focus();
        return document.activeElement === el && !el.closest(drawer);
      }).length;
    }"""
    free = tab.evaluate(outside, drawer)
    tab.locator(f"#{box}").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_function("(drawer) => document.activeElement.closest(drawer)", arg=drawer)
    assert tab.evaluate(outside, drawer) == 0 < free
    tab.locator(f"{drawer} a:visible").first.focus()
    tab.keyboard.press("Shift+Tab")
    assert tab.evaluate("(drawer) => document.activeElement.matches('body') || document.activeElement.closest(drawer)",
                        drawer)
    tab.mouse.click(*((385, 450) if box == "__navigation" else (5, 450)))           # beside it
    tab.wait_for_function("(id) => !document.getElementById(id).checked", arg=box)
    assert tab.evaluate(outside, drawer) == free
    tab.evaluate("(id) => document.getElementById(id).click()", box)
    tab.set_viewport_size({"width": 1600, "height": 900})
    tab.wait_for_function("() => !document.querySelector('[inert]')")


OPEN_AND_HELD = """() => [".sidebar-toggle:checked", "[inert]"].map((what) => document.querySelectorAll(what).length)"""


def test_the_contents_close_when_the_page_itself_is_chosen(visit):
    tab = visit(WHOLE, width=390).page
    tab.locator("#__navigation").check(force=True)
    tab.locator(".sidebar-drawer .current-page > a").press("Enter")
    assert tab.evaluate(OPEN_AND_HELD) == [0, 0]


@pytest.mark.parametrize("way", ["reload", "search", "back"])
def test_a_drawer_that_the_browser_brings_back_open_holds_the_page(visit, way):
    tab = visit(WHOLE, width=390).page
    tab.locator("#__navigation").check(force=True)
    if way == "reload":
        tab.reload()
    else:
        if way == "search":
            tab.locator(".sidebar-search").fill("softmax")
            tab.locator(".sidebar-search").press("Enter")
            tab.wait_for_url("**/search.html?q=softmax")
        else:
            tab.evaluate("location.href = '01_soft_lookup.html'")
            tab.wait_for_url("**/01_soft_lookup.html")
        tab.go_back()
        tab.wait_for_url("**/" + WHOLE)
    tab.evaluate(served.SETTLED)
    is_open, held = tab.evaluate(OPEN_AND_HELD)
    assert bool(is_open) == bool(held)


LARGE = pytest.mark.parametrize("size", [24, 32])


def with_large_letters(visit, size):
    tab = visit(PAGES[2], width=360).page
    tab.add_style_tag(content=f"html {{ font-size: {size}px }}")
    return tab


@LARGE
def test_the_bar_of_a_phone_holds_large_letters(visit, size):
    tab = with_large_letters(visit, size)
    bar, title, right = (tab.locator(f".{name}").bounding_box()
                         for name in ("mobile-header", "header-center a", "header-right"))
    assert bar["y"] <= title["y"] and title["y"] + title["height"] <= bar["y"] + bar["height"]
    assert title["height"] < 2 * size and title["x"] + title["width"] <= right["x"] + .5
    assert right["x"] + right["width"] <= 360 == tab.evaluate("document.documentElement.scrollWidth")


@pytest.mark.skipif(served.chromium() and len(served.pages()) < 10, reason="a chapter built alone lists no others")
@pytest.mark.parametrize("width", [1200, 390])
def test_a_lab_is_unfolded_in_the_list_of_chapters_by_keyboard(visit, width):
    tab = visit("chapters/03_query_and_key.html", width=width).page
    if width < 1000:
        tab.evaluate("document.getElementById('__navigation').click()")
    chapter = tab.locator(".sidebar-tree li:has(> .toctree-checkbox)", has_text="5 · Masks").last
    lab = chapter.locator("ul a").first
    expect(lab).to_be_hidden()
    chapter.locator("> a").focus()
    tab.keyboard.press("Tab")
    expect(chapter.locator("> .toctree-checkbox")).to_be_focused()
    assert chapter.locator("> label").evaluate("(label) => getComputedStyle(label).outlineStyle") == "solid"
    tab.keyboard.press("Space")
    expect(lab).to_be_visible()


@LARGE
@pytest.mark.parametrize("box, drawer", [("__navigation", ".sidebar-drawer"), ("__toc", ".toc-drawer")])
def test_beside_a_drawer_with_large_letters_a_touch_closes_it(visit, size, box, drawer):
    tab = with_large_letters(visit, size)
    tab.evaluate("(id) => document.getElementById(id).click()", box)
    tab.evaluate(served.DRAWN)
    whole = """(el) => {
      const { left, right } = el.getBoundingClientRect();
      const parts = [...el.querySelectorAll("*")].filter((part) => part.checkVisibility())
        .map((part) => part.getBoundingClientRect());
      return left >= 0 && right <= innerWidth && right - left <= innerWidth - 44
        && parts.every((part) => part.left >= left - .5 && part.right <= right + .5);
    }"""
    assert tab.locator(drawer).evaluate(whole)
    tab.mouse.click(355 if box == "__navigation" else 5, 450)
    tab.wait_for_function("(id) => !document.getElementById(id).checked", arg=box)
    tab.evaluate(served.DRAWN)
    assert not tab.locator(drawer).is_visible()
    assert tab.locator(drawer).evaluate("""(el) => {
      const { left, right } = el.getBoundingClientRect();
      return right <= 0 || left >= innerWidth;
    }""")


@LARGE
def test_with_large_letters_each_slider_shows_its_value(visit, size):
    tab = visit("chapters/03_query_and_key.html", width=390).page
    tab.add_style_tag(content=f"html {{ font-size: {size}px }}")
    tab.evaluate(served.DRAWN)
    assert tab.evaluate("""() => [...document.querySelectorAll(".live-control > output")]
      .filter((value) => value.closest(".live-controls").offsetWidth) // 0 where a solution is folded
      .filter((value) => value.getBoundingClientRect().right > innerWidth)
      .map((value) => value.parentElement.textContent)""") == []


@pytest.mark.parametrize("width", [320, 390])
def test_at_the_foot_of_a_phone_no_title_is_broken_inside_a_word(visit, width):
    tab = visit(WHOLE, width=width).page
    for title in tab.locator(".related-pages .title").all():
        assert title.bounding_box()["width"] > 90


def test_where_nothing_is_on_the_page_to_be_shown_nothing_offers_to_show_it():
    for page in served.pages():
        html = (served.HTML / page).read_text("utf8")
        assert ('id="__toc"' in html) == ('class="toc-tree"' in html), page


@pytest.mark.parametrize("width", [1200, 390])
def test_the_text_stays_where_it_is_while_the_focus_is_in_what_is_always_in_sight(visit, width):
    page = visit("chapters/02_one_head.html", width=width).page
    page.evaluate("scrollTo({ top: 3000, behavior: 'instant' })")
    start, places = page.evaluate("scrollY"), []
    for _ in range(4):
        page.keyboard.press("Tab")
        page.wait_for_timeout(100)
        places.append(page.evaluate("scrollY"))
    assert start > 2000 and places == [start] * 4
