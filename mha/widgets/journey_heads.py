"""A trained model of three heads that answers questions on small documents, with each head on or off."""
import functools

import torch

from mha import record, viz
from mha.lab.assets import journey_model
from mha.lab.journeys import NAMES, QUESTIONS, TOWNS, draw, words
from mha.widgets.figure import Choice, LiveFigure, Slider, Toggle, float16_bytes

HEADS = ["0.0", "0.1", "1.0"]
JOBS = ["binder", "name head", "fetches"]
DOCUMENTS, OFFERED = 30, 10             # the shares are of all of them, and so many can be looked at


@functools.cache
def model():
    """The first run of 2 + 1 heads, in float64, with documents and their answers; the first is that of the page."""
    first, rest = draw(torch.Generator().manual_seed(14), 1), draw(torch.Generator().manual_seed(15), DOCUMENTS - 1)
    return journey_model(0).double(), *map(torch.cat, zip(first, rest))


class JourneyHeads(LiveFigure):
    """The model of chapter 14 with two heads, then one. It fills two boxes, from and to, at each of eight questions.

    `numbers()` gives weight (20 x 20), the map of the chosen head on the document; chance (16), of the town that is
    said, for each question from and then to; right (2), the share of right answers in 30 documents, from and to.
    """

    label = "A model of three heads answers questions on a document; each head can be switched off."
    binder = Toggle("head 0.0, binder", True)
    name_head = Toggle("head 0.1, name head", True)
    fetches = Toggle("head 1.0", True)
    shown = Choice("map of head", HEADS, value=0, new_row=True)
    document = Slider("document", 1, OFFERED, 1, value=1)

    def __init__(self):
        net, tokens, answers = model()
        parts = torch.cat([W.detach().flatten() for W in net.state_dict().values()])
        super().__init__({"words": [*NAMES, *TOWNS], "numbers": float16_bytes(parts), "tokens": tokens.tolist(),
                          "answers": answers.flatten(1).tolist()})

    def numbers(self, binder, name_head, fetches, shown, document):
        net, tokens, answers = model()
        masks = [torch.tensor([binder, name_head]).double(), torch.tensor([fetches]).double()]
        with record(net) as weights, torch.no_grad():
            chances = net(tokens, masks)[:, -QUESTIONS:].softmax(-1)
        layer, head = map(int, HEADS[shown].split("."))
        best, said = chances.max(-1)
        return {"weight": weights[f"layers.{layer}"][document - 1, head].flatten(),
                "chance": best[document - 1].flatten(), "right": (said == answers).double().mean((0, 1))}

    def picture(self):
        setting = self.setting()
        _, tokens, _ = model()
        names = words(tokens[self.document - 1])
        right = ", ".join(f"{box} {share:.2f}" for box, share in zip(("from", "to"), self.numbers(**setting)["right"]))
        picture = viz.heatmaps(self.numbers(**setting)["weight"].view(1, len(names), -1), names,
                               [f"head {HEADS[self.shown]}; right: {right}"])
        return picture
