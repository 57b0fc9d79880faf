"""The map that is drawn large, in the figure of chapter 6, is always one of those that there are."""
import pytest

import served
from operate import operate
from test_figures import open_figure

PAGE = "chapters/06_multi_head.html"
pytestmark = pytest.mark.skipif(not served.chromium(), reason="no Chromium")


def test_the_map_drawn_large_does_not_run_past_the_last(opened):
    tab, figure = open_figure(opened, PAGE, 0)
    slider = tab.get_by_label("map drawn large")
    cuts = [str(control[0]) for control in figure.controls["num_heads"].options]
    for heads, last in (("12 heads", 11), ("48 heads", 23), ("2 heads", 1), ("1 head", 0)):
        operate(tab, 0, figure, [{"num_heads": cuts.index(heads)}])
        slider.press("End")
        tab.evaluate("flushFrames()")
        assert (slider.get_attribute("max"), slider.input_value()) == (str(last), str(last)), heads
    assert "mean of 0.0 to 0.11" in tab.locator(".grid").inner_html()
