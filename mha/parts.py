"""Attention in parts: what each part of the keys gives is joined exactly to what all of them give.

A softmax over all keys needs one thing of a part that its output does not tell: how much weight it would have. That is
the sum of its exponentiated scores, kept as its logarithm, the log-sum-exp (lse):

    out = sum over parts of exp(lse_part - lse) out_part        lse = ln(sum over parts of exp(lse_part))

The rule does not care for the order of the parts, nor whether one is joined from others. Tiles (FlashAttention), caches
that are split or paged, and rings of devices are all this rule.
"""

import math

import torch
from torch import Tensor

from mha import _check as check
from mha._shapes import cast_bias


def log_sum_exp(Q: Tensor, K: Tensor, weights: Tensor, bias: Tensor | None, scale: float,
                softcap: float | None) -> Tensor:
    """ln(sum over the visible keys of exp(score)), read off each row's largest weight.

    A weight is exp(score) / sum, so ln(sum) = score - ln(weight), for any visible key; the largest weight is at least
    1 / m, and its logarithm exact. It costs one score a query, and gradients go the ways of score and weight.

    Args:
        Q: (B, h, n, d_k). K: (B, h_kv, m, d_k). weights: (B, h, n, m), before dropout.
        bias: (B, 1 or h, 1 or n, 1 or m), as it came. scale, softcap: as in `mha.attention`.
    Returns:
        (B, h, n), float32 at least; minus infinity for a query that sees no key.
    """
    B, h, n, m = weights.shape
    wide = torch.promote_types(Q.dtype, torch.float32)
    if not m:
        return Q.new_full((B, h, n), -math.inf, dtype=wide)
    at = weights.detach().argmax(-1, keepdim=True)  # (B, h, n, 1)
    best = at.reshape(B, K.shape[1], -1, 1).expand(-1, -1, -1, Q.shape[-1])  # (B, h_kv, h/h_kv n, d_k)
    keys = K.gather(2, best).reshape(Q.shape)
    score = scale * (Q.to(wide) * keys.to(wide)).sum(-1)  # (B, h, n)
    if softcap:
        score = softcap * torch.tanh(score / softcap)
    if bias is not None:
        score = score + cast_bias(bias, wide).expand(B, h, n, m).gather(-1, at)[..., 0]
    weight = weights.gather(-1, at)[..., 0].to(wide)
    blind = weight == 0
    return (score - weight.masked_fill(blind, 1.0).log()).masked_fill(blind, -math.inf)


@check.call
def merge(outs, lses) -> tuple[Tensor, Tensor]:
    """Join what `mha.attention(..., need_lse=True)` gave for parts of the keys: the output and the lse of all keys.

    The queries are the same in each part, and no key is in two. A part that a query does not see at all (out 0, lse
    minus infinity) adds nothing; where no part is seen, that is the result. Computed in float32 at least, and as exact
    as an lse is: where a bias takes all scores to -1e9, float32 numbers are 64 apart.

    Args:
        outs: a list of (..., h, n, d_v), one for each part; or they stacked, (parts, ..., h, n, d_v).
        lses: a list of (..., h, n), or they stacked.
    Returns:
        out (..., h, n, d_v), of the dtype that came; lse (..., h, n).
    Raises:
        ValueError, TypeError: parts that do not fit, with what came.
    Source:
        Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", section 3.1.
    """
    outs, lses = check.parts(outs, lses)
    top = lses.detach().amax(0)  # (..., h, n)
    top = top.masked_fill(top == -math.inf, 0.0)
    powers = (lses - top).exp()  # (parts, ..., h, n), from 0 to 1
    total = powers.sum(0)
    blind = total == 0
    total = total.masked_fill(blind, 1.0)
    out = (powers[..., None] * outs).sum(0) / total[..., None]
    return out.to(outs.dtype), (total.log() + top).masked_fill(blind, -math.inf)
