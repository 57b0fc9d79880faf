"""What a chapter asks the reader to try, its button does, in the figure before it."""
import json

import pytest
from playwright.sync_api import expect

import served
from operate import READ, unpack
from test_figures import compare, open_figure

WHOLE, LOOKUP = "chapters/00_the_whole.html", "chapters/01_soft_lookup.html"
LIVE = [page for page in served.chapters() if served.live_figures(page)]
PAGES = [page for page in served.chapters() if "class=\"try\"" in (served.HTML / page).read_text("utf8")]
STATE = """
  (button) => {
    const before = (one) => one.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
    const figures = [...document.querySelectorAll(".live-figure")];
    const figure = figures.filter(before).at(-1) ?? figures[0];
    return figure.settings.holds(JSON.parse(button.dataset.set));
  }
"""


# What each button brings, pressed one after the other from above and then from below, where every control is moved to
# its end before each: the buttons that bring another thing then
ANOTHER = """
  () => {
    const follows = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
    const figures = [...document.querySelectorAll(".live-figure")];
    const buttons = [...document.querySelectorAll(".try[role]")];
    const figureOf = (button) => figures.filter((figure) => follows(figure, button)).at(-1) ?? figures[0];
    const fields = (figure) => [...figure.querySelectorAll(".live-control :is(input, select)")];
    function shown(figure) {
      const stands = fields(figure).map((field) => (/radio|checkbox/.test(field.type) ? field.checked : field.value));
      return JSON.stringify([stands, figure.querySelector("[data-figure]").numbers]);
    }
    function scramble(figure) {
      for (const field of fields(figure)) {
        if (field.type === "checkbox") field.checked = !field.checked;
        else if (field.type === "range") field.value = field.max;
        else if (field.type === "radio") field.checked = true;
        else field.selectedIndex = field.length - 1;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
      flushFrames();
    }
    const press = (button) => {
      button.click();
      flushFrames();
      return shown(figureOf(button));
    };
    const first = new Map(buttons.map((button) => [button, press(button)]));
    return buttons.reverse().filter((button) => {
      scramble(figureOf(button));
      return press(button) !== first.get(button);
    }).map((button) => button.textContent);
  }
"""


@pytest.mark.parametrize("page", PAGES)
def test_what_a_try_brings_does_not_depend_on_what_was_done_before(opened, page):
    assert opened(page).page.evaluate(ANOTHER) == []


def test_there_are_pages_with_something_to_try():
    assert WHOLE in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_every_try_is_a_button_that_brings_its_figure_there(opened, page):
    tab = opened(page).page
    assert tab.locator(".try:not([role])").count() == 0, "a try names what its figure does not have"
    for button in tab.locator(".try[role]").all():
        button.evaluate("(button) => button.click()")
        assert button.evaluate(STATE), button.get_attribute("data-set")
        assert "(tried)" in button.evaluate("(button) => button.textContent")


@pytest.mark.parametrize("page", ["chapters/05_masks.html", "chapters/09_pruning.html"])
def test_a_try_brings_what_its_controls_set_in_the_drawing(visit, page):
    """The mask that is painted and the heads that are off are no controls, but a list and a slider set them."""
    tab, figure = open_figure(visit, page, 0)
    buttons = [button for button in tab.locator(".try[role]").all()
               if set(json.loads(button.get_attribute("data-set"))) <= set(figure.controls)]
    assert len(buttons) >= 2
    for button in buttons:
        button.evaluate("(button) => button.click()")
        tab.evaluate("flushFrames()")
        said = json.loads(button.get_attribute("data-set"))
        setting = figure.setting() | {name: dict(getattr(figure.controls[name], "options", ())).get(value, value)
                                      for name, value in said.items()}
        compare(unpack(tab.evaluate(READ, 0)), figure.numbers(**setting), setting)


def test_whoever_brings_the_figure_there_by_hand_has_found_it(visit):
    tab = visit(WHOLE).page
    button = tab.locator(".try[role]").first
    assert json.loads(button.get_attribute("data-set")) == {"step": "1 · words"}
    tab.locator(".go.next").click()
    tab.wait_for_function("() => document.querySelector('.try[role]').classList.contains('is-found')")


def test_a_figure_out_of_sight_is_shown_and_a_button_leads_back(visit):
    tab = visit(WHOLE).page
    tab.emulate_media(reduced_motion="reduce")
    button = tab.locator(".try[role]").last
    button.scroll_into_view_if_needed()
    was = tab.evaluate("scrollY")
    button.press("Enter")
    tab.wait_for_function("(was) => scrollY < was - 500", arg=was)
    expect(tab.get_by_role("button", name="Back to the text")).to_be_focused()
    tab.keyboard.press("Enter")
    tab.wait_for_function("(was) => Math.abs(scrollY - was) < innerHeight", arg=was)
    assert tab.locator(".try-back").count() == 0


