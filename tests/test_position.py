"""mha.position: waves, turned pairs and straight lines against their formulas, and in a layer."""
import math

import pytest
import torch

from mha import MultiHeadAttention, MultiHeadLoop, attention, merge_heads, split_heads
from mha.position import Rope, alibi_bias, alibi_slopes, positions_from, rope, sinusoids
from support import close, tokens

B, H, N, M, D, D_K = 2, 3, 5, 7, 13, 6
PAIRINGS = pytest.mark.parametrize("interleaved", [False, True], ids=["halves", "neighbours"])
NEAR = torch.arange(N)


# --- Sinusoids -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("d_model", [1, 6, 7])
@pytest.mark.parametrize("base", [10000.0, 37.0])
def test_sinusoids_are_the_formula(d_model, base):
    angles = [[p / base ** (k // 2 * 2 / d_model) for k in range(d_model)] for p in range(N)]
    expected = [[math.cos(a) if k % 2 else math.sin(a) for k, a in enumerate(row)] for row in angles]
    waves = sinusoids(N, d_model, base)
    assert waves.dtype == torch.float32 and waves.shape == (N, d_model)
    close(waves, torch.tensor(expected), 1e-6)


def test_a_step_of_k_is_one_matrix_at_every_position():
    waves, k, d_model = sinusoids(101, 8, base=100.0).double(), 17, 8
    angles = [k / 100.0 ** (2 * i / d_model) for i in range(d_model // 2)]
    turns = [torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]).double() for a in angles]
    close(waves[k:], waves[:-k] @ torch.block_diag(*turns), 2e-5)
    assert not torch.allclose(waves[k:], waves[:-k], atol=0.1)


# --- Turned pairs ----------------------------------------------------------------------------------------------------

def turned(x, positions, base):
    """Neighbours as complex numbers, times e^(i angle): the definition of the paper, written independently."""
    d = x.shape[-1]
    pairs = torch.complex(x[..., 0::2], x[..., 1::2])
    frequencies = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    angles = positions[..., None].double() * frequencies
    return torch.view_as_real(pairs * torch.exp(1j * angles)).reshape(x.shape)


@pytest.mark.parametrize("base", [10000.0, 3.0])
@pytest.mark.parametrize("positions", [NEAR, torch.tensor([3, 0, 11, 100003, -2]), NEAR.int()],
                         ids=["near", "far", "int"])
def test_turning_is_a_product_of_complex_numbers(base, positions):
    x = tokens(B, H, N, D_K)
    close(rope(x, positions, base=base, interleaved=True), turned(x, positions, base), 1e-9)


def test_the_two_pairings_differ_by_one_order_of_the_columns():
    x, order = tokens(B, H, N, D_K), torch.tensor([0, 3, 1, 4, 2, 5])
    close(rope(x, NEAR)[..., order], rope(x[..., order], NEAR, interleaved=True))
    assert not torch.allclose(rope(x, NEAR), rope(x, NEAR, interleaved=True))


@PAIRINGS
@pytest.mark.parametrize("shift,tolerance", [(1, 1e-13), (1000, 1e-11), (100000, 1e-9)])
def test_scores_depend_on_the_difference_of_positions_alone(interleaved, shift, tolerance):
    q, k, i, j = tokens(B, H, N, D_K), tokens(B, H, M, D_K), torch.arange(N) + 3, torch.arange(M)
    scores = [rope(q, i + s, interleaved=interleaved) @ rope(k, j + s, interleaved=interleaved).mT for s in (0, shift)]
    close(*scores, tolerance)
    one = rope(q, i + 1, interleaved=interleaved) @ rope(k, j, interleaved=interleaved).mT
    assert not torch.allclose(scores[0], one, atol=1e-3)


@PAIRINGS
def test_turning_keeps_norms_and_position_0_is_at_rest(interleaved):
    x = tokens(B, H, N, D_K)
    close(rope(x, NEAR + 999, interleaved=interleaved).norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(rope(x, 0 * NEAR, interleaved=interleaved), x)


@PAIRINGS
def test_positions_may_differ_between_sequences(interleaved):
    x, positions = tokens(B, H, N, D_K), torch.tensor([[[0, 1, 2, 3, 4]], [[11, 7, 5, 3, 2]]])
    out = rope(x, positions, interleaved=interleaved)
    for b in range(B):
        close(out[b], rope(x[b], positions[b, 0], interleaved=interleaved))


@pytest.mark.parametrize("dtype,rounding", [(torch.float16, 1e-3), (torch.bfloat16, 8e-3)])
@PAIRINGS
def test_16_bits_do_not_reach_the_angles(dtype, rounding, interleaved):
    """Position 4099 is 4100 in float16 and 4096 in bfloat16: angles made there would be off by 1 and by 3."""
    x, positions = tokens(N, D_K).to(dtype), 4099 + NEAR
    out = rope(x, positions, interleaved=interleaved)
    assert out.dtype == dtype
    close(out.double(), rope(x.double(), positions, interleaved=interleaved), 3 * rounding)


def test_gradients_of_a_turn_are_those_of_finite_differences():
    x = tokens(2, 3, 4).requires_grad_()
    for interleaved in (False, True):
        def turn(t):
            return rope(t, torch.tensor([0, 5, 2]), interleaved=interleaved)
        assert torch.autograd.gradcheck(turn, x) and torch.autograd.gradgradcheck(turn, x)


# --- In a layer ------------------------------------------------------------------------------------------------------

def turning(**options):
    return MultiHeadAttention(D, H, d_k=D_K, dtype=torch.float64, on_qk=Rope(base=37.0, interleaved=True), **options)


@pytest.mark.parametrize("causal", [False, True])
def test_a_layer_with_rope_equals_rope_by_hand(causal):
    layer, x = turning(causal=causal), tokens(B, N, D)
    Q, K, V = (split_heads(W(x), H) for W in (layer.W_Q, layer.W_K, layer.W_V))
    Q, K = turned(Q, NEAR, 37.0), turned(K, NEAR, 37.0)
    close(layer(x)[0], layer.W_O(merge_heads(attention(Q, K, V, causal=causal)[0])))


@pytest.mark.parametrize("context", [False, True])
def test_a_layer_with_rope_equals_the_loop_over_its_heads(context):
    layer, x, other = turning(), tokens(B, N, D), tokens(B, M, D) if context else None
    loop = MultiHeadLoop([layer.head(i) for i in range(H)])
    loop.W_O = layer.W_O
    close(layer(x, other, need_weights=True), loop(x, other, need_weights=True))


def test_from_heads_keeps_what_acts_on_queries_and_keys():
    layer, x = turning(), tokens(B, N, D)
    again = MultiHeadAttention.from_heads([layer.head(i) for i in range(H)], layer.W_O)
    close(again(x)[0], layer(x)[0])
    assert again.on_qk is layer.on_qk


def test_pruning_equals_switching_the_others_off_under_rope():
    layer, x = turning(), tokens(B, N, D)
    close(layer.prune([2, 0])(x)[0], layer(x, head_mask=torch.tensor([1.0, 0.0, 1.0]).double())[0])


def seen_by(x, context=None, **options):
    """The positions i and j that a layer's on_qk is given."""
    seen = []

    def spy(Q, K, i, j):
        seen.extend([i, j])
        return Q, K
    layer = MultiHeadAttention(D, H, d_k=D_K, dtype=torch.float64, causal=bool(options), on_qk=spy)
    if options.get("cache"):
        cache = options["cache"] = layer.new_cache(B, 11)
        with torch.no_grad():
            layer(x, cache=cache)
            cache.crop([2, 4])
            seen.clear()
            layer(x, **options)
    else:
        layer(x, context, **options)
    return [t.tolist() for t in seen]


def test_a_layer_says_where_its_tokens_stand():
    x, other, n, m = tokens(B, N, D), tokens(B, M, D), list(range(N)), list(range(M))
    assert seen_by(x) == [n, n]
    assert seen_by(x, other) == [n, m]
    assert seen_by(x, other, offset=2) == [[2, 3, 4, 5, 6], m]
    assert seen_by(x, other, offset=torch.tensor([2, 1])) == [[[[2, 3, 4, 5, 6]], [[1, 2, 3, 4, 5]]], m]
    assert seen_by(x[0], other[0], offset=torch.tensor(2)) == [[[2, 3, 4, 5, 6]], m]
    ragged = [[[2, 3, 4, 5, 6]], [[4, 5, 6, 7, 8]]]
    assert seen_by(x, cache=True) == [ragged, ragged]


def test_positions_from_counts_on():
    x = tokens(2, 3, N, D)
    assert positions_from(None, x).tolist() == positions_from(0, x).tolist() == list(range(N))
    assert positions_from(3, x).tolist() == [3, 4, 5, 6, 7]
    assert positions_from(torch.tensor([[1, 2, 3], [4, 5, 6]]), x).shape == (2, 3, 1, N)


def test_each_sequence_may_have_an_offset_of_its_own_under_rope():
    layer, x, other, offset = turning(causal=True), tokens(B, N, D), tokens(B, M, D), torch.tensor([2, 0])
    out, weights = layer(x, other, offset=offset, need_weights=True)
    for b in range(B):
        close((out[b], weights[b]), layer(x[b], other[b], offset=int(offset[b]), need_weights=True))


def test_a_token_that_asks_another_text_stands_where_its_offset_says():
    layer, x, other = turning(), tokens(B, N, D), tokens(B, M, D)
    whole = layer(x, other)[0]
    for i in range(N):
        close(layer(x[:, i:i + 1], other, offset=i)[0], whole[:, i:i + 1])
    with pytest.raises(ValueError, match="offset=2 does nothing by itself"):
        layer(x, offset=2)


def test_a_rope_adds_no_parameters_and_shows_its_options():
    assert turning().state_dict().keys() == MultiHeadAttention(D, H, d_k=D_K).state_dict().keys()
    assert "(on_qk): Rope(base=37.0, interleaved=True)" in repr(turning())


def test_autocast_reaches_a_layer_with_rope():
    layer, x = turning().float(), torch.randn(B, N, D)
    with torch.autocast("cpu", torch.bfloat16):
        out = layer(x)[0]
    assert out.dtype == torch.bfloat16
    close(out.float(), layer(x)[0], 3e-2)


def test_the_compiled_layer_with_rope_gives_the_same_numbers():
    layer, x, offset = turning(causal=True).float(), torch.randn(B, N, D), torch.tensor([2, 0])
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    close(compiled(x)[0], layer(x)[0], 1e-5)
    close(compiled(x, offset=offset)[0], layer(x, offset=offset)[0], 1e-5)


def test_layers_with_other_bases_compile_one_after_the_other():
    """torch then takes the base for a number that varies."""
    x = tokens(B, N, D)
    for base in (10000.0, 37.0, 500.0):
        layer = MultiHeadAttention(D, H, d_k=D_K, dtype=torch.float64, on_qk=Rope(base=base))
        close(torch.compile(layer, fullgraph=True, backend="eager")(x)[0], layer(x)[0])


def test_the_base_is_that_of_the_paper_unless_told():
    x = tokens(N, D_K)
    assert torch.equal(rope(x, NEAR), rope(x, NEAR, base=10000.0)) and Rope().base == 10000.0
    assert torch.equal(sinusoids(N, D), sinusoids(N, D, base=10000.0))


# --- Straight lines --------------------------------------------------------------------------------------------------

# What get_slopes of github.com/ofirpress/attention_with_linear_biases gives.
PUBLISHED = {
    1: [0.00390625],
    2: [0.0625, 0.00390625],
    3: [0.0625, 0.00390625, 0.25],
    6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    8: [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625],
    12: [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625,
         0.7071067811865476, 0.35355339059327384, 0.17677669529663692, 0.08838834764831849],
}


@pytest.mark.parametrize("num_heads", PUBLISHED)
def test_slopes_are_the_published_ones(num_heads):
    close(alibi_slopes(num_heads), torch.tensor(PUBLISHED[num_heads]), 1e-7)


def test_slopes_of_a_power_of_two_fall_by_one_factor():
    close(alibi_slopes(16).log2(), -0.5 * torch.arange(1.0, 17.0), 1e-6)


@pytest.mark.parametrize("offset", [0, 2, -3])
@pytest.mark.parametrize("slopes", [None, torch.tensor([2.0, 0.5, 0.0])], ids=["published", "own"])
def test_the_bias_is_minus_the_slope_times_the_distance(offset, slopes):
    m = PUBLISHED[H] if slopes is None else slopes.tolist()
    expected = [[[-m[h] * abs(i + offset - j) for j in range(M)] for i in range(N)] for h in range(H)]
    close(alibi_bias(H, N, M, offset, slopes=slopes), torch.tensor(expected), 1e-6)


def test_without_m_the_queries_are_the_keys():
    assert torch.equal(alibi_bias(H, N), alibi_bias(H, N, N)) and (alibi_bias(H, N).diagonal(dim1=1, dim2=2) == 0).all()


def test_offsets_of_the_bias_may_differ_between_sequences():
    offsets = torch.tensor([0, 2, -1])
    each = torch.stack([alibi_bias(H, N, M, int(offset)) for offset in offsets])
    assert torch.equal(alibi_bias(H, N, M, offsets), each)


def test_a_layer_takes_the_bias():
    layer, x = MultiHeadAttention(D, H, d_k=D_K, dtype=torch.float64), tokens(B, N, D)
    bias = alibi_bias(H, N)
    weights = layer(x, bias=bias[None], need_weights=True)[1]
    Q, K = (split_heads(W(x), H) for W in (layer.W_Q, layer.W_K))
    close(weights, (Q @ K.mT / D_K ** 0.5 + bias.double()).softmax(-1))


# --- Errors ----------------------------------------------------------------------------------------------------------

X = torch.zeros(B, H, N, D_K)
ERRORS = {
    "waves_n": (lambda: sinusoids(-1, 4), ValueError, "n=-1 is negative"),
    "waves_d_model": (lambda: sinusoids(N, 0), ValueError, "d_model=0"),
    "waves_base": (lambda: sinusoids(N, 4, base=-1.0), ValueError, "base=-1.0 must be above 0"),
    "waves_text": (lambda: sinusoids(N, 4, base="long"), TypeError, "base='long' is a str"),
    "list": (lambda: rope([1.0], NEAR), TypeError, "x is a list"),
    "positions_list": (lambda: rope(X, [0, 1]), TypeError, "positions is a list; .*torch.as_tensor"),
    "integer": (lambda: rope(X.long(), NEAR), TypeError, "x is torch.int64; it must be floating point"),
    "odd": (lambda: rope(X[..., :5], NEAR), ValueError, r"x has shape \(2, 3, 5, 5\).*d_k even"),
    "odd_head": (lambda: MultiHeadAttention(15, 3, on_qk=Rope())(torch.zeros(B, N, 15)), ValueError, "d_k even"),
    "no_numbers": (lambda: rope(X[..., :0], NEAR), ValueError, "d_k even"),
    "one_axis": (lambda: rope(X[0, 0, 0], NEAR), ValueError, r"x has shape \(6,\)"),
    "float_positions": (lambda: rope(X, NEAR.float()), TypeError, "positions is torch.float32.*torch.arange"),
    "bool_positions": (lambda: rope(X, NEAR > 2), TypeError, "positions is torch.bool"),
    "too_few": (lambda: rope(X, NEAR[:1]), ValueError, r"positions has shape \(1,\).*\(5,\), or have 3 axes"),
    "two_axes": (lambda: rope(X, NEAR[None]), ValueError, r"positions has shape \(1, 5\)"),
    "heads": (lambda: rope(X, NEAR.expand(B, 2, N)), ValueError, r"positions has shape \(2, 2, 5\)"),
    "no_axis": (lambda: rope(X, torch.tensor(3)), ValueError, r"positions has shape \(\)"),
    "device": (lambda: rope(X, NEAR.to("meta")), ValueError, "x is on cpu but positions is on meta"),
    "base": (lambda: rope(X, NEAR, base=0.0), ValueError, "base=0.0 must be above 0"),
    "base_nan": (lambda: Rope(base=math.nan), ValueError, "base=nan must be finite"),
    "base_bool": (lambda: Rope(base=True), TypeError, "base=True is a bool"),
    "interleaved": (lambda: Rope(interleaved="yes"), TypeError, "interleaved is 'yes'"),
    "seat_text": (lambda: MultiHeadAttention(12, H, on_qk="rope"), TypeError, r"on_qk is a str.*Rope\(\)"),
    "seat_class": (lambda: MultiHeadAttention(12, H, on_qk=Rope), TypeError, r"on_qk is .*Rope\(\)"),
    "slopes_0": (lambda: alibi_slopes(0), ValueError, "num_heads=0"),
    "slopes_float": (lambda: alibi_slopes(3.0), TypeError, "num_heads=3.0 is a float"),
    "bias_slopes": (lambda: alibi_bias(H, N, slopes=torch.ones(2)), ValueError, r"slopes has shape \(2,\).*\(3,\)"),
    "bias_list": (lambda: alibi_bias(H, N, slopes=[1, 2, 3]), TypeError, "slopes is a list"),
    "bias_n": (lambda: alibi_bias(H, -1), ValueError, "n=-1 is negative"),
    "bias_m": (lambda: alibi_bias(H, N, 7.0), TypeError, "m=7.0 is a float"),
    "bias_offsets": (lambda: alibi_bias(H, N, offset=torch.zeros(2)), TypeError, "offset is torch.float32"),
    "bias_offset": (lambda: alibi_bias(H, N, offset=0.5), TypeError, "offset=0.5 is a float"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_wrong_input_gets_a_sentence_that_helps(case):
    call, kind, words = ERRORS[case]
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize("default", [torch.bfloat16, torch.float64], ids=str)
def test_alibi_is_float32_whatever_is_the_default(default):
    expected, before = alibi_bias(2, 600), torch.get_default_dtype()
    torch.set_default_dtype(default)
    try:
        assert torch.equal(alibi_bias(2, 600), expected) and alibi_slopes(2).dtype == torch.float32
    finally:
        torch.set_default_dtype(before)
