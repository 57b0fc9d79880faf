"""What to measure on attention maps, and what to compare it with.

Maps are weights (..., n, m), rows = queries. The score of a head means nothing by itself. So we put beside it what a
rule without a head would get (`best_offset`), what luck would give (`luckiest`), or a model that was never trained.
"""
import math
from collections import Counter

import torch
from torch import Tensor, nn

from mha import _check as check
from mha.multihead import MultiHeadAttention, split_heads


def entropy(weights: Tensor) -> Tensor:
    """The entropy of each row, in nats: (..., n, m) -> (..., n).

    It is 0 where one key has all the weight, and ln m where all keys have the same.
    """
    return torch.special.entr(weights).sum(-1)


def at_offset(weights: Tensor, offset: int) -> Tensor:
    """The mean weight on the token that stands `offset` places from the query.

    Queries that have no such token are left out.

    Args:
        weights: (..., n, n).
        offset: places to the right; negative ones count to the left. -1 gives the score of a previous-token head, and
            0 what tokens give themselves.
    Returns:
        (...), from 0 to 1.
    Raises:
        ValueError: the offset leaves no token; or queries that are not the keys' own tokens, n of m.
    """
    check.maps(weights, square=True)
    n = weights.shape[-1]
    if abs(offset) >= n:
        raise ValueError(f"offset={offset} leaves no token of {n}")
    return weights.diagonal(offset, -2, -1).mean(-1)


def of_words(weights: Tensor, words: list[int | None]) -> Tensor:
    """Turn maps between tokens into maps between words.

    The weights on the pieces of an asked word are added up; the rows of the pieces of an asking word are averaged.

    Args:
        weights: (..., n, n).
        words: for each token the number of its word; None for special tokens and padding, which are dropped.
    Returns:
        (..., w, w). A row sums to 1 less what goes to the dropped tokens.
    Source:
        Clark et al. 2019, section 4.1.
    """
    count = 1 + max(word for word in words if word is not None)
    member = torch.zeros(len(words), count, dtype=weights.dtype)
    for token, word in enumerate(words):
        if word is not None:
            member[token, word] = 1
    return (member / member.sum(0)).mT @ weights @ member


def choices(maps: list[Tensor], queries: list[tuple[int, int]], among: list[list[int]] | None = None) -> Tensor:
    """The word at which each head looks most.

    Args:
        maps: of each sentence, (heads, w, w).
        queries: N pairs (sentence, word).
        among: for each query the words to choose from; by default all words but the asking one.
    Returns:
        (heads, N), numbers of words.
    """
    picked = []
    for number, (sentence, word) in enumerate(queries):
        row = maps[sentence][:, word]  # (heads, w)
        allowed = among[number] if among else [other for other in range(row.shape[-1]) if other != word]
        picked.append(torch.tensor(allowed)[row[:, allowed].argmax(-1)])
    return torch.stack(picked, -1)


def best_offset(answers: dict[tuple[int, int], set[int]]) -> tuple[int, float]:
    """The rule "always look k words to the right" that is right most often.

    Args:
        answers: (sentence, asking word) -> the words that count as right.
    Returns:
        k (negative: to the left), and the share of asking words for which it is right.
    """
    hits = Counter(answer - word for (_, word), right in answers.items() for answer in right)
    k, count = max(sorted(hits.items()), key=lambda item: item[1])
    return k, count / len(answers)


def luckiest(heads: int, questions: int, chance: float = 0.5, quantile: float = 0.95) -> float:
    """How much the best of many heads gets right by luck alone.

    Args:
        heads: number of heads, each of which guesses.
        questions: number of questions that each answers.
        chance: of a guess to be right, from 0 to 1.
        quantile: with this probability, from 0 to 1, no head is better than what is returned.
    Returns:
        A share of the questions, from 0 to 1: the quantile of the largest of `heads` binomial shares.
    """
    below = 0.0
    for right in range(questions + 1):
        below += math.comb(questions, right) * chance**right * (1 - chance) ** (questions - right)
        if below**heads >= quantile:
            return right / questions
    return 1.0


