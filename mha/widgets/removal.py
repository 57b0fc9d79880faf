"""Switch heads of one layer off and see the measured loss: all 4096 ways to do it were run."""
import ipywidgets
import torch
import traitlets

from mha import viz
from mha.lab.assets import pruning
from mha.widgets.figure import Canvas, LiveFigure, float16_bytes, front_end, slider

HEADS = 12
FIRST = 3                    # heads that are off before anybody moves anything
# How many heads are off in each subset
COUNTS = torch.tensor([bin(number).count("1") for number in range(2**HEADS)])


class RemovalCanvas(Canvas):
    _esm, _css = front_end("removal")
    # float16: for each layer 4096 cosines, one for each set of heads; bit i of its number says that head i is off
    subsets = traitlets.Bytes().tag(sync=True)
    orders = traitlets.List(help="for each layer its heads, the one whose loss costs least first").tag(sync=True)
    off = traitlets.List(help="1 where a head is off; moving the slider sets it").tag(sync=True)
    layer = traitlets.Int(5).tag(sync=True)
    removed = traitlets.Int(FIRST, help="heads to switch off, in the layer's order").tag(sync=True)


class HeadRemoval(LiveFigure):
    """The heads of one layer of all-MiniLM-L6-v2, each to be switched off, and what that costs.

    The measure is the mean cosine that 26 sentence vectors keep with those of the whole model.

    `numbers()` gives cosine (1), that of the present set; best and worst (13), the largest and smallest over all sets
    of 0 to 12 heads that are off; alone (12), with that head off alone.
    """

    def __init__(self):
        self.subsets = pruning().subsets.double()                                   # (6, 4096)
        layers = len(self.subsets)
        self.alone = self.subsets[:, 2 ** torch.arange(HEADS)]                         # (6, 12)
        self.orders = self.alone.argsort(descending=True)
        canvas = RemovalCanvas(subsets=float16_bytes(self.subsets), orders=self.orders.tolist())
        gone = self.orders[canvas.layer, :FIRST]
        canvas.off = torch.zeros(HEADS, dtype=torch.int).index_fill(0, gone, 1).tolist()
        super().__init__(canvas, [
            {"layer": slider(ipywidgets.IntSlider, "layer", value=canvas.layer, min=0, max=layers - 1),
             "removed": slider(ipywidgets.IntSlider, "heads switched off, the cheapest first", value=FIRST, min=0,
                               max=HEADS)}])

    def numbers(self, layer, removed, off=None):
        off = self.orders[layer, :removed] if off is None else torch.tensor(off).nonzero().flatten()
        cosines = self.subsets[layer]
        of = [cosines[COUNTS == count] for count in range(HEADS + 1)]
        return {"cosine": cosines[int((2**off).sum())][None], "alone": self.alone[layer],
                "best": torch.stack([c.max() for c in of]), "worst": torch.stack([c.min() for c in of])}

    def picture(self):
        setting = self.setting()
        shown = self.numbers(**setting, off=self.canvas.off)
        picture = viz.curves(range(HEADS + 1), f"heads of layer {setting['layer']} that are off", "cosine",
                             points=HEADS + 1, best_choice=shown["best"], worst_choice=shown["worst"])
        picture.text += f"\n\nwith {sum(self.canvas.off)} heads off: cosine {float(shown['cosine']):.3f}"
        return picture
