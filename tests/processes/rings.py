"""A ring over processes computes what one process computes with all tokens."""
import itertools

import torch
import torch.distributed as dist

import mha
from heads import B, far, layer, tokens
from mha.position import Rope
from mha.ring import pairs_of_step, ring_attention, tokens_here

H, H_KV, D_K, D_V = 6, 2, 5, 3


def check_rings(mesh):
    P, rank, found = mesh.size(), mesh.get_local_rank(), {}
    for causal, order, shared, options in itertools.product((False, True), ("contiguous", "zigzag"), (False, True),
                                                            ({}, {"scale": 2.0, "softcap": 1.7})):
        n, h_kv = 2 * 7 * P, H_KV if shared else H
        here = tokens_here(n, P, rank, order)
        q, k, v = (tokens(B, h, n, d).requires_grad_() for h, d in ((H, D_K), (h_kv, D_K), (h_kv, D_V)))
        g = tokens(B, H, n, D_V)
        whole = mha.attention(q, k, v, causal=causal, **options)[0]
        grads = torch.autograd.grad(whole, (q, k, v), g)
        mine = [t[:, :, here].detach().requires_grad_() for t in (q, k, v)]
        out = ring_attention(*mine, causal=causal, order=order, **options)
        its = torch.autograd.grad(out, mine, g[:, :, here])
        found[f"{causal=} {order} {h_kv=} {options}"] = {
            "outputs": far(out.detach(), whole[:, :, here].detach()),
            "gradients": max(far(a, b[:, :, here]) for a, b in zip(its, grads))}
    return found


def check_other_forms(mesh):
    """One head alone, an odd number of tokens, large scores, a group by its mesh, no gradients."""
    P, rank, found = mesh.size(), mesh.get_local_rank(), {}
    for name, shape, size in (("one head", (5,), 1.0), ("no batch", (3, 5), 1.0), ("scores of 1e3", (B, 2, 5), 30.0)):
        q, k, v = (size * tokens(*shape[:-1], shape[-1] * P, 11) for _ in range(3))
        here = tokens_here(5 * P, P, rank)
        with torch.inference_mode():
            out = ring_attention(*(t[..., here, :] for t in (q, k, v)), causal=True, group=mesh.get_group())
        found[name] = {"outputs": far(out, mha.attention(q, k, v, causal=True)[0][..., here, :]) / size}
    compiled = torch.compile(lambda t: ring_attention(2 * t, t, t), backend="eager")
    found["in a compiled function"] = {"outputs": far(compiled(q[..., here, :]),
                                                      mha.attention(2 * q, q, q)[0][..., here, :]) / 30}
    return found


def check_sixteen_bits(mesh):
    """Each part rounds as attention with weights does, which writes its scores in 16 bits, too. (torch's kernel does
    not: beside it the ring's mean square error was 2.9 to 5.6 times as large.) Joining them adds nothing.
    """
    P, n = mesh.size(), 64 * mesh.size()
    q, k, v = tokens(3, B, 2, n, 8)
    here = tokens_here(n, P, mesh.get_local_rank(), "zigzag")
    exact = mha.attention(*(t.bfloat16().double() for t in (q, k, v)), causal=True)[0][:, :, here]
    out = ring_attention(*(t[:, :, here].bfloat16() for t in (q, k, v)), causal=True, order="zigzag")
    one = mha.attention(*(t.bfloat16() for t in (q, k, v)), causal=True, need_weights=True)[0][:, :, here]
    errors = [(t.double() - exact).square().mean().item() for t in (out, one)]
    return {"bfloat16": {"worse than one process": max(errors[0] / errors[1] - 1.1, 0.0)}}


def check_a_layer_around_a_ring(mesh):
    """Projections and rotations see their own tokens alone, at their places in the text."""
    P, n = mesh.size(), 6 * mesh.size()
    one, x = layer(causal=True, num_kv_heads=4, on_qk=Rope(), bias=True), tokens(B, n, 11)
    here = tokens_here(n, P, mesh.get_local_rank(), "zigzag")
    mine = x[:, here]
    Q, K, V = (mha.split_heads(W(mine), h) for W, h in ((one.W_Q, 12), (one.W_K, 4), (one.W_V, 4)))
    Q, K = one.on_qk(Q, K, here, here)
    out = one.W_O(mha.merge_heads(ring_attention(Q, K, V, causal=True, order="zigzag")))
    whole = one(x)[0]
    grads = torch.autograd.grad(whole.square().sum(), one.parameters())
    its = [g.contiguous() for g in torch.autograd.grad(out.square().sum(), one.parameters())]
    for g in its:
        dist.all_reduce(g)
    return {"layer": {"outputs": far(out.detach(), whole[:, here].detach()),
                      "parameters": max(far(a, b) / b.abs().max().item() for a, b in zip(its, grads) if b.abs().max())}}


def check_who_works(mesh):
    """The pairs that are counted are those of the mask; in zigzag order all have the same work at each step."""
    found = {}
    for P, order in itertools.product((1, 2, 3, 4), ("contiguous", "zigzag")):
        n = 2 * 5 * P
        counts, mask = pairs_of_step(n, P, order=order), mha.masks.causal(n)
        for step, rank in itertools.product(range(P), range(P)):
            mine, its = (tokens_here(n, P, p, order) for p in (rank, (rank - step) % P))
            counts[step, rank] -= mask[mine][:, its].sum()
        alike = pairs_of_step(n, P, order="zigzag")
        found[f"{P} {order}"] = {"pairs": float(counts.abs().sum()), "alike": float((alike != alike[:, :1]).sum())}
    return found
