"""Calls that people make who know other libraries, or are in a hurry: each meets a sentence of ours.

What Python or torch says by itself names its own machinery. A sentence of ours was raised by a `raise` in mha, and it
says what came, what was wanted and how to mend it.
"""
import linecache
import traceback
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import mha
from mha import (AsymmetricHead, Head, KVCache, MultiHeadAttention, MultiHeadLatentAttention, MultiHeadLoop,
                 SymmetricHead, attention, masks, merge_heads, record, split_heads)
from mha.lab import measure, surgery
from mha.position import Rope, alibi_bias, alibi_slopes, rope, sinusoids

B, N, D, H = 2, 5, 12, 3
X, Q, PLACES = torch.zeros(B, N, D), torch.zeros(B, H, N, 4), torch.arange(N)
YES, ONES = torch.ones(N, N).bool(), torch.ones(H, 4, 4)
LAYER = MultiHeadAttention(D, H)
CAUSAL, TWIN = MultiHeadAttention(D, H, causal=True).eval(), MultiHeadAttention(D, H, causal=True).eval()
LATENT = MultiHeadLatentAttention(D, H, d_c=4)
CROSS = MultiHeadAttention(D, H, d_context=7)
MODEL = nn.Sequential(nn.Linear(D, D), LAYER)


def cache():
    """A cache that `CAUSAL` has begun to fill."""
    kept = CAUSAL.new_cache(B, 9)
    with torch.no_grad():
        CAUSAL(X, cache=kept)
    return kept


def step(layer, x, kept):
    with torch.no_grad():
        return layer(x, cache=kept)


