"""A layer split over machines by its heads: which heads each holds, what its cache keeps, and what it sends."""
import torch

import mha
from mha import viz
from mha.lab import fast
from mha.widgets.figure import Choice, LiveFigure

D_MODEL, HEADS = 64, 8
MACHINES, KV_HEADS = [1, 2, 4, 8], [8, 4, 2, 1]


class HeadsOnMachines(LiveFigure):
    """Eight query heads and their KV heads on 1, 2, 4 or 8 machines.

    `numbers()` gives heads and kv_heads, the first and the last of each machine (2 each); kept (1), the numbers that
    its cache holds of a token, and whole (1), those of the whole layer; sent (1), the numbers that each sends for a
    token, where the machines stand in a ring and add up their outputs.
    """

    label = "Which heads of a layer each machine holds, and how much of the cache."
    data = {"heads": HEADS, "d_model": D_MODEL, "machines": MACHINES, "kv": KV_HEADS}
    kv = Choice("KV heads", [str(count) for count in KV_HEADS], value=1)
    machines = Choice("machines", [str(count) for count in MACHINES], value=2)

    def numbers(self, kv, machines):
        layer, count = mha.MultiHeadAttention(D_MODEL, HEADS, num_kv_heads=KV_HEADS[kv]), MACHINES[machines]
        held = fast.split(layer, count)
        shown = {"heads": [head for one in held for head in (one.heads[0], one.heads[-1])],
                 "kv_heads": [head for one in held for head in (one.kv_heads[0], one.kv_heads[-1])],
                 "kept": [held[0].kept],
                 "whole": [fast.split(layer, 1)[0].kept], "sent": [2 * (count - 1) / count * D_MODEL]}
        return {name: torch.tensor(values, dtype=torch.float64) for name, values in shown.items()}

    def picture(self):
        shown = self.numbers(**self.setting())
        count = MACHINES[self.machines]
        alt = f"{HEADS} query heads and {KV_HEADS[self.kv]} KV heads on {count} machines, numbers a token."
        return viz.bars(["in the cache of each", "in the cache of all heads", "sent by each"], digits=0, alt=alt,
                        numbers=[float(shown[name]) for name in ("kept", "whole", "sent")])