# Presses every button of a page that asks to try something: where does the focus go that nobody sees, and what stands
# at the foot of the window, or is moved there, and is not whole?
UNSEEN = """
  async () => {
    const lost = [];
    const isWhole = (el) => {
      const { left, top, right, bottom } = el.getBoundingClientRect();
      const corners = [[left + 2, top + 2], [right - 2, bottom - 2]];
      return corners.every((at) => el.contains(document.elementFromPoint(...at)));
    };
    const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
    for (const button of document.querySelectorAll(".try[role]")) {
      button.scrollIntoView({ block: "center", behavior: "instant" });
      button.focus();
      button.click();
      await twoFrames();
      await twoFrames();
      const { activeElement: focused } = document;
      const { top } = focused.getBoundingClientRect();
      if (focused === document.body || top < 0 || top >= innerHeight) lost.push(button.textContent);
      if (!focused.matches(".try-back")) continue;
      const figure = focused.closest(".live-figure");
      for (const control of figure.querySelectorAll(".live-control:has(input[type=range])")) {
        if (!control.checkVisibility({ visibilityProperty: true })) continue;
        control.scrollIntoView({ block: "nearest", behavior: "instant" });
        control.querySelector("input").dispatchEvent(new Event("input", { bubbles: true }));
        for (const el of [focused, control].filter((one) => !isWhole(one))) {
          lost.push(`${el.textContent}, once ${control.textContent}`);
        }
      }
    }
    return lost;
  }
"""


@pytest.mark.parametrize("page", PAGES)
def test_the_way_back_to_the_text_is_in_sight_on_a_phone_and_covers_no_control(opened, page):
    tab = opened(page).page
    for width, height in ((390, 844), (320, 640)):
        tab.set_viewport_size({"width": width, "height": height})
        assert tab.evaluate(UNSEEN) == [], (width, height)


def test_a_link_asks_for_a_step(visit):
    tab = visit(WHOLE + "#step=5").page
    expect(tab.locator(".live-figure output").first).to_have_text("5 · scores")


# What the controls and the numbers of all figures of a page are
SHOWN = """
  () => {
    flushFrames();
    return [...document.querySelectorAll(".live-figure")].map((figure) => JSON.stringify([
      [...figure.querySelectorAll(".live-control :is(input, select)")].map((field) => field.checked + field.value),
      figure.querySelector("[data-figure]").numbers,
    ]));
  }
"""
# Follow an address within the page
GO = """
  (hash) => new Promise((done) => {
    if (location.hash === hash) done();
    addEventListener("hashchange", () => setTimeout(done), { once: true });
    location.hash = hash;
  })
"""
# Every control of every figure to another value, and what else a figure lets a reader change
CHANGE = """
  () => document.querySelectorAll(".live-figure").forEach((figure) => {
    for (let field of [...figure.querySelectorAll(".live-control :is(input, select)")].reverse()) {
      if (field.type === "radio") {
        const group = [...figure.querySelectorAll(`[name="${field.name}"]`)];
        if (field !== group.at(-1)) continue;
        field = group.find((one) => !one.checked);
        field.checked = true;
      } else if (field.type === "checkbox") field.checked = !field.checked;
      else if (field.tagName === "SELECT") field.selectedIndex = (field.selectedIndex + 1) % field.length;
      else if (field.value === field.max) field.stepDown();
      else field.stepUp();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    figure.querySelectorAll("[role=checkbox], [role=spinbutton]").forEach((cell, i) => {
      if (i % 5 === 0) cell.click();
      if (i % 5 === 0) cell.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
    });
  })
"""


@pytest.mark.parametrize("page", LIVE)
def test_a_setting_that_was_found_is_shared_by_its_address_whatever_figure_it_is_of(opened, visit, page):
    """The first address opens the page, the others come after it."""
    tab = opened(page).page
    tab.evaluate("document.querySelectorAll('.live-figure').forEach((figure) => figure.settings.put({}, true))")
    opening = tab.evaluate(SHOWN)
    tab.evaluate(CHANGE)
    found = tab.evaluate(SHOWN)
    shares = tab.locator(".live-figure .copy-link").all()
    assert len(shares) == len(opening)
    other = None
    for i, share in enumerate(shares):
        share.evaluate("(button) => button.click()")  # not by its key: that scrolls, and a stage follows its reader
        hash = tab.evaluate("location.hash")                # which Playwright hears of a little later
        other = other or visit(page + hash, script=served.FRAMES).page
        other.evaluate(GO, hash)
        assert other.evaluate(SHOWN) == found[:i + 1] + opening[i + 1:], hash
        assert found[i] != opening[i], hash


