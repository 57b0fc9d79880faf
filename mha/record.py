"""Listen in on a model: the weights of every head, from an ordinary forward pass."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from mha import _check as check
from mha.latent import MultiHeadLatentAttention
from mha.multihead import MultiHeadAttention


@contextmanager
def record(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Within this context, every layer of heads in the model leaves its weights in a dictionary.

        with record(model) as weights:
            model(x)
        weights["blocks.0.attention"]    # (B, h, n, m)

    What the model returns stays as it was, to rounding. The weights are cut from the graph (detached); of a module that
    runs several times, the last ones stay. The name of a model that is itself such a layer is "".

    Args:
        model: any module with `MultiHeadAttention` or `MultiHeadLatentAttention` inside. With torch.compile, record it
            first, then compile it.
    Yields:
        dict: module name -> weights (..., h, n, m); it fills as the model runs, and stays after the context.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"record got a {type(model).__name__}; it takes a model, a torch.nn.Module")
    heads = {name: m for name, m in model.named_modules(remove_duplicate=False)
             if isinstance(m, (MultiHeadAttention, MultiHeadLatentAttention))}
    check.something_to_record(model, heads)
    weights: dict[str, Tensor] = {}
    handles = [handle for name, m in heads.items() for handle in _listen(m, name, weights)]
    try:
        yield weights
    finally:
        for handle in handles:
            handle.remove()


def _listen(module: nn.Module, name: str, weights: dict[str, Tensor]) -> tuple:
    """Ask for the weights on the way in; on the way out keep them, and hand on what the caller asked for."""
    asked = []

    def before(module, args, kwargs):
        asked.append(kwargs.get("need_weights", False))
        return args, {**kwargs, "need_weights": True}

    def after(module, args, kwargs, output):
        out, weights[name] = output[0], output[1].detach()
        return out, output[1] if asked.pop() else None

    # prepend=True: of two that listen, the one that asked last takes what it asked for away first.
    return (module.register_forward_pre_hook(before, with_kwargs=True),
            module.register_forward_hook(after, with_kwargs=True, prepend=True))
