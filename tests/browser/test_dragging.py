"""What is drawn and can be dragged: a hand moves what the slider moves, and nothing else.

A figure says of each thing that a hand takes which settings it moves (`grip` of common.js), and is tried without a line
here.
"""
import pytest

import served
from mha.widgets import FIGURES
from mha.widgets.figure import HERE, choices
from operate import NAME, READ, after_each, figure_called, unpack
from test_figures import compare


def takes_a_hand(name):
    return "grip(" in (HERE / f"{FIGURES[name].module()}.js").read_text("utf8")


FIGURES_OF_PAGES = [pytest.param(page, index, id=f"{page}-{name}") for page in served.pages()
                    for index, name in enumerate(served.live_figures(page)) if takes_a_hand(name)
                    ] if served.chromium() else []
every_figure = pytest.mark.parametrize("page, index", FIGURES_OF_PAGES)
UPWARDS = range(20, 161, 20)                    # px of a finger that would scroll the page
NEAR = 1.5                                      # px between a hand and what it holds
STEPS = 6                                       # values to each side of a slider, where the others stand elsewhere

HELPERS = """() => {
  addEventListener("pointerdown", ({ pointerId }) => { window.pointer = pointerId; }, true);
  window.hand = (index) => {
    const figure = document.querySelectorAll(".live-figure")[index];
    const grips = [...figure.querySelectorAll(".grip")];
    const name = %s;
    const valueOf = (control) => {
      const inputs = [...control.querySelectorAll("input")];
      const kinds = { radio: () => inputs.findIndex((one) => one.checked), checked: () => inputs[0].checked,
        select: () => control.querySelector("select").selectedIndex };
      return (kinds[control.dataset.kind] ?? (() => inputs[0].valueAsNumber))();
    };
    const middle = (k) => {
      const { x, y, width, height } = grips[k].getBoundingClientRect();
      return [x + width / 2, y + height / 2];
    };
    return {
      middle,
      // Those that are seen, and the names of what they move
      grips: () => grips.map((grip, k) => [k, grip.dataset.drags.split(" ")])
        .filter(([k]) => grips[k].checkVisibility()),
      bring: (k) => {
        grips[k].ownerSVGElement.scrollIntoView({ block: "center", behavior: "instant" });
        return document.elementFromPoint(...middle(k)) === grips[k];
      },
      // Where the k-th comes to stand when the hand that holds it goes from place to place
      carry: (k, places) => places.map(([clientX, clientY]) => {
        grips[k].dispatchEvent(new PointerEvent("pointermove", { pointerId: window.pointer, clientX, clientY,
          bubbles: true }));
        flushFrames();
        return middle(k);
      }),
      // What the controls say, by their names
      said: () => Object.fromEntries([...figure.querySelectorAll(".live-control")]
        .filter((el) => el.querySelector("input, select")).map((el) => [name(el), valueOf(el)])),
    };
  };
}""" % NAME.strip()


class Hand:
    """A mouse, or a finger, on one figure of a page."""

    def __init__(self, visit, page, index, touch=False, **options):
        self.tab, self.index = visit(page, script=served.FRAMES, **options).page, index
        self.tab.evaluate(HELPERS)
        self.figure = figure_called(served.live_figures(page)[index])
        self.finger = self.tab.context.new_cdp_session(self.tab) if touch else None

    def ask(self, call, *values):
        return self.tab.evaluate(f"([index, values]) => hand(index).{call}(...values)", [self.index, list(values)])

    def touch(self, kind, *points):
        points = [{"x": x, "y": y} for x, y in points]
        self.finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def press(self, place):
        if self.finger:
            return self.touch("touchStart", place)
        self.tab.mouse.move(*place)
        self.tab.mouse.down()

    def move(self, place):
        if self.finger:
            return self.touch("touchMove", place)
        self.tab.mouse.move(*place)
        self.tab.evaluate("flushFrames()")

    def release(self):
        return self.touch("touchEnd") if self.finger else self.tab.mouse.up()

    def put(self, setting):
        after_each(self.tab, self.index, self.figure, [setting], "() => null")

    def places(self, k, settings):
        """Where the k-th thing stands at each setting of the controls."""
        return after_each(self.tab, self.index, self.figure, settings, f"(index) => hand(index).middle({k})")

    def setting(self):
        """What the controls say: name -> value."""
        said = self.ask("said")
        return {name: said[control.description] for name, control in self.figure.controls.items()}


