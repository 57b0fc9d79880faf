"""A stage: each step sets its figure when it comes to the reading line, or when its button is pressed."""
import re

import pytest
from playwright.sync_api import TimeoutError, expect

import served

STEP = re.compile(r'class="show-step"[^>]*id="(show-[\d-]+)"|id="(show-[\d-]+)"[^>]*class="show-step"')
PAGES = [page for page in served.chapters() if 'class="show-steps"' in (served.HTML / page).read_text("utf8")]
STEPS = [(page, "".join(found)) for page in PAGES for found in STEP.findall((served.HTML / page).read_text("utf8"))]
SIZES = [(1200, 900), (390, 844)]
CYCLE, FIRST = "chapters/03_query_and_key.html", "show-1-1"

# Is the step the present one, does its figure stand as it says, and is all of its drawing in sight?
SHOWN = """
  (name) => {
    const step = document.getElementById(name);
    const figure = step.closest(".live-figure");
    const drawing = figure.querySelector(".live-canvas").getBoundingClientRect();
    return {
      set: figure.settings.holds(JSON.parse(step.dataset.set)),
      now: [...figure.querySelectorAll(".is-now")].map((one) => one.id).join(),
      current: step.querySelector("button").getAttribute("aria-current"),
      above: drawing.top >= 0 && drawing.bottom <= step.querySelector("p").getBoundingClientRect().top,
    };
  }
"""
IS_SHOWN = "(name) => { const is = (%s)(name); return is.set && is.now === name && is.current && is.above; }" % SHOWN
# Scroll as a reader does until a step's first line stands on the reading line
TO_THE_LINE = """
  (name) => {
    const step = document.getElementById(name);
    const line = parseFloat(step.closest(".live-figure").style.getPropertyValue("--reading"));
    scrollBy({ top: step.getBoundingClientRect().top - line + 8, behavior: "instant" });
  }
"""


def arrives(tab, name, timeout=8000):
    tab.wait_for_function(IS_SHOWN, arg=name, timeout=timeout)


def scrolls_to(tab, name):
    """Scroll to a step; again where the page above it has grown meanwhile, as a reader does."""
    for _ in range(4):
        tab.evaluate(TO_THE_LINE, name)
        try:
            return arrives(tab, name, timeout=2000)
        except TimeoutError:
            pass
    assert tab.evaluate(SHOWN, name) == {}, name


def test_there_are_stages():
    assert len(STEPS) >= 10


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("page", PAGES)
def test_each_step_is_shown_when_it_comes_to_the_reading_line_on_the_way_down_and_up(visit, page, size):
    tab = visit(page, width=size[0]).page
    tab.set_viewport_size(dict(zip(("width", "height"), size)))
    tab.evaluate(served.DRAWN)                              # the reading line follows the window
    names = [name for of, name in STEPS if of == page]
    for name in names + names[-2::-1]:
        scrolls_to(tab, name)


@pytest.mark.parametrize("page", PAGES)
def test_a_jump_past_all_steps_leaves_the_figure_as_the_last_one_says(visit, page):
    tab = visit(page).page
    last = [name for of, name in STEPS if of == page and name.startswith("show-1-")][-1]
    scrolls_to(tab, FIRST)
    tab.evaluate("""(name) => {
      const { bottom } = document.getElementById(name).closest(".live-figure").getBoundingClientRect();
      scrollBy({ top: bottom + 100, behavior: "instant" });
    }""", last)
    tab.wait_for_function("(name) => (%s)(name).set" % SHOWN, arg=last, timeout=4000)
    assert tab.evaluate(SHOWN, last)["now"] == last


# Two scrolls may reach an observer in one go: first what the first step saw, then the second, whichever was later.
LATE = """
  window.IntersectionObserver = class extends IntersectionObserver {
    constructor(told, options) {
      super((entries) => {
        const last = entries.at(-1).target.parentElement.lastElementChild;
        told([...entries, { target: last, isIntersecting: true, time: 0 }]);
      }, options);
    }
  };
"""


