"""Make told.npz: `python -m tools.make_told [PART]` chooses the pieces of stories15M that its stories need, and keeps
what that model tells as heads go off, or as another text lends keys or values to it.

The weights are found by `mha.lab.stories.load`. PART "changes" keeps the pieces that are stored, since which are the
rarest depends on the machine's last digit; all takes a minute on one core.
"""
import sys

import numpy as np
import torch

from mha.lab import stories, story_file
from mha.lab.ablation import head_outputs
from mha.lab.assets import pooled
from mha.lab.assets.told import ALL_HEADS, CHANGES, FIRST_OFF, LENDS, LISTED, OPENINGS, STEPS, TOLD, WRITTEN, told
from tools.kept import keep

WANTED = 6000                                       # pieces that count, before those on the way to them


# --- The pieces -----------------------------------------------------------------------------------------------------

@torch.no_grad()
def ranked(model, ids):
    """All pieces, the likeliest first: by their mean chance over the stories, and how often they were drawn."""
    mass = torch.zeros(len(model.embedding.weight), dtype=torch.double)
    for some in ids.split(4):
        mass += model(some[:, :-1]).softmax(-1).sum((0, 1)).double()
    count = torch.bincount(ids.flatten(), minlength=len(mass)).double()
    return (mass / mass.sum() + count / count.sum()).argsort(descending=True).tolist()


def mean_outputs(model, ids):
    """(layers, h, d_v), what each head gives out, on average over all tokens."""
    return head_outputs(model, lambda: model(ids)).mean((1, 3))


# --- What the model tells -------------------------------------------------------------------------------------------

def switches():
    """(layers, CHANGES, h), a factor for each head: 0 for the one that is off."""
    on = torch.ones(CHANGES, len(ALL_HEADS))
    on[FIRST_OFF:] -= torch.eye(len(ALL_HEADS))
    return on.unflatten(1, (-1, 1 + ALL_HEADS[-1][1])).transpose(0, 1)


@torch.no_grad()
def changed(model, tokenizer, opening):
    """Of all changes, in the order of Told: logits (CHANGES, vocabulary) after the opening, and (CHANGES, WRITTEN)
    tokens that follow, each the likeliest.
    """
    text, word, other = opening
    own, theirs = (tokenizer.number[f" {name}".encode()] for name in (word, other))
    ids = torch.tensor([tokenizer.encode(text)]).expand(CHANGES, -1)
    on = switches()
    caches, lenders = (model.new_caches(CHANGES, ids.shape[1] + WRITTEN) for _ in range(2))
    model(ids[:, :-1], caches, head_mask=on)
    model(ids[:, :-1].masked_fill(ids[:, :-1] == own, theirs), lenders)
    places = (ids[0, :-1] == own).nonzero().flatten()
    for row, (what, heads) in enumerate(LENDS, start=1):
        for layer, head in heads:
            kept, lent = (getattr(some[layer], what[0].upper()) for some in (caches, lenders))
            kept[row, head, places] = lent[row, head, places]
    first, new, written = None, ids[:, -1:], []
    for _ in range(WRITTEN):
        logits = model(new, caches, head_mask=on)[:, -1]
        first = logits if first is None else first
        new = logits.argmax(-1, True)
        written.append(new)
    return first, torch.cat(written, 1)


def weights_of(model, ids):
    """(layers, h, n, n), what every head gives to each token."""
    return model.trace(torch.tensor([ids])).weights[:, 0]


def listed(logits):
    """The next tokens, (changes, LISTED), and their chances, (changes, 2, LISTED). The first row is the whole model."""
    p = logits.double().softmax(-1)
    both = torch.stack([p, p[:1].expand_as(p)], 1)                             # (changes, 2, vocabulary)
    best = both.sum(1).argsort(dim=-1, descending=True, stable=True)[:, :LISTED]
    return best, both.gather(2, best[:, None].expand(-1, 2, -1))


def stored_changes(model, tokenizer):
    """All that is stored of OPENINGS."""
    found, chance, arrays = {}, [], {}
    for i, opening in enumerate(OPENINGS):
        ids = tokenizer.encode(opening[0])
        logits, written = changed(model, tokenizer, opening)
        best, p = listed(logits)
        chance.append(p)
        found |= {f"tokens.{i}": torch.tensor(ids), f"written.{i}": written, f"next.{i}": best}
        arrays[f"weights.{i}"] = (weights_of(model, ids) * STEPS).round().numpy().astype(np.uint8)
    used, places = torch.cat([ids.flatten() for ids in found.values()]).unique(return_inverse=True)
    for (name, ids), own in zip(found.items(), places.split([ids.numel() for ids in found.values()])):
        found[name] = own.view(ids.shape)
    each = range(len(OPENINGS))
    for name in ("written", "next"):
        arrays[name] = torch.stack([found[f"{name}.{i}"] for i in each]).numpy().astype(np.int16)
    arrays |= {f"tokens.{i}": found[f"tokens.{i}"].numpy().astype(np.int16) for i in each}
    pieces = [tokenizer.pieces[i].decode() for i in used.tolist()]
    return {"pieces": np.array(pieces), "chance": torch.stack(chance).numpy().astype(np.float16)} | arrays


def main(part=""):
    model, tokenizer = stories.load()
    if part == "changes":
        kept, means = told().kept.tolist(), told().means
    else:
        own = pooled().stories
        kept = story_file.closed(tokenizer, ranked(model, own)[:WANTED])
        means = mean_outputs(model, own).half().float()
    small, words, _ = story_file.read(story_file.packed(model, tokenizer, kept, means))
    keep(TOLD, {"kept": np.array(kept, np.int16), "means": means.numpy().astype(np.float16),
                **stored_changes(small, words)})


if __name__ == "__main__":
    main(*sys.argv[1:])
