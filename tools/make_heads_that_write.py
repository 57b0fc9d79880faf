"""Make heads_that_write.npz: `python -m tools.make_heads_that_write [PART ...]` changes stories15M on its way from an
opening to the next token, head by head, and keeps what the next token's probabilities become.

The weights are found by `mha.lab.stories.load`. PART is one of PARTS, to make that part again and keep what is stored
of the others; all of them take about a quarter of an hour on one core. All is in float32, with all 32,000 tokens.
"""
import re
import sys
from functools import cached_property

import numpy as np
import torch

from mha.lab import causes, openings, stories
from mha.lab.assets import pooled
from mha.lab.assets.decoders import PATHS_KEPT
from mha.lab.assets.writing import HEADS, MEASURED_OFF, SWAPS, TELLERS, WAYS, WINDOWS, WRITING
from tools.kept import keep

NAME, GENDER, PLURAL = (5, 1), (4, 4), (5, 3)
WRITTEN, STORIES, FEW, CONTINUED = 48, 50, 30, 40   # tokens of a story; stories; tokens after a renaming


class Found:
    """The model, its stories, and what its heads return on average."""

    def __init__(self):
        self.model, self.tokenizer = stories.load()
        self.ids = pooled().stories                                         # (32, 128), told by the model itself

    @cached_property
    def returned(self):
        """What each head returns in those stories: six of (32, h, 128, d_v)."""
        return causes.read(self.model, self.ids, see=("heads",), last=True).seen["heads"]

    def mean(self, head):
        """(d_v,), what a head returns on average, after the first eight tokens."""
        return self.returned[head[0]][:, head[1], 8:].mean((0, 1))

    def elsewhere(self, head, B, n, seed=0):
        """(B, n, d_v), what a head returns at the same positions of stories drawn at random."""
        rows = torch.randint(len(self.ids), (B,), generator=torch.Generator().manual_seed(seed))
        return self.returned[head[0]][rows, head[1], :n]

    def instead(self, kind, head, B, n):
        return {"zero": 0.0, "mean": self.mean(head)}[kind] if kind != "resample" else self.elsewhere(head, B, n)

    def encode(self, texts):
        return torch.tensor([self.tokenizer.encode(text) for text in texts])

    def words(self, words):
        return torch.tensor([openings.word(self.tokenizer, word) for word in words])


def right(run, want, other=None):
    """(B,): the probability of a token; or its share of that and another's."""
    if other is None:
        return run.probability(want)
    logits = run.logits[:, -1]
    return (logits.gather(1, want[:, None]) - logits.gather(1, other[:, None]))[:, 0].sigmoid()


def each_off(found, ids, want, other=None, kinds=MEASURED_OFF):
    """(kinds, 36, B), with one head off after the other."""
    streams = causes.read(found.model, ids, see=("into keys",), last=True).seen["into keys"]

    def one(kind, head):
        change = causes.off({head: found.instead(kind, head, *ids.shape)})
        return right(causes.read(found.model, ids, change, last=True, begin=(head[0], streams[head[0]])), want, other)
    return torch.stack([torch.stack([one(kind, head) for head in HEADS]) for kind in kinds])


def hidden(n, places, queries=slice(None)):
    """A mask in which some queries do not see some places."""
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[queries, places] = False
    return mask | torch.eye(n, dtype=torch.bool)


# --- Names ----------------------------------------------------------------------------------------------------------

def named(found, opening, name=None):
    """The ids of one opening for all names; `name` puts another word there, (text for each of the 45) -> word."""
    pairs = openings.with_others(found.tokenizer)
    return found.encode([opening.format(kind=kind, name=own if name is None else name(k, own, other))
                         for k, (own, kind, other) in enumerate(pairs)])


def places_of(ids, others):
    """The positions at which two sets of texts differ."""
    return (ids != others).any(0).nonzero().flatten().tolist()


def shuffled(ids, fixed, seed=0):
    """The tokens after the first, up to the last `fixed`, in an order of their own in each text."""
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.cat([row[:1], row[1:-fixed][torch.randperm(len(row) - 1 - fixed, generator=generator)],
                       row[-fixed:]]) for row in ids]
    return torch.stack(rows)


