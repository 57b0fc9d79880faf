"""Multi-head attention: the loop, the packed module and torch are one function. Sizes are distinct primes."""
import copy
import io
import pickle

import pytest
import torch
from IPython.lib.pretty import pretty
from torch import nn

import mha
from mha import (
    Head, MultiHeadAttention, MultiHeadLatentAttention, MultiHeadLoop, masks, merge_heads, split_heads,
)
from mha.position import Rope
from support import ROADS, close, needs_gpu, nothing_leaks, refused, tokens

B, N, M, D, H, D_K, D_V, D_CONTEXT, D_OUT = 2, 5, 7, 12, 3, 11, 13, 17, 19


def odd_layer(**options):
    """A layer whose sizes are all different, with random biases."""
    layer = MultiHeadAttention(D, H, d_k=D_K, d_v=D_V, d_context=D_CONTEXT, d_out=D_OUT, dtype=torch.float64, **options)
    return random_biases(layer)


def random_biases(layer):
    for name, p in layer.named_parameters():
        if "bias" in name:
            nn.init.normal_(p)
    return layer


def assert_equal_parameters(one, other):
    torch.testing.assert_close(one.state_dict(), other.state_dict(), rtol=0, atol=0)


# --- Cutting ---------------------------------------------------------------------------------------------------------

def test_split_gives_head_i_the_i_th_columns_of_every_token():
    x = tokens(B, N, H * D_K)
    for i, head in enumerate(split_heads(x, H).unbind(1)):
        assert torch.equal(head, x[:, :, i * D_K:(i + 1) * D_K])


