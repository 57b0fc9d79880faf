"""Two roads that lead where `mha.attention.definition` does: a single buffer of weights, and torch's fused kernels."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from mha import _check as check
from mha._shapes import differentiates_forward, eager, in_both, may_be_read


def in_one_buffer(Q, K, V, mask, bias, blind, scale) -> tuple[Tensor, Tensor]:
    """The definition once more, in a single (B, h, n, m) buffer: scores become weights in place.

    On a CPU that is most of the gain, for a fresh buffer of that size is dear to touch.
    `blind`, (B, 1 or h, 1 or n, 1) bool, marks the queries that see no key.
    """
    weights = scale * Q @ K.mT  # (B, h, n, m): scores at first
    if bias is not None:
        weights += bias
    if mask is not None:
        weights.masked_fill_(~mask, -math.inf)
    torch.softmax(weights, dim=-1, out=weights)
    if blind is not None:
        weights.masked_fill_(blind, 0.0)
    return weights @ V, weights  # (B, h, n, d_v)


class OneBuffer(torch.autograd.Function):
    """`in_one_buffer`, with its gradient worked out by hand."""

    @staticmethod
    def forward(ctx, Q, K, V, mask, bias, blind, scale):
        out, weights = in_one_buffer(Q, K, V, mask, bias, blind, scale)
        ctx.scale = scale
        ctx.save_for_backward(Q, K, V, bias, out, weights)
        ctx.set_materialize_grads(False)
        return out, weights

    @staticmethod
    def backward(ctx, d_out, d_weights):
        """The softmax's gradient is d_scores_ij = w_ij (g_ij - sum_j w_ij g_ij), with g_ij the gradient of w_ij.

        Of g = d_out V^T that sum is d_out_i . out_i, so no pass over (n, m) is needed for it.

        Source:
            Dao et al. 2022 (FlashAttention), appendix B.2.
        """
        Q, K, V, bias, out, weights = ctx.saved_tensors
        d_out = torch.zeros_like(out) if d_out is None else d_out
        mean = (d_out * out).sum(-1, keepdim=True)  # (B, h, n, 1)
        d_scores = d_out @ V.mT  # (B, h, n, m): the gradient of the weights at first
        if d_weights is not None:
            d_scores += d_weights
            mean = mean + (d_weights * weights).sum(-1, keepdim=True)
        d_scores.sub_(mean).mul_(weights)
        # Each is a product as large as those above: none is made for an input that needs no gradient.
        for_Q, for_K, for_V, _, for_bias, *_ = ctx.needs_input_grad
        d_Q = d_scores @ (ctx.scale * K) if for_Q else None  # (B, h, n, d_k)
        d_K = d_scores.mT @ (ctx.scale * Q) if for_K else None  # (B, h, m, d_k)
        d_V = weights.mT @ d_out if for_V else None  # (B, h, m, d_v)
        d_bias = d_scores.sum_to_size(bias.shape) if for_bias else None
        return d_Q, d_K, d_V, None, d_bias, None, None


def fused(Q, K, V, mask, bias, scale, triangle, dropout) -> Tensor:
    """Attention by torch's kernels, which work through the scores tile by tile and keep none."""
    # To a query that sees no key, torch's CPU kernel gives zeros by itself, with gradients of zero.
    blind = None if Q.is_cpu else blind_rows(mask, bias)
    mask, bias = opened(mask, bias, blind)
    if bias is not None and mask is not None:
        bias, mask = bias.masked_fill(~mask, -math.inf), None
    shared = {} if Q.shape[1] == K.shape[1] else {"enable_gqa": True}
    out = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask if bias is None else bias, dropout_p=dropout,
                                         is_causal=triangle, scale=scale, **shared)
    out = with_bad_queries(out, Q, may_be_read(Q)) if Q.is_cpu else out
    return out if blind is None else out.masked_fill(blind, 0.0)


def straight(q, k, v, causal, offset) -> Tensor | None:
    """Attention by torch's kernel alone, where it serves as it is: four axes, and each query sees a key.

    The inputs are unchecked: what does not fit has another shape, or torch refuses it.
    """
    asking, shape = q.shape, k.shape
    if (len(shape) != 4 or shape != v.shape or 0 in shape or type(q) is not Tensor or q.is_nested
            or q.dtype not in check.FLOATS or not eager() or torch._C._is_any_autocast_enabled()):
        return None
    triangle = causal
    if asking != shape or offset is not None:  # but the last query sees all keys
        triangle = False
        if not causal or type(offset) is not int or offset != shape[2] - 1 or asking != (*shape[:2], 1, shape[3]):
            return None
    out = F.scaled_dot_product_attention(q, k, v, is_causal=triangle)
    return with_bad_queries(out, q, is_read=True) if q.is_cpu else out


def with_bad_queries(out, Q, is_read: bool) -> Tensor:
    """What torch's CPU kernel gives, with NaN for each query that holds NaN or infinity.

    It may give zeros to one of them: where all scores are -inf, over fewer keys than fill a vector register (64 bytes),
    and in 16 bits.
    """
    if is_read and math.isfinite((Q.detach() if Q.requires_grad else Q).sum().item()):  # as nearly every call
        return out
    bad = (Q.detach() - Q.detach()).sum(-1, keepdim=True)  # (B, h, n, 1): NaN for those queries, 0 for all others
    return out + bad if torch.is_grad_enabled() else out.add_(bad)  # out may be kept for the gradient


def kernel_is_unsuitable(Q, K, V, bias) -> bool:
    """Where torch has no fused kernel."""
    if 0 in Q.shape or 0 in K.shape or differentiates_forward():  # nothing to fuse, or no derivative of that kind
        return True
    if not Q.is_cpu:
        return False
    if K.shape[-1] != V.shape[-1]:  # torch's CPU kernel takes equal sizes only
        return True
    return bias is not None and bias.requires_grad


def blind_rows(mask, bias) -> Tensor | None:
    """The queries that see no key, (B, 1 or h, 1 or n, 1) bool; None where there is neither mask nor bias."""
    if mask is None and bias is None:
        return None
    seen = mask if bias is None else in_both(mask, bias != -math.inf)
    return ~seen.any(-1, keepdim=True)


def opened(mask, bias, blind) -> tuple[Tensor | None, Tensor | None]:
    """Mask and bias with the blind rows open: a softmax over nothing would be NaN, and so would its gradient.

    Whoever computes the weights sets those rows to zero afterwards, which makes their gradient zero too.
    """
    if blind is None:
        return mask, bias
    return None if mask is None else mask | blind, None if bias is None else bias.masked_fill(blind, 0.0)
