"""Right answers to the exercises of chapter 12 (see __init__.py)."""
import math

import torch


# --- 12.1 join -------------------------------------------------------------------------------------------------------

def join__logaddexp(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    return out_a * torch.exp(lse_a - lse)[..., None] + out_b * torch.exp(lse_b - lse)[..., None], lse


def join__softmax_of_both(out_a, lse_a, out_b, lse_b):
    both = torch.stack([lse_a, lse_b])
    shares = both.softmax(0).unsqueeze(-1)
    return (shares * torch.stack([out_a, out_b])).sum(0), both.logsumexp(0)


def join__sigmoid(out_a, lse_a, out_b, lse_b):
    share = torch.sigmoid(lse_a - lse_b).unsqueeze(-1)
    return out_b + share * (out_a - out_b), torch.logaddexp(lse_b, lse_a)


# --- 12.2 tile_step --------------------------------------------------------------------------------------------------

def tile_step__masked(top, total, acc, scores, v):
    new = torch.maximum(top, scores.max(-1).values)
    shift = torch.where(new == -math.inf, torch.zeros_like(new), new)
    fade = torch.exp(top - shift)
    p = torch.exp(scores - shift.unsqueeze(-1))
    return new, fade * total + p.sum(-1), fade.unsqueeze(-1) * acc + p @ v


def tile_step__query_by_query(top, total, acc, scores, v):
    rows = []
    for t, z, a, s in zip(top, total, acc, scores):
        new = torch.maximum(t, s.max())
        if new == -math.inf:
            rows.append((new, z, a))
            continue
        p = (s - new).exp()
        fade = (t - new).exp()
        rows.append((new, fade * z + p.sum(), fade * a + p @ v))
    return tuple(torch.stack(column) for column in zip(*rows))


def tile_step__key_by_key(top, total, acc, scores, v):
    for s, value in zip(scores.T, v):
        new = torch.maximum(top, s)
        safe = new.masked_fill(new == -math.inf, 0.0)
        fade, p = (top - safe).exp(), (s - safe).exp()
        top, total, acc = new, fade * total + p, fade[:, None] * acc + p[:, None] * value
    return top, total, acc
