"""Bets: by mouse and keyboard; what came is covered until then and no longer, and never where nothing could open it."""
import gzip
import json
import re
from html import unescape

import pytest

import served
from _ext import bets, labs, replies
from inspection import axe

CHAPTERS = served.chapters() if served.chromium() else []
BETS = [page for page in CHAPTERS if 'class="bet-cover"' in (served.HTML / page).read_text("utf8")]
LOOKUP, TWO, LAB = ("chapters/01_soft_lookup.html", "chapters/03_query_and_key.html",
                    "chapters/01_soft_lookup_lab.html")

SEEN = "(all) => all.filter((el) => el.getClientRects().length).map((el) => el.outerHTML.slice(0, 80))"

every_page = pytest.mark.parametrize("page", BETS)

# A page for each set of kinds that a page has of boxes: what a box does there, it does on every page
KINDS = {page: sorted({*re.findall('"(several|numbers|right|exercise)":', (served.HTML / page).read_text("utf8"))})
         for page in BETS}
on_few_pages = pytest.mark.parametrize("page", {str(kinds): page for page, kinds in KINDS.items()}.values())


# A browser that finds nothing covered
WITHOUT = "delete HTMLElement.prototype.onbeforematch; delete Element.prototype.onbeforematch;"


@pytest.fixture
def bet(visit):
    """Open a page as a reader who bets."""
    return lambda page, **options: visit(page, bets=True, **options)


@pytest.fixture
def covered(opened):
    """As `bet`, on a page that other tests may have used: all of it is covered again."""
    def cover_all(page):
        one = opened(page, bets=True)
        one.page.emulate_media(media="screen")
        if one.page.locator(".bet.is-made").count():
            one.page.get_by_role("button", name="Cover everything and bet again").click()
        return one

    return cover_all


def box(page, number):
    return page.locator(f"#bet-{number}")


def cover(page, number):
    return page.locator(f"#bet-{number} + .bet-cover")


def is_open(page, number):
    return not cover(page, number).evaluate("(el) => el.hasAttribute('hidden')")


def reply(page, number):
    return box(page, number).locator(".bet-reply").inner_text()


def data(page):
    """What each box of a built page knows, with replies that are whole."""
    html = (served.HTML / page).read_text("utf8")
    boxes = re.findall(r'<div class="bet-reply.*?<script type="application/json">(.*?)</script>', html, re.S)
    found = [known for one in boxes if "exercise" not in (known := json.loads(one.replace("<\\/", "</")))]
    for known in found:
        known["replies"] = {answer: whole(known, reply) for answer, reply in known["replies"].items()}
        if "numbers" in known:
            known["is"], _, known["exact"] = known["numbers"][0]
            known["exact"] = whole(known, known["exact"])
    return found


def whole(known, reply):
    return "".join(known["pieces"][place] for place in reply[1:])


def shown(reply):
    """What is to be read of a reply, which is HTML."""
    return unescape(re.sub("<[^>]*>", "", reply))


# --- Bets -----------------------------------------------------------------------------------------------------------

@every_page
def test_every_bet_of_a_page_can_be_made_in_every_way_and_uncovers_what_came(covered, page):
    tab = covered(page).page
    for number, known in enumerate(data(page), start=1):
        assert not is_open(tab, number)
        assert cover(tab, number).bounding_box()["height"] < 2
        options = box(tab, number).locator(".bet-option")
        if known.get("several"):
            for letter in known["right"]:
                options.nth("abcdef".index(letter)).click()
            box(tab, number).get_by_role("button", name="That is my bet").click()
            assert reply(tab, number) == shown(known["replies"][known["right"]])
            assert reply(tab, number).startswith("As you said: ")
        elif "numbers" in known:
            box(tab, number).get_by_role("textbox").fill(str(known["is"]))
            box(tab, number).get_by_role("button", name="That is my bet").click()
            assert reply(tab, number) == shown(known["exact"]) and reply(tab, number).startswith("As you said. It is ")
        elif "right" in known:
            options.last.click()
            said = "abcdef"[options.count() - 1]
            lead = "As you said: " if said == known["right"] else "You said otherwise: "
            assert reply(tab, number) == shown(known["replies"][said]) and reply(tab, number).startswith(lead)
        else:
            box(tab, number).get_by_role("button", name="I have my answer").click()
            assert reply(tab, number) == "Compare with your answer."
        assert is_open(tab, number) and cover(tab, number).bounding_box()["height"] > 20
    assert tab.locator(".bet-cover[hidden]").count() == 0


