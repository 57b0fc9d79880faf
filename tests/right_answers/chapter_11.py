"""Right answers to the exercises of chapter 11 (see __init__.py)."""
import torch
import torch.nn.functional as F


# --- 11.1 grouped ----------------------------------------------------------------------------------------------------

def grouped__broadcast_over_groups(Q, K, V):
    groups = Q.unflatten(1, (K.shape[1], -1))
    w = torch.softmax(groups @ K.unsqueeze(2).mT / Q.shape[-1] ** 0.5, dim=-1)
    return (w @ V.unsqueeze(2)).flatten(1, 2)


def grouped__head_by_head(Q, K, V):
    size, out = Q.shape[1] // K.shape[1], []
    for i in range(Q.shape[1]):
        scores = torch.einsum("bnd,bmd->bnm", Q[:, i], K[:, i // size]) / Q.shape[3] ** 0.5
        out.append(torch.einsum("bnm,bmv->bnv", scores.softmax(2), V[:, i // size]))
    return torch.stack(out, dim=1)


def grouped__torchs_own(Q, K, V):
    return F.scaled_dot_product_attention(Q, K, V, enable_gqa=True)


def grouped__heads_by_index(Q, K, V):
    i = torch.arange(Q.shape[1], device=Q.device) * K.shape[1] // Q.shape[1]
    s = torch.einsum("bhnd,bhmd->bhnm", Q, K[:, i]) * Q.shape[-1] ** -0.5
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return torch.einsum("bhnm,bhmv->bhnv", e / e.sum(-1, keepdim=True), V[:, i])


def grouped__queries_of_a_group_as_one_long_text(Q, K, V):
    B, h, n, d_k = Q.shape
    long = Q.reshape(B, K.shape[1], -1, d_k)
    out = F.scaled_dot_product_attention(long, K, V)
    return out.reshape(B, h, n, -1)


# --- 11.2 decode_step ------------------------------------------------------------------------------------------------

def decode_step__torchs_own(x, W_Q, W_K, W_V, K, V):
    K = torch.cat((K, x @ W_K), dim=-2)
    V = torch.cat((V, x @ W_V), dim=-2)
    return F.scaled_dot_product_attention(x @ W_Q, K, V), K, V


def decode_step__room_is_made_first(x, W_Q, W_K, W_V, K, V):
    m = K.shape[1]
    grown_K, grown_V = F.pad(K, (0, 0, 0, 1)), F.pad(V, (0, 0, 0, 1))
    grown_K[:, m:] = torch.einsum("bid,dk->bik", x, W_K)
    grown_V[:, m:] = torch.einsum("bid,dv->biv", x, W_V)
    q = torch.einsum("bid,dk->bk", x, W_Q) / W_Q.shape[1] ** 0.5
    w = torch.softmax(torch.einsum("bk,bmk->bm", q, grown_K), dim=1)
    return torch.einsum("bm,bmv->bv", w, grown_V)[:, None], grown_K, grown_V


def decode_step__old_and_new_scores_apart(x, W_Q, W_K, W_V, K, V):
    q, new_K, new_V = x @ W_Q, x @ W_K, x @ W_V
    scores = torch.cat([q @ K.mT, (q * new_K).sum(-1, keepdim=True)], -1) / K.shape[-1] ** 0.5
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    out = (e[..., :-1] @ V + e[..., -1:] * new_V) / e.sum(-1, keepdim=True)
    return [out, torch.cat([K, new_K], 1), torch.cat([V, new_V], 1)]


# --- 11.3 absorb -----------------------------------------------------------------------------------------------------

def absorb__einsum(W_Q, W_UK, W_UV, W_O, h):
    Q, K, V = (W.reshape(W.shape[0], h, -1) for W in (W_Q, W_UK, W_UV))
    A = torch.einsum("dhk,chk->hdc", Q, K) * Q.shape[2] ** -0.5
    return A, torch.einsum("chv,hvd->hcd", V, W_O.reshape(h, V.shape[2], -1))


def absorb__head_by_head(W_Q, W_UK, W_UV, W_O, h):
    d_k = W_Q.shape[1] // h
    A = [q @ k.T / d_k ** 0.5 for q, k in zip(W_Q.chunk(h, 1), W_UK.chunk(h, 1))]
    B = [v @ o for v, o in zip(W_UV.chunk(h, 1), W_O.chunk(h, 0))]
    return torch.stack(A), torch.stack(B)


def absorb__heads_picked_by_a_mask(W_Q, W_UK, W_UV, W_O, h):
    def owner(width):
        return torch.eye(h, dtype=W_Q.dtype).repeat_interleave(width // h, 1)[:, None]
    d_k = W_Q.shape[1] // h
    return (W_Q * owner(W_Q.shape[1])) @ W_UK.T / d_k ** 0.5, (W_UV * owner(W_UV.shape[1])) @ W_O


# --- 11.4 pool_heads -------------------------------------------------------------------------------------------------

def pool_heads__sum_over_slices(W, h, h_kv):
    d_k, size = W.shape[1] // h, h // h_kv
    return torch.cat([sum(W[:, (g * size + i) * d_k: (g * size + i + 1) * d_k] for i in range(size)) / size
                      for g in range(h_kv)], dim=1)


def pool_heads__product_with_an_averaging_matrix(W, h, h_kv):
    size, d_k = h // h_kv, W.shape[1] // h
    mean = torch.eye(h_kv, dtype=W.dtype).repeat_interleave(size, 0) / size
    return W @ torch.kron(mean, torch.eye(d_k, dtype=W.dtype))


def pool_heads__einsum(W, h, h_kv):
    heads = W.reshape(W.shape[0], h_kv, h // h_kv, -1)
    return torch.einsum("dgsk->dgk", heads).flatten(1).div(h // h_kv)


def pool_heads__chunks_stacked(W, h, h_kv):
    return torch.cat([torch.stack(group.chunk(h // h_kv, 1)).mean(0) for group in W.chunk(h_kv, 1)], 1)
