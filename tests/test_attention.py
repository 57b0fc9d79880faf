"""mha.attention against torch, in float64, on random inputs whose sizes are distinct primes."""
import math
import sys

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

import mha
from mha._backends import fused
from mha.attention import attention, definition
from support import ROADS, close, every_pair, needs_compiler, needs_gpu, nothing_leaks, see

B, H, N, M, D_K, D_V = 2, 3, 5, 7, 11, 13


def random(*shape, dtype=torch.float64, grad=False):
    return torch.randn(*shape, dtype=dtype).requires_grad_(grad)


def random_qkv(heads=H, kv_heads=None, n=N, m=M, d_v=D_V, **options):
    kv_heads = kv_heads or heads
    return (random(B, heads, n, D_K, **options), random(B, kv_heads, m, D_K, **options),
            random(B, kv_heads, m, d_v, **options))


# --- Every option against torch's function ---------------------------------------------------------------------------

def masked(mask):
    """(the arguments of mha.attention, the same for torch's function); so do the next four."""
    return {"mask": mask}, {"attn_mask": mask}


def biased(bias):
    return {"bias": bias}, {"attn_mask": bias}


def ruled(rule, **options):
    return options, {"attn_mask": see(N, M, rule)}


def masked_and_biased(mask, bias):
    return {"mask": mask, "bias": bias}, {"attn_mask": bias.masked_fill(~mask, -math.inf)}


def masked_and_causal(mask):
    return {"mask": mask, "causal": True, "offset": 1}, {"attn_mask": mask & see(N, M, lambda i, j: j <= i + 1)}


OPTIONS = {
    "nothing": lambda: ({}, {}),
    "scale": lambda: ({"scale": 0.37}, {"scale": 0.37}),
    "mask_2_axes": lambda: masked(torch.rand(N, M) > 0.4),
    "mask_4_axes": lambda: masked(torch.rand(B, H, N, M) > 0.4),
    "mask_padding": lambda: masked(see(B, M, lambda b, j: j < 3 + 2 * b)[:, None, None]),
    "bias": lambda: biased(random(N, M)),
    "bias_per_head": lambda: biased(random(1, H, 1, M)),
    "mask_and_bias": lambda: masked_and_biased(torch.rand(B, 1, N, M) > 0.4, random(1, H, N, M)),
    "causal_offset_0": lambda: ruled(lambda i, j: j <= i, causal=True, offset=0),
    "causal_offset_2": lambda: ruled(lambda i, j: j <= i + 2, causal=True, offset=2),
    "causal_offset_-2": lambda: ruled(lambda i, j: j <= i - 2, causal=True, offset=-2),
    "window": lambda: ruled(lambda i, j: i + 1 <= j <= i + 4, window=(1, 2), offset=2),
    "window_left": lambda: ruled(lambda i, j: i - 1 <= j, window=(1, None), offset=0),
    "window_causal": lambda: ruled(lambda i, j: i - 1 <= j <= i + 1, window=(2, 2), causal=True, offset=1),
    "causal_and_mask": lambda: masked_and_causal(torch.rand(B, 1, 1, M) > 0.3),
}


@pytest.fixture(params=OPTIONS)
def options(request):
    return OPTIONS[request.param]()


@ROADS
@pytest.mark.parametrize("d_v", [D_K, D_V])
def test_output_and_gradients_equal_torchs(options, need_weights, d_v):
    ours, theirs = options
    q, k, v = random_qkv(d_v=d_v, grad=True)
    out, _ = attention(q, k, v, need_weights=need_weights, **ours)
    expected = F.scaled_dot_product_attention(q, k, v, **theirs)
    close(out, expected)
    d_out = torch.randn_like(out)
    close(torch.autograd.grad(out, (q, k, v), d_out), torch.autograd.grad(expected, (q, k, v), d_out))


def test_weights_are_what_torch_gives_the_unit_vectors(options):
    ours, theirs = options
    q, k, v = random_qkv()
    units = torch.eye(M, dtype=torch.float64).expand(B, H, M, M)
    _, weights = attention(q, k, v, need_weights=True, **ours)
    close(weights, F.scaled_dot_product_attention(q, k, units, **theirs))


@ROADS
@pytest.mark.parametrize("n", [1, N, 31])
def test_plain_causal_attention_equals_torchs(need_weights, n):
    q, k, v = random_qkv(n=n, m=n, d_v=D_K)
    out, _ = attention(q, k, v, causal=True, need_weights=need_weights)
    close(out, F.scaled_dot_product_attention(q, k, v, is_causal=True))


def test_rows_of_weights_sum_to_1_and_mix_the_values():
    q, k, v = random_qkv()
    out, weights = attention(q, k, v, need_weights=True)
    assert weights.shape == (B, H, N, M) and (weights >= 0).all()
    close(weights.sum(-1), torch.ones(B, H, N, dtype=torch.float64))
    close(out, torch.einsum("bhij,bhjd->bhid", weights, v))


def test_weights_are_given_only_on_request():
    assert attention(*random_qkv())[1] is None


