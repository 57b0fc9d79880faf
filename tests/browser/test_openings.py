"""What a reader first meets of each figure: controls that bite, words that can be told apart, no hole in it."""
import pytest

from operate import after_each
from test_figures import every_figure, moves_from_opening, one_at_a_time, open_figure

# All that is seen of a figure but its controls: words, drawing, and maps, which stand in canvases
SEEN = """
  (index) => {
    const root = document.querySelectorAll(".live-figure")[index].querySelector("[data-figure]");
    const maps = [...root.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL());
    const fields = [...root.querySelectorAll("input, select")].map(({ value, checked }) => `${value} ${checked}`);
    const copy = root.cloneNode(true);
    copy.querySelectorAll("details.numbers, .reset").forEach((el) => el.remove());
    return [copy.innerHTML, ...maps, ...fields].join();
  }
"""


@every_figure
def test_each_control_moved_from_the_opening_shows_that_it_was_moved(visit, page, index):
    """The opening first, then each control to its ends."""
    tab, figure = open_figure(visit, page, index)
    first, *seen = after_each(tab, index, figure, one_at_a_time(figure), SEEN)
    answered = {name for (name, _), there in zip(moves_from_opening(figure), seen[::2]) if there != first}
    assert [name for name in figure.controls if name not in answered] == []


# The words of a figure, each line of them as [words, left, top, right, bottom]: what is higher than letters is cut off
WORDS = """
  (index) => {
    const root = document.querySelectorAll(".live-figure")[index].querySelector("[data-figure]");
    const found = [];
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { currentNode: node } = walk;
      const el = node.parentElement;
      if (!node.data.trim() || el.closest("details.numbers, .index, sub, sup")) continue;
      if (!el.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const { left, top, right, bottom, width, height } of range.getClientRects()) {
        const [x, y] = height > 1.5 * width && el.closest("[transform]") ? [0.22 * width, 0] : [0, 0.22 * height];
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
def test_no_words_of_a_figure_lie_on_each_other_when_it_opens(visit, page, index, width):
    tab, _ = open_figure(visit, page, index, width=width)
    words = tab.evaluate(WORDS, index)
    assert words and overlaps(words) == []


# The tallest band of a figure in which nothing is drawn or said, in px, and where it begins
HOLE = """
  (index) => {
    const root = document.querySelectorAll(".live-figure")[index].querySelector("[data-figure]");
    const { top, bottom } = root.getBoundingClientRect();
    const leaves = [...root.querySelectorAll("*")].filter((el) => !el.children.length
      || [...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()));
    const seen = leaves.filter((el) => el.checkVisibility({ visibilityProperty: true }))
      .map((el) => el.getBoundingClientRect()).filter(({ width, height }) => width + height > 0);
    let end = top;
    let hole = [0, 0];
    for (const box of [...seen, { top: bottom, bottom }].sort((a, b) => a.top - b.top)) {
      if (box.top - end > hole[0]) hole = [box.top - end, end - top];
      end = Math.max(end, box.bottom);
    }
    return hole.map(Math.round);
  }
"""


@pytest.mark.parametrize("width", [1200, 390])
@every_figure
def test_no_figure_has_a_hole_when_it_opens(visit, page, index, width):
    tab, _ = open_figure(visit, page, index, width=width)
    hole, at = tab.evaluate(HOLE, index)
    assert hole <= 48, f"{hole} px of nothing, {at} px below its top"
