"""How many books a soft lookup effectively reads: weights and e^H while the temperature and the query's length move."""
import torch

from mha import viz
from mha.widgets.figure import ChoiceSlider, LiveFigure
from mha.widgets.soft_lookup import TEMPERATURES
from mha.widgets.softmax_strokes import NAMES, SCORES

LENGTHS = [0.25, 0.5, 1.0, 2.0, 4.0]     # of the query, times that of the chapter


class BooksRead(LiveFigure):
    """The temperature, and how long the query is.

    `numbers()` gives weight (5) and read (1): e^H, the effective number of books.
    """

    data = {"names": NAMES, "scores": SCORES.double().tolist(), "temperatures": TEMPERATURES, "lengths": LENGTHS}
    temperature = ChoiceSlider("temperature T", [f"{t:g}" for t in TEMPERATURES], value=TEMPERATURES.index(1.0))
    length = ChoiceSlider("query, times as long", [f"{times:g}" for times in LENGTHS], value=LENGTHS.index(1.0))

    def numbers(self, temperature, length):
        weights = (SCORES.double() * LENGTHS[length] / TEMPERATURES[temperature]).softmax(-1)
        return {"weight": weights, "read": torch.special.entr(weights).sum().exp()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        picture = viz.bars(NAMES, weights=shown["weight"])
        picture.text += f"\neffective number of books {float(shown['read'][0]):.2f}"
        return picture
