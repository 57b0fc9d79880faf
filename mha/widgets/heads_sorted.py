"""The 72 heads of a trained model as 72 discs, sorted by one measure of chapter 8 after the other."""
import functools
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from mha import viz
from mha.lab import sentences
from mha.lab.assets import real_heads
from mha.lab.findings import heads
from mha.widgets.figure import Choice, LiveFigure, Slider, in_steps

LAYERS, HEADS = 6, 12
STEPS = 10**5        # in a share of 1: so many that no two heads change places
SHARES, WEIGHTS, PRONOUNS = (0, 0.25, 0.5, 0.75, 1), (0, 0.05, 0.25, 0.5, 1), tuple(range(0, 31, 5))


@dataclass(frozen=True)
class Measure:
    """What the heads are sorted by: values (72,), said of a head in `says`, where # stands for its value.

    ticks: of the axis, whose ends are the first and the last. root: the axis goes with the square root, as the colours
    of weights do. floors: (value, name) of what the chapter compares with, from the lowest up.
    """
    title: str
    says: str
    values: Tensor
    ticks: tuple
    floors: tuple = ()
    root: bool = False


@functools.cache
def measures():
    """Label -> Measure, in the order of the chapter, all from what is stored of the model."""
    stored, det = real_heads(), heads.relation("det")
    texts, _ = sentences.relations()
    even = sum(1 / (len(words) + 2) for words in texts) / len(texts)                       # with [CLS] and [SEP]
    uniform = even, "uniform weight"

    def preference(ending):
        animal, street = heads.from_it(ending).double().unbind(-1)
        return Measure(f"Too {ending}: of the weight that “it” gives the two nouns, the share of “animal”",
                       "gives “animal” # of what “it” gives the two nouns", animal / (animal + street), SHARES,
                       ((0.5, "no preference"),))

    def pronouns(again):
        found = heads.pronouns(again)
        return Measure(f"Antecedents found, of 30 {'other ' * again}pronouns", "finds # of 30 antecedents",
                       found.right.sum(-1), PRONOUNS,
                       ((int(found.untrained.sum(-1).max()), "the best untrained head"),
                        (int(found.embedding.sum()), "the rule without a head")))

    return {
        "model": Measure("Six layers of twelve heads", "", torch.arange(LAYERS * HEADS) // HEADS, ()),
        "tired": preference("tired"),
        "wide": preference("wide"),
        "determiners": Measure("Share of determiners whose noun is found", "finds # of the nouns", det.shares, SHARES,
                               ((float(det.best_untrained.max()), "the best untrained head"),
                                (det.offset[1], "the best offset"))),
        "30 pronouns": pronouns(False),
        "30 others": pronouns(True),
        "[CLS] weight": Measure("[CLS]: its share of all weight", "gives [CLS] # of the weight", stored.sinks.cls,
                                WEIGHTS, (uniform,), root=True),
        "[CLS] length": Measure("[CLS]: its share of the length handed on", "hands on # of the length from [CLS]",
                                stored.sinks_carried.cls, WEIGHTS, ((even, "equal lengths"),), root=True),
        "token before": Measure("Mean weight on the token before", "gives the token before # of the weight",
                                stored.near.before, WEIGHTS, (uniform,), root=True),
    }


class HeadsSorted(LiveFigure):
    """All 72 heads of all-MiniLM-L6-v2, where they stand in the model, or piled up over what a measure says of them.

    `numbers()` gives value (72), the measure of each head (its layer, where they stand in the model), and mine, that
    of the chosen head; of a measure also rank, one more than the number of heads with a larger value; beyond, how many
    heads are above all floors; and floor, the floors.
    """
    measure = Choice("sorted by", lambda figure: list(measures()), value=4)
    layer = Slider("layer", 0, LAYERS - 1, value=1, new_row=True)
    head = Slider("head", 0, HEADS - 1, value=3)

    def __init__(self, **first):
        self.values = in_steps(torch.stack([one.values.double() for one in measures().values()]), STEPS)
        told = [{key: value for key, value in asdict(one).items() if key != "values"} for one in measures().values()]
        super().__init__({"measures": told, "values": self.values.tolist(), "layers": LAYERS, "heads": HEADS},
                         **first)

    def numbers(self, measure, layer, head):
        values = self.values[measure]
        mine = values[layer * HEADS + head]
        shown = {"value": values, "mine": mine[None]}
        floors = torch.tensor([value for value, _ in list(measures().values())[measure].floors], dtype=torch.float64)
        if not len(floors):
            return shown
        return {**shown, "rank": 1 + (values > mine).sum()[None], "beyond": (values > floors.max()).sum()[None],
                "floor": floors}

    def picture(self):
        setting = self.setting()
        shown, one = self.numbers(**setting), list(measures().values())[setting["measure"]]
        top = float(one.ticks[-1]) if one.ticks else LAYERS - 1
        bins = 21 if top == 1 else int(top) + 1
        counts = (shown["value"] * (bins - 1) / top).round().long().bincount(minlength=bins)
        name = f"head {setting['layer']}.{setting['head']}"
        mine = float(shown["mine"])
        facts = {name: int(mine) if mine.is_integer() else mine, **{floor: value for value, floor in one.floors}}
        return viz.histograms({f"{one.title}: 72 heads": (torch.linspace(0, top, bins), counts)},
                              f"How many of 72 heads have how much. {one.title}.", facts)
