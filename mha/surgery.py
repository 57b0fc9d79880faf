"""Trained heads changed by hand, without training them again: what does a model that came to rely on two different
matrices lose with one?

What comes out measures what this model relies on, not what a model trained that way could do.
"""
import copy

import torch
from torch import Tensor, nn

from mha.multihead import MultiHeadAttention, split_heads


def symmetric(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """The scores' symmetric part: s_ij becomes (s_ij + s_ji) / 2. Q, K (h, d, d_k) -> (h, d, 2 d_k)."""
    return torch.cat([Q, K], -1) / 2**0.5, torch.cat([K, Q], -1) / 2**0.5


def antisymmetric(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """What symmetry takes away: (s_ij - s_ji) / 2. Q, K (h, d, d_k) -> (h, d, 2 d_k)."""
    return torch.cat([Q, -K], -1) / 2**0.5, torch.cat([K, Q], -1) / 2**0.5


def one_matrix(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest scores that one shared matrix W can give, x W W^T x^T: the symmetric part without its negative
    eigenvalues. -> (h, d, 2 d_k).
    """
    left, right = symmetric(Q, K)
    basis, upper_left = torch.linalg.qr(left)  # left right^T = basis (upper_left right^T basis) basis^T
    values, vectors = torch.linalg.eigh(upper_left @ right.mT @ basis)
    W = basis @ vectors * values.clamp(min=0).sqrt()[:, None]
    return W, W


def queries_as_keys(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """W_Q in both places."""
    return Q, Q


@torch.no_grad()
def operate(model: nn.Module, change) -> nn.Module:
    """A copy of a model with the matrices of queries and keys of every head changed.

    Args
        change: function of Q and K, (h, d_model + 1, d_k), the last row is the bias; it gives the new ones, of any
            width.
    """
    return _rebuilt(model, lambda number, attention: _changed(attention, change))


@torch.no_grad()
def as_keys_prefer(model: nn.Module, means: Tensor) -> nn.Module:
    """A copy that computes the same, its scores written otherwise: what depends on the query alone is made equal to
    what depends on the key alone.

    A softmax does not see what is added to a whole row of scores, so any number that depends on the query may be added.
    With x' the mean input, the score x A y^T holds a part x A x'^T of the query alone and a part x' A y^T of the key
    alone; added is x A^T x'^T - x A x'^T.

    Args
        means: (attentions of the model, d_model), the mean input of each.
    """
    def change(number, attention):
        mean = torch.cat([means[number], torch.ones(1)]).double()                       # (d_model + 1,)

        def add(Q, K):
            row = K @ (Q.mT @ mean)[..., None] - Q @ (K.mT @ mean)[..., None]           # (h, d_model + 1, 1)
            one = torch.zeros_like(row)
            one[:, -1] = 1  # x with a 1 behind it, times this, is 1
            return torch.cat([Q, row], -1), torch.cat([K, one], -1)

        return _changed(attention, add)

    return _rebuilt(model, change)


@torch.no_grad()
def one_matrix_for(model: nn.Module, inputs: Tensor, rounds: int = 9, ridge: float = 0.05) -> nn.Module:
    """A copy with one matrix in each head, chosen with care: so that the scores between given inputs change as little
    as a softmax can see.

    Made small is the mean over pairs of inputs of (x A y^T + x r - x W W^T y^T)^2, over W and over r, which adds a
    number to each row of scores. In turns: for a given W the best r is a projection; for a given r the best W W^T is
    `one_matrix`'s, in coordinates in which the inputs are uncorrelated and of one size.

    Args
        inputs: (attentions of the model, N, d_model), what each of them reads. rounds: turns. ridge: so much of the
            mean variance is added in every direction, since N inputs do not show them all.
    """
    def change(number, attention):
        x = torch.cat([inputs[number], torch.ones(inputs.shape[1], 1)], -1).double()
        moment = x.mT @ x / len(x)
        values, vectors = torch.linalg.eigh(moment + ridge * moment.diagonal().mean() * torch.eye(len(moment)))
        root, back = (vectors * values**power @ vectors.mT for power in (0.5, -0.5))
        row = root[:, -1:] / root[:, -1].norm()                                 # where x r lives, (d_model + 1, 1)

        def nearest(Q, K):
            A = root @ Q @ (root @ K).mT
            left = torch.zeros_like(torch.cat([Q, K], -1))                          # (h, d_model + 1, 2 d_k)
            for _ in range(rounds):
                freed = A + (left @ left.mT - A) @ row @ row.mT
                sizes, directions = torch.linalg.eigh((freed + freed.mT) / 2)
                most = slice(-left.shape[-1], None)
                left = directions[..., most] * sizes[..., None, most].clamp(min=0).sqrt()
            return back @ left, back @ left

        return _changed(attention, nearest)

    return _rebuilt(model, change)


@torch.enable_grad()
def learned_like(model: nn.Module, trace, matrices: int = 1, steps: int = 150, rate: float = 3e-3,
                 seed: int = 0) -> nn.Module:
    """A copy whose heads have one new matrix for queries and keys, or two, learned so that their weights on given
    sentences come close to the heads' own.

    Made small by Adam is the mean over rows of the divergence KL(own weights || new weights), for each layer by itself,
    on what its heads read in the model as it was. Each matrix (d_model + 1, d_k) starts at random and holds a bias. Two
    are the control for one: what both lose is lost by learning from few sentences.

    Args
        trace: what `mha.real.Transformer.trace` gives of these sentences. matrices: 1 or 2.
    """
    there = trace.real                                                                  # (B, n)
    key = there[:, None, None]

    def learned(number, attention):
        x = torch.cat([trace.inputs[number], torch.ones(*there.shape, 1)], -1)[:, None]     # (B, 1, n, d_model + 1)
        own, g = trace.weights[number], torch.Generator().manual_seed(seed + number)
        W = (torch.randn(matrices, attention.num_heads, x.shape[-1], attention.d_k,
                         generator=g) / x.shape[-1] ** 0.5).requires_grad_()
        optimiser = torch.optim.Adam([W], lr=rate)
        for _ in range(steps):
            scores = (x @ W[0]) @ (x @ W[-1]).mT / attention.d_k**0.5                   # (B, h, n, n)
            logs = scores.masked_fill(~key, -torch.inf).log_softmax(-1).masked_fill(~key, 0)
            optimiser.zero_grad()
            # the divergence, but for the entropy of the head's own rows
            (-own * logs).sum(-1).transpose(1, 2)[there].mean().backward()
            optimiser.step()
        with torch.no_grad():
            return _changed(attention, lambda Q, K: (W[0].detach().double(), W[-1].detach().double()))

    return _rebuilt(model, learned)


def _rebuilt(model, change):
    """A copy with each attention replaced by change(its number, it)."""
    changed, number = copy.deepcopy(model), 0
    for module in list(changed.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, MultiHeadAttention):
                setattr(module, name, change(number, child))
                number += 1
    return changed


def circuits(attention: MultiHeadAttention) -> tuple[Tensor, Tensor]:
    """Q and K of every head, (h, d_model + 1, d_k), the bias as the last row: x, with a 1 behind it, times Q is the
    query.
    """
    both = []
    for W in (attention.W_Q, attention.W_K):
        with_bias = torch.cat([W.weight.T, W.bias[None] if W.bias is not None else torch.zeros(1, W.out_features)])
        both.append(split_heads(with_bias, attention.num_heads))
    return tuple(both)


def _changed(old, change):
    Q, K = (part.double() for part in circuits(old))
    new_Q, new_K = change(Q, K)
    # the scale of the scores goes with the root of d_k; it stays as it was
    factor = (new_Q.shape[-1] / Q.shape[-1]) ** 0.25
    new = MultiHeadAttention(old.d_model, old.num_heads, d_k=new_Q.shape[-1], d_v=old.d_v, causal=old.causal,
                             device=old.W_Q.weight.device, dtype=old.W_Q.weight.dtype)
    for W, part in ((new.W_Q, new_Q), (new.W_K, new_K)):
        stacked = (factor * part).transpose(0, 1).flatten(1)                 # (d_model + 1, h d_k)
        W.weight.copy_(stacked[:-1].T)
        W.bias.copy_(stacked[-1])
    new.W_V, new.W_O = copy.deepcopy(old.W_V), copy.deepcopy(old.W_O)
    return new.train(old.training)
