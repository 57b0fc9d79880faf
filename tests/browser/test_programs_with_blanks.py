"""Programs with blanks in the page: every combination gets the replies that the package gave, by mouse and by
keyboard.
"""
import pytest

import served
from mha.exercises import EXERCISES, check
from mha.exercises.engine import progress
from mha.exercises.engine.feedback import FAR
from stored.replies import replies_to

PROGRAMS = [item for item in EXERCISES.values() if item.in_code and item.program]
every_program = pytest.mark.parametrize("item", PROGRAMS if served.chromium() else [], ids=lambda item: item.id)
# Fill in each combination, check, ask for all that there is to say, and read the reply. None is scrolled to or gets the
# focus meanwhile: that would lay out the page each time, which takes twelve times as long as all else.
ANSWER_ALL = """
  ([form, keys]) => {
    const [selects, found] = [[...document.querySelectorAll(`${form} select`)], {}];
    const [{ focus }, { scrollIntoView }] = [HTMLElement.prototype, Element.prototype];
    HTMLElement.prototype.focus = Element.prototype.scrollIntoView = () => {};
    for (const key of keys) {
      [...key].forEach((place, i) => { selects[i].value = String(parseInt(place, 36)); });
      selects[0].dispatchEvent(new Event("change", { bubbles: true }));
      document.querySelector(`${form} button[type=submit]`).click();
      const reply = document.querySelector(`${form} .ask-reply`);
      reply.querySelector("button.quiet")?.click();
      found[key] = [...reply.children].filter((child) => child.matches("p, pre")).map((child) => child.textContent);
    }
    Object.assign(HTMLElement.prototype, { focus });
    Object.assign(Element.prototype, { scrollIntoView });
    return found;
  }
"""


def form_of(item):
    return f"#complete-{item.id.replace('.', '-')}"


def page_of(item):
    return f"chapters/{item.chapter}.html"


@every_program
def test_every_combination_gets_the_replies_of_the_package(opened, item):
    found = replies_to(item)
    read, far = [*map(served.as_read, found["lines"])], served.as_read(FAR)
    page = opened(page_of(item)).page
    said = page.evaluate(ANSWER_ALL, [form_of(item), [*found["signs"]]])
    for key, (verdict, *lines) in said.items():
        named, asks, evidence = ([read[i] for i in part] for part in found["said"].get(key, [[], [], []]))
        right = key in found["right"]
        assert verdict.startswith("✓ Right" if right else "× Not yet")
        wanted = (evidence if right else [far] if key not in found["said"]
                  else [*asks, *evidence[:1], *named, *evidence[1:]])
        assert lines[: len(wanted)] == wanted, key


@pytest.mark.parametrize("width, scheme", [(1200, "light"), (390, "dark")])
def test_it_is_completed_by_keyboard_and_noted_apart_from_written(visit, width, scheme):
    item = EXERCISES["2.1"]
    page = visit(page_of(item), width=width, scheme=scheme).page
    form = page.locator(form_of(item))
    button, count = form.locator("button[type=submit]"), form.locator(".complete-count")
    assert button.get_attribute("aria-disabled") == "true" and count.inner_text() == "4 of 4 blanks are empty."
    for select in form.locator("select").all():
        select.focus()
        select.select_option(value="1")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert form.locator(".ask-verdict").inner_text() == "× Not yet."
    assert form.locator(".complete-tests li").count() == len(item.cases)
    assert button.get_attribute("aria-disabled") == "true" and "Change something" in count.inner_text()
    for select in form.locator("select").all():
        select.select_option(value="0")
    button.focus()
    page.keyboard.press("Enter")
    assert form.locator(".ask-verdict").inner_text() == "✓ Right, after 2 tries."
    assert "◐ completed" in page.locator("#exercise-2-1 h3, h3:has(.done)").first.inner_text()
    page.reload()
    assert "◐ completed" in page.locator("h3:has(.done)").first.inner_text()
    assert [select.input_value() for select in form.locator("select").all()] == ["0"] * 4
    button.press("Enter")
    assert form.locator(".ask-verdict").inner_text() == "✓ Right."
    page.goto(page.url.replace(item.chapter, "index"))
    assert progress.decode(page.locator("#progress-out").input_value()) == ["c2.1"]


def test_a_reply_below_the_window_comes_into_sight(visit):
    item = EXERCISES["2.1"]
    page = visit(page_of(item)).page
    for select in page.locator(f"{form_of(item)} select").all():
        select.select_option(value="1")
    page.evaluate(served.TO_THE_FOOT, f"{form_of(item)} .ask-send")
    page.locator(f"{form_of(item)} button[type=submit]").click()
    page.wait_for_function(served.IN_SIGHT, arg=f"{form_of(item)} .ask-reply")


def test_after_three_tries_a_wrong_choice_can_go_and_never_tells_which_blank_is_wrong(visit):
    item = EXERCISES["2.1"]
    page = visit(page_of(item)).page
    form = page.locator(form_of(item))
    for attempt in range(3):
        for select in form.locator("select").all():
            select.select_option(value=str(1 + attempt % 2))
        form.locator("button[type=submit]").click()
    chosen = [select.input_value() for select in form.locator("select").all()]
    form.get_by_text("Take one wrong choice away").click()
    gone = form.locator("option:disabled")
    assert gone.count() == 1 and gone.get_attribute("value") not in ("", "0")
    assert page.evaluate("document.activeElement.textContent") == f"Gone: {gone.text_content()}"
    assert [select.input_value() for select in form.locator("select").all()] == chosen


def test_choices_are_kept_by_their_words_and_what_cannot_be_read_does_no_harm(visit):
    item = EXERCISES["2.1"]
    one = visit(page_of(item), script=served.keeping('"blanks": {"2.1": [1, "no fragment of today", "q @ k.mT"]}'))
    form = one.page.locator(form_of(item))
    assert form.locator(".complete-count").inner_text() == "4 of 4 blanks are empty." and one.errors == []
    for select in form.locator("select").all():
        select.select_option(value="0")
    form.locator("button[type=submit]").click()
    assert form.locator(".ask-verdict").inner_text().startswith("✓ Right, after ")


def test_where_the_browser_keeps_nothing_a_program_is_completed_all_the_same(visit):
    item = EXERCISES["2.1"]
    one = visit(page_of(item), script=served.KEEPS_NOTHING)
    form = one.page.locator(form_of(item))
    for select in form.locator("select").all():
        select.select_option(value="0")
    form.locator("button[type=submit]").click()
    assert form.locator(".ask-verdict").inner_text() == "✓ Right, after 1 try."
    assert one.page.evaluate("document.body.dataset.theme") == "auto"


def test_without_a_script_the_program_and_its_choices_are_there_to_read(unscripted):
    item = EXERCISES["2.1"]
    page = unscripted(page_of(item))
    choices = page.locator(f"{form_of(item)} .complete-options").inner_text()
    assert all(text in choices for blank in item.program.offered.values() for text in blank.choices)
    assert page.locator("details.write-it").first.is_visible()


@every_program
def test_the_file_to_take_home_checks_itself(item, tmp_path):
    from _ext.exercise_pages import file_of

    source = (served.HTML / "_static" / file_of(item)).read_text("utf8")
    assert item.stub.strip() in source and f'check("{item.id}", {item.name})' in source
    said = []
    exec(compile(source, item.name, "exec"), {"print": said.append})
    assert [str(report) for report in said] == [str(check(item.id))] or not said[0].started
