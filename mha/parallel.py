"""Heads on several processes: each holds some of the heads, and one sum over processes joins what they put out.

    mesh = init_device_mesh("cpu", (2,))        # in each process that torchrun has started
    split_over_heads(model, mesh)               # every layer of heads in it, in place
    out, _ = model(x)                           # the same x in each process, and the same out

Heads do not look at each other until W_O adds them up. So process p of P takes its rows of W_Q, W_K and W_V, those of
h / P adjacent heads, and their columns of W_O; the outputs are summed (an all-reduce), and W_O's bias is added once:

    out = sum over processes of (concat of its heads) (its rows of the matrix W_O)  +  bias

That is tensor parallelism. Each process keeps the keys and values of its own heads alone, in its cache too.
"""

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from mha import _check as check
from mha._shapes import heads_of
from mha.latent import MultiHeadLatentAttention
from mha.multihead import MultiHeadAttention

KINDS = (MultiHeadAttention, MultiHeadLatentAttention)


@check.call
def split_over_heads(model: nn.Module, mesh: DeviceMesh, *, dim: str | None = None) -> nn.Module:
    """Split every layer of heads in a model over the processes of a mesh, in place. Everything else stays whole.

    Every process calls it, with a model of the same sizes; the weights of the first process count. Afterwards each
    process calls the model with the same x. One that does not, or whose call is refused, lets the others wait until the
    timeout of their group; TORCH_DISTRIBUTED_DEBUG=DETAIL makes torch say who called what.

    `layer.num_heads` still tells of all heads, a mask, a bias and a head_mask are given for all of them, and so are the
    weights that come back (need_weights, `mha.record`: they are gathered, so every process must ask). A cache of
    `new_cache` is for the heads of this process. What takes heads apart (`head`, `prune`, `qk`, `to_torch`) needs the
    whole layer: `gather`.

    Gradients are those of one process: each holds the gradient of its slices, and the whole one of all else. Dropout
    draws in each process on its own, so give each its own seed there. Some parameters are now split and some are not,
    which foreach=True does not mix: build an optimizer with foreach=False, and clip each kind by itself, by the norm of
    both (torch.nn.utils.get_total_norm, clip_grads_with_norm_).

    Args:
        model: a `MultiHeadAttention`, a `MultiHeadLatentAttention`, or a model with some inside.
        mesh: `torch.distributed.device_mesh.init_device_mesh(device, (P,))`. P divides the numbers of heads and, where
            keys and values are shared, of their heads. Latent heads leave a latent behind that all of them read: each
            process keeps all of it.
        dim: which dimension of a mesh that has several, by its name.
    Returns:
        the model. On one process it stays as it is.
    Raises:
        ValueError, TypeError: what does not fit, in each process, even if it is given to one. No layer is then changed.
    Source:
        Shoeybi et al. 2019 (Megatron-LM), section 3; the plans are those of torch.distributed.tensor.parallel.
    """
    mesh = check.mesh(mesh, DeviceMesh, dim)
    check.together(dist, mesh.get_group(), lambda: _look(model, mesh), "the layers to split")
    if mesh.size() == 1:
        return model
    for layer in _layers(model).values():
        # The sum over processes waits for `HeadShard.leave`.
        styles = {"columns": ColwiseParallel(), "rows": RowwiseParallel(output_layouts=Partial(),
                                                                        use_local_output=False)}
        parallelize_module(layer, mesh, {name: styles[way] for name, way in plan(layer).items()})
        for name, way in plan(layer).items():
            if way == "columns":
                getattr(layer, name).register_forward_pre_hook(check.of_the_layer, prepend=True)
        layer.shard = HeadShard(mesh, layer.num_heads)
        _alike(layer, mesh)
    return model


def plan(layer: nn.Module) -> dict[str, str]:
    """How each matrix is cut: by the columns of the book's matrix, a head's own outputs, or by its rows, its inputs."""
    names = ("W_Q", "W_K", "W_V") if isinstance(layer, MultiHeadAttention) else ("W_Q", "W_QR", "W_UK", "W_UV")
    return {**{name: "columns" for name in names if getattr(layer, name) is not None}, "W_O": "rows"}


def _layers(model: nn.Module) -> dict[str, nn.Module]:
    return {name: m for name, m in model.named_modules() if isinstance(m, KINDS)}


def _look(model: nn.Module, mesh: DeviceMesh) -> list[str]:
    """Whether a model can be split; of each of its layers what all processes must have alike."""
    check.model(model, "split_over_heads")
    layers = _layers(model)
    check.some_layers(model, layers, "split")
    for name, layer in layers.items():
        check.split_layer(name, layer, mesh.size(), mesh.device_type)
        check.plain(layer, *plan(layer))
    check.untied(model, [getattr(layer, name) for layer in layers.values() for name in plan(layer)])
    return [f"{name or 'a layer'}, {layer.extra_repr()}, with {kind} of shape {tuple(p.shape)} and {p.dtype}"
            for name, layer in layers.items() for kind, p in layer.named_parameters()]


def _alike(layer: nn.Module, mesh: DeviceMesh) -> None:
    """Parameters that all heads use, such as W_DKV or a norm in `on_qk`: the first process's numbers in all."""
    group = mesh.get_group()
    for p in layer.parameters():
        if not isinstance(p, DTensor):
            dist.broadcast(p.data, dist.get_global_rank(group, 0), group=group)


def _sum(t: Tensor, group) -> Tensor:
    t = t.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(t, group=group)
    return t


