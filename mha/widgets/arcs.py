"""One word changed: where a word looks in two sentences that differ in their last word, for each head of a layer."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab.assets import trained_qk
from mha.attention import attention
from mha.widgets.figure import Canvas, LiveFigure, front_end, in_steps, packed, slider

ENDINGS = ["tired", "wide"]
LAYER = 5
STEPS = 1000     # in a weight of 1: three decimals are stored, two are shown


class ArcsCanvas(Canvas):
    _esm, _css = front_end("arcs")
    tokens = traitlets.List().tag(sync=True)
    endings = traitlets.List(ENDINGS).tag(sync=True)
    maps = traitlets.List().tag(sync=True)             # packed (heads, n, n) for each ending
    steps = traitlets.Int(STEPS).tag(sync=True)
    num_heads = traitlets.Int(12).tag(sync=True)
    layer = traitlets.Int(LAYER).tag(sync=True)
    head = traitlets.Int(11, help="counted from 0").tag(sync=True)
    word = traitlets.Int(10).tag(sync=True)


class HeadArcs(LiveFigure):
    """Arcs from one word to all words, sentence "... tired" above the line and "... wide" below it.

    Queries and keys come from the last layer of all-MiniLM-L6-v2, whose heads are called 5.0 to 5.11, layer.head.
    `numbers()` gives weight: 2 n numbers, first ending first, to three decimals.
    """

    def __init__(self, head=11, word="it"):
        self.trained = [trained_qk(ending, layer=LAYER) for ending in ENDINGS]
        tokens = self.trained[0].tokens
        maps = [attention(*t.heads(), t.heads()[1], need_weights=True)[1] for t in self.trained]     # (12, n, n) each
        self.maps = [in_steps(weights, STEPS) for weights in maps]
        canvas = ArcsCanvas(tokens=tokens, maps=[packed(weights, STEPS) for weights in maps],
                            num_heads=self.trained[0].num_heads, head=head, word=tokens.index(word))
        words = [("tired / wide" if t == ENDINGS[0] else t, j) for j, t in enumerate(tokens)]
        super().__init__(canvas, [
            {"head": slider(ipywidgets.SelectionSlider, "head", value=head,
                            options=[(f"{LAYER}.{i}", i) for i in range(canvas.num_heads)]),
             "word": slider(ipywidgets.SelectionSlider, "word that looks", options=words, value=canvas.word)}])

    def numbers(self, head, word):
        return {"weight": torch.cat([weights[head, word] for weights in self.maps])}

    def picture(self):
        tokens, setting = self.canvas.tokens, self.setting()
        return viz.arcs(tokens, self.numbers(**setting)["weight"].view(2, -1), setting["word"], ENDINGS)
