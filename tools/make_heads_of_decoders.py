"""Make heads_of_decoders.npz: `python -m tools.make_heads_of_decoders [PART:MODEL ...]` asks two trained decoders for
their induction heads, what these are needed for, their sinks and the pairs that turn, and takes scores apart.

The weights are found by `mha.lab.real.load`. PART is one of PARTS, MODEL one of MODELS, to make that part again and
keep what is stored of the others; all of them take about an hour on two cores. All is in float32.
"""
import sys
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F

from mha.lab import causes, openings, real
from mha.lab.assets import pooled
from mha.lab.assets.decoders import DECODERS, MODELS, PATHS_KEPT, TURNED
from mha.position import Rope, frequencies
from tools.kept import keep

P, ROWS, FEW = 40, 8, 4                             # length of a repeated part, texts, and texts where runs are many
KNOWN = 32                                          # texts of tokens that the model's own stories have
TEXTS, LENGTH, BEHIND = 16, 100, 8                  # stories, tokens of each that are read, and those that do not count
DRAWN = {"stories15m": (259, 32000), "smollm2": (300, 49152)}            # from these tokens random ones are drawn
START = {"stories15m": 1, "smollm2": 0}


class Found:
    """A model, random tokens that come twice, and stories."""

    def __init__(self, name):
        self.name, self.model = name, real.load(name)
        self.layers, self.h = len(self.model.layers), self.model.layers[0].attention.num_heads
        generator = torch.Generator().manual_seed(1)
        once, other = torch.randint(*DRAWN[name], (2, ROWS, P), generator=generator)
        start = torch.full((ROWS, 1), START[name])
        self.twice, self.once = (torch.cat([start, once, then], 1) for then in (once, other))

    @cached_property
    def texts(self):
        """(TEXTS, LENGTH): the stories that stories15M has told."""
        told = pooled().stories[::2]
        if self.name == "stories15m":
            return told[:TEXTS, :LENGTH]
        tokenizer = real.load("stories15m").tokenizer
        rows = [self.model.encode(tokenizer.decode(row.tolist())) for row in told[:TEXTS]]
        rows = [row if row[0] == START[self.name] else [START[self.name], *row] for row in rows]
        return torch.tensor([row[:LENGTH] for row in rows])

    def read(self, ids, change=None, **options):
        return causes.read(self.model, ids, change, **options)

    def losses(self, ids, change=None, behind=P + 1, **options):
        """(B,), the mean loss of the tokens behind the first `behind`."""
        rows = [F.cross_entropy(self.read(some, change, **options).logits[:, :-1].mT, some[:, 1:], reduction="none")
                for some in ids.split(4)]
        return torch.cat(rows)[:, behind - 1 if behind > P else behind:].mean(-1)

    @cached_property
    def maps(self):
        """(layers, ROWS, h, n, n), of tokens that come twice."""
        return torch.stack([torch.cat(layer) for layer in zip(*(self.read(
            some, see=("weights",), last=True).seen["weights"] for some in self.twice.split(4)))])

    def by_score(self, score):
        """All heads, those with the highest score first."""
        return [divmod(int(k), self.h) for k in score.flatten().argsort(descending=True)]

    @cached_property
    def induction(self):
        """(ROWS, layers, h): mean weight on the token after the one before, where that came last."""
        return on(self.maps, torch.arange(P + 2, 2 * P), P - 1)

    @cached_property
    def previous(self):
        return on(self.maps, torch.arange(P + 2, 2 * P), 1)

    def mean(self, ids):
        """(layers, h, d_v), what heads return on average behind the first tokens."""
        runs = [self.read(some, see=("heads",), last=True) for some in ids.split(4)]
        rows = [[layer[:, :, BEHIND:].mean((0, 2)) for layer in run.seen["heads"]] for run in runs]
        return torch.stack([torch.stack(row) for row in rows]).mean(0)


def on(maps, i, back):
    """(B, layers, h): the mean weight from positions i on those `back` positions before."""
    return maps[..., i, i - back].mean(-1).transpose(0, 1)


