"""One word changed: where a word looks in two sentences that differ in their last word, for each head of a layer."""
import torch

from mha import viz
from mha.lab.assets import trained_qk
from mha.attention import attention
from mha.widgets.figure import ChoiceSlider, LiveFigure, in_steps, packed

ENDINGS = ["tired", "wide"]
LAYER, HEADS = 5, 12
STEPS = 1000     # in a weight of 1: three decimals are stored, two are shown


class HeadArcs(LiveFigure):
    """Arcs from one word to all words, sentence "... tired" above the line and "... wide" below it.

    Queries and keys come from the last layer of all-MiniLM-L6-v2, whose heads are called 5.0 to 5.11, layer.head.
    `numbers()` gives weight: 2 n numbers, first ending first, to three decimals.
    """

    head = ChoiceSlider("head", [f"{LAYER}.{i}" for i in range(HEADS)], value=11)
    word = ChoiceSlider("word that looks", lambda figure: [t.replace("tired", "tired / wide") for t in figure.tokens],
                        value=10)

    def __init__(self, head=11, word="it"):
        self.trained = [trained_qk(ending, layer=LAYER) for ending in ENDINGS]
        self.tokens = self.trained[0].tokens
        maps = [attention(*t.heads(), t.heads()[1], need_weights=True)[1] for t in self.trained]     # (12, n, n) each
        self.maps = [in_steps(weights, STEPS) for weights in maps]
        super().__init__({"tokens": self.tokens, "endings": ENDINGS, "steps": STEPS, "num_heads": HEADS, "layer": LAYER,
                          "maps": [packed(weights, STEPS) for weights in maps]},
                         head=head, word=self.tokens.index(word))

    def numbers(self, head, word):
        return {"weight": torch.cat([weights[head, word] for weights in self.maps])}

    def picture(self):
        tokens, setting = self.tokens, self.setting()
        return viz.arcs(tokens, self.numbers(**setting)["weight"].view(2, -1), setting["word"], ENDINGS)
