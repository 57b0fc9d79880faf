"""Make pruning.npz: `python -m tools.make_pruning [FOLDER]` switches heads of all-MiniLM-L6-v2 off, in many ways,
and keeps what that costs.

FOLDER as in make_real_heads. Takes up to an hour on one core.
"""
import sys

import numpy as np
import torch

from mha import masks, measure, real, sentences
from mha.assets import PRUNING, PRUNING_ORDERS, RANDOM_ORDERS
from tools.make_real_heads import retrieval

LAYERS, HEADS = 6, 12


class Sentences:
    """The 60 triples of `mha.sentences.paraphrases`, tokenised once."""

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


def matching(triples):
    """(60, 3, d) -> (60,), cross entropy of finding each sentence's counterpart among 60, with scores 20 times the
    cosine (van den Oord et al. 2018, section 2.3).
    """
    first, second, _ = triples.unbind(1)
    return torch.nn.functional.cross_entropy(20 * first @ second.T, torch.arange(len(first)), reduction="none")


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


def orders(first, size, slope, removal, alone, flat):
    """The orders in which heads go, PRUNING_ORDERS: (orders, 72). first: the greedy one."""
    g, last = torch.Generator().manual_seed(0), (LAYERS - 1) * HEADS
    chance = [torch.randperm(LAYERS * HEADS, generator=g) for _ in range(RANDOM_ORDERS)]
    in_place = [torch.cat([torch.randperm(last, generator=g), last + torch.randperm(HEADS, generator=g)])
                for _ in range(RANDOM_ORDERS)]
    least_first = [scores.flatten().argsort() for scores in (alone, size, slope.abs(), removal)]
    divided = size / size.norm(dim=-1, keepdim=True)
    return torch.stack([first, *least_first, alone.flatten().argsort(descending=True), *chance,
                        divided.flatten().argsort(), flat.flatten().argsort(), *in_place])


def curve(found, order):
    """(73, 4): scores with 0, 1, ... 72 heads removed in this order."""
    gates, rows = torch.ones(LAYERS * HEADS), []
    for removed in range(LAYERS * HEADS + 1):
        gates[order[:removed]] = 0
        rows.append(found.scores(gates.view(LAYERS, HEADS)))
    return torch.tensor(rows)


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


def main(folder=None):
    model = real.load("minilm", folder=folder, device="cpu")
    found = Sentences(model)
    slopes, rises = measure.head_effects(found.matching, LAYERS, HEADS)
    size, slope, removal = slopes.abs().mean(0), slopes.mean(0), rises.mean(0)
    flat, _, alone = measure.head_scores(lambda gates: 1 - found.cosine(gates), LAYERS, HEADS)
    wide = Sentences(real.load("minilm", folder=folder, device="cpu").double())
    flat_double, *_ = measure.head_scores(lambda gates: 1 - wide.cosine(gates), LAYERS, HEADS)
    print("scores", flush=True)
    found_orders = orders(greedy(found), size, slope, removal, alone, flat)
    print("orders", flush=True)
    curves = torch.stack([curve(found, order) for order in found_orders])
    print("curves", flush=True)
    whole_layers = torch.tensor([found.scores((torch.arange(LAYERS)[:, None] != layer).float().expand(-1, HEADS))
                                 for layer in range(LAYERS)])
    words = torch.nn.functional.normalize(torch.stack([model.embedding(ids[1 : n - 1]).mean(0)
                                                       for ids, n in zip(found.ids, found.lengths)]), dim=-1)
    np.savez_compressed(PRUNING, size=size.numpy(), slope=slope.numpy(), removal=removal.numpy(),
                        flat_gradient=flat.numpy(), flat_gradient_double=flat_double.numpy(),
                        alone=alone.numpy(), slopes=slopes.half().numpy(), rises=rises.half().numpy(),
                        orders=found_orders.to(torch.uint8).numpy(), curves=curves.half().numpy(),
                        whole_layers=whole_layers.numpy(),
                        words=np.array([float(s) for s in tests(words.detach().unflatten(0, (-1, 3)))]),
                        subsets=subsets(found).half().numpy())
    print(f"{PRUNING.name}: {PRUNING.stat().st_size:,} bytes; {', '.join(PRUNING_ORDERS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
