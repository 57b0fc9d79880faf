"""Make pruning.npz: `python -m tools.make_pruning [FOLDER [PART]]` switches heads of all-MiniLM-L6-v2 off, in many
ways, and keeps what that costs.

FOLDER as in make_real_heads. PART is one of PARTS, to make that part again and keep what is stored of the others. All
of them take up to two hours on one core.
"""
import copy
import sys
from contextlib import contextmanager

import numpy as np
import torch

from mha import masks
from mha.lab import measure, real, sentences
from mha.lab.assets import PRUNING, RANDOM_ORDERS, pruning
from mha.lab.assets.removal import CHANCES, MEAN_ORDERS, SCALES
from tools.kept import keep
from tools.make_real_heads import retrieval

LAYERS, HEADS = 6, 12


class Sentences:
    """The 60 triples of `mha.lab.sentences.paraphrases`, tokenised once."""

    def __init__(self, model):
        self.model = model
        texts = [text for triple in sentences.paraphrases() for text in triple]
        self.ids, self.lengths, _ = model.encode(texts)
        with torch.no_grad():
            self.own = self.vectors(torch.ones(LAYERS, HEADS))

    def vectors(self, gates, chosen=slice(None)):
        """(N, d_model), sentence vectors with these factors on the heads."""
        ids, lengths = self.ids[chosen], self.lengths[chosen]
        ids = ids[:, : int(lengths.max())]
        real_tokens = torch.arange(ids.shape[1]) < lengths[:, None]
        hidden = self.model(ids, lengths, head_mask=gates) * real_tokens[..., None]
        return torch.nn.functional.normalize(hidden.sum(1) / lengths[:, None], dim=-1)

    def cosine(self, gates, chosen=slice(None)):
        """Mean cosine between the vectors and those of the whole model."""
        return (self.vectors(gates, chosen) * self.own[chosen]).sum(-1).mean()

    def matching(self, gates):
        """(60,), the matching loss of each sentence."""
        return matching(self.vectors(gates).unflatten(0, (-1, 3)))

    @torch.no_grad()
    def scores(self, gates):
        """Cosine, and what `tests` gives."""
        vectors = self.vectors(gates)
        return [(vectors * self.own).sum(-1).mean(), *tests(vectors.unflatten(0, (-1, 3)))]


def matching(triples, scale=20):
    """(60, 3, d) -> (60,), cross entropy of finding each sentence's counterpart among 60, with scores `scale` times the
    cosine (van den Oord et al. 2018, section 2.3).
    """
    first, second, _ = triples.unbind(1)
    return torch.nn.functional.cross_entropy(scale * first @ second.T, torch.arange(len(first)), reduction="none")


def tests(triples):
    """(60, 3, d) -> counterpart nearest of 60, counterpart nearer than the decoy, mean matching loss."""
    return [*retrieval(triples), matching(triples).mean()]


@torch.no_grad()
def greedy(found):
    """Heads in the order in which removing costs the least, each time measured anew, on every seventh text."""
    some, gates, order = torch.arange(0, 180, 7), torch.ones(LAYERS, HEADS), []
    while gates.any():
        costs = torch.full((LAYERS, HEADS), -1.0)
        for layer, head in gates.nonzero().tolist():
            gates[layer, head] = 0
            costs[layer, head] = found.cosine(gates, some)
            gates[layer, head] = 1
        best = int(costs.argmax())
        gates.view(-1)[best] = 0
        order.append(best)
    return torch.tensor(order)


def drawn(count, seed):
    """Random orders, and others that are random but for one rule, that the last layer goes last: (count, 72) each."""
    g, last = torch.Generator().manual_seed(seed), (LAYERS - 1) * HEADS
    chance = [torch.randperm(LAYERS * HEADS, generator=g) for _ in range(count)]
    in_place = [torch.cat([torch.randperm(last, generator=g), last + torch.randperm(HEADS, generator=g)])
                for _ in range(count)]
    return torch.stack(chance), torch.stack(in_place)


def orders(first, size, slope, removal, alone, flat, flat_double):
    """The orders in which heads go, PRUNING_ORDERS: (orders, 72). first: the greedy one."""
    chance, in_place = drawn(RANDOM_ORDERS, seed=0)
    least_first = [scores.flatten().argsort() for scores in (alone, size, slope.abs(), removal)]
    divided = size / size.norm(dim=-1, keepdim=True)
    return torch.stack([first, *least_first, alone.flatten().argsort(descending=True), *chance,
                        divided.flatten().argsort(), flat.flatten().argsort(), *in_place,
                        flat_double.flatten().argsort()])


def curve(found, order):
    """(73, 4): scores with 0, 1, ... 72 heads removed in this order."""
    gates, rows = torch.ones(LAYERS * HEADS), []
    for removed in range(LAYERS * HEADS + 1):
        gates[order[:removed]] = 0
        rows.append(found.scores(gates.view(LAYERS, HEADS)))
    return torch.tensor(rows)


