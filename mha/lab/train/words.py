"""A small world of texts, and a transformer of one layer that learns to guess their next word.

A text is ". so bad soup and not bad cake yum": two phrases of adverb, adjective and noun, each word one of four, and an
exclamation about the second noun. Of food it is "yum" or "yuck", of the rest "hooray" or "alas"; a kind adjective gives
the kind one, and "not" turns that round. The first phrase is there to be ignored.

The figure `Learn` does the same in the page, from the same numbers. A run is told by its seed alone: its start and its
texts come from `mha.lab.data.normal` and `uniform`.
"""
import dataclasses

import torch
from torch import Tensor

from mha.attention import attention
from mha.lab.data import normal, uniform
from mha.lab.train.loop import small_steps

WORDS = ". not so very quite good great bad poor cake soup news film yum yuck hooray alas and".split()
ADVERB, ADJECTIVE, NOUN, CRY, AND = 1, 5, 9, 13, 17     # where each kind of word begins
N = 8                                                   # tokens that are read; the model guesses the next of each
BATCH, BETAS, DECAY = 32, (0.9, 0.99), 0.1              # texts a step, and what AdamW is told
ROOM, TEXTS = 200_000, 4_000                            # random numbers of a run, and where those of its texts begin


@dataclasses.dataclass(frozen=True)
class Build:
    """How a model is built."""
    heads: int = 2
    d_k: int = 2                # and d_v
    d: int = 8
    hidden: int = 24            # of the MLP; 0 leaves it out
    positions: bool = True
    tied: bool = False          # one matrix for queries and keys
    even: bool = False          # every visible token gets the same weight

    def shapes(self):
        """name -> (rows, columns) of every matrix, in the order in which their numbers are kept."""
        shapes = {"E": (len(WORDS), self.d)}
        if self.positions:
            shapes["P"] = (N, self.d)
        for h in range(1, self.heads + 1):
            shapes |= {f"W_{kind}{h}": (self.d, self.d_k) for kind in ("QV" if self.tied else "QKV")}
        if self.heads:
            shapes["W_O"] = (self.heads * self.d_k, self.d)
        if self.hidden:
            shapes |= {"W_1": (self.d, self.hidden), "b": (1, self.hidden), "W_2": (self.hidden, self.d)}
        return shapes | {"U": (self.d, len(WORDS))}

    def spreads(self):
        """Standard deviation of the start of every number: (P,)."""
        def spread(name, rows):
            return {"E": 0.5, "P": 0.5, "b": 0}.get(name, (0.5 if name[:3] in ("W_Q", "W_K") else 1) / rows**0.5)
        return torch.cat([torch.full((rows * columns,), spread(name, rows), dtype=torch.float64)
                          for name, (rows, columns) in self.shapes().items()])

    def matrices(self, numbers):
        """Numbers (R, P) as matrices: name -> (R, rows, columns)."""
        parts = numbers.split([rows * columns for rows, columns in self.shapes().values()], dim=-1)
        return {name: part.unflatten(-1, shape) for (name, shape), part in zip(self.shapes().items(), parts)}


BUILDS = {"two heads": Build(), "one head": Build(heads=1, d_k=4), "equal weights": Build(even=True),
          "W_Q = W_K": Build(tied=True), "no positions": Build(positions=False), "no attention": Build(heads=0)}


# ---- the world -------------------------------------------------------------------------------------------------------

def texts_of(choices: Tensor) -> Tensor:
    """(..., 6) of adverb, adjective, noun, twice, each 0 to 3 -> (..., 9) words, the exclamation last."""
    a, b, c, d, e, f = choices.unbind(-1)
    kind = (e < 2) != (d == 0)
    cry = CRY + torch.where(f < 2, 0, 2) + torch.where(kind, 0, 1)
    first = [0 * a, ADVERB + a, ADJECTIVE + b, NOUN + c, 0 * a + AND]
    return torch.stack([*first, ADVERB + d, ADJECTIVE + e, NOUN + f, cry], -1)


def every_text() -> Tensor:
    """(4096, 9): the second phrase changes slowest."""
    k = torch.arange(4096)
    return texts_of(torch.stack([k >> 2 * i & 3 for i in range(6)], -1))


