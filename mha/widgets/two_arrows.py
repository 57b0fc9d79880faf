"""A dot product as two arrows: how long the key is, how far it turns from the query, and its shadow on the query."""
import torch

from mha import viz
from mha.widgets.figure import LiveFigure, Slider

QUERY = 2.0     # its length


class TwoArrows(LiveFigure):
    """A query of length 2 and a key of any length and direction.

    `numbers()` gives shadow, the key's coordinate along the query, score, their dot product, and distance, between
    their tips (1 each).
    """

    data = {"query": QUERY}
    length = Slider("length of the key", 0.5, 3, 0.25, value=1.5)
    angle = Slider("degrees between them", 0, 180, 5, value=45)

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
