"""The figure of the book: one trained layer, cut into h heads of width d_k, live."""
import torch

from mha import viz
from mha.lab.assets import trained_qk
from mha.attention import attention
from mha.widgets.figure import ChoiceSlider, Dropdown, LiveFigure, Slider, Toggle, float16_bytes

D_MODEL, MAPS = 384, 24
CUTS = [n for n in range(1, D_MODEL + 1) if D_MODEL % n == 0]        # the 16 divisors of 384
TRAINED = CUTS.index(12), CUTS.index(32)                            # as the model was trained, and as the figure opens
SENTENCES = {"The animal didn't cross ...": "tired", "The bank by the river ...": "bank"}


class HeadGrid(LiveFigure):
    """Every head's map on a real sentence while you turn h and d_k, with shapes, parameters and memory.

    Q and K are those of the first layer of all-MiniLM-L6-v2 (d_model 384, trained with h = 12 and d_k = 32), in each
    trained head the strongest direction first; head i owns d_k columns from column i * 384 / h on. As they were
    trained the heads are called 0.0 to 0.11, layer.head; any other cut is no trained head, and is called cut 0, cut 1,
    ... `numbers()` gives weight: the maps drawn (at most 24), then the large map again; and the ledger: columns
    (h * d_k), parameters (four matrices, no biases), scores (h * n^2 numbers), kib (their size in float32). With one
    head, whose map is drawn large, the mean of the twelve trained heads stands in the place of the small ones.
    """

    num_heads = ChoiceSlider("heads h", [f"{c} head{'s' * (c > 1)}" for c in CUTS], value=TRAINED[0])
    d_k = ChoiceSlider("width d_k", [str(c) for c in CUTS], value=TRAINED[1])
    linked = Toggle(f"hold h \u00b7 d_k = {D_MODEL}", value=True)
    head = Slider("map drawn large", 0, CUTS[TRAINED[0]] - 1, value=2, new_row=True, moves_end=True)
    word = Slider("row that looks", 0, lambda figure: max(len(t.tokens) for t in figure.trained) - 1, value=10)
    sentence = Dropdown("sentence", list(SENTENCES))

    def __init__(self):
        self.trained = [trained_qk(name, layer=0) for name in SENTENCES.values()]
        sentences = [{"tokens": t.tokens, "q": float16_bytes(t.Q), "k": float16_bytes(t.K)} for t in self.trained]
        super().__init__({"sentences": sentences, "cuts": CUTS, "maps": MAPS, "d_model": D_MODEL})

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
        Q, K = self.trained[self.sentence if sentence is None else sentence].heads(
            num_heads or CUTS[self.num_heads], d_k or CUTS[self.d_k])
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
        tokens = self.trained[self.sentence].tokens
        maps, trained = self.weights()[:MAPS], (self.num_heads, self.d_k) == TRAINED
        return viz.heatmaps(maps, tokens, [f"head 0.{i}" if trained else f"cut {i}" for i in range(len(maps))])
