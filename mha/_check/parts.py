"""Parts of attention, that are to be joined."""

import torch
from torch import Tensor

from mha._check.inputs import is_tensor, same_device

HOW = "each part is out, _, lse = mha.attention(q, k_part, v_part, need_lse=True)"


def parts(outs, lses) -> tuple[Tensor, Tensor]:
    """Outputs (parts, ..., h, n, d_v) and log-sum-exps (parts, ..., h, n), in float32 at least."""
    found = {}
    for name, given in (("outs", outs), ("lses", lses)):
        if not isinstance(given, (Tensor, list, tuple)):
            raise TypeError(f"{name} is a {type(given).__name__}; it must be a list of tensors, one for each part: "
                            f"{HOW}")
        for i, part in enumerate(given if not isinstance(given, Tensor) else [given]):
            if isinstance(part, (tuple, list)):
                raise TypeError(f"{name}[{i}] is a {type(part).__name__}; it must be a tensor: {HOW}, and "
                                f"then outs and lses are two lists, mha.merge(outs, lses)")
            is_tensor(f"{name}[{i}]", part, f"; {HOW}")
            if not part.is_floating_point():
                raise TypeError(f"{name}[{i}] is {part.dtype}; it must be floating point: {HOW}")
        if not len(given):
            raise ValueError(f"{name} is empty; there must be one part at least: {HOW}")
        if not isinstance(given, Tensor):
            shapes = list(dict.fromkeys(tuple(part.shape) for part in given))
            if len(shapes) > 1:
                raise ValueError(f"{name} have the shapes {shapes[0]} and {shapes[1]}; all parts answer the same "
                                 f"queries, so their shapes are equal")
            same_device({f"{name}[{i}]": part for i, part in enumerate(given)})
            given = torch.stack(list(given))
        found[name] = given
    outs, lses = found.values()
    if outs.shape[:-1] != lses.shape:
        raise ValueError(f"outs are {tuple(outs.shape)} and lses {tuple(lses.shape)}, each with the parts first; lses "
                         f"must be {tuple(outs.shape[:-1])}, a number for each query: {HOW}")
    same_device({"outs": outs, "lses": lses})
    return outs, lses.to(torch.promote_types(lses.dtype, torch.promote_types(outs.dtype, torch.float32)))
