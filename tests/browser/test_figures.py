"""Every number that a live figure draws, at every setting of its controls, against torch in float64."""
import itertools
import random

import numpy as np
import pytest
from support import pairwise

import served
from mha.viz.picture import WEIGHTS
from mha.widgets import Learn
from mha.widgets.figure import choices
from operate import HEIGHT, after_each, figure_called, operate

FIGURES_OF_PAGES = [pytest.param(page, index, id=f"{page}-{name}") for page in served.pages()
                    for index, name in enumerate(served.live_figures(page))] if served.chromium() else []
every_figure = pytest.mark.parametrize("page, index", FIGURES_OF_PAGES)
ALL_UP_TO, AT_RANDOM, AT_ONCE = 2000, 100, 100


def settings_to_try(figure):
    """All settings; where they are more than ALL_UP_TO, every corner of the grid and AT_RANDOM others, or a few."""
    settings = list(figure.settings())
    if len(settings) <= ALL_UP_TO:
        return settings
    if isinstance(figure, Learn):                               # whose setting is a training of up to 500 steps
        begun, most = figure.setting() | {"steps": 100}, choices(figure.controls["steps"])[-1]
        return [begun | {"steps": 0}, begun | {"steps": most}] + [
            begun | {name: value} for name, control in figure.controls.items() for value in choices(control)
            if name != "steps"]
    return corners(settings) + random.Random(0).sample(settings, AT_RANDOM)


def corners(settings):
    """Every combination of the ends of all controls."""
    ends = {name: sorted({setting[name] for setting in settings}) for name in settings[0]}
    return [dict(zip(ends, values))
            for values in itertools.product(*((values[0], values[-1]) for values in ends.values()))]


def pairs_of_ends(figure):
    """Each end of a control with each end of every other."""
    settings = list(figure.settings())
    ends = {name: sorted({setting[name] for setting in settings}) for name in settings[0]}
    return [setting for setting in pairwise(**{name: (values[0], values[-1]) for name, values in ends.items()})
            if setting in settings]                                             # some figures tie their controls


def few_settings(figure):
    """Each end of a control with each end of every other, and as many settings at random."""
    settings, few = list(figure.settings()), pairs_of_ends(figure)
    return few + random.Random(1).sample(settings, min(len(few), len(settings)))


def moves_from_opening(figure):
    """(name of a control, value) for each control, to its ends and up to three places between, its own left out."""
    reachable = {name: choices(control) for name, control in figure.controls.items()}
    moves = dict.fromkeys((name, values[round(i * (len(values) - 1) / 4)])
                          for name, values in reachable.items() for i in range(5))
    return [(name, value) for name, value in moves if value != figure.setting()[name]]


def one_at_a_time(figure):
    """As settings: the opening, a control moved alone, the opening again, the next move, and so on."""
    return [figure.setting()] + [part for name, value in moves_from_opening(figure)
                                 for part in ({name: value}, figure.setting())]


RESET = """
  (index) => {
    document.activeElement.blur();
    document.querySelectorAll(".live-figure")[index].querySelector(".reset").click();
    flushFrames();
  }
"""


def open_figure(visit, page, index, width=1200, fonts=True):
    """A figure as it opens, on a page that other tests may have used."""
    tab = visit(page, script=served.FRAMES, width=width, fonts=fonts).page
    tab.evaluate(RESET, index)
    name = tab.locator(".live-figure").nth(index).locator("[data-figure]").get_attribute("data-figure")
    return tab, figure_called(name)


@every_figure
def test_a_figure_shows_what_torch_computes_at_every_setting(opened, page, index):
    tab, figure = open_figure(opened, page, index)
    settings = settings_to_try(figure)
    view = tab.locator(".live-figure .live-view").nth(index)
    view.evaluate("(el) => { el.style.display = 'none'; }")     # drawn as ever, and not laid out: 30 times as fast
    for start in range(0, len(settings), AT_ONCE):
        batch = settings[start : start + AT_ONCE]
        for setting, shown in zip(batch, operate(tab, index, figure, batch)):
            compare(shown, figure.numbers(**setting), setting)
    view.evaluate("(el) => { el.style.display = ''; }")


def compare(shown, computed, setting):
    drawn = f"at {setting} the page shows {sorted(shown)}, torch computes {sorted(computed)}"
    assert set(shown) == set(computed), drawn
    for name, values in computed.items():
        expected = values.double().flatten().numpy()
        drawn = f"at {setting} the page draws {shown[name].size} of {expected.size}: {name}"
        assert shown[name].shape == expected.shape, drawn
        hidden = ~np.isfinite(expected)                 # a score that a mask hides, or what 32 bits cannot hold
        assert np.array_equal(shown[name][hidden], expected[hidden], equal_nan=True), f"at {setting} {name} hides more"
        drawn, expected = shown[name][~hidden], expected[~hidden]
        gap = np.max(np.abs(drawn - expected) / np.maximum(1, np.abs(expected)), initial=0)
        assert gap < 1e-5, f"at {setting} {name} is off by {gap:.2g}"