def tested() -> Tensor:
    """(128, 9): each of the 64 second phrases after two first ones, drawn at random."""
    k = torch.arange(128)
    first = (64 * uniform(k, 0)).long()
    return texts_of(torch.stack([part >> 2 * i & 3 for part in (first, k & 63) for i in range(3)], -1))


def batch(seeds: Tensor, step: int) -> Tensor:
    """The texts of a step of each run: (R, 32, 9)."""
    i = TEXTS + 6 * BATCH * step + torch.arange(6 * BATCH)
    drawn = uniform(i + ROOM * seeds[:, None], 0)
    return texts_of((4 * drawn).long().unflatten(-1, (BATCH, 6)))


def start(build: Build, seeds: Tensor) -> Tensor:
    """The numbers that each run starts from: (R, P)."""
    spreads = build.spreads()
    i = torch.arange(len(spreads))
    return spreads * normal(i, ROOM * seeds[:, None])


# ---- the model -------------------------------------------------------------------------------------------------------

def read(build: Build, numbers: Tensor, words: Tensor, off=(), last=False) -> tuple[Tensor, Tensor | None]:
    """Read words (R, B, n) with the numbers (R, P) of R runs, without the heads `off`, counted from 0.

    Returns:
        logits (R, B, n, 18) of the word after each; with `last`, (R, B, 1, 18) of the word after the last alone.
        weights (R, B, h, n, n), or None without attention.
    """
    W = build.matrices(numbers)
    x = torch.nn.functional.one_hot(words, len(WORDS)).double() @ W["E"][:, None]
    if build.positions:
        x = x + W["P"][:, None, :words.shape[-1]]
    weights = None
    if build.heads:
        Q, K, V = (torch.stack([x @ W[f"W_{kind}{h + 1}"][:, None] for h in range(build.heads)], 2)
                   for kind in ("QQV" if build.tied else "QKV"))
        out, weights = attention(0 * Q if build.even else Q, K, V, causal=True, need_weights=True)
        kept = torch.tensor([h not in off for h in range(build.heads)]).double()[:, None, None]
        x = x + (out * kept).transpose(2, 3).flatten(-2) @ W["W_O"][:, None]
    x = x[..., -1:, :] if last else x
    if build.hidden:
        x = x + (x @ W["W_1"][:, None] + W["b"][:, None]).relu() @ W["W_2"][:, None]
    return x @ W["U"][:, None], weights


def costs(logits: Tensor, texts: Tensor) -> Tensor:
    """-ln p of each word that came: (R, B, n)."""
    return -logits.log_softmax(-1).gather(-1, texts[..., 1:, None])[..., 0]


def judged(logits: Tensor, texts: Tensor) -> Tensor:
    """Of R runs: loss over all words, loss of the last word, share of texts whose last word is guessed: (R, 3)."""
    each = costs(logits, texts)
    right = logits[..., -1, :].argmax(-1) == texts[..., -1]
    return torch.stack([each.mean((1, 2)), each[..., -1].mean(1), right.double().mean(1)], -1)


def fit_words(build: Build, seeds: Tensor, rate=0.02, steps=500, every=10) -> tuple[Tensor, Tensor]:
    """Train a run for each seed with AdamW, on 32 fresh texts a step.

    What is made small is the loss over all words plus that of the last word, which so counts as much as all together.

    Returns:
        numbers (steps / every + 1, R, P): every matrix, as `Build.matrices` reads them, from the start on.
        judged (steps / every + 1, R, 3): on the 128 texts of `tested`.
    """
    numbers = start(build, seeds).requires_grad_()
    optimiser = torch.optim.AdamW([numbers], lr=rate, betas=BETAS, weight_decay=DECAY)
    held, kept = tested().expand(len(seeds), -1, -1), []
    with small_steps():
        for step in range(steps + 1):
            if step % every == 0:
                with torch.no_grad():
                    kept.append((numbers.detach().clone(), judged(read(build, numbers, held[..., :-1])[0], held)))
            texts = batch(seeds, step)
            each = costs(read(build, numbers, texts[..., :-1])[0], texts)
            optimiser.zero_grad()
            (each.mean((1, 2)) + each[..., -1].mean(1)).sum().backward()
            optimiser.step()
    return tuple(map(torch.stack, zip(*kept)))