def test_in_a_hurry_the_step_on_the_line_is_shown(visit):
    tab = visit(CYCLE, script=LATE).page
    names = [name for of, name in STEPS if of == CYCLE]
    for name in names + names[-2::-1]:
        scrolls_to(tab, name)


@pytest.mark.parametrize("page, name", STEPS)
def test_a_link_lands_on_its_step(opened, page, name):
    arrives(opened(f"{page}#{name}").page, name)


@pytest.mark.parametrize("page", PAGES[:2])
def test_by_keyboard_each_step_is_a_button(visit, page):
    tab = visit(page).page
    names = [name for of, name in STEPS if of == page]
    for name in names:
        if name.endswith("-1"):                             # the first of its stage
            tab.locator(f"#{name} button").focus()
        else:
            tab.keyboard.press("Tab")
        expect(tab.locator(f"#{name} button")).to_be_focused()
        tab.keyboard.press("Enter")
        arrives(tab, name)


@pytest.mark.parametrize("page", PAGES)
def test_who_goes_back_to_a_step_by_keyboard_sees_it(visit, page):
    tab = visit(page).page
    last = [name for of, name in STEPS if of == page and name.startswith("show-1-")][-1]
    tab.locator(".show-steps + .live-controls").first.locator("input, select, button").first.focus()
    tab.keyboard.press("Shift+Tab")
    expect(tab.locator(f"#{last} button")).to_be_focused()
    arrives(tab, last)


@pytest.mark.parametrize("page", PAGES)
def test_in_a_low_window_the_controls_follow_the_drawing_and_no_scrolling_sets_them_back(visit, page):
    """There the drawing goes with the page, and each step has its own picture."""
    tab = visit(page, width=844).page
    tab.set_viewport_size({"width": 844, "height": 390})
    figure = tab.locator(".live-figure:has(.show-steps)").first
    expect(figure.locator(".staged + .live-controls")).to_be_visible()
    slider = figure.locator("input[type=range]").first
    slider.press("End")
    value = slider.input_value()
    figure.locator(".show-step").last.scroll_into_view_if_needed()
    tab.wait_for_timeout(300)
    slider.scroll_into_view_if_needed()
    tab.wait_for_timeout(300)
    assert slider.input_value() == value
    tab.set_viewport_size({"width": 844, "height": 900})
    expect(figure.locator(".show-steps + .live-controls")).to_be_visible()


@pytest.mark.parametrize("page", PAGES)
def test_without_a_script_each_step_has_its_picture(unscripted, page):
    tab = unscripted(page)
    stills = tab.locator(".show-still svg")
    assert stills.count() == sum(of == page for of, _ in STEPS)
    assert all(still.is_visible() and still.get_attribute("aria-label") for still in stills.all())


def test_on_paper_each_step_has_its_picture_in_place_of_the_controls(visit):
    tab = visit(CYCLE).page
    tab.emulate_media(media="print")
    assert all(still.is_visible() for still in tab.locator(".show-still svg").all())
    expect(tab.locator(".show-steps + .live-controls")).to_be_hidden()


def test_what_a_hand_sets_stays_until_the_next_step(visit):
    tab = visit(f"{CYCLE}#show-1-4").page
    arrives(tab, "show-1-4")
    turn = tab.locator(".live-figure:has(.show-steps)").first.locator("input[type=range]").first
    turn.evaluate("(input) => { input.value = 45; input.dispatchEvent(new Event('input', { bubbles: true })); }")
    tab.mouse.wheel(0, 40)
    tab.wait_for_timeout(400)
    expect(turn).to_have_value("45")
    tab.evaluate(TO_THE_LINE, "show-1-5")
    arrives(tab, "show-1-5")


