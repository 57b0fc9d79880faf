"""How fast a machine can do attention: memory is its bound under the slope of the roof, arithmetic under the flat."""
import torch

from mha import viz
from mha.lab import fast
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure

CACHED = 8192
QUERIES = [2**i for i in range(14)]
MACHINES = (fast.H100, fast.LAPTOP)


class Roofline(LiveFigure):
    """The last n of 8192 tokens of a text, n queries at once, on a machine that does all that its roof allows.

    `numbers()` gives operations, bytes and per_byte, their ratio; seconds, the least time; reached, the operations a
    second; busy, the share of that time in which arithmetic works (1 each).
    """

    label = "A machine's roof, operations a second against operations for each byte, and where attention is under it."
    data = {"cached": CACHED, "queries": QUERIES,
            "layers": [[one.name, one.heads, one.kept, one.d_k + one.d_v] for one in fast.LAYERS],
            "machines": [[one.name, one.operations, one.bytes] for one in MACHINES]}
    layer = Choice("heads", [one.name for one in fast.LAYERS])
    machine = Choice("machine", [one.name for one in MACHINES])
    queries = ChoiceSlider("queries at once", [str(n) for n in QUERIES])

    def numbers(self, layer, machine, queries):
        machine, n = MACHINES[machine], QUERIES[queries]
        work = fast.forward(fast.LAYERS[layer], n, CACHED, causal=True)
        seconds = machine.seconds(work)
        shown = {"operations": work.operations, "bytes": work.bytes, "per_byte": work.per_byte, "seconds": seconds,
                 "reached": work.operations / seconds, "busy": work.operations / machine.operations / seconds}
        return {name: torch.tensor([float(value)], dtype=torch.float64) for name, value in shown.items()}

    def picture(self):
        setting = self.setting()
        rows = [self.numbers(**{**setting, "layer": i}) for i in range(len(fast.LAYERS))]
        percent = [100 * float(row["busy"]) for row in rows]
        n, name = QUERIES[self.queries], MACHINES[self.machine].name
        told = f"{name}, {n} {'query' if n == 1 else 'queries at once'}."
        return viz.bars([one.name for one in fast.LAYERS], digits=1, alt=told, percent_of_its_arithmetic_in_use=percent)
