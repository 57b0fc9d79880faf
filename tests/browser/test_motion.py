"""What moves on a page, and what does not: the rest of the browser tests run as for a reader who wants no motion."""
import pytest

PAGE = "chapters/03_query_and_key.html"
# The setting of the first figure's first slider, now and in the frames after a button was pressed
FRAMES = """
  (index) => new Promise((done) => {
    const input = document.querySelector(".live-figure input[type=range]");
    const status = input.closest(".live-figure").querySelector("[aria-live]");
    const busy = () => status.getAttribute("aria-busy");
    const seen = [];
    document.querySelectorAll(".try[role]")[index].click();
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
TURN = 3                                            # the button that turns W_Q to 60 degrees
BEGIN = "() => document.querySelector('.live-figure:has(input[type=range])').settings.put({ turn_q: -60 })"


def test_a_try_glides_through_settings_to_where_it_says(visit):
    tab = visit(PAGE, motion="no-preference").page
    tab.evaluate(BEGIN)
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
    tab.evaluate("() => [3, 5, 4, 3].forEach((i) => document.querySelectorAll('.try[role]')[i].click())")
    tab.wait_for_timeout(1000)
    first = tab.evaluate("() => document.querySelector('[data-figure=beats-cycle]').numbers")
    assert tab.evaluate(PLACE) == 60
    tab.evaluate("() => document.querySelectorAll('.try[role]')[3].click()")
    tab.wait_for_timeout(1000)
    assert tab.evaluate("() => document.querySelector('[data-figure=beats-cycle]').numbers") == first


def test_a_hand_on_the_figure_ends_a_glide(visit):
    tab = visit(PAGE, motion="no-preference").page
    tab.evaluate("""() => {
      document.querySelectorAll(".try[role]")[3].click();
      document.querySelector(".live-figure:has(input[type=range])").dispatchEvent(new Event("pointerdown"));
    }""")
    place = tab.evaluate(PLACE)
    tab.wait_for_timeout(900)
    assert tab.evaluate(PLACE) == place < 60
    assert tab.locator(".live-figure [aria-busy]").count() == 0


@pytest.mark.parametrize("page", ["chapters/06_multi_head.html", "chapters/11_sharing_heads.html"])
def test_every_try_ends_where_it_ends_without_motion(visit, page):
    shown = """async (ends) => {
      const all = [];
      const numbers = () => JSON.stringify(
        [...document.querySelectorAll(".live-figure [data-figure]")].map((one) => one.numbers));
      for (const [i, button] of document.querySelectorAll(".try[role]").entries()) {
        button.click();
        const pause = () => new Promise((done) => setTimeout(done, 100));
        await pause();
        for (let tries = 0; tries < 100 && ends && numbers() !== ends[i]; tries++) await pause();
        all.push(numbers());
      }
      return all;
    }"""
    still = visit(page).page.evaluate(shown, None)
    assert visit(page, motion="no-preference").page.evaluate(shown, still) == still


# ---- chapter 0's machine: numbers fly to what they make --------------------------------------------------

WHOLE = "chapters/00_the_whole.html"
MACHINE = """
  const root = document.querySelector(".live-figure [data-figure=whole-layer]");
  const next = root.querySelector(".go.next");
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const moving = () => document.getAnimations().filter((one) => root.contains(one.effect.target)
    && !(one instanceof CSSTransition)).length;
  // What is there for who reads it, and for who looks
  const said = () => JSON.stringify([root.numbers, root.querySelector(".says").textContent,
    [...root.querySelectorAll(".entry")].map((el) => [el.textContent, el.className, el.ariaValueText])]);
  const clear = () => !root.querySelector(".flight") && moving() === 0
    && [...root.querySelectorAll(".entry, .flow")].every((el) => getComputedStyle(el).opacity === "1");
"""


def of_machine(visit, script, motion="no-preference", **options):
    """What a script says of the machine of chapter 0, with the words of MACHINE."""
    return visit(WHOLE, motion=motion, **options).page.evaluate(f"async () => {{ {MACHINE} {script} }}")


# Each step: what is said in the first two frames, how much moves then, and what is said when all has landed
STEPS = """
  const all = [];
  for (let step = 1; step <= 11; step++) {
    next.click();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    const [first, count, strips] = [said(), moving(), root.querySelectorAll(".flight").length];
    await pause(1000);
    all.push({ first, count, strips, last: said(), clear: clear() });
  }
  return all;
