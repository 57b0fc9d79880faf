"""Scaled dot-product attention: softmax(Q K^T / sqrt(d_k)) V, for any number of heads.

Read `definition` first: it is the formula, a line for each of its steps. Everything after it is comfort and speed.
`attention` is the door, which takes any number of axes, masks in every form, and heads that share their keys (grouped
and multi-query attention). Behind it three backends give the same numbers, in 16
bits up to the rounding of the scores, which the last two write:

* torch's fused kernel (`_backends.fused`), which never writes the weights to memory: where nobody wants them;
* the definition in a single buffer (`_backends.inplace_attention`): where they are wanted, or torch has no kernel;
* `definition` itself: with a softcap; and, where the kernel does not serve, with dropout, torch.compile or torch.func.
"""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from mha import _check as check
from mha import masks
from mha._backends import (
    InplaceAttention, fully_masked_rows, fused, inplace_attention, kernel_is_unsupported, sdpa_fast_path, unmask_rows,
)
from mha._result import pair
from mha._shapes import (
    cast_bias, combine_masks, fold_groups, in_forward_mode_ad, subtract_row_max, to_autocast_dtype, to_bhnd,
    unfold_groups,
)
from mha.parts import log_sum_exp


def definition(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None, bias: Tensor | None = None, *,
               scale: float | None = None, softcap: float | None = None,
               dropout: float = 0.0) -> tuple[Tensor, Tensor]:
    """Attention as one writes it down. This is the function to read; the rest of the file is speed and comfort.

        weights = softmax(Q K^T / sqrt(d_k))        out = weights V

    Each line makes a new tensor, so torch can differentiate and compile it. Every query must see at least one key.

    Args:
        Q: (B, h, n, d_k) queries.
        K: (B, h, m, d_k) keys.
        V: (B, h, m, d_v) values.
        mask, bias: as in `attention`; they broadcast to (B, h, n, m).
        scale, softcap, dropout: as in `attention`.
    Returns:
        out: (B, h, n, d_v).
        weights: (B, h, n, m), from 0 to 1; each row sums to 1 before dropout.
    Source:
        Vaswani et al. 2017, equation 1.
    """
    scale = Q.shape[-1] ** -0.5 if scale is None else scale
    scores = scale * Q @ K.mT  # (B, h, n, m)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    # dtype= keeps autocast from widening the weights.
    weights = torch.softmax(scores, dim=-1, dtype=scores.dtype)
    weights = F.dropout(weights, dropout)
    return weights @ V, weights  # (B, h, n, d_v), (B, h, n, m)


@partial(check.call, look=check.untouched)
def attention(q: Tensor, k: Tensor, v: Tensor, *more, mask: Tensor | None = None, bias: Tensor | None = None,
              causal: bool = False, offset: int | Tensor | None = None, window: tuple | None = None,
              scale: float | None = None, softcap: float | None = None, dropout: float = 0.0,
              need_weights: bool = False, need_lse: bool = False,
              **unknown) -> tuple[Tensor, Tensor | None] | tuple[Tensor, Tensor | None, Tensor]:
    """Each query takes a weighted mean of the values; the weights are a softmax over its scores with the keys.

        scores = scale * Q K^T        weights = softmax(scores + bias, over the visible keys)        out = weights V

    Args:
        q: (..., h, n, d_k) queries; or (n, d_k), one head on its own.
        k: (..., h_kv, m, d_k) keys. h is a multiple of h_kv: adjacent heads of q share one head of k and v.
        v: (..., h_kv, m, d_v) values.
        mask: bool, True = may attend; (n, m), or as many axes as the weights; each size theirs or 1. Padding is
            (B, 1, 1, m), as of `mha.masks.padding`: a bare (B, m) is taken for (n, m), in silence where B = n.
        bias: floats added to the scores, shaped like a mask. -inf hides a key, as a mask does. A number that all
            visible keys of a query have in common, be it -1e9, changes nothing: a softmax ignores it, so it is taken
            off first.
        causal: key j is visible to query i only if j <= i + offset.
        offset: number of keys before the first query, or a tensor of such, one for each sequence; needed with `causal`
            or `window` if n != m, and refused without them.
        window: (left, right), how many keys to either side a query may see; None is no limit.
        scale: of the scores; 1 / sqrt(d_k) by default.
        softcap: bounds the scaled scores smoothly, softcap * tanh(scores / softcap), before bias and mask.
        dropout: probability of losing a weight. It acts whenever it is not 0: pass 0 to evaluate.
        need_weights: return the weights too. They cost their memory: h n m numbers for each sequence.
        need_lse: return the logarithm of each query's normaliser too, ln(sum over the visible keys of exp(score +
            bias)), so that `mha.merge` can join attention to other keys. It costs the same memory for now.
    Returns:
        out: (..., h, n, d_v).
        weights: (..., h, n, m) as applied (after dropout; before it, rows sum to 1), or None.
        lse: (..., h, n), with need_lse only; float32 at least; minus infinity for a query that may see no key.
    NaN and queries that see nothing:
        A query that may see no key has zero weights and a zero output, whatever it holds; zero gradients if that is
        finite.
        Any other is NaN if it holds NaN, or infinity without a softcap, or sees NaN in a key, value or bias; in
        bfloat16 on a processor with AMX, torch's product may carry it into the query before. A hidden NaN leaves the
        output alone, with three exceptions. In a value it does not. In a key it may not without weights, nor may
        infinity, and torch's CPU kernel may also overlook a NaN or infinite key that is seen. And a bias of -inf hides
        a key's score, not its NaN. The gradients of all queries of its head are NaN even where it is hidden: 0 times
        NaN is NaN.
    Derivatives:
        Second ones need the weights: torch's kernel has none. Forward mode, torch.func.jvp, works without the kernel.
    Raises:
        ValueError, TypeError: inputs that do not fit. The message says what came and how to mend it.
    Source:
        Vaswani et al. 2017, equation 1. Groups of heads: Ainslie et al. 2023, section 2.2.
        softcap: Gemma Team 2024 (Gemma 2), section 2. lse: Dao et al. 2022, algorithm 1.
    """
    check.function_style(more, unknown)
    # What small layers are called with, and a step of decoding, needs nothing of what follows.
    if (need_weights is need_lse is False and mask is bias is window is scale is softcap is None
            and type(dropout) is float and not dropout and (causal is False or causal is True)):
        out = sdpa_fast_path(q, k, v, causal, offset)
        if out is not None:
            return pair(out, None)
    check.tensors(q=q, k=k, v=v)
    q, k, v = to_autocast_dtype(q, k, v)
    check.qkv(q, k, v)
    n, m = q.shape[-2], k.shape[-2]
    check.options(q, m, causal, offset, window, scale, softcap, dropout, need_weights, need_lse)
    shape = (*q.shape[:-1], m)  # of the weights: (..., h, n, m)
    check.mask_and_bias(mask, bias, q, shape)

    offset = 0 if offset is None else offset
    # The plain triangle (causal, n = m, nothing else hidden or added, a scale above 0) needs no mask: the fused kernel
    # skips the half of the scores that it hides. (Two `if`s, since under torch.compile such comparisons are no bool.)
    is_causal = causal and window is None and mask is None and bias is None
    if n != m or isinstance(offset, Tensor) or offset:
        is_causal = False
    if scale is not None and scale <= 0:  # the kernel multiplies the hidden scores, minus infinity, by it
        is_causal = False
    if not is_causal:
        mask = combine_masks(mask, masks.visible(n, m, causal, window, offset, q.device))
    added = bias  # as it came, for the normaliser
    bias = None if bias is None else cast_bias(subtract_row_max(bias, mask, q.dtype), q.dtype)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    lead = shape[:-3]
    Q, K, V = (to_bhnd(t, lead) for t in (q, k, v))  # (B, h, n or m, .)
    out, weights = _dispatch(Q, K, V, to_bhnd(mask, lead), to_bhnd(bias, lead), scale, is_causal, softcap, dropout,
                             need_weights or need_lse)
    lse = log_sum_exp(Q, K, weights, to_bhnd(added, lead), scale, softcap) if need_lse else None
    if q.ndim != 4:
        out = out.reshape(*shape[:-1], v.shape[-1])
        weights = weights.reshape(shape) if need_weights else None
        lse = lse.reshape(shape[:-1]) if need_lse else None
    weights = weights if need_weights else None
    return (out, weights, lse) if need_lse else pair(out, weights)


