"""Right answers to the exercises of chapter 10 (see __init__.py)."""
import math

import torch
import torch.nn.functional as F

from mha.position import alibi_bias
from mha.position import rope as turned


# --- 10.1 rope -------------------------------------------------------------------------------------------------------

def rope__complex_numbers(x, positions, base):
    d_k = x.shape[-1]
    speeds = torch.tensor([base ** (-2 * i / d_k) for i in range(d_k // 2)], dtype=torch.float64)
    turn = torch.polar(torch.ones(len(positions), d_k // 2).double(), torch.outer(positions.double(), speeds))
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


def rope__parts_apart(x, positions, base):
    a, b = x[..., ::2], x[..., 1::2]
    wide = torch.promote_types(x.dtype, torch.float32)
    angle = positions.to(wide)[:, None] / base ** (torch.arange(0, x.shape[-1], 2).to(wide) / x.shape[-1])
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).type_as(x)


def rope__one_matrix_a_row(x, positions, base):
    d_k, rows = x.shape[-1], []
    for r, p in enumerate(positions.tolist()):
        blocks = []
        for i in range(d_k // 2):
            c, s = math.cos(p * base ** (-2 * i / d_k)), math.sin(p * base ** (-2 * i / d_k))
            blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
        rows.append(x[..., r, :].double() @ torch.block_diag(*blocks))
    return torch.stack(rows, -2).to(x.dtype)


def rope__rotate_neighbours(x, positions, base):
    inv_freq = 1.0 / base ** (torch.arange(0, x.size(-1), 2).float() / x.size(-1))
    freqs = torch.einsum("i,j->ij", positions.float(), inv_freq).repeat_interleave(2, dim=-1)
    rotated = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).reshape(x.shape)
    return (x * freqs.cos() + rotated * freqs.sin()).to(x.dtype)


# --- 10.2 alibi_weights ----------------------------------------------------------------------------------------------

def alibi_weights__plus_slope_times_place(Q, K):
    h, n, m = Q.shape[-3], Q.shape[-2], K.shape[-2]
    slopes = torch.tensor([2.0 ** (-8 * i / h) for i in range(1, h + 1)]).view(h, 1, 1)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]) + slopes * torch.arange(m)
    seen = torch.ones(n, m).tril(m - n) > 0
    return scores.masked_fill(~seen, -torch.inf).softmax(-1)


def alibi_weights__weights_damped_and_divided_again(Q, K):
    h, n, d = Q.shape[-3:]
    m = K.shape[-2]
    start = 2.0 ** (-8 / h)
    slopes = torch.tensor([start ** i for i in range(1, h + 1)], dtype=torch.float64)
    distance = torch.arange(m - n, m)[:, None] - torch.arange(m)
    weights = torch.einsum("...id,...jd->...ij", Q, K).div(d ** 0.5).masked_fill(distance < 0, -torch.inf).softmax(-1)
    damped = weights * torch.exp(-slopes[:, None, None] * distance.clamp(min=0))
    return damped / damped.sum(-1, keepdim=True)


def alibi_weights__head_by_head(Q, K):
    h, n, m = Q.size(-3), Q.size(-2), K.size(-2)
    heads = []
    for i in range(h):
        scores = Q[..., i, :, :] @ K[..., i, :, :].mT * Q.size(-1) ** -0.5
        rows = []
        for a in range(n):
            last = m - n + a
            seen = scores[..., a, : last + 1] - 2 ** (-8 * (i + 1) / h) * torch.arange(last, -1, -1)
            rows.append(F.pad(seen.softmax(-1), (0, m - last - 1)))
        heads.append(torch.stack(rows, -2))
    return torch.stack(heads, -3)


def alibi_weights__bias_of_the_package(Q, K):
    h, n, m = Q.shape[-3], Q.shape[-2], K.shape[-2]
    scores = Q @ K.mT / Q.shape[-1] ** 0.5 + alibi_bias(h, n, m, m - n)
    return torch.softmax(scores + torch.full((n, m), -torch.inf).triu(m - n + 1), -1)


# --- 10.3 cached_scores ----------------------------------------------------------------------------------------------

def cached_scores__old_and_new_apart(q, k, K, base):
    new = K.shape[-2] + torch.arange(q.shape[-2])
    q, k = (turned(x, new, base=base, interleaved=True) for x in (q, k))
    return torch.cat([q @ K.transpose(-1, -2), q @ k.transpose(-1, -2)], dim=-1)


def cached_scores__counted_from_the_last(q, k, K, base):
    n = q.shape[-2]
    before = torch.arange(-K.shape[-2], 0)
    shift = torch.full_like(before, -K.shape[-2])
    old = turned(K, shift, base=base, interleaved=True)        # the old keys, as seen from the first new token
    new = torch.arange(n)
    keys = torch.cat([old, turned(k, new, base=base, interleaved=True)], -2)
    return torch.einsum("...id,...jd->...ij", turned(q, new, base=base, interleaved=True), keys)


def cached_scores__one_token_after_another(q, k, K, base):
    m, keys = K.shape[-2], [K]
    for i, key in enumerate(k.unbind(-2)):
        keys.append(turned(key[..., None, :], torch.tensor([m + i]), base=base, interleaved=True))
    asked = [turned(query[..., None, :], torch.tensor([m + i]), base=base, interleaved=True) @ torch.cat(keys, -2).mT
             for i, query in enumerate(q.unbind(-2))]
    return torch.cat(asked, -2)


# --- 10.4 to_halves --------------------------------------------------------------------------------------------------

def to_halves__reshape_and_exchange(W, h):
    return W.reshape(len(W), h, W.shape[1] // h // 2, 2).transpose(2, 3).reshape(len(W), W.shape[1])


def to_halves__heads_cut_and_joined(W, h):
    return torch.cat([torch.cat([head[:, 0::2], head[:, 1::2]], 1) for head in W.chunk(h, 1)], 1)


def to_halves__product_with_a_permutation(W, h):
    d_k = W.shape[1] // h
    order = torch.tensor([*range(0, d_k, 2), *range(1, d_k, 2)])
    return W @ torch.kron(torch.eye(h, dtype=W.dtype), torch.eye(d_k, dtype=W.dtype)[:, order])


def to_halves__column_by_column(W, h):
    d_k = W.shape[1] // h
    columns = [W[:, i * d_k + 2 * pair + part] for i in range(h) for part in (0, 1) for pair in range(d_k // 2)]
    return torch.stack(columns, dim=1)
