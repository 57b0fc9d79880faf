"""Right answers to the exercises of chapter 13 (see __init__.py)."""
import torch


# --- 13.1 exchange ---------------------------------------------------------------------------------------------------

def exchange__index_copy(V, other, head, places):
    one = V[:, head].index_copy(1, places, other[:, head].index_select(1, places))
    return torch.stack([one if i == head else V[:, i] for i in range(V.shape[1])], 1)


def exchange__where(V, other, head, places):
    h, m = V.shape[1:3]
    here = torch.zeros(h, m, dtype=torch.bool)
    here[head, places] = True
    return torch.where(here[:, :, None], other, V)


def exchange__place_by_place(V, other, head, places):
    out = V.clone()
    for b in range(len(V)):
        for j in places.tolist():
            out[b, head, j] = other[b, head, j]
    return out


# --- 13.2 mean_ablated -----------------------------------------------------------------------------------------------

def mean_ablated__loop(y, off):
    out = y.clone()
    for i, gone in enumerate(off.tolist()):
        if gone:
            out[:, i] = y[:, i].flatten(0, 1).mean(0)
    return out


def mean_ablated__factors(y, off):
    m = torch.einsum("bhnd->hd", y)[None, :, None] / (y.shape[0] * y.shape[2])
    keep = (~off).to(y.dtype)[:, None, None]
    return keep * y + (1 - keep) * m


def mean_ablated__indexed(y, off):
    out = y.transpose(0, 1).clone()
    out[off] = out[off].mean((1, 2), keepdim=True)
    return out.transpose(0, 1)


# --- 13.3 attribution ------------------------------------------------------------------------------------------------

def attribution__bilinear(x, y, W_Q, W_K):
    A = W_Q @ W_K.T / W_Q.shape[-1] ** 0.5
    rms = lambda t: torch.linalg.vector_norm(t.sum(0)) / t.shape[-1] ** 0.5
    return x @ A @ y.T / (rms(x) * rms(y))


def attribution__einsum(x, y, W_Q, W_K):
    sizes = [t.sum(0).pow(2).mean().pow(0.5) for t in (x, y)]
    scores = torch.einsum("pd,dk,ek,qe->pq", x, W_Q, W_K, y)
    return scores / (sizes[0] * sizes[1] * W_K.shape[1] ** 0.5)


def attribution__pair_by_pair(x, y, W_Q, W_K):
    whole_x, whole_y = x.sum(0), y.sum(0)
    r = (whole_x @ whole_x / len(whole_x)) ** 0.5 * (whole_y @ whole_y / len(whole_y)) ** 0.5
    return torch.stack([torch.stack([(a @ W_Q) @ (b @ W_K) / r / W_Q.shape[1] ** 0.5 for b in y]) for a in x])
