"""What to measure on attention maps, and what to compare it with.

Maps are weights (..., n, m), rows = queries. A score of a head means nothing alone: beside each stands what a rule
without a head would get (`best_offset`), what luck would give (`luckiest`), or a model that was never trained.
"""
import math
from collections import Counter

import torch
from torch import Tensor

from mha.multihead import split_heads


def entropy(weights: Tensor) -> Tensor:
    """Entropy of each row, in nats: (..., n, m) -> (..., n). 0: all on one key; ln m: all alike."""
    return torch.special.entr(weights).sum(-1)


def at_offset(weights: Tensor, offset: int) -> Tensor:
    """Mean weight on the token `offset` places to the right of the query (negative: left): (..., n, n) -> (...).

    Queries that have no such token are left out. -1 is the score of a previous-token head, 0 what tokens give
    themselves.
    Raises
        ValueError: the offset leaves no token.
    """
    n = weights.shape[-1]
    if abs(offset) >= n:
        raise ValueError(f"offset={offset} leaves no token of {n}")
    return weights.diagonal(offset, -2, -1).mean(-1)


def of_words(weights: Tensor, words: list[int | None]) -> Tensor:
    """Maps between tokens -> maps between words, as Clark et al. 2019, section 4.1: pieces of an asked word are added
    up, pieces of an asking word averaged.

    Args
        weights: (..., n, n). words: for each token the number of its word, None for special tokens and padding, which
            are dropped.
    Returns
        (..., w, w). Rows sum to less than 1 by what goes to the dropped tokens.
    """
    count = 1 + max(word for word in words if word is not None)
    member = torch.zeros(len(words), count, dtype=weights.dtype)
    for token, word in enumerate(words):
        if word is not None:
            member[token, word] = 1
    return (member / member.sum(0)).mT @ weights @ member


def choices(maps: list[Tensor], queries: list[tuple[int, int]], among: list[list[int]] | None = None) -> Tensor:
    """Which word each head looks at most.

    Args
        maps: of each sentence, (heads, w, w). queries: (sentence, word) pairs, N of them.
        among: for each query the words to choose from; by default all words but the asking one.
    Returns
        (heads, N), numbers of words.
    """
    picked = []
    for number, (sentence, word) in enumerate(queries):
        row = maps[sentence][:, word]                                        # (heads, w)
        allowed = among[number] if among else [other for other in range(row.shape[-1]) if other != word]
        picked.append(torch.tensor(allowed)[row[:, allowed].argmax(-1)])
    return torch.stack(picked, -1)


def best_offset(answers: dict[tuple[int, int], set[int]]) -> tuple[int, float]:
    """The rule "always look k words to the right" that is right most often.

    Args
        answers: (sentence, asking word) -> the words that count as right.
    Returns
        k (negative: to the left), and the share of asking words for which it is right.
    """
    hits = Counter(answer - word for (_, word), right in answers.items() for answer in right)
    k, count = max(sorted(hits.items()), key=lambda item: item[1])
    return k, count / len(answers)


def luckiest(heads: int, questions: int, chance: float = 0.5, quantile: float = 0.95) -> float:
    """How much the best of so many heads gets right by luck alone: the quantile of the largest of `heads` binomial
    shares.
    """
    below = 0.0
    for right in range(questions + 1):
        below += math.comb(questions, right) * chance**right * (1 - chance) ** (questions - right)
        if below**heads >= quantile:
            return right / questions
    return 1.0


