"""From how many books a soft lookup reads: weights and e^H while the temperature and the query's length move."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider
from mha.widgets.lookup import TEMPERATURES
from mha.widgets.strokes import NAMES, SCORES

LENGTHS = [0.25, 0.5, 1.0, 2.0, 4.0]     # of the query, times that of the chapter


class ReadCanvas(Canvas):
    _esm, _css = front_end("read")
    names = traitlets.List(NAMES).tag(sync=True)
    scores = traitlets.List(SCORES.double().tolist()).tag(sync=True)
    temperatures = traitlets.List(TEMPERATURES).tag(sync=True)
    lengths = traitlets.List(LENGTHS).tag(sync=True)
    temperature = traitlets.Int(TEMPERATURES.index(1.0)).tag(sync=True)
    length = traitlets.Int(LENGTHS.index(1.0)).tag(sync=True)


class BooksRead(LiveFigure):
    """The temperature, and how long the query is.

    `numbers()` gives weight (5) and read (1): e^H, from how many books, shared equally, the mixture might as well come.
    """

    def __init__(self):
        super().__init__(ReadCanvas(), [
            {"temperature": slider(ipywidgets.SelectionSlider, "temperature T",
                                   options=[(f"{t:g}", t) for t in TEMPERATURES], value=1.0),
             "length": slider(ipywidgets.SelectionSlider, "query, times as long",
                              options=[(f"{times:g}", times) for times in LENGTHS], value=1.0)}])

    def numbers(self, temperature, length):
        weights = (SCORES.double() * LENGTHS[length] / TEMPERATURES[temperature]).softmax(-1)
        return {"weight": weights, "read": torch.special.entr(weights).sum().exp()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        picture = viz.bars(NAMES, weights=shown["weight"])
        picture.text += f"\nread as from {float(shown['read'][0]):.2f} books"
        return picture
