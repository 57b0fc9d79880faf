"""Calls that people make who know other libraries, or are in a hurry: each meets a sentence of ours.

What Python or torch says by itself names its own machinery. A sentence of ours was raised by a `raise` in mha, and it
says what came, what was wanted and how to mend it.
"""
import linecache
import re
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
from mha._check.calls import ATTRIBUTES, BUILDS, FUNCTION, PROJECTIONS
from mha._check.calls import CALLS as OF_A_LAYER
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


ARGUMENTS = {
    "rope_alone": (lambda: rope(Q), "rope got no positions .*rope\\(x, positions"),
    "rope_twice": (lambda: rope(Q, PLACES, x=Q), "rope got x twice"),
    "Rope_length": (lambda: Rope(max_position_embeddings=2048), "no max_position_embeddings=; .*with the queries"),
    "causal_device": (lambda: masks.causal(5, 5, 0, "cpu"), "takes 3 values by position, got 4"),
    "padding_alone": (lambda: masks.padding([3, 5]), "padding got no m \\(number of keys"),
    "latent_kv_heads": (lambda: MultiHeadLatentAttention(D, H, d_c=4, num_kv_heads=1), "no num_kv_heads=; write"),
    "latent_context": (lambda: LATENT(X, context=X), "no context= here; a layer takes mask=, cache="),
    "head_query": (lambda: Head(D, 4)(query=X), "no query= here"),
    "crop_nothing": (lambda: cache().crop(), "crop got no length \\(one whole number for all"),
    "torchs_three_names": (lambda: LAYER(query=X, key=X, value=X), "no query= here; self-attention is layer\\(x\\)"),
    "attention_names": (lambda: attention(query=Q, key=Q, value=Q), "no query=; .*attention\\(q, k, v\\)"),
    "head_of_nothing": (lambda: Head(8, 4)(), r"Head\(...\) got no x \(..., n, d_model\); write"),
}
TENSORS = {
    "residual_turned": (lambda: LAYER(X) + X, r"\(out, weights\)"),
    "shape": (lambda: LAYER(X).shape, r"has no shape.*\(out, weights\)"),
    "first_token": (lambda: LAYER(X)[:, 0], r"\(out, weights\)"),
    "norm": (lambda: nn.LayerNorm(D)(LATENT(X)), r"\(out, weights\)"),
    "loss": (lambda: F.mse_loss(AsymmetricHead(D, 4)(X), X), r"\(out, weights\)"),
    "loop": (lambda: X + MultiHeadLoop([Head(D, 4)])(X), r"\(out, weights\)"),
    "attended_again": (lambda: attention(attention(Q, Q, Q), Q, Q), r"q is a .*take q\[0\]"),
}
NAMES = {
    "cache_key": (lambda: cache().key, "KVCache has no key$"),
    "state_q_proj": (lambda: LAYER.load_state_dict({"q_proj.weight": torch.zeros(D, D)}, strict=False),
                     "^q_proj.weight .*W_Q.*rename"),
    "state_inside": (lambda: nn.ModuleDict({"a": MultiHeadAttention(D, H)}).load_state_dict(
        {"a.q_proj.weight": torch.zeros(D, D)}), "^a.q_proj.weight .*W_Q"),
    "torchs_state": (lambda: LAYER.load_state_dict(nn.MultiheadAttention(D, H).state_dict()), "from_torch"),
    "torchs_state_inside": (lambda: nn.ModuleDict({"a": MultiHeadAttention(D, H)}).load_state_dict(
        nn.ModuleDict({"a": nn.MultiheadAttention(D, H)}).state_dict(), strict=False), "a.in_proj_weight.*from_torch"),
    "reset": (lambda: cache().reset(), r"no reset; .*cache.crop\(0\)"),
    "to": (lambda: cache().to("cpu"), "no to; layer.to.*new_cache"),
    "max_seq_len": (lambda: cache().max_len, r"no max_len; .*K.shape\[2\]"),
    "embed_dim": (lambda: LAYER.embed_dim, "no embed_dim; .*d_model"),
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
    "mask_of_one_key": (lambda: next_token(mask=torch.ones(B, 1, 1, 1).bool()), "mask .*for one key; .*the 5"),
}
SURGERY = {
    "nothing_to_operate": (lambda: surgery.operate(nn.Linear(2, 2), surgery.symmetric), "Linear has no mha.MultiHeadA"),
    "no_model": (lambda: surgery.operate("model", surgery.symmetric), "got a str; it takes a model"),
    "no_change": (lambda: surgery.operate(LAYER, "symmetric"), "change is a str; it must be a function"),
    "changed_to_nothing": (lambda: surgery.operate(LAYER, lambda Q, K: None), r"change gave a NoneType.*\(Q, K\)"),
    "changed_shape": (lambda: surgery.operate(LAYER, lambda Q, K: (Q[:, 1:], K)), r"\(3, 12, 4\).*\(3, 13, r"),
    "cross": (lambda: surgery.operate(CROSS, surgery.symmetric), "d_model=12 .* d_context=7"),
    "cross_keys": (lambda: surgery.operate(CROSS, surgery.queries_as_keys), "d_model=12 .* d_context=7"),
    "sheared_values": (lambda: surgery.turn_heads(LAYER, values=ONES), "values .* not orthogonal"),
    "one_turn_for_all": (lambda: surgery.turn_heads(LAYER, keys=torch.eye(4)), r"keys has shape \(4, 4\).*\(3, 4, 4\)"),
    "pruned_by_a_dict": (lambda: LAYER.prune({0: [1]}), "keep is a dict"),
    "turned_list": (lambda: surgery.turn_heads(LAYER, keys=[1.0]), "keys is a list"),
    "inputs_in_a_list": (lambda: surgery.one_matrix_for(LAYER, [X[0]]), "inputs is a list"),
    "mean_of_one": (lambda: surgery.as_keys_prefer(LAYER, X[0, 0]), r"means has shape \(12,\).*\(layers, d_model\)"),
    "traced_another_model": (lambda: surgery.learned_like(LAYER, SimpleNamespace(real=YES, inputs=X[None, ..., 1:])),
                             r"inputs has shape \(1, 2, 5, 11\)"),
    "share_in_a_model": (lambda: surgery.share_heads(MODEL, 1), r"got a Sequential.*one layer.*get_submodule\('1'\)"),
    "turn_in_a_model": (lambda: surgery.turn_heads(MODEL, keys=torch.eye(4).expand(H, 4, 4)), r"get_submodule\('1'\)"),
    "circuits_of_latents": (lambda: surgery.circuits(LATENT), "got a MultiHeadLatentAttention"),
    "pool_by_name": (lambda: surgery.share_heads(LAYER, 1, pool="mean"), "pool is a str; .*mean_of_group"),
    "pool_of_pairs": (lambda: surgery.share_heads(LAYER, 1, pool=lambda p: p.max(1)), "pool gave a max"),
    "offset_in_a_cache": (lambda: measure.at_offset(torch.ones(B, H, 1, N), -1),
                          r"\(2, 3, 1, 5\); it must be \(..., n, n"),
    "offset_of_no_weights": (lambda: measure.at_offset(LAYER(X)[1], -1), "weights is a NoneType.*need_weights=True"),
    "carried_of_no_weights": (lambda: measure.carried(LAYER(X)[1], X, LAYER), "weights is a NoneType"),
    "carried_by_a_model": (lambda: measure.carried(YES, X, MODEL), "carried got a Sequential"),
    "turned_by_nothing": (lambda: surgery.turn_heads(LAYER), "give keys=, values= or both"),
    "record_called": (lambda: record(LAYER)(X), r"with record\(model\) as weights"),
    "record_model": (lambda: record("model"), "record got a str; it takes a model"),
    "changed_width": (lambda: surgery.operate(LAYER, lambda Q, K: (Q, K[..., :2])), r"\(3, 13, 2\); .*the same r"),
}
def of_lora(W):
    """As loralib does: a Linear, whose weight is not all of what it computes."""
    return type("Lora", (nn.Linear,), {"forward": lambda self, x: x})(D, D)


