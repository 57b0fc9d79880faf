"""The 72 discs of chapter 8 beyond their numbers: how they lie, that one can be pressed, and how they move."""
import numpy as np
import pytest

import served
from operate import operate

PAGE = "chapters/08_what_heads_do.html"
NUMBER = "() => [...document.querySelectorAll('.live-figure [data-figure]')].map((el) => el.dataset.figure)"
ROOT = "[data-figure=heads-sorted]"
SORT = f"(k) => document.querySelector('.live-figure:has({ROOT})').querySelectorAll('input[type=radio]')[k].click()"
# In the drawing: the middle and the radius of its 72 discs and of the ring, and its edges
LYING = f"""
  () => {{
    const svg = document.querySelector("{ROOT} svg");
    const {{ left, top, width, height }} = svg.getBoundingClientRect();
    const circle = (el) => {{
      const {{ x, y, width }} = el.getBoundingClientRect();
      return [x - left + width / 2, y - top + width / 2, width / 2];
    }};
    return [[...svg.querySelectorAll(".one circle, .mine")].map(circle), [0, 0, width, height]];
  }}
"""
# The same in each frame after the discs are sorted anew, for a second at least, until ten of them are alike
MOVING = f"""
  (k) => new Promise((done) => {{
    const look = {LYING};
    const seen = [];
    ({SORT})(k);
    const begin = performance.now();
    const tick = (now) => {{
      seen.push(look()[0]);
      const still = new Set(seen.slice(-10).map((one) => JSON.stringify(one))).size === 1;
      if (still && now - begin > 1100) done(seen);
      else requestAnimationFrame(tick);
    }};
    requestAnimationFrame(tick);
  }})
"""


@pytest.fixture
def heads_sorted(visit):
    """A function that opens the page, and gives it and the place of the figure."""
    def opened(**options):
        if PAGE not in served.pages():
            pytest.skip("this book has no chapter 8")
        tab = visit(PAGE, **{"script": served.FRAMES, **options}).page
        index = tab.evaluate(NUMBER).index("heads-sorted")
        tab.locator(f"{ROOT} svg").first.scroll_into_view_if_needed()      # before the steps of its stage
        return tab, index
    return opened


@pytest.mark.parametrize("width", [1200, 700, 390, 320])
def test_no_two_discs_overlap_and_the_ring_is_on_the_chosen_one(heads_sorted, width):
    from mha.widgets import HeadsSorted

    tab, index = heads_sorted(width=width)
    figure = HeadsSorted()
    for setting in figure.settings():
        if (setting["layer"], setting["head"]) not in ((0, 2), (5, 11)):
            continue
        operate(tab, index, figure, [setting])
        circles, (left, top, right, bottom) = tab.evaluate(LYING)
        (*discs, ring) = np.array(circles)
        discs = np.array(discs)
        apart = np.linalg.norm(discs[:, None, :2] - discs[:, :2], axis=-1) + 1e3 * np.eye(72)
        assert apart.min() > 2 * discs[0, 2] - 0.5, setting
        assert (discs[:, :2] - discs[:, 2:] > (left - 1, top)).all(), setting
        assert (discs[:, :2] + discs[:, 2:] < (right + 1, bottom)).all(), setting
        assert np.allclose(ring[:2], discs[setting["layer"] * 12 + setting["head"], :2], atol=0.1), setting


def test_a_press_on_a_disc_chooses_its_head(heads_sorted):
    tab, index = heads_sorted()
    figure = tab.locator(".live-figure").nth(index)
    for name, layer, head in (("4.5", "4", "5"), ("0.11", "0", "11")):
        figure.get_by_text(name, exact=True).click()
        tab.evaluate("flushFrames()")
        assert [slider.input_value() for slider in figure.locator("input[type=range]").all()] == [layer, head]
        assert figure.locator(".status > span").inner_text().startswith(f"Head {name} gives ")


def test_discs_glide_to_where_they_are_without_motion_and_the_ring_rides_along(heads_sorted):
    moved, _ = heads_sorted(motion="no-preference", script="")
    moved.evaluate(MOVING, 4)                                          # by 30 pronouns, the first at the right
    frames = np.array(moved.evaluate(MOVING, 6))[:, :, :2]
    tab, _ = heads_sorted(script="")
    tab.evaluate(MOVING, 4)
    still = np.array(tab.evaluate(MOVING, 6))[:, :, :2]
    assert (still[-1] == still[1]).all()
    assert np.allclose(frames[-1], still[-1], atol=0.1)
    x = frames[:, 15, 0]                                               # of head 1.3, from the right to the middle
    assert len(set(x.round(1))) > 4 and (np.diff(x) <= 0.1).all(), x
    assert np.abs(frames[:, 72] - frames[:, 2]).max() < 1             # the ring is on 0.2


def test_who_sorts_again_before_the_discs_are_there_ends_where_the_last_one_says(heads_sorted):
    tab, _ = heads_sorted(motion="no-preference", script="")
    last = np.array(tab.evaluate(MOVING, 3))[-1]
    for k in (0, 8, 5):
        tab.evaluate(SORT, k)
        tab.wait_for_timeout(100)
    assert np.allclose(np.array(tab.evaluate(MOVING, 3))[-1], last, atol=0.1)
