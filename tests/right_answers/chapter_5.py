"""Right answers to the exercises of chapter 5 (see __init__.py)."""
import math

import torch
import torch.nn.functional as F


# --- 5.1 causal_weights ----------------------------------------------------------------------------------------------

def causal_weights__minus_infinity_added(scores):
    n = scores.shape[-1]
    return (scores + torch.full((n, n), -math.inf).triu(1).to(scores)).softmax(-1)


def causal_weights__large_number_instead_of_infinity(scores):
    n = scores.shape[-1]
    return scores.masked_fill(torch.ones(n, n).tril() == 0, -1e9).softmax(-1)


def causal_weights__exponentials_by_hand(scores):
    seen = torch.ones_like(scores).tril()
    s = scores.masked_fill(seen == 0, -math.inf)
    e = (s - s.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def causal_weights__row_by_row(scores):
    out = torch.zeros_like(scores)
    for i in range(scores.shape[-1]):
        out[..., i, : i + 1] = scores[..., i, : i + 1].softmax(-1)
    return out


# --- 5.2 padding_weights ---------------------------------------------------------------------------------------------

def padding_weights__lowest_number_then_mask(scores, lengths):
    real = torch.arange(scores.shape[-1]) < lengths[:, None]
    real = real[:, None, :]
    w = torch.softmax(scores.masked_fill(~real, torch.finfo(scores.dtype).min), dim=-1)
    return w * real


def padding_weights__sentence_by_sentence(scores, lengths):
    m = scores.shape[-1]
    out = []
    for s, L in zip(scores, lengths.tolist()):
        w = torch.softmax(s[:, :L], dim=-1) if L > 0 else s[:, :0]
        out.append(F.pad(w, (0, m - L)))
    return torch.stack(out)


def padding_weights__sentences_with_words_only(scores, lengths):
    out = torch.zeros_like(scores)
    full = (lengths > 0).nonzero().squeeze(-1)
    s = scores[full]
    blocked = torch.arange(scores.shape[2]).unsqueeze(0) >= lengths[full].unsqueeze(1)
    s = s.masked_fill(blocked.unsqueeze(1), float("-inf"))
    return out.index_copy(0, full, torch.softmax(s, dim=2))


# --- 5.3 causal_with_cache -------------------------------------------------------------------------------------------

def causal_with_cache__entry_by_entry(n, m):
    mask = torch.zeros(n, m, dtype=torch.bool)
    for i in range(n):
        for j in range(m):
            mask[i, j] = j <= i + (m - n)
    return mask


def causal_with_cache__cache_beside_a_triangle(n, m):
    cache = torch.ones(n, m - n)
    new = torch.tril(torch.ones(n, n))
    return torch.cat([cache, new], dim=1).bool()


def causal_with_cache__counted(n, m):
    ones = torch.ones(n, m, dtype=torch.int64)
    rank = ones.cumsum(dim=1)
    allowed = ones.cumsum(dim=0) + (m - n)
    return torch.where(rank > allowed, torch.tensor(False), torch.tensor(True))


# --- 5.4 leaks -------------------------------------------------------------------------------------------------------

def leaks__other_futures(f, n, d):
    g = torch.Generator().manual_seed(0)
    for size in (1.0, 10.0, 0.1, 1.0, 5.0, 1.0):
        x = size * torch.randn(n, d, generator=g, dtype=torch.float64)
        y = f(x.clone())
        for i in range(n - 1):
            z = x.clone()
            z[i + 1:] = size * torch.randn(n - i - 1, d, generator=g, dtype=torch.float64)
            if not torch.allclose(f(z)[:i + 1], y[:i + 1], rtol=1e-9, atol=1e-10, equal_nan=True):
                return True
    return False


def leaks__derivatives_first(f, n, d):
    torch.manual_seed(99)
    try:
        J = torch.autograd.functional.jacobian(f, torch.randn(n, d, dtype=torch.float64))
        if (J.abs().amax(dim=(1, 3)).triu(1) > 1e-9).any():
            return True
    except Exception:
        pass
    for trial in range(8):
        x = 6 * 10.0 ** (trial % 3 - 1) * (torch.rand(2, n, d, dtype=torch.float64) - 0.5)
        y = f(x[0].clone())
        for i in range(n - 1):
            z = torch.cat([x[0, :i + 1], x[1, i + 1:]])
            if not torch.allclose(f(z)[:i + 1], y[:i + 1], rtol=1e-9, atol=1e-11, equal_nan=True):
                return True
    return False


def leaks__spread_over_futures(f, n, d):
    torch.manual_seed(2024)
    for i in range(n - 1):
        for size in (1.0, 12.0, 0.2, 2.0):
            past = torch.randn(i + 1, d, dtype=torch.float64) * size
            seen = []
            for _ in range(6):
                future = torch.randn(n - i - 1, d, dtype=torch.float64) * size
                seen.append(f(torch.cat([past, future]))[:i + 1].detach())
            seen = torch.stack(seen)
            spread = seen.amax(0) - seen.amin(0)
            if bool((spread > 1e-9 * (1 + seen[0].abs())).any()):
                return True
    return False
