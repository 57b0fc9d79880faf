"""The value map beyond its numbers: W_V leaves the weights alone, and a token can be clicked."""
import pytest

import served
from operate import operate

SETTINGS = [{"turn": turn, "first": first, "second": second, "asking": asking, "sharpness": sharpness}
            for turn, first, second in [(0, 1, 1), (90, 1.5, 1.75), (-180, -2, 2), (45, 0, 1), (30, 0, 0),
                                        (-75, 2, -0.25)]
            for asking, sharpness in [(0, 2), (1, 2), (2, 0), (3, 5)]]


@pytest.fixture
def value_map(visit):
    """The page with the value map, and its place among the page's figures."""
    for page in served.pages():
        if "value-map" in (names := served.live_figures(page)):
            return visit(page, script=served.FRAMES).page, names.index("value-map")
    pytest.skip("no page shows the value map")


def test_the_weights_stay_when_W_V_moves(value_map):
    from mha.widgets import ValueMap

    tab, index = value_map
    shown = operate(tab, index, ValueMap(), [{**setting, "asking": 1, "sharpness": 3} for setting in SETTINGS])
    assert len({one["weight"].tobytes() for one in shown}) == 1
    assert len({one["value"].tobytes() for one in shown}) == 6


def test_a_click_on_a_token_makes_it_look(value_map):
    tab, index = value_map
    figure = tab.locator(".live-figure").nth(index)
    figure.locator(".word").nth(2).click()
    tab.evaluate("flushFrames()")
    assert figure.locator("input[type=radio]").nth(2).is_checked()
    assert "small" in figure.locator(".status").inner_text()
