"""Heads that share keys and values: a grouped layer is a layer whose keys and values stand there several times."""
import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mha import MultiHeadAttention, MultiHeadLoop, merge_heads, split_heads
from mha.lab import measure
from mha.position import Rope
from support import ROADS, close, needs_compiler, nothing_leaks, refused, tokens

B, N, M, D, H, D_K, D_V, D_CONTEXT, D_OUT = 2, 5, 7, 13, 6, 4, 11, 17, 19
SHARING = pytest.mark.parametrize("num_kv_heads", [1, 2, 3])


def grouped(num_kv_heads=2, num_heads=H, **options):
    layer = MultiHeadAttention(D, num_heads, num_kv_heads=num_kv_heads,
                               **{"d_k": D_K, "d_v": D_V, "dtype": torch.float64, **options})
    for W in (layer.W_Q, layer.W_K, layer.W_V, layer.W_O):
        if W.bias is not None:
            nn.init.normal_(W.bias)
    return layer


def repeated(layer):
    """The same layer with a key and a value head for each head: those of a group are copies, side by side."""
    group, options = layer.num_heads // layer.num_kv_heads, layer._options()
    full = MultiHeadAttention(layer.d_model, layer.num_heads, d_k=layer.d_k, d_v=layer.d_v, d_context=layer.d_context,
                              d_out=layer.d_out, **options)
    state = dict(layer.state_dict())
    for name, d in (("W_K", layer.d_k), ("W_V", layer.d_v)):
        for kind in ("weight", "bias"):
            rows = state[f"{name}.{kind}"].unflatten(0, (layer.num_kv_heads, d))
            state[f"{name}.{kind}"] = torch.cat([rows[i // group] for i in range(layer.num_heads)])
    full.load_state_dict(state)
    return full


# --- The same function -----------------------------------------------------------------------------------------------

@SHARING
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"on_qk": Rope()}], ids=["plain", "causal", "rope"])
@ROADS
def test_it_equals_the_layer_whose_keys_and_values_are_repeated(num_kv_heads, options, need_weights):
    layer, x = grouped(num_kv_heads, **options), tokens(B, N, D)
    close(layer(x, need_weights=need_weights), repeated(layer)(x, need_weights=need_weights))
    assert layer.W_K.weight.shape == (num_kv_heads * D_K, D) and layer.W_V.weight.shape == (num_kv_heads * D_V, D)


CALLS = {
    "mask": lambda: {"mask": torch.rand(B, H, N, M) > 0.4},
    "mask_of_all_heads": lambda: {"mask": torch.rand(B, 1, 1, M) > 0.4},
    "bias": lambda: {"bias": tokens(1, H, N, M)},
    "head_mask": lambda: {"head_mask": torch.rand(B, H, dtype=torch.float64)},
    "window": lambda: {"window": (1, 2), "offset": 2},
    "offset_of_each": lambda: {"window": (2, 1), "offset": torch.tensor([2, 0])},
    "scale_and_softcap": lambda: {"scale": 0.7, "softcap": 1.3},
}


@pytest.mark.parametrize("call", CALLS)
@ROADS
def test_every_option_reaches_the_right_head(call, need_weights):
    layer = grouped(3, d_context=D_CONTEXT, d_out=D_OUT)
    x, other, options = tokens(B, N, D), tokens(B, M, D_CONTEXT), CALLS[call]()
    close(layer(x, other, need_weights=need_weights, **options),
          repeated(layer)(x, other, need_weights=need_weights, **options))


@SHARING
@pytest.mark.parametrize("causal", [False, True])
def test_it_equals_torchs_function_with_enable_gqa_in_outputs_and_gradients(num_kv_heads, causal):
    layer, x = grouped(num_kv_heads, causal=causal), tokens(B, N, D).requires_grad_()
    Q = split_heads(layer.W_Q(x), H)
    K, V = split_heads(layer.W_K(x), num_kv_heads), split_heads(layer.W_V(x), num_kv_heads)
    out = F.scaled_dot_product_attention(Q, K, V, is_causal=causal, enable_gqa=True)
    expected, upstream = layer.W_O(merge_heads(out)), tokens(B, N, D)
    close(layer(x)[0], expected)
    close(*(torch.autograd.grad(o, (x, *layer.parameters()), upstream) for o in (layer(x)[0], expected)), 1e-11)


def test_as_many_key_heads_as_heads_is_the_ordinary_layer():
    assert grouped(H).state_dict().keys() == grouped(None).state_dict().keys() and grouped(None).num_kv_heads == H
    assert "num_kv_heads" not in repr(grouped(H)) and "num_heads=6, num_kv_heads=2, d_k=4" in repr(grouped())


