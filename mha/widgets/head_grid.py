"""The figure of the book: one trained layer, cut into h heads of width d_k, live."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab.assets import trained_qk
from mha.attention import attention
from mha.widgets.figure import Canvas, LiveFigure, float16_bytes, front_end, slider

D_MODEL, MAPS = 384, 24
CUTS = [n for n in range(1, D_MODEL + 1) if D_MODEL % n == 0]        # the 16 divisors of 384
TRAINED = CUTS.index(12), CUTS.index(32)                            # the setting with which the model was trained
FIRST = 4                                                           # and that of the figure: few maps, easily looked at
SENTENCES = {"The animal didn't cross ...": "tired", "The bank by the river ...": "bank"}


class HeadGridCanvas(Canvas):
    _esm, _css = front_end("head_grid")
    sentences = traitlets.List().tag(sync=True)        # [{"tokens": [...], "q": float16 bytes (n, d_model), "k": ...}]
    cuts = traitlets.List(CUTS).tag(sync=True)
    maps = traitlets.Int(MAPS, help="at most so many heads are drawn").tag(sync=True)
    d_model = traitlets.Int(D_MODEL).tag(sync=True)
    num_heads = traitlets.Int(CUTS.index(FIRST), help="index into cuts").tag(sync=True)
    d_k = traitlets.Int(CUTS.index(D_MODEL // FIRST), help="index into cuts").tag(sync=True)
    linked = traitlets.Bool(True, help="hold h d_k = d_model").tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0, help="the map drawn large, counted from 0").tag(sync=True)
    last = traitlets.Int(FIRST - 1, help="the last that can be").tag(sync=True)
    word = traitlets.Int(10, help="the query whose row is marked, counted from 0").tag(sync=True)


class HeadGrid(LiveFigure):
    """Every head's map on a real sentence while you turn h and d_k, with shapes, parameters and memory.

    Q and K are those of the first layer of all-MiniLM-L6-v2 (d_model 384, trained with h = 12 and d_k = 32), in each
    trained head the strongest direction first; head i owns d_k columns from column i * 384 / h on. As they were
    trained the heads are called 0.0 to 0.11, layer.head; any other cut is no trained head, and is called cut 0, cut 1,
    ... `numbers()` gives weight: the maps drawn (at most 24), then the large map again; and the ledger: columns
    (h * d_k), parameters (four matrices, no biases), scores (h * n^2 numbers), kib (their size in float32). With one
    head, whose map is drawn large, the mean of the twelve trained heads stands in the place of the small ones.
    """

    def __init__(self):
        self.trained = [trained_qk(name, layer=0) for name in SENTENCES.values()]
        sentences = [{"tokens": t.tokens, "q": float16_bytes(t.Q), "k": float16_bytes(t.K)} for t in self.trained]
        heads = [(f"{c} head{'s' * (c > 1)}", i) for i, c in enumerate(CUTS)]
        widths = [(str(c), i) for i, c in enumerate(CUTS)]
        canvas = HeadGridCanvas(sentences=sentences)
        longest = max(len(t.tokens) for t in self.trained)
        super().__init__(canvas, [
            {"num_heads": slider(ipywidgets.SelectionSlider, "heads h", options=heads, value=canvas.num_heads),
             "d_k": slider(ipywidgets.SelectionSlider, "width d_k", options=widths, value=canvas.d_k),
             "linked": slider(ipywidgets.Checkbox, f"hold h · d_k = {D_MODEL}", value=True, indent=False)},
            {"head": slider(ipywidgets.IntSlider, "map drawn large", value=canvas.head, min=0, max=canvas.last),
             "word": slider(ipywidgets.IntSlider, "row that looks", value=canvas.word, min=0, max=longest - 1),
             "sentence": slider(ipywidgets.Dropdown, "sentence", options=list(SENTENCES))}])
        self.links.append(ipywidgets.jslink((canvas, "last"), (self.controls["head"], "max")))

    def settings(self):
        """Every h, d_k and sentence, linked where h d_k = d_model.

        The marked word and the large head change no map, so not all of theirs are tried with each.
        """
        for sentence in range(len(SENTENCES)):
            for i in range(len(CUTS)):
                for j in range(len(CUTS)):
                    linked = CUTS[i] * CUTS[j] == D_MODEL
                    yield {"linked": linked, "num_heads": i, "d_k": j, "sentence": sentence, "word": (3 * i + j) % 10,
                           "head": (i + j) % min(MAPS, CUTS[i])}

    def weights(self, num_heads=None, d_k=None, sentence=None):
        """Weights of every head, (h, n, n), on a sentence (0 or 1); by default at the figure's present setting."""
        canvas = self.canvas
        Q, K = self.trained[canvas.sentence if sentence is None else sentence].heads(
            num_heads or CUTS[canvas.num_heads], d_k or CUTS[canvas.d_k])
        return attention(Q, K, K, need_weights=True)[1]

    def numbers(self, num_heads, d_k, sentence, head, **_):
        h, width = CUTS[num_heads], CUTS[d_k]
        weights = self.weights(h, width, sentence)
        n = weights.shape[-1]
        large = weights[min(head, h - 1, MAPS - 1)]
        small = weights[:MAPS] if h > 1 else self.weights(12, 32, sentence).mean(0)
        ledger = {"columns": h * width, "parameters": 4 * D_MODEL * h * width, "scores": h * n * n,
                  "kib": 4 * h * n * n / 1024}
        return {"weight": torch.cat([small.flatten(), large.flatten()]),
                **{k: torch.tensor([float(v)]) for k, v in ledger.items()}}

    def picture(self):
        tokens = self.trained[self.canvas.sentence].tokens
        maps, trained = self.weights()[:MAPS], (self.canvas.num_heads, self.canvas.d_k) == TRAINED
        return viz.heatmaps(maps, tokens, [f"head 0.{i}" if trained else f"cut {i}" for i in range(len(maps))])