@pytest.mark.parametrize("shape", [(B, N, H * D_K), (B, 0, H * D_K)])
def test_merge_undoes_split(shape):
    x = tokens(*shape)
    assert split_heads(x, H).shape == (B, H, shape[1], shape[2] // H)
    assert torch.equal(merge_heads(split_heads(x, H)), x)


# --- The same function -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_the_packed_layer_equals_the_loop_over_its_heads(context, masked):
    layer = odd_layer() if context else random_biases(
        MultiHeadAttention(D, H, d_k=D_K, d_v=D_V, dtype=torch.float64))
    loop = MultiHeadLoop([layer.head(i) for i in range(H)], d_out=layer.d_out)
    loop.W_O = layer.W_O
    x, other = tokens(B, N, D), tokens(B, M, D_CONTEXT) if context else None
    mask = torch.rand(B, H, N, M if context else N) > 0.4 if masked else None
    close(layer(x, other, mask=mask, need_weights=True), loop(x, other, mask=mask, need_weights=True))


@pytest.mark.parametrize("lead", [(), (1,)], ids=["no_batch", "batch_of_one"])
def test_the_loop_gives_each_head_its_own_part_of_a_mask_and_a_bias(lead):
    layer, x = random_biases(MultiHeadAttention(D, H, dtype=torch.float64)), tokens(*lead, N, D)
    loop = MultiHeadLoop([layer.head(i) for i in range(H)])
    loop.W_O = layer.W_O
    options = {"mask": torch.rand(*lead, H, N, N) > 0.4, "bias": tokens(*lead, H, N, N), "need_weights": True}
    close(layer(x, **options), loop(x, **options))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("context", [False, True])
def test_it_equals_torchs_layer_in_outputs_weights_and_gradients(bias, context):
    theirs = random_biases(nn.MultiheadAttention(D, H, bias=bias, batch_first=True, dtype=torch.float64,
                                                 **({"kdim": D_CONTEXT, "vdim": D_CONTEXT} if context else {})))
    ours = MultiHeadAttention.from_torch(theirs)
    x = tokens(B, N, D).requires_grad_()
    other = tokens(B, M, D_CONTEXT) if context else x
    hidden = torch.rand(N, other.shape[1]) > 0.7
    hidden[:, 0] = False
    out, weights = theirs(x, other, other, attn_mask=hidden, average_attn_weights=False)
    mine, my_weights = ours(x, other if context else None, mask=masks.from_torch(hidden), need_weights=True)
    close(mine, out)
    close(my_weights, weights)
    upstream = torch.randn_like(out)
    close(*(torch.autograd.grad(o, x, upstream)[0] for o in (mine, out)))


def test_a_layer_survives_the_way_to_torch_and_back():
    ours = random_biases(MultiHeadAttention(D, H, d_context=D_CONTEXT, dropout=0.2, dtype=torch.float64)).eval()
    back = MultiHeadAttention.from_torch(ours.to_torch())
    assert back.dropout == 0.2 and not back.training
    assert_equal_parameters(ours, back)


# --- Properties ------------------------------------------------------------------------------------------------------

def test_a_padded_sentence_gives_what_it_gives_alone():
    layer, x = MultiHeadAttention(D, H, dtype=torch.float64), tokens(B, N, D)
    out, weights = layer(x, mask=masks.padding([3, N], N), need_weights=True)
    close(out[0, :3], layer(x[0, :3])[0])
    assert (weights[0, ..., 3:] == 0).all()


@ROADS
def test_a_sentence_of_nothing_but_padding_gives_the_bias_and_finite_gradients(need_weights):
    layer, x = random_biases(MultiHeadAttention(D, H, dtype=torch.float64)), tokens(B, N, D).requires_grad_()
    out, _ = layer(x, mask=masks.padding([0, N], N), need_weights=need_weights)
    close(out[0], layer.W_O.bias.expand(N, D))
    grad, = torch.autograd.grad(out.sum(), x)
    assert (grad[0] == 0).all() and grad.isfinite().all()


def test_dropout_acts_in_training_only():
    layer, x = MultiHeadAttention(D, H, dropout=0.5, dtype=torch.float64), tokens(B, N, D)
    assert not torch.equal(layer(x)[0], layer(x)[0])
    layer.eval()
    assert torch.equal(layer(x)[0], layer(x)[0])
    close(layer(x, need_weights=True)[1].sum(-1), torch.ones(B, H, N, dtype=torch.float64))


def test_torch_and_we_draw_the_same_spread_of_weights():
    ours, theirs = MultiHeadAttention(64, 4), nn.MultiheadAttention(64, 4)
    assert abs(ours.W_Q.weight.std() / theirs.in_proj_weight.std() - 1) < 0.05
    assert abs(ours.W_O.weight.std() / theirs.out_proj.weight.std() - 1) < 0.05


# --- Heads in and out ------------------------------------------------------------------------------------------------

def test_from_heads_undoes_head():
    layer = odd_layer()
    again = MultiHeadAttention.from_heads([layer.head(i) for i in range(H)], layer.W_O)
    assert_equal_parameters(layer, again)


def test_pruning_equals_switching_the_others_off():
    layer, x, other = odd_layer(), tokens(B, N, D), tokens(B, M, D_CONTEXT)
    kept = layer.prune([2, 0])
    assert kept.num_heads == 2
    off = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64)
    close(kept(x, other)[0], layer(x, other, head_mask=off)[0])


def test_a_head_mask_may_differ_between_sentences():
    layer, x = MultiHeadAttention(D, H, dtype=torch.float64), tokens(B, N, D)
    mask = torch.rand(B, H, dtype=torch.float64)
    out = layer(x, head_mask=mask)[0]
    for b in range(B):
        close(out[b], layer(x[b], head_mask=mask[b])[0])


def test_qk_gives_the_scores_and_ov_what_is_carried():
    layer = MultiHeadAttention(D, H, d_k=D_K, d_v=D_V, bias=False, dtype=torch.float64)
    x = tokens(N, D)
    for i in range(H):
        weights = (x @ layer.qk(i) @ x.T / D_K ** 0.5).softmax(-1)
        close(layer.head(i)(x, need_weights=True)[1], weights)
    close(layer(x)[0], sum(layer.head(i)(x, need_weights=True)[1] @ x @ layer.ov(i) for i in range(H)))
    assert torch.linalg.matrix_rank(MultiHeadAttention(D, H).qk(0)) == D // H