@every_figure
def test_the_keyboard_moves_every_slider_and_the_figure_follows(opened, page, index):
    tab, _ = open_figure(opened, page, index)
    figure = tab.locator(".live-figure").nth(index)
    for slider in figure.locator("input[type=range]:enabled").all():
        slider.focus()
        tab.evaluate(served.DRAWN)                                         # a step on the way has set the figure
        seen = []
        for key in ("Home", "End", "ArrowLeft"):
            slider.press(key)
            tab.evaluate("flushFrames()")
            seen.append((slider.input_value(), slider.get_attribute("aria-valuetext"),
                         figure.locator(".live-view").inner_html()))
        values, spoken, drawings = zip(*seen)
        low, high, step = (float(slider.get_attribute(name)) for name in ("min", "max", "step"))
        assert len(set(values)) == min(3, 1 + (high - low) / step), slider.get_attribute("id")
        assert len(set(spoken)) >= 2, slider.get_attribute("id")
        assert drawings[0] != drawings[1], "the slider moved and the figure did not"


@pytest.mark.parametrize("opened_at, width, fonts", [(1200, 1200, True), (390, 414, True), (390, 390, False)])
@every_figure
def test_a_figure_keeps_its_height_whatever_its_controls_say(opened, page, index, opened_at, width, fonts):
    """In the book's font, and in the reader's own; as wide as it opened, and wider."""
    tab, figure = open_figure(opened, page, index, width=opened_at, fonts=fonts)
    if width != opened_at:
        tab.set_viewport_size({"width": width, "height": 900})
        tab.evaluate(served.DRAWN)
    settings = [figure.setting() | {name: value} for name, value in moves_from_opening(figure)] + pairs_of_ends(figure)
    heights = [round(height, 1) for height in after_each(tab, index, figure, settings, HEIGHT)]
    low, high = min(heights), max(heights)
    assert low == high, f"{low} px at {settings[heights.index(low)]}, {high} px at {settings[heights.index(high)]}"


# For each control: its edges when it has been moved and the figure begins at the top of the window. Of a stage, whose
# controls stand behind the steps, when the controls end with the window: below the drawing, which is in sight.
MOVED_AND_SCROLLED = """
  (index) => {
    const figure = document.querySelectorAll(".live-figure")[index];
    const foot = figure.querySelector(".show-steps + .live-controls");
    const drawing = figure.querySelector(".live-canvas");
    const controls = [...figure.querySelectorAll(".live-control")].filter((el) => el.checkVisibility());
    return controls.filter((control) => control.querySelector("input, select")).map((control) => {
      control.querySelector("input, select").dispatchEvent(new Event("input", { bubbles: true }));
      (foot ?? figure).scrollIntoView({ block: foot ? "end" : "start", behavior: "instant" });
      const { top, bottom } = control.getBoundingClientRect();
      return [control.textContent.trim(), foot ? drawing.getBoundingClientRect().bottom : 0, top, bottom, innerHeight];
    });
  }
"""


@pytest.mark.parametrize("width", [1200, 390])
@every_figure
def test_the_control_that_was_moved_stays_in_sight(opened, page, index, width):
    tab, _ = open_figure(opened, page, index, width=width)
    for name, above, top, bottom, height in tab.evaluate(MOVED_AND_SCROLLED, index):
        assert 0 <= above <= top < bottom <= height, name


# What a figure says, and the size of its letters in px of the screen; indices may be smaller
LETTERS = """
  (index) => [...document.querySelectorAll(".live-figure")[index].querySelectorAll(".mha-figure *")]
    .filter((el) => !el.matches("sub, sup, .index") && el.checkVisibility({ visibilityProperty: true })
      && [...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
    .map((el) => {
      const { a, b } = el.closest("text")?.getCTM() || { a: 1, b: 0 };
      return [parseFloat(getComputedStyle(el).fontSize) * Math.hypot(a, b), el.textContent.trim()];
    })
    .filter(([size]) => size)
"""


# The words of a figure that its drawing cuts
CUT = """
  [...document.querySelectorAll(".live-view svg text")].filter((word) => {
    const svg = word.closest("svg");
    const seen = word.checkVisibility({ visibilityProperty: true });
    if (getComputedStyle(svg).overflow === "visible" || !seen) return false;
    const [mine, whole] = [word, svg].map((el) => el.getBoundingClientRect());
    return mine.width && (mine.left < whole.left - 1 || mine.right > whole.right + 1);
  }).map((word) => word.textContent)
"""


