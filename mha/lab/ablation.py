"""What heads put out, read and replaced: zero, mean and resample ablation, for any model with `MultiHeadAttention`.

    means = ablation.head_outputs(model, lambda: model(ids)).mean((1, 3))   # (layers, h, d_v)
    with ablation.replaced(model, {(5, 1): means[5, 1]}):
        model(ids)                                                          # head 5.1 tells all tokens the same

An output is what a head gives to W_O, the weighted mean of its values, (B, n, d_v). To switch heads off, `head_mask` of
the model will do.
"""
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from mha import _check as check
from mha.multihead import MultiHeadAttention, merge_heads, split_heads


def attentions(model: nn.Module) -> list[MultiHeadAttention]:
    """The attentions of a model, in the order of its layers."""
    check.model(model, "ablation")
    found = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    check.some_layers(model, found, "ablate")
    for layer in found:
        check.whole(layer)
    return found


@torch.no_grad()
def head_outputs(model: nn.Module, run: Callable) -> Tensor:
    """What each head put out while run() ran the model once: (layers, B, h, n, d_v)."""
    seen = []

    def keep(attention):
        return attention.W_O.register_forward_pre_hook(
            lambda _, given: seen.append(split_heads(given[0], attention.num_heads)))

    hooks = [keep(attention) for attention in attentions(model)]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(seen)


@contextmanager
def replaced(model: nn.Module, outputs: Mapping[tuple[int, int], Tensor]) -> Iterator[None]:
    """While the context is open, some heads put out what is given instead.

    Args:
        model: any module with `MultiHeadAttention` inside.
        outputs: (layer, head) -> (d_v,), the same for all tokens, such as a mean; or (n, d_v) or (B, n, d_v), such as
            what the head put out on another text.
    Raises:
        ValueError: a layer or head that the model has not, or an output that does not fit it.
    """
    all_of_them, by_layer = attentions(model), {}
    for (layer, head), output in outputs.items():
        if not 0 <= layer < len(all_of_them):
            raise ValueError(f"layer {layer} of {layer, head} is none of the model's {len(all_of_them)}, 0 to "
                             f"{len(all_of_them) - 1}")
        attention = all_of_them[layer]
        check.head_numbers([head], attention.num_heads)
        if output.shape[-1:] != (attention.d_v,):
            raise ValueError(f"the output of head {layer, head} must end in d_v={attention.d_v}, got "
                             f"{tuple(output.shape)}")
        by_layer.setdefault(layer, {})[head] = output

    def put(attention, new):
        def change(_, given):
            heads = split_heads(given[0], attention.num_heads).clone()  # (B, h, n, d_v)
            for head, output in new.items():
                heads[..., head, :, :] = output.to(heads)
            return (merge_heads(heads),)
        return attention.W_O.register_forward_pre_hook(change)

    hooks = [put(all_of_them[layer], new) for layer, new in by_layer.items()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