def scores(found):
    """Each head's scores, and what no repetition gives: the same offsets where the second half is another."""
    i = torch.arange(P + 2, 2 * P)
    whole = [torch.cat(layer) for layer in zip(*(found.read(some, see=("weights",), last=True).seen["weights"]
                                                 for some in found.once.split(4)))]
    logits = torch.cat([found.read(some).logits[:, :-1] for some in found.twice.split(4)])
    rows = F.cross_entropy(logits.mT, found.twice[:, 1:], reduction="none")
    return {"induction": found.induction, "induction_once": on(torch.stack(whole), i, P - 1),
            "previous": found.previous, "same": on(found.maps, i, P),
            "loss": torch.stack([rows[:, :P].mean(-1), rows[:, P + 1:].mean(-1)]),
            "loss_once": found.losses(found.once, behind=P + 2),
            "first": (logits[:, P + 1:].argmax(-1) == found.twice[:, P + 2:]).float().mean(-1)}


def own_tokens(found):
    """stories15m, random tokens of those that its stories have: the loss of the second 40 where they are the first
    again, the first in another order, and others; and each head's induction score.
    """
    if found.name != "stories15m":
        return {}
    generator, pool = torch.Generator().manual_seed(1), pooled().stories.unique()
    pool = pool[pool >= DRAWN[found.name][0]]
    once, other = pool[torch.randint(len(pool), (2, KNOWN, P), generator=generator)]
    mixed = torch.stack([row[torch.randperm(P, generator=generator)] for row in once])
    texts = [torch.cat([torch.full((KNOWN, 1), START[found.name]), once, then], 1) for then in (once, mixed, other)]
    maps = torch.stack(found.read(texts[0], see=("weights",), last=True).seen["weights"])
    return {"own_tokens": torch.stack([found.losses(ids, behind=P + 2) for ids in texts]),
            "own_induction": on(maps, torch.arange(P + 2, 2 * P), P - 1).mean(0)}


def groups_off(found):
    """The loss of the second half with the 1, 3, 9 heads of highest score off, by zero and by the mean; with as many
    others; and of texts with three off.
    """
    order, generator = found.by_score(found.induction.mean(0)), torch.Generator().manual_seed(2)
    means, of_texts = found.mean(found.twice), found.mean(found.texts)
    few = found.twice[:FEW]
    kept = {"off": [], "off_others": []}
    for k in (1, 3, 9):
        top = order[:k]
        kept["off"].append(torch.stack([found.losses(few, causes.off({head: 0.0 for head in top})),
                                        found.losses(few, causes.off({head: means[head] for head in top}))]))
        others = [[order[9 + int(j)] for j in torch.randperm(len(order) - 9, generator=generator)[:k]]
                  for _ in range(4)]
        kept["off_others"].append(torch.stack([found.losses(few, causes.off({head: 0.0 for head in some}))
                                               for some in others]))
    texts = [None, causes.off({head: 0.0 for head in order[:3]}),
             causes.off({head: of_texts[head] for head in order[:3]})]
    return {name: torch.stack(rows) for name, rows in kept.items()} | {
        "off_texts": torch.stack([found.losses(found.texts, change, BEHIND) for change in texts])}


def used(found):
    """24 heads: the eight highest by induction and by the token before, and eight others; the loss of the second half
    with each off, by zero and by the mean.
    """
    by = [found.by_score(score.mean(0)) for score in (found.induction, found.previous)]
    chosen = by[0][:8] + [head for head in by[1] if head not in by[0][:8]][:8]
    rest = [head for head in by[0] if head not in chosen]
    drawn = torch.randperm(len(rest), generator=torch.Generator().manual_seed(3))[:8]
    chosen += [rest[int(k)] for k in drawn]
    means, few = found.mean(found.twice), found.twice[:FEW]
    losses = [torch.stack([found.losses(few, causes.off({head: make(head)})) for head in chosen])
              for make in (lambda head: 0.0, lambda head: means[head])]
    return {"used_heads": torch.tensor(chosen), "used": torch.stack(losses)}


def each_off(found, kinds=("zero", "mean"), layers=slice(None)):
    """By how much the loss of the second half rises with each head of the model off, by zero and by its mean: means of
    the texts.
    """
    few, whole = found.twice[:FEW], found.losses(found.twice[:FEW]).mean()
    streams, means = found.read(few, see=("into keys",), last=True).seen["into keys"], found.mean(found.twice)

    def loss(kind, l, h):
        change = causes.off({(l, h): 0.0 if kind == "zero" else means[l, h]})
        return found.losses(few, change, begin=(l, streams[l])).mean() - whole
    return {"each_off": torch.stack([torch.stack([torch.stack([loss(kind, l, h) for h in range(found.h)])
                                                  for l in range(found.layers)[layers]]) for kind in kinds])}


