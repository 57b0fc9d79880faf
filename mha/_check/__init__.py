"""Checks at the door: every wrong input gets a sentence with what came, what was wanted and how to mend it.

On the way through a layer they look at shapes, dtypes and devices, never at values: no wait for a GPU, and meta tensors
and torch.compile pass through. They stand apart so that the code of the lesson calls them in one line each, as
`check.qkv(q, k, v)`.
"""

from mha._check.decoding import advancing, base, caching, rewinding, rope, rope_options, slopes, turned_size, writing
from mha._check.inputs import (
    autocasting, build_style, call_of_x_alone, call_style, function_style, layer_dtype, layer_input, layer_inputs,
    parameter_of, positive_ints, probability, qkv, tensors, truths, usual,
)
from mha._check.masks import lengths, mask_and_bias, mask_for_reading, offset, options, size, torch_masks, window
from mha._check.modules import (
    fits_heads, from_torch, head_mask, head_numbers, head_size, heads, kept_groups, kv_heads, merges, seat,
    something_to_record, splits, to_torch,
)

__all__ = [
    "advancing", "base", "caching", "rewinding", "rope", "rope_options", "slopes", "turned_size", "writing",
    "autocasting", "build_style", "call_of_x_alone", "call_style", "function_style", "layer_dtype", "layer_input",
    "layer_inputs", "parameter_of", "positive_ints", "probability", "qkv", "tensors", "truths", "usual",
    "lengths", "mask_and_bias", "mask_for_reading", "offset", "options", "size", "torch_masks", "window",
    "fits_heads", "from_torch", "head_mask", "head_numbers", "head_size", "heads", "kept_groups", "kv_heads", "merges",
    "seat", "something_to_record", "splits", "to_torch",
]