WRAPPED = {
    "absorbed": (lambda: absorbed(W_UK=LowRank(LATENT.W_UK))(X), "W_UK is a LowRank"),
    "absorbed_bias": (lambda: absorbed(W_UV=nn.Linear(4, D))(X), "W_UV has a bias.*absorbed = False"),
    "qk": (lambda: wrapped("W_K").qk(0), "W_K is a LowRank"),
    "prune": (lambda: wrapped("W_V").prune([0]), "W_V is a LowRank"),
    "to_torch": (lambda: wrapped("W_V").to_torch(), "W_V is a LowRank"),
    "circuits": (lambda: surgery.operate(wrapped(), surgery.symmetric), "W_Q is a LowRank"),
    "share": (lambda: surgery.share_heads(wrapped("W_V"), 1), "W_V is a LowRank"),
    "turn": (lambda: surgery.turn_heads(wrapped("W_O"), values=torch.eye(4).expand(H, 4, 4)), "W_O is a LowRank"),
    "from_heads": (lambda: MultiHeadAttention.from_heads([wrapped_head()]), "W_K is a LowRank"),
    "a_linear_with_more": (lambda: wrapped("W_K", of_lora).qk(0), "W_K is a Lora"),
    "of_another_width": (lambda: wrapped("W_O", lambda W: nn.Linear(8, D)).ov(2), r"W_O.weight has shape \(12, 8\)"),
    "reset": (lambda: wrapped().reset_parameters(), "W_Q is a LowRank.*adapter"),
    "reset_latents": (lambda: absorbed(W_UK=LowRank(LATENT.W_UK)).reset_parameters(), "W_UK is a LowRank"),
    "packed": (lambda: wrapped("W_Q", packed).head(0), "W_Q is a Linear whose weight is torch.uint8"),
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
    arguments=ARGUMENTS, tensors=TENSORS, names=NAMES, seats=SEATS, caches=CACHES, surgery=SURGERY, wrapped=WRAPPED,
).items() for name, case in cases.items()}


