"""Chapter 0b's model learns in the page: a button trains on and pauses, and the work is done in slices."""
import pytest

LEARNS = "chapters/00b_who_made_the_matrices.html"
TOLD = """
  const root = document.querySelector(".live-figure [data-figure=learn]");
  const slider = root.closest(".live-figure").querySelector("input[type=range]");
  const button = root.querySelector(".goes-on");
  const until = async (holds) => {
    for (let i = 0; i < 3000 && !holds(); i++) await new Promise(requestAnimationFrame);
  };
  const steps = () => 10 * (root.numbers.all.length - 1);
  const put = (value) => {
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  };
"""


def of_learner(visit, script, motion="no-preference"):
    return visit(LEARNS, motion=motion).page.evaluate(f"async () => {{ {TOLD} {script} }}")


def test_it_trains_on_until_it_is_paused_and_then_from_there(visit):
    first, paused, later, label = of_learner(visit, """
      button.click();
      const first = button.textContent;
      await until(() => steps() >= 30);
      button.click();
      const paused = Number(slider.value);
      await new Promise((done) => setTimeout(done, 300));
      const later = [Number(slider.value), steps()];
      button.click();
      await until(() => steps() >= paused + 20);
      return [first, paused, later, button.textContent];
    """)
    assert first == label == "Pause" and paused >= 30 and later == [paused, paused]


def test_who_pulls_the_slider_while_it_trains_is_heard(visit):
    there, later = of_learner(visit, """
      const pulled = [];
      for (const place of [0, 10, 20]) {
        button.click();
        while (steps() < 40 || steps() !== Number(slider.value)) await new Promise((done) => setTimeout(done, 0));
        put(place);
        await new Promise((done) => setTimeout(done, 300));
        pulled.push([Number(slider.value), button.textContent]);
      }
      return [[[0, "Train"], [10, "Train"], [20, "Train"]], pulled];
    """)
    assert later == there


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_who_pulls_the_slider_to_the_end_waits_in_small_slices(visit, motion):
    between, end, right, busy = of_learner(visit, """
      put(200);
      const between = [];
      await until(() => { between.push(steps()); return steps() === 200; });
      return [between.length, steps(), root.numbers.judged[2], root.querySelectorAll("[aria-busy]").length];
    """, motion=motion)
    assert between > 10 and end == 200 and right == 1 and busy == 0


def test_what_was_trained_is_kept_and_shown_again_at_once(visit):
    back, again = of_learner(visit, """
      put(60);
      await until(() => steps() === 60);
      const before = [...root.numbers.parameter];
      put(0);
      await until(() => steps() === 0);
      const back = root.numbers.parameter.some((value, i) => value !== before[i]);
      put(60);
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
      return [back, String(root.numbers.parameter) === String(before)];
    """)
    assert back and again
