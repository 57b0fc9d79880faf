"""One long text on several processes: each holds some of its tokens, and keys and values go round in a ring.

    mine = tokens_here(n, P, rank, "zigzag")                 # which tokens stand in this process
    out = ring_attention(q[..., mine, :], k[..., mine, :], v[..., mine, :], causal=True, order="zigzag")

At each step a process attends with its own queries to the keys and values that have just come, and hands these on. What
the steps give are parts of one softmax, and `mha.merge` joins them: the ring is exact. No process ever holds more keys
than its own and those that pass, forward or backward.

With a causal mask the order of the tokens decides who waits. In contiguous order the first process sees only its own
tokens, and the last one sees all: while it works, the first one waits. In zigzag order the text is cut into 2 P chunks,
and process p holds chunk p and chunk 2 P - 1 - p: each step costs every process the same.
"""

import torch
import torch.distributed as dist
from torch import Tensor
from torch.autograd.function import once_differentiable

from mha import _check as check
from mha.attention import attention
from mha.parts import merge

ALL = slice(None)


@torch.compiler.disable
@check.call
def ring_attention(q: Tensor, k: Tensor, v: Tensor, *, group=None, causal: bool = False, order: str = "contiguous",
                   scale: float | None = None, softcap: float | None = None) -> Tensor:
    """`mha.attention` of a text whose tokens are split over processes. Every process calls it, with its own part.

    Rotary positions are turned before, by the places of the tokens in the whole text: `tokens_here` gives them.
    Backward is a ring, too, so each process must have a part in it.

    Each step computes its scores and weights whole, (..., h, n / P, n / P), since that is how `need_lse` gives the
    log-sum-exp: what a process needs grows with (n / P)^2, in backward too. A kernel that keeps neither is not used.

    Args:
        q: (..., h, n / P, d_k), the queries of the tokens here. k, v: (..., h_kv, n / P, d), their keys and values; h
            is a multiple of h_kv. Each process has as many tokens as the others.
        group: the processes, in the order of the text; all of them by default. Of a mesh, mesh.get_group().
        causal: no query sees a later key.
        order: which tokens stand where, "contiguous" or "zigzag"; as `tokens_here` says. Without a causal mask it does
            not matter.
        scale, softcap: as in `mha.attention`.
    Returns:
        out (..., h, n / P, d_v), of the tokens here; in 16 bits as exact as attention that returns its weights.
    Raises:
        ValueError, TypeError: what does not fit; on CPUs in each process, even if it is given to one.
    Source:
        Liu, Zaharia and Abbeel 2023, "Ring Attention with Blockwise Transformers", section 3. Zigzag: Zhu 2024, the
        repository ring-flash-attention.
    """
    group = check.ring(q, k, v, dist, group, causal, order, scale, softcap)
    return _Ring.apply(q, k, v, group, causal, order, {"scale": scale, "softcap": softcap})


@check.call
def tokens_here(n: int, processes: int, rank: int, order: str = "contiguous") -> Tensor:
    """Which of n tokens process `rank` holds, and where they stand in the text: whole numbers, (n / processes,)."""
    check.text_of_processes(n, processes, rank, order)
    if order == "contiguous":
        return torch.arange(n).chunk(processes)[rank]
    chunks = torch.arange(n).chunk(2 * processes)
    return torch.cat([chunks[rank], chunks[-1 - rank]])