def held_out(right: Tensor, groups: Tensor, splits: int = 200, seed: int = 0) -> Tensor:
    """Pick the best head on one half of the groups, and score it on the questions of the other half.

    Where several heads are best on the first half, their scores on the second are averaged.

    Args:
        right: (heads, N), whether each head is right on each question.
        groups: (N,), what must not be torn apart, such as the number of each question's sentence.
        splits: how many times the groups are halved at random.
        seed: of the halves.
    Returns:
        (splits,), the share of the other half that is right.
    Raises:
        ValueError: fewer than two groups.
    """
    names, right = groups.unique(), right.double()
    if len(names) < 2:
        raise ValueError(f"two halves need at least two groups, got {len(names)}")
    g, scores = torch.Generator().manual_seed(seed), []
    for _ in range(splits):
        first = torch.isin(groups, names[torch.randperm(len(names), generator=g)[: len(names) // 2]])
        shares = right[:, first].mean(-1)
        scores.append(right[:, ~first].mean(-1)[shares == shares.max()].mean())
    return torch.stack(scores)


def leads(right: Tensor, rules: Tensor, groups: Tensor, draws: int = 1000, seed: int = 0) -> Tensor:
    """By how much the best head leads the best rule on questions that neither was chosen on.

    As many groups as there are get drawn, with replacement, so that about a third is left out each time. The best head
    and the best rule are chosen on the groups that were drawn, and scored on those that were not.

    Args:
        right: (heads, N), whether each head is right on each question.
        rules: (K, N), the same for rules without a head.
        groups: (N,), the group of each question.
        draws: how many times the groups are drawn.
        seed: of the draws.
    Returns:
        (draws,), sorted, so that 95 % of 1000 lie from the 26th to the 975th. That interval is somewhat too wide,
        since each score is taken on few groups.
    Raises:
        ValueError: fewer than two groups.
    Source:
        The bootstrap of Efron 1979.
    """
    names, group = groups.unique(return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"to leave groups out there must be at least two, got {len(names)}")
    g, found = torch.Generator().manual_seed(seed), []
    right, rules = right.double(), rules.double()
    while len(found) < draws:
        drawn = torch.randint(len(names), (len(names),), generator=g).bincount(minlength=len(names))
        times = drawn[group].double()  # (N,): how often the group of each question was drawn
        left = (times == 0).double()
        if left.any():
            head, rule = (each[(each @ times).argmax()] for each in (right, rules))
            found.append(((head - rule) @ left) / left.sum())
    return torch.stack(found).sort().values


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """The Jensen-Shannon divergence of two rows, in nats: (..., m), (..., m) -> (...), from 0 to ln 2."""
    middle = (p + q) / 2
    return entropy(middle) - (entropy(p) + entropy(q)) / 2


def redundancy(maps: Tensor) -> Tensor:
    """How unlike the maps of two heads are, for each pair: (h, n, m) -> (h, h).

    It is the mean over rows of the divergence between the two heads' rows, and 0 where the maps are the same.
    """
    return divergence(maps[:, None], maps[None]).mean(-1)


def ranks(x: Tensor) -> Tensor:
    """The place of each number when its row is sorted, counted from 0: (..., m) -> (..., m) in float64.

    Equal numbers share the mean of their places.
    """
    x = x.contiguous()
    row = x.sort(-1).values
    below, up_to = (torch.searchsorted(row, x, right=right) for right in (False, True))
    return (below + up_to - 1).double() / 2


def rank_correlation(a: Tensor, b: Tensor) -> Tensor:
    """Spearman's correlation of two rows: (..., m), (..., m) -> (...), from -1 to 1.

    It is 1 where both rows are in the same order, and -1 where one is in the other's order turned round.
    """
    a, b = ranks(a), ranks(b)
    a, b = a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True)
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))


def carried(weights: Tensor, x: Tensor, attention) -> Tensor:
    """How long the vector is that each token hands to each other: |w_ij (v_j W_O)|.

    Args:
        weights: (B, h, n, n).
        x: (B, n, d_model), what the heads read.
        attention: the `MultiHeadAttention` of that layer. What adapters add to its W_V and W_O counts too.
    Returns:
        (B, h, n, n), lengths, 0 or more.
    Source:
        Kobayashi et al. 2020, section 3.2.
    """
    check.maps(weights)
    check.one_layer(attention, MultiHeadAttention, "carried")
    V = split_heads(attention.W_V(x), attention.num_kv_heads)  # (B, h_kv, n, d_v)
    V = V.repeat_interleave(attention.num_heads // attention.num_kv_heads, dim=1)  # (B, h, n, d_v)
    W_O = _matrix(attention.W_O, V.new_ones(attention.num_heads * attention.d_v))
    W_O = W_O.unflatten(0, (attention.num_heads, attention.d_v))  # (h, d_v, d_out)
    return weights * (V @ W_O).norm(dim=-1)[..., None, :]


def _matrix(projection, ones: Tensor) -> Tensor:
    """The matrix of a projection, ones (d_in,) -> (d_in, d_out); of one that an adapter wraps, what it makes of 1."""
    if type(projection) is nn.Linear:
        return projection.weight.T
    return projection(ones.diag()) - projection(torch.zeros_like(ones))


def asymmetry(A: Tensor) -> Tensor:
    """How far from symmetric a matrix is, |A - A^T| / |A + A^T|: (..., d, d) -> (...).

    It is 0 for a symmetric matrix and about 1 for a random one. It has no bound above.
    """
    return (A - A.mT).norm(dim=(-2, -1)) / (A + A.mT).norm(dim=(-2, -1))


def head_effects(loss, layers: int, heads: int) -> tuple[Tensor, Tensor]:
    """What each head does to the loss of each example: by its slope and by removal, one run for each head.

    The slopes take a backward pass for each example, since any loss is allowed. Where an example's loss looks at that
    example alone, gates (B, h) of `MultiHeadAttention` and one pass give the same.

    Args:
        loss: function that can be differentiated, of head_mask (layers, h), a factor for each head's output, -> (N,),
            the loss of each example, or one number.
        layers, heads: their numbers.
    Returns:
        slopes: (N, layers, h), d loss / d factor where all heads are on; negative where more of the head makes the loss
            smaller.
        rises: (N, layers, h), how much the loss rises when that head alone is switched off.
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

    Args:
        loss, layers, heads: as in `head_effects`.
    Returns:
        size: (layers, h), the mean over examples of |d loss / d factor| where all heads are on. To compare heads of
            different layers Michel et al. also divide it by its norm within each layer, after Molchanov et al. 2017;
            that is not done here.
        slope: (layers, h), the derivative of the mean loss, with its sign: negative where more of the head makes the
            loss smaller.
        removal: (layers, h), the rise of the mean loss when that head alone is switched off.
    Source:
        Michel et al. 2019, section 4.1.
    """
    slopes, rises = head_effects(loss, layers, heads)
    return slopes.abs().mean(0), slopes.mean(0), rises.mean(0)
