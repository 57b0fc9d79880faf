"""Layers that are split over processes. What torch.distributed has is told from what it answers, not imported."""

from itertools import zip_longest

from torch import Tensor

from mha._check.inputs import is_tensor, positive_ints, qkv, tensors
from mha._check.inputs import whole as whole_number
from mha._check.masks import options

MESH = 'torch.distributed.device_mesh.init_device_mesh("cpu", (processes,))'


def together(dist, group, look, what: str) -> None:
    """What each process finds of what it was given, a list, told to all, so that none waits for one that was refused.

    Raises:
        what `look` raises here; ValueError where another process was refused, or has something else, in each.
    """
    found = said = None
    try:
        found = look()
    except (TypeError, ValueError) as error:
        said = error
    of_all = [None] * dist.get_world_size(group)
    dist.all_gather_object(of_all, (found, said and f"{type(said).__name__}: {said}"), group=group)
    if said is not None:
        raise said
    for rank, (_, refused) in enumerate(of_all):
        if refused:
            raise ValueError(f"process {rank} was refused, so that none goes on. {refused}")
    first = of_all[0][0]
    for rank, (its, _) in enumerate(of_all):
        if its != first:
            a, b = next(both for both in zip_longest(first, its, fillvalue="nothing more") if both[0] != both[1])
            raise ValueError(f"{what} must be equal in each process; process 0 gives {a}, process {rank} {b}")


def mesh(mesh, kind: type, dim: str | None):
    """A mesh of one dimension, perhaps one of several, of which this process is a part."""
    if not isinstance(mesh, kind):
        raise TypeError(f"mesh is a {type(mesh).__name__}; it must be a DeviceMesh: {MESH}")
    names = mesh.mesh_dim_names or ()
    if dim is not None and dim not in names:
        has = f"has the dimensions {', '.join(names)}" if names else "has no names"
        raise ValueError(f"dim={dim!r} is no dimension of this mesh, which {has}: name them when it is made, "
                         f"init_device_mesh(device, sizes, mesh_dim_names=(...))")
    if mesh.ndim > 1 and dim is None:
        way = f"such as dim={names[-1]!r}" if names else "which must be named first: mesh_dim_names=(...)"
        raise ValueError(f"this mesh has {mesh.ndim} dimensions, of sizes {tuple(mesh.shape)}; say over which one "
                         f"heads are split, {way}")
    mesh = mesh[dim] if mesh.ndim > 1 else mesh
    if mesh.get_coordinate() is None:
        raise ValueError(f"this process is not in the mesh, whose ranks are {mesh.mesh.tolist()}; only those that are "
                         f"in it split the model and call it")
    return mesh


def split_layer(name: str, layer, processes: int, device: str) -> None:
    """A layer whose heads can be split over so many processes."""
    of = f"{name}: " if name else ""
    if layer.shard is not None:
        raise ValueError(f"{of}this layer is split already, over {layer.shard.processes} processes; split it once, or "
                         f"split a whole copy: mha.parallel.gather(layer)")
    h, h_kv = layer.num_heads, getattr(layer, "num_kv_heads", layer.num_heads)
    if h % processes:
        fit = [p for p in range(1, processes) if not h % p and not h_kv % p]
        raise ValueError(f"{of}{h} heads do not divide over {processes} processes: each takes whole heads, as many as "
                         f"the others; take {fit[-1]} processes, or another num_heads")
    if h_kv < processes:
        raise ValueError(f"{of}num_kv_heads={h_kv} heads of keys and values for {processes} processes: each needs one "
                         f"of its own; take {h_kv} processes at most, or build the layer with num_kv_heads={processes}")
    if h_kv % processes:
        raise ValueError(f"{of}num_kv_heads={h_kv} heads of keys and values do not divide over {processes} processes; "
                         f"take as many processes as divide {h_kv}")
    here = layer.W_O.weight.device.type
    if here != device:
        raise ValueError(f"{of}this layer is on {here} and the mesh on {device}; move the layer first, "
                         f"layer.to({device!r})")


def untied(model, matrices: list) -> None:
    """Matrices that are to be cut, of which none stands in a second place of the model, where it would stay whole."""
    ours, homes = {id(p) for W in matrices for p in W.parameters()}, {}
    for name, module in model.named_modules():
        for kind, p in module.named_parameters(recurse=False):
            homes.setdefault(id(p), []).append(f"{name}.{kind}" if name else kind)
    for key, names in homes.items():
        if key in ours and len(names) > 1:
            raise ValueError(f"{names[0]} and {names[1]} are one parameter; split, they would be two: give each its "
                             f"own, or share the whole layer")


