"""Everything that is found on a page in one visit."""
import functools

import served
from mha.exercises import EXERCISES
from mha.exercises.engine.exercise import Exercise
from mha.exercises.engine.question import Choice, Number
from operate import HEIGHT, READ, after_each, figure_called, unpack
from test_exercises_in_pages import REPLIES, form_of, page_of
from test_figures import pairs_of_ends

WIDE, NARROW = 1200, 390        # a window gets no narrower than its own buttons: 500 px in Firefox, 447 in WebKit

POLICY = "() => document.querySelector('meta[http-equiv=\"Content-Security-Policy\"]')?.content ?? ''"
NAME = "(index) => document.querySelectorAll('.live-figure')[index].querySelector('[data-figure]')?.dataset.figure"
READ_AND_MEASURE = "(index) => [(%s)(index), (%s)(index)]" % (READ.strip(), HEIGHT)
# A formula is drawn when it takes room, and a fraction when its parts stand one above the other: where an engine does
# not know MathML they stand side by side. All that is folded is unfolded first.
FORMULAS = """
  () => {
    document.querySelectorAll("details").forEach((el) => { el.open = true; });
    const box = (el) => el.getBoundingClientRect();
    const lost = (el) => box(el).width < 2 || box(el).height < 5 || !el.checkVisibility({ visibilityProperty: true });
    const flat = (el) => box(el.children[0]).bottom > box(el.children[1]).top + 4;
    const plain = (name) => name.replaceAll('"', "").trim();
    const fonts = [...document.fonts].filter((font) => font.status === "loaded");
    const loaded = new Set(fonts.map((font) => plain(font.family)));
    const strange = (el) => !loaded.has(plain(getComputedStyle(el).fontFamily.split(",")[0]));
    const tex = (list) => list.map((el) => el.closest("math").querySelector("annotation")?.textContent);
    const all = [...document.querySelectorAll("article math:not(.meaning *)")]; // not what hover would show
    const fractions = [...document.querySelectorAll("article mfrac")];
    return { all: document.querySelectorAll("math").length, lost: tex(all.filter(lost)),
      strange: tex(all.filter(strange)), flat: tex(fractions.filter(flat)) };
  }
"""
# What was asked of another address, had or not
FOREIGN = """
  () => performance.getEntriesByType("resource").map((entry) => entry.name)
    .filter((url) => !url.startsWith(location.origin) && !url.startsWith("data:"))
"""
# The window is as narrow as it gets, and the page has been laid out in it.
IS_NARROW = """
  async () => {
    const frame = () => new Promise(requestAnimationFrame);
    while (innerWidth > 1000) await frame();
    for (let i = 0; i < 3; i++) await frame();
  }
"""


def visit(engine, address, page):
    """All findings on a page, by name of the check."""
    engine.resize(WIDE)
    engine.go(address + page)
    engine.evaluate(served.SETTLED)
    found = {
        "policy": engine.evaluate(POLICY),
        "figures": [operate(engine, index) for index in range(len(served.live_figures(page)))],
        "formulas": engine.evaluate(FORMULAS),
        "replies": reply(engine, page),
        "overflow": {WIDE: engine.evaluate(served.OVERFLOW)},
    }
    engine.resize(NARROW)
    engine.evaluate(IS_NARROW)
    for index, seen in enumerate(found["figures"]):
        if seen["name"]:
            figure = figure_called(seen["name"])
            seen["heights"][NARROW] = after_each(engine, index, figure, settings(seen["name"]), HEIGHT)
    found["overflow"][NARROW] = engine.evaluate(served.OVERFLOW)
    found["foreign"] = engine.evaluate(FOREIGN)
    found["heard"] = engine.evaluate("() => window.heard")
    return found


@functools.cache
def settings(name):
    """Each end of a control with each end of every other; few, where a setting is a training."""
    return pairs_of_ends(figure_called(name))[::3 if name == "learn" else 1]


def operate(engine, index):
    """What the page's index-th figure shows at each setting, and how high it is there; a dead one has no name."""
    name = engine.evaluate(NAME, index)
    if not name:
        return {"name": None}
    seen = after_each(engine, index, figure_called(name), settings(name), READ_AND_MEASURE)
    return {"name": name, "shown": [unpack(shown) for shown, _ in seen], "heights": {WIDE: [high for _, high in seen]}}


def questions(page):
    """The questions that a page asks, each with a wrong answer and a right one."""
    items = [item for item in EXERCISES.values() if not (isinstance(item, Exercise) or item.predicted)
             and page_of(item) == page]
    return [(item, wrong(item), right(item)) for item in items]


def right(item):
    return item.solution if isinstance(item, Number) else item.right if isinstance(item, Choice) else "my words"


def wrong(item):
    if isinstance(item, Number):
        return f"{item.mistakes[0][0]:.10g}" if item.mistakes else "123456"
    return next(letter for letter in item.letters if letter not in item.right) if isinstance(item, Choice) else ""


def reply(engine, page):
    """The page's replies: [item, answer, paragraphs]."""
    asked = [(item, answer) for item, *answers in questions(page) for answer in answers]
    replies = engine.evaluate(REPLIES, [[form_of(item), answer] for item, answer in asked])
    return [(item, answer, paragraphs) for (item, answer), paragraphs in zip(asked, replies)]
