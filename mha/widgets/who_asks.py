"""Who looks at whom: the scores of three words, with two matrices, swapped, and with one of them alone."""
import torch

from mha import viz
from mha.attention import attention
from mha.widgets.figure import Choice, LiveFigure
from mha.widgets.whole_layer import GIVEN, HEADS, WORDS

MADE = ["W_Q, W_K", "swapped", "W_Q twice", "W_K twice"]


def of_heads(kind):
    """x W of both heads, (2, 3, 2): the queries, keys or values of the three words of chapter 0."""
    x = torch.tensor(GIVEN["x"], dtype=torch.float64)
    return torch.stack([x @ torch.tensor(GIVEN[f"W{kind}{head}"], dtype=torch.float64) for head in HEADS])


class WhoAsks(LiveFigure):
    """The queries and keys of three words, their scores and weights; `made` says which matrix makes what.

    `numbers()` gives query (6), key (6), score (9) and weight (9), all row by row.
    """

    data = {"words": WORDS, "Q": of_heads("Q").tolist(), "K": of_heads("K").tolist()}       # x W_Q, x W_K of both heads
    made = Choice("queries and keys made with", MADE)
    head = Choice("head", [str(head) for head in HEADS], new_row=True)

    def numbers(self, made, head):
        own_Q, own_K = of_heads("Q")[head], of_heads("K")[head]
        Q, K = [(own_Q, own_K), (own_K, own_Q), (own_Q, own_Q), (own_K, own_K)][made]
        _, weights = attention(Q, K, Q, need_weights=True)
        shown = {"query": Q, "key": K, "score": Q @ K.T, "weight": weights}
        return {name: values.flatten() for name, values in shown.items()}

    def picture(self):
        shown = self.numbers(**self.setting())
        pairs = {name: (shown[name].view(3, 2), ["1", "2"]) for name in ("query", "key")}
        return viz.matrices(
            "Queries and keys of three words, their scores and weights: rows look, columns are looked at.", WORDS,
            {**pairs, **{name: (shown[name].view(3, 3), WORDS) for name in ("score", "weight")}}, columns=4)
