"""A browser for the heads of a trained model: every map of every layer and head on a few real sentences."""

from mha import viz
from mha.lab import measure
from mha.lab.assets import BROWSED, real_heads
from mha.widgets.figure import Dropdown, LiveFigure, Slider, in_steps, packed

LAYERS, HEADS = 6, 12
STEPS = 100          # in a weight of 1: the two decimals that are shown


class HeadBrowser(LiveFigure):
    """All 72 heads of all-MiniLM-L6-v2 small, one large, and the row of one token as bars.

    Layers and heads are counted from 0, as the code counts them: head 3.1 is the second of the fourth layer.
    `numbers()` gives weight, the large map (n n); row (n); and before, itself, after, first: the mean weight on the
    token before, on itself, on the next one, and on [CLS].
    """

    sentence = Dropdown("sentence", list(BROWSED))
    layer = Slider("layer", 0, LAYERS - 1, value=3, new_row=True)
    head = Slider("head", 0, HEADS - 1, value=1)
    word = Slider("row that looks", 0, lambda figure: max(map(len, figure.tokens)) - 1, value=10)

    def __init__(self):
        browsed = real_heads().browsed
        self.tokens = [one.tokens for one in browsed]
        self.maps = [in_steps(one.maps.double() / 255, STEPS) for one in browsed]       # (6, 12, n, n)
        sentences = [{"tokens": list(tokens), "maps": packed(maps, STEPS)}
                     for tokens, maps in zip(self.tokens, self.maps)]
        super().__init__({"sentences": sentences, "steps": STEPS, "layers": LAYERS, "heads": HEADS})

    def weights(self, sentence, layer, head):
        """One map, (n, n), float64, to two decimals. Its rows sum to 1 within these."""
        return self.maps[sentence][layer, head]

    def numbers(self, sentence, layer, head, word):
        weights = self.weights(sentence, layer, head)
        near = {name: measure.at_offset(weights, k)[None] for name, k in (("before", -1), ("itself", 0), ("after", 1))}
        row = weights[min(word, len(weights) - 1)]
        return {"weight": weights.flatten(), "row": row, **near, "first": weights[:, 0].mean()[None]}

    def picture(self):
        setting = self.setting()
        sentence, layer, head = (setting[name] for name in ("sentence", "layer", "head"))
        tokens = self.tokens[sentence]
        word = tokens[min(setting["word"], len(tokens) - 1)]
        row = self.numbers(**setting)["row"]
        picture = viz.heatmaps(self.weights(sentence, layer, head), tokens)
        alt = (f"The map of head {layer}.{head} of all-MiniLM-L6-v2 on: {BROWSED[sentence]} "
               f"The table is the row of {word!r}.")
        picture.text = viz.table(alt, ["token", f"weight from {word!r}"],
                                 [[token, float(weight)] for token, weight in zip(tokens, row)], digits=2)
        return picture
