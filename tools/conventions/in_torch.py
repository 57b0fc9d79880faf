"""The doors of torch, Hugging Face's transformers and x-transformers, which take torch's tensors."""
import inspect
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from tools.conventions.door import D, H, Door


def swap(tensor):
    """(B, h, n, d) to (B, n, h, d), and back."""
    return tensor.swapaxes(1, 2)


def merge(tensor):
    """(B, h, n, d) to (B, n, h d): the heads side by side."""
    return swap(tensor).reshape(tensor.shape[0], tensor.shape[2], -1)


def split(tensor):
    """(B, n, h d) to (B, h, n, d)."""
    return swap(tensor.reshape(*tensor.shape[:2], H, -1))


SHAPES = {"swap": swap, "merge": merge, "split": split, "h": H, "d": D}


def function(q, k, v, *, mask=None, bias=None, causal=False, scale=None):
    return scaled_dot_product_attention(q, k, v, attn_mask=mask if bias is None else bias, is_causal=causal,
                                        scale=scale, enable_gqa=k.shape[1] < H)


def torch_layer(**options):
    """Its matrices are identities, so that its heads get q, k and v."""
    layer = nn.MultiheadAttention(H * D, H, batch_first=True, bias=False, **options).eval()
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(H * D).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(H * D))
    return layer


def with_dropout(q, k, v, training):
    """The function does not know whether anybody trains."""
    return scaled_dot_product_attention(q, k, v, dropout_p=0.5)


def layer_with_dropout(q, k, v, training):
    return split(torch_layer(dropout=0.5).train(training)(merge(q), merge(k), merge(v))[0])


def by_layer(q, k, v, *, mask=None, bias=None, weights=False, causal=False):
    given = mask if bias is None else bias
    if given is not None:
        given = given.expand(-1, H, -1, -1).flatten(0, 1)
    with torch.no_grad():
        out, found = torch_layer()(merge(q), merge(k), merge(v), attn_mask=given, need_weights=weights,
                                   is_causal=causal)
    return (split(out), found) if weights else split(out)


def torch_doors():
    return [
        Door(name="torch · function", package="torch", calls="torch.nn.functional.scaled_dot_product_attention",
             axes="(B, h, n, d)", call=function, mask="attn_mask", bias="attn_mask", scale="scale",
             dropout="dropout_p", dropped=with_dropout, is_causal="is_causal", grouped="enable_gqa",
             line="scaled_dot_product_attention(q, k, v, attn_mask=mask)",
             names=lambda: {"scaled_dot_product_attention": scaled_dot_product_attention}),
        Door(name="torch · layer", package="torch", calls="torch.nn.MultiheadAttention", axes="(n, B, d_model)",
             call=by_layer, mask="attn_mask", bias="attn_mask", dropout="dropout", dropped=layer_with_dropout,
             weights="need_weights", is_causal="is_causal",
             line="split(layer(merge(q), merge(k), merge(v), attn_mask=~mask)[0])",
             names=lambda: {"layer": torch_layer(), **SHAPES}),
    ]


def like_a_layer(kv_heads=H):
    """What transformers' functions look up in the layer that calls them."""
    return SimpleNamespace(num_key_value_groups=H // kv_heads, training=False, is_causal=False)


def eager(q, k, v, *, mask=None, bias=None, weights=False, scale=None):
    from transformers.models.llama.modeling_llama import eager_attention_forward
    scale = D ** -0.5 if scale is None else scale
    out, found = eager_attention_forward(like_a_layer(k.shape[1]), q, k, v, mask if bias is None else bias, scale)
    return (swap(out), found) if weights else swap(out)


def sdpa(q, k, v, *, mask=None, bias=None, weights=False, scale=None, causal=False):
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    out, found = sdpa_attention_forward(like_a_layer(k.shape[1]), q, k, v, mask if bias is None else bias,
                                        scaling=scale, is_causal=causal)
    return (swap(out), found) if weights else swap(out)


def eager_with_dropout(q, k, v, training):
    from transformers.models.llama.modeling_llama import eager_attention_forward
    layer = SimpleNamespace(num_key_value_groups=1, training=training)
    return swap(eager_attention_forward(layer, q, k, v, None, D ** -0.5, dropout=0.5)[0])


def sdpa_with_dropout(q, k, v, training):
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    layer = SimpleNamespace(num_key_value_groups=1, training=training, is_causal=False)
    return swap(sdpa_attention_forward(layer, q, k, v, None, dropout=0.5)[0])


def hugging_face_doors():
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.models.llama.modeling_llama import eager_attention_forward
    asks_for_scale = inspect.signature(eager_attention_forward).parameters["scaling"].default is inspect.Parameter.empty
    module = {"layer": like_a_layer(), "eager_attention_forward": eager_attention_forward,
              "sdpa_attention_forward": sdpa_attention_forward, **SHAPES}
    return [
        Door(name="HF · eager", package="transformers", calls="transformers.models.llama.modeling_llama."
             "eager_attention_forward", axes="(B, h, n, d)", out="(B, n, h, d)", call=eager,
             mask="attention_mask", bias="attention_mask", scale="scaling",
             default_scale="must be given" if asks_for_scale else "", grouped="num_key_value_groups of the layer",
             dropout="dropout", dropped=eager_with_dropout, weights="always",
             line="swap(eager_attention_forward(layer, q, k, v, ~mask * -1e9, d ** -0.5)[0])", names=lambda: module),
        Door(name="HF · sdpa", package="transformers", calls="transformers.integrations.sdpa_attention."
             "sdpa_attention_forward", axes="(B, h, n, d)", out="(B, n, h, d)", call=sdpa, mask="attention_mask",
             bias="attention_mask", scale="scaling", is_causal="is_causal", grouped="num_key_value_groups of the layer",
             dropout="dropout", dropped=sdpa_with_dropout,
             line="swap(sdpa_attention_forward(layer, q, k, v, mask)[0])", names=lambda: module),
    ]


def attend(q, k, v, *, mask=None, bias=None, causal=False, scale=None, weights=False):
    from x_transformers.attend import Attend
    with torch.no_grad():
        out, inside = Attend(heads=H, scale=scale, causal=causal)(q, k, v, mask=mask, attn_bias=bias)
    return (out, inside.post_softmax_attn) if weights else out


def attend_with_dropout(q, k, v, training):
    from x_transformers.attend import Attend
    return Attend(heads=H, dropout=0.5).train(training)(q, k, v)[0]


def x_transformers_doors():
    from x_transformers.attend import Attend
    return [Door(name="x-transformers", package="x-transformers", calls="x_transformers.attend.Attend",
                 axes="(B, h, n, d)", call=attend, mask="mask", bias="attn_bias", scale="scale",
                 dropout="dropout", dropped=attend_with_dropout, is_causal="causal",
                 weights="flash=False: post_softmax_attn", line="Attend()(q, k, v, mask=mask[None, None])[0]",
                 names=lambda: {"Attend": Attend, **SHAPES})]
