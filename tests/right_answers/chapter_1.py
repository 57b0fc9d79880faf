"""Right answers to the exercises of chapter 1 (see __init__.py)."""
import torch
from torch.distributions import Categorical


# --- 1.1 softmax -----------------------------------------------------------------------------------------------------

def softmax__exponentials_by_hand(s):
    e = torch.exp(s - s.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


def softmax__logsumexp(s):
    return (s - torch.logsumexp(s, -1, keepdim=True)).exp()


def softmax__all_pairs(s):
    return 1 / (s[..., None, :] - s[..., :, None]).exp().sum(-1)


# --- 1.2 retemper ----------------------------------------------------------------------------------------------------

def retemper__powers_over_their_sum(weights, T):
    p = weights ** (1 / T)
    return p / p.sum(dim=-1, keepdim=True)


def one_row(row, T):
    r = (row / row.detach().max()).pow(1.0 / T)
    return r / r.sum()


def retemper__row_by_row(weights, T):
    m = weights.shape[-1]
    rows = weights.reshape(-1, m)
    return torch.stack([one_row(r, T) for r in rows]).reshape(weights.shape)


def retemper__zeros_kept_from_the_logarithm(weights, T):
    alive = weights > 0
    safe = torch.where(alive, weights, torch.ones_like(weights))
    scores = torch.where(alive, safe.log() / T, torch.full_like(weights, float("-inf")))
    return scores.softmax(-1)


# --- 1.3 keys_read ---------------------------------------------------------------------------------------------------

def keys_read__product_of_powers(weights):
    base = torch.where(weights > 0, weights, torch.ones_like(weights))
    return torch.prod(base ** (-weights), dim=-1)


def keys_read__row_by_row_without_zeros(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    out = []
    for r in rows:
        p = r[r > 0]
        out.append(torch.exp(-(p * torch.log(p)).sum()))
    return torch.stack(out).reshape(weights.shape[:-1])


def keys_read__distribution_of_torch(weights):
    return Categorical(probs=weights, validate_args=False).entropy().exp()


# --- 1.4 quiet_lookup ------------------------------------------------------------------------------------------------

def quiet_lookup__one_score_more(scores, values):
    zero = torch.zeros_like(scores[..., :1])
    w = torch.softmax(torch.cat([scores, zero], dim=-1), dim=-1)
    return w[..., :-1] @ values


def quiet_lookup__loudness_times_lookup(scores, values):
    loud = torch.sigmoid(torch.logsumexp(scores, dim=-1, keepdim=True))
    return loud * (torch.softmax(scores, dim=-1) @ values)


def quiet_lookup__key_by_key(scores, values):
    top = torch.zeros_like(scores[..., 0])
    total = torch.ones_like(top)
    acc = torch.zeros_like(scores[..., :1]) * values[..., :1, :]
    for j in range(scores.shape[-1]):
        s = scores[..., j]
        new = torch.maximum(top, s).detach()
        old_f = torch.exp(top - new)
        f = torch.exp(s - new)
        total = total * old_f + f
        acc = acc * old_f[..., None] + f[..., None] * values[..., j, :].unsqueeze(-2)
        top = new
    return acc / total[..., None]
