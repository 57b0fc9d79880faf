"""Right answers to the exercises of chapter 9 (see __init__.py)."""
import torch


# --- 9.1 gated -------------------------------------------------------------------------------------------------------

def gated__einsum(y, gates, W_O):
    return torch.einsum("bhnd,h,hdm->bnm", y, gates, W_O.unflatten(0, (y.shape[1], -1)))


def gated__channels_scaled(y, gates, W_O):
    merged = y.transpose(1, 2).flatten(2)
    return torch.mul(merged, gates.repeat_interleave(y.shape[-1])) @ W_O


def gated__head_by_head(y, gates, W_O):
    blocks = W_O.chunk(y.shape[1])
    return sum(g * (y_i @ W) for g, y_i, W in zip(gates, y.unbind(1), blocks))


# --- 9.2 removal_costs -----------------------------------------------------------------------------------------------

def removal_costs__one_gate_shut_at_a_time(loss, h):
    gates, costs = torch.ones(h), []
    full = loss(gates).item()
    for i in range(h):
        gates[i] = 0.0
        costs.append(loss(gates).item() - full)
        gates[i] = 1.0
    return torch.tensor(costs)


def removal_costs__vmap(loss, h):
    return torch.vmap(loss)(1 - torch.eye(h)) - loss(torch.ones(h))


def removal_costs__whole_numbers_for_gates(loss, h):
    on = torch.ones(h, dtype=torch.long)
    return torch.stack([loss(on.index_fill(0, i, 0)) - loss(on) for i in torch.arange(h)])


# --- 9.3 without_heads -----------------------------------------------------------------------------------------------

def without_heads__lists_of_columns(W_Q, W_K, W_V, W_O, keep, h):
    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
    k = [i * d_k + c for i in keep.tolist() for c in range(d_k)]
    v = [i * d_v + c for i in keep.tolist() for c in range(d_v)]
    return W_Q[:, k], W_K[:, k], W_V[:, v], W_O[v]


def without_heads__cut_and_joined_again(W_Q, W_K, W_V, W_O, keep, h):
    cut = lambda W: W.reshape(W.shape[0], h, -1).index_select(1, keep).reshape(W.shape[0], -1)
    return [cut(W_Q), cut(W_K), cut(W_V), cut(W_O.T).T]


def without_heads__products_with_a_selection(W_Q, W_K, W_V, W_O, keep, h):
    pick = torch.nn.functional.one_hot(keep, h).to(W_Q.dtype)
    k = torch.kron(pick, torch.eye(W_Q.shape[1] // h, dtype=W_Q.dtype))
    v = torch.kron(pick, torch.eye(W_V.shape[1] // h, dtype=W_Q.dtype))
    return W_Q @ k.T, W_K @ k.T, W_V @ v.T, v @ W_O
