"""Scaled dot-product attention: softmax(Q K^T / sqrt(d_k)) V, for any number of heads.

Read `definition` first: it is the formula, a line for each of its steps. Everything after it is comfort and speed.
`attention` is the door, which takes any number of axes, masks in every form, and heads that share their keys. Behind it
three roads lead to the same numbers:

* torch's fused kernel, which never writes the weights to memory: where nobody asks for them;
* `in_one_buffer`, the definition in a single (n, m) buffer: where the weights are asked for;
* `definition` itself: with a softcap or dropout, and under torch.compile and torch.func.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from mha import _check as check
from mha import masks


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


def attention(q: Tensor, k: Tensor, v: Tensor, *more, mask: Tensor | None = None, bias: Tensor | None = None,
              causal: bool = False, offset: int | Tensor | None = None, window: tuple | None = None,
              scale: float | None = None, softcap: float | None = None, dropout: float = 0.0,
              need_weights: bool = False, **unknown) -> tuple[Tensor, Tensor | None]:
    """Each query takes a weighted mean of the values; the weights are a softmax over its scores with the keys.

        scores = scale * Q K^T        weights = softmax(scores + bias, over the visible keys)        out = weights V

    Args:
        q: (..., h, n, d_k) queries; or (n, d_k), one head on its own.
        k: (..., h_kv, m, d_k) keys. h is a multiple of h_kv: adjacent heads of q share one head of k and v.
        v: (..., h_kv, m, d_v) values.
        mask: bool, True = may attend; (n, m), or as many axes as the weights; each size theirs or 1.
        bias: floats added to the scores, shaped like a mask. -inf hides a key, as a mask does.
        causal: key j is visible to query i only if j <= i + offset.
        offset: number of keys before the first query, or a tensor of such, one for each sequence; needed with `causal`
            or `window` if n != m.
        window: (left, right), how many keys to either side a query may see; None is no limit.
        scale: of the scores; 1 / sqrt(d_k) by default.
        softcap: bounds the scaled scores smoothly, softcap * tanh(scores / softcap), before bias and mask.
        dropout: probability of losing a weight. It acts whenever it is not 0: pass 0 to evaluate.
        need_weights: return the weights too. They cost their memory: h n m numbers.
    Returns:
        out: (..., h, n, d_v).
        weights: (..., h, n, m) as applied (after dropout; before it, rows sum to 1), or None.
        A query that may see no key has zero weights, a zero output and zero gradients (without weights, one that is
        NaN itself has NaN).
        NaN in a query, or in a key or value that it sees, makes its output NaN; so does an infinite query, unless a
        softcap bounds its scores. Three exceptions: without weights, torch's CPU kernel may answer a NaN or infinite
        *key* with numbers; a hidden NaN key reaches others without weights, or if a bias of -inf hides it; a hidden NaN
        value reaches all. For second derivatives ask for the weights: torch's kernel has none.
    Raises:
        ValueError, TypeError: inputs that do not fit. The message says what came and how to mend it.
    Source:
        Vaswani et al. 2017, equation 1. Groups of heads: Ainslie et al. 2023, section 2.2.
        softcap: Gemma Team 2024 (Gemma 2), section 2.
    """
    check.function_style(more, unknown)
    check.tensors(q=q, k=k, v=v)
    q, k, v = _autocast(q, k, v)
    check.qkv(q, k, v)
    n, m = q.shape[-2], k.shape[-2]
    check.options(q, m, causal, offset, window, scale, softcap, dropout, need_weights)
    shape = (*q.shape[:-1], m)  # of the weights: (..., h, n, m)
    check.mask_and_bias(mask, bias, q, shape)
    bias = None if bias is None else _to(bias, q.dtype)

    # The plain triangle needs no mask: the fused kernel skips the half of the scores that it hides. (It multiplies
    # their minus infinity by the scale; and n == m alone would be no bool under torch.compile.)
    offset = 0 if offset is None else offset
    plain = causal and window is None and mask is None and bias is None and (scale is None or scale > 0)
    triangle = True if plain and n == m and not isinstance(offset, Tensor) and not offset else False
    if not triangle:
        mask = _both(mask, masks.visible(n, m, causal, window, offset, q.device))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    Q, K, V, mask, bias = (_four_axes(t, shape[:-3]) for t in (q, k, v, mask, bias))  # (B, h, ., .)
    fused = not (need_weights or softcap or _weights_are_cheaper(Q, K, V, mask, bias, triangle))
    if Q.shape[1] != K.shape[1] and not (fused and triangle and Q.is_cuda):  # there the kernel shares keys by itself
        Q, mask, bias, triangle = _fold_groups(Q, K, mask, bias, triangle)  # (B, h_kv, h/h_kv n, d_k)
    if fused:
        out, weights = _fused(Q, K, V, mask, bias, scale, triangle, dropout), None
    else:
        out, weights = _with_weights(Q, K, V, mask, bias, scale, triangle, softcap, dropout)
    if out.shape[:-1] != shape[:-1]:
        out = out.reshape(*shape[:-1], v.shape[-1])
    return out, weights.reshape(shape) if need_weights else None


def in_one_buffer(Q, K, V, mask, bias, blind, scale) -> tuple[Tensor, Tensor]:
    """The definition once more, in a single (B, h, n, m) buffer: scores become weights in place.

    On a CPU that is most of the gain: touching a fresh buffer of 100 MB for the first time costs more than the softmax
    that fills it. `blind`, (B, 1 or h, 1 or n, 1) bool, marks the queries that see no key.
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


