"""What is read and operated on: models, the layers inside them, and what becomes of their matrices."""

import torch
from torch import Tensor

from mha._check.inputs import is_tensor


def model(model, what: str) -> None:
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{what} got a {type(model).__name__}; it takes a model, a torch.nn.Module")


def some_layers(model, layers, what: str) -> None:
    """Layers of ours in a model, of which something is wanted."""
    if layers:
        return
    theirs = [name for name, m in model.named_modules() if isinstance(m, torch.nn.MultiheadAttention)]
    hint = (f"{theirs[0] or 'it'} is torch's: convert it with MultiHeadAttention.from_torch" if theirs else
            "any layer of mha gives its weights when asked: layer(x, need_weights=True)" if what == "record" else
            "give a model that has one, or is one")
    raise ValueError(f"{type(model).__name__} has no mha.MultiHeadAttention inside to {what}; {hint}")


def one_layer(layer, kind: type | tuple, what: str) -> None:
    """A layer of ours of that kind, or of one of these kinds, and no model that has some inside."""
    if isinstance(layer, kind):
        return
    inside = [name for name, m in layer.named_modules() if isinstance(m, kind)] if isinstance(
        layer, torch.nn.Module) else []
    way = (f": model.get_submodule({inside[0]!r}) is one" if inside else
           ": convert it with MultiHeadAttention.from_torch" if isinstance(layer, torch.nn.MultiheadAttention) else "")
    names = " or mha.".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
    raise TypeError(f"{what} got a {type(layer).__name__}; it takes one layer, a mha.{names}{way}")


def of_each(layers, axes: str, **given) -> None:
    """What surgery is told of every layer that it changes: (layers, ..., d_model)."""
    for name, t in given.items():
        is_tensor(name, t)
        shape, d_model = tuple(t.shape), layers[0].d_model
        if t.ndim != axes.count(",") + 1 or shape[:1] != (len(layers),) or any(
                shape[-1] != layer.d_model for layer in layers) or not t.numel():
            raise ValueError(f"{name} has shape {shape}; it must be ({axes}), here with layers={len(layers)} and "
                             f"d_model={d_model}")


def of_one_size(Q: Tensor, K: Tensor) -> None:
    """What makes queries and keys of the same tokens: (h, d_model + 1, d_k) both."""
    if Q.shape[-2] != K.shape[-2]:
        raise ValueError(f"queries are made of d_model={Q.shape[-2] - 1} numbers, keys of d_context={K.shape[-2] - 1}; "
                         f"this change joins the two, so a layer must attend to its own tokens")


def changed(both, Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor]:
    """What a change made of Q (h, d_model + 1, d_k) and K (h, d_context + 1, d_k): the same, of any width."""
    if not isinstance(both, (tuple, list)) or len(both) != 2 or not all(isinstance(t, Tensor) for t in both):
        raise TypeError(f"change gave a {type(both).__name__}; it must return two tensors, (Q, K)")
    shapes, r = [tuple(t.shape) for t in both], both[0].shape[-1:]
    if shapes != [(*t.shape[:-1], *r) for t in (Q, K)]:
        raise ValueError(f"change gave Q of shape {shapes[0]} and K of shape {shapes[1]}; they must be ({len(Q)}, "
                         f"{Q.shape[-2]}, r) and ({len(K)}, {K.shape[-2]}, r), with the same r")
    if not shapes[0][-1]:
        raise ValueError(f"change gave Q and K of no width, {shapes[0]}; a score needs one number of each at least")
    return tuple(both)


def turns(layer, **turns) -> None:
    """Orthogonal matrices, one for each head: keys (h, d_k, d_k), values (h, d_v, d_v), one of them perhaps None."""
    if all(t is None for t in turns.values()):
        raise ValueError("nothing to turn by: give keys=, values= or both")
    for (name, t), d in zip(turns.items(), (layer.d_k, layer.d_v)):
        if t is None:
            continue
        is_tensor(name, t)
        if tuple(t.shape) != (layer.num_heads, d, d):
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it must be {(layer.num_heads, d, d)}, one a head")
        if t.dtype != layer.W_Q.weight.dtype:
            raise TypeError(f"{name} is {t.dtype} but the layer is {layer.W_Q.weight.dtype}; convert one with .to(...)")
        off = float((t @ t.mT - torch.eye(d, dtype=t.dtype, device=t.device)).abs().max())
        if not off <= torch.finfo(t.dtype).eps ** 0.5:  # NaN too
            raise ValueError(f"{name} holds matrices that are not orthogonal: R R^T is {off:.2g} off the identity; "
                             f"torch.linalg.qr(R)[0] is orthogonal")


def allows(layer, keys) -> None:
    """What turns queries and keys behind their matrices, such as Rope, gives the same scores in these bases.

    It is tried with random ones, far apart.
    """
    if keys is None or layer.on_qk is None or layer.num_kv_heads != layer.num_heads:
        return
    chance, like = torch.Generator().manual_seed(0), {"dtype": keys.dtype, "device": keys.device}
    places = torch.tensor([0, 1, 5, 25, 125, 625, 3125], device=keys.device)
    Q, K = (torch.randn(1, len(keys), len(places), keys.shape[-1], generator=chance).to(**like) for _ in range(2))
    own, turned = (q @ k.mT for q, k in (layer.on_qk(Q, K, places, places),
                                         layer.on_qk(Q @ keys, K @ keys, places, places)))
    off, most = float((turned - own).abs().max()), float(own.abs().max())
    if not off <= torch.finfo(keys.dtype).eps ** 0.5 * most:
        raise ValueError(f"on_qk={layer.on_qk} does not commute with keys: scores change by {off:.2g}, where the "
                         f"largest is {most:.2g}. Rope allows matrices that turn each of its pairs")


def pooled(t, parts: Tensor) -> Tensor:
    """What `pool` made of (h_kv, group, d, ...): (h_kv, d, ...)."""
    if not isinstance(t, Tensor) or t.shape != parts[:, 0].shape:
        came = f"a tensor of shape {tuple(t.shape)}" if isinstance(t, Tensor) else f"a {type(t).__name__}"
        raise ValueError(f"pool gave {came} for {tuple(parts.shape)}; it must give {tuple(parts[:, 0].shape)}: one "
                         f"head for each group")
    return t
