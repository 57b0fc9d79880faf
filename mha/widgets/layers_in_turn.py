"""Layers that take turns between a window and all tokens: what can reach the last token, and what each layer caches."""
import torch

from mha import masks, viz
from mha.widgets.figure import Choice, LiveFigure, Slider

TOKENS, LAYERS = 24, 6
EVERY = {"none": 0, "1 in 6": 6, "1 in 3": 3, "1 in 2": 2, "all": 1}     # name -> each how many is full


def is_full(layer, full):
    """Whether a layer, counted from 1, has full attention, where `full` is an index of EVERY."""
    each = list(EVERY.values())[full]
    return each > 0 and layer % each == 0


class LayersInTurn(LiveFigure):
    """Six causal layers on 24 tokens, some with a window and the others full.

    `numbers()` gives reach (24): 1 for each token that the last one's output depends on, else 0; and kept (6): how many
    tokens' keys and values each layer's cache holds, the last token's among them.
    """

    label = "What can reach the last of 24 tokens through six layers, some windowed and some full, and their caches."
    data = {"tokens": TOKENS, "layers": LAYERS, "every": list(EVERY.values())}
    window = Slider("tokens in a window", 1, 8, value=4)
    full = Choice("full layers", list(EVERY))

    def numbers(self, window, full):
        reach = torch.zeros(TOKENS, dtype=torch.float64)
        reach[-1] = 1
        for layer in range(LAYERS, 0, -1):          # from the last token's output down
            left = None if is_full(layer, full) else window - 1
            reach = ((reach @ masks.window(TOKENS, left=left, right=0).double()) > 0).double()
        kept = [TOKENS if is_full(layer, full) else window for layer in range(1, LAYERS + 1)]
        return {"reach": reach, "kept": torch.tensor(kept, dtype=torch.float64)}

    def picture(self):
        shown = self.numbers(**self.setting())
        names = [f"layer {layer}" + ", full" * is_full(layer, self.full) for layer in range(1, LAYERS + 1)]
        picture = viz.bars(names, tokens_cached=shown["kept"])
        picture.text = "\n".join([
            f"{int(shown['reach'].sum())} of {TOKENS} tokens can reach the last output through {LAYERS} layers.\n",
            *(f"{name}: {int(kept)} tokens cached" for name, kept in zip(names, shown["kept"])),
            f"together: {int(shown['kept'].sum())}, and {TOKENS * LAYERS} if all were full"])
        return picture
