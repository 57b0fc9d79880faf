"""Questions answer in the page as mha.exercises answers, what is solved is kept and carried, and all of it can be done
by keyboard.
"""
import re

import pytest

import served
from _ext.publishing import colab_url
from mha.exercises import EXERCISES, check
from mha.exercises.engine import progress
from mha.exercises.engine.exercise import Exercise
from mha.exercises.engine.question import Choice, Explanation, Number, shown

QUESTIONS = [item for item in EXERCISES.values() if not isinstance(item, Exercise) and not item.predicted]
PREDICTED = [item for item in EXERCISES.values() if item.predicted]
every_question = pytest.mark.parametrize("item", QUESTIONS if served.chromium() else [], ids=lambda item: item.id)
# The paragraphs that a form replies to each answer: [[selector of the form, answer], ...]
REPLIES = """
  (asked) => asked.map(([selector, answer]) => {
    const form = document.querySelector(selector);
    for (const field of form.querySelectorAll("fieldset :is(input, textarea)")) {
      if (["radio", "checkbox"].includes(field.type)) field.checked = answer.includes(field.value);
      else field.value = answer;
    }
    form.querySelector("button").click();
    return [...form.querySelectorAll(".ask-reply p")].map((el) => el.textContent);
  })
"""


def page_of(item):
    return f"chapters/{item.chapter}.html"


def form_of(item):
    return f"#ask-{item.id.replace('.', '-')}"


@pytest.fixture
def chapter_of(opened):
    """chapter_of(item): its page, shared by the questions of that chapter."""
    return lambda item: opened(page_of(item)).page


def answers(item):
    """What a reader may answer, right, foreseen and not."""
    if isinstance(item, Number):
        return [str(item.answer), *(f"{value:.10g}" for value, _ in item.mistakes), "123456", "-2,5", "1/3",
                "<b>2"]
    if isinstance(item, Choice):
        return [*item.letters, item.right, item.letters] if item.several else list(item.letters)
    return ["my words"]


ANSWERED = """
  () => [...document.querySelectorAll("form.ask:not(.write-here)")].map((form) => [form.id,
    [...form.querySelectorAll("input, select, textarea")].map((field) => [field.value, field.checked]),
    form.querySelector(".ask-reply").innerText])
"""
KEPT = "() => [...Object.keys(localStorage), ...Object.keys(JSON.parse(localStorage.mha ?? '{}'))]"
ANSWER = """
  () => document.querySelectorAll("form.ask:not(.write-here)").forEach((form, i) => {
    for (const field of form.querySelectorAll("input, select, textarea")) {
      if (/radio|checkbox/.test(field.type)) field.checked = field.value === "AB"[i % 2];
      else if (field.tagName === "SELECT") field.selectedIndex = 1 + (i % 2);
      else field.value = field.name === "number" ? "-1.5" : "my words";
      for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true })); // as a hand does
    }
    form.requestSubmit();
    const tick = form.querySelector(".ask-checklist input");
    tick?.click();
  })
"""


@pytest.mark.parametrize("page", sorted({page_of(item) for item in QUESTIONS}) if served.chromium() else [])
def test_answers_and_replies_survive_a_reload_until_all_is_forgotten(opened, page):
    """Before other tests answer on this page: in the end it is as it was."""
    one = opened(page)
    blank = one.page.evaluate(ANSWERED)
    one.page.evaluate(ANSWER)
    answered = one.page.evaluate(ANSWERED)
    assert all(reply for *_, reply in answered)
    one.page.reload()
    one.page.evaluate(served.SETTLED)
    assert one.page.evaluate(ANSWERED) == answered and one.page.evaluate("window.layoutShift") < 0.05
    one.page.evaluate("mha.store.forget()")
    assert set(one.page.evaluate(KEPT)) <= {"mha", "place", "version"}    # where one reads is noted anew, at any time
    one.page.reload()
    assert one.page.evaluate(ANSWERED) == blank and one.errors == []


@every_question
def test_the_page_says_what_the_package_says(chapter_of, item):
    asked = [[form_of(item), answer] for answer in answers(item)]
    for (_, answer), (verdict, *lines) in zip(asked, chapter_of(item).evaluate(REPLIES, asked)):
        report = check(item.id, answer)
        first, *rest = report.text.splitlines()
        assert verdict[2:].lower() == first.removeprefix(f"{item.label}: ") and (verdict[0] == "✓") == report.ok
        if isinstance(item, Explanation):
            rest = [rest[0], "Tick those that you did. When all are ticked, it counts as solved.", rest[-1]]
        said = ["The hints say more." if line.startswith(f'hint("{item.id}")') else line for line in rest]
        assert [*map(plain, lines)] == [plain(served.as_read(line)) for line in said], answer


