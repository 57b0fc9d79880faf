"""Paint a mask: who may look at whom, the weights that follow, and the leaks, which are exact gradients."""
import torch

from mha import masks, viz
from mha.attention import attention
from mha.widgets.figure import Choice, Dropdown, LiveFigure, Slider, State

WORDS = ["The", "cat", "sat", "on", "the", "mat"]
N, D = len(WORDS), 4
NO_THIRD = torch.arange(N)[:, None] != 2
PRESETS = {
    "everyone sees everyone": torch.ones(N, N, dtype=torch.bool),
    "causal: nobody looks ahead": masks.causal(N),
    "causal, the wrong way round": ~masks.causal(N),
    "window: one word to each side": masks.window(N, left=1, right=1),
    "padding: the last two are masked": masks.padding([4], N)[0, 0].expand(N, N),
    "nobody sees itself": ~torch.eye(N, dtype=torch.bool),
    "the third word sees nothing": NO_THIRD.expand(N, N),
}
OWN = "a mask of your own"            # what the list says of a mask that is painted and no preset
STRONGEST = 5.0       # the influence that fills a bar: no preset passes it at any number of layers
APPLIED = ["before the softmax", "after it (a bug)"]


def fixed():
    """Tokens (6, 4) and W_Q, W_K, W_V (4, 4) each, float64, always the same."""
    g = torch.Generator().manual_seed(7)
    x, W_Q, W_K, W_V = (torch.randn(rows, D, generator=g, dtype=torch.float64) for rows in (N, D, D, D))
    return x, 0.5 * W_Q, 0.5 * W_K, 0.7 * W_V


class MaskPainter(LiveFigure):
    """A mask that the reader paints, the weights that follow from it, and its leaks.

    The mask has 6 queries by 6 keys, the weights are those of the last layer, and a leak is |d out_i / d x_j| through
    all layers. Each layer has the same matrices and the same mask. Put after the softmax, the mask sets weights to zero
    that have already taken part in the sum.

    `numbers()` gives weight (36), row_sum (6) and leak (36, Frobenius norms of the Jacobian's blocks).
    """

    data = {"words": WORDS, "tensors": [t.tolist() for t in fixed()],
            "presets": [m.int().flatten().tolist() for m in PRESETS.values()], "strongest": STRONGEST}
    mask = Dropdown("mask", [*PRESETS, OWN], value=1)
    layers = Slider("layers", 1, 3, value=1)
    applied = Choice("the mask is applied", APPLIED, new_row=True)
    # row by row; choosing a preset sets it, painting chooses
    painted = State(PRESETS["causal: nobody looks ahead"].int().flatten().tolist())
    row = State(3)                      # whose bars stand beside the mask: the one that is pointed at

    def settings(self):
        """Every preset, placing and number of layers; what a mask of the reader's own shows, its cells say."""
        return (setting for setting in super().settings() if setting["mask"] < len(PRESETS))

    def numbers(self, mask, applied, layers, painted=None):
        painted = self.painted if mask == len(PRESETS) and painted is None else painted
        mask = list(PRESETS.values())[mask] if painted is None else torch.tensor(painted).view(N, N).bool()
        x, *matrices = fixed()
        shown = {}

        def stack(x):
            for _ in range(layers):
                x, shown["weight"] = layer(x, *matrices, mask, applied)
            return x

        jacobian = torch.autograd.functional.jacobian(stack, x)                          # (n, d, n, d)
        weights = shown["weight"].detach()
        return {"weight": weights, "row_sum": weights.sum(-1), "leak": jacobian.square().sum((1, 3)).sqrt()}

    def picture(self):
        setting = self.setting()
        shown = self.numbers(**setting, painted=self.painted)
        mask = torch.tensor(self.painted).view(N, N)
        leak = (shown["leak"] / STRONGEST).clamp(max=1)
        alt = (f"A mask over six words ({[*PRESETS, OWN][setting['mask']]}), the weights, and the influence of each "
               "word on each output.")
        rows = [[word, int(mask[i].sum()), float(shown["row_sum"][i]), int((shown["leak"][i] > 0).sum())]
                for i, word in enumerate(WORDS)]
        picture = viz.heatmaps(torch.stack([mask.double(), shown["weight"], leak]), WORDS,
                               ["mask", "weights", "influence"], columns=3)
        picture.text = viz.table(alt, ["word that looks", "may look at", "sum of weights", "depends on"], rows)
        return picture


def layer(x, W_Q, W_K, W_V, mask, applied):
    """One head on x (n, d) -> out (n, d), weights (n, n); `applied` = 1 puts the mask in the wrong place."""
    Q, K, V = x @ W_Q, x @ W_K, x @ W_V
    if applied == 0:
        return attention(Q, K, V, mask=mask, need_weights=True)
    weights = attention(Q, K, V, need_weights=True)[1] * mask
    return weights @ V, weights
