"""What the specimens of the bug zoo are made of: the small functions with a bug, and those as they should be.

Each was written anew after the report that its note in zoo.py cites.
"""
import math
from dataclasses import dataclass, field
from typing import Callable

import torch

from mha.exercises.probe import numbers
from mha.exercises.question import Choice

GITHUB = "https://github.com/"


@dataclass(frozen=True, kw_only=True)
class Specimen(Choice):
    """One bug. buggy, sound: functions of no arguments that give the maps, (k, n, m); titles: of the maps; rows,
    columns: names.
    """
    buggy: Callable = field(repr=False)
    sound: Callable = field(repr=False)
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    titles: tuple[str, ...] = ("",)
    chapter: str = "B_bug_zoo"
    hints: tuple[str, ...] = ()
    stars: int = 2
    minutes: int = 4
    after: str = "chapter 6"

    kind = "bug"

    def __post_init__(self):
        object.__setattr__(self, "picture", self.maps)

    def maps(self):
        """The maps of both functions: what should be, then what is."""
        from mha import viz
        wanted = "should be" if len(self.titles) < 3 else "right"
        both = [(f"{word}{': ' * bool(title)}{title}", map)
                for word, function in ((wanted, self.sound), ("is", self.buggy))
                for title, map in zip(self.titles, function())]
        picture = viz.heatmaps(torch.stack([map for _, map in both]).double(), list(self.rows),
                               titles=[title for title, _ in both], keys=list(self.columns),
                               columns=max(2, len(self.titles)))
        tables = [self.table(title, map.double()) for title, map in both]
        picture.text = (f"Maps of specimen {self.id}: {', '.join(title for title, _ in both)}. Rows are queries or "
                        "outputs, columns keys or inputs.\n\n" + "\n\n".join(tables))
        return picture

    def table(self, title, map):
        """A map as text: crosses where it says yes or no, else numbers with the sums of the rows."""
        from mha import viz
        if torch.isin(map, map.new_tensor([0, 1])).all():
            return viz.table(title, ["", *self.columns], [[name, *("x" if yes else "." for yes in row.tolist())]
                                                          for name, row in zip(self.rows, map)])
        return viz.table(title, ["", *self.columns, "sum"],
                         [[name, *row.tolist(), float(row.sum())] for name, row in zip(self.rows, map)], digits=2)


# --- What the specimens are made of ---------------------------------------------------------------------------------

B, N, D, H = 2, 4, 8, 2
TOKENS = tuple(f"{sentence}{i}" for sentence in "ab" for i in range(1, N + 1))
WORDS = ("1", "2", "3", "4")
X = numbers(900, B, N, D)
W_Q, W_K, W_V, W_O = (numbers(901 + i, D, D) / D**0.5 for i in range(4))
CAUSAL = torch.ones(N, N).tril() > 0
SCORES = 1.5 * numbers(910, N, N)


def split(x):
    return x.unflatten(-1, (H, -1)).transpose(1, 2)


def merge(y):
    return y.transpose(1, 2).flatten(2)


def attend(Q, K, V, mask=None):
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1) @ V


def influence(layer):
    """Which output depends on which token, 1 or 0: rows = outputs, columns = tokens, both sentences after one another.
    """
    jacobian = torch.autograd.functional.jacobian(layer, X).abs().amax((2, 5))
    return (jacobian.reshape(B * N, B * N) > 1e-9).double()[None]


def layer(mask=None):
    return lambda x: merge(attend(split(x @ W_Q), split(x @ W_K), split(x @ W_V), mask)) @ W_O


def split_by_view(x):
    Q, K, V = ((x @ W).view(B, H, N, D // H) for W in (W_Q, W_K, W_V))
    return attend(Q, K, V).reshape(B, N, D) @ W_O


def merge_by_view(x):
    return attend(split(x @ W_Q), split(x @ W_K), split(x @ W_V), CAUSAL).reshape(B, N, D) @ W_O


def merge_into_batch(x):
    heads_first = attend(split(x @ W_Q), split(x @ W_K), split(x @ W_V)).transpose(0, 1).flatten(0, 1)  # (h B, n, d_v)
    return heads_first.reshape(B, N, D) @ W_O


def attend_over_heads(x):
    Q, K, V = ((x @ W).unflatten(-1, (H, -1)) for W in (W_Q, W_K, W_V))  # (B, n, h, d)
    return attend(Q, K, V).flatten(2) @ W_O


def attend_over_batch(x):
    return layer()(x.transpose(0, 1)).transpose(0, 1)


def weights(scores, mask=None, axis=-1):
    return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(axis)


TWO = torch.stack([SCORES, 1.5 * numbers(911, N, N)])[None]  # (1, 2 heads, n, n)
LENGTHS = torch.tensor([4, 2])
REAL = (torch.arange(N) < LENGTHS[:, None])[:, None].expand(B, N, N)  # (B, n, m)
FOUR = numbers(912, B, H, N, N)
WIDE = numbers(913, 3, 64), numbers(914, 5, 64)
OLD = numbers(915, 2, 6)


def repeated_mask(repeat):
    return FOUR.flatten(0, 1).masked_fill(~repeat(REAL), -math.inf).softmax(-1)


def read_heads(order):
    """Which of 2 key-value heads each of 4 query heads reads."""
    return torch.eye(2, dtype=torch.float64)[order][None]


def dropped():
    keep = torch.rand(N, N, generator=torch.Generator().manual_seed(3)) > 0.2
    return (weights(SCORES) * keep / 0.8)[None]


def alibi(sign):
    i, j = torch.arange(6)[:, None], torch.arange(6)
    return weights(0.2 * numbers(916, 6, 6) + sign * 0.7 * (i - j), j <= i)[None]


def asked(x, need_weights, mends):
    return layer(CAUSAL if mends or not need_weights else None)(x)
