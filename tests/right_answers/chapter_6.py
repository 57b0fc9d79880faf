"""Right answers to the exercises of chapter 6 (see __init__.py)."""
import math

import torch


# --- 6.1 split_heads -------------------------------------------------------------------------------------------------

def split_heads__view_and_transpose(x, h):
    B, n, d = x.shape
    return x.view(B, n, h, d // h).transpose(1, 2)


def split_heads__chunks_stacked(x, h):
    return torch.stack(x.chunk(h, dim=-1), dim=1)


def split_heads__merged_and_cut(x, h):
    B, n, wide = x.shape
    return x.contiguous().view(B * n, h, wide // h).view(B, n, h, -1).permute(0, 2, 1, 3)


def split_heads__channels_before_tokens(x, h):
    B, n, wide = x.shape
    return x.mT.reshape(B, h, wide // h, n).mT


# --- 6.2 merge_heads -------------------------------------------------------------------------------------------------

def merge_heads__transpose_and_reshape(y):
    B, h, n, d = y.shape
    return y.transpose(1, 2).reshape(B, n, h * d)


def merge_heads__heads_joined(y):
    return torch.cat(y.unbind(1), -1)


def merge_heads__einsum(y):
    return torch.einsum("bhnd->bnhd", y).flatten(2)


# --- 6.3 multi_head --------------------------------------------------------------------------------------------------

def multi_head__view_and_transpose(x, W_Q, W_K, W_V, W_O, h, mask):
    B, n, _ = x.shape
    q = (x @ W_Q).view(B, n, h, -1).transpose(1, 2)
    k = (x @ W_K).view(B, n, h, -1).transpose(1, 2)
    v = (x @ W_V).view(B, n, h, -1).transpose(1, 2)
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    w = s.masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(-1)
    return (w @ v).transpose(1, 2).reshape(B, n, -1) @ W_O


def multi_head__einsum(x, W_Q, W_K, W_V, W_O, h, mask):
    D = x.shape[-1]
    Q, K, V = (W.reshape(D, h, -1) for W in (W_Q, W_K, W_V))
    O = W_O.reshape(h, -1, W_O.shape[-1])
    q = torch.einsum("bnd,dhk->bhnk", x, Q)
    k = torch.einsum("bnd,dhk->bhnk", x, K)
    v = torch.einsum("bnd,dhv->bhnv", x, V)
    s = torch.einsum("bhik,bhjk->bhij", q, k) / Q.shape[-1] ** 0.5
    w = torch.softmax(s + torch.zeros_like(s).masked_fill(~mask[:, None], float("-inf")), -1)
    return torch.einsum("bhij,bhjv,hvd->bid", w, v, O)


def multi_head__allowed_keys_only(x, W_Q, W_K, W_V, W_O, h, mask):
    dk, dv = W_Q.shape[1] // h, W_V.shape[1] // h
    texts = []
    for b in range(x.shape[0]):
        q, k, v = x[b] @ W_Q, x[b] @ W_K, x[b] @ W_V
        rows = []
        for i in range(x.shape[1]):
            seen = mask[b, i].nonzero().flatten()
            pieces = []
            for a in range(h):
                s = k[seen, a * dk:(a + 1) * dk] @ q[i, a * dk:(a + 1) * dk] / dk ** 0.5
                pieces.append(torch.softmax(s, 0) @ v[seen, a * dv:(a + 1) * dv])
            rows.append(torch.cat(pieces))
        texts.append(torch.stack(rows))
    return torch.stack(texts) @ W_O


# --- 6.4 per_head ----------------------------------------------------------------------------------------------------

def per_head__einsum(y, W_O):
    blocks = W_O.unflatten(0, (y.shape[1], y.shape[3]))
    return torch.einsum("bhnv,hvd->bhnd", y, blocks)


def per_head__each_alone_through_all_of_it(y, W_O):
    B, h, n, d_v = y.shape
    alone = torch.eye(h, dtype=y.dtype)
    wide = torch.einsum("bhnv,hg->bhngv", y, alone).reshape(B, h, n, h * d_v)
    return wide @ W_O


def per_head__channel_by_channel(y, W_O):
    B, h, n, d_v = y.shape
    total = 0
    for c in range(d_v):
        rows = W_O[c::d_v]
        total = total + y[..., c, None] * rows[None, :, None, :]
    return total