BAD = ["#%", "#", "#=", "#step", "#step=99", "#step=1.5", "#step=x", "#nothing=3",
       "#whole-layer?step=-1&follow=nobody&given.WO.9.9=1&given=3&__proto__.x=1",
       "#whole-layer?given.WO.0.0=1e999&head_1=2&label=x", "#a=%E0%A4%A", "#no-figure?step=3"]


def test_a_bad_address_does_no_harm(visit):
    """Neither where the page is opened with it nor later."""
    opening, one = (visit(WHOLE + hash, script=served.FRAMES) for hash in ("", BAD[0]))
    for hash in BAD:
        one.page.evaluate(GO, hash)
        assert one.page.evaluate(SHOWN) == opening.page.evaluate(SHOWN) and one.errors == [], hash


def test_an_address_opens_the_cover_over_its_figure_and_the_copied_one_is_told(visit):
    tab = visit(LOOKUP, bets=True).page
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    share = tab.get_by_role("button", name="Copy a link to this").first
    share.focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="Copied").wait_for()
    address = tab.evaluate("location.href")
    assert tab.evaluate("navigator.clipboard.readText()") == address and "#" in address
    tab.evaluate("""document.querySelector(".bet-cover[hidden]").append(document.querySelector(".live-figure"));
                    location.hash = "soft-lookup?temperature=2";""")
    tab.wait_for_function("() => !document.querySelector('[data-figure=soft-lookup]').closest('[hidden]')")


@pytest.mark.parametrize("page, figure, setting", [
    ("chapters/01_soft_lookup_lab.html", "two-arrows", "angle=0&length=3"),
    (WHOLE, "whole-layer", "follow=not"),
    ("chapters/11_sharing_heads.html", "filling-cache", "texts=128")])
def test_a_shared_address_brings_its_figure_into_the_window_of_a_phone(visit, page, figure, setting):
    tab = visit(f"{page}#{figure}?{setting}", width=390).page
    top = tab.locator(f".live-figure:has([data-figure={figure}])").evaluate("(el) => el.getBoundingClientRect().top")
    assert 0 <= top < 150


def test_without_a_script_a_try_is_a_sentence(unscripted):
    tab = unscripted(WHOLE)
    assert tab.locator(".try[role]").count() == 0 and "Begin with step 1." in tab.locator("article").inner_text()


def test_reset_sets_everything_back(visit):
    tab = visit(WHOLE).page
    shown = "() => JSON.stringify(document.querySelector('.live-figure [data-figure]').numbers)"
    first = tab.evaluate(shown)
    tab.locator(".try[role]").nth(1).evaluate("(button) => button.click()")
    tab.wait_for_function(f"(first) => ({shown})() !== first", arg=first)
    tab.get_by_role("button", name="Reset").first.click()
    tab.wait_for_function(f"(first) => ({shown})() === first", arg=first)
    expect(tab.locator(".live-figure output").first).to_have_text("the whole")
    expect(tab.get_by_role("checkbox", name="head 1")).to_be_checked()


# With each control in hand in turn: what of its figure has the focus and is covered; the arrow below a picture, where
# that stands at the foot; and titles that hang out of the bar
COVERED = """
  async () => {
    const lost = [];
    const nextFrame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const isFree = (el) => {
      const { left, top, width, height } = el.getBoundingClientRect();
      const found = document.elementFromPoint(left + width / 2, top + height / 2);
      return el.contains(found) || found?.contains(el.closest("label") ?? el);
    };
    const seen = (el) => el.checkVisibility({ visibilityProperty: true }) && !el.disabled && el.offsetParent;
    for (const figure of document.querySelectorAll(".live-figure")) {
      for (const control of [...figure.querySelectorAll(".live-control:not(.live-checked)")].filter(seen)) {
        control.querySelector("input, select")?.dispatchEvent(new Event("input", { bubbles: true }));
        await nextFrame();
        const name = control.textContent;
        const legend = control.querySelector("legend"); // that does not float: half above the ground of its fieldset
        if (legend && getComputedStyle(legend).float === "none") lost.push(`the title of ${name}`);
        for (const el of [...figure.querySelectorAll("a, button, input, select, summary")].filter(seen)) {
          if (control.contains(el) || el.closest("details.numbers > div")) continue;
          el.scrollIntoView({ block: "end", behavior: "instant" });
          el.focus();
          await nextFrame();
          if (!isFree(el)) lost.push(`${el.textContent || el.closest("label, .live-control")?.textContent}: ${name}`);
        }
      }
    }
    return lost;
  }
"""


@pytest.mark.parametrize("page", [page for page in PAGES if page.split("/")[1][:2] in ("00", "03", "08")])
def test_a_control_that_stays_at_the_foot_of_a_phone_covers_nothing_that_is_reached(visit, page):
    tab = visit(page, width=390).page
    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.evaluate(COVERED) == []
