"""Two backends that compute what `mha.attention.definition` does: in one buffer of weights, and by torch's kernels."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from mha import _check as check
from mha._shapes import combine_masks, in_eager_mode, in_forward_mode_ad, is_readable


def inplace_attention(Q, K, V, mask, bias, fully_masked, scale) -> tuple[Tensor, Tensor]:
    """The definition once more, in a single (B, h, n, m) buffer: scores become weights in place.

    On a CPU that is most of the gain, for a fresh buffer of that size is dear to touch.
    `fully_masked`, (B, 1 or h, 1 or n, 1) bool, marks the queries that see no key.
    """
    weights = scale * Q @ K.mT  # (B, h, n, m): scores at first
    if bias is not None:
        weights += bias
    if mask is not None:
        weights.masked_fill_(~mask, -math.inf)
    torch.softmax(weights, dim=-1, out=weights)
    if fully_masked is not None:
        weights.masked_fill_(fully_masked, 0.0)
    return weights @ V, weights  # (B, h, n, d_v)


class InplaceAttention(torch.autograd.Function):
    """`inplace_attention`, with its gradient worked out by hand."""

    @staticmethod
    def forward(ctx, Q, K, V, mask, bias, fully_masked, scale):
        out, weights = inplace_attention(Q, K, V, mask, bias, fully_masked, scale)
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


def fused(Q, K, V, mask, bias, scale, is_causal, dropout) -> Tensor:
    """Attention by torch's kernels, which work through the scores tile by tile and keep none."""
    # To a query that sees no key, torch's CPU kernel gives zeros by itself, with gradients of zero.
    fully_masked = None if Q.is_cpu else fully_masked_rows(mask, bias)
    mask, bias = unmask_rows(mask, bias, fully_masked)
    if bias is not None and mask is not None:
        bias, mask = bias.masked_fill(~mask, -math.inf), None
    shared = {} if Q.shape[1] == K.shape[1] else {"enable_gqa": True}
    out = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask if bias is None else bias, dropout_p=dropout,
                                         is_causal=is_causal, scale=scale, **shared)
    out = propagate_nonfinite_queries(out, Q, is_readable(Q), mask, bias) if Q.is_cpu else out
    return out if fully_masked is None else out.masked_fill(fully_masked, 0.0)


def sdpa_fast_path(q, k, v, causal, offset) -> Tensor | None:
    """Attention by torch's kernel alone, where it serves as it is: four axes, and each query sees a key.

    The inputs are unchecked: what does not fit has another shape, or torch refuses it.
    """
    asking, shape = q.shape, k.shape
    if (len(shape) != 4 or shape != v.shape or 0 in shape or type(q) is not Tensor or q.is_nested
            or q.dtype not in check.FLOATS or not in_eager_mode() or torch._C._is_any_autocast_enabled()):
        return None
    is_causal = causal
    if asking != shape or offset is not None:  # but the last query sees all keys
        is_causal = False
        if not causal or type(offset) is not int or offset != shape[2] - 1 or asking != (*shape[:2], 1, shape[3]):
            return None
    out = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    return propagate_nonfinite_queries(out, q, is_read=True) if q.is_cpu else out


def propagate_nonfinite_queries(out, Q, is_read: bool, mask=None, bias=None) -> Tensor:
    """What torch's CPU kernel gives, with NaN for each query that holds NaN or infinity and sees a key.

    It may give zeros to one of them: where all scores are -inf, over fewer keys than fill a vector register (64 bytes),
    and in 16 bits.
    """
    if is_read and math.isfinite((Q.detach() if Q.requires_grad else Q).sum().item()):  # as nearly every call
        return out
    bad = (Q.detach() - Q.detach()).sum(-1, keepdim=True)  # (B, h, n, 1): NaN for those queries, 0 for all others
    out = out + bad if torch.is_grad_enabled() else out.add_(bad)  # out may be kept for the gradient
    fully_masked = fully_masked_rows(mask, bias)
    return out if fully_masked is None else out.masked_fill(fully_masked, 0.0)


def kernel_is_unsupported(Q, K, V, bias) -> bool:
    """Where torch has no fused kernel."""
    if 0 in Q.shape or 0 in K.shape or in_forward_mode_ad():  # nothing to fuse, or no derivative of that kind
        return True
    if not Q.is_cpu:
        return False
    if K.shape[-1] != V.shape[-1]:  # torch's CPU kernel takes equal sizes only
        return True
    return bias is not None and bias.requires_grad


def fully_masked_rows(mask, bias) -> Tensor | None:
    """The queries that see no key, (B, 1 or h, 1 or n, 1) bool; None where there is neither mask nor bias."""
    if mask is None and bias is None:
        return None
    seen = mask if bias is None else combine_masks(mask, bias != -math.inf)
    return ~seen.any(-1, keepdim=True)


def unmask_rows(mask, bias, fully_masked) -> tuple[Tensor | None, Tensor | None]:
    """Mask and bias with the fully masked rows open: a softmax over nothing would be NaN, and so would its gradient.

    Whoever computes the weights sets those rows to zero afterwards, which makes their gradient zero too.
    """
    if fully_masked is None:
        return mask, bias
    return None if mask is None else mask | fully_masked, None if bias is None else bias.masked_fill(fully_masked, 0.0)
