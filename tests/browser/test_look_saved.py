"""The saved page of mha.lab.look in Chromium, with the network out of reach."""
import pytest
import torch

from mha.lab.look import look
from mha.lab.stories import StoryTeller

IDS = [1, 5, 7, 5, 3, 11, 2, 7, 9, 4]
SHOWN = "() => document.querySelector('.look').shown"
INK = "() => document.querySelector('.map').toDataURL()"


class Words:
    def encode(self, text):
        return [int(part) for part in text.split()]

    def id_to_token(self, number):
        return {11: "</script><b>bold"}.get(number, f"▁word{number}")


@pytest.fixture(scope="module")
def figure():
    torch.manual_seed(5)
    model = StoryTeller(13, 64, 12, 3, 6, num_kv_heads=3, hidden=7).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return look(model, IDS, Words(), name="a model")


@pytest.fixture
def page(chrome, figure, tmp_path):
    """The saved file, opened; whatever else it asks for, and each error, is a complaint."""
    tab, complaints = chrome.new_page(viewport={"width": 1200, "height": 900}), []
    path = figure.save(tmp_path / "heads.html")
    tab.route("**/*", lambda route: route.continue_() if route.request.url == path.as_uri() else (
        complaints.append(route.request.url), route.abort()))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(path.as_uri())
    tab.locator(".tile").first.wait_for()
    yield tab
    tab.close()
    assert complaints == []


def weights_of(figure, shown):
    layer, head = map(int, shown["name"].split("."))
    return figure.weights[layer, head, shown["row"]].tolist()


def test_every_head_is_drawn_and_a_click_shows_its_weights(page, figure):
    assert page.locator(".tile").count() == 18
    for name in ("0.0", "2.5", "1.3"):
        page.click(f'.tile[aria-label="Head {name}"]')
        page.locator(".look > .text .word").nth(6).click()
        shown = page.evaluate(SHOWN)
        assert (shown["name"], shown["row"]) == (name, 6)
        assert shown["weights"] == pytest.approx(weights_of(figure, shown), abs=0.004)
    assert "Shares keys and values with 1.2." in page.inner_text(".status")
    assert page.locator(".look > .text .token").nth(5).text_content() == "</script><b>bold"


def test_heads_are_sorted_by_a_score_and_gone_through_by_keyboard(page, figure):
    page.select_option("#order", "previous")
    order = figure.scores["previous"].flatten().argsort(descending=True).tolist()
    page.click(f'.tile[aria-label^="Head {order[0] // 6}.{order[0] % 6},"]')
    told = page.get_attribute(".tile[aria-pressed=true]", "aria-label")
    assert told == f"Head {order[0] // 6}.{order[0] % 6}, previous token {float(figure.scores['previous'].max()):.2f}"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(SHOWN)["head"] == order[1]
    page.keyboard.press("End")
    assert page.evaluate(SHOWN)["head"] == order[-1]
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert page.locator(".tile[tabindex='0']").count() == 1
    page.focus(".map")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(SHOWN)["row"] == 1 and "attends most to" in page.get_attribute(".map", "aria-valuetext")


def test_scores_stand_beside_their_baselines(page, figure):
    page.click('.tile[aria-label="Head 1.4"]')
    rows = page.locator(".panels table.scores tbody tr").all_inner_texts()
    for row, (key, label) in zip(rows, [("previous", "previous token"), ("induction", "induction"),
                                        ("first", "first token"), ("itself", "itself")], strict=True):
        own = figure.scores[key]
        rank = 1 + int((own > own[1, 4]).sum())
        assert row.split("\t")[0] == label
        assert row.split()[-3:] == [f"{float(own[1, 4]):.2f}", f"{float(figure.baselines[key][1, 4]):.2f}", str(rank)]


def test_a_switch_takes_a_head_off_and_tells_what_the_next_token_loses(page, figure):
    page.click('.tile[aria-label="Head 2.1"]')
    assert page.get_attribute(".switch", "aria-checked") == "true"
    page.click(".switch")
    assert page.inner_text(".switch") == "Head 2.1 is off"
    gone = figure.removals
    token, off = gone["without"][13][0]
    first = page.locator(".next tbody tr").first.inner_text().split()
    assert first == [f"word{token}", f"{gone['whole'][0][1]:.2f}", f"{off:.2f}"]
    told = page.locator(".gone .under").all_inner_texts()
    assert [float(text.replace("\u2212", "-") or 0) for text in told] == pytest.approx(
        [value if abs(value) >= 0.05 else 0 for value in gone["change"][2, 1].tolist()], abs=0.006)
    page.keyboard.press("Space")
    assert page.get_attribute(".switch", "aria-checked") == "true"