@ROADS
def test_softcap_bounds_the_scaled_scores(need_weights):
    q, k, v = random_qkv()
    mask, bias = torch.rand(N, M) > 0.3, random(N, M)
    capped = 0.7 * torch.tanh(torch.einsum("bhid,bhjd->bhij", 3 * q, k) / math.sqrt(D_K) / 0.7)
    expected = torch.softmax((capped + bias).masked_fill(~mask, -1e300), -1) @ v
    out, _ = attention(3 * q, k, v, softcap=0.7, mask=mask, bias=bias, need_weights=need_weights)
    close(out, expected)


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor holds that is made in this context."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        tensors = [t for t in (made if isinstance(made, (tuple, list)) else [made]) if isinstance(t, torch.Tensor)]
        self.numbers = max([getattr(self, "numbers", 0), *(t.numel() for t in tensors)])
        return made


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kv_heads", [6, 2])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"mask": mha.masks.window(61, left=3, right=5)},
                                     {"bias": torch.zeros(61, 61)}], ids=["nothing", "causal", "mask", "bias"])
def test_weights_that_nobody_asks_for_are_not_written(options, kv_heads, dtype):
    q, k, v = random_qkv(heads=6, kv_heads=kv_heads, n=61, m=61, d_v=D_K, dtype=dtype)
    with Largest() as largest:
        attention(q, k, v, **options)
    assert largest.numbers < B * 6 * 61 * 61
    with largest:
        attention(q, k, v, need_weights=True, **options)
    assert largest.numbers >= B * 6 * 61 * 61


@pytest.mark.parametrize("kv_heads", [1, 2, 6])
def test_the_triangle_needs_no_mask_whoever_shares_its_keys(kv_heads):
    q, k, v = random_qkv(heads=6, kv_heads=kv_heads, n=61, m=61, d_v=D_K)
    with Largest() as largest:
        attention(q, k, v, causal=True)
    assert largest.numbers <= q.numel()