def names(found):
    """The probability of the name as the next token, whole and with heads off."""
    whole, off, first, mixed, looks = [], [], [], [], []
    own = found.words([name for name, _, _ in openings.with_others(found.tokenizer)])
    for opening in openings.NAMED:
        ids = named(found, opening)
        run = causes.read(found.model, ids, last=True, see=("weights",))
        places = (ids == own[:, None]).all(0)
        looks.append(torch.stack([run.seen["weights"][l][:, h, -1, places].sum(-1).mean() for l, h in HEADS]))
        whole.append(right(run, own))
        off.append(each_off(found, ids, own))
        without = causes.off({NAME: 0.0})
        first.append(torch.stack([one.logits[:, -1].argmax(-1) == own for one in (
            run, causes.read(found.model, ids, without, last=True))]))
        orders = shuffled(ids, 3)
        mixed.append(torch.stack([right(causes.read(found.model, orders, change, last=True), own)
                                  for change in (None, without)]))
    return {"name_whole": torch.stack(whole), "name_off": torch.stack(off, 1), "name_first": torch.stack(first, 1),
            "name_shuffled": torch.stack(mixed, 1), "name_looks": torch.stack(looks)}


def name_path(found):
    """The probability of the name with head 4.4 kept from some of its readers (PATHS_KEPT, WAYS)."""
    own, rows = found.words([name for name, _, _ in openings.with_others(found.tokenizer)]), []
    for opening in openings.NAMED:
        ids = named(found, opening)
        runs = [causes.read(found.model, ids, change, last=True, see=("heads", "mlp"))
                for change in (None, causes.off({GENDER: 0.0}))]
        changes = [causes.path_change(kind, GENDER, [5], found.model, runs[0]) for kind in PATHS_KEPT]
        changes += [causes.way_change(kind, GENDER, found.model, *runs) for kind in WAYS]
        rows.append(torch.stack([right(causes.read(found.model, ids, change, last=True), own) for change in changes]))
    return dict(zip(("name_path", "name_ways"), torch.stack(rows).split((len(PATHS_KEPT), len(WAYS)), 1)))


# --- Renaming in the cache ------------------------------------------------------------------------------------------

def swaps():
    """Name of SWAPS -> (whose text is the source, the heads of keys, the heads of values)."""
    rest = [head for head in HEADS if head != NAME]
    return {"nothing": ("other", [], []), "all keys and values": ("other", HEADS, HEADS),
            "all keys": ("other", HEADS, []), "all values": ("other", [], HEADS),
            "values of 5.1": ("other", [], [NAME]), "keys of 5.1": ("other", [NAME], []),
            "all values but those of 5.1": ("other", [], rest),
            "all keys, of a thing": ("thing", HEADS, []), "keys of 5.1, of a thing": ("thing", [NAME], []),
            "values of 5.1, of a thing": ("thing", [], [NAME]),
            "all keys, of a small word": ("small", HEADS, []), "keys of 5.1, of a small word": ("small", [NAME], [])}


def rename(found):
    """The next token's probabilities, own name and other, after an exchange in the cache at the name's positions."""
    pairs = openings.with_others(found.tokenizer)
    own, other = (found.words([pair[k] for pair in pairs]) for k in (0, 2))
    every = {name: swaps()[name] for name in SWAPS}
    kinds, singles, counts, named_things = [], [], [], []
    things, small = ([word for word in words if openings.word(found.tokenizer, word) is not None]
                     for words in (openings.THINGS, openings.SMALL))
    texts = {"other": lambda k, own, other: other, "thing": lambda k, own, other: things[k % len(things)],
             "small": lambda k, own, other: small[k % len(small)]}
    for opening in openings.NAMED:
        ids = named(found, opening)
        sources = {name: named(found, opening, word) for name, word in texts.items()}
        places = places_of(ids, sources["other"])
        past = causes.read(found.model, ids[:, :-1], last=True).past
        pasts = {name: causes.read(found.model, source[:, :-1], last=True).past for name, source in sources.items()}

        caches = {name: causes.exchanged(past, pasts[source], places, {"keys": keys, "values": values})
                  for name, (source, keys, values) in every.items()}
        one = [causes.exchanged(past, pasts["other"], places, {"values": [head]}) for head in HEADS]
        runs = [causes.read(found.model, ids[:, -1:], past=each, last=True) for each in (*caches.values(), *one)]
        kinds.append(torch.stack([torch.stack([right(run, own), right(run, other)]) for run in runs[:len(SWAPS)]]))
        singles.append(torch.stack([right(run, other) for run in runs[len(SWAPS):]]))
        named_things.append(right(runs[SWAPS.index("values of 5.1, of a thing")],
                                  found.words([things[k % len(things)] for k in range(len(pairs))])))
        counts.append(torch.stack([continued(found, ids, caches[name], own, other)
                                   for name in ("nothing", "values of 5.1", "all keys and values")]))
    return {"rename": torch.stack(kinds), "rename_one": torch.stack(singles), "rename_told": torch.stack(counts),
            "rename_thing": torch.stack(named_things)}