def elsewhere(figure):
    """The setting that a figure opens with, and that with all controls at their other ends."""
    opening = figure.setting()
    ends = {name: (choices(control)[0], choices(control)[-1]) for name, control in figure.controls.items()}
    return opening, {name: low if high == opening[name] else high for name, (low, high) in ends.items()}


def path(values, start, most):
    """From a value of a slider up, and down again past it: to its ends, or at most so many values to each side."""
    at = min(range(len(values)), key=lambda i: abs(values[i] - start))
    low, high = max(0, at - most), min(len(values) - 1, at + most)
    return [values[i] for i in [*range(at, high + 1), *range(high - 1, low - 1, -1)]]


def carry(hand, k, names, name, setting, most):
    """Take the k-th thing where it stands at a setting, and carry it to where each value of a slider would put it."""
    figure = hand.figure
    values = path(choices(figure.controls[name]), setting[name], most)
    *places, start = hand.places(k, [setting | {name: value} for value in values] + [setting])
    hand.press(start)
    assert hand.setting() == pytest.approx(setting), "to press it moves nothing"
    for place in places[:2]:
        hand.move(place)
    for value, place, at in zip(values, places, hand.ask("carry", k, places)):
        gap = max(abs(a - b) for a, b in zip(at, place))
        assert gap < NEAR, f"{name} = {value} from {setting}: the hand is at {place}, what it holds at {at}"
    hand.move(places[-1])
    hand.release()
    let_go = hand.setting()
    if not hand.finger:
        hand.move((places[-1][0] + 40, places[-1][1] + 40))
        assert hand.setting() == let_go, "it holds on"
    assert {other: value for other, value in let_go.items() if other not in names} == pytest.approx(
        {other: value for other, value in setting.items() if other not in names}), "it moves something else"
    for moved in names:
        gap = min(abs(let_go[moved] - value) for value in choices(figure.controls[moved]))
        assert gap < 1e-9, f"{moved} = {let_go[moved]} is none of its slider's values"
    compare(unpack(hand.tab.evaluate(READ, hand.index)), figure.numbers(**let_go), let_go)
    assert hand.tab.evaluate("() => String(getSelection())") == "", "words beside it are selected"


@every_figure
def test_a_mouse_carries_it_to_each_value_of_its_sliders(opened, page, index):
    hand, tried, seen = Hand(opened, page, index), set(), set()
    for setting in elsewhere(hand.figure):
        here = set()                                    # all in the opening, then of each name one in each setting
        hand.put(setting)
        for k, names in hand.ask("grips"):
            seen |= set(names)
            for name in names if hand.ask("bring", k) else []:                     # another may lie on it
                if name not in here or setting == hand.figure.setting():
                    carry(hand, k, names, name, setting, STEPS if name in tried else 1000)
                    hand.put(setting)
                tried.add(name)
                here.add(name)
    assert tried == seen and tried, "something is never on top"