def _with_weights(Q, K, V, mask, bias, scale, triangle, softcap, dropout) -> tuple[Tensor, Tensor]:
    """Attention that writes its weights to memory."""
    # A CPU multiplies float16 matrices some 30 times slower than float32 ones.
    if Q.dtype == torch.float16 and Q.device.type == "cpu":
        wide = (None if t is None else t.float() for t in (Q, K, V))
        bias = None if bias is None else bias.float()
        return tuple(t.half() for t in _with_weights(*wide, mask, bias, scale, triangle, softcap, dropout))
    blind = _blind_rows(mask, bias)  # in the triangle each query sees itself
    mask = masks.causal(Q.shape[2], device=Q.device) if triangle else mask
    # torch.compile fuses the plain lines by itself, and torch.func can differentiate and batch only those. Whether
    # torch.func is at work, torch tells in this private place alone.
    plain = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    if not (softcap or dropout or plain):
        learns = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (Q, K, V, bias))
        return (OneBuffer.apply if learns else in_one_buffer)(Q, K, V, mask, bias, blind, scale)
    mask, bias = _opened(mask, bias, blind)
    out, weights = definition(Q, K, V, mask, bias, scale=scale, softcap=softcap, dropout=dropout)
    if blind is None:
        return out, weights
    return out.masked_fill(blind, 0.0), weights.masked_fill(blind, 0.0)


def _fused(Q, K, V, mask, bias, scale, triangle, dropout) -> Tensor:
    """Attention by torch's kernels, which work through the scores tile by tile and keep none."""
    # A query that sees no key torch's CPU kernel answers with zeros by itself, and with gradients of zero.
    blind = None if Q.is_cpu else _blind_rows(mask, bias)
    mask, bias = _opened(mask, bias, blind)
    if bias is not None and mask is not None:
        bias, mask = bias.masked_fill(~mask, -math.inf), None
    shared = {} if Q.shape[1] == K.shape[1] else {"enable_gqa": True}
    out = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask if bias is None else bias, dropout_p=dropout,
                                         is_causal=triangle, scale=scale, **shared)
    # Over fewer keys than a vector register holds (64 bytes), and in 16 bits, it may also turn a query of NaN or inf
    # into zeros. NaN - NaN and inf - inf are NaN. What is compiled or exported must not depend on a size.
    if Q.is_cpu and (torch.compiler.is_compiling() or K.shape[2] * K.element_size() < 64 or Q.element_size() == 2):
        Q = Q.detach()
        out = out + (Q - Q).sum(-1, keepdim=True)
    return out if blind is None else out.masked_fill(blind, 0.0)


