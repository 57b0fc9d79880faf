"""Right answers to the exercises of all chapters, seven styles each, written from the statements alone by somebody who
had not seen the checker.
"""

STYLES = {
    "retemper": [
        # plain power, then divide by the sum
        """import torch
def retemper(weights, T):
    p = weights ** (1 / T)
    return p / p.sum(dim=-1, keepdim=True)""",
        # logarithms are scores up to a constant; softmax again
        """import torch
def retemper(weights, T):
    return torch.softmax(torch.log(weights) / T, dim=-1)""",
        # loop over the rows, divide by the biggest first
        """import torch
def one_row(row, T):
    r = (row / row.detach().max()).pow(1.0 / T)
    return r / r.sum()
def retemper(weights, T):
    m = weights.shape[-1]
    rows = weights.reshape(-1, m)
    return torch.stack([one_row(r, T) for r in rows]).reshape(weights.shape)""",
        # float64 inside, log-sum-exp by hand, cast back
        """import torch
def retemper(weights, T):
    w = weights.double()
    top = w.detach().max(dim=-1, keepdim=True).values
    p = torch.pow(w / top, 1.0 / float(T))
    z = torch.einsum("...m->...", p).unsqueeze(-1)
    return (p / z).to(weights.dtype)""",
        # torch.where keeps the zeros away from the logarithm
        """import torch
def retemper(weights, T):
    alive = weights > 0
    safe = torch.where(alive, weights, torch.ones_like(weights))
    scores = torch.where(alive, safe.log() / T, torch.full_like(weights, float("-inf")))
    return scores.softmax(-1)""",
        # exp(log w / T - logsumexp)
        """import torch
def retemper(weights, T):
    s = weights.log().div(T)
    return (s - torch.logsumexp(s, dim=-1, keepdim=True)).exp()""",
        # times w^(1/T-1), written as an L1 normalisation
        """import torch
import torch.nn.functional as F
def retemper(weights, T):
    rel = weights / weights.detach().amax(dim=-1, keepdim=True)
    return F.normalize(rel ** (1 / T), p=1, dim=-1)""",
    ],
    "keys_read": [
        # clamp inside the logarithm only
        """import torch
def keys_read(weights):
    tiny = torch.finfo(weights.dtype).tiny
    h = -(weights * weights.clamp_min(tiny).log()).sum(dim=-1)
    return h.exp()""",
        # einsum of weights and masked log weights
        """import torch
def keys_read(weights):
    logs = weights.masked_fill(weights <= 0, 1.0).log()
    return torch.exp(-torch.einsum("...m,...m->...", weights, logs))""",
        # torch.where on both sides of the logarithm
        """import torch
def keys_read(weights):
    one = torch.ones_like(weights)
    surprise = torch.where(weights > 0, -torch.where(weights > 0, weights, one).log(), torch.zeros_like(weights))
    entropy = (weights * surprise).sum(-1)
    return torch.exp(entropy)""",
        # no logarithm: the product of w^(-w)
        """import torch
def keys_read(weights):
    base = torch.where(weights > 0, weights, torch.ones_like(weights))
    return torch.prod(base ** (-weights), dim=-1)""",
        # loop over rows, keep only the weights above 0
        """import torch
def keys_read(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    out = []
    for r in rows:
        p = r[r > 0]
        out.append(torch.exp(-(p * torch.log(p)).sum()))
    return torch.stack(out).reshape(weights.shape[:-1])""",
        # torch.distributions.Categorical does the entropy
        """import torch
from torch.distributions import Categorical
def keys_read(weights):
    return Categorical(probs=weights, validate_args=False).entropy().exp()""",
        # bits, base 2, in float64, cast back
        """import torch
def keys_read(weights):
    w = weights.to(torch.float64)
    bits = w.new_zeros(w.shape[:-1])
    for k in range(w.shape[-1]):
        p = w[..., k]
        bits = bits - p * torch.log2(torch.where(p == 0, torch.ones_like(p), p))
    return torch.pow(2.0, bits).to(weights.dtype)""",
    ],
    "quiet_lookup": [
        # append a score of 0, softmax, drop its column
        """import torch
def quiet_lookup(scores, values):
    zero = torch.zeros_like(scores[..., :1])
    w = torch.softmax(torch.cat([scores, zero], dim=-1), dim=-1)
    return w[..., :-1] @ values""",
        # append to scores and values, einsum
        """import torch
def quiet_lookup(scores, values):
    s = torch.cat((scores.new_zeros(*scores.shape[:-1], 1), scores), dim=-1)
    v = torch.cat((values.new_zeros(*values.shape[:-2], 1, values.shape[-1]), values), dim=-2)
    return torch.einsum("...nm,...md->...nd", s.softmax(-1), v)""",
        # own softmax, shifted by max(0, largest score)
        """import torch
def quiet_lookup(scores, values):
    shift = scores.detach().amax(dim=-1, keepdim=True).clamp_min(0)
    e = torch.exp(scores - shift)
    return (e @ values) / (e.sum(-1, keepdim=True) + torch.exp(-shift))""",
        # ordinary lookup times sigmoid(logsumexp)
        """import torch
def quiet_lookup(scores, values):
    loud = torch.sigmoid(torch.logsumexp(scores, dim=-1, keepdim=True))
    return loud * (torch.softmax(scores, dim=-1) @ values)""",
        # F.pad and a loop over the queries
        """import torch
import torch.nn.functional as F
def quiet_lookup(scores, values):
    outs = []
    for i in range(scores.shape[-2]):
        w = F.softmax(F.pad(scores[..., i, :], (0, 1)), dim=-1)
        mixed = 0
        for j in range(values.shape[-2]):
            mixed = mixed + w[..., j, None] * values[..., j, :]
        outs.append(mixed)
    return torch.stack(outs, dim=-2)""",
        # float64, logaddexp with 0, cast back
        """import torch
def quiet_lookup(scores, values):
    s, v = scores.double(), values.double()
    lse = torch.logsumexp(s, -1)
    total = torch.logaddexp(lse, torch.zeros_like(lse))
    w = (s - total.unsqueeze(-1)).exp()
    return torch.matmul(w, v).to(values.dtype)""",
        # streaming over the keys with a running maximum, started at the silent key
        """import torch
def quiet_lookup(scores, values):
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
    return acc / total[..., None]""",
    ],
    "softmax_backward": [
        # textbook w * (g - <w, g>)
        """import torch
def softmax_backward(weights, grad):
    return weights * (grad - (weights * grad).sum(dim=-1, keepdim=True))""",
        # full Jacobian diag(w) - w w^T, matmul
        """import torch
def softmax_backward(weights, grad):
    J = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return (J @ grad.unsqueeze(-1)).squeeze(-1)""",
        # multiply first, subtract the share
        """import torch
def softmax_backward(weights, grad):
    wg = weights * grad
    return wg - weights * torch.sum(wg, -1, True)""",
        # loop over rows with torch.diag and torch.outer
        """import torch
def softmax_backward(weights, grad):
    m = weights.shape[-1]
    res = []
    for w, g in zip(weights.reshape(-1, m), grad.reshape(-1, m)):
        res.append(torch.mv(torch.diag(w) - torch.outer(w, w), g))
    return torch.stack(res).reshape(weights.shape)""",
        # sum over pairs w_i w_j (g_i - g_j), einsum
        """import torch
def softmax_backward(weights, grad):
    diff = grad[..., :, None] - grad[..., None, :]
    return torch.einsum("...i,...j,...ij->...i", weights, weights, diff)""",
        # float64 inside, one coordinate at a time, cast back
        """import torch
def softmax_backward(weights, grad):
    w, g = weights.double(), grad.double()
    cols = []
    for i in range(w.shape[-1]):
        total = torch.zeros_like(w[..., 0])
        for j in range(w.shape[-1]):
            delta = 1.0 if i == j else 0.0
            total = total + g[..., j] * w[..., j] * (delta - w[..., i])
        cols.append(total)
    return torch.stack(cols, dim=-1).to(weights.dtype)""",
        # helper: mean under the weights by a 1 x m times m x 1 product
        """import torch
def expected(weights, what):
    return (weights.unsqueeze(-2) @ what.unsqueeze(-1)).squeeze(-1)
def softmax_backward(weights, grad):
    centred = grad - expected(weights, grad)
    return torch.mul(centred, weights)""",
    ],
    "combine": [
        # sigmoid of the difference
        """import torch
def combine(o1, l1, o2, l2):
    a = torch.sigmoid(l1 - l2).unsqueeze(-1)
    return a * o1 + (1 - a) * o2""",
        # stack, softmax over the two halves, einsum
        """import torch
def combine(o1, l1, o2, l2):
    w = torch.softmax(torch.stack([l1, l2], dim=-1), dim=-1)
    o = torch.stack([o1, o2], dim=-1)
    return torch.einsum("...nk,...ndk->...nd", w, o)""",
        # logaddexp as the new logarithm
        """import torch
def combine(o1, l1, o2, l2):
    l = torch.logaddexp(l1, l2)
    return torch.exp(l1 - l)[..., None] * o1 + torch.exp(l2 - l)[..., None] * o2""",
        # shift by the larger one, numerator and denominator
        """import torch
def combine(o1, l1, o2, l2):
    top = torch.maximum(l1, l2)
    e1 = torch.exp(l1 - top).unsqueeze(-1)
    e2 = torch.exp(l2 - top).unsqueeze(-1)
    return (e1 * o1 + e2 * o2) / (e1 + e2)""",
        # tanh of half the difference, float64 inside, cast back
        """import torch
def combine(o1, l1, o2, l2):
    d = (l1.double() - l2.double()) / 2
    t = torch.tanh(d)[..., None]
    mid = (o1.double() + o2.double()) / 2
    half = (o1.double() - o2.double()) / 2
    return (mid + t * half).to(o1.dtype)""",
        # torch.lerp
        """import torch
def combine(o1, l1, o2, l2):
    share = torch.sigmoid(l1 - l2)
    return torch.lerp(o2, o1, share[..., None].expand_as(o1))""",
        # torch.where sorts into larger and smaller half; loop over the queries
        """import torch
def combine(o1, l1, o2, l2):
    outs = []
    for i in range(l1.shape[-1]):
        a, b = l1[..., i], l2[..., i]
        first = (a >= b)
        r = torch.exp(torch.where(first, b - a, a - b)).unsqueeze(-1)
        big = torch.where(first.unsqueeze(-1), o1[..., i, :], o2[..., i, :])
        small = torch.where(first.unsqueeze(-1), o2[..., i, :], o1[..., i, :])
        outs.append((big + r * small) / (1 + r))
    return torch.stack(outs, dim=-2)""",
    ],
    "fold_scale": [
        # divide by math.sqrt
        """import math
import torch
def fold_scale(W_Q):
    return W_Q / math.sqrt(W_Q.shape[-1])""",
        # times d_k ** -0.5
        """import torch
def fold_scale(W_Q):
    d_model, d_k = W_Q.shape
    return d_k ** -0.5 * W_Q""",
        # matmul with a scaled identity
        """import torch
def fold_scale(W_Q):
    d_k = W_Q.size(1)
    S = torch.eye(d_k, dtype=W_Q.dtype) / torch.tensor(d_k, dtype=W_Q.dtype).sqrt()
    return W_Q @ S""",
        # einsum with a vector of 1/sqrt
        """import torch
def fold_scale(W_Q):
    s = torch.full((W_Q.shape[1],), float(W_Q.shape[1]), dtype=W_Q.dtype).rsqrt()
    return torch.einsum("dk,k->dk", W_Q, s)""",
        # loop over columns, stacked
        """import torch
def fold_scale(W_Q):
    cols = W_Q.unbind(dim=1)
    return torch.stack([c / len(cols) ** 0.5 for c in cols], dim=1)""",
        # float64 inside, divide twice by the fourth root, cast back
        """import torch
def fold_scale(W_Q):
    root4 = W_Q.shape[1] ** 0.25
    return (W_Q.double() / root4 / root4).to(W_Q.dtype)""",
        # divide by the length of a vector of ones
        """import torch
def fold_scale(W_Q):
    length = torch.linalg.vector_norm(torch.ones_like(W_Q[0]))
    return torch.div(W_Q, length)""",
    ],
    "same_scores": [
        # inverse, transposed
        """import torch
def same_scores(W_Q, W_K, M):
    return W_K @ torch.linalg.inv(M).T""",
        # solve M X^T = W_K^T
        """import torch
def same_scores(W_Q, W_K, M):
    return torch.linalg.solve(M, W_K.T).T""",
        # solve from the right, X M^T = W_K
        """import torch
def same_scores(W_Q, W_K, M):
    return torch.linalg.solve(M.mT, W_K, left=False)""",
        # pinv and einsum without a transpose
        """import torch
def same_scores(W_Q, W_K, M):
    inv = torch.linalg.pinv(M)
    return torch.einsum("dk,lk->dl", W_K, inv)""",
        # LU in float64, cast back
        """import torch
def same_scores(W_Q, W_K, M):
    LU, piv = torch.linalg.lu_factor(M.double())
    X = torch.linalg.lu_solve(LU, piv, W_K.double().T)
    return X.T.to(W_K.dtype)""",
        # QR and a triangular solve
        """import torch
def same_scores(W_Q, W_K, M):
    Q, R = torch.linalg.qr(M)
    return torch.linalg.solve_triangular(R, Q.T @ W_K.T, upper=True).T""",
        # loop over the rows of W_K, each solved alone by hand-written elimination
        """import torch
def solve_by_hand(M, b):
    n = M.shape[0]
    rows = [torch.cat([M[i], b[i:i + 1]]) for i in range(n)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(float(rows[r][c].detach())))
        rows[c], rows[p] = rows[p], rows[c]
        rows[c] = rows[c] / rows[c][c]
        rows = [r if i == c else r - r[c] * rows[c] for i, r in enumerate(rows)]
    return torch.stack([r[-1] for r in rows])
def same_scores(W_Q, W_K, M):
    return torch.stack([solve_by_hand(M.double(), k.double()) for k in W_K]).to(W_K.dtype)""",
    ],
    "factor": [
        # truncated SVD, roots of the singular values on both sides
        """import torch
import torch.nn.functional as F
def factor(A, d_k):
    U, S, Vh = torch.linalg.svd(A)
    r = S[:d_k].sqrt()
    W_Q = U[:, :d_k] * r
    W_K = Vh[:d_k].T * r
    pad = d_k - W_Q.shape[1]
    return F.pad(W_Q, (0, pad)), F.pad(W_K, (0, pad))""",
        # SVD, all of S on the side of the keys, einsum
        """import torch
def factor(A, d_k):
    n = A.shape[0]
    U, S, Vh = torch.linalg.svd(A, full_matrices=False)
    k = min(n, d_k)
    Z = A.new_zeros(n, d_k - k)
    W_K = torch.einsum("kj,k->jk", Vh[:k], S[:k])
    return torch.cat([U[:, :k], Z], 1), torch.cat([W_K, Z], 1)""",
        # top eigenvectors of A A^T in float64, keys are A^T times them
        """import torch
def factor(A, d_k):
    B = A.double()
    n = len(B)
    lam, Q = torch.linalg.eigh(B @ B.T)
    Q = Q.flip(1)[:, :d_k]
    extra = torch.zeros(n, d_k - Q.shape[1], dtype=torch.float64)
    W_Q = torch.cat([Q, extra], dim=1)
    W_K = B.T @ W_Q
    return W_Q.to(A.dtype), W_K.to(A.dtype)""",
        # SVD, then mixed by a random invertible matrix and its inverse
        """import torch
def factor(A, d_k):
    n = A.shape[0]
    U, S, Vh = torch.linalg.svd(A)
    g = torch.Generator().manual_seed(7)
    R, _ = torch.linalg.qr(torch.randn(d_k, d_k, generator=g, dtype=A.dtype))
    stretch = torch.linspace(0.5, 2, d_k, dtype=A.dtype)
    k = min(n, d_k)
    W_Q = (U[:, :k] * S[:k]) @ (R * stretch)[:k]
    W_K = Vh[:k].T @ (R / stretch)[:k]
    return W_Q, W_K""",
        # one direction after another: power iteration and deflation, float64
        """import torch
def strongest(B):
    g = torch.Generator().manual_seed(0)
    v = torch.randn(B.shape[1], generator=g, dtype=B.dtype)
    for _ in range(1000):
        v = B.T @ (B @ v)
        v = v / v.norm()
    return v
def factor(A, d_k):
    rest = A.double()
    qs, ks = [], []
    size = float(rest.detach().norm())
    for _ in range(d_k):
        if float(rest.detach().norm()) <= 1e-13 * size:
            qs.append(rest[:, 0] * 0)
            ks.append(rest[0] * 0)
            continue
        v = strongest(rest)
        q = rest @ v
        qs.append(q)
        ks.append(v)
        rest = rest - torch.outer(q, v)
    return torch.stack(qs, 1).to(A.dtype), torch.stack(ks, 1).to(A.dtype)""",
        # subspace iteration with QR
        """import torch
def factor(A, d_k):
    n = A.shape[0]
    k = min(n, d_k)
    B = A.double()
    g = torch.Generator().manual_seed(0)
    V = torch.randn(n, k, generator=g, dtype=torch.float64)
    for _ in range(500):
        U = torch.linalg.qr(B @ V)[0]
        V = torch.linalg.qr(B.T @ U)[0]
    W_Q = torch.zeros(n, d_k, dtype=torch.float64)
    W_K = torch.zeros(n, d_k, dtype=torch.float64)
    W_Q = torch.cat([B @ V, W_Q[:, k:]], 1)
    W_K = torch.cat([V, W_K[:, k:]], 1)
    return W_Q.to(A.dtype), W_K.to(A.dtype)""",
        # unusual: eigenvectors of the symmetric block matrix [[0, A], [A^T, 0]], columns in ascending order
        """import torch
def factor(A, d_k):
    n = A.shape[0]
    Z = torch.zeros_like(A)
    block = torch.cat([torch.cat([Z, A], 1), torch.cat([A.T, Z], 1)], 0)
    lam, E = torch.linalg.eigh(block)
    k = min(n, d_k)
    top, vec = lam[-k:], E[:, -k:]
    root = (2 * torch.where(top > 0, top, torch.full_like(top, 1e-300 if A.dtype == torch.float64 else 1e-38))).sqrt()
    both = torch.nn.functional.pad(vec * root, (d_k - k, 0))
    return both[:n], both[n:]""",
    ],
    "previous_token": [
        # identity for the keys, shifted rows for the queries, d_k = n
        """import torch
def previous_token(n):
    W_K = torch.eye(n)
    before = [max(i - 1, 0) for i in range(n)]
    W_Q = 20 * n ** 0.5 * W_K[before]
    return W_Q, W_K""",
        # d_k = 2: minus the squared distance, (2p, -1) with (j, j^2)
        """import torch
def previous_token(n):
    pos = torch.arange(n, dtype=torch.float64)
    p = (pos - 1).clamp_min(0)
    c = 15 * 2 ** 0.5
    W_Q = c * torch.stack([2 * p, -torch.ones_like(p)], dim=1)
    W_K = torch.stack([pos, pos ** 2], dim=1)
    return W_Q, W_K""",
        # d_k = 2: places on a circle, the query turned back by one
        """import math
import torch
def previous_token(n):
    angle = 2 * math.pi / n
    j = torch.arange(n, dtype=torch.float64) * angle
    W_K = torch.stack([torch.cos(j), torch.sin(j)], dim=1)
    length = 12 * math.sqrt(2) / (1 - math.cos(angle))
    W_Q = torch.cat([W_K[:1], W_K[:-1]]) * length
    return W_Q, W_K""",
        # binary numbers of +1 and -1, d_k = number of bits
        """import torch
def bits(i, b):
    return [1.0 if (i >> t) & 1 else -1.0 for t in range(b)]
def previous_token(n):
    b = max(1, (n - 1).bit_length())
    W_K = torch.tensor([bits(i, b) for i in range(n)])
    W_Q = torch.tensor([bits(i - 1 if i else 0, b) for i in range(n)]) * 10 * b ** 0.5
    return W_Q, W_K""",
        # random orthonormal code, d_k = n + 3, the size shared by both sides
        """import torch
def previous_token(n):
    d_k = n + 3
    g = torch.Generator().manual_seed(1)
    code = torch.linalg.qr(torch.randn(d_k, d_k, generator=g, dtype=torch.float64))[0][:n]
    s = (25 * d_k ** 0.5) ** 0.5
    W_K = code * s
    W_Q = torch.cat((code[:1], code[:-1]), dim=0) * s
    return W_Q.float(), W_K.float()""",
        # loops; the queries are the identity, the keys say who reads them
        """import torch
def previous_token(n):
    W_Q = torch.zeros(n, n)
    W_K = torch.zeros(n, n)
    for i in range(n):
        W_Q[i, i] = 1.0
    W_K[0, 0] = 200.0
    for i in range(1, n):
        W_K[i - 1, i] = 200.0
    return W_Q, W_K""",
        # write the wanted table of scores, factor it by SVD
        """import torch
def previous_token(n):
    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    good = torch.where(i == 0, j == 0, j == i - 1)
    table = torch.where(good, 0.0, -30.0).double() * n ** 0.5
    U, S, Vh = torch.linalg.svd(table)
    return U * S, Vh.T""",
    ],
    "one_matrix": [
        # symmetric part, eigenvalues below 0 set to 0
        """import torch
def one_matrix(A):
    S = (A + A.T) / 2
    lam, Q = torch.linalg.eigh(S)
    return (Q * lam.clamp_min(0)) @ Q.T""",
        # (S + |S|) / 2 with |S| from the SVD
        """import torch
def one_matrix(A):
    S = 0.5 * (A + A.T)
    U, s, Vh = torch.linalg.svd(S)
    H = Vh.T @ torch.diag(s) @ Vh
    return (S + H) / 2""",
        # loop: add up lambda q q^T where lambda > 0
        """import torch
def one_matrix(A):
    lam, Q = torch.linalg.eigh(A / 2 + A.T / 2)
    out = 0 * A
    for k in range(len(lam)):
        if lam[k] > 0:
            out = out + lam[k] * torch.outer(Q[:, k], Q[:, k])
    return out""",
        # float64, einsum, torch.where, cast back
        """import torch
def one_matrix(A):
    B = A.double()
    lam, Q = torch.linalg.eigh((B + B.mT).mul(0.5))
    keep = torch.where(lam > 0, lam, torch.zeros_like(lam))
    return torch.einsum("ik,k,jk->ij", Q, keep, Q).to(A.dtype)""",
        # unusual: no eigenvectors, Newton-Schulz for the sign of S, float64
        """import torch
def one_matrix(A):
    S = (A + A.T).double() / 2
    size = torch.linalg.matrix_norm(S.detach())
    if size == 0:
        return (S * 0).to(A.dtype)
    X = S / size
    eye = torch.eye(len(S), dtype=torch.float64)
    for _ in range(120):
        X = X @ (3 * eye - X @ X) / 2
    P = S @ (eye + X) / 2
    return ((P + P.T) / 2).to(A.dtype)""",
        # build the W itself and return W W^T
        """import torch
def best_W(A):
    lam, Q = torch.linalg.eigh((A + A.transpose(0, 1)) / 2)
    up = lam > 0
    return Q[:, up] * torch.sqrt(lam[up])
def one_matrix(A):
    W = best_W(A)
    return W @ W.transpose(0, 1)""",
        # take the negative part away from S
        """import torch
def one_matrix(A):
    S = A.add(A.T).div(2)
    lam, Q = torch.linalg.eigh(S)
    N = Q[:, lam < 0]
    return S - N @ torch.diag(lam[lam < 0]) @ N.T""",
    ],
    "contributions": [
        # weight times the length of v W_O
        """import torch
def contributions(weights, v, W_O):
    return weights * (v @ W_O).norm(dim=-1).unsqueeze(-2)""",
        # all parts as one big tensor, then the length
        """import torch
def contributions(weights, v, W_O):
    parts = weights.unsqueeze(-1) * (v @ W_O).unsqueeze(-3)
    return torch.linalg.vector_norm(parts, dim=-1)""",
        # einsum for the parts
        """import torch
def contributions(weights, v, W_O):
    parts = torch.einsum("...nm,...md,de->...nme", weights, v, W_O)
    return torch.linalg.norm(parts, dim=-1)""",
        # Gram matrix W_O W_O^T, float64, guarded root, cast back
        """import torch
def contributions(weights, v, W_O):
    vv, W = v.double(), W_O.double()
    sq = ((vv @ (W @ W.T)) * vv).sum(-1)
    ok = sq > 0
    length = torch.where(ok, torch.where(ok, sq, torch.ones_like(sq)).sqrt(), torch.zeros_like(sq))
    return (weights.double().abs() * length[..., None, :]).to(weights.dtype)""",
        # loop over the keys, stacked
        """import torch
def contributions(weights, v, W_O):
    cols = []
    for j in range(v.shape[-2]):
        out_j = v[..., j, :] @ W_O
        cols.append(weights[..., :, j] * torch.linalg.vector_norm(out_j, dim=-1, keepdim=True))
    return torch.stack(cols, dim=-1)""",
        # broadcast product: lengths as a diagonal matrix
        """import torch
def length(t):
    return torch.linalg.vector_norm(t, ord=2, dim=-1)
def contributions(weights, v, W_O):
    return weights @ torch.diag_embed(length(torch.matmul(v, W_O)))""",
        # unusual: the length is the distance from the zero vector, torch.cdist
        """import torch
def contributions(weights, v, W_O):
    out = torch.matmul(v, W_O)
    origin = torch.zeros_like(out[..., :1, :])
    far = torch.cdist(origin, out, compute_mode="donot_use_mm_for_euclid_dist")
    return far * weights""",
    ],
    "mover": [
        # d_v = 1, two ones
        """import torch
def mover(d, source, target):
    W_V = torch.zeros(d, 1)
    W_O = torch.zeros(1, d)
    W_V[source, 0] = 1
    W_O[0, target] = 1
    return W_V, W_O""",
        # d_v = d: identity, then one entry
        """import torch
def mover(d, source, target):
    W_O = torch.zeros(d, d, dtype=torch.float64)
    W_O[source, target] = 1.0
    return torch.eye(d, dtype=torch.float64), W_O""",
        # slices of the identity, values doubled and halved
        """import torch
def mover(d, source, target):
    I = torch.eye(d)
    return 2 * I[:, source:source + 1], 0.5 * I[target:target + 1, :]""",
        # one_hot and outer product; W_O is the identity
        """import torch
import torch.nn.functional as F
def mover(d, source, target):
    a = F.one_hot(torch.tensor(source), d).float()
    b = F.one_hot(torch.tensor(target), d).float()
    return torch.outer(a, b), torch.eye(d)""",
        # loops and torch.where, two channels that carry half each
        """import torch
def mover(d, source, target):
    idx = torch.arange(d)
    col = torch.where(idx == source, 1.0, 0.0)
    row = torch.where(idx == target, 0.5, 0.0)
    return torch.stack([col for _ in range(2)], dim=1), torch.stack([row for _ in range(2)], dim=0)""",
        # mixed by a random orthogonal matrix, d_v = 3, float64
        """import torch
def mover(d, source, target):
    g = torch.Generator().manual_seed(3)
    R = torch.linalg.qr(torch.randn(3, 3, generator=g, dtype=torch.float64))[0]
    V = torch.zeros(d, 3, dtype=torch.float64)
    O = torch.zeros(3, d, dtype=torch.float64)
    V[source, 1] = 1
    O[1, target] = 1
    return V @ R, R.T @ O""",
        # unusual: W_V reads a second channel that W_O never writes
        """import torch
def mover(d, source, target):
    W_V = torch.cat([torch.eye(d)[:, [source]], torch.ones(d, 1)], dim=1)
    W_O = torch.cat([-torch.eye(d)[[target]], torch.zeros(1, d)], dim=0)
    return -W_V, W_O""",
    ],
    "lost": [
        # take away x W pinv(W)
        """import torch
def lost(x, W_V):
    return x - x @ W_V @ torch.linalg.pinv(W_V)""",
        # QR, take away the projection
        """import torch
def lost(x, W_V):
    Q, _ = torch.linalg.qr(W_V)
    return x - (x @ Q) @ Q.T""",
        # normal equations solved in float64, cast back
        """import torch
def lost(x, W_V):
    X, W = x.double(), W_V.double()
    P = W @ torch.linalg.solve(W.T @ W, W.T)
    eye = torch.eye(W.shape[0], dtype=torch.float64)
    return (X @ (eye - P)).to(x.dtype)""",
        # least squares: the residual of fitting x by the columns
        """import torch
def lost(x, W_V):
    flat = x.reshape(-1, x.shape[-1]).T
    c = torch.linalg.lstsq(W_V, flat).solution
    return (flat - W_V @ c).T.reshape(x.shape)""",
        # Gram-Schmidt by loops
        """import torch
def lost(x, W_V):
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
    return rest""",
        # thin SVD and einsum
        """import torch
def lost(x, W_V):
    U = torch.linalg.svd(W_V, full_matrices=False)[0]
    kept = torch.einsum("...d,dk,ek->...e", x, U, U)
    return x - kept""",
        # Cholesky of W^T W; the smallest token with the same value is taken away
        """import torch
def smallest_with(value, W):
    L = torch.linalg.cholesky(W.T @ W)
    return torch.cholesky_solve(value.reshape(-1, W.shape[1]).T, L).T @ W.T
def lost(x, W_V):
    value = torch.matmul(x, W_V)
    return x - smallest_with(value, W_V).reshape(x.shape)""",
    ],
    "padding_weights": [
        # lowest finite number, softmax, times the mask
        """import torch
def padding_weights(scores, lengths):
    real = torch.arange(scores.shape[-1]) < lengths[:, None]
    real = real[:, None, :]
    w = torch.softmax(scores.masked_fill(~real, torch.finfo(scores.dtype).min), dim=-1)
    return w * real""",
        # loop over the sentences, softmax of the cut, zeros appended
        """import torch
import torch.nn.functional as F
def padding_weights(scores, lengths):
    m = scores.shape[-1]
    out = []
    for s, L in zip(scores, lengths.tolist()):
        w = torch.softmax(s[:, :L], dim=-1) if L > 0 else s[:, :0]
        out.append(F.pad(w, (0, m - L)))
    return torch.stack(out)""",
        # own softmax with torch.where at every dangerous step
        """import torch
def padding_weights(scores, lengths):
    B, n, m = scores.shape
    real = (torch.arange(m).view(1, 1, m) < lengths.view(B, 1, 1)).expand(B, n, m)
    low = torch.where(real, scores, torch.full_like(scores, -torch.inf)).amax(-1, keepdim=True).detach()
    low = torch.where(torch.isinf(low), torch.zeros_like(low), low)
    zero = torch.zeros_like(scores)
    e = torch.where(real, torch.exp(torch.where(real, scores - low, zero)), zero)
    z = e.sum(-1, keepdim=True)
    return e / torch.where(z > 0, z, torch.ones_like(z))""",
        # an empty sentence borrows its first word, the row is wiped afterwards
        """import torch
def padding_weights(scores, lengths):
    m = scores.size(-1)
    safe = lengths.clamp_min(1)
    blocked = torch.arange(m)[None, None, :] >= safe[:, None, None]
    w = scores.masked_fill(blocked, float("-inf")).softmax(dim=-1)
    return torch.where((lengths > 0)[:, None, None], w, torch.zeros_like(w))""",
        # only the sentences with words are computed, put into a tensor of zeros
        """import torch
def padding_weights(scores, lengths):
    out = torch.zeros_like(scores)
    full = (lengths > 0).nonzero().squeeze(-1)
    s = scores[full]
    blocked = torch.arange(scores.shape[2]).unsqueeze(0) >= lengths[full].unsqueeze(1)
    s = s.masked_fill(blocked.unsqueeze(1), float("-inf"))
    return out.index_copy(0, full, torch.softmax(s, dim=2))""",
        # float64, table of masks looked up by length, logsumexp, cast back
        """import torch
def padding_weights(scores, lengths):
    m = scores.shape[-1]
    table = torch.ones(m + 1, m, dtype=torch.float64).tril(-1)
    keep = table[lengths.long()].unsqueeze(1)
    s = torch.where(keep > 0, scores.double(), torch.tensor(-1e300, dtype=torch.float64))
    w = torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
    return torch.einsum("bnm,bqm->bnm", w, keep).to(scores.dtype)""",
        # unusual: group the sentences by length, one softmax per length
        """import torch
def padding_weights(scores, lengths):
    B, n, m = scores.shape
    rows = [None] * B
    for L in sorted(set(int(v) for v in lengths)):
        where = [b for b in range(B) if int(lengths[b]) == L]
        if L == 0:
            w = torch.zeros(len(where), n, m, dtype=scores.dtype) + 0 * scores[where]
        else:
            w = torch.cat([scores[where][..., :L].softmax(-1), scores.new_zeros(len(where), n, m - L)], dim=-1)
        for b, wb in zip(where, w):
            rows[b] = wb
    return torch.stack(rows)""",
    ],
    "causal_with_cache": [
        # tril with the diagonal moved by m - n
        """import torch
def causal_with_cache(n, m):
    return torch.ones(n, m, dtype=torch.bool).tril(diagonal=m - n)""",
        # places compared by broadcasting
        """import torch
def causal_with_cache(n, m):
    q = torch.arange(m - n, m)
    k = torch.arange(m)
    return k[None, :] <= q[:, None]""",
        # two loops
        """import torch
def causal_with_cache(n, m):
    mask = torch.zeros(n, m, dtype=torch.bool)
    for i in range(n):
        for j in range(m):
            mask[i, j] = j <= i + (m - n)
    return mask""",
        # last n rows of the full square mask
        """import torch
def causal_with_cache(n, m):
    full = torch.tril(torch.ones(m, m)) == 1
    return full[m - n:]""",
        # all of the cache, then a small triangle
        """import torch
def causal_with_cache(n, m):
    cache = torch.ones(n, m - n)
    new = torch.tril(torch.ones(n, n))
    return torch.cat([cache, new], dim=1).bool()""",
        # triu forbids, then not
        """import torch
def causal_with_cache(n, m):
    forbidden = torch.triu(torch.ones(n, m, dtype=torch.int64), diagonal=m - n + 1)
    return torch.logical_not(forbidden)""",
        # unusual: counting ones by cumsum, torch.where
        """import torch
def causal_with_cache(n, m):
    ones = torch.ones(n, m, dtype=torch.int64)
    rank = ones.cumsum(dim=1)
    allowed = ones.cumsum(dim=0) + (m - n)
    return torch.where(rank > allowed, torch.tensor(False), torch.tensor(True))""",
    ],
    "leaks": [
        # new random tail after every place, several trials and sizes
        """import torch
def leaks(f, n, d):
    g = torch.Generator().manual_seed(0)
    for size in (1.0, 10.0, 0.1, 1.0, 5.0, 1.0):
        x = size * torch.randn(n, d, generator=g, dtype=torch.float64)
        y = f(x.clone())
        for i in range(n - 1):
            z = x.clone()
            z[i + 1:] = size * torch.randn(n - i - 1, d, generator=g, dtype=torch.float64)
            if not torch.allclose(f(z)[:i + 1], y[:i + 1], rtol=1e-9, atol=1e-10, equal_nan=True):
                return True
    return False""",
        # one later token at a time, all earlier outputs compared
        """import torch
def leaks(f, n, d):
    torch.manual_seed(1)
    for trial in range(12):
        scale = [0.3, 1.0, 3.0, 10.0][trial % 4]
        x = torch.randn(n, d).double() * scale
        before = f(x.clone()).detach()
        for j in range(1, n):
            changed = x.clone()
            changed[j] = torch.randn(d).double() * scale
            after = f(changed).detach()
            if (after[:j] - before[:j]).abs().max() > 1e-9 * (1 + before[:j].abs().max()):
                return True
    return False""",
        # torch.where mixes two texts that share a beginning
        """import torch
def leaks(f, n, d):
    gen = torch.Generator().manual_seed(5)
    place = torch.arange(n)[:, None]
    found = False
    for s in [1, 1, 4, 20, 0.2, 1]:
        a = torch.randn(n, d, dtype=torch.float64, generator=gen) * s
        b = torch.randn(n, d, dtype=torch.float64, generator=gen) * s
        for cut in range(n - 1):
            mixed = torch.where(place <= cut, a, b)
            ya, ym = f(a.clone()), f(mixed)
            same = torch.isclose(ya, ym, rtol=1e-9, atol=1e-10, equal_nan=True) | (place > cut)
            found = found or not bool(same.all())
    return found""",
        # helper per pair (i, j), stops at the first pair
        """import torch
def depends(f, n, d, i, j, gen):
    for size in (1.0, 8.0, 1.0, 0.5, 2.0, 30.0):
        x = torch.randn(n, d, generator=gen, dtype=torch.float64) * size
        z = x.clone()
        z[j] = torch.randn(d, generator=gen, dtype=torch.float64) * size
        p, q = f(x)[i], f(z)[i]
        if not torch.allclose(p, q, rtol=1e-9, atol=1e-10, equal_nan=True):
            return True
    return False
def leaks(f, n, d):
    gen = torch.Generator().manual_seed(11)
    return any(depends(f, n, d, i, j, gen) for i in range(n) for j in range(i + 1, n))""",
        # derivatives first where there are any, then random tails to be sure
        """import torch
def tails_differ(f, n, d):
    for seed in range(8):
        torch.manual_seed(seed)
        size = 10.0 ** (seed % 3 - 1)
        x = torch.rand(n, d, dtype=torch.float64).sub(0.5).mul(6 * size)
        y = f(x.clone())
        for i in range(n - 1):
            z = torch.cat([x[:i + 1], torch.rand(n - i - 1, d, dtype=torch.float64).sub(0.5).mul(6 * size)])
            if not torch.allclose(f(z)[:i + 1], y[:i + 1], rtol=1e-9, atol=1e-11, equal_nan=True):
                return True
    return False
def leaks(f, n, d):
    try:
        torch.manual_seed(99)
        J = torch.autograd.functional.jacobian(f, torch.randn(n, d, dtype=torch.float64))
        per = J.abs().amax(dim=(1, 3))
        if bool((torch.triu(per, 1) > 1e-9).any()):
            return True
    except Exception:
        pass
    return tails_differ(f, n, d)""",
        # table of changes (j, i), upper part must be empty
        """import torch
def leaks(f, n, d):
    g = torch.Generator().manual_seed(123)
    rnd = lambda *shape: torch.randn(*shape, generator=g, dtype=torch.float64)
    change = torch.zeros(n, n, dtype=torch.float64)
    for r in range(10):
        size = (1.0, 0.1, 10.0, 3.0, 1.0)[r % 5]
        x = rnd(n, d) * size
        y = f(x.clone()).detach()
        for j in range(n):
            z = x.clone()
            z[j:] = rnd(n - j, d) * size
            diff = (f(z).detach() - y).abs().amax(dim=1) / (1 + y.abs().amax(dim=1))
            change[j] = torch.maximum(change[j], torch.nan_to_num(diff))
    return bool((change.tril(-1) > 1e-9).any())""",
        # unusual: many futures for one past, the spread of the outputs must be 0
        """import torch
def leaks(f, n, d):
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
    return False""",
    ],
    "multi_head": [
        # view and transpose, masked_fill
        """import math
import torch
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
    B, n, _ = x.shape
    q = (x @ W_Q).view(B, n, h, -1).transpose(1, 2)
    k = (x @ W_K).view(B, n, h, -1).transpose(1, 2)
    v = (x @ W_V).view(B, n, h, -1).transpose(1, 2)
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    w = s.masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(-1)
    return (w @ v).transpose(1, 2).reshape(B, n, -1) @ W_O""",
        # loop over the heads, slices, concatenate
        """import torch
def one_head(x, Q, K, V, mask):
    q, k, v = x @ Q, x @ K, x @ V
    s = q @ k.mT * Q.shape[1] ** -0.5
    s = torch.where(mask, s, torch.full_like(s, -torch.inf))
    return torch.softmax(s, dim=-1) @ v
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
    parts = zip(W_Q.chunk(h, dim=1), W_K.chunk(h, dim=1), W_V.chunk(h, dim=1))
    return torch.cat([one_head(x, Q, K, V, mask) for Q, K, V in parts], dim=-1) @ W_O""",
        # einsum throughout, weights reshaped by head
        """import torch
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
    D = x.shape[-1]
    Q, K, V = (W.reshape(D, h, -1) for W in (W_Q, W_K, W_V))
    O = W_O.reshape(h, -1, W_O.shape[-1])
    q = torch.einsum("bnd,dhk->bhnk", x, Q)
    k = torch.einsum("bnd,dhk->bhnk", x, K)
    v = torch.einsum("bnd,dhv->bhnv", x, V)
    s = torch.einsum("bhik,bhjk->bhij", q, k) / Q.shape[-1] ** 0.5
    w = torch.softmax(s + torch.zeros_like(s).masked_fill(~mask[:, None], float("-inf")), -1)
    return torch.einsum("bhij,bhjv,hvd->bid", w, v, O)""",
        # torch's scaled_dot_product_attention
        """import torch
import torch.nn.functional as F
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
    split = lambda t: t.unflatten(-1, (h, -1)).transpose(1, 2)
    y = F.scaled_dot_product_attention(split(x @ W_Q), split(x @ W_K), split(x @ W_V), attn_mask=mask[:, None])
    return y.transpose(1, 2).flatten(2) @ W_O""",
        # no concatenation: the heads' own blocks of W_O, summed
        """import torch
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
    dk, dv = W_Q.shape[1] // h, W_V.shape[1] // h
    total = torch.zeros_like(x @ W_V[:, :1] * W_O[0])
    for a in range(h):
        ks, vs = slice(a * dk, (a + 1) * dk), slice(a * dv, (a + 1) * dv)
        form = W_Q[:, ks] @ W_K[:, ks].T / dk ** 0.5
        s = x @ form @ x.transpose(1, 2)
        w = torch.softmax(s.masked_fill(mask.logical_not(), torch.finfo(s.dtype).min), dim=-1)
        total = total + w @ x @ (W_V[:, vs] @ W_O[vs])
    return total""",
        # float64 inside, own softmax with mask and maximum, cast back
        """import torch
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
    dt = x.dtype
    x, W_Q, W_K, W_V, W_O = (t.double() for t in (x, W_Q, W_K, W_V, W_O))
    B, n, _ = x.shape
    heads = lambda W: (x @ W).reshape(B, n, h, W.shape[1] // h).permute(2, 0, 1, 3)
    q, k, v = heads(W_Q), heads(W_K), heads(W_V)
    s = torch.matmul(q, k.transpose(2, 3)).div(q.size(-1) ** 0.5)
    m = mask.unsqueeze(0)
    top = s.masked_fill(~m, -torch.inf).amax(-1, keepdim=True).detach()
    e = torch.where(m, torch.exp(torch.where(m, s - top, torch.zeros_like(s))), torch.zeros_like(s))
    y = (e @ v) / e.sum(-1, keepdim=True)
    return (y.permute(1, 2, 0, 3).reshape(B, n, -1) @ W_O).to(dt)""",
        # loops over texts, heads and queries; only the allowed keys are picked out
        """import torch
def multi_head(x, W_Q, W_K, W_V, W_O, h, mask):
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
    return torch.stack(texts) @ W_O""",
    ],
    "per_head": [
        # W_O cut into blocks, broadcast matmul
        """import torch
def per_head(y, W_O):
    B, h, n, d_v = y.shape
    return y @ W_O.reshape(h, d_v, -1)""",
        # einsum
        """import torch
def per_head(y, W_O):
    blocks = W_O.unflatten(0, (y.shape[1], y.shape[3]))
    return torch.einsum("bhnv,hvd->bhnd", y, blocks)""",
        # loop over the heads, slices, stack
        """import torch
def per_head(y, W_O):
    d_v = y.shape[-1]
    return torch.stack([y[:, a] @ W_O[a * d_v:(a + 1) * d_v] for a in range(y.shape[1])], dim=1)""",
        # each head alone in a row of zeros, then the whole W_O
        """import torch
def per_head(y, W_O):
    B, h, n, d_v = y.shape
    alone = torch.eye(h, dtype=y.dtype)
    wide = torch.einsum("bhnv,hg->bhngv", y, alone).reshape(B, h, n, h * d_v)
    return wide @ W_O""",
        # float64 inside, bmm over the heads, cast back
        """import torch
def per_head(y, W_O):
    B, h, n, d_v = y.shape
    flat = y.double().transpose(0, 1).reshape(h, B * n, d_v)
    out = torch.bmm(flat, W_O.double().view(h, d_v, -1))
    return out.view(h, B, n, -1).transpose(0, 1).to(y.dtype)""",
        # chunk, unbind and zip with F.linear
        """import torch
import torch.nn.functional as F
def per_head(y, W_O):
    outs = [F.linear(part, block.T) for part, block in zip(y.unbind(1), W_O.chunk(y.size(1), dim=0))]
    return torch.stack(outs, 1)""",
        # unusual: elementwise product with new axes and a sum, no matmul
        """import torch
def per_head(y, W_O):
    B, h, n, d_v = y.shape
    total = 0
    for c in range(d_v):
        rows = W_O[c::d_v]
        total = total + y[..., c, None] * rows[None, :, None, :]
    return total""",
    ],
    "least_error": [
        "def least_error(weights, r):\n    P = torch.linalg.pinv(weights) @ weights\n    return 1 - "
        "P.diagonal()[:r].sum() / r",
        "def least_error(weights, r):\n    G = weights @ weights.mT\n    known = torch.linalg.solve(G, weights[:, "
        ":r])\n    return 1 - (weights[:, :r] * known).sum() / r",
        "def least_error(weights, r):\n    U, S, Vh = torch.linalg.svd(weights, full_matrices=False)\n    return 1 - "
        "Vh[:, :r].pow(2).sum() / r",
        "def least_error(weights, r):\n    targets = torch.eye(weights.shape[1], dtype=weights.dtype)[:, :r]\n    "
        "guess = torch.linalg.lstsq(weights.T, targets).solution\n    return (weights.T @ guess - "
        "targets).square().sum() / r",
        "def least_error(weights, r):\n    rows = []\n    for w in weights:\n        for b in rows:\n            w = "
        "w - (w @ b) * b\n        rows.append(w / w.norm())\n    return 1 - sum(float((b[:r] ** 2).sum()) for b in "
        "rows) / torch.tensor(float(r), dtype=weights.dtype)",
        "def least_error(weights, r):\n    n = weights.shape[-1]\n    Q = torch.linalg.qr(weights.T, "
        "mode='complete')[0][:, weights.shape[0]:]\n    return (Q[:r] ** 2).sum() / r",
    ],
    "on_a_circle": [
        "def on_a_circle(order):\n    n = len(order)\n    a = torch.arange(n) * (2 * math.pi / n)\n    K = "
        "torch.stack((torch.cos(a), torch.sin(a)), dim=1)\n    return 20 * n * n * K[order], K",
        "def on_a_circle(order):\n    n = len(order)\n    z = torch.polar(torch.ones(n, dtype=torch.float64), 2 * "
        "math.pi * torch.arange(n, dtype=torch.float64) / n)\n    K = torch.view_as_real(z)\n    return 1e5 * "
        "K[order], K",
        "def on_a_circle(order):\n    n = len(order)\n    K = torch.tensor([[math.cos(2 * math.pi * i / n + 0.3), "
        "math.sin(2 * math.pi * i / n + 0.3)] for i in range(n)], dtype=torch.float64)\n    Q = torch.stack([K[j] for "
        "j in order.tolist()]) * 1e4 * 5\n    return Q, K",
        "def on_a_circle(order):\n    n = len(order)\n    c = 300.0 * n\n    a = torch.linspace(0, 2 * math.pi, n + "
        "1, dtype=torch.float64)[:-1]\n    K = c ** 0.5 * torch.stack([a.sin(), a.cos()], 1)\n    return n * "
        "K.index_select(0, order), K",
        "def on_a_circle(order):\n    n = len(order)\n    x = torch.arange(n, dtype=torch.float64) - (n - 1) / 2\n    "
        "K = torch.stack([x, -x ** 2], 1)\n    Q = torch.stack([2 * x, torch.ones(n, dtype=torch.float64)], "
        "1)[order]\n    return 20 * Q, K",
        "def on_a_circle(order):\n    n = order.numel()\n    K = torch.empty(n, 2, dtype=torch.float64)\n    for j in "
        "range(n):\n        t = math.tau * j / n\n        K[j, 0], K[j, 1] = math.cos(t), math.sin(t)\n    P = "
        "torch.nn.functional.one_hot(order, n).double()\n    return 1e6 * (P @ K), K",
    ],
}
