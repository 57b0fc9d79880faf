"""The story that a model writes in the page: a press brings it, and then it reads, writes, and is taken apart."""
import math
import re

import pytest

import served

NAME = "story-that-breaks"
PAGE = next((page for page in served.pages() if NAME in served.live_figures(page)), None) if served.chromium() else None
MODEL = served.HTML / "_static" / "figures" / "story_model.js"
pytestmark = pytest.mark.skipif(PAGE is None, reason="no page of this book has the story that breaks")
with_model = pytest.mark.skipif(not MODEL.exists() or "null" in MODEL.read_text("utf8"),
                                reason="the book was built without the weights of stories15M")

# All rows at once: the table may be drawn anew between two questions
NUMBERS = "(rows) => rows.map((row) => [...row.querySelectorAll('th, td.number')].map((el) => el.innerText))"


class Story:
    """The figure in a page."""

    def __init__(self, visit):
        self.visit, self.page = visit, visit.page
        self.figure = visit.page.locator(f"[data-figure={NAME}]")

    def start(self):
        self.figure.get_by_role("button", name="Let the model run here").click()
        self.figure.locator(".own").last.wait_for(timeout=90000)
        return self

    def said(self):
        return self.figure.locator(".status > span").inner_text()

    def text(self):
        """The tokens that are shown."""
        return self.figure.locator(".token").all_inner_texts()

    def chance(self, token):
        """NaN while it is not among the likeliest."""
        return self.chances().get(token, [math.nan])[0]

    def chances(self):
        """Token -> (now, of the whole model)."""
        rows = self.figure.locator(".next tbody tr").evaluate_all(NUMBERS)
        return {name: (float(now), float(whole)) for name, now, whole in rows}

    def press(self, name):
        self.figure.get_by_role("button", name=name, exact=True).click()

    def until(self, holds):
        for _ in range(600):
            if holds():
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"it did not come to that; it says {self.said()!r}")


@pytest.fixture
def story(visit):
    return Story(visit(PAGE))


@pytest.fixture
def running(story):
    return story.start()


# --- Before a press -------------------------------------------------------------------------------------------------

def test_before_a_press_nothing_of_the_model_is_asked_for(story):
    assert not [url for url in story.visit.requested if re.search(r"story_model-|story_worker", url)]
    assert re.search(r"\d\.\d MB$", story.figure.locator(".press button").inner_text()) or "null" in MODEL.read_text()


def test_the_chosen_head_is_switched_by_a_key_and_by_its_button_and_a_click_only_chooses(story):
    before = story.text()
    heads = story.figure.locator(".head")
    heads.nth(31).click()
    assert heads.nth(31).get_attribute("aria-pressed") == "true"
    heads.nth(31).press("Enter")
    story.until(lambda: story.text() != before)
    assert heads.nth(31).get_attribute("aria-pressed") == "false" and story.chances()["Anna"][0] < 0.2
    heads.nth(8).click()
    story.until(lambda: heads.nth(8).get_attribute("tabindex") == "0")
    assert story.figure.locator(".head.off").count() == 1
    story.press("Switch head 1.2 off")
    story.until(lambda: heads.nth(8).get_attribute("aria-pressed") == "false")
    assert heads.nth(31).get_attribute("aria-pressed") == "true"


def test_without_the_model_the_page_says_so(visit, chrome, address):
    context = chrome.new_context()
    page = context.new_page()
    page.route("**/story_model.js*", lambda route: route.fulfill(body="window.storyModel = null;"))
    page.goto(address + PAGE)
    page.evaluate(served.SETTLED)
    says = page.locator(f"[data-figure={NAME}] .press")
    assert "built without the model" in says.inner_text() and says.locator("button").count() == 0
    context.close()


# --- The model that runs --------------------------------------------------------------------------------------------

@with_model
def test_a_press_brings_the_model_and_it_says_what_was_stored(story):
    stored = story.chances()
    story.start()
    story.until(lambda: len(story.text()) < 40)
    live = story.chances()
    assert all(abs(live[name][0] - stored[name][0]) <= 0.011 for name in stored if name in live)
    assert live["Anna"] == stored["Anna"] and story.visit.errors == [] and story.visit.foreign == []


@with_model
def test_it_writes_a_token_and_goes_on_and_stops(running):
    n = len(running.text())
    running.press("Write a token")
    running.until(lambda: len(running.text()) == n + 1)
    assert running.text()[-1] == "Anna"
    assert f"{n + 1} tokens" in running.figure.locator(".cache p > span").inner_text()
    running.press("Write on")
    running.until(lambda: len(running.text()) > n + 5)
    running.press("Stop")
    running.page.wait_for_timeout(1000)
    stopped = len(running.text())
    running.page.wait_for_timeout(500)
    assert len(running.text()) == stopped
    running.press("Take back what was written")
    running.until(lambda: len(running.text()) == n)