@torch.no_grad()
def heads_gone(found, order, least=0.9):
    """How many heads can go in this order while the cosine is `least` or more.

    Every seventh text, in which the cosine was at most 0.02 off, says from where on all of them are run.
    """
    some, by_length = torch.arange(0, 180, 7), found.lengths.argsort().split(45)
    gates = torch.ones(LAYERS, HEADS)
    for removed, head in enumerate(order.tolist()):
        gates.view(-1)[head] = 0
        if found.cosine(gates, some) < least + 0.03:
            if sum(found.cosine(gates, texts) * len(texts) for texts in by_length) < least * len(found.lengths):
                return removed
    return len(order)


@torch.no_grad()
def subsets(found):
    """(6, 4096): the cosine on every seventh text, with any set of one layer's heads removed. Bit i of the number says
    that head i is off.
    """
    some, rows = torch.arange(0, 180, 7), []
    bits = (torch.arange(2**HEADS)[:, None] >> torch.arange(HEADS)) & 1
    model, lengths = found.model, found.lengths[some]
    ids = found.ids[some][:, : int(lengths.max())]
    mask = masks.padding(lengths, ids.shape[1])
    x, own = model.embed(ids), found.own[some]
    real_tokens = (torch.arange(ids.shape[1]) < lengths[:, None])[..., None]
    for number, layer in enumerate(model.layers):
        row = []
        for gates in 1.0 - bits.float():
            y, _ = layer(x, mask=mask, head_mask=gates)
            for later in model.layers[number + 1:]:
                y, _ = later(y, mask=mask)
            row.append((torch.nn.functional.normalize((y * real_tokens).sum(1), dim=-1) * own).sum(-1).mean())
        rows.append(torch.stack(row))
        x, _ = layer(x, mask=mask)
        print(f"layer {number}", flush=True)
    return torch.stack(rows)


def costs(found):
    """What one order, one head or one layer costs; the words are in `words`."""
    model = found.model
    slopes, rises = measure.head_effects(found.matching, LAYERS, HEADS)
    size, slope, removal = slopes.abs().mean(0), slopes.mean(0), rises.mean(0)
    flat, _, alone = measure.head_scores(lambda gates: 1 - found.cosine(gates), LAYERS, HEADS)
    wide = Sentences(copy.deepcopy(model).double())
    flat_double, *_ = measure.head_scores(lambda gates: 1 - wide.cosine(gates), LAYERS, HEADS)
    print("scores", flush=True)
    found_orders = orders(greedy(found), size, slope, removal, alone, flat, flat_double)
    print("orders", flush=True)
    curves = torch.stack([curve(found, order) for order in found_orders])
    print("curves", flush=True)
    whole_layers = torch.tensor([found.scores((torch.arange(LAYERS)[:, None] != layer).float().expand(-1, HEADS))
                                 for layer in range(LAYERS)])
    return {"size": size, "slope": slope, "removal": removal, "flat_gradient": flat,
            "flat_gradient_double": flat_double, "alone": alone, "slopes": slopes.half(), "rises": rises.half(),
            "orders": found_orders.to(torch.uint8), "curves": curves.half(), "whole_layers": whole_layers,
            "subsets": subsets(found).half()}


@torch.no_grad()
def mean_embeddings(found):
    """What `tests` gives for the means of the words' own embeddings, [CLS] and [SEP] left out."""
    means = torch.stack([found.model.embedding(ids[1 : n - 1]).mean(0) for ids, n in zip(found.ids, found.lengths)])
    scores = tests(torch.nn.functional.normalize(means, dim=-1).unflatten(0, (-1, 3)))
    return {"words": torch.tensor([float(score) for score in scores], dtype=torch.float64)}


def chance(found):
    """How many heads go in each of CHANCES other orders of either random kind."""
    gone = []
    for found_orders in drawn(50, seed=1):  # of each fifty the first CHANCES are run
        for order in found_orders[:CHANCES]:
            gone.append(heads_gone(found, order))
            print(gone[-1], end=" ", flush=True)
    return {"chance": torch.tensor(gone).view(2, CHANCES).to(torch.uint8)}


def from_layers_of(order, count, seed):
    """(count, 72), orders that take each head from the layer from which this one takes it, but which head at random."""
    g, layers, drawn = torch.Generator().manual_seed(seed), order // HEADS, []
    for _ in range(count):
        heads = torch.stack([torch.randperm(HEADS, generator=g) for _ in range(LAYERS)])
        first = torch.tensor([int((layers[:i] == layer).sum()) for i, layer in enumerate(layers)])
        drawn.append(layers * HEADS + heads[layers, first])
    return torch.stack(drawn)


