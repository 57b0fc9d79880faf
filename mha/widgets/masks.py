"""Paint a mask: who may look at whom, the weights that follow, and the leaks, which are exact gradients."""
import ipywidgets
import torch
import traitlets

from mha import masks, viz
from mha.attention import attention
from mha.widgets.figure import Canvas, LiveFigure, front_end, slider

WORDS = ["The", "cat", "sat", "on", "the", "mat"]
N, D = len(WORDS), 4
NO_THIRD = torch.arange(N)[:, None] != 2
PRESETS = {
    "everyone sees everyone": torch.ones(N, N, dtype=torch.bool),
    "causal: nobody looks ahead": masks.causal(N),
    "causal, the wrong way round": ~masks.causal(N),
    "window: one word to each side": masks.window(N, left=1, right=1),
    "padding: the last two are hidden": masks.padding([4], N)[0, 0].expand(N, N),
    "nobody sees itself": ~torch.eye(N, dtype=torch.bool),
    "the third word sees nothing": NO_THIRD.expand(N, N),
}
OWN = "a mask of your own"            # what the list says of a mask that is painted and no preset
APPLIED = ["before the softmax", "after it (a bug)"]


def fixed():
    """Tokens (6, 4) and W_Q, W_K, W_V (4, 4) each, float64, always the same."""
    g = torch.Generator().manual_seed(7)
    x, W_Q, W_K, W_V = (torch.randn(rows, D, generator=g, dtype=torch.float64) for rows in (N, D, D, D))
    return x, 0.5 * W_Q, 0.5 * W_K, 0.7 * W_V


class MaskCanvas(Canvas):
    _esm, _css = front_end("masks")
    words = traitlets.List(WORDS).tag(sync=True)
    tensors = traitlets.List([t.tolist() for t in fixed()]).tag(sync=True)
    presets = traitlets.List([m.int().flatten().tolist() for m in PRESETS.values()]).tag(sync=True)
    painted = traitlets.List(PRESETS["causal: nobody looks ahead"].int().flatten().tolist(),
                             help="the mask, row by row; choosing a preset sets it, painting chooses").tag(sync=True)
    mask = traitlets.Int(1).tag(sync=True)
    applied = traitlets.Int(0).tag(sync=True)
    layers = traitlets.Int(1).tag(sync=True)


class MaskPainter(LiveFigure):
    """A mask that the reader paints, the weights that follow from it, and its leaks.

    The mask has 6 queries by 6 keys, the weights are those of the last layer, and a leak is |d out_i / d x_j| through
    all layers. Each layer has the same matrices and the same mask. Put after the softmax, the mask sets weights to zero
    that have already taken part in the sum.

    `numbers()` gives weight (36), row_sum (6) and leak (36, Frobenius norms of the Jacobian's blocks).
    """

    def __init__(self):
        super().__init__(MaskCanvas(), [
            {"mask": slider(ipywidgets.Dropdown, "mask", options=[*PRESETS, OWN], index=1),
             "layers": slider(ipywidgets.IntSlider, "layers", value=1, min=1, max=3)},
            {"applied": slider(ipywidgets.ToggleButtons, "the mask is applied", options=APPLIED)}])

    def settings(self):
        """Every preset, placing and number of layers; what a mask of the reader's own shows, its cells say."""
        return (setting for setting in super().settings() if setting["mask"] < len(PRESETS))

    def numbers(self, mask, applied, layers, painted=None):
        painted = self.canvas.painted if mask == len(PRESETS) and painted is None else painted
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
        shown = self.numbers(**setting, painted=self.canvas.painted)
        mask = torch.tensor(self.canvas.painted).view(N, N)
        leak = shown["leak"] / shown["leak"].max().clamp(min=1e-300)
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
