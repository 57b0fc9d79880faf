"""Right answers to the exercises of chapter 7 (see __init__.py)."""
import math

import torch


# --- 7.1 least_error -------------------------------------------------------------------------------------------------

def least_error__normal_equations(weights, r):
    G = weights @ weights.mT
    known = torch.linalg.solve(G, weights[:, :r])
    return 1 - (weights[:, :r] * known).sum() / r


def least_error__gram_schmidt(weights, r):
    rows = []
    for w in weights:
        for b in rows:
            w = w - (w @ b) * b
        rows.append(w / w.norm())
    return torch.tensor(1 - sum((b[:r] ** 2).sum().item() for b in rows) / r, dtype=weights.dtype)


def least_error__as_a_float(weights, r):
    basis = torch.linalg.svd(weights, full_matrices=False)[2]
    return 1 - float((basis[:, :r] ** 2).sum()) / r


def least_error__what_is_orthogonal(weights, r):
    Q = torch.linalg.qr(weights.T, mode="complete")[0][:, weights.shape[0]:]
    return (Q[:r] ** 2).sum() / r


# --- 7.2 on_a_circle -------------------------------------------------------------------------------------------------

def on_a_circle__complex_numbers(order):
    n = len(order)
    z = torch.polar(torch.ones(n, dtype=torch.float64), 2 * math.pi * torch.arange(n, dtype=torch.float64) / n)
    K = torch.view_as_real(z)
    return 1e5 * K[order], K


def on_a_circle__parabola(order):
    n = len(order)
    x = torch.arange(n, dtype=torch.float64) - (n - 1) / 2
    K = torch.stack([x, -x ** 2], 1)
    Q = torch.stack([2 * x, torch.ones(n, dtype=torch.float64)], 1)[order]
    return 20 * Q, K


def on_a_circle__parabola_of_whole_numbers(order):
    j = torch.arange(len(order))
    return 20 * torch.stack([2 * order, torch.ones_like(order)], -1), torch.stack([j, -j * j], -1)


def on_a_circle__place_by_place(order):
    n = order.numel()
    K = torch.empty(n, 2, dtype=torch.float64)
    for j in range(n):
        t = math.tau * j / n
        K[j, 0], K[j, 1] = math.cos(t), math.sin(t)
    P = torch.nn.functional.one_hot(order, n).double()
    return 1e6 * (P @ K), K


def on_a_circle__where_keys_are_the_places(order):
    n = len(order)
    angles = 2 * math.pi * torch.arange(n) / n
    K = torch.stack([angles.cos(), angles.sin()], -1)
    return 10 * n ** 2 * K, K[order.argsort()]


# --- 7.7 two_from_one ------------------------------------------------------------------------------------------------

def two_from_one__one_width_for_all(error):
    b = 0.005
    W_O = torch.tensor([[1 / b, -1 / b], [-1 / b, 1 / b], [1.0, 1.0]])
    return torch.tensor([[0.0], [0.0], [b]]), torch.eye(3), W_O


def two_from_one__negative(error):
    b = torch.tensor(-error / 3, dtype=torch.float64)
    one, nil = torch.ones_like(b), torch.zeros_like(b)
    W_V = torch.stack([torch.stack([one, nil]), torch.stack([-one, nil]), torch.stack([nil, one])])
    W_O = torch.stack([torch.stack([1 / b, -1 / b]), torch.stack([one, one])])
    return torch.stack([nil, nil, b])[:, None], W_V, W_O


def two_from_one__fitted(error):
    b = error / 2
    a = torch.linspace(-1, 1, 5, dtype=torch.float64)
    c = torch.cartesian_prod(a, a)
    w = (b * c).softmax(-1)
    brought = torch.cat([w, (w * c).sum(-1, keepdim=True)], -1)
    W_O = torch.linalg.lstsq(brought, c).solution
    return torch.tensor([[0.0], [0.0], [b]]), torch.eye(3), W_O
