"""Right answers to the exercises of chapter 12 (see __init__.py)."""
import math

import torch


# --- 12.1 join -------------------------------------------------------------------------------------------------------

def join__logaddexp(out_a, lse_a, out_b, lse_b):
    lse = torch.logaddexp(lse_a, lse_b)
    return out_a * torch.exp(lse_a - lse)[..., None] + out_b * torch.exp(lse_b - lse)[..., None], lse


def join__softmax_of_both(out_a, lse_a, out_b, lse_b):
    both = torch.stack([lse_a, lse_b])
    shares = both.softmax(0).unsqueeze(-1)
    return (shares * torch.stack([out_a, out_b])).sum(0), both.logsumexp(0)


def join__sigmoid(out_a, lse_a, out_b, lse_b):
    share = torch.sigmoid(lse_a - lse_b).unsqueeze(-1)
    return out_b + share * (out_a - out_b), torch.logaddexp(lse_b, lse_a)


# --- 12.2 tile_step --------------------------------------------------------------------------------------------------

def tile_step__masked(top, total, acc, scores, v):
    new = torch.maximum(top, scores.max(-1).values)
    shift = torch.where(new == -math.inf, torch.zeros_like(new), new)
    fade = torch.exp(top - shift)
    p = torch.exp(scores - shift.unsqueeze(-1))
    return new, fade * total + p.sum(-1), fade.unsqueeze(-1) * acc + p @ v


def tile_step__query_by_query(top, total, acc, scores, v):
    rows = []
    for t, z, a, s in zip(top, total, acc, scores):
        new = torch.maximum(t, s.max())
        if new == -math.inf:
            rows.append((new, z, a))
            continue
        p = (s - new).exp()
        fade = (t - new).exp()
        rows.append((new, fade * z + p.sum(), fade * a + p @ v))
    return tuple(torch.stack(column) for column in zip(*rows))


def tile_step__key_by_key(top, total, acc, scores, v):
    for s, value in zip(scores.T, v):
        new = torch.maximum(top, s)
        safe = new.masked_fill(new == -math.inf, 0.0)
        fade, p = (top - safe).exp(), (s - safe).exp()
        top, total, acc = new, fade * total + p, fade[:, None] * acc + p[:, None] * value
    return top, total, acc


# --- 12.7 my_slice ---------------------------------------------------------------------------------------------------