@every_question
def test_a_question_can_be_read_and_answered(chapter_of, item):
    page = chapter_of(item)
    form = page.locator(form_of(item))
    form.scroll_into_view_if_needed()
    if isinstance(item, Number):
        form.get_by_role("textbox").fill(item.solution)
    elif isinstance(item, Explanation):
        form.get_by_role("textbox").fill("my words")
    else:
        for option in form.locator("input[type=checkbox]").all():               # another test may have ticked some
            option.uncheck()
        for letter in item.right:
            form.locator(f'input[value="{letter}"]').check()
    form.get_by_role("button").click()
    reply = form.locator(".ask-reply")
    assert re.match(r"\u2713 (Right|Written)\.", reply.inner_text())
    if isinstance(item, Explanation):
        for box in reply.get_by_role("checkbox").all():
            box.check()
    assert page.locator(f"section.exercise.is-solved h3:has-text('{item.id} ·')").count() == 1


def foreseen(item):
    """Answers to a prediction, the right one last, and another number that nobody foresaw."""
    if item.letters:
        return [*(letter for letter in item.letters if letter != item.right), item.right]
    return ["123456", *(shown(value) for value, _ in item.mistakes), shown(item.answer)]


@pytest.mark.parametrize("item", PREDICTED if served.chromium() else [], ids=lambda item: item.id)
def test_a_prediction_is_a_bet_that_replies_as_the_package_does_and_stays(visit, item):
    page = visit(page_of(item), bets=True).page
    box, solved = page.locator(form_of(item)), f"section.exercise.is-solved h3:has-text('{item.id} ·')"
    for answer in foreseen(item):
        page.evaluate("localStorage.clear()")
        page.reload()
        guess(box, item, answer)
        report = check(item.id, answer)
        verdict, *lines = report.text.removeprefix(f"{item.label}: ").splitlines()
        said = served.as_read(f"{verdict[0].upper()}{verdict[1:]} {' '.join(lines)}")
        assert box.locator(".bet-reply p").inner_text() == said
        assert page.locator(solved).count() == report.ok
        assert box.get_by_role("button", name="Guess again").count() == (not report.ok)
        if item.letters and not report.ok:
            box.locator(f'[value="{item.right.lower()}"]').dispatch_event("click")
            assert box.locator(".bet-reply p").inner_text() == said and page.locator(solved).count() == 0


def guess(box, item, answer):
    if item.letters:
        box.locator(f'[value="{answer.lower()}"]').click()
    else:
        box.get_by_role("textbox").fill(answer)
        box.get_by_role("textbox").press("Enter")


@pytest.mark.parametrize("script", ["", served.KEEPS_NOTHING], ids=["kept", "not kept"])
@pytest.mark.parametrize("id", ["1.6", "6.7"])
def test_a_wrong_guess_is_followed_by_another_which_says_that_it_came_after(visit, id, script):
    item = EXERCISES[id]
    one = visit(page_of(item), bets=True, script=script)
    box, mark = one.page.locator(form_of(item)), one.page.locator(f"#exercise-{id.replace('.', '-')} .done")
    box.get_by_role("button", name="Show me").press("Enter")
    for answer in [*foreseen(item)[:2], foreseen(item)[-1]]:
        box.get_by_role("button", name="Guess again").press("Enter")
        assert box.evaluate("(box) => document.activeElement.matches('.bet-option, input') && "
                            "box.contains(document.activeElement)")
        assert box.locator(".bet-reply").inner_text() == "" and box.locator(".bet-tag").count() == mark.count() == 0
        guess(box, item, answer)
    for _ in range(2):                                                # and after a reload, where it is kept
        assert box.locator(".bet-reply").inner_text().startswith("As you said, once you had seen it.")
        assert mark.inner_text().strip() == "✓ guessed" and box.get_by_role("button", name="Guess again").count() == 0
        if not script:
            one.page.reload()


@pytest.mark.parametrize("item", [item for item in EXERCISES.values() if isinstance(item, Exercise)]
                         if served.chromium() else [], ids=lambda item: item.id)
def test_an_exercise_in_code_says_where_to_write_it(item):
    html = (served.HTML / page_of(item)).read_text("utf8")
    section = html.partition(f'id="exercise-{item.id.replace(".", "-")}"')[2].partition("</section>")[0]
    address = colab_url(f"chapters/{item.chapter}", cell=f"exercise-{item.id.replace('.', '-')}-stub")
    assert (address or "python3 book.py lab") in section


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_reply_below_the_window_comes_into_sight(visit, motion):
    page = visit("chapters/02_one_head.html").page
    page.emulate_media(reduced_motion=motion)
    page.evaluate(served.TO_THE_FOOT, "#ask-2-5 .ask-send")
    page.locator("#ask-2-5 input").fill("24")
    page.locator("#ask-2-5 input").press("Enter")
    if motion == "reduce":
        assert page.evaluate(served.IN_SIGHT, "#ask-2-5 .ask-reply")
    page.wait_for_function(served.IN_SIGHT, arg="#ask-2-5 .ask-reply")


