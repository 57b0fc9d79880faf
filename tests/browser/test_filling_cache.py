"""Chapter 11's cache moves: rows glide onto those that they share, a button writes, heads are grouped by hand."""
import pytest

SHARING = "chapters/11_sharing_heads.html"
CACHE = """
  const root = document.querySelector(".live-figure [data-figure=filling-cache]");
  const figure = root.closest(".live-figure");
  const choose = (index) => figure.querySelectorAll("input[type=radio]")[index].click();
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const frames = async (count) => { for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame); };
  const said = () => JSON.stringify([root.numbers, root.querySelector(".status").dataset.said]);
  const drawn = () => root.querySelector("svg").innerHTML;
  const button = root.querySelector(".goes-on");
"""


def of_cache(visit, script, motion="no-preference"):
    """What a script says of the cache of chapter 11, with the words of CACHE."""
    return visit(SHARING, motion=motion).page.evaluate(f"async () => {{ {CACHE} {script} }}")


def test_rows_glide_onto_those_that_they_share_and_what_is_said_is_there_before(visit):
    each = """
      const all = [];
      for (const index of [2, 6, 5, 0]) {
        choose(index);
        await frames(2);
        const [first, words] = [drawn(), said()];
        await pause(900);
        all.push({ first, words, last: drawn(), end: said() });
      }
      return all;
    """
    moved, still = of_cache(visit, each), of_cache(visit, each, motion="reduce")
    for step, other in zip(moved, still):
        assert step["first"] != step["last"] == other["last"] == other["first"]
        assert step["words"] == step["end"] == other["words"]


def test_who_groups_before_the_rows_have_come_ends_where_patience_does(visit):
    script = """
      const ends = [];
      for (const wait of %s) {
        for (const index of [2, 6, 0, 5, 1]) { choose(index); await pause(wait); }
        await pause(900);
        ends.push([drawn(), said()]);
      }
      return ends;
    """
    assert of_cache(visit, script % [0, 80, 300]) == 3 * of_cache(visit, script % [20], motion="reduce")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_it_writes_step_by_step_until_memory_is_full_and_no_further(visit, motion):
    steps, end, label, busy, again = of_cache(visit, """
      const steps = [];
      button.click();
      const written = () => root.numbers.GiB[0] / (root.numbers.KiB[0] / 1024 ** 2);
      for (let i = 0; i < 900 && button.textContent === "Stop"; i++) {
        await frames(1);
        if (steps.at(-1) !== written()) steps.push(written());
      }
      const busy = root.querySelectorAll("[aria-busy]").length;
      const [end, label] = [root.numbers.free[0], button.textContent];
      choose(2);                                            // now there is room, and it writes on
      button.click();
      await pause(700);
      return [steps, end, label, busy, written()];
    """, motion=motion)
    assert [step for step in steps if step <= 4608] == [512 * i for i in range(1, 10)]
    assert end < 0 and label == "Write" and busy == 0 and again == 5120


def test_a_hand_stops_what_is_written(visit):
    label, before, after = of_cache(visit, """
      button.click();
      await pause(700);
      root.querySelector("svg").dispatchEvent(new Event("pointerdown", { bubbles: true }));
      const before = said();
      await pause(700);
      return [button.textContent, before, said()];
    """)
    assert label == "Write" and before == after


def test_heads_are_grouped_by_hand_and_the_rows_go_with_it(visit):
    tab = visit(SHARING, motion="no-preference").page
    grip = tab.locator(".filling-cache .group-grip")
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    rows = "() => document.querySelectorAll('.filling-cache .cache g')[1].getAttribute('transform')"
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y + 40)
    between = tab.evaluate(rows)
    assert abs(grip.bounding_box()["y"] - box["y"] - 40) < 1
    tab.mouse.up()
    tab.wait_for_timeout(900)
    assert tab.evaluate("() => document.querySelectorAll('.live-figure input[type=radio]')[3].checked")
    assert between != tab.evaluate(rows) == "translate(0 74.00)"
