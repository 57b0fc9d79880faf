"""Press heads in the grid of all 72 and see what was measured: all 4096 ways to switch off heads of one layer."""
import torch

from mha import viz
from mha.lab.assets import pruning
from mha.widgets.figure import LiveFigure, Slider, State, float16_bytes

LAYERS, HEADS = 6, 12
FIRST = 3                    # heads that are off before anybody moves anything
# How many heads are off in each subset
COUNTS = torch.tensor([bin(number).count("1") for number in range(2**HEADS)])


class HeadRemoval(LiveFigure):
    """The heads of all-MiniLM-L6-v2, to be switched off in one layer at a time, and what each costs.

    The measure is the mean cosine that 26 sentence vectors keep with those of the whole model.

    `numbers()` gives cosine (1), that of the present set; best and worst (13), the largest and smallest over all sets
    of 0 to 12 heads of the layer that are off; worth (72), by how much the cosine is smaller without a head than with
    it, while the others are as they are: in other layers, all on.
    """

    layer = Slider("layer", 0, LAYERS - 1, value=LAYERS - 1)
    removed = Slider("heads off", 0, HEADS, value=FIRST)
    off = State([])                 # 1 where a head of the layer is off; a slider sets it, and so does a press

    def __init__(self):
        self.subsets = pruning().subsets.double()                                      # (6, 4096)
        self.orders = self.subsets[:, 2 ** torch.arange(HEADS)].argsort(descending=True)
        off = torch.zeros(HEADS, dtype=torch.int).index_fill(0, self.orders[-1, :FIRST], 1)
        # 4096 cosines of each layer, one for each set of heads; bit i of its number says that head i is off
        super().__init__({"subsets": float16_bytes(self.subsets), "orders": self.orders.tolist()}, off=off.tolist())

    def numbers(self, layer, removed, off=None):
        off = self.orders[layer, :removed] if off is None else torch.tensor(off).nonzero().flatten()
        cosines = self.subsets[layer]
        of = [cosines[COUNTS == count] for count in range(HEADS + 1)]
        present = int((2**off).sum())
        bits, gone = 2 ** torch.arange(HEADS), torch.zeros(LAYERS, 1, dtype=torch.long)
        gone[layer] = present
        worth = self.subsets.gather(1, gone & ~bits) - self.subsets.gather(1, gone | bits)      # (6, 12)
        return {"cosine": cosines[present][None], "worth": worth,
                "best": torch.stack([c.max() for c in of]), "worst": torch.stack([c.min() for c in of])}

    def picture(self):
        setting = self.setting()
        shown = self.numbers(**setting, off=self.off)
        picture = viz.curves(range(HEADS + 1), f"heads of layer {setting['layer']} that are off", "cosine",
                             points=HEADS + 1, best_choice=shown["best"], worst_choice=shown["worst"])
        picture.text += f"\n\nwith {sum(self.off)} heads off: cosine {float(shown['cosine']):.3f}"
        return picture
