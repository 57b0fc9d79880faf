"""Checks at the door: every wrong input gets a sentence with what came, what was wanted and how to mend it.

On the way through a layer they look at shapes, dtypes and devices, never at values: no wait for a GPU, and meta tensors
and torch.compile pass through. The inputs of an ordinary call are looked at only if it fails. They stand
apart so that the code of the lesson calls them in one line each, as `check.qkv(q, k, v)`.
"""

from mha._check.calls import call, call_of_x_alone, call_style, calls, function_style, lacks
from mha._check.decoding import (
    advancing, attending, base, caching, cropping, keeping, longer, pairs, remembered, rope, rope_options, selecting,
    slopes, turned_size, writing,
)
from mha._check.inputs import (
    FLOATS, autocasting, kept_as, layer_dtype, layer_input, layer_inputs, parameter_of, positive_ints, probability, qkv,
    tensors, truths, untouched,
)
from mha._check.masks import (
    lengths, maps, mask_and_bias, mask_for_reading, offset, options, size, texts, torch_masks,
    window,
)
from mha._check.modules import (
    absorbs, fits_heads, from_torch, function, head_mask, head_numbers, head_size, heads, kept_groups, kv_heads,
    linear, matrices, merges, on_qk, plain, splits, state, to_torch, turned,
)
from mha._check.parts import parts
from mha._check.processes import (
    loads, mesh, of_the_layer, ring, split_layer, text_of_processes, together, untied, whole, whole_here,
)
from mha._check.surgery import allows, changed, model, of_each, of_one_size, one_layer, pooled, some_layers, turns

__all__ = [
    "advancing", "attending", "base", "caching", "cropping", "keeping", "longer", "pairs", "remembered", "rope",
    "rope_options", "selecting", "slopes", "turned_size", "writing",
    "call", "call_of_x_alone", "call_style", "calls", "function_style", "lacks",
    "FLOATS", "autocasting", "kept_as", "layer_dtype", "layer_input", "layer_inputs", "parameter_of", "positive_ints",
    "probability", "qkv", "tensors", "truths", "untouched",
    "lengths", "maps", "mask_and_bias", "mask_for_reading", "offset", "options", "size", "texts",
    "torch_masks", "window",
    "absorbs", "fits_heads", "from_torch", "function", "head_mask", "head_numbers", "head_size", "heads",
    "kept_groups", "kv_heads", "linear", "matrices", "merges", "on_qk", "plain", "splits", "state", "to_torch",
    "turned",
    "parts",
    "loads", "mesh", "of_the_layer", "ring", "split_layer", "text_of_processes", "together", "untied", "whole",
    "whole_here",
    "allows", "changed", "model", "of_each", "of_one_size", "one_layer", "pooled", "some_layers", "turns",
]
