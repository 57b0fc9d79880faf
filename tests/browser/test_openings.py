"""What a reader first meets of each figure: controls that bite, words that can be told apart, no hole in it."""
import re

import pytest

import served
from mha.widgets import WholeLayer
from operate import after_each
from test_figures import every_figure, moves_from_opening, one_at_a_time, open_figure

# What a figure draws: not its controls, nor the sentence that says how they stand. Maps stand in canvases
SEEN = """
  (index) => {
    const root = document.querySelectorAll(".live-figure")[index].querySelector("[data-figure]");
    const maps = [...root.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL());
    const fields = [...root.querySelectorAll("input, select")].map(({ value, checked }) => `${value} ${checked}`);
    const copy = root.cloneNode(true);
    copy.querySelectorAll("details.numbers, .reset, .status, [aria-live]").forEach((el) => el.remove());
    return [copy.innerHTML, ...maps, ...fields].join();
  }
"""


@every_figure
def test_each_control_moved_from_the_opening_changes_the_drawing(opened, page, index):
    """The opening first, then each control to its ends. One that waits for another is disabled."""
    tab, figure = open_figure(opened, page, index)
    seen = after_each(tab, index, figure, one_at_a_time(figure), SEEN)      # opening, move, opening, move, ..., opening
    answered = {name for (name, _), before, after in zip(moves_from_opening(figure), seen[::2], seen[1::2])
                if before != after}
    assert [name for name, control in figure.controls.items() if name not in answered and not control.disabled] == []


def test_the_turn_of_w_k_waits_as_long_as_one_matrix_serves_both(visit):
    tab = visit("chapters/03_query_and_key.html").page
    figure = tab.locator(".live-figure", has=tab.locator("[data-figure=beats-cycle]"))
    tied, turn = figure.locator("input[type=checkbox]").first, figure.locator("input[type=range]").nth(1)
    assert tied.is_checked() and turn.is_disabled()
    drawing = figure.locator("[data-figure]").element_handle()
    for control, key in ((tied, "Space"), (turn, "End")):       # by keyboard: no step of the stage is passed on the way
        before = drawing.evaluate("(el) => el.numbers.loss")
        control.press(key)
        tab.wait_for_function("([el, before]) => String(el.numbers.loss) !== String(before)", arg=[drawing, before])
    assert not tied.is_checked() and turn.input_value() == turn.get_attribute("max")


# To where nothing of it is kept in sight: a reading that is kept lies on what it covers
TO_ITS_FOOT = "(figure) => figure.scrollIntoView({ block: 'end', behavior: 'instant' })"

# The words of a figure, each line of them as [words, left, top, right, bottom], without what is higher than letters
WORDS = """
  (index) => {
    const root = document.querySelectorAll(".live-figure")[index].querySelector("[data-figure]");
    const found = [];
    const leans = (el) => Math.abs(el.closest("text")?.getCTM().b ?? 0) > 0.1;
    const slants = (el) => leans(el) && Math.abs(el.closest("text").getCTM().a) > 0.1; // a box says nothing of it
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { currentNode: node } = walk;
      const el = node.parentElement;
      if (!node.data.trim() || el.closest("details.numbers, .index, sub, sup") || slants(el)) continue;
      if (!el.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const { left, top, right, bottom, width, height } of range.getClientRects()) {
        const [x, y] = leans(el) ? [0.22 * width, 0] : [0, 0.22 * height];
        found.push([node.data.trim(), left + x, top + y, right - x, bottom - y]);
      }
    }
    return found;
  }
"""


def overlaps(words):
    """Pairs of words that lie on each other by more than a pixel, both ways."""
    return [(one, other) for i, (one, *a) in enumerate(words) for other, *b in words[:i]
            if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1]


@pytest.mark.parametrize("width", [1200, 390])
@every_figure
def test_no_words_of_a_figure_lie_on_each_other_when_it_opens(opened, page, index, width):
    tab, figure = open_figure(opened, page, index, width=width)
    if isinstance(figure, WholeLayer):
        pytest.skip("its narration stays in sight and goes over it")
    tab.locator(".live-figure").nth(index).evaluate(TO_ITS_FOOT)
    words = tab.evaluate(WORDS, index)
    assert words and overlaps(words) == []


def test_at_320_px_the_numbers_and_names_of_heads_stand_apart(visit):
    tab = visit("chapters/06_multi_head.html", width=320).page
    names = tab.locator(".live-figure [data-figure]").evaluate_all("(all) => all.map((one) => one.dataset.figure)")
    figure = tab.locator(".live-figure").nth(names.index("split-heads"))
    for step in range(3):
        tab.evaluate(served.DRAWN)
        words = tab.evaluate(WORDS, names.index("split-heads"))
        assert words and overlaps(words) == [], step
        figure.locator("input[type=range]").press("ArrowRight")


