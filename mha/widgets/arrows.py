"""A dot product as two arrows: how long the key is, how far it turns from the query, and its shadow on the query."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

QUERY = 2.0     # its length


class ArrowsCanvas(Canvas):
    _esm, _css = front_end("arrows")
    query = traitlets.Float(QUERY).tag(sync=True)
    length = traitlets.Float(1.5).tag(sync=True)
    angle = traitlets.Int(45).tag(sync=True)


class TwoArrows(LiveFigure):
    """A query of length 2 and a key of any length and direction.

    `numbers()` gives shadow, the key's coordinate along the query, score, their dot product, and distance, between
    their tips (1 each).
    """

    def __init__(self):
        super().__init__(ArrowsCanvas(), [
            {"length": slider(ipywidgets.FloatSlider, "length of the key", value=1.5, min=0.5, max=3, step=0.25,
                              readout_format=".2f"),
             "angle": slider(ipywidgets.IntSlider, "degrees between them", value=45, min=0, max=180, step=5)}])

    def numbers(self, length, angle):
        query = torch.tensor([QUERY, 0.0], dtype=torch.float64)
        turn = torch.tensor([angle], dtype=torch.float64).deg2rad()
        key = length * torch.cat([turn.cos(), turn.sin()])
        return {"shadow": key[:1], "score": (query @ key)[None], "distance": (query - key).norm()[None]}

    def picture(self):
        shown = self.numbers(**self.setting())
        picture = viz.bars(["shadow of the key", "score", "distance of the tips"],
                           number=torch.cat(list(shown.values())))
        _, _, table = picture.text.partition("\n")
        picture.text = f"A query and a key as arrows, their dot product and the distance of their tips.\n{table}"
        return picture
