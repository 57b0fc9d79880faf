"""Scores of heads, each beside what a head would have that looks evenly at all that it may see.

Maps are weights (layers, h, n, n). An even head has the same maps as every other of its layer, (layers, n, n), and is
measured by the same functions.
"""
import torch
from torch import Tensor

from mha.lab.measure import at_offset

FURTHEST = 12        # the largest offset that is told
TESTED = 64          # tokens of a text that a model reads twice
SHUFFLES = 4


def even(weights: Tensor) -> Tensor:
    """The maps of a head that gives the same weight to every key that its layer's mask leaves.

    A key is hidden from a query where no head of the layer gives any weight to a key so far away; a weight alone may be
    so small that it is stored as 0.

    Args:
        weights: (layers, h, n, n).
    Returns:
        (layers, n, n), float64.
    """
    seen = (weights > 0).any(1).double()  # (layers, n, n)
    for offset in range(1 - seen.shape[-1], seen.shape[-1]):
        same = seen.diagonal(offset, -2, -1)
        same.copy_(same.amax(-1, keepdim=True).expand_as(same).clone())
    return seen / seen.sum(-1, keepdim=True)


def first(weights: Tensor) -> Tensor:
    """The mean weight on the first token, of the queries after it: (..., n, n) -> (...)."""
    return weights[..., 1:, 0].mean(-1)


def simple(weights: Tensor) -> dict[str, Tensor]:
    """The scores that one map decides: name -> (...), from 0 to 1."""
    return {"previous": at_offset(weights, -1), "first": first(weights), "itself": at_offset(weights, 0)}


def offsets(weights: Tensor, causal: bool) -> tuple[list[int], Tensor]:
    """The mean weight by offset: (..., n, n) -> offsets, (..., number of them)."""
    most = min(FURTHEST, weights.shape[-1] - 1)
    asked = list(range(-most, 1 if causal else most + 1))
    return asked, torch.stack([at_offset(weights, k) for k in asked], -1)


def twice(ids: list[int], limit: int | None = None) -> tuple[list[int], list[int]]:
    """What is read twice to find induction heads: the first token, which stays in front, and the tokens behind it."""
    most = TESTED if limit is None else min(TESTED, (limit - 1) // 2)
    return ids[:1], ids[1:most + 1]


def induction(reader, ids: list[int], limit: int | None = None, seed: int = 0) -> tuple[Tensor, Tensor] | None:
    """How much each head gives, in the second copy of a text, to the token behind the same one in the first.

    The baseline is the weight on the very same position where the first copy is shuffled, so that another token stands
    before it: what a head has that goes by position.

    Args:
        reader: a `Reader` of a decoder.
        ids: the text's tokens.
        limit: number of positions that the model has.
        seed: of the shuffles.
    Returns:
        score, baseline: (layers, h), the baseline as the mean of four shuffles. None where fewer than four tokens can
        be read twice.
    Source:
        Olsson et al. 2022, "prefix matching score", there on random tokens.
    """
    start, text = twice(ids, limit)
    if len(text) < 4:
        return None
    generator, own = torch.Generator().manual_seed(seed), torch.tensor(text)
    score = _behind(reader, start, own, own, torch.ones(len(own), dtype=torch.bool))
    found = []
    for _ in range(SHUFFLES):
        shuffled = own[torch.randperm(len(own), generator=generator)]
        if (other := shuffled != own).any():
            found.append(_behind(reader, start, shuffled, own, other))
    return score, torch.stack(found).mean(0) if found else score


def _behind(reader, start, one, two, rows) -> Tensor:
    """The mean weight from token k of the second copy to what stands behind place k of the first: (layers, h)."""
    n = len(two)
    weights = reader.weights(torch.cat([torch.tensor(start, dtype=torch.long), one, two])[None])[:, 0]
    begin = len(start) + n
    return weights[..., begin:, len(start) + 1:].diagonal(0, -2, -1)[..., :n][..., rows].mean(-1)


def removals(reader, ids: list[int], top: int = 8, own: int = 3) -> dict:
    """What each head does to what the model says, taken off alone, beside those that are off already.

    Args:
        reader: a `Reader`.
        ids: the text's n tokens.
        top: how many of the likeliest next tokens are told of the whole model; `own`: of each head's absence.
    Returns:
        change: of a decoder (layers, h, n - 1), by how much each token of the text gets less likely, in nats; of an
            encoder (layers, h, n), 1 - the cosine between a token's output vectors without and with the head.
        whole: of a decoder, [(next token, probability), ...] of the whole model.
        without: of a decoder, for each head the same, of those tokens and of its own likeliest.
    """
    text, heads = torch.tensor([ids]), reader.base.numel()
    whole = reader(text)[0]                                                      # (n, vocabulary or d_model)
    if whole.isnan().any():
        raise ValueError("the model's output is NaN on this text, so nothing can be said of its heads' absence; "
                         "switches=False draws their maps")
    copies = max(1, min(32, 2**26 // whole.numel()))
    factors = reader.base.repeat(heads, 1, 1)                                    # (heads, layers, h)
    factors.flatten(1)[range(heads), range(heads)] = 0
    told, logs = [], whole.log_softmax(-1) if reader.writes else None
    likeliest = logs[-1].topk(min(top, logs.shape[-1])).indices.tolist() if reader.writes else []
    change = []
    for some in factors.split(copies):
        out = reader(text.expand(len(some), -1), some)                           # (copies, n, ...)
        if not reader.writes:
            change.append(1 - torch.cosine_similarity(out, whole[None], dim=-1))
            continue
        out = out.log_softmax(-1)
        real = text[:, 1:, None].to(out.device).expand(len(out), -1, -1)
        change.append((logs[None, :-1].expand_as(out[:, :-1]).gather(-1, real) - out[:, :-1].gather(-1, real))[..., 0])
        for one in out[:, -1].exp():
            asked = list(dict.fromkeys([*likeliest, *one.topk(min(own, len(one))).indices.tolist()]))
            told.append(list(zip(asked, one[asked].tolist())))
    return {"change": torch.cat(change).unflatten(0, reader.shape).cpu(),
            "whole": [(token, float(logs[-1, token].exp())) for token in likeliest], "without": told}
