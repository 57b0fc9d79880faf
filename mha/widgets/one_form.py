"""Two matrices as one form: A = W_Q W_K^T of chapter 0, from its symmetric part to itself and to its mirror image."""
import torch

from mha import viz
from mha.widgets.figure import Choice, LiveFigure, Slider
from mha.widgets.whole_layer import FEATURES, GIVEN, HEADS, WORDS


def forms():
    """W_Q W_K^T of both heads, (2, 4, 4)."""
    given = {name: torch.tensor(matrix, dtype=torch.float64) for name, matrix in GIVEN.items()}
    return torch.stack([given[f"WQ{head}"] @ given[f"WK{head}"].T for head in HEADS])


class OneForm(LiveFigure):
    """(A + A^T)/2 + part (A - A^T)/2 for A = W_Q W_K^T, and the scores and weights that it gives.

    `numbers()` gives form (16), score (9) and weight (9), all row by row.
    """

    data = {"words": WORDS, "features": FEATURES, "x": GIVEN["x"], "forms": forms().tolist()}
    part = Slider("antisymmetric part, times", -1.0, 1.0, 0.5, value=1.0)
    head = Choice("head", [str(head) for head in HEADS])

    def numbers(self, part, head):
        A = forms()[head]
        form = (A + A.T) / 2 + part * (A - A.T) / 2
        x = torch.tensor(GIVEN["x"], dtype=torch.float64)
        score = x @ form @ x.T
        shown = {"form": form, "score": score, "weight": (score / 2 ** 0.5).softmax(-1)}
        return {name: values.flatten() for name, values in shown.items()}

    def picture(self):
        shown = self.numbers(**self.setting())
        panels = {name: (shown[name].view(3, 3), WORDS) for name in ("score", "weight")}
        picture = viz.matrices("Scores and weights of three words from one form: rows look, columns are looked at.",
                               WORDS, panels)
        rows = [f"{name:5} " + " ".join(f"{value:6.2f}" for value in row)
                for name, row in zip(FEATURES, shown["form"].view(4, 4))]
        picture.text += "\n" + "\n".join(["form A", *rows])
        return picture
