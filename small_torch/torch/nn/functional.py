"""torch.nn.functional: what the exercises, `mha` and their readers call of it."""
import math
import warnings

from torch._base import NAMES, OPS, NotHere, error, op
from torch._arguments import spoken
from torch._calls import refusing
from torch._dtypes import B, FLOAT


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    return OPS["softmax"](input, implied(input, dim, "softmax", _stacklevel), dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    return OPS["log_softmax"](input, implied(input, dim, "log_softmax", _stacklevel), dtype)


def implied(input, dim, name, depth):
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=depth + 2)
    return 0 if input.ndim in (0, 1, 3) else 1


def linear(input, weight, bias=None):
    product = OPS["matmul"](input, weight.t())
    return product if bias is None else product + bias


def dropout(input, p=0.5, training=True, inplace=False):
    if training and p:
        raise NotHere("dropout")
    return input


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    if out is not None or not isinstance(dim, int):
        raise NotHere("normalize with these options")
    return input / OPS["linalg.vector_norm"](input, p, dim, True).clamp_min(eps).expand_as(input)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = list(range(-len(normalized_shape), 0))
    if input.dtype.itemsize == 2 or math.prod(normalized_shape) == 1:
        raise NotHere("layer_norm in a half type, or of one number")
    if not axes or tuple(input.shape[input.ndim - len(axes):]) != tuple(normalized_shape) or input.dtype.rank != FLOAT:
        raise NotHere("layer_norm of another shape")
    scaled = (input - input.mean(axes, True)) * (input.var(axes, keepdim=True, correction=0) + eps).rsqrt()
    scaled = scaled if weight is None else scaled * weight
    return OPS["contiguous"](scaled if bias is None else scaled + bias)


def gelu(input, approximate="none"):
    if approximate != "none":
        raise NotHere("an approximate gelu")
    return input * (1 + (input / math.sqrt(2)).erf()) / 2


def silu(input, inplace=False):
    if inplace:
        raise NotHere("silu in place")
    return input * input.sigmoid()


def logsigmoid(input):
    if input.dtype.rank != FLOAT:
        raise NotHere(f"logsigmoid of {input.dtype}")
    return OPS["logaddexp"](OPS["zeros_like"](input), -input).neg()


def relu(input, inplace=False):
    if inplace:
        raise NotHere("relu in place")
    return OPS["relu"](input)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if reduction != "mean" or input.shape != target.shape or weight is not None:
        raise NotHere("mse_loss with these options")
    return (input - target).square().mean()


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    if weight is not None or reduction != "mean" or label_smoothing or input.ndim != 2 or target.ndim != 1 or (
            (target.array < 0) | (target.array == ignore_index)).any():
        raise NotHere("cross_entropy with these options")
    return -input.log_softmax(1).gather(1, target[:, None]).mean()


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    x1, x2 = OPS["broadcast_tensors"](x1, x2)
    if x1.requires_grad or x2.requires_grad or x1.dtype is not x2.dtype or x1.dtype.rank != FLOAT:
        raise NotHere("cosine_similarity of these")
    sizes = [OPS["linalg.vector_norm"](x, 2, dim, True).clamp_min(eps) for x in (x1, x2)]
    return ((x1 / sizes[0]) * (x2 / sizes[1])).sum(dim)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if padding_idx is not None or max_norm is not None or scale_grad_by_freq or sparse or weight.ndim != 2:
        raise NotHere("embedding with these options")
    return weight.index_select(0, input.reshape(-1)).view(*input.shape, weight.shape[1])


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    if not query.dtype is key.dtype is value.dtype:
        raise error(RuntimeError, "Expected query, key, and value to have the same dtype, but got query.dtype: "
                    f"{spoken(query.dtype)} key.dtype: {spoken(key.dtype)} and value.dtype: {spoken(value.dtype)} "
                    "instead.")
    if dropout_p or query.ndim < 2 + bool(enable_gqa) or not query.ndim == key.ndim == value.ndim:
        raise NotHere("scaled_dot_product_attention with these options")
    if query.dtype.rank != FLOAT or query.dtype.itemsize == 2:
        raise NotHere("scaled_dot_product_attention of these dtypes")
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    if query.shape[:-2] != key.shape[:-2] or key.shape[:-1] != value.shape[:-1] or query.shape[-1] != key.shape[-1]:
        raise NotHere("scaled_dot_product_attention of these shapes")
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        if attn_mask is not None:
            raise NotHere("scaled_dot_product_attention with is_causal and a mask")
        attn_mask = OPS["tril"](OPS["ones"](query.shape[-2], key.shape[-2], dtype=B))
    if attn_mask is None:
        return scores.softmax(-1) @ value
    if attn_mask.dtype is not B and (attn_mask.dtype is not query.dtype or attn_mask.requires_grad):
        raise NotHere("scaled_dot_product_attention with this mask")
    scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype is B else scores + attn_mask
    hidden = (scores == -math.inf).all(-1, True)
    return scores.softmax(-1).masked_fill(hidden, 0.0) @ value


HERE = {function.__name__: op(function, f"nn.functional.{function.__name__}") for function in (
    softmax, log_softmax, linear, dropout, normalize, layer_norm, gelu, silu, logsigmoid, relu, mse_loss, cross_entropy,
    cosine_similarity, embedding, scaled_dot_product_attention)}
HERE.update({name: OPS[name] for name in ("one_hot", "pad", "sigmoid", "tanh")})
globals().update({name: refusing(function, "F", name) for name, function in HERE.items()})


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in NAMES["F"]:
        raise NotHere(f"nn.functional.{name}")
    raise error(AttributeError, f"module 'torch.nn.functional' has no attribute '{name}'")