def _dispatch(Q, K, V, mask, bias, scale, is_causal, softcap, dropout, need_weights) -> tuple[Tensor, Tensor | None]:
    """Attention over four axes, by torch's kernel or without it; heads that share their keys are folded."""
    # Unsuitable: no tokens; on a CPU also d_k != d_v, or a bias that learns.
    use_kernel = not (need_weights or softcap or kernel_is_unsupported(Q, K, V, bias))
    kernel_shares_heads = use_kernel and is_causal and (Q.is_cuda or Q.is_cpu)  # its own flag for it, enable_gqa
    h = Q.shape[1]
    if h != K.shape[1] and not kernel_shares_heads:
        Q, mask, bias, is_causal = fold_groups(Q, K, mask, bias, is_causal)  # (B, h_kv, h/h_kv n, d_k)
    if use_kernel:
        return unfold_groups(fused(Q, K, V, mask, bias, scale, is_causal, dropout), h), None
    out, weights = _without_kernel(Q, K, V, mask, bias, scale, is_causal, softcap, dropout)
    return unfold_groups(out, h), unfold_groups(weights, h) if need_weights else None


def _without_kernel(Q, K, V, mask, bias, scale, is_causal, softcap, dropout) -> tuple[Tensor, Tensor]:
    """Attention that writes its weights to memory, wanted or not: by `inplace_attention`, or by the definition."""
    # A CPU multiplies float16 matrices many times slower than float32 ones.
    if Q.dtype == torch.float16 and Q.device.type == "cpu":
        wide = (None if t is None else t.float() for t in (Q, K, V))
        bias = None if bias is None else bias.float()
        return tuple(t.half() for t in _without_kernel(*wide, mask, bias, scale, is_causal, softcap, dropout))
    fully_masked = fully_masked_rows(mask, bias)  # in the triangle each query sees itself
    mask = masks.causal(Q.shape[2], device=Q.device) if is_causal else mask
    # torch.compile fuses the plain lines by itself, and torch.func can differentiate and batch only those. Whether
    # torch.func is at work, torch tells in this private place alone.
    plain = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active() or in_forward_mode_ad()
    if not (softcap or dropout or plain):
        learns = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (Q, K, V, bias))
        return (InplaceAttention.apply if learns else inplace_attention)(Q, K, V, mask, bias, fully_masked, scale)
    mask, bias = unmask_rows(mask, bias, fully_masked)
    out, weights = definition(Q, K, V, mask, bias, scale=scale, softcap=softcap, dropout=dropout)
    if fully_masked is None:
        return out, weights
    return out.masked_fill(fully_masked, 0.0), weights.masked_fill(fully_masked, 0.0)