def fastest(found):
    """smollm2: the loss of the second half, and what 16.0 gives to the token before, where the fastest pair turns in
    all layers, in none, in all but 16, and in 16 alone; of each text.
    """
    if found.name != "smollm2":
        return {}
    few, rows, ropes = found.twice[:FEW], [], [layer.attention.on_qk for layer in found.model.layers]
    for stopped in ([], range(30), [16], [l for l in range(30) if l != 16]):
        for l in stopped:
            turn = frequencies(found.model.layers[l].attention.d_k, ropes[l].base)
            turn[0] = 0
            found.model.layers[l].attention.on_qk = Rope(frequencies=turn, interleaved=ropes[l].interleaved)
        maps = found.read(few, see=("weights",), last=True).seen["weights"][16]
        rows.append(torch.stack([found.losses(few), on(maps[None], torch.arange(P + 2, 2 * P), 1)[:, 0, 0]]))
        for layer, rope in zip(found.model.layers, ropes):
            layer.attention.on_qk = rope
    return {"fastest": torch.stack(rows)}


def longest(found):
    """The share of the largest coordinate in the square of the first token's vector, in the layer where it is longest
    against other tokens.
    """
    streams = found.read(found.texts[:4], see=("into keys",), last=True).seen["into keys"]
    layer = max(streams, key=lambda x: x[:, 0].norm(dim=-1).mean() / x[:, BEHIND:].norm(dim=-1).median())
    squares = layer[:, 0].square()
    return {"one_coordinate": (squares.amax(-1) / squares.sum(-1)).mean()[None]}


def paths(found):
    """Two heads that attend to the token before, kept from what one kind of projection of all later layers reads, or
    off: the loss of the second half, and the scores of the four best induction heads.
    """
    before = found.by_score(found.previous.mean(0))[:6]
    few, best = found.twice[:FEW], found.by_score(found.induction.mean(0))[:4]
    run = found.read(few, see=("heads",), last=True)
    losses, looks = [], []
    for head in before[:2] if found.name == "stories15m" else [(16, 0), (11, 1)]:
        later = list(range(head[0] + 1, found.layers))
        for kind in PATHS_KEPT:
            change = causes.path_change(kind, head, later, found.model, run)
            after = found.read(few, change, see=("weights",))
            losses.append(F.cross_entropy(after.logits[:, :-1].mT, few[:, 1:], reduction="none")[:, P + 1:].mean(-1))
            looks.append(torch.stack([on(after.seen["weights"][l][None, :, h:h + 1], torch.arange(P + 2, 2 * P), P - 1
                                         )[:, 0, 0] for l, h in best]))
    k = len(PATHS_KEPT)
    return {"path_loss": torch.stack(losses).unflatten(0, (2, k)), "path_heads": torch.tensor(best),
            "path_looks": torch.stack(looks).unflatten(0, (2, k))}


