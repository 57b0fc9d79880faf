"""Trained heads changed by hand: what does a model that came to rely on two different matrices lose with one, and one
that came to rely on keys and values of its own for each head, when heads share them?

Nothing is trained again afterwards. So what comes out measures what this model relies on, and not what a model could do
that was trained that way from the start.
"""
import copy

import torch
from torch import Tensor, nn

from mha import _check as check
from mha.multihead import MultiHeadAttention, merge_heads, split_heads


def symmetric(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """The symmetric part of the scores: s_ij becomes (s_ij + s_ji) / 2. Q, K (h, d, d_k) -> (h, d, 2 d_k) each."""
    check.of_one_size(Q, K)
    return torch.cat([Q, K], -1) / 2**0.5, torch.cat([K, Q], -1) / 2**0.5


def antisymmetric(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """The part that symmetry takes away: s_ij becomes (s_ij - s_ji) / 2. Q, K (h, d, d_k) -> (h, d, 2 d_k) each."""
    check.of_one_size(Q, K)
    return torch.cat([Q, -K], -1) / 2**0.5, torch.cat([K, Q], -1) / 2**0.5


def one_matrix(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest scores that one shared matrix W can give, x W W^T x^T.

    They are the symmetric part without its negative eigenvalues. Q, K (h, d, d_k) -> (h, d, 2 d_k), the same twice.
    """
    left, right = symmetric(Q, K)
    basis, upper_left = torch.linalg.qr(left)  # left right^T = basis (upper_left right^T basis) basis^T
    values, vectors = torch.linalg.eigh(upper_left @ right.mT @ basis)
    W = basis @ vectors * values.clamp(min=0).sqrt()[:, None]
    return W, W


def queries_as_keys(Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """W_Q in both places: each head's keys are made as its queries are."""
    check.of_one_size(Q, K)
    return Q, Q


@check.call
@torch.no_grad()
def operate(model: nn.Module, change) -> nn.Module:
    """A copy of a model in which the matrices of queries and keys of every head are changed, and nothing else.

    Args:
        model: any module with `MultiHeadAttention` inside, or one itself.
        change: function of Q (h, d_model + 1, d_k) and K (h, d_context + 1, d_k), whose last row is the bias; it
            returns the new ones, of any width.
    Raises:
        ValueError, TypeError: nothing to operate on, heads that share keys, an `on_qk`, or a change that does not fit.
    """
    check.function("change", change, "(Q, K) -> (Q, K), such as mha.lab.surgery.symmetric")
    return _rebuilt(model, lambda number, attention: _changed(attention, change))


@check.call
@torch.no_grad()
def as_keys_prefer(model: nn.Module, means: Tensor) -> nn.Module:
    """A copy that gives the same weights, by scores that are as symmetric as a free choice allows.

    A softmax ignores whatever is added to a whole row of scores, so we may add a number that depends on the query
    alone. Let x' be the mean input. The score x A y^T holds a part x A x'^T that depends on the query alone, and a part
    x' A y^T that depends on the key alone. We add x A^T x'^T - x A x'^T, which makes the first part the mirror image of
    the second.

    Args:
        model: any module with `MultiHeadAttention` inside.
        means: (attentions of the model, d_model), the mean input of each.
    """
    def change(number, attention):
        mean = torch.cat([means[number], means.new_ones(1)]).double()  # (d_model + 1,)

        def add(Q, K):
            check.of_one_size(Q, K)
            row = K @ (Q.mT @ mean)[..., None] - Q @ (K.mT @ mean)[..., None]  # (h, d_model + 1, 1)
            one = torch.zeros_like(row)
            one[:, -1] = 1  # x with a 1 behind it, times this, is 1
            return torch.cat([Q, row], -1), torch.cat([K, one], -1)

        return _changed(attention, add)

    return _rebuilt(model, change, "layers, d_model", means=means)


@check.call
@torch.no_grad()
def one_matrix_for(model: nn.Module, inputs: Tensor, rounds: int = 9, ridge: float = 0.05) -> nn.Module:
    """A copy with one matrix in each head, chosen so that a softmax sees as little of the change as possible.

    W and r make the mean of (x A y^T + x r - x W W^T y^T)^2 over pairs of given inputs small; x r adds a number to each
    row of scores, which a softmax ignores. The two take turns. For a given W the best r is a projection. For a given r
    the best W W^T is that of `one_matrix`, in coordinates in which the inputs are uncorrelated and of one size.

    Args:
        model: any module with `MultiHeadAttention` inside.
        inputs: (attentions of the model, N, d_model), what each of them reads.
        rounds: number of turns.
        ridge: share of the mean variance that is added in every direction, since N inputs do not show them all.
    """
    def change(number, attention):
        x = torch.cat([inputs[number], torch.ones(inputs.shape[1], 1)], -1).double()
        moment = x.mT @ x / len(x)
        values, vectors = torch.linalg.eigh(moment + ridge * moment.diagonal().mean() * torch.eye(len(moment)))
        root, back = (vectors * values**power @ vectors.mT for power in (0.5, -0.5))
        row = root[:, -1:] / root[:, -1].norm()  # (d_model + 1, 1), the direction in which x r lies

        def nearest(Q, K):
            check.of_one_size(Q, K)
            A = root @ Q @ (root @ K).mT
            left = torch.zeros_like(torch.cat([Q, K], -1))  # (h, d_model + 1, 2 d_k)
            for _ in range(rounds):
                freed = A + (left @ left.mT - A) @ row @ row.mT
                sizes, directions = torch.linalg.eigh((freed + freed.mT) / 2)
                most = slice(-left.shape[-1], None)
                left = directions[..., most] * sizes[..., None, most].clamp(min=0).sqrt()
            return back @ left, back @ left

        return _changed(attention, nearest)

    check.positive_ints(rounds=rounds)
    return _rebuilt(model, change, "layers, N, d_model", inputs=inputs)


@check.call
@torch.enable_grad()
def learned_like(model: nn.Module, trace, matrices: int = 1, steps: int = 150, rate: float = 3e-3,
                 seed: int = 0) -> nn.Module:
    """A copy whose heads learn new matrices that give weights close to their own on given sentences.

    Adam makes the divergence KL(own weights || new weights) small, in the mean over rows, for each layer by itself, on
    what its heads read in the model as it was. Each matrix (d_model + 1, d_k) starts at random and holds a bias. Two
    matrices are the control for one: a loss that both suffer comes from learning from few sentences.

    Args:
        model: the model that was traced.
        trace: what `mha.lab.real.Transformer.trace` gives of these sentences.
        matrices: 1, shared by queries and keys, or 2.
        steps, rate: of Adam.
        seed: of the first matrices.
    """
    there = trace.real  # (B, n)
    key = there[:, None, None]  # (B, 1, 1, n)

    def learned(number, attention):
        x = torch.cat([trace.inputs[number], torch.ones(*there.shape, 1)], -1)  # (B, n, d_model + 1)
        own, g = trace.weights[number], torch.Generator().manual_seed(seed + number)
        W = torch.randn(matrices, attention.num_heads, x.shape[-1], attention.d_k, generator=g)
        W = (W / x.shape[-1] ** 0.5).requires_grad_()
        optimiser = torch.optim.Adam([W], lr=rate)
        for _ in range(steps):
            Q, K = (torch.einsum("bnd,hdk->bhnk", x, one) for one in (W[0], W[-1]))  # (B, h, n, d_k)
            scores = Q @ K.mT / attention.d_k**0.5  # (B, h, n, n)
            # A key of padding has no weight, yet 0 times the logarithm -inf would be NaN: its logarithm is set to 0.
            logs = scores.masked_fill(~key, -torch.inf).log_softmax(-1).masked_fill(~key, 0)
            optimiser.zero_grad()
            # This is the divergence, but for the entropy of the head's own rows, which no matrix changes.
            (-own * logs).sum(-1).transpose(1, 2)[there].mean().backward()
            optimiser.step()
        with torch.no_grad():
            return _changed(attention, lambda Q, K: (W[0].detach().double(), W[-1].detach().double()))

    return _rebuilt(model, learned, "layers, B, n, d_model", inputs=trace.inputs)


def _rebuilt(model: nn.Module, change, axes: str = "", **given) -> nn.Module:
    """A copy of a model with each attention replaced by change(its number, it), wherever it stands.

    What is given for each of them has these axes.
    """
    check.model(model, "surgery")
    changed = copy.deepcopy(model)
    found = [module for module in changed.modules() if isinstance(module, MultiHeadAttention)]
    check.some_layers(model, found, "operate on")
    check.of_each(found, axes, **given)
    new = {old: change(number, old) for number, old in enumerate(found)}
    for module in list(changed.modules()):
        for name, child in list(module._modules.items()):
            if child in new:
                setattr(module, name, new[child])
    return new.get(changed, changed)


@check.call
def circuits(attention: MultiHeadAttention) -> tuple[Tensor, Tensor]:
    """Q (h, d_model + 1, d_k) and K (h, d_context + 1, d_k) of every head, with the bias as the last row.

    So x, with a 1 behind it, times Q is the query.
    """
    check.one_layer(attention, MultiHeadAttention, "circuits")
    check.matrices(attention, "W_Q", "W_K")
    if attention.num_kv_heads != attention.num_heads:
        raise ValueError(
            f"num_heads={attention.num_heads} share num_kv_heads={attention.num_kv_heads} keys; surgery needs keys for "
            f"each head: from_heads([layer.head(i) for i in range({attention.num_heads})], layer.W_O)"
        )
    if attention.on_qk is not None:
        raise ValueError(f"on_qk={attention.on_qk} changes queries and keys behind W_Q and W_K; surgery on them needs "
                         f"a layer whose scores are x A y^T, with on_qk=None")
    both = []
    for W in (attention.W_Q, attention.W_K):
        bias = W.weight.new_zeros(1, W.out_features) if W.bias is None else W.bias[None]
        both.append(split_heads(torch.cat([W.weight.T, bias]), attention.num_heads))
    return tuple(both)


def _changed(old: MultiHeadAttention, change) -> MultiHeadAttention:
    """A copy of one attention with change(Q, K) in place of its own Q and K; all else is as it was."""
    Q, K = (part.double() for part in circuits(old))
    new_Q, new_K = check.changed(change(Q, K), Q, K)
    # Attention divides the scores by the root of its d_k. The new width must not change that.
    factor = (new_Q.shape[-1] / Q.shape[-1]) ** 0.25
    new = copy.deepcopy(old)
    new.d_k = new_Q.shape[-1]
    for name, part in (("W_Q", new_Q), ("W_K", new_K)):
        stacked = (factor * part).transpose(0, 1).flatten(1)  # (d_model + 1, h d_k), the bias as the last row
        biased = getattr(old, name).bias is not None or bool(stacked[-1].any())
        setattr(new, name, _as(getattr(old, name), stacked[:-1].T, stacked[-1] if biased else None))
    return new


def _as(old: nn.Linear, weight: Tensor, bias: Tensor | None) -> nn.Linear:
    """A projection with other parameters, of the dtype of an old one, which train if its own do."""
    like = {"device": old.weight.device, "dtype": old.weight.dtype}
    new = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, **like).train(old.training)
    for parameter, values in ((new.weight, weight), (new.bias, bias)):
        if values is not None:
            parameter.data.copy_(values)
            parameter.requires_grad_(old.weight.requires_grad)
    return new


# --- Keys and values that heads come to share ------------------------------------------------------------------------

def mean_of_group(parts: Tensor) -> Tensor:
    """The mean of the heads of each group: (h_kv, group, d, ...) -> (h_kv, d, ...)."""
    return parts.mean(1)


def first_of_group(parts: Tensor) -> Tensor:
    """The first head of each group, in the place of all: (h_kv, group, d, ...) -> (h_kv, d, ...)."""
    return parts[:, 0]


@check.call
@torch.no_grad()
def share_heads(layer: MultiHeadAttention, num_kv_heads: int, pool=mean_of_group) -> MultiHeadAttention:
    """A copy in which groups of neighbouring heads share keys and values, W_K and W_V being the mean of the group's.

    W_Q and W_O stay, and so does `on_qk`. The mean is nearest to all matrices of a group, by the sum of squares; one of
    them in its place is twice as far, on average over which. It depends on the bases in which heads happen to write
    their keys and values, of which the layer itself knows nothing: see `turn_heads`.

    Args:
        layer: its number of heads of keys and values is a multiple of num_kv_heads.
        num_kv_heads: how many of them are left.
        pool: what takes a group's place, a function as `mean_of_group`. It gets W_K, W_V and their biases.
    Raises:
        ValueError: groups of unequal size, or more heads of keys and values than the layer has.
    Source:
        Ainslie et al. 2023, sections 2.1 and 2.2.
    """
    check.one_layer(layer, MultiHeadAttention, "share_heads")
    check.positive_ints(num_kv_heads=num_kv_heads)
    check.function("pool", pool, "(h_kv, group, d, ...) -> (h_kv, d, ...), such as mha.lab.surgery.mean_of_group")
    check.matrices(layer, "W_K", "W_V")
    if layer.num_kv_heads % num_kv_heads:
        raise ValueError(f"the layer has {layer.num_kv_heads} heads of keys and values, which make no equal groups for "
                         f"num_kv_heads={num_kv_heads}; it must divide {layer.num_kv_heads}")
    new = copy.deepcopy(layer)
    new.num_kv_heads = num_kv_heads
    for name, d in (("W_K", layer.d_k), ("W_V", layer.d_v)):
        old = getattr(layer, name)
        heads = (p if p is None else p.unflatten(0, (num_kv_heads, -1, d)) for p in (old.weight, old.bias))
        pooled = (p if p is None else check.pooled(pool(p), p).flatten(0, 1) for p in heads)  # (h_kv d, ...)
        setattr(new, name, _as(old, *pooled))
    return new


@check.call
@torch.no_grad()
def turn_heads(layer: MultiHeadAttention, keys: Tensor | None = None, values: Tensor | None = None) -> \
        MultiHeadAttention:
    """A copy that computes the same, each head in a basis of its own: Q R and K R for Q and K, V S and S^T W_O.

    (Q R) (K R)^T = Q K^T, since R R^T = 1; so no weight changes, and no output.

    Args:
        layer: its heads share nothing.
        keys: (h, d_k, d_k), an orthogonal R for each head. `on_qk` must commute with it: `Rope` does where R only turns
            its pairs.
        values: (h, d_v, d_v), an orthogonal S for each head.
    Raises:
        ValueError: heads that share keys and values, matrices that are not orthogonal, or keys that `on_qk` forbids.
    """
    check.one_layer(layer, MultiHeadAttention, "turn_heads")
    check.matrices(layer, "W_Q", "W_K", "W_V", "W_O")
    check.turns(layer, keys=keys, values=values)
    check.allows(layer, keys)
    if layer.num_kv_heads != layer.num_heads:
        raise ValueError(f"num_heads={layer.num_heads} share num_kv_heads={layer.num_kv_heads}; turn_heads wants as "
                         f"many of both")
    new = copy.deepcopy(layer)
    for turns, Ws in ((keys, (new.W_Q, new.W_K)), (values, (new.W_V,))):
        for parameter in (one for W in Ws if turns is not None for one in W.parameters()):
            heads = parameter.view(layer.num_heads, turns.shape[-1], -1)  # (h, d, d_model), of a bias (h, d, 1)
            parameter.copy_((turns.mT @ heads).view(parameter.shape))
    if values is not None:
        columns = split_heads(new.W_O.weight, layer.num_heads)  # (h, d_out, d_v)
        new.W_O.weight.copy_(merge_heads(columns @ values))
    return new