def _weights_are_cheaper(Q, K, V, mask, bias, triangle) -> bool:
    """Where torch has no fused kernel, or a slower one, writing the weights takes no longer."""
    if 0 in Q.shape or 0 in K.shape:
        return True
    if not Q.is_cpu:
        return False
    if bias is not None:
        return bias.requires_grad or K.shape[-1] != V.shape[-1]
    return K.shape[-1] != V.shape[-1] or (Q.dtype == torch.bfloat16 and mask is None and not triangle)


def _blind_rows(mask, bias) -> Tensor | None:
    """The queries that see no key, (B, 1 or h, 1 or n, 1) bool; None where there is neither mask nor bias."""
    if mask is None and bias is None:
        return None
    seen = mask if bias is None else _both(mask, bias != -math.inf)
    return ~seen.any(-1, keepdim=True)


def _opened(mask, bias, blind) -> tuple[Tensor | None, Tensor | None]:
    """Mask and bias with the blind rows open: a softmax over nothing would be NaN, and so would its gradient.

    Whoever computes the weights sets those rows to zero afterwards, which makes their gradient zero too.
    """
    if blind is None:
        return mask, bias
    return None if mask is None else mask | blind, None if bias is None else bias.masked_fill(blind, 0.0)


def _to(bias, dtype) -> Tensor:
    """A bias in another precision. What was finite stays finite, with room for the scores it is added to."""
    most = torch.finfo(dtype).max / 2
    if torch.finfo(bias.dtype).max / 2 <= most:
        return bias.to(dtype)
    return torch.where(bias.isinf(), bias, bias.clamp(-most, most)).to(dtype)


def _fold_groups(Q, K, mask, bias, triangle) -> tuple[Tensor, Tensor | None, Tensor | None, bool]:
    """Where g heads share one key head, queue their queries one after the other: (B, h, n, .) -> (B, h_kv, g n, .).

    Copying K and V g times instead would move g times the memory.
    """
    h, n, h_kv = *Q.shape[1:3], K.shape[1]
    group = (h_kv, h // h_kv)
    if triangle:
        mask = masks.causal(n, device=Q.device)[None, None]  # (1, 1, n, n)
    return Q.unflatten(1, group).flatten(2, 3), _fold_rows(mask, group, n), _fold_rows(bias, group, n), False


def _fold_rows(t, group, n) -> Tensor | None:
    """Fold a mask or a bias, (B, 1 or h, 1 or n, m), as its queries are: (B, 1 or h_kv, 1 or g n, m)."""
    if t is None or t.shape[1:3] == (1, 1):
        return t
    t = t.unflatten(1, group if t.shape[1] > 1 else (1, 1))  # (B, 1 or h_kv, 1 or g, 1 or n, m)
    return t.expand(-1, -1, group[1], n, -1).flatten(2, 3)


def _four_axes(t, lead) -> Tensor | None:
    """One batch axis, one head axis, whatever stood there: (..., h, n, d) -> (B, h, n, d)."""
    if t is None or t.ndim == 4:
        return t
    if t.ndim < 4:
        return t[(None,) * (4 - t.ndim)]
    return t.expand(*lead, *t.shape[-3:]).flatten(0, -4)


def _both(a, b) -> Tensor | None:
    """Two masks in one; None is no mask."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def _autocast(q, k, v) -> tuple[Tensor, Tensor, Tensor]:
    """Under torch.autocast, what a matrix product would do there: go to the lower precision."""
    if not check.autocasting(q):
        return q, k, v
    dtype = torch.get_autocast_dtype(q.device.type)
    return tuple(t if t.dtype == torch.float64 or not t.is_floating_point() else t.to(dtype) for t in (q, k, v))
