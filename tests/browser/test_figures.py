"""Every number that a live figure draws, at every setting of its controls, against torch in float64."""
import itertools
import random

import numpy as np
import pytest

import served
from operate import operate

FIGURES_OF_PAGES = [(page, index) for page in served.pages()
                    for index in range(served.live_figures(page))] if served.chromium() else []
every_figure = pytest.mark.parametrize("page, index", FIGURES_OF_PAGES)
ALL_UP_TO, AT_RANDOM, AT_ONCE = 2000, 500, 100


def settings_to_try(figure):
    """All settings; where they are more than ALL_UP_TO, every corner of the grid and AT_RANDOM others."""
    settings = list(figure.settings())
    if len(settings) <= ALL_UP_TO:
        return settings
    ends = {name: sorted({setting[name] for setting in settings}) for name in settings[0]}
    corners = [dict(zip(ends, values))
               for values in itertools.product(*((values[0], values[-1]) for values in ends.values()))]
    return corners + random.Random(0).sample(settings, AT_RANDOM)


def open_figure(visit, page, index):
    from mha.widgets import FIGURES

    tab = visit(page, script=served.FRAMES).page
    name = tab.locator(".live-figure").nth(index).locator("[data-figure]").get_attribute("data-figure")
    return tab, FIGURES[name]()


@every_figure
def test_a_figure_shows_what_torch_computes_at_every_setting(visit, page, index):
    tab, figure = open_figure(visit, page, index)
    settings = settings_to_try(figure)
    for start in range(0, len(settings), AT_ONCE):
        batch = settings[start : start + AT_ONCE]
        for setting, shown in zip(batch, operate(tab, index, figure, batch)):
            compare(shown, figure.numbers(**setting), setting)


def compare(shown, computed, setting):
    drawn = {name for name, values in shown.items() if len(values)}
    assert drawn == set(computed), f"at {setting} the page shows {sorted(drawn)}, torch computes {sorted(computed)}"
    for name, values in computed.items():
        expected = values.double().flatten().numpy()
        drawn = f"at {setting} the page draws {shown[name].size} of {expected.size}: {name}"
        assert shown[name].shape == expected.shape, drawn
        gap = np.max(np.abs(shown[name] - expected) / np.maximum(1, np.abs(expected)))
        assert gap < 1e-5, f"at {setting} {name} is off by {gap:.2g}"


@every_figure
def test_the_keyboard_moves_every_slider_and_the_figure_follows(visit, page, index):
    tab = visit(page, script=served.FRAMES).page
    figure = tab.locator(".live-figure").nth(index)
    for slider in figure.locator("input[type=range]").all():
        seen = []
        for key in ("Home", "End", "ArrowLeft"):
            slider.press(key)
            tab.evaluate("flushFrames()")
            seen.append((slider.input_value(), slider.get_attribute("aria-valuetext"),
                         figure.locator(".live-view").inner_html()))
        values, spoken, drawings = zip(*seen)
        assert len(set(values)) == 3 and len(set(spoken)) >= 2, slider.get_attribute("id")
        assert drawings[0] != drawings[1], "the slider moved and the figure did not"


def test_every_figure_of_the_package_is_in_the_book(visit):
    from mha.widgets import FIGURES

    found = set()
    for page in dict(FIGURES_OF_PAGES):
        names = visit(page).page.locator(".live-figure [data-figure]")
        found |= {names.nth(i).get_attribute("data-figure") for i in range(names.count())}
    assert found == set(FIGURES)