@every_figure
def test_a_finger_carries_it_and_the_page_stays(opened, page, index):
    hand, tried = Hand(opened, page, index, touch=True, width=390), set()
    setting = hand.figure.setting()
    hand.put(setting)
    for k, names in hand.ask("grips"):
        if not set(names) - tried or not hand.ask("bring", k):
            continue
        for name in names:
            carry(hand, k, names, name, setting, STEPS)
            hand.put(setting)
        scrolled, (x, y) = hand.tab.evaluate("scrollY"), hand.ask("middle", k)
        hand.press((x, y))
        for up in UPWARDS:
            hand.move((x, y - up))
        hand.release()
        hand.tab.evaluate(served.DRAWN)
        assert abs(hand.tab.evaluate("scrollY") - scrolled) <= 1                   # the browser rounds
        hand.put(setting)
        tried |= set(names)
    assert tried


# A place in the drawing of the first grip where there is nothing to take
BESIDE = """
  (index) => {
    const svg = document.querySelectorAll(".live-figure")[index].querySelector(".grip").ownerSVGElement;
    const { x, y, width, height } = svg.getBoundingClientRect();
    const places = [0.1, 0.9].flatMap((i) => [0.9, 0.1].map((j) => [x + i * width, y + j * height]));
    return places.find((place) => svg.contains(document.elementFromPoint(...place))
      && !document.elementFromPoint(...place).matches(".grip"));
  }
"""


@pytest.mark.parametrize("name, page", [("soft-lookup", "chapters/01_soft_lookup.html"),
                                        ("beats-cycle", "chapters/03_query_and_key.html"),
                                        ("clock-hands", "chapters/10_position.html")])
def test_a_finger_beside_it_scrolls_the_page_and_moves_nothing(visit, name, page):
    hand = Hand(visit, page, served.live_figures(page).index(name), touch=True, width=390)
    hand.ask("bring", 0)
    setting, scrolled = hand.setting(), hand.tab.evaluate("scrollY")
    x, y = hand.tab.evaluate(BESIDE, hand.index)
    hand.press((x, y))
    for up in UPWARDS:
        hand.move((x, y - up))
    hand.release()
    hand.tab.wait_for_function("(before) => Math.abs(scrollY - before) > 50", arg=scrolled)
    assert hand.setting() == setting


def test_a_selection_does_not_come_along(visit):
    """A press on what is selected would drag the words."""
    page = "chapters/03_query_and_key.html"
    hand = Hand(visit, page, served.live_figures(page).index("beats-cycle"))
    hand.ask("bring", 0)
    hand.tab.keyboard.press("Control+a")
    opening = hand.figure.setting()
    start, end = hand.places(0, [opening, opening | {"turn_q": 90}])
    hand.put(opening)
    hand.press(start)
    for share in (0.1, 0.4, 0.7, 1):
        hand.move([a + share * (b - a) for a, b in zip(start, end)])
    hand.release()
    assert hand.setting()["turn_q"] == 90


@pytest.mark.parametrize("touch", [False, True])
def test_a_press_in_the_plane_brings_the_query_there(visit, touch):
    hand = Hand(visit, "chapters/01_soft_lookup.html", 0, touch=touch, width=390 if touch else 1200)
    hand.ask("bring", 0)
    setting = hand.setting()
    place, = hand.places(0, [setting | {"query_x": -2.5, "query_y": 2}])
    hand.put(setting)
    hand.press(place)
    hand.release()
    hand.tab.wait_for_function("() => { flushFrames(); return hand(0).said()['query, first coordinate'] === -2.5; }")
    assert hand.setting() == setting | {"query_x": -2.5, "query_y": 2}


def test_a_press_on_a_map_chooses_its_row(visit):
    hand = Hand(visit, "chapters/11b_heads_since_2024.html", 0)
    hand.ask("bring", 0)
    x, y, high = hand.tab.evaluate("""() => {
      const map = document.querySelector(".live-figure .grip").ownerSVGElement;
      const { x, y, width, height } = map.getBoundingClientRect();
      return [x + width / 2, y, height];
    }""")
    before = hand.setting()
    hand.press((x, y + 3.5 / 16 * high))
    hand.release()
    hand.tab.evaluate("flushFrames()")
    assert before["row"] != 4 and hand.setting() == before | {"row": 4}
