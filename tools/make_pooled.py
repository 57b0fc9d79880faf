"""Make pooled.npz: `python -m tools.make_pooled [PART]` lets heads of stories15M share keys and values, and keeps what
that costs, before and after a little training.

The weights are found by `mha.lab.stories.load`. PART is one of PARTS, to make that part again and keep what is stored
of the others; all of them take about 20 minutes on one core. All texts are the model's own: it went on from OPENINGS,
each token drawn with the probability that it gave it (temperature 1).
"""
import copy
import sys
from functools import cache

import numpy as np
import torch

from mha.lab import stories
from mha.lab.assets.decoder import DRAWS, KV_HEADS, POOLED, STEPS, TRAINED
from mha.lab.surgery import first_of_group, mean_of_group, share_heads, turn_heads
from tools.kept import keep

OPENINGS = ("Once upon a time", "One day", "Tom and his dog", "The little bird", "In a big forest", "Lily was sad",
            "There was an old", "It was raining")
LENGTH, COUNTED = 128, 120                          # tokens of a story, and those at its end that count
MEASURED, LEARNED = 32, 152                         # stories for measuring, and others to learn from
ROUNDS = 30                                         # in which each head is aligned with the others of its group
BATCH, RATE, WARM_UP = 2, 1e-4, 10                  # stories in a step; Adam's rate, and steps in which it rises