def seen(rank: int, source: int, n: int, causal: bool, order: str) -> tuple[slice, slice, bool] | None:
    """Which queries of process `rank` look at which keys of process `source`, n tokens each: what one step computes.

    Returns:
        queries, keys: slices of the n tokens, of which each query sees each key, or, where the third is True, the keys
        up to its own; None where no query sees a key.
    """
    if not causal:
        return ALL, ALL, False
    if rank == source:
        return ALL, ALL, True
    if order == "contiguous":
        return (ALL, ALL, False) if source < rank else None
    # Chunk p stands before chunk 2 P - 1 - p in each process.
    return (ALL, slice(n // 2), False) if source < rank else (slice(n // 2, None), ALL, False)


@check.call
def pairs_of_step(n: int, processes: int, causal: bool = True, order: str = "contiguous") -> Tensor:
    """How many scores each process computes at each step of a ring over n tokens: (steps, processes) whole numbers.

    A step ends when the slowest has done it, so the largest number of a row is the time of that step.
    """
    check.text_of_processes(n, processes, 0, order)
    m = n // processes
    counts = torch.zeros(processes, processes, dtype=torch.long)
    for step in range(processes):
        for rank in range(processes):
            part = seen(rank, (rank - step) % processes, m, causal, order)
            if part is not None:
                queries, keys, triangle = part
                a, b = (len(range(m)[s]) for s in (queries, keys))
                counts[step, rank] = a * (a + 1) // 2 if triangle else a * b
    return counts


def _pass_on(tensors: list[Tensor], group) -> list[Tensor]:
    """Hand tensors to the next process of the ring, and take those of the one before."""
    P, rank = dist.get_world_size(group), dist.get_rank(group)
    came = [torch.empty_like(t) for t in tensors]
    there, back = (dist.get_global_rank(group, (rank + step) % P) for step in (1, -1))
    sent = [dist.P2POp(dist.isend, t, there, group) for t in tensors]
    for work in dist.batch_isend_irecv(sent + [dist.P2POp(dist.irecv, t, back, group) for t in came]):
        work.wait()
    return came


class _Ring(torch.autograd.Function):
    """The ring, forward and backward. Backward each part is computed once more, and the gradients of keys and values
    travel with them, until they are home.
    """

    @staticmethod
    def forward(ctx, q, k, v, group, causal, order, options):
        P, rank = dist.get_world_size(group), dist.get_rank(group)
        ctx.setting = group, causal, order, options
        passing = [k.contiguous(), v.contiguous()]
        out = lse = None
        for step in range(P):
            part = seen(rank, (rank - step) % P, q.shape[-2], causal, order)
            if part is not None:
                queries, keys, triangle = part
                out_part, _, lse_part = attention(q[..., queries, :], *(t[..., keys, :] for t in passing),
                                                  causal=triangle, need_lse=True, **options)
                out_part = out_part.to(lse_part.dtype)  # float32 at least, while parts are joined
                if out is None:  # its own tokens come first, and each query sees one at least
                    out, lse = out_part.clone(), lse_part.clone()
                else:
                    joined = merge([out[..., queries, :], out_part], [lse[..., queries], lse_part])
                    out[..., queries, :], lse[..., queries] = joined
            if step < P - 1:
                passing = _pass_on(passing, group)
        ctx.save_for_backward(q, k, v, out, lse)
        return out.to(v.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        """out = sum over parts of w out_part, where w = exp(lse_part - lse), and so

            d out = sum over parts of  w d out_part + w (out_part - out) d lse_part
        """
        (q, k, v, out, lse), (group, causal, order, options) = ctx.saved_tensors, ctx.setting
        P, rank = dist.get_world_size(group), dist.get_rank(group)
        passing = [k.contiguous(), v.contiguous()]
        of_q, *home = (torch.zeros(t.shape, dtype=out.dtype, device=t.device) for t in (q, k, v))  # float32 at least
        for step in range(P):
            part = seen(rank, (rank - step) % P, q.shape[-2], causal, order)
            if part is not None:
                queries, keys, triangle = part
                with torch.enable_grad():
                    inputs = [t.detach().requires_grad_() for t in (q[..., queries, :],
                                                                    *(t[..., keys, :] for t in passing))]
                    out_part, _, lse_part = attention(*inputs, causal=triangle, need_lse=True, **options)
                w = (lse_part - lse[..., queries]).exp().detach()  # (..., h, queries)
                g_out = g[..., queries, :] * w[..., None]
                g_lse = (g_out * (out_part.detach() - out[..., queries, :])).sum(-1)
                grads = torch.autograd.grad((out_part, lse_part), inputs, (g_out.to(out_part.dtype), g_lse))
                for total, at, grad in zip((of_q, *home), (queries, keys, keys), grads):
                    total[..., at, :] += grad
            if step < P - 1:
                *passing, home[0], home[1] = _pass_on([*passing, *home], group)
        if P > 1:
            home = _pass_on(home, group)
        return *(total.to(t.dtype) for total, t in zip((of_q, *home), (q, k, v))), None, None, None, None