def continued(found, ids, past, own, other):
    """(2, B), how often the own name and the other stand in the greedy next tokens after an exchange."""
    told = write(found, ids[:, -1:], CONTINUED, past=past)
    return torch.stack([(told == name[:, None]).sum(1) for name in (own, other)])


# --- Stories --------------------------------------------------------------------------------------------------------

def write(found, ids, length, change=None, past=None, generator=None):
    """The next tokens (B, length) after ids: the likeliest each time, or drawn."""
    told = []
    for _ in range(length):
        run = causes.read(found.model, ids, change, past=past, last=True)
        logits, past = run.logits[:, -1], run.past
        ids = logits.argmax(-1, True) if generator is None else torch.multinomial(
            logits.softmax(-1), 1, generator=generator)
        told.append(ids)
    return torch.cat(told, 1)


def facts(told, own, kinds):
    """(3, B) of stories up to their end: is the hero named, the share of runs of four that came before, and the share
    of pronouns that fit, NaN where there are none."""
    rows = []
    for row, name, kind in zip(told, own, kinds):
        tokens, text = row
        fours = [tuple(tokens[i:i + 4]) for i in range(len(tokens) - 3)]
        pronouns = re.findall(r"\b(he|she|his|her|him)\b", text.lower())
        fit = {"girl": ("she", "her"), "boy": ("he", "his", "him")}[kind]
        again = 1 - len(set(fours)) / len(fours) if fours else 0.0
        rows.append([float(re.search(rf"\b{name}\b", text) is not None), again,
                     sum(p in fit for p in pronouns) / len(pronouns) if pronouns else float("nan")])
    return torch.tensor(rows).T


def tell(found, place, change, count, drawn=False):
    """(3, count), facts of stories from the opening at one place of TOLD."""
    pairs = (openings.with_others(found.tokenizer) * 2)[:count]
    ids = found.encode([openings.TOLD[place].format(name=own, kind=kind, thing=openings.TOYS[k % 10])
                        for k, (own, kind, _) in enumerate(pairs)])
    new = write(found, ids, WRITTEN, change, generator=torch.Generator().manual_seed(0) if drawn else None).tolist()
    ended = [row[:row.index(stories.START)] if stories.START in row else row for row in new]
    texts = [found.tokenizer.decode(row) for row in ended]
    rows = facts(list(zip(ended, texts)), *zip(*[pair[:2] for pair in pairs]))
    print([round(x, 3) for x in rows.nanmean(-1).tolist()], repr(texts[5][:150]), flush=True)
    return rows


def told(found):
    """Stories as in TELLERS."""
    def off(head, kind):
        return causes.off({tuple(map(int, head.split("."))): 0.0 if kind == "zero" else found.mean(
            tuple(map(int, head.split("."))))})

    rows = []
    for name in TELLERS:
        who, place = name.split(", ")
        change = None if who == "whole" else off(*who.split())
        rows.append(tell(found, int(place[-1]), change, STORIES, drawn=place.startswith("drawn")))
    return {"told": torch.stack(rows)}


def told_off(found):
    """Stories of the first opening, with one head off after the other."""
    return {"told_off": torch.stack([tell(found, 0, causes.off({head: 0.0}), FEW) for head in HEADS])}


