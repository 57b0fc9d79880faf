"""The doors of jax, flax, Keras and ONNX, which take arrays; they are numpy's here."""
import os

import torch

from tools.conventions.door import B, D, H, Door
from tools.conventions.in_torch import SHAPES, merge, split, swap


def arrays(*tensors):
    """Of torch's tensors, or None: numpy's arrays."""
    return [None if tensor is None else tensor.numpy() for tensor in tensors]


def back(array):
    """A torch tensor of any array."""
    import numpy
    return torch.tensor(numpy.asarray(array))


def by_jax(q, k, v, *, mask=None, bias=None, causal=False, scale=None):
    import jax
    mask, bias, *qkv = arrays(mask, bias, *map(swap, (q, k, v)))
    return swap(back(jax.nn.dot_product_attention(*qkv, bias, mask, scale=scale, is_causal=causal)))


def jax_doors():
    import jax
    return [Door(name="jax", package="jax", calls="jax.nn.dot_product_attention", axes="(B, n, h, d)", call=by_jax,
                 mask="mask", bias="bias", scale="scale", is_causal="is_causal",
                 line="swap(dot_product_attention(swap(q), swap(k), swap(v), mask=mask[None, None]))",
                 arrays=True, names=lambda: dict(SHAPES, dot_product_attention=jax.nn.dot_product_attention))]


def flax_layer(kv_heads=H, **options):
    """Its matrices are identities."""
    import jax.numpy as jnp
    from flax import nnx
    layer = nnx.MultiHeadAttention(H, H * D, num_kv_heads=kv_heads, in_kv_features=kv_heads * D, use_bias=False,
                                   rngs=nnx.Rngs(0), decode=False, **options)
    for part, heads in ((layer.query, H), (layer.key, kv_heads), (layer.value, kv_heads)):
        part.kernel[...] = jnp.eye(heads * D).reshape(heads * D, heads, D)
    layer.out.kernel[...] = jnp.eye(H * D).reshape(H, D, H * D)
    return layer


def by_flax(q, k, v, *, mask=None, bias=None, causal=False, weights=False):
    from flax import nnx
    kv_heads, (given, *qkv) = k.shape[1], arrays(mask if bias is None else bias, *map(merge, (q, k, v)))
    layer = flax_layer(kv_heads, deterministic=True)
    out = split(back(layer(*qkv, mask=given, is_causal=causal, sow_weights=weights)))
    return (out, back(nnx.pop(layer, nnx.Intermediate)["attention_weights"][0])) if weights else out


def flax_with_dropout(q, k, v, training):
    from flax import nnx
    layer = flax_layer(dropout_rate=0.5)
    layer.train() if training else layer.eval()
    return split(back(layer(*arrays(*map(merge, (q, k, v))), rngs=nnx.Rngs(dropout=0))))


def flax_doors():
    return [Door(name="flax", package="flax", calls="flax.nnx.MultiHeadAttention", axes="(B, n, d_model)", call=by_flax,
                 mask="mask", bias="mask", is_causal="is_causal", grouped="num_kv_heads",
                 dropout="dropout_rate", dropped=flax_with_dropout, weights="sow_weights",
                 line="split(layer(merge(q), merge(k), merge(v), mask=mask))",
                 arrays=True, names=lambda: dict(SHAPES, layer=flax_layer(deterministic=True)))]


def keras_layer(kv_heads=H, **options):
    """Its matrices are identities."""
    import numpy
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras
    if kv_heads == H:
        layer = keras.layers.MultiHeadAttention(H, D, use_bias=False, **options)
    else:
        layer = keras.layers.GroupQueryAttention(D, H, kv_heads, use_bias=False, **options)
    q, k = (numpy.zeros((B, 3, heads * D), "float32") for heads in (H, kv_heads))
    layer(q, k, k)
    for variable in layer.weights[:3]:          # queries, keys, values: (d_model, h, d)
        variable.assign(numpy.eye(variable.shape[0]).reshape(variable.shape))
    layer.weights[3].assign(numpy.eye(H * D).reshape(layer.weights[3].shape))
    return layer


def by_keras(q, k, v, *, mask=None, bias=None, causal=False, weights=False):
    given = mask if bias is None else bias
    given = None if given is None else given.expand(-1, H, -1, -1)
    found = keras_layer(k.shape[1])(merge(q), merge(v), merge(k), attention_mask=given, use_causal_mask=causal,
                                    return_attention_scores=weights)
    return (split(found[0].detach()), found[1].detach()) if weights else split(found.detach())


def keras_with_dropout(q, k, v, training):
    return split(keras_layer(dropout=0.5)(merge(q), merge(v), merge(k), training=training).detach())


def keras_doors():
    return [Door(name="Keras", package="keras", calls="keras.layers.MultiHeadAttention", axes="(B, n, d_model)",
                 call=by_keras, order="q, v, k", mask="attention_mask", bias="attention_mask",
                 is_causal="use_causal_mask", grouped="GroupQueryAttention", dropout="dropout",
                 dropped=keras_with_dropout, weights="return_attention_scores",
                 line="split(layer(merge(q), merge(v), merge(k), attention_mask=mask))",
                 arrays=True, names=lambda: dict(SHAPES, layer=lambda *x, **more: keras_layer()(*x, **more).detach()))]


def onnx_session(given=None, **attributes):
    """A model of one node, Attention of opset 24, on onnxruntime. given: its mask, None where it has none."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper
    kinds = {"float32": TensorProto.FLOAT, "bool": TensorProto.BOOL}
    names = {"Q": "float32", "K": "float32", "V": "float32", **({} if given is None else {"mask": str(given.dtype)})}
    outs = ["Y", "", "", "weights"] if "qk_matmul_output_mode" in attributes else ["Y"]
    node = helper.make_node("Attention", [*names], outs, **attributes)
    free = ["b", "h", "n", "d"]
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info(name, kinds[kind], [f"{name}{axis}" for axis in free])
                        for name, kind in names.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [f"{name}{axis}" for axis in free])
         for name in outs if name])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)
    onnx.checker.check_model(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def by_onnx(q, k, v, *, mask=None, bias=None, causal=False, scale=None, weights=False):
    given, *qkv = arrays(mask if bias is None else bias, q, k, v)
    attributes = {"is_causal": int(causal), **({} if scale is None else {"scale": scale}),
                  **({"qk_matmul_output_mode": 3} if weights else {})}
    feeds = dict(zip("QKV", qkv)) | ({} if given is None else {"mask": given})
    found = [back(array) for array in onnx_session(given, **attributes).run(None, feeds)]
    return tuple(found) if weights else found[0]


def onnx_doors():
    return [Door(name="ONNX", package="onnxruntime", calls="Attention of opset 24", axes="(B, h, n, d)", call=by_onnx,
                 mask="attn_mask", bias="attn_mask", scale="scale", is_causal="is_causal",
                 weights="qk_matmul_output_mode=3",
                 line="session.run(None, dict(Q=q, K=k, V=v, mask=mask[None, None]))[0]",
                 arrays=True, names=lambda: dict(SHAPES, session=onnx_session(back(True).numpy())))]
