"""The machine of chapter 0 at a glance, as the front page shows it."""
from mha.widgets.figure import LiveFigure, State, Toggle
from mha.widgets.whole_layer import DATA, GIVEN, numbers_of, picture_of


class WholeGlance(LiveFigure):
    """The same two heads at a glance: the words before and after, and who looks at whom; each head can be switched off.

    `numbers()` gives weight (18), of head 1 and then head 2, row by row, and after (12).
    """

    drawn_by = "whole_layer"
    data = {**DATA, "only_glance": True}            # the words before and after, and nothing between
    head_1 = Toggle("head 1", value=True)
    head_2 = Toggle("head 2", value=True)
    matrices = State(GIVEN, name="given")
    pointed = State([])

    def numbers(self, head_1, head_2):
        shown = numbers_of(GIVEN, head_1, head_2)
        return {name: shown[name] for name in ("weight", "after")}

    def picture(self):
        return picture_of(self.numbers(**self.setting()), GIVEN["x"])
