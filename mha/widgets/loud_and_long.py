"""Parts of a sum: weight, length of what is weighed, and their product, which need not favour the same word."""
import torch

from mha import viz
from mha.widgets.figure import Choice, LiveFigure, Slider
from mha.widgets.whole_layer import GIVEN, HEADS, WORDS, numbers_of


def mood_in(W_O, mood):
    """W_O of chapter 0 with another number in the place of its -2."""
    return [[mood, *W_O[0][1:]], *W_O[1:]]


class LoudAndLong(LiveFigure):
    """What each word adds to the one that looks: its weight, times the length of its value after W_O.

    `numbers()` gives weight (3), length (3) and part (3), their products, of the word that looks.
    """

    data = {"words": WORDS, "W_O": GIVEN["WO"],
            "weights": numbers_of(GIVEN)["weight"].view(2, 3, 3).tolist(),      # of both heads
            "values": numbers_of(GIVEN)["value"].view(2, 3, 2).tolist()}
    follow = Choice("word that looks", WORDS)
    head = Choice("head", [str(head) for head in HEADS])
    mood = Slider("mood that W_O makes of a not", -2.0, 0.0, 0.25, value=-2.0, new_row=True)

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