@with_model
def test_values_of_one_head_rename_the_hero_and_all_keys_do_not(running):
    running.figure.locator(".own select").last.select_option("all keys")
    running.press("Lend")
    running.until(lambda: "are now those of" in running.said())
    assert running.chances()["Anna"][0] > 0.8
    running.press("Undo every change")
    running.until(lambda: running.figure.locator(".token.lent").count() == 0)
    running.figure.locator(".own select").last.select_option("the values of the chosen head")
    running.figure.get_by_label("Who lends").press("Enter")
    running.until(lambda: running.chances().get("Lucy", [0])[0] > 0.8)
    assert "96 of the 93,312 numbers" in running.said() and running.figure.locator(".token.lent").count() == 2


@with_model
def test_heads_go_off_together_and_a_token_is_hidden(running):
    heads = running.figure.locator(".head")
    heads.nth(31).press("Enter")
    running.until(lambda: running.chance("Anna") < 0.2)
    heads.nth(28).click()
    running.press("Switch head 4.4 off")
    running.until(lambda: running.figure.locator(".head.off").count() == 2)
    running.press("Undo every change")
    running.until(lambda: running.chance("Anna") > 0.8)
    for j in (12, 14):
        running.until(lambda: running.figure.locator(".status[aria-busy]").count() == 0)
        running.figure.locator(".token").nth(j).click()
        running.press("Hide “Anna”")
    running.until(lambda: running.figure.locator(".token.gone").count() == 2 and running.chance("Anna") < 0.2)


@with_model
def test_own_words_are_read_and_letters_without_a_piece_are_said(running):
    running.figure.get_by_label("The beginning of a story").fill("Lucy had a café")
    running.press("Read it")
    running.until(lambda: "no piece for “é”" in running.said())
    assert running.text()[:2] == ["▸", "Lucy"] and running.text()[-1] == "□"


@with_model
def test_a_text_of_ones_own_has_a_name_keeps_its_changes_and_leads_back_to_a_story(running):
    story, change = (running.page.locator(".live-figure").filter(has=running.figure).get_by_label(name, exact=True)
                     for name in ("the story begins", "changed"))
    running.figure.get_by_label("The beginning of a story").fill("The cats in the house")
    running.press("Read it")
    running.until(lambda: "house" in running.text())
    assert story.evaluate("(el) => el.selectedOptions[0].text") == "your own text"
    change.select_option("head 5.1 is off")
    running.until(lambda: running.figure.locator(".head.off").count() == 1)
    assert "house" in running.text()
    story.select_option(index=0)
    running.until(lambda: "Anna" in running.text() and "house" not in running.text())


@with_model
def test_a_seed_settles_a_story(running):
    temperature = running.figure.locator("input[type=range]")
    temperature.focus()
    for _ in range(10):
        temperature.press("ArrowRight")
    n, told = len(running.text()), []
    for seed in ("3", "3", "8"):
        running.figure.get_by_label("seed").fill(seed)
        running.press("Take back what was written")
        running.until(lambda: len(running.text()) == n)
        for k in range(1, 9):
            running.press("Write a token")
            running.until(lambda k=k: len(running.text()) == n + k)
        told.append(running.text())
    assert told[0] == told[1] != told[2]


@with_model
def test_the_controls_of_the_page_change_the_model_that_runs(running):
    change = running.page.locator(".live-figure").filter(has=running.figure).get_by_label("changed", exact=True)
    change.select_option("values of head 5.1 are lent")
    running.until(lambda: running.chances().get("Lucy", [0])[0] > 0.8)
    change.select_option("head 5.1 is off")
    running.until(lambda: running.chance("Anna") < 0.2 and running.figure.locator(".head.off").count() == 1)
    running.press("Undo every change")
    running.until(lambda: running.chance("Anna") > 0.8)
    assert change.evaluate("(el) => el.selectedOptions[0].text") == "nothing"


# Of what the worker is to read nothing goes out while `isHeld`; how often it was asked to read stands in `begins`
HELD = """(() => {
  const post = Worker.prototype.postMessage;
  Object.assign(window, { isHeld: false, begins: 0, letGo: () => null });
  Worker.prototype.postMessage = function (message) {
    const send = () => post.call(this, message);
    if (message.act !== "begin") return send();
    window.begins += 1;
    if (!window.isHeld) return send();
    window.letGo = () => { window.isHeld = false; send(); };
  };
})();"""


