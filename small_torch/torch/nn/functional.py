"""torch.nn.functional: what the exercises and `mha` call of it."""

import math

from torch import _core
from torch._core import NotHere, err


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return _core.softmax(input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return _core.log_softmax(input, dim, dtype)


relu, sigmoid, tanh, pad, one_hot, softplus = (
    _core.relu, _core.sigmoid, _core.tanh, _core.pad, _core.one_hot, _core.softplus)


def linear(input, weight, bias=None):
    out = _core.matmul(input, weight.T)
    return out if bias is None else out + bias


def dropout(input, p=0.5, training=True, inplace=False):
    if not training or p == 0:
        return input
    raise NotHere("dropout")


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    if p != 2 or out is not None:
        raise NotHere("normalize with these options")
    return input / _core.expand(_core.clamp_min(_core.vector_norm(input, 2, dim, True), eps), input.shape)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = list(range(-len(normalized_shape), 0))
    if tuple(input.shape[len(input.shape) - len(axes):]) != tuple(normalized_shape):
        raise NotHere("layer_norm of another shape")
    out = (input - _core.mean(input, axes, True)) / _core.sqrt(
        _core.var(input, axes, True, correction=0) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    if reduction != "mean" or input.shape != target.shape:
        raise NotHere("mse_loss with these options")
    return _core.mean(_core.square(input - target))


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    if weight is not None or reduction != "mean" or label_smoothing or input.ndim != 2 or target.ndim != 1:
        raise NotHere("cross_entropy with these options")
    return -_core.mean(_core.gather(_core.log_softmax(input, -1), 1, target[:, None]))


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    def norm(x):
        return _core.clamp_min(_core.vector_norm(x, 2, dim, True), eps)
    return _core.sum((x1 / norm(x1)) * (x2 / norm(x2)), dim)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    if dropout_p or query.ndim < 3:
        raise NotHere("scaled_dot_product_attention with these options")
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (_core.repeat_interleave(x, groups, -3) for x in (key, value))
    scores = _core.matmul(query, _core.mT(key)) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        if attn_mask is not None:
            raise err(RuntimeError, "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                      "is_causal=True")
        attn_mask = _core.tril(_core.ones(query.shape[-2], key.shape[-2], dtype=_core.B))
    if attn_mask is not None:
        if attn_mask.dt is _core.B:
            scores = _core.masked_fill(scores, ~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
    weights = _core.softmax(scores, -1)
    if attn_mask is not None:
        hidden = _core.all(scores == -math.inf, -1, True)
        weights = _core.masked_fill(weights, hidden, 0)
    return _core.matmul(weights, value)


for _name, _function in list(globals().items()):
    if getattr(_function, "__module__", "") == __name__:
        globals()[_name] = _core.api(_function)


def __getattr__(name):
    if name in _core.NAMES["F"]:
        raise NotHere(f"nn.functional.{name}")
    raise err(AttributeError, f"module 'torch.nn.functional' has no attribute '{name}'")