@pytest.mark.parametrize("written, said", [
    ("0.875", "As you said. It is 0.875:"), ("7/8", "As you said."), ("87 %", "As you said, nearly."),
    ("0,88", "As you said, nearly. It is 0.875:"),
    ("1.3", "You said 1.3. That is twice as much,"), ("0.75", "You said 0.75. It is 0.875:"),
    ("1e400", "This number is beyond what a float can hold"),
    ("much", "A number is asked for"), ("", "A number is asked for")])
def test_a_number_is_read_as_people_write_it(covered, written, said):
    tab = covered(LOOKUP).page
    box(tab, 3).get_by_role("textbox").fill(written)
    box(tab, 3).get_by_role("textbox").press("Enter")
    assert reply(tab, 3).startswith(said)
    assert is_open(tab, 3) == said.startswith(("As you said", "You said"))


def test_a_bet_of_several_wants_at_least_one_and_says_how_many_came_otherwise(bet):
    tab, known = bet(TWO).page, data(TWO)
    number, several = next((i, one) for i, one in enumerate(known, 1) if one.get("several"))
    options = box(tab, number).get_by_role("checkbox")
    right = ["abcdef".index(letter) for letter in several["right"]]
    wrong = next(place for place in range(options.count()) if place not in right)
    send = box(tab, number).get_by_role("button", name="That is my bet")
    send.click()
    assert reply(tab, number) == "Pick at least one." and not is_open(tab, number)
    for place in (*right[1:], wrong, right[0], right[0]):             # the last one is taken back
        options.nth(place).click()
    send.click()
    assert reply(tab, number).startswith(f"You said otherwise in 2 of {options.count()}. So it came:")


@pytest.mark.parametrize("number, last, said", [(1, "ul", None), (3, ".bet-blank", "7/8"), (3, ".bet-blank", "much")])
def test_a_reply_below_the_window_comes_into_sight(bet, number, last, said):
    tab = bet(LOOKUP).page
    tab.evaluate(served.TO_THE_FOOT, f"#bet-{number} {last}")
    if said:
        box(tab, number).get_by_role("textbox").fill(said)
        box(tab, number).get_by_role("textbox").press("Enter")
    else:
        box(tab, number).locator(".bet-option").last.click()
    tab.wait_for_function(served.IN_SIGHT, arg=f"#bet-{number} .bet-reply")


def test_by_keyboard_alone(bet):
    tab = bet(LOOKUP).page
    box(tab, 1).get_by_role("button").first.focus()
    stops = []
    for _ in range(6):
        stops.append(tab.evaluate("document.activeElement.textContent"))
        tab.keyboard.press("Tab")
    assert stops[3:5] == ["Show me", "Read on without bets"] and "Nothing under a cover" not in stops
    box(tab, 1).get_by_role("button").nth(2).focus()
    tab.keyboard.press("Space")
    assert reply(tab, 1).startswith("As you said:")
    assert tab.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    tab.keyboard.press("Enter")                                       # a bet that is made stays
    assert reply(tab, 1).startswith("As you said:")
    box(tab, 2).get_by_role("button", name="Show me").press("Enter")
    assert reply(tab, 2) == "Shown without a bet." and is_open(tab, 2)
    assert tab.evaluate("document.activeElement.className") == "bet-reply bet-only"


def test_who_turns_bets_off_at_the_end_stays_there(bet):
    tab = bet("chapters/00_the_whole.html").page
    tab.locator(".bet-tally .bet-off").focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.closest('footer') !== null")


@on_few_pages
def test_nothing_under_a_cover_can_be_reached(covered, page):
    reached = """() => [...document.querySelectorAll(".bet-cover :is(a, button, input, summary, pre)")].filter((el) => {
      el.focus();
      return document.activeElement === el;
    }).length"""
    assert covered(page).page.evaluate(reached) == 0


# --- Covers ---------------------------------------------------------------------------------------------------------

