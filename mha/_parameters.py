"""Copying parameters from one layer into another: of some heads, or to torch's layer and back."""

import torch
from torch import nn


def rows_of(heads: list[int], d: int) -> list[int]:
    """The rows of a projection that belong to these heads, d to each."""
    return [i * d + row for i in heads for row in range(d)]


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
        their.copy_(our) if to_torch else our.copy_(their)
