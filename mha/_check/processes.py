"""Layers that are split over processes. What torch.distributed has is told from what it answers, not imported."""

from torch import Tensor

from mha._check.inputs import is_tensor, positive_ints, qkv, tensors, truths
from mha._check.inputs import whole as whole_number

MESH = 'torch.distributed.device_mesh.init_device_mesh("cpu", (processes,))'


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


def ring(q, k, v, dist, group, causal, order_):
    """What a process gives to the ring; its group. That all give as much is asked of them where no GPU waits."""
    tensors(q=q, k=k, v=v)
    qkv(q, k, v)
    truths(causal=causal)
    order(order_)
    if not dist.is_initialized():
        raise ValueError("there are no processes yet: torch.distributed.init_process_group(), in each that torchrun "
                         "has started; in one process, mha.attention(q, k, v)")
    if hasattr(group, "get_group"):
        raise TypeError("group is a DeviceMesh; give the group of one of its dimensions: group=mesh.get_group()")
    group = dist.group.WORLD if group is None else group
    if not isinstance(group, dist.ProcessGroup):
        raise TypeError(f"group is a {type(group).__name__}, and must be a group of torch.distributed, of which this "
                        f"process is one: mesh.get_group()")
    n, m = q.shape[-2], k.shape[-2]
    if not n or n != m:
        raise ValueError(f"q has n={n} tokens and k has m={m}; each process holds queries, keys and values of the same "
                         f"tokens, one at least")
    if causal and order_ == "zigzag" and n % 2:
        raise ValueError(f"q has n={n} tokens; in zigzag order a process holds two chunks of one length: an even "
                         f"number")
    if q.is_cpu:
        shapes = [None] * dist.get_world_size(group)
        dist.all_gather_object(shapes, [tuple(t.shape) for t in (q, k, v)] + [causal, order_], group=group)
        for rank, shape in enumerate(shapes):
            if shape != shapes[0]:
                raise ValueError(f"process 0 of the ring gives q, k and v of shapes and options {shapes[0]}, process "
                                 f"{rank} {shape}; they must be equal: pad the text so that it divides")
    return group
