"""The two doors that need a GPU, read in the released files: flash-attn and xformers. `where` names file and line."""

FLASH = "flash_attn/flash_attn_interface.py"
KERNEL = "csrc/flash_attn/src/flash_fwd_kernel.h"
FMHA = "xformers/ops/fmha/"

READ = [
    {"name": "flash-attn", "package": "flash-attn", "version": "2.8.3.post2", "how": "read",
     "calls": "flash_attn.flash_attn_func", "axes": "(B, n, h, d)", "out": "", "order": "q, k, v",
     "line": "swap(flash_attn_func(swap(q), swap(k), swap(v), causal=True))",
     "arguments": {"mask": "", "bias": "", "scale": "softmax_scale", "dropout": "dropout_p",
                   "weights": "return_attn_probs", "is_causal": "causal", "grouped": ""},
     "found": {"true": "refused", "floats": "refused", "scale": "1/sqrt(d)", "scale_given": "factor",
               "drops_in_training": True, "drops_in_eval": True,
               "weights": "for testing only", "groups": "interleaved", "causal": "lower right",
               "causal_one_query": "lower right"},
     "where": {"axes": f"{FLASH}:1171", "true": f"{FLASH}:1135", "scale": f"{FLASH}:1175", "drops": f"{FLASH}:1148",
               "weights": f"{FLASH}:1184", "groups": f"{FLASH}:1151", "groups, kernel": f"{KERNEL}:148",
               "causal": f"{FLASH}:1154"}},
    {"name": "xformers", "package": "xformers", "version": "0.0.35", "how": "read",
     "calls": "xformers.ops.memory_efficient_attention", "axes": "(B, n, h, d)", "out": "", "order": "q, k, v",
     "line": "swap(memory_efficient_attention(*map(swap, (q, k, v)), LowerTriangularMask()))",
     "arguments": {"mask": "attn_bias", "bias": "attn_bias", "scale": "scale", "dropout": "p", "weights": "",
                   "is_causal": "attn_bias", "grouped": "a fifth axis, (B, n, groups, heads in each, d)"},
     "found": {"true": "refused", "floats": "added", "scale": "1/sqrt(d)", "scale_given": "factor",
               "drops_in_training": True, "drops_in_eval": True, "weights": "none",
               "groups": "interleaved", "causal": "named in the mask", "causal_one_query": "named in the mask"},
     "where": {"axes": f"{FMHA}__init__.py:215", "true": f"{FMHA}cutlass.py:101", "floats": f"{FMHA}__init__.py:236",
               "scale": f"{FMHA}common.py:165", "drops": f"{FMHA}__init__.py:238", "weights": f"{FMHA}__init__.py:309",
               "groups": f"{FMHA}__init__.py:264", "causal": f"{FMHA}attn_bias.py:142 and 261"}},
]
