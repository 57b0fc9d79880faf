"""A head of rotary positions as a clock: its hands turn at their own speeds, and all meet at the place it wants."""
import itertools

import torch

from mha import viz
from mha.attention import attention
from mha.position import rope
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure, Slider, choices

D_K, BASE = 8, 10000                                     # four pairs, which turn by 1, 0.1, 0.01, 0.001 for each token
STRENGTHS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000]
PLACES = [32, 128, 1024]
EQUAL = 1e-6                                             # shares of a weight below which two weights are one


class ClockHands(LiveFigure):
    """A head that sees no content and is to look `offset` tokens back, by rotary positions alone.

    Its query and its keys fill `hands` pairs of numbers alike. Then the key at distance t has the score
    strength * mean over the pairs of cos(frequency (t - offset)).

    `numbers()` gives cosine (hands), of each pair at the place `look`; mean (places), of the cosines at each place;
    weight (places); target (1), the weight at the offset; and rival (2): the other place of the largest weight, the
    nearest where several have it, and its weight.
    """

    data = {"frequencies": [BASE ** (-2 * pair / D_K) for pair in range(D_K // 2)], "strengths": STRENGTHS,
            "sizes": PLACES, "equal": EQUAL}
    hands = Slider("hands", 1, D_K // 2, value=1)
    offset = Slider("target, tokens back", 0, 20, value=1)
    strength = ChoiceSlider("strength, the largest score", [f"{strength:,}" for strength in STRENGTHS],
                            value=STRENGTHS.index(1000), new_row=True)
    places = Choice("positions it can look at", [f"{n:,}" for n in PLACES], value=PLACES.index(128))
    look = Slider("show the hands at, tokens back", 0, 127, value=3, new_row=True, moves_end=True)

    def settings(self):
        """Every setting of the others, each with one place to look at, near or far: it changes no weight."""
        grid = {name: choices(control) for name, control in self.controls.items() if name != "look"}
        for i, values in enumerate(itertools.product(*grid.values())):
            setting = dict(zip(grid, values))
            yield setting | {"look": 7 * i % PLACES[setting["places"]]}

    def numbers(self, hands, offset, strength, places, look):
        n = PLACES[places]
        query, keys = query_and_keys(hands, offset, STRENGTHS[strength], n)
        weight = attention(query, keys, keys, need_weights=True)[1][0]              # (n,)
        products = (query * keys).view(n, 2, D_K // 2).sum(1)[:, :hands]            # (n, hands): one for each pair
        cosine = products / products[offset]
        return {"cosine": cosine[min(look, n - 1)], "mean": cosine.mean(-1), "weight": weight,
                "target": weight[offset][None], "rival": rival(weight, offset)}

    def picture(self):
        weight = self.numbers(**self.setting())["weight"]
        picture = viz.curves(range(len(weight)), "tokens back", "weight", weight=weight)
        alt = (f"The weights of a head that is to look {self.offset} back, at {len(weight)} positions, and the six "
               "largest.")
        top = weight.topk(6).indices.tolist()
        picture.text = viz.table(alt, ["", "weight"], [[f"{t} back", float(weight[t])] for t in top])
        return picture


def query_and_keys(hands, offset, strength, n):
    """The last query (1, d_k) of n tokens and all keys (n, d_k), the nearest first, turned by their positions."""
    filled = torch.zeros(2, D_K // 2, dtype=torch.float64)
    filled[0, :hands] = 1
    key = filled.view(1, D_K) * (strength * D_K**0.5 / hands) ** 0.5                # key @ key = strength sqrt(d_k)
    query = rope(key, torch.tensor([-offset]))                                      # the same whatever stands there
    back = torch.arange(n)
    return rope(query, torch.tensor([n - 1])), rope(key.expand(n, D_K), n - 1 - back)


def rival(weight, offset):
    """The place of the largest weight but for `offset`, and that weight; the nearest of equals."""
    others = weight.clone()
    others[offset] = -1
    place = int((others >= others.max() * (1 - EQUAL)).nonzero()[0])
    return torch.stack([torch.tensor(float(place)), weight[place]])