# --- Heads and axes --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("batch,h,kv_heads", [(B, 3, 3), (B, 6, 3), (6, 6, 3), (3, 6, 3)])
def test_where_the_kernel_shares_keys_by_itself_it_gives_the_same(batch, h, kv_heads):
    """As in the triangle: the kernel's own flags, and no mask."""
    q, k, v = (random(batch, heads, N, D_K) for heads in (h, kv_heads, kv_heads))
    close(fused(q, k, v, None, None, D_K ** -0.5, True, 0.0), attention(q, k, v, causal=True)[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@ROADS
def test_a_finite_bias_stays_finite_in_lower_precision(dtype, need_weights):
    """The lowest float32 would become -inf, which hides a key: a row of such is a row of equal numbers, not of none."""
    q, k, v = random_qkv(d_v=D_K)
    bias = torch.zeros(N, M)
    bias[1], bias[2, :3], bias[3, 4:] = torch.finfo(torch.float32).min, torch.finfo(torch.float32).min, -math.inf
    out, _ = attention(q.to(dtype), k.to(dtype), v.to(dtype), bias=bias, need_weights=need_weights)
    seen = torch.ones(N, M, dtype=torch.bool)
    seen[2, :3] = seen[3, 4:] = False
    exact, _ = attention(*(t.to(dtype).double() for t in (q, k, v)), mask=seen)
    close(out.double(), exact, 3e-2)


def common(number):
    """name -> a bias of which a query's visible keys have `number` in common, and the mask beside it."""
    second = torch.zeros(N, M).index_fill(0, torch.tensor([1]), number)
    shown = see(N, M, lambda i, j: (j < 4) == (i != 3))
    return {"a_row": (second, None),
            "a_row_and_hidden": (second.masked_fill(see(N, M, lambda i, j: (i + j) % 3 == 0), -math.inf), None),
            "where_the_mask_shows": (see(N, M, lambda i, j: j < 4) * number, shown),
            "each_head": (torch.tensor([0, number, 0, 1, -number, 2.0])[None, :, None, None].expand(B, 6, N, M), None),
            "each_sequence": (torch.tensor([0, number])[:, None, None, None].expand(B, 1, 1, M), None),
            "causal": (torch.full((1, 1, 1, M), number), see(N, M, lambda i, j: j <= i))}


@every_pair(need_weights=[False, True], case=list(common(0.0)), kv_heads=[6, 2],
            number=[-1e9, 1e9, -1e5, torch.finfo(torch.float32).min],
            dtype=[torch.float32, torch.bfloat16, torch.float16])
def test_what_all_keys_of_a_query_have_in_common_in_a_bias_changes_nothing(number, kv_heads, case, dtype, need_weights):
    """Nor the gradients: torch's kernel gets them wrong by 65% at -1e9. The exact ones are those of the mask alone."""
    bias, mask = common(number)[case]
    q, k, v = random_qkv(heads=6, kv_heads=kv_heads, d_v=D_K, dtype=dtype, grad=True)
    exact = [t.detach().double().requires_grad_() for t in (q, k, v)]
    seen = (bias > -math.inf) if mask is None else mask & (bias > -math.inf)
    d_out = torch.randn_like(q)
    expected, _ = attention(*exact, mask=seen, need_weights=True)
    out, _ = attention(q, k, v, bias=bias, mask=mask, need_weights=need_weights)
    close(out.double(), expected, TOLERANCE[dtype])
    close([t.double() for t in torch.autograd.grad(out, (q, k, v), d_out)],
          list(torch.autograd.grad(expected, exact, d_out.double())), 10 * TOLERANCE[dtype])


@ROADS
@pytest.mark.parametrize("dtype, narrow", [(torch.float32, torch.bfloat16), (torch.float64, torch.float32)], ids=str)
def test_a_far_row_of_a_narrower_bias_costs_the_others_no_precision(dtype, narrow, need_weights):
    q, k, v = random_qkv(dtype=dtype, d_v=D_K)
    bias = random(N, M, dtype=torch.float32).to(narrow)
    bias[0] = -1000.0
    expected, _ = attention(q.double(), k.double(), v.double(), bias=bias.double(), need_weights=True)
    close(attention(q, k, v, bias=bias, need_weights=need_weights)[0].double(), expected, TOLERANCE.get(dtype, 1e-12))


@ROADS
def test_what_keys_have_in_common_is_taken_off_of_a_bias_that_learns_and_under_a_compiler_too(need_weights):
    q, k, v = random_qkv(dtype=torch.float32, d_v=D_K, grad=True)
    bias = random(1, H, N, M, dtype=torch.float32)
    far = (bias - 1e5).requires_grad_()
    bias = (far.detach() + 1e5).requires_grad_()

    def function(bias):
        return attention(q, k, v, bias=bias, need_weights=need_weights)[0]

    expected = function(bias)
    exact = torch.autograd.grad(expected.square().sum(), (q, k, v, bias))
    for found in (function, torch.compile(function, fullgraph=True, backend="aot_eager")):
        out = found(far)
        close(out, expected, 1e-5)
        close(torch.autograd.grad(out.square().sum(), (q, k, v, far)), exact, 1e-4)


@ROADS
def test_a_bias_in_the_dtype_of_the_queries_stays_as_it_is(need_weights):
    """Also where it is larger than what a wider one is cut to: of two such the larger takes all."""
    q, k, v = random_qkv(d_v=D_K)
    bias = torch.linspace(0.6, 0.9, M, dtype=torch.float64) * torch.finfo(torch.float64).max
    out, _ = attention(q, k, v, bias=bias[None], need_weights=need_weights)
    close(out, v[:, :, -1:].expand_as(out))


@ROADS
@pytest.mark.parametrize("axes", ["none", "mask", "per_head_mask", "padding", "bias", "one_query", "causal"])
@pytest.mark.parametrize("d_v", [D_K, D_V])
def test_adjacent_heads_share_a_key_head(axes, need_weights, d_v):
    n, m = (1 if axes == "one_query" else N), (N if axes == "causal" else M)
    q, k, v = random_qkv(heads=6, kv_heads=2, n=n, m=m, d_v=d_v, grad=True)
    mask = {"mask": torch.rand(n, m) > 0.3, "per_head_mask": torch.rand(B, 6, n, m) > 0.3,
            "padding": torch.rand(B, 1, 1, m) > 0.3}.get(axes)
    bias = random(1, 6, 1, m) if axes == "bias" else None
    out, weights = attention(q, k, v, mask=mask, bias=bias, causal=axes == "causal", need_weights=need_weights)
    repeated = (t.repeat_interleave(3, 1) for t in (k, v))
    expected = F.scaled_dot_product_attention(q, *repeated, attn_mask=mask if bias is None else bias,
                                              is_causal=axes == "causal")
    close(out, expected)
    assert weights is None or weights.shape == (B, 6, n, m)
    close(torch.autograd.grad(out.sum(), (q, k, v)), torch.autograd.grad(expected.sum(), (q, k, v)))


@every_pair(need_weights=[False, True], kv_heads=[1, 2, 6],
            places=[(5, 5, None), (5, 5, 2), (5, 7, 0), (5, 7, 2), (7, 5, 0), (1, 7, 6), (0, 0, None), (0, 5, 5),
                    (5, 0, 0), (5, 5, [0, 3]), (5, 7, [2, 0])])
def test_causal_heads_share_keys_as_they_would_have_their_own(places, kv_heads, need_weights):
    """torch's own flag puts the triangle's corner at the first key, whatever m is."""
    n, m, offset = places
    q, k, v = random_qkv(heads=6, kv_heads=kv_heads, n=n, m=m, d_v=D_K)
    offset = torch.tensor(offset) if isinstance(offset, list) else offset
    first = 0 if offset is None else offset
    seen = torch.arange(m) <= (torch.arange(n) + torch.as_tensor(first)[..., None])[..., None, :, None]  # (., 1, n, m)
    repeated = (t.repeat_interleave(6 // kv_heads, 1) for t in (k, v))
    out = attention(q, k, v, causal=True, offset=offset, need_weights=need_weights)[0]
    if m == 0:
        assert torch.equal(out, torch.zeros_like(q))
    else:
        close(out, definition(q, *repeated, seen)[0])


@every_pair(need_weights=[False, True], lead=[(), (H,), (B, H), (2, 3, H), (2, 1, 3, H)],
            kind=["none", "two_axes", "all_axes", "bias"])
def test_any_number_of_axes_may_stand_before(lead, kind, need_weights):
    q, k, v = (random(*lead, rows, D_K) for rows in (N, M, M))
    shape = {"two_axes": (N, M), "all_axes": (*lead[:-1], 1, N, M) if lead else (N, M)}.get(kind)
    mask = torch.rand(shape) > 0.3 if shape else None
    bias = random(*(1 for _ in lead), N, 1) if kind == "bias" else None
    out, weights = attention(q, k, v, mask=mask, bias=bias, need_weights=need_weights)
    close(out, F.scaled_dot_product_attention(q, k, v, attn_mask=mask if bias is None else bias.expand(*lead, N, M)))
    assert not need_weights or weights.shape == (*lead, N, M)


# --- Properties ------------------------------------------------------------------------------------------------------

@ROADS
def test_permuting_the_keys_with_their_values_changes_nothing(need_weights):
    q, k, v = random_qkv()
    order = torch.randperm(M)
    close(attention(q, k[:, :, order], v[:, :, order], need_weights=need_weights)[0], attention(q, k, v)[0])


@ROADS
def test_permuting_the_queries_permutes_the_output(need_weights):
    q, k, v = random_qkv()
    order = torch.randperm(N)
    close(attention(q[:, :, order], k, v, need_weights=need_weights)[0], attention(q, k, v)[0][:, :, order])


@ROADS
@pytest.mark.parametrize("options", [{"causal": True}, {"causal": True, "softcap": 2.0},
                                     {"mask": mha.masks.causal(N)}, {"window": (None, 0)}], ids=str)
def test_nothing_leaks_from_the_future(options, need_weights):
    assert nothing_leaks(lambda x: attention(x, x, x, need_weights=need_weights, **options)[0], random(N, D_K))


# --- An offset for each sequence -------------------------------------------------------------------------------------

EACH = {
    "causal": {"causal": True}, "window": {"window": (1, 2)}, "window_causal": {"window": (2, 2), "causal": True},
    "left": {"window": (1, None)}, "right": {"window": (None, 1)}, "no_limit": {"window": (None, None)},
    "softcap": {"causal": True, "softcap": 1.3}, "scale": {"causal": True, "scale": -0.7},
}


def each_alone(q, k, v, offset, **options):
    """Sequence after sequence, each with its own number for an offset."""
    rows = [attention(*(t[b] for t in (q, k, v)), offset=int(offset[b]), **options) for b in range(len(q))]
    return torch.stack([out for out, _ in rows]), torch.stack([w for _, w in rows]) if options["need_weights"] else None


@ROADS
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("case", EACH)
def test_a_tensor_of_offsets_is_one_for_each_sequence(case, kv_heads, need_weights):
    q, k, v = random_qkv(heads=4, kv_heads=kv_heads, grad=True)
    offset, options = torch.tensor([4, -2]), {**EACH[case], "need_weights": need_weights}
    found, expected = attention(q, k, v, offset=offset, **options), each_alone(q, k, v, offset, **options)
    close(found, expected)
    d_out = torch.randn_like(found[0])
    close(*(torch.autograd.grad(out, (q, k, v), d_out) for out, _ in (found, expected)))


@ROADS
def test_offsets_join_a_mask_and_a_bias_of_each_head(need_weights):
    q, k, v = random_qkv()
    mask, bias, offset = torch.rand(B, H, N, M) > 0.4, random(B, H, N, M), torch.tensor([3, 0])
    out = attention(q, k, v, mask=mask, bias=bias, causal=True, offset=offset, need_weights=need_weights)[0]
    for b in range(B):
        close(out[b], attention(q[b], k[b], v[b], mask=mask[b], bias=bias[b], causal=True, offset=int(offset[b]))[0])


def test_offsets_have_the_batch_axes_of_q():
    q, k, v = random(2, 3, H, N, D_K), random(2, 3, H, M, D_K), random(2, 3, H, M, D_V)
    offset = torch.arange(6).view(2, 3)
    out, weights = attention(q, k, v, causal=True, offset=offset, need_weights=True)
    close((out[1, 2], weights[1, 2]), attention(q[1, 2], k[1, 2], v[1, 2], causal=True, offset=5, need_weights=True))
    for one in ((q[0, 0], k[0, 0], v[0, 0]), (q[0, 0, 0], k[0, 0, 0], v[0, 0, 0])):
        close(attention(*one, causal=True, offset=torch.tensor(2), need_weights=True),
              attention(*one, causal=True, offset=2, need_weights=True))


@ROADS
def test_dropout_keeps_to_the_offsets_and_leaves_the_mean(need_weights):
    q, k, v, offset = *random_qkv(n=1), torch.tensor([1, 4])
    drawn = torch.stack([attention(q, k, v, causal=True, offset=offset, dropout=0.5, need_weights=need_weights)[0]
                         for _ in range(3000)])
    close(drawn.mean(0), attention(q, k, v, causal=True, offset=offset)[0], 0.2)
    assert drawn.std(0).min() > 0.01


@pytest.mark.parametrize("dynamic", [None, True])
def test_offsets_may_change_without_compiling_again(dynamic):
    (q, k, v), graphs = random_qkv(), []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph
    step = torch.compile(lambda offset: attention(q, k, v, causal=True, offset=offset)[0], fullgraph=True,
                         dynamic=dynamic, backend=backend)
    for numbers in ([0, 1], [6, 2], [-1, 3]):
        close(step(torch.tensor(numbers)), attention(q, k, v, causal=True, offset=torch.tensor(numbers))[0])
    assert len(graphs) == 1


@pytest.mark.parametrize("option", ["scale", "softcap"])
def test_a_scale_or_softcap_may_change_under_a_compiler(option):
    q, k, v = random_qkv()
    step = torch.compile(lambda number: attention(q, k, v, **{option: number})[0], fullgraph=True, backend="eager")
    for number in (0.7, 1.3, 2.5):
        close(step(number), attention(q, k, v, **{option: number})[0])


# --- Queries that may see no key -------------------------------------------------------------------------------------

BLIND = 2
BLINDERS = {
    "mask": lambda: {"mask": see(N, M, lambda i, j: i != BLIND)},
    "mask_per_head": lambda: {"mask": see(N, M, lambda i, j: i != BLIND).expand(B, 6, N, M)},
    "bias": lambda: {"bias": torch.zeros(N, M).masked_fill(see(N, M, lambda i, j: i == BLIND), -math.inf)},
    "both": lambda: {"mask": see(N, M, lambda i, j: i != BLIND or j < 3),
                     "bias": torch.zeros(N, M).masked_fill(see(N, M, lambda i, j: i == BLIND and j < 3), -math.inf)},
}
WAYS = {"fused": {}, "weights": {"need_weights": True}, "softcap": {"softcap": 5.0}, "dropout": {"dropout": 0.3},
        "dropout_weights": {"dropout": 0.3, "need_weights": True}}


@every_pair(dtype=[torch.float64, torch.float32, torch.bfloat16, torch.float16], kv_heads=[6, 2], way=list(WAYS),
            blinder=list(BLINDERS))
def test_a_query_that_sees_nothing_is_zero_with_zero_gradients(blinder, way, kv_heads, dtype):
    q, k, v = random_qkv(heads=6, kv_heads=kv_heads, d_v=D_K, grad=True, dtype=dtype)
    out, weights = attention(q, k, v, **BLINDERS[blinder](), **WAYS[way])
    assert (out[:, :, BLIND] == 0).all()
    assert weights is None or (weights[:, :, BLIND] == 0).all()
    loss = out.float().square().sum() + (0 if weights is None else weights.float().square().sum())
    d_q, d_k, d_v = torch.autograd.grad(loss, (q, k, v))
    assert (d_q[:, :, BLIND] == 0).all() and (d_q[:, :, 0] != 0).any()
    assert d_k.isfinite().all() and d_v.isfinite().all()


@every_pair(content=[math.nan, math.inf], kv_heads=[6, 2], way=list(WAYS), blinder=list(BLINDERS))
@torch.no_grad()
def test_a_query_that_sees_nothing_is_zero_whatever_it_holds(blinder, way, kv_heads, content):
    q, k, v = random_qkv(heads=6, kv_heads=kv_heads, d_v=D_K, dtype=torch.float32)
    q[:, :, BLIND] = content
    out, _ = attention(q, k, v, **BLINDERS[blinder](), **WAYS[way])
    assert (out[:, :, BLIND] == 0).all() and out.isfinite().all()


@ROADS
def test_with_every_key_hidden_all_gradients_are_zero(need_weights):
    q, k, v = random_qkv(grad=True)
    out, _ = attention(q, k, v, mask=torch.zeros(N, M, dtype=torch.bool), need_weights=need_weights)
    assert (out == 0).all()
    assert all((gradient == 0).all() for gradient in torch.autograd.grad(out.sum(), (q, k, v)))


def test_a_learned_bias_gets_its_gradient_and_none_where_nothing_is_seen():
    q, k, v = random_qkv()
    bias = random(1, H, N, 1, grad=True)
    out, _ = attention(q, k, v, bias=bias + random(N, M), mask=see(N, M, lambda i, j: i != BLIND))
    (gradient,) = torch.autograd.grad(out.sum(), bias)
    assert gradient.shape == bias.shape and (gradient[:, :, BLIND] == 0).all() and gradient.isfinite().all()


# --- Gradients -------------------------------------------------------------------------------------------------------

def small_inputs():
    """q, k, v and a bias, small enough to vary each number."""
    return [random(*shape, grad=True) for shape in ((1, 2, 3, 7), (1, 2, 5, 7), (1, 2, 5, 11), (1, 2, 1, 5))]


def differentiable(**options):
    def function(q, k, v, bias):
        return [t for t in attention(q, k, v, bias=bias, **options) if t is not None]
    return function


@ROADS
@pytest.mark.parametrize("options", [{}, {"softcap": 0.9}, {"causal": True, "offset": 1}], ids=str)
def test_gradients_are_those_of_finite_differences(options, need_weights):
    inputs, mask = small_inputs(), torch.rand(1, 2, 3, 5) > 0.4
    mask[0, 1, BLIND] = False
    assert torch.autograd.gradcheck(differentiable(mask=mask, need_weights=need_weights, **options), inputs)


def test_second_derivatives_are_right_where_weights_are_asked_for():
    mask = see(3, 5, lambda i, j: i != BLIND)
    assert torch.autograd.gradgradcheck(differentiable(mask=mask, need_weights=True), small_inputs())


@ROADS
@pytest.mark.parametrize("options", [{}, {"causal": True, "offset": 1}], ids=str)
def test_derivatives_in_forward_mode_are_those_of_torch_func_and_of_finite_differences(options, need_weights):
    inputs, mask = small_inputs(), see(3, 5, lambda i, j: i != BLIND)
    function = differentiable(mask=mask, need_weights=need_weights, **options)
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    inputs, along = tuple(t.detach() for t in inputs), tuple(torch.randn_like(t) for t in inputs)
    with forward_ad.dual_level():
        duals = function(*(forward_ad.make_dual(*pair) for pair in zip(inputs, along)))
        found = [forward_ad.unpack_dual(t).tangent for t in duals]
    close(found, torch.func.jvp(function, inputs, along)[1])


def test_the_weights_alone_can_be_differentiated():
    q, k, v = random_qkv(grad=True)
    _, weights = attention(q, k, v, need_weights=True)
    expected = torch.softmax(q @ k.mT / math.sqrt(D_K), -1)
    close(torch.autograd.grad(weights.square().sum(), q)[0], torch.autograd.grad(expected.square().sum(), q)[0])


def test_one_buffer_equals_the_definition():
    q, k, v = random_qkv()
    mask, bias = torch.rand(N, M) > 0.2, random(N, M)
    mask[:, 0] = True
    ours = attention(q, k, v, mask=mask, bias=bias, scale=0.4, need_weights=True)
    close(ours, definition(q, k, v, mask, bias, scale=0.4))


def test_the_definition_divides_by_the_root_of_d_k_unless_told():
    q, k, v = random_qkv()
    close(definition(q, k, v)[0], F.scaled_dot_product_attention(q, k, v))


@ROADS
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_torch_func_differentiates_and_batches_it(need_weights):
    x, masks = random(H, N, D_K), torch.rand(B, N, N) > 0.3

    def function(x, mask=None):
        return attention(x, x, x, mask=mask, need_weights=need_weights)[0]

    close(torch.func.jacrev(function)(x), torch.autograd.functional.jacobian(function, x))
    batched = torch.vmap(lambda mask: function(x, mask))(masks)
    close(batched, torch.stack([function(x, mask) for mask in masks]))


# --- Dtypes, devices, compilers --------------------------------------------------------------------------------------

TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 3e-2, torch.float16: 4e-3}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("options", [{}, {"need_weights": True}, {"causal": True}, {"softcap": 3.0}], ids=str)
def test_lower_precision_is_close_to_float64(dtype, options):
    exact = [t.to(dtype).double() for t in random_qkv(n=N, m=N, d_v=D_K)]
    out, weights = attention(*(t.to(dtype) for t in exact), **options)
    expected, expected_weights = attention(*exact, **options)
    assert out.dtype == dtype
    close(out.double(), expected, TOLERANCE[dtype])
    if weights is not None:
        assert weights.dtype == dtype
        close(weights.double(), expected_weights, TOLERANCE[dtype])


@pytest.mark.parametrize("options", [{}, {"need_weights": True}, {"softcap": 3.0, "need_weights": True}], ids=str)
def test_autocast_lowers_the_precision_and_accepts_mixed_dtypes(options):
    q, k, v = random_qkv(dtype=torch.float32, grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out, weights = attention(q, k.bfloat16(), v, bias=torch.zeros(N, M), **options)
    assert out.dtype == torch.bfloat16 and (weights is None or weights.dtype == torch.bfloat16)
    close(out.double(), attention(*(t.double() for t in (q, k, v)), **options)[0], 3e-2)
    out.sum().backward()
    assert q.grad.dtype == torch.float32


@ROADS
@pytest.mark.parametrize("kind", ["plain", "causal", "mask"])
def test_one_graph_holds_it_all_under_torch_compile(kind, need_weights):
    options = {"plain": {}, "causal": {"causal": True}, "mask": {"mask": torch.rand(N, N) > 0.5}}[kind]
    q, k, v = random_qkv(n=N, m=N, dtype=torch.float32, grad=True)

    def function(q, k, v):
        return attention(q, k, v, need_weights=need_weights, **options)

    out, weights = torch.compile(function, fullgraph=True, backend="aot_eager")(q, k, v)
    expected, expected_weights = function(q, k, v)
    close(out, expected, 1e-5)
    close(torch.autograd.grad(out.sum(), k), torch.autograd.grad(expected.sum(), k), 1e-5)
    if need_weights:
        close(weights, expected_weights, 1e-5)


@pytest.mark.parametrize("dynamic", [None, True])
def test_a_step_of_decoding_is_compiled_for_any_number_of_keys(dynamic):
    q, k, v = random_qkv(n=1, m=12, d_v=D_K)

    def step(k, v):
        return attention(q, k, v, causal=True, offset=k.shape[-2] - 1)[0]

    compiled = torch.compile(step, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for m in range(2, 13):
        close(compiled(k[:, :, :m], v[:, :, :m]), step(k[:, :, :m], v[:, :, :m]))


@every_pair(need_weights=[False, True], kv_heads=[6, 2, 1], causal=[False, True], masked=[False, True])
def test_it_is_exported_for_any_number_of_tokens(masked, causal, kv_heads, need_weights):
    class Layer(torch.nn.Module):
        def forward(self, q, k, v, mask):
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))  # as they come from a layer
            return attention(q, k, v, mask=mask, causal=causal, need_weights=need_weights)

    def inputs(n):
        mask = mha.masks.padding([n, n - 1], n) if masked else None
        return *(random(B, n, heads, D_K) for heads in (6, kv_heads, kv_heads)), mask

    n = torch.export.Dim("n", max=512)
    dynamic = ({1: n}, {1: n}, {1: n}, {3: n} if masked else None)
    program = torch.export.export(Layer(), inputs(N), dynamic_shapes=dynamic).module()
    for size in (2, 31):
        some = inputs(size)
        close(program(*some), Layer()(*some))


@ROADS
@pytest.mark.parametrize("window", [(3, 0), (None, 1), (2, 5)], ids=str)
def test_a_window_is_exported_for_sequences_that_are_shorter_and_longer_than_it(window, need_weights):
    class Layer(torch.nn.Module):
        def forward(self, q, k, v):
            return attention(q, k, v, window=window, need_weights=need_weights)

    n = torch.export.Dim("n", min=2, max=512)
    some = [random(B, H, N, D_K) for _ in range(3)]
    program = torch.export.export(Layer(), tuple(some), dynamic_shapes=({2: n},) * 3).module()
    for size in (2, 4, 37):
        some = [random(B, H, size, D_K) for _ in range(3)]
        close(program(*some), Layer()(*some))


@needs_compiler
def test_the_compiled_code_gives_the_same_numbers():
    q, k, v = random_qkv(n=N, m=N, dtype=torch.float32)

    def function(q, k, v):
        return attention(q, k, v, causal=True, need_weights=True)

    close(torch.compile(function, fullgraph=True)(q, k, v), function(q, k, v), 1e-5)


@ROADS
def test_meta_tensors_go_through_with_their_gradients(need_weights):
    q, k, v = (t.to("meta").requires_grad_() for t in random_qkv())
    mask = torch.ones(N, M, dtype=torch.bool, device="meta")
    out, weights = attention(q, k, v, mask=mask, need_weights=need_weights)
    out.sum().backward()
    assert out.shape == (B, H, N, D_V) and out.is_meta and k.grad.shape == k.shape


@ROADS
@pytest.mark.parametrize("biased", [False, True])
def test_numbers_are_not_read_where_there_are_none(biased, need_weights):
    """A fake tensor has a shape and a device, and no numbers."""
    with FakeTensorMode():
        q, k, v = random_qkv(m=N, d_v=D_K)
        bias = random(N, N) if biased else None
        out, _ = attention(q, k, v, bias=bias, mask=see(N, N, lambda i, j: True), need_weights=need_weights)
        assert out.shape == attention(q, k, v)[0].shape == q.shape


def test_numbers_are_not_read_while_a_program_is_traced():
    """What is found of one query would hold for all that the program is given later."""
    q, k, v = random_qkv(n=1, d_v=D_K)
    program = make_fx(lambda q: attention(q, k, v, bias=q[..., :M])[0])(q)
    q[0, 0] = math.inf
    assert program(q)[0, 0].isnan().all() and program(q)[0, 1].isfinite().all()


@needs_gpu
@ROADS
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_the_gpu_agrees_with_the_cpu(dtype, need_weights):
    exact = [t.to(dtype).double() for t in random_qkv(n=N, m=N)]
    mask = torch.rand(B, 1, N, N) > 0.4
    device = mha.pick_device()
    out, _ = attention(*(t.to(device, dtype) for t in exact), mask=mask.to(device), need_weights=need_weights)
    close(out.cpu().double(), attention(*exact, mask=mask)[0], TOLERANCE[dtype])


# --- Edges -----------------------------------------------------------------------------------------------------------

@ROADS
@pytest.mark.parametrize("batch,n,m", [(B, N, 0), (B, 0, M), (0, N, M), (B, 0, 0)])
@pytest.mark.parametrize("masked", [False, True])
def test_no_keys_give_zeros_and_no_queries_give_nothing(batch, n, m, masked, need_weights):
    q, k, v = (random(batch, H, rows, D_K, grad=True) for rows in (n, m, m))
    mask = torch.ones(n, m, dtype=torch.bool) if masked else None
    out, weights = attention(q, k, v, mask=mask, need_weights=need_weights)
    out.sum().backward()
    assert out.shape == (batch, H, n, D_K) and (out == 0).all() and (q.grad == 0).all()
    assert not need_weights or weights.shape == (batch, H, n, m)


@ROADS
def test_nan_stays_in_its_own_query_and_spreads_from_a_key(need_weights):
    q, k, v = random_qkv(d_v=D_K)
    q[0, 1, 3] = math.nan
    bad = attention(q, k, v, need_weights=need_weights)[0].isnan()
    assert bad[0, 1, 3].all() and bad.sum() == D_K
    k[1, 2, 0] = math.nan
    bad = attention(q, k, v, need_weights=need_weights)[0].isnan()
    assert bad[1, 2].all() and bad.sum() == D_K + N * D_K


def torch_keeps_rows_apart(q, k, v, i):
    """Whether torch's own products, of q with the keys and of weights with the values, keep NaN to its row here.

    q (B, h, n, d_k) is bad in query i of the first sequence's second head. In bfloat16 on a processor with AMX the
    product carries it into the row before, where the inner size is odd.
    """
    group = q.shape[1] // k.shape[1]
    Q = torch.ones_like(q)
    Q[0, 1, i] = math.nan
    Q = Q.unflatten(1, (k.shape[1], group)).flatten(2, 3)  # as heads that share keys are multiplied
    scores = Q @ torch.ones_like(k).mT
    weights = torch.where(Q.isnan().any(-1, keepdim=True), Q[..., :1], torch.ones_like(scores))
    return all((t.isnan().any(-1) == Q.isnan().any(-1)).all() for t in (scores, weights @ torch.ones_like(v)))


@every_pair(need_weights=[False, True], dtype=[torch.float64, torch.float32, torch.float16, torch.bfloat16],
            m=[5, 15, 16, 31, 40, 64], masked=[False, True], sign=[1, -1], h=[H, 32])
def test_an_infinite_query_is_nan_and_a_large_one_is_not(h, sign, masked, m, dtype, need_weights):
    q, k, v = (t.to(dtype) for t in random_qkv(heads=h, m=m, d_v=D_K))
    q[0, 1, 3], q[0, 1, 4] = math.inf, 0.5 * torch.finfo(dtype).max ** 0.5
    k[0, 1] = sign * k[0, 1].abs()  # all scores of the infinite query are infinite
    mask = torch.ones(N, m, dtype=torch.bool) if masked else None
    bad = attention(q, k, v, mask=mask, need_weights=need_weights)[0].isnan()
    assert bad[0, 1, 3].all() and (bad.sum() == D_K or not torch_keeps_rows_apart(q, k, v, 3))


@every_pair(need_weights=[False, True], dtype=[torch.float64, torch.float32, torch.float16, torch.bfloat16],
            value=[math.nan, math.inf, -math.inf], kv_heads=[1, 2, 6], n=[5, 37])
def test_in_the_triangle_only_a_bad_query_is_nan(n, kv_heads, value, dtype, need_weights):
    """The first ones see a few keys only, so that their scores may all have one sign."""
    for i in (0, 2, n - 1):
        q, k, v = (t.to(dtype) for t in random_qkv(heads=6, kv_heads=kv_heads, n=n, m=n, d_v=D_K))
        q[0, 1, i, 3] = value
        bad = attention(q, k, v, causal=True, need_weights=need_weights)[0].isnan()
        assert bad[0, 1, i].all() and (bad.sum() == D_K or not torch_keeps_rows_apart(q, k, v, i))


def test_the_probe_sees_a_product_that_carries_nan_into_the_row_before(monkeypatch):
    """Here torch may have no such product, so one is put in its place."""
    q, k, v = random_qkv(heads=6, kv_heads=2, d_v=D_K)
    assert torch_keeps_rows_apart(q, k, v, 3)
    product = torch.Tensor.__matmul__

    def carries(a, b):
        out = product(a, b)
        return torch.where(out.isnan().roll(-1, -2), math.nan, out)

    monkeypatch.setattr(torch.Tensor, "__matmul__", carries)
    assert not torch_keeps_rows_apart(q, k, v, 3)


@ROADS
@pytest.mark.parametrize("causal", [False, True], ids=["seen", "hidden"])
def test_nan_in_a_bias_stays_in_its_query_and_where_it_is_hidden_does_nothing(need_weights, causal):
    q, k, v = random_qkv(m=N, d_v=D_K)
    bias = torch.zeros(N, N, dtype=q.dtype)
    bias[1, 2] = math.nan
    bad = attention(q, k, v, bias=bias, causal=causal, need_weights=need_weights)[0].isnan().any(-1)  # (B, h, n)
    assert torch.equal(bad, (torch.arange(N) == 1).expand_as(bad) & (not causal))


def test_a_hidden_key_of_nan_leaves_the_weights_alone():
    q, k, v = random_qkv()
    k[:, :, 2] = math.nan
    seen = see(N, M, lambda i, j: j != 2)
    out, weights = attention(q, k, v, mask=seen, need_weights=True)
    kept = [j for j in range(M) if j != 2]
    close(out, attention(q, k[:, :, kept], v[:, :, kept])[0])
    assert (weights[..., 2] == 0).all()


@ROADS
@pytest.mark.parametrize("hidden", ["mask", "bias"])
def test_a_hidden_key_of_nan_reaches_the_gradients_of_its_own_head_alone(hidden, need_weights):
    """As the docstring warns: 0 times NaN is NaN."""
    q, k, v = random_qkv(d_v=D_K, grad=True)
    with torch.no_grad():
        k[0, 1, 2] = math.nan
    seen = see(N, M, lambda i, j: j != 2)
    options = {"mask": seen} if hidden == "mask" else {"bias": torch.zeros(N, M).masked_fill(~seen, -math.inf)}
    d_q = torch.autograd.grad(attention(q, k, v, need_weights=need_weights, **options)[0].sum(), q)[0]
    assert d_q[0, 1].isnan().all() and d_q.isnan().sum() == N * D_K


@ROADS
@pytest.mark.parametrize("scale", [0.0, -0.5])
@pytest.mark.parametrize("causal", [False, True])
def test_a_scale_may_be_zero_or_less(causal, scale, need_weights):
    q, k, v = random_qkv(m=N, d_v=D_K)
    expected = definition(q, k, v, mha.masks.causal(N) if causal else None, scale=scale)[0]
    close(attention(q, k, v, causal=causal, scale=scale, need_weights=need_weights)[0], expected)


@ROADS
def test_dropout_loses_that_part_of_the_weights_and_scales_up_the_rest(need_weights):
    q, k, v = (torch.zeros(1, 1, 307, 2), torch.zeros(1, 1, 211, 2), torch.ones(1, 1, 211, 3))
    out, weights = attention(q, k, v, dropout=0.3, need_weights=need_weights)
    assert abs(out.mean() - 1) < 0.01 and out.std() > 0.01
    if need_weights:
        assert abs((weights == 0).float().mean() - 0.3) < 0.01
        close(out, weights @ v, 1e-5)


@ROADS
def test_dropout_of_everything_gives_zeros(need_weights):
    q, k, v = random_qkv(grad=True)
    out, _ = attention(q, k, v, dropout=1.0, need_weights=need_weights)
    out.sum().backward()
    assert (out == 0).all() and (q.grad == 0).all()


def test_a_side_of_a_window_that_reaches_every_key_is_no_limit():
    q, k, v = (torch.randn(N, D_K) for _ in range(3))
    far = attention(q, k, v, window=(2, sys.maxsize), need_weights=True)[1]
    close(far, attention(q, k, v, window=(2, None), need_weights=True)[1])
