"""The whole of multi-head attention on one picture: three words, two heads, every number."""
from copy import deepcopy

import torch

from mha import masks, viz
from mha.attention import attention
from mha.widgets.figure import Choice, ChoiceSlider, LiveFigure, State, Toggle

WORDS = ["not", "good", "news"]
FEATURES = ["mood", "not", "adj", "noun"]
HEADS = (1, 2)
# Made by hand, and all that is given: the words, and what each head multiplies them with.
GIVEN = {
    "x": [[0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]],
    "WQ1": [[0, 0], [0, 1], [2, 0], [2, 0]], "WQ2": [[0, 0], [0, 1], [2, 0], [0, 2]],
    "WK1": [[0, 0], [2, 0], [0.5, 1], [0, 1]], "WK2": [[0, 0], [0, 0], [0.5, 2], [2, 0.5]],
    "WV1": [[0, 0], [1, 0], [0, 1], [0, 0]], "WV2": [[1, 0], [0, 0], [0, 0], [0, 1]],
    "WO": [[-2, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]],
}
# What the two numbers of a query and a key ask for, and what those of a value are, head by head.
ASKS = [["not", "word"], ["noun", "adj"]]
BRINGS = [["not", "adj"], ["mood", "noun"]]
STEPS = ["the whole", "1 \u00b7 words", "2 \u00b7 queries", "3 \u00b7 keys", "4 \u00b7 values", "5 \u00b7 scores",
         "6 \u00b7 scaled", "7 \u00b7 weights", "8 \u00b7 mixtures", "9 \u00b7 side by side", "10 \u00b7 written",
         "11 \u00b7 added"]


# words; what each of their numbers stands for; the names of the two of a query and a key, and of a value, head by head
DATA = {"words": WORDS, "features": FEATURES, "asks": ASKS, "brings": BRINGS}


class WholeLayer(LiveFigure):
    """Two heads over three words, from the words before to the words after, one step at a time.

    Each word is a row of four numbers; each head has W_Q, W_K and W_V, (4, 2), and W_O is (4, 4). What the heads write
    is added to the words. A head that is off writes nothing: its mixtures are zero.

    `numbers()` gives, for head 1 and then head 2, row by row, query, key and value (12 each), score (18), scaled (18,
    -inf where the mask hides), weight (18) and mixture (12); then, of all heads, written (12) and after (12).
    """

    data = DATA
    step = ChoiceSlider("step", STEPS)              # what has been computed so far
    follow = Choice("follow", WORDS, value=1)       # the word whose way is marked
    head_1 = Toggle("head 1", value=True, new_row=True)
    head_2 = Toggle("head 2", value=True)
    masked = Toggle("mask", value=False)
    scaled = Toggle("\u00f7 \u221a2", value=True)
    matrices = State(GIVEN, name="given")           # which the reader may change, from -4 to 4
    pointed = State([])                             # [matrix, row, column] of the number whose sum is told, or empty

    def given(self):
        """x (3, 4), W_Q, W_K and W_V (2, 4, 2), one for each head, and W_O (4, 4): what is given, float64."""
        given = {name: torch.tensor(matrix, dtype=torch.float64) for name, matrix in self.matrices.items()}
        heads = (torch.stack([given[f"W{kind}{head}"] for head in HEADS]) for kind in "QKV")
        return given["x"], *heads, given["WO"]

    def after(self, head_1=True, head_2=True, masked=False, scaled=True, **given):
        """The words after, as a table, at a setting; given replaces matrices of GIVEN: `after(WO=...)`."""
        shown = numbers_of({**GIVEN, **given}, head_1, head_2, masked, scaled)
        columns = shown["after"].view(len(WORDS), len(FEATURES)).T
        return viz.columns(WORDS, **dict(zip(FEATURES, columns)))

    def single_changes(self, word, feature):
        """The given numbers of which each alone, from -4 to 4 in halves, can turn the sign of a word's feature after.

        Returns (how many they are, of how many).
        """
        def after(given):
            return float(numbers_of(given)["after"][len(FEATURES) * WORDS.index(word) + FEATURES.index(feature)])

        places = [(name, r, c) for name, matrix in GIVEN.items()
                  for r, row in enumerate(matrix) for c in range(len(row))]
        found = 0
        for name, r, c in places:
            given = deepcopy(GIVEN)
            for half in range(-8, 9):
                given[name][r][c] = half / 2
                if after(given) * after(GIVEN) < 0:
                    found += 1
                    break
        return found, len(places)

    def numbers(self, step, follow, head_1, head_2, masked, scaled, given=None):
        return numbers_of(given or GIVEN, head_1, head_2, masked, scaled)

    def picture(self):
        return picture_of(self.numbers(**self.setting(), given=self.matrices), self.matrices["x"])


def numbers_of(given, head_1=True, head_2=True, masked=False, scaled=True):
    """All that follows from given matrices, as `WholeLayer.numbers` gives it."""
    given = {name: torch.tensor(matrix, dtype=torch.float64) for name, matrix in given.items()}
    x, mask = given["x"], masks.causal(len(WORDS)) if masked else None
    shown = {name: [] for name in ("query", "key", "value", "score", "scaled", "weight", "mixture")}
    for head, on in zip(HEADS, (head_1, head_2)):
        Q, K, V = (x @ given[f"W{kind}{head}"] for kind in "QKV")
        scale = Q.shape[-1] ** -0.5 if scaled else 1.0
        mixture, weights = attention(Q, K, V, mask=mask, scale=scale, need_weights=True)
        score = Q @ K.T
        divided = score * scale if mask is None else (score * scale).masked_fill(~mask, -torch.inf)
        for name, values in zip(shown, (Q, K, V, score, divided, weights, mixture * on)):
            shown[name].append(values)
    written = torch.cat(shown["mixture"], dim=-1) @ given["WO"]
    shown = {name: torch.stack(values).flatten() for name, values in shown.items()}
    return {**shown, "written": written.flatten(), "after": (x + written).flatten()}


def picture_of(shown, before):
    """The words before and after, and the weights of both heads."""
    weights = shown["weight"].view(len(HEADS), len(WORDS), len(WORDS))
    return viz.matrices(
        "Three words before and after two heads, and the weights with which each head looks at them.", WORDS,
        {"before": (before, FEATURES),
         **{f"head {head} looks at": (weights[i], WORDS) for i, head in enumerate(HEADS)},
         "after": (shown["after"].view(len(WORDS), len(FEATURES)), FEATURES)}, columns=4)