def held_out(right: Tensor, groups: Tensor, splits: int = 200, seed: int = 0) -> Tensor:
    """Pick the best head on one half of the groups, score it on the questions of the other half; heads that tie share.

    Args
        right: (heads, N), whether each head is right on each question. groups: (N,), what must not be torn apart, such
            as the number of each question's sentence. splits: random halves; seed: of them.
    Returns
        (splits,), the share of the other half that is right.
    Raises
        ValueError: fewer than two groups.
    """
    names, g, right, scores = groups.unique(), torch.Generator().manual_seed(seed), right.double(), []
    if len(names) < 2:
        raise ValueError(f"two halves need at least two groups, got {len(names)}")
    for _ in range(splits):
        first = torch.isin(groups, names[torch.randperm(len(names), generator=g)[: len(names) // 2]])
        shares = right[:, first].mean(-1)
        scores.append(right[:, ~first].mean(-1)[shares == shares.max()].mean())
    return torch.stack(scores)


def leads(right: Tensor, rules: Tensor, groups: Tensor, draws: int = 1000, seed: int = 0) -> Tensor:
    """By how much the best head leads the best rule, both chosen on groups that are drawn anew and scored on those that
    were not drawn.

    The groups are drawn with replacement, as many as there are (the bootstrap of Efron 1979); about a third is left out
    each time.

    Args
        right: (heads, N), whether each head is right on each question. rules: (K, N), the same for rules without a
            head. groups: (N,), the group of each question.
    Returns
        (draws,), sorted: 95 % lie from the 26th of 1000 to the 975th. Somewhat too wide, since the score is taken on
        few groups.
    Raises
        ValueError: fewer than two groups.
    """
    names, group = groups.unique(return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"to leave groups out there must be at least two, got {len(names)}")
    g, found = torch.Generator().manual_seed(seed), []
    right, rules = right.double(), rules.double()
    while len(found) < draws:
        # (N,), how often each was drawn
        times = torch.randint(len(names), (len(names),), generator=g).bincount(minlength=len(names))[group].double()
        left = (times == 0).double()
        if left.any():
            head, rule = (each[(each @ times).argmax()] for each in (right, rules))
            found.append(((head - rule) @ left) / left.sum())
    return torch.stack(found).sort().values


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """Jensen-Shannon divergence of rows, in nats, from 0 to ln 2: (..., m), (..., m) -> (...)."""
    middle = (p + q) / 2
    return entropy(middle) - (entropy(p) + entropy(q)) / 2


def redundancy(maps: Tensor) -> Tensor:
    """How unlike heads are: (h, n, m) -> (h, h), the mean over rows of the divergence between two heads' rows. 0: the
    same map.
    """
    return divergence(maps[:, None], maps[None]).mean(-1)


def rank_correlation(a: Tensor, b: Tensor) -> Tensor:
    """Spearman's, along the last axis: (..., m), (..., m) -> (...). 1: the same order. Ties, if any, keep the order in
    which they stand.
    """
    a, b = (ranks - ranks.mean(-1, keepdim=True) for ranks in (each.argsort(-1).argsort(-1).double()
                                                               for each in (a, b)))
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))


def carried(weights: Tensor, x: Tensor, attention) -> Tensor:
    """How long the vector is that each token hands to each other: |w_ij (v_j W_O)|
    (Kobayashi et al. 2020, section 3.2).

    Args
        weights: (B, h, n, n). x: (B, n, d_model), what the heads read. attention: the `MultiHeadAttention` of that
            layer.
    Returns
        (B, h, n, n), lengths.
    """
    V = split_heads(attention.W_V(x), attention.num_heads)                   # (B, h, n, d_v)
    W_O = attention.W_O.weight.T.unflatten(0, (attention.num_heads, attention.d_v))       # (h, d_v, d_out)
    return weights * (V @ W_O).norm(dim=-1)[..., None, :]


def asymmetry(A: Tensor) -> Tensor:
    """|A - A^T| / |A + A^T|: 0 for a symmetric matrix, 1 for a random one, no bound above: (..., d, d) -> (...)."""
    return (A - A.mT).norm(dim=(-2, -1)) / (A + A.mT).norm(dim=(-2, -1))


def head_effects(loss, layers: int, heads: int) -> tuple[Tensor, Tensor]:
    """What each head does to the loss of each example: by its slope and by removal, one run for each head.

    The slopes take a backward pass for each example, since any loss is allowed. Where an example's loss looks at that
    example alone, gates (B, h) of `MultiHeadAttention` and one pass give the same.

    Args
        loss: function of head_mask (layers, h), a factor for each head's output, -> (N,), the loss of each example, or
            one number; it can be differentiated.
    Returns
        slopes (N, layers, h), d loss / d factor where all heads are on: negative where more of the head makes the loss
        smaller; rises (N, layers, h), how much the loss rises when that head alone is switched off.
    """
    gates = torch.ones(layers, heads, requires_grad=True)
    each = loss(gates).reshape(-1)
    slopes = torch.stack([torch.autograd.grad(one, gates, retain_graph=True)[0] for one in each])
    rises = torch.empty(len(each), layers, heads)
    with torch.no_grad():
        for layer, head in torch.cartesian_prod(torch.arange(layers), torch.arange(heads)).tolist():
            gates = torch.ones(layers, heads)
            gates[layer, head] = 0
            rises[:, layer, head] = loss(gates).reshape(-1) - each
    return slopes, rises


def head_scores(loss, layers: int, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Three scores of how much a loss needs each head.

    Args
        loss: as in `head_effects`.
    Returns
        size (layers, h), the mean over examples of |d loss / d factor| where all heads are on. To compare heads of
        different layers, Michel et al. 2019, section 4.1, also divide it by its norm within each layer
        (after Molchanov et al. 2017), which is not done here; slope (layers, h), the derivative of the mean loss, with
        its sign: negative where more of the head makes the loss smaller; removal (layers, h), the rise of the mean loss
        when that head alone is switched off.
    """
    slopes, rises = head_effects(loss, layers, heads)
    return slopes.abs().mean(0), slopes.mean(0), rises.mean(0)