@with_model
def test_of_many_choices_the_model_reads_the_newest_and_until_then_it_says_that_it_computes(visit):
    story = Story(visit(PAGE, script=HELD)).start()
    before = story.said()
    change = story.page.locator(".live-figure").filter(has=story.figure).get_by_label("changed", exact=True)
    story.page.evaluate("window.isHeld = true; window.begins = 0")
    change.select_option("head 0.0 is off")
    story.until(lambda: story.page.evaluate("window.begins") == 1)
    for wanted in ("head 0.1 is off", "head 1.3 is off", "head 2.2 is off", "values of head 5.1 are lent"):
        change.select_option(wanted)
        story.page.wait_for_timeout(50)
    assert story.said() == "Computing …" != before
    assert story.figure.locator(".stale").count() == 2
    story.page.evaluate("window.letGo()")
    story.until(lambda: story.chances().get("Lucy", [0])[0] > 0.8)
    story.until(lambda: story.figure.locator(".stale, .status[aria-busy]").count() == 0)
    assert story.page.evaluate("window.begins") == 2
    assert change.evaluate("(el) => el.selectedOptions[0].text") == "values of head 5.1 are lent"


@with_model
def test_what_is_switched_while_the_model_reads_its_first_text_is_not_lost(visit):
    story = Story(visit(PAGE, script=HELD))
    story.page.evaluate("window.isHeld = true")
    story.figure.get_by_role("button", name="Let the model run here").click()
    story.until(lambda: story.page.evaluate("window.begins") == 1)
    story.press("Switch head 5.1 off")
    story.page.evaluate("window.letGo()")
    story.figure.locator(".own").last.wait_for(timeout=90000)
    story.until(lambda: story.figure.locator(".head.off").count() == 1 and story.chance("Anna") < 0.2)
    assert story.visit.errors == []


@with_model
def test_a_note_does_not_outlive_what_it_was_said_of(running):
    running.press("Lend")
    running.until(lambda: "are now those of" in running.said())
    running.press("Undo every change")
    running.until(lambda: running.figure.locator(".token.lent").count() == 0)
    running.until(lambda: running.said().startswith("Next comes"))


@with_model
def test_the_second_time_it_comes_from_the_browser_s_own_store(running):
    running.page.route("**/story_model-*.bin", lambda route: route.abort())
    running.page.reload()
    running.page.evaluate(served.SETTLED)
    running.start()
    assert running.chances()["Anna"][0] > 0.8


@with_model
def test_where_the_file_does_not_come_it_says_why_and_the_stored_story_stays(story):
    story.page.route("**/story_model-*.bin", lambda route: route.fulfill(status=404))
    stored = story.text()
    story.figure.get_by_role("button", name="Let the model run here").click()
    story.until(lambda: "could not be loaded: the site answers 404" in story.figure.locator(".press").inner_text())
    assert story.text() == stored and story.figure.locator(".press [aria-disabled]").count() == 0


# --- By keyboard ----------------------------------------------------------------------------------------------------

@with_model
def test_heads_and_tokens_are_one_stop_each_and_arrows_move_inside(running):
    heads, tokens = running.figure.locator(".head"), running.figure.locator(".token")
    for group in (heads, tokens):
        assert group.evaluate_all("(all) => all.filter((el) => el.tabIndex === 0).length") == 1
    heads.nth(31).focus()
    running.page.keyboard.press("ArrowUp")
    running.page.keyboard.press("ArrowLeft")
    running.until(lambda: heads.nth(24).get_attribute("class").endswith("chosen"))
    assert running.page.evaluate("document.activeElement.getAttribute('aria-label')") == "head 4.0, on"
    running.page.keyboard.press("Enter")
    running.until(lambda: heads.nth(24).get_attribute("aria-pressed") == "false")
    last = len(running.text()) - 1
    tokens.nth(last).focus()
    running.page.keyboard.press("Home")
    running.page.keyboard.press("ArrowRight")
    running.until(lambda: tokens.nth(1).get_attribute("aria-current") == "true")
    assert "seen from “Once”" in running.said()


@with_model
@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_and_at_400_percent_nothing_is_wider_than_the_window(visit, width):
    story = Story(visit(PAGE, width=width)).start()
    assert story.page.evaluate(served.OVERFLOW) <= 0
    small = story.figure.locator("button, select, input").evaluate_all(
        "(all) => all.map((el) => [el.getBoundingClientRect(), el]).filter(([box]) => box.width)"
        ".filter(([box, el]) => !el.matches('.token, .reset, .copy-link') && (box.height < 24 || box.width < 24))"
        ".map(([, el]) => el.outerHTML)")
    assert small == []
