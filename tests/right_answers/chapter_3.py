"""Right answers to the exercises of chapter 3 (see __init__.py)."""
import torch


# --- 3.1 same_scores -------------------------------------------------------------------------------------------------

def same_scores__inverse(W_Q, W_K, M):
    return W_K @ torch.linalg.inv(M).T


def same_scores__triangular(W_Q, W_K, M):
    Q, R = torch.linalg.qr(M)
    return torch.linalg.solve_triangular(R, Q.T @ W_K.T, upper=True).T


def solve_by_hand(M, b):
    n = M.shape[0]
    rows = [torch.cat([M[i], b[i:i + 1]]) for i in range(n)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(float(rows[r][c].detach())))
        rows[c], rows[p] = rows[p], rows[c]
        rows[c] = rows[c] / rows[c][c]
        rows = [r if i == c else r - r[c] * rows[c] for i, r in enumerate(rows)]
    return torch.stack([r[-1] for r in rows])


def same_scores__elimination_by_hand(W_Q, W_K, M):
    return torch.stack([solve_by_hand(M.double(), k.double()) for k in W_K]).to(W_K.dtype)


# --- 3.2 factor ------------------------------------------------------------------------------------------------------

def factor__eigenvectors_of_a_square(A, d_k):
    B = A.double()
    n = len(B)
    lam, Q = torch.linalg.eigh(B @ B.T)
    Q = Q.flip(1)[:, :d_k]
    extra = torch.zeros(n, d_k - Q.shape[1], dtype=torch.float64)
    W_Q = torch.cat([Q, extra], dim=1)
    W_K = B.T @ W_Q
    return W_Q.to(A.dtype), W_K.to(A.dtype)


def factor__mixed_by_any_matrix(A, d_k):
    n = A.shape[0]
    U, S, Vh = torch.linalg.svd(A)
    g = torch.Generator().manual_seed(7)
    R, _ = torch.linalg.qr(torch.randn(d_k, d_k, generator=g, dtype=A.dtype))
    stretch = torch.linspace(0.5, 2, d_k, dtype=A.dtype)
    k = min(n, d_k)
    W_Q = (U[:, :k] * S[:k]) @ (R * stretch)[:k]
    W_K = Vh[:k].T @ (R / stretch)[:k]
    return W_Q, W_K


def factor__iterated(A, d_k):
    n = A.shape[0]
    k = min(n, d_k)
    B = A.double()
    g = torch.Generator().manual_seed(0)
    V = torch.randn(n, k, generator=g, dtype=torch.float64)
    for _ in range(500):
        U = torch.linalg.qr(B @ V)[0]
        V = torch.linalg.qr(B.T @ U)[0]
    nothing = torch.zeros(n, d_k - k, dtype=torch.float64)
    W_Q = torch.cat([B @ V, nothing], 1)
    W_K = torch.cat([V, nothing], 1)
    return W_Q.to(A.dtype), W_K.to(A.dtype)


# --- 3.3 previous_token ----------------------------------------------------------------------------------------------

def previous_token__squared_distance(n):
    pos = torch.arange(n, dtype=torch.float64)
    p = (pos - 1).clamp_min(0)
    c = 15 * 2 ** 0.5
    W_Q = c * torch.stack([2 * p, -torch.ones_like(p)], dim=1)
    W_K = torch.stack([pos, pos ** 2], dim=1)
    return W_Q, W_K


def bits(i, b):
    return [1.0 if (i >> t) & 1 else -1.0 for t in range(b)]


def previous_token__binary_numbers(n):
    b = max(1, (n - 1).bit_length())
    W_K = torch.tensor([bits(i, b) for i in range(n)])
    W_Q = torch.tensor([bits(i - 1 if i else 0, b) for i in range(n)]) * 10 * b ** 0.5
    return W_Q, W_K


def previous_token__table_of_scores_factored(n):
    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    good = torch.where(i == 0, j == 0, j == i - 1)
    table = torch.where(good, 0.0, -30.0).double() * n ** 0.5
    U, S, Vh = torch.linalg.svd(table)
    return U * S, Vh.T


# --- 3.4 one_matrix --------------------------------------------------------------------------------------------------

def one_matrix__absolute_value(A):
    S = 0.5 * (A + A.T)
    U, s, Vh = torch.linalg.svd(S)
    H = Vh.T @ torch.diag(s) @ Vh
    return (S + H) / 2


def one_matrix__eigenvector_by_eigenvector(A):
    lam, Q = torch.linalg.eigh(A / 2 + A.T / 2)
    out = 0 * A
    for k in range(len(lam)):
        if lam[k] > 0:
            out = out + lam[k] * torch.outer(Q[:, k], Q[:, k])
    return out


def one_matrix__sign_iterated(A):
    S = (A + A.T).double() / 2
    size = torch.linalg.matrix_norm(S.detach())
    if size == 0:
        return (S * 0).to(A.dtype)
    X = S / size
    eye = torch.eye(len(S), dtype=torch.float64)
    for _ in range(120):
        X = X @ (3 * eye - X @ X) / 2
    P = S @ (eye + X) / 2
    return ((P + P.T) / 2).to(A.dtype)