def sinks(found):
    """The weight on the first token of a text, with the token that starts texts and without; the size of the stream;
    losses of the same tokens; and how far heads of one group are from each other, and heads of two.
    """
    kept = {"sink": [], "stream": [], "sink_loss": []}
    apart = {True: [], False: []}
    for ids in (found.texts, found.texts[:, 1:]):
        runs = [found.read(some, see=("weights", "into keys")) for some in ids.split(4)]
        maps = [torch.cat(layer) for layer in zip(*(run.seen["weights"] for run in runs))]
        kept["sink"].append(torch.stack([layer[:, :, BEHIND:, 0].mean((0, 2)) for layer in maps]))
        size = [torch.cat(layer).norm(dim=-1) for layer in zip(*(run.seen["into keys"] for run in runs))]
        kept["stream"].append(torch.stack([torch.stack([x[:, 0].mean(), x[:, BEHIND:].median()]) for x in size]))
        lost = torch.cat([F.cross_entropy(run.logits[:, :-1].mT, some[:, 1:], reduction="none")
                          for run, some in zip(runs, ids.split(4))])
        kept["sink_loss"].append(lost[:, -(LENGTH - 20):].mean(-1))
        if ids is found.texts:
            q = found.h // found.model.layers[0].attention.num_kv_heads
            for layer in maps:
                rest = F.normalize(layer[:, :, BEHIND:, 1:], p=1, dim=-1)
                for a in range(found.h):
                    for b in range(a):
                        apart[a // q == b // q].append((rest[:, a] - rest[:, b]).abs().sum(-1).mean() / 2)
    means = [torch.stack(rows) if rows else torch.tensor([float("nan")]) for rows in (apart[True], apart[False])]
    return {name: torch.stack(rows) for name, rows in kept.items()} | {"apart_same": means[0], "apart_other": means[1]}


def pairs(found):
    """Losses of texts and of second halves when some pairs of rotary positions do not turn."""
    first = found.model.layers[0].attention
    k, ropes = first.d_k // 2, [layer.attention.on_qk for layer in found.model.layers]
    losses = {"texts": [], "twice": []}
    for kind in TURNED:
        turn = torch.ones(k)
        share = {"quarter": k // 4, "half": k // 2, "three quarters": 3 * k // 4, "one": 1, "all": k, "none": 0}
        many = share[kind.split(", ")[-1]]
        if kind.startswith("slowest"):
            turn[k - many:] = 0
        else:
            turn[:many] = 0
        for layer, rope in zip(found.model.layers, ropes):
            layer.attention.on_qk = Rope(
                frequencies=frequencies(first.d_k, rope.base) * turn, interleaved=rope.interleaved)
        losses["texts"].append(found.losses(found.texts[:8], behind=BEHIND))
        losses["twice"].append(found.losses(found.twice[:FEW]))
    for layer, rope in zip(found.model.layers, ropes):
        layer.attention.on_qk = rope
    return {f"pairs_{name}": torch.stack(rows) for name, rows in losses.items()}


# --- Scores, taken apart --------------------------------------------------------------------------------------------

def apart(found):
    """Where a score comes from. stories15m: 5.1, from the last token to the name, and the weight on it when a part is
    left out of the keys; smollm2: 17.4, from a token of the second half to the one after its first.
    """
    if found.name == "stories15m":
        tokenizer, rows, without, whole = found.model.tokenizer, [], [], []
        pairs = openings.with_others(tokenizer)
        for opening in openings.NAMED:
            ids = torch.tensor([tokenizer.encode(opening.format(name=name, kind=kind)) for name, kind, _ in pairs])
            at = (ids == torch.tensor([openings.word(tokenizer, name) for name, _, _ in pairs])[:, None]).all(0)
            place, last = int(at.nonzero()[0]), ids.shape[1] - 1          # where the name comes first, and 5.1 looks
            names, parts = causes.parts_of_stream(found.model, ids, 5)
            rows.append(causes.score_parts(found.model, parts, 5, 1, last, place, lead=True).mean(0))
            stream = parts.sum(0)

            def weight(change):
                run = found.read(ids, change, see=("weights",), last=True, begin=(5, stream))
                return run.seen["weights"][0][:, 1, -1, at].sum(-1)
            whole.append(weight(lambda name, l, x: x))
            without.append(torch.stack([weight(lambda name, l, x: x - part if name == "into keys" else x)
                                        for part in parts]))
        return {"apart": torch.stack(rows), "apart_whole": torch.stack(whole),
                "apart_without": torch.stack([one.mean(-1) for one in without])}
    layer, head = 17, 4
    names, parts = causes.parts_of_stream(found.model, found.twice[:FEW], layer)
    rows = torch.stack([causes.score_parts(found.model, parts, layer, head, i, i - P + 1, lead=True).mean(0)
                        for i in (P + 8, P + 20, P + 32)])
    both = rows.mean(0)
    return {"apart_keys": both.sum(0), "apart_queries": both.sum(1), "apart_16_0": both[:, names.index("16.0")],
            "apart_spread": rows.sum((1, 2))}


PARTS = {"scores": scores, "own": own_tokens, "off": groups_off, "used": used, "each": each_off, "paths": paths,
         "sinks": sinks, "longest": longest, "pairs": pairs, "fastest": fastest, "apart": apart}


def main(*asked):
    found = {}
    for one in asked or [f"{part}:{name}" for name in MODELS for part in PARTS]:
        part, name = one.split(":")
        found[name] = found.get(name) or Found(name)
        fields = {f"{name}_{field}": np.asarray(numbers, dtype=np.float16 if numbers.is_floating_point() else np.uint8)
                  for field, numbers in PARTS[part](found[name]).items()}
        kept = dict(np.load(DECODERS)) if DECODERS.exists() else {}
        keep(DECODERS, kept | fields)
    return 0


if __name__ == "__main__":
    torch.set_grad_enabled(False)
    sys.exit(main(*sys.argv[1:]))