def test_lengths_of_what_heads_carry_are_those_of_the_repeated_layer():
    layer, x = grouped(), tokens(B, N, D)
    weights = layer(x, need_weights=True)[1]
    close(measure.carried(weights, x, layer), measure.carried(weights, x, repeated(layer)))


# --- Heads in and out ------------------------------------------------------------------------------------------------

@SHARING
def test_head_i_is_the_repeated_layers_head_i(num_kv_heads):
    layer, x = grouped(num_kv_heads, causal=True, on_qk=Rope()), tokens(B, N, D)
    full = repeated(layer)
    for i in range(H):
        close(layer.head(i)(x, need_weights=True), full.head(i)(x, need_weights=True))
        close((layer.qk(i), layer.ov(i)), (full.qk(i), full.ov(i)))


def test_from_heads_gives_each_head_keys_of_its_own():
    layer, x = grouped(on_qk=Rope()), tokens(B, N, D)
    again = MultiHeadAttention.from_heads([layer.head(i) for i in range(H)], layer.W_O)
    assert again.num_kv_heads == H
    torch.testing.assert_close(again.state_dict(), repeated(layer).state_dict(), rtol=0, atol=0)
    close(again(x)[0], layer(x)[0])


KEPT = {  # with groups 0 1 2 | 3 4 5: what is kept, and how many key heads stay
    "a_group": ([3, 4, 5], 1), "one_of_each": ([1, 5], 2), "groups_change_places": ([3, 4, 5, 0, 1, 2], 2),
    "two_of_each": ([2, 0, 4, 5], 2), "one": ([4], 1), "part_of_one": ([5, 3], 1), "all": ([0, 1, 2, 3, 4, 5], 2),
}


@pytest.mark.parametrize("case", KEPT)
@ROADS
def test_pruning_equals_switching_the_others_off(case, need_weights):
    keep, kv_heads = KEPT[case]
    layer, x = grouped(2, on_qk=Rope(), causal=True), tokens(B, N, D)
    small = layer.prune(keep)
    assert (small.num_heads, small.num_kv_heads) == (len(keep), kv_heads)
    on = torch.zeros(H, dtype=torch.float64)
    on[keep] = 1
    out, weights = small(x, need_weights=need_weights)
    close(out, layer(x, head_mask=on)[0])
    if need_weights:
        close(weights, layer(x, need_weights=True)[1][:, keep])


def test_a_pruned_layer_stands_by_itself():
    layer = grouped(on_qk=Rope()).eval()
    small = layer.prune([0, 3])
    assert not small.training
    before = layer.W_K.weight.clone()
    nn.init.zeros_(small.W_K.weight)
    assert torch.equal(layer.W_K.weight, before)