"""


def test_numbers_fly_in_the_machine_and_all_that_is_said_is_there_before(visit):
    moved, still = of_machine(visit, STEPS), of_machine(visit, STEPS, motion="reduce")
    assert [step["strips"] for step in moved] == [0, 2, 6, 6, 8, 2, 2, 8, 2, 1, 3]
    assert all(step["first"] == step["last"] == other["last"] for step, other in zip(moved, still))
    assert all(step["clear"] for step in moved)
    assert {step["count"] for step in still} == {0} == {step["strips"] for step in still}


@pytest.mark.parametrize("wait", [0, 60, 200, 400])
def test_who_steps_before_the_numbers_have_landed_ends_where_patience_does(visit, wait):
    end = """
      for (let step = 1; step <= 11; step++) { next.click(); await pause(%d); }
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame); // the last step is drawn
      for (let i = 0; i < 50 && !clear(); i++) await pause(200);
      return [said(), clear()];
    """
    hurried, patient = of_machine(visit, end % wait), of_machine(visit, end % 20, motion="reduce")
    assert hurried == patient and hurried[1]


def test_a_number_that_is_changed_ends_the_flight_and_sends_none(visit):
    flying, after = of_machine(visit, """
      for (let step = 1; step <= 5; step++) { next.click(); await pause(250); }
      const flying = root.querySelectorAll(".flight").length;
      const given = root.querySelector(".matrix.given .entry");
      given.focus();
      given.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      return [flying, clear()];
    """)
    assert flying and after


def test_a_weight_of_nothing_and_a_head_that_is_off_send_nothing(visit):
    strips = """
      root.closest(".live-figure").settings.put(%s);
      await pause(1200);
      next.click();
      await pause(80);
      return root.querySelectorAll(".flight").length;
    """
    assert of_machine(visit, strips % "{ step: 7 }") == 8
    assert of_machine(visit, strips % "{ step: 7, masked: true }") == 6          # "good" sees no later word
    assert of_machine(visit, strips % "{ step: 7, head_2: false }") == 4


PLAY = """
  const play = root.querySelector(".play");
  const output = root.closest(".live-figure").querySelector("output");
  const real = window.setTimeout;
  const waits = [];
  window.setTimeout = (act, ms, ...more) => {             // what is read takes no time here
    if (ms > 1200) waits.push(ms);
    return real(act, ms > 1200 ? 30 : ms, ...more);
  };
  play.focus();
  play.click();
"""


def test_play_takes_every_step_for_as_long_as_its_sentence_and_ends(visit):
    waits, seen, label, end, focused = of_machine(visit, PLAY + """
      const seen = new Set();
      for (let i = 0; i < 200 && play.textContent === "Stop"; i++) {
        seen.add(output.textContent);
        await new Promise(requestAnimationFrame);
      }
      await pause(300);
      return [waits, [...seen], play.textContent, output.textContent, document.activeElement === play];
    """, motion="reduce")
    assert len(waits) == 10 and len(set(waits)) > 5
    assert end == "11 \u00b7 added" and label == "Play" and len(seen) >= 10 and focused


@pytest.mark.parametrize("hand", ["play.click()", "next.click()",
                                  "root.querySelector('.entry').dispatchEvent(new Event('pointerdown', "
                                  "{ bubbles: true }))"])
def test_stop_and_any_hand_stop_what_plays(visit, hand):
    label, before, after, landed = of_machine(visit, PLAY.replace("30 : ms", "300 : ms") + f"""
      await pause(400);
      {hand};
      await pause(80);
      const before = output.textContent;
      await pause(1100);
      return [play.textContent, before, output.textContent, clear()];
    """)
    assert label == "Play" and before == after != "11 \u00b7 added" and landed


# ---- the front page: a head that is taken away draws its ribbons back -------------------------------------

AWAY = """
  async (wait) => {
    const ribbons = [...document.querySelectorAll(".live-figure .ribbon.hue-head-2")];
    const seen = () => ribbons.filter((one) => getComputedStyle(one).visibility === "visible").length;
    const before = seen();
    document.querySelector(".try[role]").click();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    const during = seen();
    await new Promise((done) => setTimeout(done, wait));
    return [before, during, seen()];
  }
"""


@pytest.mark.parametrize("motion, during", [("no-preference", 4), ("reduce", 0)])
def test_a_head_that_is_taken_away_draws_back(visit, motion, during):
    assert visit("chapters/index.html", motion=motion).page.evaluate(AWAY, 900) == [4, during, 0]


# ---- other figures: what flies says at once what it says at the end ---------------------------------------

ADDED = """
  async () => {
    const root = document.querySelector("[data-figure=head-sum]");
    const said = () => JSON.stringify([root.numbers, root.querySelector(".sum").innerText]);
    const moving = () => root.getAnimations({ subtree: true }).length;
    const two = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const opening = said();
    root.closest(".live-figure").settings.put({ kept: 1 });
    await two();
    const [first, strips, moves] = [said(), root.querySelectorAll(".flight").length, moving()];
    await new Promise((done) => setTimeout(done, 1400));
    return { changed: opening !== first, same: first === said(), strips, moves, left: moving() };
  }
"""


def test_what_a_head_writes_flies_to_its_arrows_and_leaves_nothing(visit):
    moved = visit("chapters/06_multi_head.html", motion="no-preference").page.evaluate(ADDED)
    assert moved["changed"] and moved["same"] and moved["strips"] == 3 and moved["left"] == 0
    still = visit("chapters/06_multi_head.html").page.evaluate(ADDED)
    assert still["changed"] and still["strips"] == still["moves"] == 0