# --- Was and were, she and he ---------------------------------------------------------------------------------------

def agreement(found):
    """The share of the right word of two, whole and with heads off, also both heads of number."""
    pairs = openings.with_others(found.tokenizer)
    ids = found.encode([openings.PRONOUN.format(name=name, kind=kind) for name, kind, _ in pairs])
    want = found.words(["she" if kind == "girl" else "he" for _, kind, _ in pairs])
    against = found.words(["he" if kind == "girl" else "she" for _, kind, _ in pairs])
    kept = {"pronoun_whole": right(causes.read(found.model, ids, last=True), want, against),
            "pronoun_off": each_off(found, ids, want, against, ("zero", "mean"))}
    nouns, whole, off, both, unseen = openings.nouns(found.tokenizer), [], [], [], []
    for opening in openings.NUMBER:
        ids = found.encode([opening.format(noun=noun + s) for s in ("", "s") for noun in nouns])
        want, against = (found.words([first] * len(nouns) + [then] * len(nouns))
                         for first, then in (("was", "were"), ("were", "was")))
        whole.append(right(causes.read(found.model, ids, last=True), want, against))
        off.append(each_off(found, ids, want, against, ("zero", "mean")))
        both.append(torch.stack([right(causes.read(found.model, ids, causes.off(
            {head: found.instead(kind, head, *ids.shape) for head in (GENDER, PLURAL)}), last=True), want, against)
            for kind in ("zero", "mean")]))
        noun = places_of(ids[:len(nouns)], ids[len(nouns):])
        mask = hidden(ids.shape[1], noun, queries=-1)
        unseen.append(right(causes.read(found.model, ids, mask=mask, last=True), want, against))
    return kept | {"number_whole": torch.stack(whole), "number_off": torch.stack(off, 1),
                   "number_both": torch.stack(both, 1), "number_unseen": torch.stack(unseen)}


# --- How far back, and the first token ------------------------------------------------------------------------------

def losses(found, mask=None, change=None, ids=None):
    """(N, n - 1), in nats."""
    ids = found.ids if ids is None else ids
    logits = torch.cat([causes.read(found.model, some, change, mask=mask).logits[:, :-1] for some in ids.split(8)])
    return torch.nn.functional.cross_entropy(logits.mT, ids[:, 1:], reduction="none")


def reach(found):
    """Losses of 32 stories when each token sees only the last w, or all but the first: means a story, of all tokens
    after the eighth; of names that came before; and the weight on the first token.
    """
    n = found.ids.shape[1]
    i, j = torch.arange(n)[:, None], torch.arange(n)
    masks = {"all": None, **{w: i - j < w for w in WINDOWS}, "first hidden": (j > 0) | (i == 0)}
    names = found.words([name for name, _, _ in openings.with_others(found.tokenizer)])
    before = torch.tensor([[token in names and token in row[:k] for k, token in enumerate(row)]
                           for row in found.ids.tolist()])[:, 1:]
    rows = {name: losses(found, mask) for name, mask in masks.items()}
    left_out = losses(found, ids=found.ids[:, 1:])
    weights = causes.read(found.model, found.ids, see=("weights",), last=True).seen["weights"]
    return {"reach": torch.stack([row[:, 8:].mean(-1) for row in rows.values()]),
            "reach_names": torch.stack([row[before] for row in rows.values()]),
            "first_left_out": torch.stack([rows["all"][:, 10:].mean(-1), left_out[:, 9:].mean(-1)]),
            "first_weight": torch.stack([w[:, :, 8:, 0].mean((0, 2)) for w in weights])}


PARTS = {"names": names, "name_path": name_path, "rename": rename, "agreement": agreement, "reach": reach, "told": told,
         "told_off": told_off}


def main(*parts):
    found = Found()
    for part in parts or PARTS:
        fields = {name: np.asarray(field, dtype=np.float16 if field.is_floating_point() else np.uint8)
                  for name, field in PARTS[part](found).items()}
        kept = dict(np.load(WRITING)) if WRITING.exists() else {}
        keep(WRITING, kept | fields)
    return 0


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    sys.exit(main(*sys.argv[1:]))
