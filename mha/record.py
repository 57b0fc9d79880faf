"""Listen in on a model: the weights of every head, from an ordinary forward pass."""

from torch import Tensor, nn

from mha import _check as check
from mha._result import pair
from mha.latent import MultiHeadLatentAttention
from mha.multihead import MultiHeadAttention


@check.calls
class record:
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

    def __init__(self, model: nn.Module):
        check.model(model, "record")
        self.heads = {name: m for name, m in model.named_modules(remove_duplicate=False)
                      if isinstance(m, (MultiHeadAttention, MultiHeadLatentAttention))}
        check.some_layers(model, self.heads, "record")
        self.handles = []

    def __enter__(self) -> dict[str, Tensor]:
        weights: dict[str, Tensor] = {}
        self.handles += [handle for name, m in self.heads.items() for handle in _listen(m, name, weights)]
        return weights

    def __exit__(self, *error) -> None:
        while self.handles:
            self.handles.pop().remove()

    def __call__(self, *inputs):
        raise TypeError("record(model) only listens while a context is open: with record(model) as weights: model(x)")

    __getitem__ = __call__


def _listen(module: nn.Module, name: str, weights: dict[str, Tensor]) -> tuple:
    """Ask for the weights on the way in; on the way out keep them, and hand on what the caller asked for."""
    asked = []

    def before(module, args, kwargs):
        asked.append(kwargs.get("need_weights", False))
        return args, {**kwargs, "need_weights": True}

    def after(module, args, kwargs, output):
        out, weights[name] = output[0], output[1].detach()
        return pair(out, output[1] if asked.pop() else None)

    # prepend=True: of two that listen, the one that asked last takes what it asked for away first.
    return (module.register_forward_pre_hook(before, with_kwargs=True),
            module.register_forward_hook(after, with_kwargs=True, prepend=True))