def my_slice__slices(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank):
    d_k, d_v, size = W_Q.shape[1] // h, W_O.shape[0] // h, h_kv // P
    kv = slice(rank * size, h_kv if rank + 1 == P else (rank + 1) * size)
    q = slice(kv.start * h // h_kv, kv.stop * h // h_kv)

    def of(heads, d):
        return slice(heads.start * d, heads.stop * d)
    return (W_Q[:, of(q, d_k)], W_K[:, of(kv, d_k)], W_V[:, of(kv, d_v)], W_O[of(q, d_v), :],
            b_O * (rank == 0))


def my_slice__an_axis_of_heads(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank):
    here = list(range(h_kv))[rank * (h_kv // P):]
    if rank < P - 1:
        here = here[: h_kv // P]
    Q = W_Q.unflatten(1, (h_kv, h // h_kv, -1))[:, here].flatten(1)
    K, V = (W.reshape(len(W), h_kv, -1)[:, here].flatten(1) for W in (W_K, W_V))
    O = W_O.unflatten(0, (h_kv, -1))[here].flatten(0, 1)
    return Q, K, V, O, b_O.clone() if rank == 0 else b_O.new_zeros(b_O.shape)


def my_slice__split_by_sizes(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank):
    each = h_kv // P
    heads = [each] * (P - 1) + [h_kv - each * (P - 1)]

    def mine(W, dim):
        width = W.shape[dim] // h_kv
        return torch.split(W, [n * width for n in heads], dim)[rank]
    bias = torch.zeros_like(b_O)
    if rank == 0:
        bias += b_O
    return mine(W_Q, 1), mine(W_K, 1), mine(W_V, 1), mine(W_O, 0), bias


def my_slice__a_mask_of_columns(W_Q, W_K, W_V, W_O, b_O, h, h_kv, P, rank):
    machine = (torch.arange(h_kv) // max(h_kv // P, 1)).clamp(max=P - 1)

    def held(count):
        return (machine.repeat_interleave(count // h_kv) == rank).nonzero().flatten()
    return (W_Q.index_select(1, held(W_Q.shape[1])), W_K[:, held(W_K.shape[1])], W_V[:, held(W_V.shape[1])],
            W_O[held(len(W_O))], b_O if not rank else 0 * b_O)


# --- 12.9 zigzag -----------------------------------------------------------------------------------------------------

def zigzag__slices(x, machines, rank):
    size = x.size(0) // (2 * machines)
    return torch.cat((x[rank * size : (rank + 1) * size], x[len(x) - (rank + 1) * size : len(x) - rank * size]), dim=0)


def zigzag__a_mask_of_tokens(x, machines, rank):
    chunk = torch.arange(x.shape[0]) // (x.shape[0] // machines // 2)
    return x[(chunk == rank) | (chunk == 2 * machines - 1 - rank)]


def zigzag__an_axis_of_chunks(x, machines, rank):
    return x.unflatten(0, (2 * machines, -1))[[rank, -1 - rank]].flatten(0, 1)


def zigzag__token_by_token(x, machines, rank):
    each = len(x) // machines // 2
    places = [*range(rank * each, rank * each + each)]
    places += [len(x) - 1 - place for place in reversed(places)]
    return torch.stack([x[place] for place in places])


# --- 12.10 kernel ----------------------------------------------------------------------------------------------------

def kernel__running_sums(memory):
    for queries in memory.tiles("Q"):
        q = memory.read("Q", queries) * memory.tensors["K"].shape[1] ** -0.5
        total, acc = q.new_zeros(len(q)), q.new_zeros(len(q), memory.tensors["V"].shape[1])
        top = torch.full_like(total, -math.inf)
        for keys in memory.tiles("K"):
            s = q @ memory.read("K", keys).T
            new = torch.maximum(top, s.max(-1).values)
            fade, p = torch.exp(top - new), torch.exp(s - new[:, None])
            total, acc = fade * total + p.sum(-1), fade[:, None] * acc + p @ memory.read("V", keys)
            top = new
        memory.write("O", acc / total[:, None], queries)
    return memory


def kernel__outputs_joined(memory):
    """Each tile's output is a mean of its own; the log-sum-exp says how much it counts."""
    for queries in memory.tiles("Q"):
        q, out, lse = memory.read("Q", queries), None, None
        for keys in memory.tiles("V"):
            v = memory.read("V", keys)
            s = torch.einsum("id,jd->ij", q, memory.read("K", keys)) / math.sqrt(q.shape[1])
            mine, mean = s.logsumexp(-1, keepdim=True), s.softmax(-1) @ v
            if out is None:
                out, lse = mean, mine
            else:
                out = out + torch.sigmoid(mine - lse) * (mean - out)
                lse = torch.logaddexp(lse, mine)
        memory.write("O", out, queries)
    return memory


def kernel__there_and_back(memory):
    """Every second tile of queries meets the keys from behind, and the tile at the turn is not read again."""
    held, tiles = None, memory.tiles("K")
    for queries in memory.tiles("Q"):
        q = memory.read("Q", queries).clone()
        top, sums = torch.full_like(q[:, :1], -math.inf), 0
        for tile in tiles:
            if tile != held:
                k, v = memory.read("K", tile), memory.read("V", tile)
                held = tile
            s = q @ k.mT / q.shape[-1] ** 0.5
            new = torch.maximum(top, s.amax(1, keepdim=True))
            p = (s - new).exp()
            sums = (top - new).exp() * sums + p @ torch.cat([v, torch.ones_like(v[:, :1])], -1)
            top = new
        memory.write("O", sums[:, :-1] / sums[:, -1:], queries)
        tiles = tiles[::-1]
    return memory


def kernel__query_by_query(memory):
    rows, width = memory.room["Q"], memory.room["K"]
    n, m = len(memory.tensors["Q"]), len(memory.tensors["K"])
    for i in range(0, n, rows):
        Q = memory.read("Q", slice(i, i + rows))
        state = [(-math.inf, 0.0, 0.0)] * len(Q)
        for j in range(0, m, width):
            K, V = (memory.read(name, slice(j, j + width)) for name in "KV")
            for number, (q, (top, total, acc)) in enumerate(zip(Q, state)):
                for k, v in zip(K, V):
                    s = float(q @ k) / math.sqrt(len(q))
                    new = max(top, s)
                    fade, p = math.exp(top - new), math.exp(s - new)
                    top, total, acc = new, fade * total + p, fade * acc + p * v
                state[number] = top, total, acc
        memory.write("O", torch.stack([acc / total for _, total, acc in state]), slice(i, i + rows))
    return memory


def kernel__one_tile_ahead(memory):
    """The scores of the next keys are made before the values of the last are added."""
    tiles = memory.tiles("K")
    for queries in memory.tiles("Q"):
        q = memory.read("Q", queries)
        scores = [q @ memory.read("K", tiles[0]).mT / q.size(-1) ** 0.5]
        top, total, acc = -math.inf, 0, 0
        for tile, after in zip(tiles, [*tiles[1:], None]):
            if after:
                scores.append(q @ memory.read("K", after).mT / q.size(-1) ** 0.5)
            s = scores.pop(0)
            new = s.amax(-1, True).clamp(min=top) if isinstance(top, float) else torch.maximum(s.amax(-1, True), top)
            fade, p = torch.exp(top - new), torch.exp(s - new)
            total, acc, top = total * fade + p.sum(-1, True), acc * fade + p @ memory.read("V", tile), new
        memory.write("O", acc.div(total), queries)
    return memory
