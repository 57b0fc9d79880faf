"""6.1: cut a projection into heads."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import numbers, traces
from mha.exercises.report import Mistake


def split_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def model(x, h, cut="heads", order="right", turn="nothing"):
    """Splitting with switches: each can be set wrong."""
    B, n, wide = x.shape
    d = wide // h
    if cut == "heads":
        out = x.reshape(B, n, h, d).transpose(1, 2)
    elif cut == "view":
        out = x.reshape(B, h, n, d)
    elif cut == "interleaved":
        out = x.reshape(B, n, d, h).permute(0, 3, 1, 2)
    elif cut == "interleaved-view":
        out = x.reshape(B, d, h, n).permute(0, 2, 3, 1)
    elif cut == "transposed-view":
        out = x.transpose(1, 2).reshape(B, h, n, d)
    elif cut == "transposed-heads":
        out = x.transpose(1, 2).reshape(B, h, d, n).transpose(2, 3)[:, :, :, :]
    elif cut == "batch":
        out = x.reshape(h, B, n, d).transpose(0, 1)
    elif cut == "tokens":
        out = x.reshape(B, n, h, d).reshape(B, h, n, d)
    elif cut == "copies":
        out = x[:, None, :, :d].expand(B, h, n, d)
    elif cut == "pieces-of-h":
        out = x.reshape(B, n, d, h).transpose(1, 2)
    elif cut == "sequence-first":
        out = x.reshape(B, n, h, d).permute(1, 2, 0, 3)
    elif cut == "steps-of-h":
        out = torch.stack([x[..., i * h : i * h + d] for i in range(h)],
                          1) if (h - 1) * h + d <= wide else x * torch.nan
    elif cut == "heads-in-batch":
        out = torch.cat(x.chunk(h, -1), 0).reshape(B, h, n, d)
    elif cut == "heads-in-batch-flat":
        return torch.cat(x.chunk(h, -1), 0)
    elif cut == "width-h":
        out = torch.stack([x[..., i * h : (i + 1) * h] for i in range(h)], 1) if h * h <= wide else x * torch.nan
    elif cut == "one-short":
        out = torch.stack([x[..., i * d : (i + 1) * d - 1] for i in range(h)], 1)
    elif cut == "whole":
        out = x[:, None].expand(B, h, n, wide)
    elif cut == "mean":
        out = x.reshape(B, n, h, d).mean(2, keepdim=True).transpose(1, 2).expand(B, h, n, d)
    if order == "reversed":
        out = out.flip(1)
    if order == "columns-reversed":
        out = out.flip(-1)
    if order == "tokens-reversed":
        out = out.flip(2)
    return {"nothing": lambda: out, "no-transpose": lambda: out.transpose(1, 2),
            "heads-first": lambda: out.transpose(0, 1), "last-two": lambda: out.mT,
            "columns-first": lambda: out.permute(0, 3, 2, 1), "flat": lambda: out.flatten(0, 1),
            "contiguous": lambda: out.permute(0, 3, 1, 2)}[turn]()


SWITCHES = {
    "cut": {
        "view": Mistake("view-for-transpose",
                        "It forces the shape without moving an axis. Each head is filled with the next numbers in "
                        "memory, so it holds whole tokens, or pieces of them, where it should hold some columns of "
                        "every token.",
                        "Which numbers stand next to each other in memory: those of one token or those of one head?"),
        "interleaved": Mistake("interleaved",
                               "Each head takes every h-th column: the columns are cut as (d, h), not as (h, d).",
                               "Which columns belong to head 1?"),
        "interleaved-view": Mistake("scrambled",
                                    "The axes are cut in an order that mixes tokens and columns.",
                                    "Which columns belong to head 1?"),
        "transposed-view": Mistake("transpose-then-view",
                                   "The tokens and columns are exchanged before the cut, and the shape is then "
                                   "forced: numbers of different tokens meet in one row.",
                                   "What should be cut, before anything is exchanged?"),
        "batch": Mistake("heads-from-batch",
                         "The batch axis takes part in the cut: with more than one sentence, heads hold numbers of "
                         "others.",
                         "Which axis alone should be cut?"),
        "pieces-of-h": Mistake("pieces-of-h",
                               "It makes d pieces of h columns, where h pieces of d columns are wanted. split takes "
                               "the width of a piece, chunk their number.",
                               "How wide is one head?"),
        "sequence-first": Mistake("batch-and-tokens-exchanged",
                                  "Batch and tokens are taken for each other, as in code that puts the sequence "
                                  "first.",
                                  "Which axis of x counts the tokens?"),
        "steps-of-h": Mistake("slices-at-i*h",
                              "The slices begin at i * h. Head i (counted from 0) begins at i * d.",
                              "How many columns has one head?"),
        "heads-in-batch": Mistake("heads-in-batch-order",
                                  "The pieces are laid behind each other along the batch, head by head, and then read "
                                  "as (B, h, ...): sentences and heads change places.",
                                  "Which changes faster along the joined axis, the sentence or the head?"),
        "heads-in-batch-flat": Mistake("heads-in-batch",
                                       "The heads are laid behind each other along the batch, (h B, n, d), as some "
                                       "layers do inside. They should have an axis of their own, behind the batch.",
                                       "How many axes should the output have?"),
        "width-h": Mistake("width-h-for-d",
                           "Each piece is h columns wide, where it should be d wide.", "How wide is one head?"),
        "one-short": Mistake("one-column-short",
                             "Each head loses its last column: in Python the end of a slice is left out already.",
                             "How many columns has x[0:3]?"),
        "whole": Mistake("every-head-whole", "Every head gets all the columns.", "How many columns has one head?"),
        "copies": Mistake("first-columns-only", "Every head gets the same first columns.",
                          "Which columns belong to head 2?"),
        "mean": Mistake("mean-over-heads", "The heads are averaged.",
                        "Should anything be computed here, or only moved?"),
    },
    "order": {
        "reversed": Mistake("heads-reversed", "The heads come in reverse order.", "Which columns belong to head 1?"),
        "columns-reversed": Mistake("columns-reversed", "The columns inside each head come in reverse order.", ""),
        "tokens-reversed": Mistake("tokens-reversed", "The tokens come in reverse order.", ""),
    },
    "turn": {
        "no-transpose": Mistake("no-transpose",
                                "The axes stay (B, n, h, d): the head axis should stand in front of the tokens.",
                                "In which order should the axes stand, so that one product serves all heads?"),
        "heads-first": Mistake("heads-before-batch", "The head axis stands in front of the batch.",
                               "Which axis should come first?"),
        "last-two": Mistake("last-two-exchanged", "The last two axes are exchanged: (B, h, d, n).",
                            "In which order should the axes stand?"),
        "columns-first": Mistake("axes-permuted", "The axes stand in the order (B, d, n, h).",
                                 "In which order should the axes stand?"),
        "contiguous": Mistake("axes-permuted", "The axes stand in the order (B, d, h, n).",
                              "In which order should the axes stand?"),
        "flat": Mistake("batch-and-heads-merged", "Batch and heads are one axis: (B h, n, d).",
                        "How many axes should the output have?"),
    },
}


def measure(answer):
    """Where the numbers go."""
    yield from traces(answer, numbers(41, 2, 3, 4), split_heads,
                      (("sentence", "token", "column"), ("sentence", "head", "token", "column")), 2)


EXERCISE = Exercise(
    id="6.1", name="split_heads", chapter="06_multi_head", stars=2, core=True, minutes=10, after="section 4",
    signature="split_heads(x, h)",
    statement="Write `split_heads(x, h)`: x is `(B, n, h*d)`, and head 1 owns the first d columns. Return `(B, h, n, "
              "d)`.",
    stub="def split_heads(x, h):\n    ...\n",
    reference=split_heads,
    cases=[Case((numbers(42, 1, 2, 6), 2)), Case((numbers(43, 2, 3, 10), 2)), Case((numbers(44, 3, 5, 14), 7)),
           Case((numbers(45, 4, 4, 16), 4)), Case((numbers(46, 2, 5, 3), 1)), Case((numbers(47, 5, 2, 6), 3)),
           Case((numbers(48, 2, 1, 4), 4)), Case((numbers(49, 2, 20, 48), 12))],
    model=model, switches=SWITCHES, measure=measure,
    hints=("Number the entries of a small x and write down by hand what head 1 should hold.",
           "Cut the last axis into (h, d). That gives (B, n, h, d). Then move one axis.",
           "return x.reshape(B, n, h, d).transpose(1, 2), with B, n, _ = x.shape and d = x.shape[-1] // h"),
    note="Cut, then transpose. A view alone has the right shape and the wrong numbers, and with h = 1 nobody would "
         "notice.",
)