def test_no_word_of_the_two_arrows_is_cut_wherever_the_key_points(visit):
    tab = visit("chapters/01_soft_lookup_lab.html", width=390, script=served.FRAMES).page
    for angle in range(0, 181, 30):
        tab.evaluate("(hash) => { location.hash = hash; }", f"two-arrows?length=3&angle={angle}")
        tab.wait_for_function("(angle) => document.querySelector('[data-figure=two-arrows]').numbers.shadow.toFixed(3)"
                              " === (3 * Math.cos(angle * Math.PI / 180)).toFixed(3)", arg=angle)
        assert tab.evaluate(CUT) == []


@pytest.mark.parametrize("width, least", [(1200, 12), (390, 10)])
@every_figure
def test_what_a_figure_says_can_be_read(opened, page, index, width, least):
    tab, _ = open_figure(opened, page, index, width=width)
    letters = tab.evaluate(LETTERS, index)
    assert letters and [text for size, text in letters if size < least - 0.05] == []


# The numbers of the open tables, which are written 150 ms after a figure is drawn
TABLES = """
  async (index) => {
    const figure = document.querySelectorAll(".live-figure")[index];
    await new Promise((done) => setTimeout(done, 150));
    return [...figure.querySelectorAll("details.numbers td")].map((cell) => cell.textContent);
  }
"""


RAISED = str.maketrans("\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "-0123456789")


def plain(word):
    """A number of a table as Python writes it: 1.5e-8 for 1.5 \u00b7 10\u207b\u2078."""
    return word.replace("\u2212", "-").replace(",", "").replace(" \u00b7 10", "e").translate(RAISED)


def away(numbers, others):
    """How far each number is from the nearest of others, as a share of that, or of a hundredth where it is small."""
    return (np.abs(numbers[:, None] - others) / np.maximum(1e-2, np.abs(others))).min(1)


@every_figure
def test_the_numbers_as_text_follow_the_controls(opened, page, index):
    tab, figure = open_figure(opened, page, index)
    tab.locator(".live-figure").nth(index).locator(".mha-figure details.numbers > summary").click()
    seen = set()
    settings = few_settings(figure)
    for setting in settings[::-(-len(settings) // 4)]:
        operate(tab, index, figure, [setting])
        words = [plain(word) for word in tab.evaluate(TABLES, index)]
        shown = np.array([float(word) for word in words if word and not word.strip("-+.e0123456789")])
        computed = figure.numbers(**setting)
        computed = {name: values[values.isfinite()] for name, values in computed.items()}
        everything = np.concatenate([values.double().flatten().numpy() for values in computed.values()])
        assert shown.size and away(shown, everything).max() < 0.06, f"at {setting} {words} says what torch does not"
        for name, values in ((name, values) for name, values in computed.items() if values.numel()):
            assert away(values.double().flatten().numpy(), shown).min() < 0.06, f"at {setting} nothing says {name}"
        seen.add(tuple(words))
    assert len(seen) > 1


# The middles of the cells in the marked row of each map that has one: [[[r, g, b], ...], ...]
MARKED_ROWS = """
  (weights) => [...document.querySelectorAll(".live-figure .mapped")].flatMap((box) => {
    const [canvas, svg] = box.children;
    const pen = canvas.getContext("2d");
    const scale = canvas.width / svg.viewBox.baseVal.width;
    const shown = (mark) => mark.getAttribute("display") !== "none";
    const n = Math.sqrt(weights / [...document.querySelectorAll(".live-figure .row-mark")].filter(shown).length);
    return [...svg.querySelectorAll(".row-mark")].filter(shown).map((mark) => {
      const { x, y, width, height } = mark.getBBox();
      const colour = (j) => pen.getImageData((x + (j + 0.5) * width / n) * scale, (y + height / 2) * scale, 1, 1).data;
      return Array.from({ length: n }, (_, j) => [...colour(j)].slice(0, 3));
    });
  })
"""


@pytest.mark.parametrize("name, page", [("head-grid", "chapters/06_multi_head.html"),
                                        ("head-browser", "chapters/08_what_heads_do.html")])
@pytest.mark.parametrize("width", [1200, 390])
def test_a_map_has_the_colours_of_its_weights(opened, name, page, width):
    """Those of the static pictures, on a scale that goes with the square root."""
    index = served.live_figures(page).index(name)
    tab, figure = open_figure(opened, page, index, width=width)
    for setting in few_settings(figure)[::2]:
        shown = operate(tab, index, figure, [setting])[0]["weight"]
        tab.evaluate(served.DRAWN)                      # a map is as large as its canvas was measured to be
        rows = [np.array(row) for row in tab.evaluate(MARKED_ROWS, shown.size)]
        n = len(rows[0])
        maps = shown.reshape(-1, n, n)
        assert len(rows) == len(maps)
        row = min(setting["word"], n - 1)
        for colours, weights in zip(rows, maps):
            expected = 255 * WEIGHTS(np.sqrt(weights[row]))[:, :3]
            assert np.abs(colours - expected).max() < 16, f"{name} at {setting}"