@every_page
def test_a_covered_page_does_not_jump_while_it_loads(bet, covered, page):
    """Wide, and narrow where every other bet is made."""
    made = {known["id"]: None for known in data(page)[::2]}
    half = bet(page, width=390, script=served.keeping(f'"bets": {json.dumps(made)}'))
    assert half.page.locator(".bet.is-made").count() == len(made)
    for one in (covered(page), half):
        assert one.shift < 0.05 and one.errors == []


# Words that are read, without figures, exercises and the boxes themselves.
WORDS = """() => {
  const article = document.querySelector("article");
  const count = (el) => (el.innerText.match(/\\S+/g) ?? []).length;
  const all = (selector) => [...article.querySelectorAll(selector)].reduce((sum, el) => sum + count(el), 0);
  const others = document.createElement("style");
  others.textContent = "article :is(figure, .bet, .bet-tally, .bet-are-off, .exercise) { display: none !important; }";
  document.head.append(others);
  const share = all(".bet-cover") / count(article);
  others.remove();
  return share;
}"""


@every_page
def test_less_than_half_of_a_chapter_is_covered(opened, page):
    assert 0 < opened(page).page.evaluate(WORDS) < 0.5


@pytest.mark.parametrize("page", [page for page in BETS if not labs.is_lab(page.removesuffix(".html"))])
def test_the_first_screen_is_never_covered(covered, page):
    """A lab may begin with a bet: its reader comes from the chapter."""
    bottom = "(el) => el.getBoundingClientRect().bottom + scrollY"
    assert covered(page).page.locator(".bet").first.evaluate(bottom) > 900


# The theme scrolls smoothly.
IN_SIGHT = """() => {
  const { top, height } = document.getElementById("inside").getBoundingClientRect();
  return height > 0 && top >= 0 && top < innerHeight;
}"""


def test_a_link_to_a_covered_place_opens_it(bet):
    tab = bet(LOOKUP).page
    tab.evaluate("document.querySelector('#bet-4 + .bet-cover p').id = 'inside'")
    tab.evaluate("location.hash = 'inside'")
    tab.wait_for_function(IN_SIGHT)
    assert reply(tab, 4) == "Shown without a bet." and not is_open(tab, 3)


def test_a_link_to_covered_words_opens_them(bet):
    tab = bet(f"{LOOKUP}#:~:text=Encyclopedia%20of%20Everything%20wins").page
    tab.wait_for_function("() => !document.querySelector('#bet-2 + .bet-cover').hasAttribute('hidden')")
    assert reply(tab, 2) == "Shown without a bet." and not is_open(tab, 1)
    tab.wait_for_function("() => scrollY > 1000")


def test_where_the_browser_cannot_find_covered_words_a_link_opens_them_all_the_same(bet):
    tab = bet(LOOKUP, script=WITHOUT).page
    assert cover(tab, 4).get_attribute("hidden") == "" and cover(tab, 4).is_hidden()
    tab.evaluate("document.querySelector('#bet-4 + .bet-cover p').id = 'inside'")
    tab.evaluate("location.hash = 'inside'")
    tab.wait_for_function(IN_SIGHT)


LIVE = "chapters/06_multi_head.html"
SIZES = """() => {
  const figure = document.querySelector(".live-figure.is-live");
  return [figure, ...figure.querySelectorAll(".live-view, .live-view svg, .live-control")].map((el) => {
    const { width, height } = el.getBoundingClientRect();
    return [Math.round(width), Math.round(height)];
  });
}"""


@pytest.mark.parametrize("script", ["", WITHOUT], ids=["found", "not found"])
@pytest.mark.parametrize("width", [1200, 390])
def test_a_live_figure_that_was_covered_is_laid_out_like_any_other(chrome, address, visit, width, script):
    plain = visit(LIVE, width=width).page.evaluate(SIZES)
    context = chrome.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.add_init_script(script)

    def put_under_a_cover(route):
        html = route.fetch().text()
        figure = re.search('<figure class="live-figure".*?</figure>', html, re.S)[0]
        asks = f'<div class="bet" id="bet-0">{bets.render_controls({"id": "0", **replies.of_bet({}, 0)})}</div>'
        covered = html.replace(figure, f'{asks}<div class="bet-cover">{figure}</div>', 1)
        route.fulfill(body=covered, content_type="text/html")

    tab.route("**/*.html", put_under_a_cover)
    tab.goto(address + LIVE)
    tab.evaluate(served.SETTLED)
    assert not is_open(tab, 0)
    box(tab, 0).get_by_role("button", name="I have my answer").click()
    tab.wait_for_function(f"(plain) => JSON.stringify(({SIZES})()) === JSON.stringify(plain)", arg=plain)
    context.close()