def test_progress_survives_a_reload_shows_in_the_contents_and_can_be_carried(visit):
    page = visit("chapters/02_one_head.html").page
    page.locator("#ask-2-5 input").fill("24")
    page.locator("#ask-2-5 input").press("Enter")
    contents = page.locator(".sidebar-tree a", has_text="why divide by the root")
    assert "1/3" in contents.inner_text()
    page.reload()
    assert "1/3" in contents.inner_text() and page.locator("#exercise-2-5 .done").count() == 1
    page.goto(page.url.replace("02_one_head", "index"))
    code = page.locator("#progress-out").input_value()
    assert progress.decode(code) == ["2.5"]
    assert page.locator("#progress-in").get_attribute("autocapitalize") == "off"
    page.locator("#progress-in").fill(progress.encode(["2.1", "B.3"]).replace("m", "M", 1))
    page.locator("#progress-in").press("Enter")
    assert progress.decode(page.locator("#progress-out").input_value()) == ["2.1", "2.5", "B.3"]
    assert page.locator('[data-chapter="02_one_head"]').inner_text() == "2 of 3"
    page.locator("#progress-in").fill(code[:-1] + "?")
    page.locator("#progress-in").press("Enter")
    assert "Nothing was changed" in page.locator(".progress-panel .ask-reply").inner_text()
    page.locator("#progress-in").fill(progress.encode(["2.1"]))
    page.locator("#progress-in").press("Enter")
    assert "1 exercise is in the code." in page.locator(".progress-panel .ask-reply").inner_text()
    page.locator("#progress-in").fill(" ")
    page.locator("#progress-in").press("Enter")
    assert "Paste a code first. It looks like mha1-" in page.locator(".progress-panel .ask-reply").inner_text()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget everything").click()
    assert (page.locator('[data-chapter="02_one_head"]').inner_text() == "0 of 3"
            and progress.decode(page.locator("#progress-out").input_value()) == [])


FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"


@pytest.mark.parametrize("script", [served.KEEPS_NOTHING, FULL, served.keeping(
    ", ".join(f'"{name}": {{"1.5+": 3, "1.7": [], "1.1+": [7], "1.8+": {{}}}}' for name in ("words", "blanks")))])
def test_where_nothing_can_be_kept_or_read_every_question_still_answers(visit, script):
    one = visit("chapters/01_soft_lookup.html", script=script)
    one.page.evaluate(ANSWER)
    assert all(reply for *_, reply in one.page.evaluate(ANSWERED)) and one.errors == []


def test_own_words_and_choices_survive_a_reload_until_all_is_forgotten(visit):
    page = visit("chapters/02_one_head.html").page
    words, choice = page.locator("#ask-2-9 textarea"), page.locator("#complete-2-1 select").first
    choice.select_option(value="1")
    words.fill("A sum of d_k terms spreads by its root.")
    words.blur()
    page.reload()
    assert words.input_value() == "A sum of d_k terms spreads by its root." and choice.input_value() == "1"
    chapter = page.url
    page.goto(chapter.replace("chapters/02_one_head", "index"))
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget everything").click()
    page.goto(chapter)
    assert words.input_value() == choice.input_value() == ""


def test_a_question_is_answered_by_keyboard_alone(visit):
    page = visit("chapters/01_soft_lookup_lab.html").page
    page.locator('#ask-1-7 input[value="A"]').focus()
    page.keyboard.press("Space")
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    assert page.locator("#ask-1-7 .ask-reply").inner_text().startswith("\u2713 Right.")
    assert page.locator("#ask-1-7 .ask-reply").get_attribute("aria-live") == "polite"


def test_without_javascript_a_question_can_still_be_read(unscripted):
    form = unscripted("chapters/01_soft_lookup_lab.html").locator("#ask-1-7")
    assert form.get_by_text("(3, 3)").is_visible() and form.locator("input").first.is_disabled()


def told(item):
    """What stands in the answer of a question: the checklist, letters or a number."""
    if isinstance(item, Explanation):
        return item.checklist
    return [f"Answer: {', '.join(item.right) if item.letters else item.solution}."]


def plain(text):
    """A text without line breaks."""
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("page", sorted({page_of(item) for item in QUESTIONS + PREDICTED}))
def test_without_javascript_the_answer_of_a_question_unfolds_and_is_not_printed(unscripted, page):
    tab = unscripted(page)
    for item in [item for item in QUESTIONS + PREDICTED if page_of(item) == page]:
        section = tab.locator(f"#exercise-{item.id.replace('.', '-')}")
        answer = section.locator("noscript details")
        assert section.locator("noscript > p").inner_text() == "Turn on JavaScript to have it checked."
        assert answer.locator(":is(p, ul)").first.is_hidden()
        answer.locator("summary").click()
        unfolded = plain(answer.inner_text())
        assert all(plain(served.as_read(part)) in unfolded for part in told(item)), item.id
    tab.emulate_media(media="print")
    assert tab.locator("article noscript:visible").count() == 0


def test_with_javascript_no_answer_is_there_to_read(visit):
    assert "Turn on JavaScript" not in visit("chapters/01_soft_lookup.html").page.locator("article").inner_text()


def test_words_are_kept_as_they_are_typed(visit):
    page = visit("chapters/01_soft_lookup.html").page
    box = page.locator("form textarea").first
    box.fill("a weighted mean")
    page.reload(wait_until="load")
    page.wait_for_function("() => !document.querySelector('form fieldset').disabled")
    assert page.locator("form textarea").first.input_value() == "a weighted mean"
