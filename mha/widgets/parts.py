"""Parts of a sum: weight, length of what is weighed, and their product, which need not favour the same word."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.whole import GIVEN, HEADS, WORDS, numbers_of


def mood_in(W_O, mood):
    """W_O of chapter 0 with another number in the place of its -2."""
    return [[mood, *W_O[0][1:]], *W_O[1:]]


class PartsCanvas(Canvas):
    _esm, _css = front_end("parts")
    words = traitlets.List(WORDS).tag(sync=True)
    weights = traitlets.List(numbers_of(GIVEN)["weight"].view(2, 3, 3).tolist(), help="of both heads").tag(sync=True)
    values = traitlets.List(numbers_of(GIVEN)["value"].view(2, 3, 2).tolist(), help="of both heads").tag(sync=True)
    W_O = traitlets.List(GIVEN["WO"]).tag(sync=True)
    follow = traitlets.Int(0, help="the word that looks").tag(sync=True)
    head = traitlets.Int(0, help="0 is head 1").tag(sync=True)
    mood = traitlets.Float(-2.0, help="what W_O makes of a not").tag(sync=True)


class LoudAndLong(LiveFigure):
    """What each word adds to the one that looks: its weight, times the length of its value after W_O.

    `numbers()` gives weight (3), length (3) and part (3), their products, of the word that looks.
    """

    def __init__(self):
        super().__init__(PartsCanvas(), [
            {"follow": slider(ipywidgets.ToggleButtons, "word that looks", options=WORDS),
             "head": slider(ipywidgets.ToggleButtons, "head", options=[str(head) for head in HEADS])},
            {"mood": slider(ipywidgets.FloatSlider, "mood that W_O makes of a not", value=-2.0, min=-2.0, max=0.0,
                            step=0.25, readout_format=".2f")}])

    def numbers(self, follow, head, mood):
        shown = numbers_of({**GIVEN, "WO": mood_in(GIVEN["WO"], mood)})
        weight, values = shown["weight"].view(2, 3, 3)[head, follow], shown["value"].view(2, 3, 2)[head]
        W_O = torch.tensor(mood_in(GIVEN["WO"], mood), dtype=torch.float64)[2 * head : 2 * head + 2]
        length = (values @ W_O).norm(dim=-1)
        return {"weight": weight, "length": length, "part": weight * length}

    def picture(self):
        shown = self.numbers(**self.setting())
        columns = torch.stack(list(shown.values()), dim=-1)
        return viz.matrices("Weight, length and their product, of each word that is looked at.", WORDS,
                            {"one word looks": (columns, list(shown))}, columns=1)