def test_it_is_dark_where_the_reader_is_and_where_the_button_says(page):
    def painted():
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return page.evaluate(INK)

    light = painted()
    page.emulate_media(color_scheme="dark")
    assert painted() != light
    page.click(".scheme")
    assert painted() == light


@pytest.mark.parametrize("width", [320, 390, 800])
def test_nothing_is_wider_than_a_narrow_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    wide = page.evaluate("""() => [...document.querySelectorAll(".look *:not(.board *, .text *)")]
      .filter((el) => el.getBoundingClientRect().right > innerWidth).map((el) => el.outerHTML.slice(0, 90))""")
    assert wide == []
    box = page.locator(".tile").first.bounding_box()
    assert box["width"] >= 24 and box["height"] >= 24


def test_a_notebooks_frame_shows_it_without_any_right_but_scripts(chrome, figure):
    tab = chrome.new_page()
    tab.set_content(figure._repr_html_())
    frame = tab.frame_locator("iframe")
    frame.locator(".tile").first.wait_for()
    assert frame.locator(".tile").count() == 18
    tab.close()


@pytest.fixture
def opening(chrome, tmp_path):
    """Open another figure's file; an error on it is one of the test."""
    tab, complaints = chrome.new_page(viewport={"width": 1200, "height": 900}), []
    tab.on("pageerror", lambda error: complaints.append(str(error)))

    def opened(seen):
        tab.goto(seen.save(tmp_path / "other.html").as_uri())
        tab.locator(".tile").first.wait_for()
        return tab

    yield opened
    tab.close()
    assert complaints == []


def test_next_tokens_that_share_a_name_keep_their_own_probabilities(opening, figure):
    class Same(Words):
        def id_to_token(self, number):
            return "same"

    seen = look(figure.reader.model, IDS, Same())
    page = opening(seen)
    page.click('.tile[aria-label="Head 2.1"]')
    page.click(".switch")
    whole, gone = dict(seen.removals["whole"]), seen.removals["without"][13]
    rows = [row.split()[1:] for row in page.locator(".next tbody tr").all_inner_texts()]
    wanted = [[f"{whole[token]:.2f}", f"{share:.2f}"] for token, share in gone if token in whole]
    assert [row for row in rows if len(row) == 2][:3] == wanted[:3]


def test_a_head_that_is_off_throughout_cannot_be_switched(opening, figure):
    page = opening(figure.without((0, 1)))
    page.click('.tile[aria-label="Head 0.2"]')
    page.click(".switch")
    page.click('.tile[aria-label="Head 0.1"]')
    assert page.inner_text(".switch") == "Head 0.1 is off throughout" and page.locator(".switch").is_disabled()
    assert page.get_attribute(".switch", "aria-checked") == "false"
    assert "off in the whole figure, so it cannot be switched" in page.inner_text(".gone")
    page.click('.tile[aria-label="Head 0.2"]')
    assert page.inner_text(".switch") == "Head 0.2 is off" and page.locator(".switch").is_enabled()


def test_a_token_without_a_chance_has_no_number_and_the_page_is_whole(opening, figure):
    model = figure.reader.model
    forward = model.forward
    barred = torch.zeros(13).index_fill(0, torch.tensor([7]), -torch.inf)
    try:
        model.forward = lambda *given, **more: forward(*given, **more) + barred
        page = opening(look(model, IDS, Words()))
    finally:
        del model.forward
    page.select_option("#order", "gone")
    page.click(".switch")
    assert page.locator(".gone .under").all_inner_texts().count("no number") == 2
    assert "A token has no number where its probability is 0." in page.inner_text(".gone")
    assert "NaN" not in page.inner_text("body") and "undefined" not in page.inner_text("body")


def test_a_row_of_many_small_weights_is_told_in_a_sentence(opening):
    n = 220
    page = opening(look(torch.full((1, 1, n, n), 1 / n), [f"w{i}" for i in range(n)]))
    assert page.inner_text(".readout") == "\u201cw219\u201d spreads its weight over 220 tokens, and none gets 0.005."