class HeadShard:
    """What a split layer knows of its heads: how many processes have some, and which stand here.

    Attributes:
        mesh: the processes, of one dimension. processes: their number, P. rank: which of them this is.
        heads: the numbers of the heads here.
    """

    def __init__(self, mesh: DeviceMesh, num_heads: int):
        self.mesh, self.processes, self.rank = mesh, mesh.size(), mesh.get_local_rank()
        self.num_heads, self.heads = num_heads, list(heads_of(self.rank, self.processes, num_heads))

    def __deepcopy__(self, memo) -> "HeadShard":
        return self  # a copy of a layer is split as it is

    def replicate(self, t: Tensor) -> Tensor:
        """What is the same in each process, as a tensor whose gradient is summed over them, once."""
        return DTensor.from_local(t, self.mesh, [Replicate()], run_check=False)

    def here(self, t: Tensor) -> Tensor:
        """What of it stands in this process, an ordinary tensor; of what is the same in each, its gradient is a part.
        """
        return t.to_local(grad_placements=[Partial() if p.is_replicate() else p for p in t.placements])

    def shared(self, turn):
        """What happens to all heads, for those here: of a module, the gradients are summed over the processes."""
        if not isinstance(turn, nn.Module) or not torch.is_grad_enabled():
            return turn
        parameters = {name: self.here(self.replicate(p)) for name, p in turn.named_parameters()}
        return lambda *given: torch.func.functional_call(turn, parameters, given)

    def enter(self, x: Tensor, context: Tensor, *given: Tensor | None) -> tuple:
        """What a call is given: x and context replicated; mask, bias and head_mask for the heads here."""
        check.whole_here(self, x, context, *given)
        both = self.replicate(x)
        own = [self._own(t, axis) for t, axis in zip(given, (-3, -3, -1))]
        return both, both if context is x else self.replicate(context), *own

    def _own(self, t: Tensor | None, axis: int) -> Tensor | None:
        """(..., h, n, m) or (..., h): the heads of this process; what is one for all heads stays."""
        if t is None:
            return None
        per_head = t.ndim >= -axis and t.shape[axis] == self.num_heads
        if not t.requires_grad:
            return t.narrow(axis, self.heads[0], len(self.heads)) if per_head else t
        t = self.replicate(t)
        return self.here(t.redistribute(placements=[Shard(t.ndim + axis)]) if per_head else t)

    def leave(self, out: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """out (..., n, d_out) summed over the processes; the weights of all heads, (..., h, n, m), where wanted."""
        out = _Summed.apply(out.to_local(grad_placements=[Replicate()]), self.mesh.get_group())
        return out, None if weights is None else _AllHeads.apply(weights, self)


# Of two results one may be used and one not. DTensor's own steps then fail on the gradient that does not come.

class _Summed(torch.autograd.Function):
    """The sum over processes of what each has; each then has the whole gradient."""

    @staticmethod
    def forward(ctx, part: Tensor, group) -> Tensor:
        return _sum(part, group)

    @staticmethod
    def backward(ctx, g: Tensor) -> tuple[Tensor, None]:
        return g, None


class _AllHeads(torch.autograd.Function):
    """(..., h / P, n, m), of the heads here -> (..., h, n, m), of all; back go the gradients of those here."""

    @staticmethod
    def forward(ctx, weights: Tensor, shard: HeadShard) -> Tensor:
        ctx.heads = shard.heads
        parts = [torch.empty_like(weights, memory_format=torch.contiguous_format) for _ in range(shard.processes)]
        dist.all_gather(parts, weights.contiguous(), group=shard.mesh.get_group())
        return torch.cat(parts, -3)

    @staticmethod
    def backward(ctx, g: Tensor) -> tuple[Tensor, None]:
        return g.narrow(-3, ctx.heads[0], len(ctx.heads)), None


def _blank(layer: nn.Module) -> nn.Module:
    """A layer of the same sizes, with parameters of its own."""
    if isinstance(layer, MultiHeadAttention):
        return type(layer)(layer.d_model, layer.num_heads, num_kv_heads=layer.num_kv_heads, d_k=layer.d_k,
                           d_v=layer.d_v, d_context=layer.d_context, d_out=layer.d_out, **layer._options())
    base = {"base": layer.rope.base} if layer.d_r else {}
    return type(layer)(layer.d_model, layer.num_heads, d_c=layer.d_c, d_k=layer.d_k, d_v=layer.d_v, d_r=layer.d_r,
                       dropout=layer.dropout, causal=layer.causal, absorbed=layer.absorbed,
                       device=layer.W_Q.weight.device, dtype=layer.W_Q.weight.dtype, **base)


@check.call
def heads_here(layer: nn.Module) -> list[int]:
    """The numbers of the heads that stand in this process; of a layer that is not split, all."""
    check.one_layer(layer, KINDS, "heads_here")
    return list(range(layer.num_heads)) if layer.shard is None else list(layer.shard.heads)


@check.call
@torch.no_grad()
def gather(layer: nn.Module) -> nn.Module:
    """The whole layer again in each process, a plain copy, but for `on_qk`, which is shared. Every process calls it.

    From there `head`, `prune`, `qk`, `ov` and `to_torch` work, and what they give can be split again.
    """
    check.one_layer(layer, KINDS, "gather")
    whole = _blank(layer)
    for name, W in layer.named_children():
        if name != "on_qk" and isinstance(W, nn.Linear):
            for kind, p in W.named_parameters():
                copy = getattr(whole.get_submodule(name), kind).requires_grad_(p.requires_grad)
                copy.copy_(p.full_tensor() if isinstance(p, DTensor) else p)
    return whole.train(layer.training)