WITH_NOTHING = [
    attention, rope, sinusoids, alibi_bias, alibi_slopes, masks.causal, masks.padding, masks.window, masks.explain,
    Head, SymmetricHead, AsymmetricHead, MultiHeadAttention, MultiHeadLatentAttention, MultiHeadLoop, KVCache,
    split_heads, merge_heads, record, surgery.operate, surgery.share_heads, surgery.turn_heads, surgery.one_matrix_for,
    Head(D, 4), SymmetricHead(D, 4), LAYER, LATENT, LAYER.head, LAYER.qk, LAYER.ov, LAYER.prune, LAYER.new_cache,
    LATENT.new_cache, MultiHeadAttention.from_heads, MultiHeadAttention.from_torch, Rope(), KVCache(1, 1, 1, 1).crop,
    KVCache(1, 1, 1, 1).append, KVCache(1, 1, 1, 1).select]


@pytest.mark.parametrize("function", WITH_NOTHING)
def test_whatever_is_called_with_nothing_says_what_it_takes(function):
    with pytest.raises(TypeError, match=r"got no \w+") as caught:
        function()
    assert is_ours(caught.value), f"raw: {caught.value}"


@pytest.mark.parametrize("call, known", [
    (lambda **named: LAYER(X, **named), OF_A_LAYER), (lambda **named: attention(Q, Q, Q, **named), FUNCTION),
    (lambda **named: MultiHeadAttention(D, H, **named), BUILDS),
], ids=["layer", "function", "build"])
def test_each_name_that_an_argument_has_elsewhere_meets_its_sentence(call, known):
    for name, way in known.items():
        with pytest.raises(TypeError, match=f"no {name}=.*; .*{re.escape(way)}"):
            call(**{name: 1})


def test_each_name_that_an_attribute_has_elsewhere_meets_its_sentence():
    for name, way in ATTRIBUTES.items():
        with pytest.raises(AttributeError, match=f"has no {name}; {re.escape(way)}"):
            getattr(LAYER if name in PROJECTIONS else cache(), name)


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
