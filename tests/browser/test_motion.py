"""What moves on a page, and what does not: the rest of the browser tests run as for a reader who wants no motion."""
import pytest

PAGE = "chapters/03_query_and_key.html"
# The setting of the first figure's first slider, now and in the frames after a button was pressed
FRAMES = """
  (index) => new Promise((done) => {
    const input = document.querySelector(".live-figure input[type=range]");
    const busy = () => document.querySelector(".live-figure [aria-live]").getAttribute("aria-busy");
    const seen = [];
    document.querySelectorAll("button.try")[index].click();
    const begin = performance.now();
    const look = () => {
      seen.push([Number(input.value), busy()]);
      if (performance.now() - begin < 900) requestAnimationFrame(look);
      else done(seen);
    };
    requestAnimationFrame(look);
  })
"""
PLACE = "() => Number(document.querySelector('.live-figure input[type=range]').value)"
TURN = 0                                            # the button that turns the single matrix to 60 degrees


def test_a_try_glides_through_settings_to_where_it_says(visit):
    tab = visit(PAGE, motion="no-preference").page
    places, busy = zip(*tab.evaluate(FRAMES, TURN))
    assert places[-1] == 60 and busy[-1] is None
    assert len(set(places)) > 3 and list(places) == sorted(places), places
    assert all(place % 15 == 0 for place in places), "only what the slider can say"
    assert "true" in busy, "what is said waits for the end"


def test_with_no_motion_wanted_it_is_there_at_once(visit):
    tab = visit(PAGE).page
    places, busy = zip(*tab.evaluate(FRAMES, TURN))
    assert set(places) == {60} and set(busy) == {None}


def test_who_is_in_a_hurry_ends_where_the_last_one_says(visit):
    tab = visit(PAGE, motion="no-preference").page
    tab.evaluate("() => [0, 3, 1, 0].forEach((i) => document.querySelectorAll('button.try')[i].click())")
    tab.wait_for_timeout(1000)
    first = tab.evaluate("() => document.querySelector('.live-figure [data-figure]').numbers")
    assert tab.evaluate(PLACE) == 60
    tab.evaluate("() => document.querySelectorAll('button.try')[0].click()")
    tab.wait_for_timeout(1000)
    assert tab.evaluate("() => document.querySelector('.live-figure [data-figure]').numbers") == first


def test_a_hand_on_the_figure_ends_a_glide(visit):
    tab = visit(PAGE, motion="no-preference").page
    tab.evaluate("""() => {
      document.querySelectorAll("button.try")[0].click();
      document.querySelector(".live-figure").dispatchEvent(new Event("pointerdown"));
    }""")
    place = tab.evaluate(PLACE)
    tab.wait_for_timeout(900)
    assert tab.evaluate(PLACE) == place < 60
    assert tab.locator(".live-figure [aria-busy]").count() == 0


@pytest.mark.parametrize("page", ["chapters/06_multi_head.html", "chapters/11_sharing_heads.html"])
def test_every_try_ends_where_it_ends_without_motion(visit, page):
    shown = """async (wait) => {
      const all = [];
      for (const button of document.querySelectorAll("button.try")) {
        button.click();
        await new Promise((done) => setTimeout(done, wait));
        const figures = [...document.querySelectorAll(".live-figure [data-figure]")];
        all.push(JSON.stringify(figures.map((one) => one.numbers)));
      }
      return all;
    }"""
    moved = visit(page, motion="no-preference").page.evaluate(shown, 900)
    assert moved == visit(page).page.evaluate(shown, 100)
