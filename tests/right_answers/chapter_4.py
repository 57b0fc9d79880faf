"""Right answers to the exercises of chapter 4 (see __init__.py)."""
import torch


# --- 4.1 head --------------------------------------------------------------------------------------------------------

def head__one_form(x, W_Q, W_K, W_V):
    A = W_Q @ W_K.T / W_Q.shape[1] ** 0.5
    return (x @ A @ x.mT).softmax(-1) @ x @ W_V


def head__one_product(x, W_Q, W_K, W_V):
    d_k = W_Q.shape[-1]
    Q, K, V = (x @ torch.cat([W_Q, W_K, W_V], -1)).split([d_k, d_k, W_V.shape[-1]], -1)
    return (Q * d_k ** -0.5 @ K.mT).softmax(-1) @ V


def head__query_by_query(x, W_Q, W_K, W_V):
    rows = []
    for i in range(x.shape[-2]):
        q = (x[..., i, :] @ W_Q)[..., None]
        w = (x @ W_K @ q / W_Q.shape[-1] ** 0.5).softmax(-2)
        rows.append((w * (x @ W_V)).sum(-2))
    return torch.stack(rows, -2)


# --- 4.2 contributions -----------------------------------------------------------------------------------------------

def contributions__all_parts_then_lengths(weights, v, W_O):
    parts = weights.unsqueeze(-1) * (v @ W_O).unsqueeze(-3)
    return torch.linalg.vector_norm(parts, dim=-1)


def contributions__gram_matrix(weights, v, W_O):
    vv, W = v.double(), W_O.double()
    square = ((vv @ (W @ W.T)) * vv).sum(-1)
    some = square > 0
    length = torch.where(some, torch.where(some, square, torch.ones_like(square)).sqrt(), torch.zeros_like(square))
    return (weights.double().abs() * length[..., None, :]).to(weights.dtype)


def contributions__key_by_key(weights, v, W_O):
    cols = []
    for j in range(v.shape[-2]):
        out_j = v[..., j, :] @ W_O
        cols.append(weights[..., :, j] * torch.linalg.vector_norm(out_j, dim=-1, keepdim=True))
    return torch.stack(cols, dim=-1)


# --- 4.3 mover -------------------------------------------------------------------------------------------------------

def mover__all_is_read(d, source, target):
    W_O = torch.zeros(d, d, dtype=torch.float64)
    W_O[source, target] = 1.0
    return torch.eye(d, dtype=torch.float64), W_O


def mover__turned_in_between(d, source, target):
    g = torch.Generator().manual_seed(3)
    R = torch.linalg.qr(torch.randn(3, 3, generator=g, dtype=torch.float64))[0]
    V = torch.zeros(d, 3, dtype=torch.float64)
    O = torch.zeros(3, d, dtype=torch.float64)
    V[source, 1] = 1
    O[1, target] = 1
    return V @ R, R.T @ O


def mover__twice_negated(d, source, target):
    W_V = torch.cat([torch.eye(d)[:, [source]], torch.ones(d, 1)], dim=1)
    W_O = torch.cat([-torch.eye(d)[[target]], torch.zeros(1, d)], dim=0)
    return -W_V, W_O


# --- 4.4 lost --------------------------------------------------------------------------------------------------------

def lost__pseudoinverse(x, W_V):
    return x - x @ W_V @ torch.linalg.pinv(W_V)


def lost__gram_schmidt(x, W_V):
    basis = []
    for k in range(W_V.shape[1]):
        u = W_V[:, k]
        for _ in range(2):
            for b in basis:
                u = u - (u @ b) * b
        basis.append(u / u.norm())
    rest = x
    for b in basis:
        rest = rest - (rest @ b).unsqueeze(-1) * b
    return rest


def smallest_with(value, W):
    L = torch.linalg.cholesky(W.T @ W)
    return torch.cholesky_solve(value.reshape(-1, W.shape[1]).T, L).T @ W.T


def lost__cholesky(x, W_V):
    value = torch.matmul(x, W_V)
    return x - smallest_with(value, W_V).reshape(x.shape)