def whole_here(shard, x, context, *given) -> None:
    """What a call of a split layer is given: ordinary tensors, for all heads."""
    for name, t in (("x", x), ("context", context)):
        is_tensor(name, t)
        if hasattr(t, "full_tensor"):
            raise TypeError(f"{name} is a DTensor; a layer that is split over heads takes all of it in each process, "
                            f"as an ordinary tensor: {name}.full_tensor()")
        if not t.numel():
            raise ValueError(f"{name} has shape {tuple(t.shape)}; the products of a layer that is split need one token "
                             f"of one sequence at least")
    h = shard.num_heads
    for name, t in zip(("mask", "bias", "head_mask"), given):
        if not isinstance(t, Tensor):
            continue  # none, or what attention has its own sentence for
        axis = -1 if name == "head_mask" else -3
        size = t.shape[axis] if t.ndim >= -axis else 1
        if size not in ((h,) if name == "head_mask" else (1, h)):
            raise ValueError(f"{name} has shape {tuple(t.shape)}, for {size} heads; this layer has {h} in all, "
                             f"{len(shard.heads)} of them in this process: give it for all {h}, each process takes its "
                             f"own")


def of_the_layer(W, given) -> None:
    """A hook of what is cut by heads: only its own layer, which knows that it gets a part, calls it."""
    if not hasattr(given[0], "full_tensor"):
        raise ValueError("this matrix is split over processes, and would give the heads of this one alone; call its "
                         "layer, or take a whole copy, mha.parallel.gather(layer)")


def whole(layer) -> None:
    """A layer that is to be taken apart or drawn afresh as a whole."""
    shard = getattr(layer, "shard", None)
    if shard is not None:
        raise ValueError(f"this layer is split over {shard.processes} processes, and heads {shard.heads[0]} to "
                         f"{shard.heads[-1]} of {shard.num_heads} stand here; this needs all of it: "
                         f"mha.parallel.gather(layer) is a whole copy")


def loads(layer, state_dict: dict, prefix: str) -> None:
    """What a split layer is to load: split as it is."""
    W = state_dict.get(f"{prefix}W_O.weight")
    if layer.shard is not None and isinstance(W, Tensor) and not hasattr(W, "full_tensor"):
        raise ValueError(f"{prefix}W_O.weight is a whole matrix, and this layer is split over {layer.shard.processes} "
                         f"processes; load it first, then split: split_over_heads(model, mesh)")
    if hasattr(W, "full_tensor") and not hasattr(layer.W_O.weight, "full_tensor"):
        raise ValueError(f"{prefix}W_O.weight is split over processes, and this layer is whole; split it, or load "
                         f"a whole copy's: mha.parallel.gather(layer).state_dict()")


# --- A text whose tokens are split ------------------------------------------------------------------------------------

ORDERS = ("contiguous", "zigzag")


def order(order) -> None:
    if order not in ORDERS:
        raise ValueError(f"order={order!r} is no order of tokens; it must be 'contiguous' or 'zigzag'")


def text_of_processes(n, processes, rank, order_) -> None:
    """n tokens, in chunks that are as long as each other."""
    order(order_)
    positive_ints(n=n, processes=processes)
    whole_number("rank", rank, "which of the processes")
    if not 0 <= rank < processes:
        raise ValueError(f"rank={rank} is none of {processes} processes; they are 0 to {processes - 1}")
    chunks = processes * (1 + (order_ == "zigzag"))
    if n % chunks:
        raise ValueError(f"n={n} tokens do not divide into the {chunks} chunks of {order_} order on {processes} "
                         f"processes; pad the text on the right to {-(-n // chunks) * chunks} tokens, which no token "
                         f"before sees where it is causal")


def ring(q, k, v, dist, group, causal, order_, scale, softcap):
    """What a process gives to the ring; its group. That all give as much is asked of them where no GPU waits."""
    if not dist.is_initialized():
        raise ValueError("there are no processes yet: torch.distributed.init_process_group(), in each that torchrun "
                         "has started; in one process, mha.attention(q, k, v)")
    if hasattr(group, "get_group"):
        raise TypeError("group is a DeviceMesh; give the group of one of its dimensions: group=mesh.get_group()")
    group = dist.group.WORLD if group is None else group
    if not isinstance(group, dist.ProcessGroup):
        raise TypeError(f"group is a {type(group).__name__}, and must be a group of torch.distributed, of which this "
                        f"process is one: mesh.get_group()")

    def look():
        _part_of_a_text(q, k, v, causal, order_, scale, softcap)
        return [f"{name} of shape {tuple(t.shape)} and {t.dtype}" for name, t in (("q", q), ("k", k), ("v", v))] + [
            f"{causal=}", f"order={order_!r}", f"{scale=}", f"{softcap=}"]

    if getattr(q, "is_cuda", False):
        look()
    else:
        together(dist, group, look, "what the processes of a ring are given")
    return group


def _part_of_a_text(q, k, v, causal, order_, scale, softcap) -> None:
    tensors(q=q, k=k, v=v)
    qkv(q, k, v)
    order(order_)
    n, m = q.shape[-2], k.shape[-2]
    if not n or n != m:
        raise ValueError(f"q has n={n} tokens and k has m={m}; each process holds queries, keys and values of the same "
                         f"tokens, one at least")
    options(q, m, causal, None, None, scale, softcap, 0.0, False, False)
    if hasattr(q, "full_tensor"):
        raise TypeError("q is a DTensor; a ring takes the tokens of this process, as an ordinary tensor: q.to_local()")
    if causal and order_ == "zigzag" and n % 2:
        raise ValueError(f"q has n={n} tokens; in zigzag order a process holds two chunks of one length: an even "
                         f"number")