def test_what_a_try_or_an_address_asks_for_no_step_takes_away_on_the_way_there(visit):
    tab = visit(f"{CYCLE}#beats-cycle?tied=false&turn_q=45").page
    turn = tab.locator(".live-figure:has(.show-steps)").first.locator("input[type=range]").first
    tab.wait_for_timeout(600)
    expect(turn).to_have_value("45")
    button = tab.locator(".try[role]", has_text="half as far")
    button.evaluate("(button) => button.scrollIntoView({ block: 'start', behavior: 'instant' })")
    tab.wait_for_timeout(400)
    button.press("Enter")
    tab.wait_for_timeout(800)
    assert button.evaluate("""(button) => document.querySelector(".live-figure:has(.show-steps)").settings
      .holds(JSON.parse(button.dataset.set))""")
    expect(tab.get_by_role("button", name="Back to the text")).to_be_focused()


# Scrolls on from the last step until the figure is out of sight: where does its drawing lie over a control?
LIES_OVER = """
  async () => {
    const figure = document.querySelector(".live-figure:has(.show-steps)");
    const [drawing, controls] = [".staged", ".live-controls"].map((part) => figure.querySelector(part));
    figure.querySelector(".show-step:last-child").scrollIntoView({ block: "start", behavior: "instant" });
    const over = [];
    while (controls.getBoundingClientRect().bottom > 0) {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
      if (drawing.getBoundingClientRect().bottom > controls.getBoundingClientRect().top + 1) over.push(scrollY);
      scrollBy({ top: 60, behavior: "instant" });
    }
    return over;
  }
"""


@pytest.mark.parametrize("page", PAGES)
def test_the_drawing_goes_with_the_page_before_it_covers_a_control(visit, page):
    tab = visit(page).page
    tab.set_viewport_size({"width": 1200, "height": 900})
    tab.evaluate(served.DRAWN)
    assert tab.evaluate(LIES_OVER) == []


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("page", [CYCLE, "chapters/11_sharing_heads.html"])
def test_a_try_below_brings_the_drawing_and_the_controls_into_sight(visit, page, size):
    tab = visit(page, width=size[0]).page
    tab.set_viewport_size(dict(zip(("width", "height"), size)))
    tab.evaluate(served.DRAWN)
    tab.evaluate("""() => {
      const figure = document.querySelector(".live-figure:has(.show-steps)");
      const behind = (one) => figure.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
      const button = [...document.querySelectorAll(".try[role]")].find(behind);
      button.scrollIntoView({ block: "start", behavior: "instant" });
      button.click();
    }""")
    tab.wait_for_function("""() => {
      const figure = document.querySelector(".live-figure:has(.show-steps)");
      const [drawing, controls] = [".staged", ".live-controls"].map((part) =>
        figure.querySelector(part).getBoundingClientRect());
      return drawing.top >= 0 && drawing.bottom <= controls.top + 1 && controls.bottom <= innerHeight + 1;
    }""")


def test_a_step_is_one_message_and_moves_nothing_else(visit):
    tab = visit(CYCLE, motion="no-preference").page
    tab.evaluate("""() => {
      window.said = 0;
      const status = document.querySelector(".live-figure:has(.show-steps) [aria-live]");
      new MutationObserver(() => (window.said += !status.ariaBusy || status.ariaBusy === "false")).observe(status,
        { childList: true, characterData: true, subtree: true });
    }""")
    tab.evaluate(TO_THE_LINE, FIRST)
    tab.wait_for_timeout(900)
    tab.evaluate("window.said = 0")
    tab.locator("#show-1-4 button").click()
    arrives(tab, "show-1-4")
    tab.wait_for_timeout(900)
    assert tab.evaluate("window.said") <= 1, "what changes on the way is not said"
    assert tab.evaluate("window.layoutShift") < 0.01


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_step_glides_but_jumps_where_motion_is_reduced(visit, motion):
    tab = visit(f"{CYCLE}#show-1-4", motion=motion).page
    arrives(tab, "show-1-4")
    tab.wait_for_timeout(900)
    at_once = tab.evaluate("""() => {
      document.querySelector("#show-1-5 button").click();
      return document.querySelector(".live-figure:has(.show-steps)").settings.holds({ turn_q: 120 });
    }""")
    assert at_once == (motion == "reduce")
    arrives(tab, "show-1-5")
