"""The parameters of a layer: where torch's names are found, and how some heads, or all, are copied into another."""

import torch
from torch import nn

from mha import _check as check


class Layer(nn.Module):
    """A layer of heads, which answers who looks in it for what torch's layer has.

    Attributes:
        shard: where it is split over processes (`mha.parallel.split_over_heads`), which heads stand in this one.
    """
    shard = None

    def __getattr__(self, name: str):
        try:
            return self.__dict__["_modules"][name]  # W_Q, W_K, ..., as nearly always
        except KeyError:
            pass
        try:
            return super().__getattr__(name)
        except AttributeError:
            raise check.lacks(self, name) from None

    def _load_from_state_dict(self, state_dict: dict, prefix: str, *more) -> None:
        check.state(self, state_dict, prefix)
        check.loads(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *more)


def rows_of(heads: list[int], d: int) -> list[int]:
    """The rows of a projection that belong to these heads, d to each."""
    return [i * d + row for i in heads for row in range(d)]


def has_bias(layer: nn.Module) -> bool:
    """Whether any of the four projections has one: a layer made from them has one in each, zero where it lacked."""
    return any(getattr(W, "bias", None) is not None for W in (layer.W_Q, layer.W_K, layer.W_V, layer.W_O))


@torch.no_grad()
def copy_rows(source: nn.Linear, target: nn.Linear, rows=slice(None), columns=slice(None), to_rows=slice(None)) -> None:
    """Copy some rows and columns of one layer into another; a bias that the source lacks becomes zero."""
    target.weight[to_rows] = source.weight[rows][:, columns]
    if target.bias is not None:
        target.bias[to_rows] = 0.0 if source.bias is None else source.bias[rows]


@torch.no_grad()
def copy_packed(theirs: nn.MultiheadAttention, ours: nn.Module, to_torch: bool) -> None:
    """Copy all weights and biases between the two layers, one way or the other.

    torch stacks W_Q, W_K and W_V in one tensor when their inputs have one size, and their biases always.
    """
    packed = theirs.in_proj_weight is not None
    weights = theirs.in_proj_weight.chunk(3) if packed else (
        theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight)
    pairs = [*zip(weights, (ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight)),
             (theirs.out_proj.weight, ours.W_O.weight)]
    if theirs.in_proj_bias is not None:
        pairs += zip(theirs.in_proj_bias.chunk(3), (ours.W_Q.bias, ours.W_K.bias, ours.W_V.bias))
        pairs += [(theirs.out_proj.bias, ours.W_O.bias)]
    for their, our in pairs:
        if our is None:  # a projection without a bias, beside others that have one
            their.zero_()
        else:
            their.copy_(our) if to_torch else our.copy_(their)
