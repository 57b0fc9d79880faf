"""The folklore as a game: a verdict first, then what came out; kept, filtered, counted; open without a script."""
import pytest

import served
from mha.lab.folklore import CLAIMS

PAGE = "chapters/A_folklore.html"
WRONG, RIGHT = (next(claim for claim in CLAIMS if claim.verdict == verdict) for verdict in ("wrong", "right"))


@pytest.mark.parametrize("width, scheme", [(1200, "light"), (390, "dark")])
def test_a_verdict_is_said_first_and_then_shown_kept_and_counted(visit, width, scheme):
    page = visit(PAGE, width=width, scheme=scheme, bets=True).page
    cards = page.locator(".claim")
    assert cards.count() == len(CLAIMS) and page.locator(".claim-came:visible").count() == 0
    judge(page, WRONG, "right")
    judge(page, RIGHT, "right")
    told = page.locator(f"#claim-{WRONG.number} .claim-told")
    assert told.inner_text() == "You said: right. It came out otherwise."
    assert page.locator(".claim-came:visible").count() == 2
    page.reload()
    assert page.locator(".claims-panel [role=status]").inner_text() == (
        f"You judged 2 of {len(CLAIMS)}: 1 came out as you said.")
    page.locator(".claims-panel select").first.select_option("otherwise than you said")
    assert page.locator(".claim:visible").count() == 1 and page.locator(f"#claim-{WRONG.number}").is_visible()
    assert page.locator(".claims-panel [role=status]").inner_text().endswith("as you said. 1 is shown.")
    page.locator(".claims-panel select").first.select_option("all claims")
    page.locator(".claims-panel select").last.select_option("chapter 9 and its lab")
    assert page.locator(".claim:visible").count() == sum(claim.chapter.startswith("09") for claim in CLAIMS)
    page.locator(".claims-panel select").last.select_option("all chapters")
    page.get_by_text("Show all that came out").click()
    assert page.locator(".claim-came:visible").count() == len(CLAIMS)
    page.get_by_text("Judge first after all").click()
    page.get_by_text("Judge them all again").click()
    assert page.locator(".claim-came:visible").count() == 0
    assert page.evaluate("document.activeElement.matches('.claims-panel select')")


def test_the_list_of_chapters_says_where_a_lab_has_claims_too_and_which_stand_only_here(visit):
    page = visit(PAGE, bets=True).page
    where = page.locator(".claims-panel select").last
    labs = {claim.chapter.removesuffix("_lab") for claim in CLAIMS if claim.chapter.endswith("_lab")}
    options = where.locator("option").all_inner_texts()
    assert {"chapter 3", "chapter 2 and its lab", "only here"} <= set(options) and "chapter 2" not in options
    assert sum(option.endswith("and its lab") for option in options) == len(labs)
    for option, starts in (("chapter 2 and its lab", "02"), ("only here", "A_")):
        where.select_option(option)
        assert page.locator(".claim:visible").count() == sum(claim.chapter.startswith(starts) for claim in CLAIMS)


def judge(page, claim, verdict):
    page.locator(f"#claim-{claim.number} .claim-ask button[value='{verdict}']").click()


def test_by_keyboard_the_reply_gets_the_focus(visit):
    page = visit(PAGE, bets=True).page
    page.locator("#claim-1 .claim-ask button").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "claim-told"


def test_a_card_that_was_just_judged_stays_in_sight_until_something_else_is_to_be_shown(visit):
    page = visit(PAGE, bets=True).page
    which = page.locator(".claims-panel select").first
    which.select_option("not judged yet")
    page.evaluate(served.TO_THE_FOOT, "#claim-2 .claim-ask")
    page.locator("#claim-2 .claim-ask button").first.press("Enter")
    page.wait_for_function(served.IN_SIGHT, arg="#claim-2")
    assert page.evaluate("document.activeElement.closest('.claim').id") == "claim-2"
    page.locator("#claim-3 .claim-ask button").first.press("Enter")
    assert page.locator("#claim-2").is_hidden() and page.locator("#claim-3").is_visible()
    which.select_option("as you said")
    which.select_option("not judged yet")
    assert page.locator("#claim-3").is_hidden()


def test_without_a_script_and_on_paper_all_stands_open(unscripted, visit):
    assert unscripted(PAGE).locator(".claim-came:visible").count() == len(CLAIMS)
    page = visit(PAGE, bets=True).page
    page.emulate_media(media="print")
    assert page.locator(".claim-came:visible").count() == len(CLAIMS)


def test_a_verdict_of_before_there_were_four_conditions_still_counts(visit):
    held = next(claim for claim in CLAIMS if claim.verdict.startswith("true "))
    said = f'{{"{held.number}": "true under a condition", "{WRONG.number}": "true under a condition"}}'
    page = visit(PAGE, bets=True, script=served.keeping(f'"claims": {said}')).page
    assert page.locator(".claims-panel [role=status]").inner_text() == (
        f"You judged 2 of {len(CLAIMS)}: 1 came out as you said.")
