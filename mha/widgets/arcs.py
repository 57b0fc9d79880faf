"""One word changed: where a word looks in two sentences that differ in their last word, for each head of a layer."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.assets import trained_qk
from mha.attention import attention
from mha.widgets.figure import Canvas, LiveFigure, float16_bytes, front_end, slider

ENDINGS = ["tired", "wide"]
LAYER = 5


class ArcsCanvas(Canvas):
    _esm, _css = front_end("arcs")
    tokens = traitlets.List().tag(sync=True)
    endings = traitlets.List(ENDINGS).tag(sync=True)
    sentences = traitlets.List().tag(sync=True)        # [{"q": float16 bytes (n, d_model), "k": ...}] for each ending
    num_heads = traitlets.Int(12).tag(sync=True)
    layer = traitlets.Int(LAYER).tag(sync=True)
    head = traitlets.Int(11, help="counted from 0").tag(sync=True)
    word = traitlets.Int(10).tag(sync=True)


class HeadArcs(LiveFigure):
    """Arcs from one word to all words, sentence "... tired" above the line and "... wide" below it.

    Queries and keys come from the last layer of all-MiniLM-L6-v2, whose heads are called 5.0 to 5.11, layer.head.
    `numbers()` gives weight: 2 n numbers, first ending first.
    """

    def __init__(self, head=11, word="it"):
        self.trained = [trained_qk(ending, layer=LAYER) for ending in ENDINGS]
        tokens = self.trained[0].tokens
        sentences = [{"q": float16_bytes(t.Q), "k": float16_bytes(t.K)} for t in self.trained]
        canvas = ArcsCanvas(tokens=tokens, sentences=sentences, num_heads=self.trained[0].num_heads, head=head,
                            word=tokens.index(word))
        words = [("tired / wide" if t == ENDINGS[0] else t, j) for j, t in enumerate(tokens)]
        super().__init__(canvas, [
            {"head": slider(ipywidgets.SelectionSlider, "head", value=head,
                            options=[(f"{LAYER}.{i}", i) for i in range(canvas.num_heads)]),
             "word": slider(ipywidgets.SelectionSlider, "word that looks", options=words, value=canvas.word)}])

    def numbers(self, head, word):
        rows = []
        for trained in self.trained:
            Q, K = trained.heads()
            rows.append(attention(Q[head], K[head], K[head], need_weights=True)[1][word])      # (n,)
        return {"weight": torch.cat(rows)}

    def picture(self):
        tokens, setting = self.canvas.tokens, self.setting()
        return viz.arcs(tokens, self.numbers(**setting)["weight"].view(2, -1), setting["word"], ENDINGS)
