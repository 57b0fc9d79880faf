"""A batch of two sentences: what is filled up, and what a mean makes of the padding."""
import torch

from mha import masks, viz
from mha.attention import attention
from mha.widgets.figure import LiveFigure, Slider

SENTENCES = [["not", "good", "news"], ["good", "good", "news"]]
MOODS = {"not": 0.0, "good": 1.0, "news": 0.0}      # as in chapter 0


class PaddedBatch(LiveFigure):
    """Two sentences in one rectangle, as wide as the longer; all scores are equal, so a mixture is a mean.

    The padding is a row of zeros. `numbers()` gives, sentence by sentence, weight (2 m) with the padding masked, and
    the mean mood with the padding masked (2) and with it read (2).
    """

    data = {"sentences": SENTENCES, "moods": MOODS}
    first = Slider("words of the first sentence", 1, 3, value=3)
    second = Slider("words of the second", 1, 3, value=1)

    def numbers(self, first, second):
        wide = max(first, second)
        mood = torch.zeros(2, wide, 1, dtype=torch.float64)
        for i, length in enumerate((first, second)):
            mood[i, :length, 0] = torch.tensor([MOODS[word] for word in SENTENCES[i][:length]])
        query, key = torch.zeros(2, 1, 1, dtype=torch.float64), torch.zeros_like(mood)
        mask = masks.padding([first, second], wide)[:, 0]
        hidden, weights = attention(query, key, mood, mask=mask, need_weights=True)
        return {"weight": weights.flatten(), "hidden": hidden.flatten(), "read": mood.mean(1).flatten()}

    def picture(self):
        shown = self.numbers(**self.setting())
        means = torch.stack([shown["hidden"], shown["read"]], dim=1)
        return viz.matrices("Two sentences in a batch, and the mean mood of each, its padding masked or read.",
                            ["sentence 1", "sentence 2"],
                            {"mean mood": (means, ["padding masked", "padding read"])}, columns=1)
