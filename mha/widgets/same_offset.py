"""A query and a key that move along the text together: both are rotated, and their score stays."""
import torch

from mha import viz
from mha.position import rope
from mha.widgets.figure import LiveFigure, Slider

D_K, BASE, LAST, TARGET = 8, 10000, 100, 3               # four pairs; the farthest position; where the head looks
ANGLES = [0.6, 2.0, 4.0, 5.2]                            # of the key's pairs before they are rotated, each of length 1


def vectors():
    """The query and the key (1, d_k) before they are rotated: the query is the key, rotated back by TARGET."""
    angles = torch.tensor(ANGLES, dtype=torch.float64)
    key = torch.cat([angles.cos(), angles.sin()])[None]
    return rope(key, torch.tensor([-TARGET]), base=BASE), key


class SameOffset(LiveFigure):
    """The score of a query `offset` tokens behind a key at `position`, where positions rotate both.

    `numbers()` gives query and key (8), rotated, the first parts of the pairs before the second; score (1); and, for
    the key at each position from 0 to 100 and the same offset, rotated (101), the scores, and added (101), what they
    are if a sinusoidal vector is added to each of the two instead.
    """

    data = {"frequencies": [BASE ** (-2 * pair / D_K) for pair in range(D_K // 2)], "angles": ANGLES, "last": LAST,
            "target": TARGET}
    position = Slider("position of the key", 0, LAST, value=20)
    offset = Slider("offset: the query, tokens later", 0, 20, value=5)

    def numbers(self, position, offset):
        query, key = vectors()
        at = torch.arange(LAST + 1)
        wave = torch.tensor([[1.0] * (D_K // 2) + [0.0] * (D_K // 2)], dtype=torch.float64)  # cos 0 and sin 0
        def along(vector, shift):                        # (101, d_k), at each position
            return rope(vector.expand(LAST + 1, D_K), at + shift, base=BASE)
        Q, K = along(query, offset), along(key, 0)
        added = ((query + along(wave, offset)) * (key + along(wave, 0))).sum(-1)
        rotated = (Q * K).sum(-1)
        return {"query": Q[position], "key": K[position], "score": rotated[position][None], "rotated": rotated,
                "added": added}

    def picture(self):
        shown = self.numbers(**self.setting())
        picture = viz.curves(range(LAST + 1), "position of the key", "score", points=6, rotated=shown["rotated"],
                             added=shown["added"])
        alt = (f"The score of a query {self.offset} tokens after its key, wherever that is: the same where both are "
               "rotated by their positions, and another at each where sinusoidal vectors are added to them.")
        picture.text = alt + "\n\n" + picture.text.split("\n\n", 1)[1]
        return picture