@pytest.mark.parametrize("width, scheme", [(1200, "dark"), (390, "light")])
@pytest.mark.parametrize("page", [LOOKUP, TWO])
def test_axe_finds_nothing_wrong_before_and_after_bets(bet, page, width, scheme):
    tab = bet(page, width=width, scheme=scheme).page
    for number in range(1, 6):
        if number > 1:                                                # and the first stays as it is
            box(tab, number).locator(".bet-option, .bet-show").first.click()
    tab.evaluate(served.DRAWN)
    assert axe(tab) == []


# --- What is kept ---------------------------------------------------------------------------------------------------

def test_bets_and_the_place_survive_a_reload_and_the_tally_counts(bet):
    tab = bet(LOOKUP).page
    box(tab, 1).get_by_role("button").nth(2).click()                 # right
    box(tab, 2).get_by_role("button").nth(0).click()                 # wrong
    box(tab, 3).get_by_role("button", name="Show me").click()
    total = len(data(LOOKUP))
    summed = f"1 of 2 came as you said, 1 shown without a bet, {total - 3} still covered."
    assert tab.locator(".bet-sum").inner_text() == summed
    box(tab, 4).scroll_into_view_if_needed()
    tab.evaluate(served.DRAWN)
    place = tab.evaluate("scrollY")
    tab.reload(wait_until="load")
    tab.wait_for_function("(place) => Math.abs(scrollY - place) < 2", arg=place)
    assert [is_open(tab, number) for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert reply(tab, 2).startswith("You said otherwise: book 5 wins")
    assert tab.locator(".bet-sum").inner_text() == summed
    dots = tab.locator(".bet-dots a").evaluate_all("(dots) => dots.map((dot) => dot.ariaLabel)")
    assert dots[:4] == ["Bet 1: as you said", "Bet 2: otherwise", "Bet 3: shown without a bet", "Bet 4: still covered"]
    tab.get_by_role("button", name="Cover everything and bet again").click()
    assert tab.locator(".bet-cover:not([hidden])").count() == tab.locator(".bet.is-made").count() == 0
    assert tab.evaluate("document.activeElement.closest('.bet').id") == "bet-1"
    covered = f"{total} still covered."
    assert tab.locator(".bet-sum").inner_text() == covered and covered in tab.locator(".where-won").inner_text()


def test_to_bet_again_leaves_the_guesses_of_exercises_alone(bet):
    tab = bet(LAB).page
    box(tab, 1).get_by_role("button").first.click()
    tab.locator("#ask-1-6 .bet-option").first.click()
    tab.get_by_role("button", name="Cover everything and bet again").click()
    assert tab.locator(".bet.is-made").evaluate_all("(all) => all.map((el) => el.id)") == ["ask-1-6"]


def test_another_tab_follows(chrome, address):
    context = chrome.new_context()
    tabs = [context.new_page(), context.new_page()]
    for tab in tabs:
        tab.goto(address + LOOKUP)
    box(tabs[0], 2).get_by_role("button").first.click()
    tabs[1].wait_for_selector("#bet-2.is-made")
    assert is_open(tabs[1], 2)
    assert tabs[1].locator(".bet-sum").inner_text() in tabs[1].locator(".where-won").inner_text()
    context.close()


@pytest.mark.parametrize("place", ["#bet-1", ".bet-tally"])
def test_whoever_wants_a_book_reads_on_without_bets_and_may_bet_after_all(bet, place):
    tab = bet(LAB).page
    tab.locator(place).get_by_role("button", name="Read on without bets").click()
    assert tab.locator(".bet-cover[hidden]").count() == 0
    shown = tab.locator(":is(.bet:not(.exercise *)) :is(.bet-option, input, .bet-foot, .bet-reply), .bet-tally")
    assert shown.evaluate_all(SEEN) == []
    tab.locator("#ask-1-6 .bet-option").first.click()                 # an exercise asks all the same
    assert tab.locator("#ask-1-6 .bet-reply").inner_text().startswith("You said otherwise.")
    tab.goto(tab.url.replace("01_soft_lookup_lab", "03_query_and_key"))
    assert tab.locator(".bet-cover[hidden]").count() == 0
    tab.get_by_role("button", name="Bet after all").first.click()
    assert tab.locator(".bet-cover:not([hidden])").count() == 0
    assert box(tab, 1).get_by_role("button").first.is_visible()


@every_page
@pytest.mark.parametrize("medium", ["screen", "print"])
def test_who_does_not_bet_reads_what_came(covered, opened, page, medium):
    tab = (opened(page) if medium == "screen" else covered(page)).page
    assert tab.locator(".bet-came:visible").count() == 0 or medium == "screen"
    tab.emulate_media(media=medium)
    for number, known in enumerate(data(page), start=1):
        came, blank = box(tab, number).locator(".bet-came"), box(tab, number).locator(".bet-blank")
        if not {"right", "numbers"} & set(known):
            assert came.count() == 0
            continue
        why = re.search("<span>(.*)</span>", known.get("exact") or known["replies"][known["right"]])[1]
        said = came.inner_text()
        if "exact" in known:
            number_said, _, why = why.removeprefix("It is ").partition(": ")
            assert re.match(rf"What came: {re.escape(number_said)}[.:] ", said) and blank.inner_text() == number_said
        assert said.lower().endswith(shown(why).lower())
        assert not re.search(r"[.?!;]\s*[.;]", said), said
        for letter in known.get("right", ""):
            option = box(tab, number).locator(":scope > ul > li").nth("abcdef".index(letter))
            assert option.inner_text().strip() in said


# --- Without a screen, or a script ----------------------------------------------------------------------------------

PLAIN = """() => [...document.querySelectorAll(".bet > ul > li")].every((li) => {
  const style = getComputedStyle(li.parentElement);
  const stands = style.display === "block" && parseFloat(style.paddingLeft) > 10; // its bullets inside the box
  return li.getClientRects().length && style.listStyleType === "disc" && stands;
})"""
LOWEST = "(all) => Math.min(...all.map((el) => el.getBoundingClientRect().height))"
OPERATED = ".bet button, .bet input, .bet-tally, .bet-are-off, .bet-tag, .bet-reply, .bet-foot"


@on_few_pages
def test_on_paper_everything_is_there_and_choices_are_a_list(covered, page):
    tab = covered(page).page
    box(tab, 1).locator(".bet-option, .bet-go").first.click()
    tab.emulate_media(media="print")
    breaks = tab.locator(".bet").evaluate_all("(all) => all.map((el) => getComputedStyle(el).breakInside)")
    assert {*breaks} == {"avoid"} and tab.locator(".bet-cover").evaluate_all(LOWEST) > 20
    assert tab.evaluate(PLAIN)
    assert tab.locator(OPERATED).evaluate_all(SEEN) == []


@on_few_pages
def test_without_javascript_everything_is_there_and_choices_are_a_list(unscripted, page):
    tab = unscripted(page)
    assert tab.locator(".bet-cover").count() > 0 and tab.locator(".bet-cover").evaluate_all(LOWEST) > 20
    assert tab.evaluate(PLAIN)
    assert tab.locator(OPERATED).evaluate_all(SEEN) == []


def test_no_comment_of_a_bet_reaches_the_page():
    for page in BETS:
        html = (served.HTML / page).read_text("utf8")
        assert not re.search(r"<!--\s*(yes|no|number|several|covered)\b", html), page


def test_what_asks_weighs_little():
    """What every page has before it is painted: the style of the bets, and all that asks and keeps."""
    sheet = (served.ROOT / "_ext" / "static" / "book.css").read_text("utf8")
    ours = sheet[sheet.index("/* ---- bets ---"):sheet.index("/* ---- formulas ---")]
    scripts = [(served.ROOT / "_ext" / "static" / name).read_text("utf8") for name in ("store.js", "ask.js")]
    packed = [len(gzip.compress(text.encode())) for text in (*scripts, sheet, sheet.replace(ours, ""))]
    assert packed[0] + packed[1] + packed[2] - packed[3] < 8 * 1024