class Stretch(nn.Module):
    """Queries times a number that is learned."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(2.0))

    def forward(self, Q, K, i, j):
        return self.factor * Q, K


def test_what_acts_on_queries_and_keys_is_one_object_in_all_that_is_made_from_a_layer():
    layer, x, on = grouped(on_qk=Stretch()), tokens(B, N, D), torch.tensor([1.0, 0, 0, 1, 0, 0]).double()
    heads = [layer.head(i) for i in range(H)]
    small, again = layer.prune([0, 3]), MultiHeadAttention.from_heads(heads, layer.W_O)
    nn.init.constant_(layer.on_qk.factor, 5.0)
    close(small(x)[0], layer(x, head_mask=on)[0])
    close(again(x)[0], layer(x)[0])
    close(heads[1](x, need_weights=True)[1], layer(x, need_weights=True)[1][:, 1])
    assert copy.deepcopy(layer).on_qk is not layer.on_qk


# --- Cut by columns --------------------------------------------------------------------------------------------------

def part_of(layer, half):
    """Half of the heads, as tensor parallelism cuts a layer: rows of W_Q, W_K, W_V, columns of W_O, the bias once."""
    part = copy.deepcopy(layer)
    for name in ("W_Q", "W_K", "W_V"):
        whole = layer.get_submodule(name)
        linear = nn.Linear(whole.in_features, whole.out_features // 2, dtype=torch.float64)
        linear.weight.data, linear.bias.data = whole.weight.data.chunk(2)[half], whole.bias.data.chunk(2)[half]
        setattr(part, name, linear)
    part.W_O = nn.Linear(layer.W_O.in_features // 2, layer.d_out, bias=half == 0, dtype=torch.float64)
    part.W_O.weight.data = layer.W_O.weight.data.chunk(2, 1)[half]
    if half == 0:
        part.W_O.bias.data = layer.W_O.bias.data
    return part


@pytest.mark.parametrize("num_kv_heads", [2, H])
@pytest.mark.parametrize("options", [{}, {"causal": True, "on_qk": Rope()}], ids=["plain", "causal_rope"])
@ROADS
def test_half_of_the_heads_each_add_up_to_the_whole(num_kv_heads, options, need_weights):
    layer, x = grouped(num_kv_heads, **options), tokens(B, N, D)
    parts = [part_of(layer, half)(x, need_weights=need_weights) for half in (0, 1)]
    out, weights = layer(x, need_weights=need_weights)
    close(parts[0][0] + parts[1][0], out)
    if need_weights:
        close(torch.cat([parts[0][1], parts[1][1]], 1), weights)


# --- Number formats, compilers ---------------------------------------------------------------------------------------

def test_meta_tensors_go_through():
    layer, offset = grouped(on_qk=Rope(), causal=True, device="meta"), torch.zeros(B, dtype=torch.long, device="meta")
    x, other = (torch.empty(B, n, D, device="meta", dtype=torch.float64) for n in (N, M))
    out, weights = layer(x, other, offset=offset, need_weights=True)
    assert out.shape == (B, N, D) and weights.shape == (B, H, N, M)


@needs_compiler
def test_the_compiled_and_the_exported_layer_give_the_same_numbers():
    layer, x = grouped(causal=True, on_qk=Rope(), dtype=torch.float32), torch.randn(B, N, D)
    close(torch.compile(layer, fullgraph=True)(x)[0], layer(x)[0], 1e-5)
    auto = torch.export.Dim.AUTO                # a named Dim for n is refused: torch cannot prove the strides
    exported = torch.export.export(nn.Sequential(layer), (x,), dynamic_shapes=({0: auto, 1: auto},)).module()
    longer = torch.randn(3, 11, D)
    close(exported(longer)[0], layer(longer)[0], 1e-5)


@ROADS
def test_nothing_leaks_from_the_future_of_a_causal_layer(need_weights):
    layer = grouped(causal=True)
    assert nothing_leaks(lambda x: layer(x, need_weights=need_weights)[0], tokens(N, D))


def test_gradients_are_those_of_finite_differences_twice():
    layer = MultiHeadAttention(4, 2, num_kv_heads=1, dtype=torch.float64, on_qk=Rope())
    x = tokens(3, 4).requires_grad_()
    for need_weights in (False, True):
        assert torch.autograd.gradcheck(lambda t: layer(t, need_weights=need_weights)[0], x)
    assert torch.autograd.gradgradcheck(lambda t: layer(t, need_weights=True)[0], x)


@pytest.mark.parametrize("dtype,tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 3e-2), (torch.float16, 3e-3)])
@ROADS
def test_lower_precision_is_close_to_float64(dtype, tolerance, need_weights):
    layer, x = grouped(on_qk=Rope(), causal=True), tokens(B, N, D)
    exact, out = layer(x)[0], layer.to(dtype)(x.to(dtype), need_weights=need_weights)[0]
    assert out.dtype == dtype
    close(out.double(), exact, tolerance * 2)


def test_the_loop_over_its_heads_gives_the_same():
    layer, x, mask = grouped(), tokens(B, N, D), torch.rand(B, H, N, N) > 0.4
    loop = MultiHeadLoop([layer.head(i) for i in range(H)])
    loop.W_O = layer.W_O
    close(layer(x, mask=mask, need_weights=True), loop(x, mask=mask, need_weights=True))


# --- Errors ----------------------------------------------------------------------------------------------------------

X = torch.zeros(B, N, D)
ERRORS = {
    "indivisible": (lambda: grouped(4), ValueError, "num_heads=6 is no multiple of num_kv_heads=4"),
    "float": (lambda: grouped(2.0), TypeError, "num_kv_heads=2.0 is a float"),
    "prune_unequal": (lambda: grouped().prune([0, 1, 3]), ValueError,
                      r"keep=\[0, 1, 3\] takes groups apart: 3 adjacent heads.*from_heads"),
    "to_torch_on_qk": (lambda: MultiHeadAttention(12, 6, on_qk=Rope()).to_torch(), ValueError, "on_qk is no option"),
    "offset_of_two": (lambda: grouped(causal=True)(X.double(), offset=torch.tensor([1, 2, 3])), ValueError,
                      r"offset has shape \(3,\); it must be a number, or \(2,\)"),
    "prune_absent": (lambda: grouped().prune([6]), ValueError, "there is no head 6; this layer has heads 0 to 5"),
}


test_wrong_input_gets_a_sentence_that_helps = refused(ERRORS)