# The tallest band of a figure in which nothing is drawn or said, in px, and where it begins
HOLE = """
  (index) => {
    const root = document.querySelectorAll(".live-figure")[index].querySelector("[data-figure]");
    const { top, bottom } = root.getBoundingClientRect();
    // What is painted of a map, in bands of a few pixels
    function bands(canvas) {
      const { top, height, width } = canvas.getBoundingClientRect();
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const scale = height / canvas.height;
      const painted = (y) => data.subarray(4 * y * canvas.width, 4 * (y + 1) * canvas.width).some(Boolean);
      return [...Array(canvas.height).keys()].filter((y) => y % 4 === 0 && painted(y))
        .map((y) => ({ top: top + y * scale, bottom: top + (y + 4) * scale, width, height }));
    }
    const seen = [];
    for (const el of root.querySelectorAll("*")) {
      if (!el.checkVisibility({ visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(el);
      if (el.tagName === "CANVAS") seen.push(...bands(el));
      else if (!el.childNodes.length && el.tagName !== "svg") seen.push(el.getBoundingClientRect());
      else if ([...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
        seen.push(...range.getClientRects());
    }
    let end = top;
    let hole = [0, 0];
    const boxes = [...seen.filter(({ width, height }) => width + height), { top: bottom, bottom }];
    for (const box of boxes.sort((a, b) => a.top - b.top)) {
      if (box.top - end > hole[0]) hole = [box.top - end, end - top];
      end = Math.max(end, box.bottom);
    }
    return hole.map(Math.round);
  }
"""


@pytest.mark.parametrize("width, most", [(1200, 62), (390, 70)])
@every_figure
def test_no_figure_has_a_hole_when_it_opens(opened, page, index, width, most):
    tab, figure = open_figure(opened, page, index, width=width)
    if isinstance(figure, WholeLayer):
        pytest.skip("its narration stays in sight, and its place is not where it is seen")
    hole, at = tab.evaluate(HOLE, index)
    assert hole <= most, f"{hole} px of nothing, {at} px below its top"


# Where the drawing of a page's first figure begins and ends; of the machine of chapter 0, its glance
FIRST_DRAWING = """
  () => {
    scrollTo({ top: 0, behavior: "instant" });
    const figure = document.querySelector("article :is(.live-figure, figure.picture)");
    const drawing = [".glance", ".live-view", "svg"].map((one) => figure.querySelector(one)).find(Boolean);
    const { top, bottom } = drawing.getBoundingClientRect();
    return [top, bottom];
  }
"""


@pytest.mark.parametrize("page", [page for page in served.chapters() if served.live_figures(page)
                                  and not page.endswith("_lab.html")])
def test_the_first_drawing_is_on_the_first_screen(opened, page):
    """In the upper half of a window; on a phone, a quarter of it."""
    assert open_figure(opened, page, 0)[0].evaluate(FIRST_DRAWING)[0] < 450
    phone, _ = open_figure(opened, page, 0, width=390)
    phone.set_viewport_size({"width": 390, "height": 844})
    top, bottom = phone.evaluate(FIRST_DRAWING)
    assert (844 - top) / (bottom - top) > 0.25


# The longest way down a page, up to its exercises, without a picture; and the heading in front of it
WAY = """
  () => {
    const article = document.querySelector("article");
    const headings = [...article.querySelectorAll("h2, h3")].map((one) => [one.getBoundingClientRect().top, one.id
      || one.textContent]);
    const end = headings.find(([, name]) => /^(Exercises|Explain it in a minute)/.test(name))[0];
    const boxes = [...article.querySelectorAll("figure, .live-figure, svg, img")]
      .map((one) => one.getBoundingClientRect())
      .filter(({ top, width, height }) => width > 100 && height > 60 && top < end);
    let [at, way] = [article.getBoundingClientRect().top, [0, ""]];
    for (const { top, bottom } of [...boxes, { top: end, bottom: end }].sort((a, b) => a.top - b.top)) {
      if (top - at > way[0]) way = [top - at, headings.filter(([y]) => y < top).at(-1)?.[1]];
      at = Math.max(at, bottom);
    }
    return way;
  }
"""
STAYING = {"chapters/00_the_whole.html", "chapters/00b_who_made_the_matrices.html"}  # their drawing stays in sight


@pytest.mark.parametrize("bets", [False, True])
@pytest.mark.parametrize("page", [page for page in served.chapters() if re.search(r"/\d+b?_", page)
                                  and not page.endswith("_lab.html") and page not in STAYING])
def test_a_picture_is_never_far(visit, page, bets):
    tab = visit(page, bets=bets).page
    tab.set_viewport_size({"width": 1200, "height": 900})
    way, heading = tab.evaluate(WAY)
    assert way < 2500, f"{way:.0f} px without a picture, before {heading}"
