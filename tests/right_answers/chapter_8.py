"""Right answers to the exercises of chapter 8 (see __init__.py)."""
import math
from collections import Counter
from fractions import Fraction

import torch
import torch.nn.functional as F


# --- 8.1 previous_token_score ----------------------------------------------------------------------------------------

def previous_token_score__entries_picked(weights):
    n = weights.shape[-1]
    i = torch.arange(1, n)
    return weights[..., i, i - 1].sum(-1) / (n - 1)


def previous_token_score__entry_by_entry(weights):
    n = weights.size(-1)
    total = 0
    for i in range(1, n):
        total = total + weights[..., i, i - 1]
    return total / (n - 1)


def previous_token_score__from_the_other_side(weights):
    queries = torch.arange(weights.shape[-1] - 1)
    return weights[..., queries + 1, queries].mean(-1)


def previous_token_score__einsum(weights):
    n = weights.shape[-1]
    below = torch.diag(torch.ones(n - 1), -1).to(weights)
    return torch.einsum("...ij,ij->...", weights, below) / below.sum()


# --- 8.2 best_by_luck ------------------------------------------------------------------------------------------------

def best_by_luck__logarithms_in_a_tensor(heads, questions, k):
    x = torch.arange(questions + 1, dtype=torch.float64)
    log = math.lgamma(questions + 1) - torch.lgamma(x + 1) - torch.lgamma(questions - x + 1) - questions * math.log(2)
    return 1 - log[:k].exp().sum() ** heads


def best_by_luck__throw_by_throw(heads, questions, k):
    chances = [1.0]
    for _ in range(questions):
        chances = [(a + b) / 2 for a, b in zip(chances + [0.0], [0.0] + chances)]
    below = sum(chances[:k])
    stays = 1.0
    for _ in range(heads):
        stays *= below
    return torch.tensor(1 - stays, dtype=torch.float64)


def best_by_luck__fractions(heads, questions, k):
    below = sum(Fraction(math.comb(questions, x), 2 ** questions) for x in range(k))
    return float(1 - below ** heads)


# --- 8.3 above_offset ------------------------------------------------------------------------------------------------

def above_offset__pair_by_pair(weights, asks, answers):
    pairs = list(zip(asks.tolist(), answers.tolist()))
    hits = 0
    for i, j in pairs:
        row = weights[..., i, :].clone()
        row[..., i] = -math.inf
        hits = hits + (row.argmax(-1) == j).to(weights.dtype)
    best = Counter(j - i for i, j in pairs).most_common(1)[0][1]
    return (hits - best) / len(pairs)


def above_offset__answer_is_the_largest(weights, asks, answers):
    answer = weights[..., asks, answers]
    own = F.one_hot(asks, weights.shape[-1]).bool()
    top = torch.where(own, 0.0, weights[..., asks, :]).amax(-1)
    counts = torch.bincount(answers - asks + weights.shape[-1])
    return (answer == top).double().mean(-1) - counts.max() / asks.numel()


def above_offset__sorted(weights, asks, answers):
    order = weights.argsort(-1, descending=True)[..., asks, :2]
    looked = torch.where(order[..., 0] == asks, order[..., 1], order[..., 0])
    _, counts = torch.unique(answers - asks, return_counts=True)
    return (looked == answers).float().mean(-1) - counts.max().item() / len(asks)