@torch.no_grad()
def matched(found):
    """How many heads go at random with as many in each layer as greedy takes, and the cosine where greedy ends."""
    greedily, gone, kept = pruning().orders["greedy"][0], [], []
    most = int(pruning().curves["greedy"].heads_gone())
    for order in from_layers_of(greedily, CHANCES, seed=1):
        gates = torch.ones(LAYERS * HEADS).index_fill(0, order[:most], 0).view(LAYERS, HEADS)
        gone.append(heads_gone(found, order))
        kept.append(float(found.cosine(gates)))
        print(gone[-1], end=" ", flush=True)
    return {"matched": torch.tensor(gone).to(torch.uint8), "matched_cosine": torch.tensor(kept)}


def behind(triples, scale):
    """(60,), how far each counterpart is behind the 59 others together: the matching loss rises with it and with
    nothing else, and never rounds to 0 where it is small.
    """
    scores = scale * triples[:, 0] @ triples[:, 1].T
    others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -torch.inf)
    return others.logsumexp(-1) - scores.diagonal()


@torch.no_grad()
def scales(found):
    """Which sentences lose by each head, and what half of the heads are worth, at other scales of the loss."""
    ones = torch.ones(LAYERS, HEADS)
    def triples(gates):
        return found.vectors(gates).unflatten(0, (-1, 3)).double()
    def at_all(gates):
        vectors = triples(gates)
        return torch.stack([behind(vectors, scale) for scale in SCALES])
    def rounded(gates):
        vectors = found.vectors(gates).unflatten(0, (-1, 3))
        return torch.stack([matching(vectors, scale) for scale in SCALES])
    whole = at_all(ones)
    signs = [(at_all(1 - gone.view(LAYERS, HEADS)) - whole).sign() for gone in torch.eye(LAYERS * HEADS)]
    half = [torch.ones(LAYERS * HEADS).index_fill(0, order[:36], 0).view(LAYERS, HEADS)
            for order in drawn(RANDOM_ORDERS, seed=0)[0]]
    losses = [torch.stack([matching(triples(gates), scale).mean() for scale in SCALES]) for gates in (ones, *half)]
    without = 1 - torch.eye(LAYERS * HEADS)[[3 * HEADS + 4, HEADS]].view(2, LAYERS, HEADS)     # 3.4, 1.0
    in_float32 = torch.stack([(rounded(gates) - rounded(ones)).sign() for gates in without], -1)
    signs = torch.stack(signs, -1).unflatten(-1, (LAYERS, HEADS))
    return {"rounded_at": in_float32.to(torch.int8), "signs_at": signs.to(torch.int8),
            "half_at": torch.stack(losses).float()}


class Means(Sentences):
    """A head that is off gives its mean over all tokens of these texts, in the place of 0."""

    def __init__(self, model):
        super().__init__(model)
        seen, real_tokens = [], torch.arange(self.ids.shape[1]) < self.lengths[:, None]
        hooks = [layer.attention.W_O.register_forward_pre_hook(lambda _, given: seen.append(given[0][real_tokens]))
                 for layer in model.layers]
        with torch.no_grad():
            self.vectors(torch.ones(LAYERS, HEADS))
        for hook in hooks:
            hook.remove()
        self.means = torch.stack(seen).mean(1)                                     # (6, d_model), head beside head

    @contextmanager
    def in_place(self, gates):
        """What heads that are off still give is a part of the bias of W_O."""
        kept = [layer.attention.W_O.bias.clone() for layer in self.model.layers]
        for layer, mean, on in zip(self.model.layers, self.means, gates):
            W_O = layer.attention.W_O
            W_O.bias += W_O.weight @ (mean.unflatten(0, (HEADS, -1)) * (1 - on)[:, None]).flatten()
        yield
        for layer, bias in zip(self.model.layers, kept):
            layer.attention.W_O.bias.copy_(bias)

    def vectors(self, gates, chosen=slice(None)):
        if not hasattr(self, "means"):
            return super().vectors(gates, chosen)
        with self.in_place(gates):
            return super().vectors(gates, chosen)


@torch.no_grad()
def means(found):
    """The costs of single heads, what no heads get, and how many heads go at random, with means in place of 0."""
    found = Means(found.model)
    alone = torch.stack([1 - found.cosine(1 - gone.view(LAYERS, HEADS)) for gone in torch.eye(LAYERS * HEADS)])
    print("alone", flush=True)
    none = torch.tensor([float(score) for score in found.scores(torch.zeros(LAYERS, HEADS))])
    gone = [heads_gone(found, order) for each in drawn(50, seed=1) for order in each[:MEAN_ORDERS]]
    return {"mean_alone": alone.view(LAYERS, HEADS), "mean_none": none,
            "mean_chance": torch.tensor(gone).view(2, MEAN_ORDERS).to(torch.uint8)}


PARTS = {"costs": costs, "words": mean_embeddings, "chance": chance, "scales": scales, "means": means,
         "matched": matched}


def main(folder=None, part=None):
    found = Sentences(real.load("minilm", folder=folder, device="cpu"))
    kept = {}
    if part is not None:
        with np.load(PRUNING) as stored:
            kept = dict(stored)
    for name in PARTS if part is None else [part]:
        kept |= {array: values.numpy() for array, values in PARTS[name](found).items()}
    keep(PRUNING, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