class LowRank(nn.Module):
    """As LoRA wraps a projection."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.A = inner, nn.Linear(inner.in_features, inner.out_features, False)

    def forward(self, x):
        return self.inner(x) + self.A(x)


class LowRankLinear(nn.Linear):
    """As loralib does: a Linear, whose weight is not all of what it computes."""

    def forward(self, x):
        return super().forward(x) + x.sum(-1, keepdim=True)


def next_token(**masks):
    """A token beside a cache that holds five."""
    kept = CAUSAL.new_cache(B, 9)
    with torch.no_grad():
        CAUSAL(X, cache=kept)
        return CAUSAL(X[:, :1], cache=kept, **masks)


def absorbed(**projections):
    """A latent layer with other projections, absorbed."""
    layer = MultiHeadLatentAttention(D, H, d_c=4)
    for name, W in projections.items():
        setattr(layer, name, W)
    layer.absorbed = True
    return layer


def wrapped(name="W_Q", wrap=LowRank):
    layer = MultiHeadAttention(D, H)
    setattr(layer, name, wrap(getattr(layer, name)))
    return layer


def part_of_the_heads():
    """A layer that tensor parallelism has split: this process keeps one of its three heads."""
    layer = MultiHeadAttention(D, H, causal=True)
    layer.W_Q, layer.W_K, layer.W_V = (nn.Linear(D, 4) for _ in range(3))
    layer.W_O = nn.Linear(4, D)
    return layer


ARGUMENTS = {
    "rope_alone": (lambda: rope(Q), "rope got no positions .*rope\\(x, positions"),
    "rope_of_both": (lambda: rope(Q, Q, PLACES), "rope takes 2 values by position, got 3"),
    "rope_theta": (lambda: rope(Q, PLACES, theta=5e5), "no theta=; .*base="),
    "rope_twice": (lambda: rope(Q, PLACES, x=Q), "rope got x twice"),
    "Rope_dim": (lambda: Rope(dim=4), "Rope has no dim=; .*come with the queries"),
    "Rope_table": (lambda: Rope(16, 2048), "Rope takes nothing by position, got 2.*come with the queries"),
    "Rope_head_size": (lambda: Rope(64), "Rope takes nothing by position, got 1.*come with the queries"),
    "Rope_theta": (lambda: Rope(rope_theta=5e5), "no rope_theta=; .*base="),
    "Rope_length": (lambda: Rope(max_position_embeddings=2048), "no max_position_embeddings=; .*with the queries"),
    "Rope_misspelt": (lambda: Rope(interleave=True), "no interleave=; .*interleaved="),
    "head_of_nothing": (lambda: Head(8, 4)(), r"Head\(...\) got no x \(..., n, d_model\); write"),
    "Rope_of_a_pair": (lambda: Rope()(Q, Q), r"Rope\(...\) got no i, j; write Rope\(...\)\(Q, K, i, j\)"),
    "sinusoids_length": (lambda: sinusoids(8), "sinusoids got no d_model \\(size of a token\\)"),
    "sinusoids_max_len": (lambda: sinusoids(max_len=8, d_model=4), "no max_len=; .*n="),
    "alibi_alone": (lambda: alibi_bias(8), "alibi_bias got no n"),
    "alibi_n_heads": (lambda: alibi_slopes(n_heads=8), "no n_heads=; .*num_heads="),
    "causal_nothing": (lambda: masks.causal(), "causal got no n \\(numbers of queries and keys\\)"),
    "causal_size": (lambda: masks.causal(size=5), "causal has no size=; .*causal\\(n, m=None"),
    "causal_device": (lambda: masks.causal(5, 5, 0, "cpu"), "takes 3 values by position, got 4"),
    "padding_alone": (lambda: masks.padding([3, 5]), "padding got no m \\(number of keys"),
    "padding_max_len": (lambda: masks.padding([3, 5], max_len=7), "no max_len=; .*m="),
    "window_size": (lambda: masks.window(5, window_size=2), "no window_size=; .*left=None, right=None"),
    "from_torch_mask": (lambda: masks.from_torch(mask=YES), "from_torch has no mask=; .*attn_mask"),
    "explain_nothing": (lambda: masks.explain(), "explain got no mask \\(bool"),
    "latent_rank": (lambda: MultiHeadLatentAttention(D, H, kv_lora_rank=4), "no kv_lora_rank=; .*d_c="),
    "latent_alone": (lambda: MultiHeadLatentAttention(D, H), "got no d_c \\(size of the latent\\)"),
    "latent_by_position": (lambda: MultiHeadLatentAttention(D, H, 4), "takes 2 values by position, got 3"),
    "latent_kv_heads": (lambda: MultiHeadLatentAttention(D, H, d_c=4, num_kv_heads=1), "no num_kv_heads=; write"),
    "latent_context": (lambda: LATENT(X, context=X), "no context= here; a layer takes mask=, cache="),
    "latent_window": (lambda: LATENT(X, sliding_window=4), "no sliding_window= here; a layer takes mask=, cache= and"),
    "head_cache": (lambda: Head(D, 4)(X, past_key_values=None), "no past_key_values= here; .* takes mask=, bias= and"),
    "layer_nothing_like_it": (lambda: LAYER(X, flash=True), "no flash= here; a layer takes mask="),
    "attention_heads": (lambda: attention(Q, Q, Q, head_mask=ONES), "no head_mask=; multiply the output"),
    "built_with_dim_head": (lambda: MultiHeadAttention(D, H, dim_head=4), "no dim_head=; here that is d_k="),
    "latent_nothing": (lambda: LATENT(), "got no x"),
    "symmetric_causal": (lambda: SymmetricHead(D, 4)(X, causal=True), r"SymmetricHead\(...\) has no causal=; .*mask="),
    "symmetric_pair": (lambda: SymmetricHead(D, 4)(X, X), "takes 1 value by position, got 2"),
    "symmetric_alone": (lambda: SymmetricHead(D), "SymmetricHead got no d_k"),
    "asymmetric_bias": (lambda: AsymmetricHead(D, 4)(X, bias=YES.float()), "has no bias=; write Asymm"),
    "asymmetric_context": (lambda: AsymmetricHead(D, 4)(X, X), "takes 1 value by position, got 2"),
    "head_alone": (lambda: Head(D), "Head got no d_k \\(size of a query and of a key\\)"),
    "head_by_position": (lambda: Head(D, 4, 4, D), "Head takes 3 values by position, got 4"),
    "head_dim": (lambda: Head(D, head_dim=4), "Head has no head_dim=; .*d_k="),
    "head_embed_dim": (lambda: Head(embed_dim=D, d_k=4), "Head has no embed_dim=; .*d_model="),
    "head_query": (lambda: Head(D, 4)(query=X), "no query= here"),
    "loop_sizes": (lambda: MultiHeadLoop(D, H), "heads is a int"),
    "loop_names": (lambda: MultiHeadLoop(d_model=D, num_heads=H), "MultiHeadLoop has no d_model="),
    "cache_one_number": (lambda: CAUSAL.new_cache(9), "new_cache got no max_len \\(number of tokens that fit\\)"),
    "cache_batch_size": (lambda: CAUSAL.new_cache(batch_size=2, max_len=9), "no batch_size=; .*batch="),
    "cache_length": (lambda: CAUSAL.new_cache(2, max_seq_len=9), "no max_seq_len=; .*max_len="),
    "cache_dtype": (lambda: CAUSAL.new_cache(2, 9, torch.float32), "takes 2 values by position, got 3"),
    "latent_cache": (lambda: LATENT.new_cache(9), "new_cache got no max_len"),
    "KVCache_alone": (lambda: KVCache(2, 9), "KVCache got no max_len"),
    "crop_nothing": (lambda: cache().crop(), "crop got no length \\(one whole number for all"),
    "append_a_key": (lambda: cache().append(Q), "append got no V"),
    "torchs_three_names": (lambda: LAYER(query=X, key=X, value=X), "no query= here; self-attention is layer\\(x\\)"),
    "layer_nothing": (lambda: LAYER(), "got no x \\(the tokens that ask\\)"),
    "attention_pair": (lambda: attention(Q, Q), "got no v \\(values\\)"),
    "attention_names": (lambda: attention(query=Q, key=Q, value=Q), "no query=; .*attention\\(q, k, v\\)"),
    "attention_nothing": (lambda: attention(), "got no q, k, v"),
    "which_head": (lambda: LAYER.head(), "head got no i"),
    "which_circuit": (lambda: LAYER.qk(0, 1), "qk takes 1 value by position, got 2"),
    "prune_heads": (lambda: LAYER.prune(heads=[1]), "prune has no heads=; .*prune\\(keep\\)"),
    "from_heads_nothing": (lambda: MultiHeadAttention.from_heads(), "from_heads got no heads"),
    "from_torch_state": (lambda: MultiHeadAttention.from_torch(), "from_torch got no theirs"),
    "split_alone": (lambda: split_heads(X), "split_heads got no num_heads"),
    "split_h": (lambda: split_heads(X, n_heads=3), "no n_heads=; .*num_heads="),
    "merge_heads": (lambda: merge_heads(Q, 3), "merge_heads takes 1 value by position, got 2"),
    "operate_alone": (lambda: surgery.operate(LAYER), "operate got no change \\(function of Q"),
    "share_alone": (lambda: surgery.share_heads(LAYER), "share_heads got no num_kv_heads"),
    "turn_rotation": (lambda: surgery.turn_heads(LAYER, rotation=ONES), "turn_heads has no rotation="),
    "record_nothing": (lambda: record(), "record got no model \\(any module"),
    "record_model_and_input": (lambda: record(LAYER, X), "record takes 1 value by position, got 2"),
}
ELSEWHERE = {  # name of an argument elsewhere -> what the sentence names of a layer's call, of a function's, of a build
    "position_ids": ("on_qk=mha.position.Rope", "mha.position.rope", None),
    "freqs_cis": ("on_qk=mha.position.Rope", "mha.position.rope", None),
    "sinks": ("key and value of zeros", "key and value of zeros", "key and value of zeros"),
    "cu_seqlens": ("masks.padding", "masks.padding", None),
    "past_key_value": ("cache=layer.new_cache", "cache=layer.new_cache", None),
    "past_key_values": ("cache=layer.new_cache", "cache=layer.new_cache", None),
    "kv_cache": ("cache=layer.new_cache", "cache=layer.new_cache", None),
    "attention_mask": (r"attention_mask.bool\(\)", r"attention_mask.bool\(\)", None),
    "src_key_padding_mask": ("key_padding_mask", "key_padding_mask", None),
    "src_mask": ("from_torch", "True = may attend", None),
    "block_mask": ("use mask=", "use mask=", None),
    "score_mod": ("use bias=", "use bias=", None),
    "output_attentions": ("need_weights=True", "need_weights=True", None),
    "softmax_scale": ("use scale=", "use scale=", None),
    "sliding_window": ("use window=", "use window=", r"layer\(x, window="),
    "attn_logit_softcapping": ("use softcap=", "use softcap=", "softcap="),
    "num_key_value_heads": ("num_kv_heads=", "fewer heads", "here that is num_kv_heads="),
    "dropout_p": ("build the layer", "use dropout=", "here that is dropout="),
    "deterministic": (r"layer.eval\(\)", "give dropout= while", None),
    "encoder_hidden_states": (r"layer\(x, y\)", None, None),
    "rope_theta": (None, None, "on_qk=mha.position.Rope"),
    "max_position_embeddings": (None, None, "comes with x"),
    "qk_norm": (None, None, r"\(Q, K, i, j\)"),
    "layer_idx": (None, None, "a cache of its own"),
    "multi_query": (None, None, "num_kv_heads=1"),
    "resid_pdrop": (None, None, "nn.Dropout"),
    "attention_bias": (None, None, "here that is bias="),
    "cross_attention_dim": (None, None, "here that is d_context="),
    "num_query_groups": (None, None, "here that is num_kv_heads="),
    "out_features": (None, None, "here that is d_out="),
}
PLACES_TO_TYPE = {"layer": lambda **named: LAYER(X, **named), "function": lambda **named: attention(Q, Q, Q, **named),
                  "build": lambda **named: MultiHeadAttention(D, H, **named)}
ELSEWHERE = {f"{place}_{name}": (lambda name=name, call=call: call(**{name: 1}), f"no {name}=.*; .*{words}")
             for name, each in ELSEWHERE.items() for (place, call), words in zip(PLACES_TO_TYPE.items(), each) if words}
TENSORS = {
    "residual": (lambda: X + LAYER(X), r"\(out, weights\).*out, _ = layer\(x\)"),
    "residual_turned": (lambda: LAYER(X) + X, r"\(out, weights\)"),
    "residual_in_place": (lambda: X.clone().add_(LAYER(X)), r"\(out, weights\)"),
    "difference": (lambda: LAYER(X) - 1, r"\(out, weights\)"),
    "half": (lambda: LAYER(X) * 0.5, r"\(out, weights\)"),
    "twice": (lambda: 2 * LAYER(X), r"\(out, weights\)"),
    "minus": (lambda: -LAYER(X), r"\(out, weights\)"),
    "product": (lambda: LAYER(X) @ X.mT, r"\(out, weights\)"),
    "shape": (lambda: LAYER(X).shape, r"has no shape.*\(out, weights\)"),
    "transpose": (lambda: attention(Q, Q, Q).transpose(1, 2), r"has no transpose.*\(out, weights\)"),
    "backward": (lambda: LAYER(X).sum().backward(), r"has no sum.*\(out, weights\)"),
    "first_token": (lambda: LAYER(X)[:, 0], r"\(out, weights\)"),
    "sequential": (lambda: nn.Sequential(LAYER, nn.Linear(D, D))(X), r"\(out, weights\)"),
    "norm": (lambda: nn.LayerNorm(D)(LATENT(X)), r"\(out, weights\)"),
    "relu": (lambda: F.relu(Head(D, 4)(X)), r"\(out, weights\)"),
    "dropout": (lambda: F.dropout(SymmetricHead(D, 4)(X)), r"\(out, weights\)"),
    "loss": (lambda: F.mse_loss(AsymmetricHead(D, 4)(X), X), r"\(out, weights\)"),
    "cat": (lambda: torch.cat([LAYER(X), X]), r"\(out, weights\)"),
    "loop": (lambda: X + MultiHeadLoop([Head(D, 4)])(X), r"\(out, weights\)"),
    "attended_again": (lambda: attention(attention(Q, Q, Q), Q, Q), r"q is a .*take q\[0\]"),
}
NAMES = {
    "cache_key": (lambda: cache().key, "KVCache has no key$"),
    "latent_k_proj": (lambda: LATENT.k_proj, "MultiHeadLatentAttention has no k_proj$"),
    **{f"state_{name}": (lambda name=name: MultiHeadAttention(D, H).load_state_dict(
        {f"{name}.weight": torch.zeros(D, D)}, strict=False), f"^{name}.weight .*{ours}.*rename")
       for name, ours in {"q_proj": "W_Q", "k_proj": "W_K", "v_proj": "W_V", "o_proj": "W_O", "out_proj": "W_O",
                          "wq": "W_Q", "to_k": "W_K", "value": "W_V", "o": "W_O", "c_attn": "W_Q, W_K"}.items()},
    "state_inside": (lambda: nn.ModuleDict({"a": MultiHeadAttention(D, H)}).load_state_dict(
        {"a.q_proj.weight": torch.zeros(D, D)}), "^a.q_proj.weight .*W_Q"),
    "out_proj": (lambda: LAYER.out_proj, "no out_proj; .*W_O"),
    "in_proj_weight": (lambda: LAYER.in_proj_weight, "no in_proj_weight; .*W_Q, W_K and W_V"),
    "in_proj_bias": (lambda: LAYER.in_proj_bias, "no in_proj_bias; .*W_Q, W_K and W_V"),
    "embed_dim": (lambda: LAYER.embed_dim, "no embed_dim; .*d_model"),
    "head_dim": (lambda: LAYER.head_dim, "no head_dim; .*d_k"),
    "kdim": (lambda: LAYER.kdim, "no kdim; .*d_context"),
    "batch_first": (lambda: LAYER.batch_first, "no batch_first; the batch always comes first"),
    "q_proj": (lambda: LAYER.q_proj, "no q_proj; .*W_Q"),
    "o_proj": (lambda: LATENT.o_proj, "no o_proj; .*W_O"),
    "n_heads": (lambda: LAYER.n_heads, "no n_heads; .*num_heads"),
    "torchs_state": (lambda: LAYER.load_state_dict(nn.MultiheadAttention(D, H).state_dict()), "from_torch"),
    "torchs_state_inside": (lambda: nn.ModuleDict({"a": MultiHeadAttention(D, H)}).load_state_dict(
        nn.ModuleDict({"a": nn.MultiheadAttention(D, H)}).state_dict(), strict=False), "a.in_proj_weight.*from_torch"),
    "reset": (lambda: cache().reset(), r"no reset; .*cache.crop\(0\)"),
    "clear": (lambda: cache().clear(), r"no clear; .*cache.crop\(0\)"),
    "to": (lambda: cache().to("cpu"), "no to; layer.to.*new_cache"),
    "cuda": (lambda: cache().cuda(), "no cuda; layer.to.*new_cache"),
    "half": (lambda: cache().half(), "no half; layer.to.*new_cache"),
    "update": (lambda: cache().update(Q, Q), "no update; .*append"),
    "rewind": (lambda: cache().rewind(2), "no rewind; .*crop"),
    "seq_length": (lambda: cache().get_seq_length(), r"no get_seq_length; .*cache.length"),
    "seq_len": (lambda: cache().seq_len, "no seq_len; .*cache.length"),
    "max_seq_len": (lambda: cache().max_len, r"no max_len; .*K.shape\[2\]"),
}
SEATS = {
    "rope": (lambda: MultiHeadAttention(D, H, on_qk=rope),
             r"on_qk is rope\(x, positions, base, .*\).*mha.position.Rope\(\)"),
    "pair": (lambda: MultiHeadAttention(D, H, on_qk=lambda Q, K: (Q, K)), r"on_qk is <lambda>\(Q, K\).*\(Q, K, i, j\)"),
    "identity": (lambda: Head(D, 4, on_qk=nn.Identity()), r"on_qk is Identity\(input\).*\(Q, K, i, j\)"),
    "table": (lambda: MultiHeadAttention(D, H, on_qk=sinusoids(N, D)), "on_qk is a Tensor"),
    "one_back": (lambda: MultiHeadAttention(D, H, on_qk=lambda Q, K, i, j: Q)(X), r"on_qk gave a Tensor.*\(Q, K\)"),
    "nothing_back": (lambda: Head(D, 4, on_qk=lambda Q, K, i, j: None)(X), r"on_qk gave a NoneType.*\(Q, K\)"),
}
CACHES = {
    "two_layers": (lambda: step(TWIN, X[:, :1], cache()), "another layer has filled this cache.*copy.deepcopy"),
    "split_layer": (lambda: (lambda layer: step(layer, X, layer.new_cache(B, 9)))(part_of_the_heads()),
                    r"K has shape \(2, 1, 5, 4\).*KVCache\(batch=2, num_kv_heads=1, max_len=9, d_k=4, d_v=4"),
    "mask_of_one_key": (lambda: next_token(mask=torch.ones(B, 1, 1, 1).bool()), "mask .*for one key; .*the 5"),
    "bias_of_one_key": (lambda: next_token(bias=torch.zeros(H, 1, 1)), "bias .*for one key; .*the 5"),
    "batch": (lambda: step(CAUSAL, X[:1], CAUSAL.new_cache(B, 9)), r"layer.new_cache\(1, 9\)"),
}
SURGERY = {
    "nothing_to_operate": (lambda: surgery.operate(nn.Linear(2, 2), surgery.symmetric), "Linear has no mha.MultiHeadA"),
    "torchs_to_operate": (lambda: surgery.operate(nn.MultiheadAttention(D, H), surgery.symmetric), "from_torch"),
    "latent_to_operate": (lambda: surgery.operate(LATENT, surgery.symmetric), "has no mha.MultiHeadAttention inside"),
    "no_model": (lambda: surgery.operate("model", surgery.symmetric), "got a str; it takes a model"),
    "no_change": (lambda: surgery.operate(LAYER, "symmetric"), "change is a str; it must be a function"),
    "changed_to_nothing": (lambda: surgery.operate(LAYER, lambda Q, K: None), r"change gave a NoneType.*\(Q, K\)"),
    "changed_shape": (lambda: surgery.operate(LAYER, lambda Q, K: (Q[:, 1:], K)), r"\(3, 12, 4\).*\(3, 13, r"),
    "changed_width": (lambda: surgery.operate(LAYER, lambda Q, K: (Q, K[..., :2])), r"\(3, 13, 2\); .*the same r"),
    "cross": (lambda: surgery.operate(CROSS, surgery.symmetric), "d_model=12 .* d_context=7"),
    "cross_keys": (lambda: surgery.operate(CROSS, surgery.queries_as_keys), "d_model=12 .* d_context=7"),
    "stretched": (lambda: surgery.turn_heads(LAYER, keys=2 * torch.eye(4).expand(H, 4, 4)), "keys .* not orthogonal"),
    "sheared_values": (lambda: surgery.turn_heads(LAYER, values=ONES), "values .* not orthogonal"),
    "one_turn_for_all": (lambda: surgery.turn_heads(LAYER, keys=torch.eye(4)), r"keys has shape \(4, 4\).*\(3, 4, 4\)"),
    "turned_by_nan": (lambda: surgery.turn_heads(LAYER, keys=torch.full((H, 4, 4), torch.nan)), "not orthogonal"),
    "pruned_by_a_dict": (lambda: LAYER.prune({0: [1]}), "keep is a dict"),
    "turned_list": (lambda: surgery.turn_heads(LAYER, keys=[1.0]), "keys is a list"),
    "inputs_of_a_sentence": (lambda: surgery.one_matrix_for(LAYER, X[0]), r"inputs has shape \(5, 12\).*layers, N"),
    "inputs_in_a_batch": (lambda: surgery.one_matrix_for(LAYER, X[None]), r"inputs has shape \(1, 2, 5, 12\)"),
    "inputs_of_more_layers": (lambda: surgery.one_matrix_for(LAYER, X), r"\(2, 5, 12\).*layers=1 and d_model=12"),
    "inputs_of_fewer_layers": (lambda: surgery.one_matrix_for(nn.ModuleList([LAYER, TWIN]), X[:1]), "layers=2"),
    "inputs_of_another_size": (lambda: surgery.one_matrix_for(LAYER, X[:1, :, 1:]), r"\(1, 5, 11\).*d_model=12"),
    "no_inputs": (lambda: surgery.one_matrix_for(LAYER, X[:1, :0]), r"inputs has shape \(1, 0, 12\)"),
    "inputs_in_a_list": (lambda: surgery.one_matrix_for(LAYER, [X[0]]), "inputs is a list"),
    "inputs_left_out": (lambda: surgery.one_matrix_for(LAYER), "got no inputs"),
    "mean_of_one": (lambda: surgery.as_keys_prefer(LAYER, X[0, 0]), r"means has shape \(12,\).*\(layers, d_model\)"),
    "means_of_tokens": (lambda: surgery.as_keys_prefer(LAYER, X[:1]), r"means has shape \(1, 5, 12\)"),
    "means_of_more_layers": (lambda: surgery.as_keys_prefer(LAYER, X[0]), r"\(5, 12\).*layers=1 and d_model=12"),
    "means_left_out": (lambda: surgery.as_keys_prefer(LAYER), "got no means"),
    "traced_another_model": (lambda: surgery.learned_like(LAYER, SimpleNamespace(real=YES, inputs=X[None, ..., 1:])),
                             r"inputs has shape \(1, 2, 5, 11\)"),
    "share_in_a_model": (lambda: surgery.share_heads(MODEL, 1), r"got a Sequential.*one layer.*get_submodule\('1'\)"),
    "turn_in_a_model": (lambda: surgery.turn_heads(MODEL, keys=torch.eye(4).expand(H, 4, 4)), r"get_submodule\('1'\)"),
    "circuits_of_a_model": (lambda: surgery.circuits(MODEL), "circuits got a Sequential"),
    "circuits_of_latents": (lambda: surgery.circuits(LATENT), "got a MultiHeadLatentAttention"),
    "share_torchs": (lambda: surgery.share_heads(nn.MultiheadAttention(D, H), 1), "from_torch"),
    "pool_by_name": (lambda: surgery.share_heads(LAYER, 1, pool="mean"), "pool is a str; .*mean_of_group"),
    "pool_of_nothing": (lambda: surgery.share_heads(LAYER, 1, pool=lambda p: p),
                        r"pool gave .*\(1, 3, 4, 12\); .*\(1, 4, 12\)"),
    "pool_of_pairs": (lambda: surgery.share_heads(LAYER, 1, pool=lambda p: p.max(1)), "pool gave a max"),
    "prune_heads": (lambda: LAYER.prune_heads([1]), r"no prune_heads; .*prune\(keep\).*that stay"),
    "prune_named": (lambda: LAYER.prune(heads_to_prune=[1]), "no heads_to_prune=; .*keep names the heads that stay"),
    "offset_in_a_cache": (lambda: measure.at_offset(torch.ones(B, H, 1, N), -1),
                          r"\(2, 3, 1, 5\); it must be \(..., n, n"),
    "offset_of_no_weights": (lambda: measure.at_offset(LAYER(X)[1], -1), "weights is a NoneType.*need_weights=True"),
    "carried_of_no_weights": (lambda: measure.carried(LAYER(X)[1], X, LAYER), "weights is a NoneType"),
    "carried_by_a_model": (lambda: measure.carried(YES, X, MODEL), "carried got a Sequential"),
    "turned_by_nothing": (lambda: surgery.turn_heads(LAYER), "give keys=, values= or both"),
    "record_called": (lambda: record(LAYER)(X), r"with record\(model\) as weights"),
    "record_indexed": (lambda: record(LAYER)[""], r"with record\(model\) as weights"),
    "record_model": (lambda: record("model"), "record got a str; it takes a model"),
}
WRAPPED = {
    "absorbed": (lambda: absorbed(W_UK=LowRank(LATENT.W_UK))(X), "W_UK is a LowRank"),
    "absorbed_bias": (lambda: absorbed(W_UV=nn.Linear(4, D))(X), "W_UV has a bias.*absorbed = False"),
    "head": (lambda: wrapped().head(0), "W_Q is a LowRank.*merge"),
    "qk": (lambda: wrapped("W_K").qk(0), "W_K is a LowRank"),
    "ov": (lambda: wrapped("W_O").ov(0), "W_O is a LowRank"),
    "prune": (lambda: wrapped("W_V").prune([0]), "W_V is a LowRank"),
    "prune_out": (lambda: wrapped("W_O").prune([0]), "W_O is a LowRank"),
    "to_torch": (lambda: wrapped("W_V").to_torch(), "W_V is a LowRank"),
    "circuits": (lambda: surgery.operate(wrapped(), surgery.symmetric), "W_Q is a LowRank"),
    "share": (lambda: surgery.share_heads(wrapped("W_V"), 1), "W_V is a LowRank"),
    "turn": (lambda: surgery.turn_heads(wrapped("W_O"), values=torch.eye(4).expand(H, 4, 4)), "W_O is a LowRank"),
    "from_heads": (lambda: MultiHeadAttention.from_heads([wrapped_head()]), "W_K is a LowRank"),
    "a_linear_with_more": (lambda: wrapped("W_K", lambda W: LowRankLinear(D, D)).qk(0), "W_K is a LowRankLinear"),
    "reset": (lambda: wrapped().reset_parameters(), "W_Q is a LowRank.*adapter"),
    "reset_out": (lambda: wrapped("W_O").reset_parameters(), "W_O is a LowRank"),
    "reset_latents": (lambda: absorbed(W_UK=LowRank(LATENT.W_UK)).reset_parameters(), "W_UK is a LowRank"),
    "packed": (lambda: wrapped("W_Q", packed).head(0), "W_Q is a Linear whose weight is torch.uint8"),
}


def replaced(name, rows, columns):
    """A layer whose projection was replaced by one of another width."""
    return wrapped(name, lambda W: nn.Linear(columns, rows))


WIDTHS = {
    "qk": (lambda: replaced("W_Q", 8, D).qk(2), r"W_Q.weight has shape \(8, 12\).*\(12, 12\)"),
    "ov": (lambda: replaced("W_O", D, 8).ov(2), r"W_O.weight has shape \(12, 8\)"),
    "head": (lambda: replaced("W_K", 8, D).head(2), r"W_K.weight has shape \(8, 12\)"),
    "head_in": (lambda: replaced("W_K", D, 7).head(2), r"W_K.weight has shape \(12, 7\)"),
    "prune": (lambda: replaced("W_V", 8, D).prune([2]), r"W_V.weight has shape \(8, 12\)"),
    "prune_out": (lambda: replaced("W_O", 7, D).prune([2]), r"W_O.weight has shape \(7, 12\)"),
    "to_torch": (lambda: replaced("W_V", 8, D).to_torch(), r"W_V.weight has shape \(8, 12\)"),
    "operate": (lambda: surgery.operate(replaced("W_Q", 8, D), surgery.symmetric), r"W_Q.weight has shape \(8, 12\)"),
    "share": (lambda: surgery.share_heads(replaced("W_K", 24, D), 1), r"W_K.weight has shape \(24, 12\)"),
    "turn": (lambda: surgery.turn_heads(replaced("W_O", D, 8), values=torch.eye(4).expand(H, 4, 4)), "W_O.weight has"),
    "from_heads": (lambda: MultiHeadAttention.from_heads([wrapped_head(lambda W: nn.Linear(D, 5))]),
                   r"\(5, 12\).*\(4, 12"),
}


def wrapped_head(wrap=LowRank):
    head = Head(D, 4)
    head.W_K = wrap(head.W_K)
    return head


def packed(W):
    """As 4 bits are packed: a weight of whole numbers, of another shape."""
    W.weight = nn.Parameter(torch.zeros(72, 1, dtype=torch.uint8), requires_grad=False)
    return W


CALLS = {f"{kind}-{name}": case for kind, cases in dict(
    arguments=ARGUMENTS, elsewhere=ELSEWHERE, tensors=TENSORS, names=NAMES, seats=SEATS, caches=CACHES,
    surgery=SURGERY, wrapped=WRAPPED, widths=WIDTHS,
).items() for name, case in cases.items()}


def test_a_subclass_loads_what_it_has_under_such_a_name():
    class WithValue(MultiHeadAttention):
        def __init__(self):
            super().__init__(D, H)
            self.value = nn.Linear(D, 1)

    mine, other = WithValue(), WithValue()
    mine.load_state_dict(other.state_dict())
    assert torch.equal(mine.value.weight, other.value.weight)


def test_a_sink_is_a_key_and_a_value_of_zeros():
    """As the sentence about sinks says; beside causal=True too."""
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(B, H, N, 4, generator=g, dtype=torch.float64) for _ in range(3))
    sinks = torch.randn(H, 1, 1, generator=g, dtype=torch.float64)
    scores = (q @ k.mT / 2).masked_fill(~masks.causal(N), -torch.inf)
    wanted = torch.cat([sinks.expand(B, H, N, 1), scores], -1).softmax(-1)[..., 1:] @ v
    bias = torch.cat([sinks, torch.zeros(H, 1, N, dtype=torch.float64)], -1)[None]
    out, _ = attention(q, *(F.pad(t, (0, 0, 1, 0)) for t in (k, v)), bias=bias, causal=True, offset=1)
    torch.testing.assert_close(out, wanted)


def is_ours(error):
    """Whether the error was raised by a `raise` that stands in mha."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    inside = Path(last.filename).is_relative_to(Path(mha.__file__).parent)
    end = getattr(last, "end_lineno", None) or last.lineno  # Python 3.10 has no end
    lines = [linecache.getline(last.filename, number) for number in range(last.lineno, end + 1)]
    return inside and any("raise " in line for line in lines)


@pytest.mark.parametrize("case", CALLS)
def test_a_wrong_call_meets_a_sentence_of_ours(case):
    call, words = CALLS[case]
    with pytest.raises((TypeError, ValueError, AttributeError), match=f"(?s){words}") as caught:
        call()
    assert is_ours(caught.value), f"raw: {caught.value}"