def generate_stories(model, tokenizer, count, seed):
    """(count, LENGTH), stories of the model's own, as many from each opening."""
    generator, found = torch.Generator().manual_seed(seed), []
    for opening in OPENINGS:
        start = torch.tensor([tokenizer.encode(opening)])
        found.append(model.generate(start.expand(count // len(OPENINGS), -1), LENGTH - start.shape[1], generator))
    return torch.cat(found)


@torch.no_grad()
def loss(model, ids):
    """(N,), the loss of each story in nats per token."""
    return torch.cat([model.losses(some)[:, -COUNTED:].mean(-1) for some in ids.split(8)])


# --- What happens to a layer ----------------------------------------------------------------------------------------

def changed(model, change, only=None):
    """A copy of the model with change(attention) in the place of each attention, or of the one of layer `only`."""
    new = copy.deepcopy(model)
    for number, layer in enumerate(new.layers):
        if only in (None, number):
            layer.attention = change(layer.attention)
    return new


def pooled(model, kind, kv_heads, draw=0):
    """A copy that shares in every layer. draw: seed of what is random."""
    generator = torch.Generator().manual_seed(draw)
    changes = {
        "whole": lambda attention: attention,
        "mean": lambda attention: share_heads(attention, kv_heads, mean_of_group),
        "first": lambda attention: share_heads(attention, kv_heads, first_of_group),
        "random": lambda attention: fresh(share_heads(attention, kv_heads), generator),
        "turned": lambda attention: share_heads(turned(attention, generator), kv_heads),
    }
    return changed(model, changes[kind])


@torch.no_grad()
def fresh(attention, generator):
    """The layer with new keys and values, drawn as MultiHeadAttention draws them."""
    for W in (attention.W_K, attention.W_V):
        torch.nn.init.xavier_uniform_(W.weight, 2**-0.5, generator=generator)
    return attention


@torch.no_grad()
def alone(attention, kv_heads, name):
    """The layer with the mean in W_K alone, or in W_V alone: each head has a copy of its group's."""
    new, shared = copy.deepcopy(attention), getattr(share_heads(attention, kv_heads), name).weight
    heads = shared.unflatten(0, (kv_heads, -1)).repeat_interleave(attention.num_heads // kv_heads, 0)  # (h, d, d_model)
    getattr(new, name).weight.copy_(heads.flatten(0, 1))
    return new


@torch.no_grad()
def silent(attention):
    """The layer with values that are zero: nothing comes back from any token."""
    attention.W_V.weight.zero_()
    return attention


def turned(attention, generator):
    """The same layer with each head in a random basis: of its keys any that rotary positions allow, of its values any.
    """
    h, d = attention.num_heads, attention.d_k
    keys = in_planes(-2 * torch.pi * torch.rand(h, d // 2, generator=generator))
    values = torch.linalg.qr(torch.randn(h, d, d, generator=generator))[0]       # (h, d_v, d_v)
    return turn_heads(attention, keys, values)


def aligned(attention, kv_heads, root):
    """The same layer with each head in the basis in which it is nearest to the others of its group: of its keys by a
    phase in each plane that rotary positions turn, of its values by any turn (Procrustes analysis, head by head).

    root: (d_model, d_model). Nearest are matrices times this; a root of the inputs' second moments for nearest outputs.
    """
    h, d = attention.num_heads, attention.d_k
    keys, values = ((W.weight.detach().double() @ root).unflatten(0, (h, d)) for W in (attention.W_K, attention.W_V))
    planes = torch.complex(keys[:, 0::2], keys[:, 1::2])                         # (h, d_k / 2, d_model)
    phases, turns = torch.zeros(h, d // 2).double(), torch.eye(d).double().repeat(h, 1, 1)
    for i in ROUNDS * list(range(h)):
        others = [j for j in range(h) if j != i and j * kv_heads // h == i * kv_heads // h]
        there = (torch.exp(1j * phases[others])[..., None] * planes[others]).sum(0)
        phases[i] = (there * planes[i].conj()).sum(-1).angle()
        left, _, right = torch.linalg.svd(values[i] @ (turns[others].mT @ values[others]).sum(0).T)
        turns[i] = left @ right
    return turn_heads(attention, in_planes(phases).float(), turns.float())


def in_planes(angles):
    """(h, d, d), what turns each of d / 2 planes by its angle (h, d / 2): k R is k, turned."""
    pairs = torch.stack([angles.cos(), angles.sin(), -angles.sin(), angles.cos()], -1).unflatten(-1, (2, 2))
    return torch.stack([torch.block_diag(*head) for head in pairs])


# --- A little training ----------------------------------------------------------------------------------------------

def trained(model, lessons, ids, seed):
    """(STEPS, N), the loss after some steps of Adam on all parameters. seed: of the order of the lessons."""
    order = torch.randperm(len(lessons), generator=torch.Generator().manual_seed(seed))
    optimiser, found = torch.optim.Adam(model.parameters(), lr=RATE), []
    warm_up = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1, (step + 1) / WARM_UP))
    for step, some in enumerate(lessons[order].split(BATCH)[:STEPS[-1]], start=1):
        optimiser.zero_grad()
        model.losses(some).mean().backward()
        optimiser.step()
        warm_up.step()
        if step in STEPS:
            found.append(loss(model, ids))
    return torch.stack(found)


# --- The parts ------------------------------------------------------------------------------------------------------

class Told:
    """The model, and the stories of its own on which all losses are."""

    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model, tokenizer
        self.ids = generate_stories(model, tokenizer, MEASURED, seed=0)

    def lessons(self):
        """Other stories, to learn from."""
        return generate_stories(self.model, self.tokenizer, LEARNED, seed=1)

    @cache
    def roots(self):
        """(layers, d_model, d_model), a root of the second moments of what each attention reads in other stories."""
        read = [[] for _ in self.model.layers]
        hooks = [layer.attention.register_forward_pre_hook(lambda _, given, to=to: to.append(given[0].flatten(0, 1)))
                 for layer, to in zip(self.model.layers, read)]
        loss(self.model, generate_stories(self.model, self.tokenizer, MEASURED, seed=2))
        for hook in hooks:
            hook.remove()
        values, vectors = torch.linalg.eigh(torch.stack([x.mT @ x / len(x) for x in (torch.cat(xs).double()
                                                                                     for xs in read)]))
        return vectors * values.clamp(min=0).sqrt()[:, None] @ vectors.mT

    def aligned(self, kv_heads, by_outputs):
        """A copy of the model with the heads of each group aligned; nothing is shared yet."""
        new = copy.deepcopy(self.model)
        plain = torch.eye(new.layers[0].attention.d_model).double().expand(len(new.layers), -1, -1)
        for layer, root in zip(new.layers, self.roots() if by_outputs else plain):
            layer.attention = aligned(layer.attention, kv_heads, root)
        return new

    def losses(self, change, only=None):
        """(N,), with change(attention) in the place of each attention, or of one."""
        return loss(changed(self.model, change, only), self.ids)

    def each(self, kind, draw=0):
        """(KV_HEADS, N), with keys and values shared in all layers."""
        return torch.stack([loss(pooled(self.model, kind, kv_heads, draw), self.ids) for kv_heads in KV_HEADS])


def whole(found):
    """The stories, and the model as it is and without attention."""
    return {"stories": found.ids.to(torch.int16), "whole": loss(found.model, found.ids), "none": found.losses(silent)}


def shared(found):
    """All layers share, and nothing is trained."""
    losses = {kind: found.each(kind) for kind in ("mean", "first")}
    losses |= {kind: torch.stack([found.each(kind, draw) for draw in range(DRAWS)], 1) for kind in ("random", "turned")}
    unshared = [loss(pooled(found.model, "turned", 6, draw), found.ids) for draw in range(DRAWS)]
    return losses | {"turned_whole": torch.stack(unshared)}


def aligned_first(found):
    """Each group's heads are aligned, then all layers share: by the matrices, and by what comes out of them."""
    fields = {"aligned": [], "aligned_whole": []}
    for kv_heads in KV_HEADS:
        by = [found.aligned(kv_heads, by_outputs) for by_outputs in (False, True)]
        shared = [changed(one, lambda attention: share_heads(attention, kv_heads)) for one in by]
        fields["aligned"].append([loss(one, found.ids) for one in shared])
        fields["aligned_whole"].append(loss(by[1], found.ids))
    aligned = torch.stack([torch.stack(losses) for losses in fields["aligned"]], 1)
    return {"aligned": aligned, "aligned_whole": torch.stack(fields["aligned_whole"])}


def halves(found):
    """Keys are shared in all layers and values are not, or the other way round."""
    return {field: torch.stack([found.losses(lambda one: alone(one, kv_heads, name)) for kv_heads in KV_HEADS])
            for field, name in (("keys", "W_K"), ("values", "W_V"))}


def layers(found):
    """One layer shares."""
    return {"layers": torch.stack([
        torch.stack([found.losses(lambda one: share_heads(one, kv_heads), only=layer) for kv_heads in KV_HEADS])
        for layer in range(len(found.model.layers))])}


def matrices(found):
    """How much of the matrices themselves a mean loses."""
    every = [layer.attention for layer in found.model.layers]
    return {"lost": torch.tensor([[[lost_of(one, name, kv_heads) for one in every] for kv_heads in KV_HEADS]
                                  for name in ("W_K", "W_V")])}


@torch.no_grad()
def lost_of(attention, name, kv_heads):
    """The share of a matrix's sum of squares that the mean does not keep."""
    W = getattr(attention, name).weight
    return (W - getattr(alone(attention, kv_heads, name), name).weight).square().sum() / W.square().sum()


def learned(found):
    """All layers share, and a little is trained."""
    losses, lessons = torch.empty(len(TRAINED), DRAWS, len(STEPS), MEASURED), found.lessons()
    for seed in range(DRAWS):
        for number, (kind, kv_heads) in enumerate(TRAINED):
            losses[number, seed] = trained(pooled(found.model, kind, kv_heads, seed), lessons, found.ids, seed)
            print(f"{kind} {kv_heads}, seed {seed}: {losses[number, seed].mean(-1).tolist()}", flush=True)
    return {"trained": losses}


PARTS = {"whole": whole, "shared": shared, "aligned": aligned_first, "halves": halves, "layers": layers,
         "matrices": matrices, "learned": learned}


def main(part=None):
    found, kept = Told(*stories.load()), {}
    if part is not None:
        with np.load(POOLED) as stored:
            kept = dict(stored)
    for name in PARTS if part is None else [part]:
        for field, losses in PARTS[name](found).items():
            if field != "stories":
                print(field, losses.mean(-1).tolist(), flush=True)
            kept[field] = losses.numpy()
        keep(POOLED, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
