"""torch's own samples of inputs, which nobody here chose."""
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

from mha import MultiHeadAttention, attention, masks
from support import ROADS

LAYER = next(info for info in module_db if info.module_cls is nn.MultiheadAttention)
KERNEL = next(op for op in op_db if op.name == "nn.functional.scaled_dot_product_attention")


def layer_samples():
    return list(LAYER.module_inputs_func(LAYER, device="cpu", dtype=torch.float64, requires_grad=False, training=False))


def supported(sample):
    kwargs = sample.constructor_input.kwargs
    return (not kwargs.get("add_bias_kv") and not kwargs.get("add_zero_attn")
            and kwargs.get("kdim") == kwargs.get("vdim"))


def test_every_sample_of_torchs_layer_that_we_support_gives_the_same():
    """They have no batch. Where one hides every key from a query, torch gives NaN; there we are tested elsewhere."""
    samples = list(filter(supported, layer_samples()))
    assert len(samples) >= 16
    for sample in samples:
        made = sample.constructor_input
        theirs = nn.MultiheadAttention(*made.args, **made.kwargs).double().eval()
        query, key = sample.forward_input.args[:2]
        hidden, padding = (sample.forward_input.kwargs[name] for name in ("attn_mask", "key_padding_mask"))
        out, weights = theirs(query, key, key, attn_mask=hidden, key_padding_mask=padding, average_attn_weights=False)
        masked = hidden is not None or padding is not None
        mask = masks.from_torch(hidden, key_padding_mask=padding, num_heads=theirs.num_heads) if masked else None
        mask = mask[None, None] if masked and mask.ndim == 2 else mask
        mine, my_weights = MultiHeadAttention.from_torch(theirs)(query[None], key[None], mask=mask, need_weights=True)
        for our, their in ((mine[0], out), (my_weights[0], weights)):
            known = ~their.isnan()
            torch.testing.assert_close(our[known], their[known])
            assert our.isfinite().all()


def test_samples_that_we_do_not_support_are_refused():
    refused = [s for s in layer_samples() if not supported(s)]
    assert refused
    for sample in refused:
        theirs = nn.MultiheadAttention(*sample.constructor_input.args, **sample.constructor_input.kwargs)
        with pytest.raises(ValueError, match="add_bias_kv|add_zero_attn|kdim"):
            MultiHeadAttention.from_torch(theirs)


@ROADS
def test_every_sample_of_torchs_kernel_gives_the_same(need_weights):
    compared = 0
    for sample in KERNEL.sample_inputs("cpu", torch.float64, requires_grad=False):
        q, (k, v), options = sample.input, sample.args, dict(sample.kwargs)
        if options.get("dropout_p") or q.ndim < 3 or not q.shape[:-3] == k.shape[:-3] == v.shape[:-3]:
            continue
        mask = options.get("attn_mask")
        kind = {} if mask is None else {"mask" if mask.dtype == torch.bool else "bias": mask}
        causal = {"causal": True, "offset": 0} if options.get("is_causal") else {}
        mine = attention(q, k, v, scale=options.get("scale"), need_weights=need_weights, **kind, **causal)[0]
        torch.testing.assert_close(mine, F.scaled_dot_product_attention(q, k, v, **options))
        compared += 1
    assert compared >= 8