# --- Number formats, devices, compilers ------------------------------------------------------------------------------

def test_the_checks_of_numbers_let_the_compiler_pass_with_sizes_left_open():
    layer = MultiHeadAttention(D, H, causal=True, on_qk=Rope())
    compiled = torch.compile(layer, backend="eager", fullgraph=True, dynamic=True)
    for n, scale in ((N, 0.1), (M, 0.2)):
        x = torch.randn(B, n, D)
        close(compiled(x, scale=scale)[0], layer(x, scale=scale)[0], 1e-5)


@pytest.mark.parametrize("x, sentence", [
    (torch.zeros(B, N, D).double(), "x is torch.float64 but the layer is torch.float32; convert one"),
    (torch.zeros(B, N, D + 1), f"this layer has d_model={D}"), (torch.arange(N)[None], "x is torch.int64; it must be"),
    (torch.zeros(D), "it needs at least 2 axes")], ids=["dtype", "size", "ids", "one token"])
def test_the_compiled_layer_says_what_is_wrong_too(x, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        torch.compile(MultiHeadAttention(D, H, causal=True), backend="eager")(x)


# --- Wrapped projections ---------------------------------------------------------------------------------------------

class LowRank(torch.nn.Module):
    """As LoRA wraps a layer: what it gave, and a small product beside it."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.A, self.B = inner, torch.nn.Linear(6, 2, False), torch.nn.Linear(2, inner.out_features, False)

    def forward(self, x):
        return self.inner(x) + self.B(self.A(x))


def test_a_projection_may_be_wrapped():
    layer, x = MultiHeadAttention(6, 2), torch.randn(2, 5, 6)
    before = layer(x)[0]
    layer.W_Q, layer.W_V = LowRank(layer.W_Q), LowRank(layer.W_V)
    torch.nn.init.zeros_(layer.W_Q.B.weight), torch.nn.init.zeros_(layer.W_V.B.weight)
    torch.testing.assert_close(layer(x)[0], before)
    with pytest.raises(TypeError, match="x is torch.float64 but the layer is torch.float32"):
        layer(x.double())


@pytest.mark.filterwarnings("ignore")          # torch's own, on the new home of quantisation
def test_the_projections_may_be_quantised():
    layer, x = MultiHeadAttention(64, 4).eval(), torch.randn(2, 5, 64)
    small = torch.ao.quantization.quantize_dynamic(layer, {torch.nn.Linear})
    torch.testing.assert_close(small(x)[0], layer(x)[0], rtol=0.1, atol=0.1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layer", [MultiHeadAttention(64, 4, causal=True), MultiHeadLatentAttention(64, 4, d_c=16,
                                                                                                    causal=True)])
def test_quantised_projections_decode_as_they_read_at_once(layer):
    small, x = torch.ao.quantization.quantize_dynamic(layer.eval(), {torch.nn.Linear}), torch.randn(2, 5, 64)
    cache = small.new_cache(2, 5)
    with torch.no_grad():
        steps = torch.cat([small(token, cache=cache)[0] for token in x.split(1, 1)], 1)
    torch.testing.assert_close(steps, layer(x)[0], rtol=0.1, atol=0.1)


def test_wrapped_projections_make_a_cache_of_their_dtype():
    layer = MultiHeadAttention(6, 2, causal=True, dtype=torch.bfloat16)
    layer.W_K = LowRank(layer.W_K).bfloat16()
    assert layer.new_cache(2, 5).K.dtype == torch.bfloat16


def test_weights_packed_in_whole_numbers_tell_no_dtype():
    layer = MultiHeadAttention(6, 2, bias=False)
    for W in (layer.W_Q, layer.W_K, layer.W_V):
        W.weight = nn.Parameter(torch.zeros(18, 1, dtype=torch.uint8), requires_grad=False)
    assert layer.new_cache(2, 5).K.dtype == torch.float32
    mha._check.layer_input("x", torch.zeros(5, 6), 6, "d_model", layer.W_Q)


# --- What comes back -------------------------------------------------------------------------------------------------

def test_what_a_layer_returns_is_a_tuple_and_shown_as_one():
    pair = MultiHeadAttention(D, H)(torch.randn(B, N, D), need_weights=True)
    out, weights = pair
    assert isinstance(pair, tuple) and len(pair) == 2 and pair[0] is out is pair.out and pair[-1] is weights
    assert repr(pair) == repr((out, weights)) and pair + (1,) == (out, weights, 1) and pair[:1] == (out,)
    assert pretty(pair) == pretty((out, weights))
    assert not hasattr(pair, "shape") and not hasattr(pair, "_repr_html_")
    again = pickle.loads(pickle.dumps((out.detach(), weights.detach())))
    torch.testing.assert_close(copy.deepcopy(type(pair)(*again)), again, check_stride=False)


def test_an_exported_layer_returns_an_ordinary_tuple_and_can_be_saved():
    layer, x = MultiHeadAttention(D, H, causal=True), torch.randn(B, N, D)
    program, kept = torch.export.export(layer, (x,)), io.BytesIO()
    torch.export.save(program, kept)
    assert type(program.module()(x)) is tuple


# --- Edges and errors ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("num_kv_heads", [H, 1])
@pytest.mark.parametrize("batch,n,m", [(B, N, 0), (B, 0, M), (0, N, M)])
def test_no_keys_give_the_bias_and_no_queries_give_nothing(batch, n, m, num_kv_heads):
    layer = odd_layer(num_kv_heads=num_kv_heads)
    out, weights = layer(tokens(batch, n, D), tokens(batch, m, D_CONTEXT), need_weights=True)
    assert out.shape == (batch, n, D_OUT) and weights.shape == (batch, H, n, m)
    if m == 0:
        close(out, layer.W_O.bias.expand_as(out))


X = torch.zeros(B, N, D)


def layer(**options):
    return MultiHeadAttention(D, H, **options)


@ROADS
def test_nothing_leaks_from_the_future_of_a_causal_layer(need_weights):
    layer = MultiHeadAttention(D, H, causal=True, dtype=torch.float64)
    assert nothing_leaks(lambda x: layer(x, need_weights=need_weights)[0], tokens(N, D))


def test_gradients_of_the_layer_are_those_of_finite_differences():
    layer, x = MultiHeadAttention(6, 2, dtype=torch.float64), tokens(3, 6).requires_grad_()
    for need_weights in (False, True):
        assert torch.autograd.gradcheck(lambda t: layer(t, need_weights=need_weights)[0], x)


@pytest.mark.parametrize("dtype,tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 3e-2), (torch.float16, 3e-3)])
@ROADS
def test_lower_precision_is_close_to_float64(dtype, tolerance, need_weights):
    layer, x = MultiHeadAttention(D, H, dtype=torch.float64), tokens(B, N, D)
    exact = layer(x)[0]
    out = layer.to(dtype)(x.to(dtype), need_weights=need_weights)[0]
    assert out.dtype == dtype
    close(out.double(), exact, tolerance)


def test_autocast_lowers_the_precision():
    layer, x = MultiHeadAttention(D, H), torch.randn(B, N, D)
    with torch.autocast("cpu", torch.bfloat16):
        out, weights = layer(x, need_weights=True)
    assert out.dtype == weights.dtype == torch.bfloat16
    close(out.float(), layer(x)[0], 3e-2)


def test_meta_tensors_go_through():
    layer = MultiHeadAttention(D, H, device="meta")
    out, weights = layer(torch.empty(B, N, D, device="meta"), need_weights=True)
    assert out.shape == (B, N, D) and weights.shape == (B, H, N, N)


@needs_gpu
@ROADS
def test_the_gpu_agrees_with_the_cpu(need_weights):
    layer, x = MultiHeadAttention(D, H, causal=True), torch.randn(B, N, D)
    here = layer(x)[0]
    there = layer.to(mha.pick_device())(x.to(mha.pick_device()), need_weights=need_weights)[0]
    close(there.cpu(), here, 1e-3)


def test_the_output_is_a_sum_of_one_term_for_each_head():
    layer, x = odd_layer(), tokens(B, N, D)
    other = tokens(B, M, D_CONTEXT)
    blocks = layer.W_O.weight.T.split(D_V)
    total = sum(layer.head(i)(x, other)[0] @ block for i, block in enumerate(blocks)) + layer.W_O.bias
    close(layer(x, other)[0], total)


def test_shuffled_tokens_give_shuffled_outputs():
    layer, x, order = MultiHeadAttention(D, H, dtype=torch.float64), tokens(B, N, D), torch.randperm(N)
    close(layer(x[:, order])[0], layer(x)[0][:, order])


ERRORS = {
    "num_heads_0": (lambda: MultiHeadAttention(D, 0), ValueError, "num_heads=0 must be a positive whole number"),
    "indivisible": (lambda: MultiHeadAttention(D, 5), ValueError, "d_model=12 does not divide into num_heads=5.*d_k="),
    "d_k": (lambda: layer(d_k=-1), ValueError, "d_k=-1"),
    "one_axis": (lambda: layer()(torch.zeros(D)), ValueError, r"at least 2 axes.*x\[None\]"),
    "device": (lambda: layer()(X.to("meta")), ValueError, "meta.*cpu"),
    "batch": (lambda: layer()(X, torch.zeros(1, M, D)), ValueError, "nothing is broadcast in silence"),
    "causal_context": (lambda: layer(causal=True)(X, torch.zeros(B, M, D)), ValueError, "can mean two things"),
    "head_mask": (lambda: layer()(X, head_mask=torch.ones(2)), ValueError, r"head_mask has shape \(2,\)"),
    "head_mask_list": (lambda: layer()(X, head_mask=[1, 0, 1]), TypeError, "head_mask is a list"),
    "torchs_call": (lambda: layer()(X, X, X), TypeError, r"got 3 tensors: self-attention is layer\(x\)"),
    "loops_mask": (lambda: MultiHeadLoop([Head(D, 11)])(X, attn_mask=None), TypeError, "no attn_mask= here; use mask="),
    "latent_call": (lambda: MultiHeadLatentAttention(D, H, d_c=4)(X, X), TypeError, "takes x alone, got 2 tensors"),
    "text_for_bias": (lambda: layer(bias="no"), TypeError, "bias is 'no'; it must be True or False"),
    "text_for_dropout": (lambda: layer(dropout="0.1"), TypeError, "dropout='0.1' is a str"),
    "third_value": (lambda: MultiHeadAttention(D, H, D_K), TypeError,
                    r"takes 2 values by position, got 3; write Multi.*\*, num_kv_heads=None"),
    "complex": (lambda: layer(dtype=torch.complex64), TypeError, "dtype=torch.complex64 must be a floating-point"),
    "merge": (lambda: merge_heads(torch.zeros(2, 3)), ValueError, r"y has shape \(2, 3\).*3 axes"),
    "merge_numpy": (lambda: merge_heads(torch.zeros(2, 3, 4).numpy()), TypeError, "y is a ndarray"),
    "split_list": (lambda: split_heads([1.0], 1), TypeError, "x is a list"),
    "loop_of_a_head": (lambda: MultiHeadLoop(Head(D, 11)), TypeError, r"heads is a Head.*write \[head\]"),
    "loop_d_out": (lambda: MultiHeadLoop([Head(D, 11)], d_out=0), ValueError, "d_out=0"),
    "loop_mask": (lambda: MultiHeadLoop([Head(D, 11)] * 4)(X, mask=torch.ones(B, 7, N, N).bool()), ValueError,
                  r"mask has shape \(2, 7, 5, 5\), which does not broadcast to \(2, 4, 5, 5\)"),
    "prune_one": (lambda: layer().prune(1), TypeError, r"keep=1 is a int; it must be a list of heads: write \[1\]"),
    "prune_nothing": (lambda: layer().prune([]), ValueError, "keep names no head"),
    "prune_twice": (lambda: layer().prune([1, 1]), ValueError, "names head 1 2 times"),
    "prune_bool": (lambda: layer().prune([True]), TypeError, "True is no head's number"),
    "head_negative": (lambda: layer().head(-1), ValueError, "there is no head -1"),
    "qk_absent": (lambda: layer().qk(9), ValueError, "there is no head 9"),
    "no_heads": (lambda: MultiHeadLoop([]), ValueError, "got no heads"),
    "not_a_head": (lambda: MultiHeadLoop([nn.Linear(2, 2)]), TypeError, "one of the heads is a Linear"),
    "W_O": (lambda: MultiHeadAttention.from_heads([Head(D, 11)], nn.Linear(5, 5)), ValueError,
            "W_O takes 5 numbers.* give 11"),
    "split": (lambda: split_heads(X, 5), ValueError, r"\(2, 5, 12\); to split it into 5 heads"),
    "from_other": (lambda: MultiHeadAttention.from_torch(nn.Linear(2, 2)), TypeError, "got a Linear"),
    "bias_kv": (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(D, H, add_bias_kv=True)), ValueError,
                "add_bias_kv=True"),
    "kdim": (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(D, H, kdim=5, vdim=7)), ValueError,
             "kdim=5 and vdim=7"),
    "mask_for_context": (lambda: layer()(X, torch.ones(N, N).bool()), TypeError, "context is torch.bool.*into mask="),
    "nested": (lambda: layer()(torch.nested.nested_tensor([X[0], X[1]], layout=torch.jagged)), TypeError,
               "x is a nested tensor"),
    "complex_head_mask": (lambda: layer()(X, head_mask=torch.ones(H).cfloat()), TypeError, "is torch.complex64"),
    "class_for_on_qk": (lambda: layer(on_qk=Rope), TypeError, r"on_qk is the class Rope.*mha.position.Rope\(\)"),
    "offset_device": (lambda: layer(causal=True, on_qk=Rope())(X, offset=torch.ones(B, dtype=int, device="meta")),
                      ValueError, "cpu but offset is on meta"),
    "loop_bias": (lambda: MultiHeadLoop([Head(D, 11)], bias="yes"), TypeError, "bias is 'yes'"),
    "loop_dtypes": (lambda: MultiHeadLoop([Head(D, 11), Head(D, 11, dtype=torch.float64)]), ValueError,
                    r"the heads are torch.float32 on cpu, torch.float64 on cpu.*head.to\(device, dtype\)"),
    "two_ropes": (lambda: MultiHeadAttention.from_heads([Head(D, 4, on_qk=Rope()) for _ in range(2)]), ValueError,
                  "the same in all of them: one object"),
    "W_O_tensor": (lambda: MultiHeadAttention.from_heads([Head(D, 11)], torch.zeros(11, D)), TypeError,
                   r"W_O is a Tensor; it must be nn.Linear\(11, d_out\)"),
    "eight_bits": (lambda: layer(dtype=torch.float8_e4m3fn), TypeError, "float8_e4m3fn must be .* of 16 bits or more"),
    "to_torch_d_k": (lambda: layer(d_k=5).to_torch(), ValueError, r"num_heads \* d_k = 15 is not d_model=12"),
    "sparse": (lambda: layer()(X.to_sparse()), TypeError, r"torch.sparse_coo.*x.to_dense\(\)"),
    "no_size": (lambda: MultiHeadAttention(), TypeError, "got no d_model, num_heads .size of a token"),
}


def test_a_factor_a_head_may_have_another_dtype():
    module = MultiHeadAttention(D, H, dtype=torch.bfloat16)
    assert module(X.bfloat16(), head_mask=torch.ones(H))[0].dtype == torch.bfloat16


test_wrong_input_gets_a_sentence_that_helps = refused(ERRORS)
