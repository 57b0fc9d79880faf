"""Attention to parts of the keys, joined: the whole, in any order, with masks, blind rows, large scores, gradients."""
import itertools
import math

import pytest
import torch

from mha import attention, masks, merge
from mha.position import alibi_bias
from support import close, every_pair, needs_compiler

B, H, KV, N, M, D_K, D_V = 2, 6, 3, 5, 11, 7, 13
CUTS = [0, 2, 2, 3, M]                                    # four parts: one of no keys, one of a single one


def random_qkv(kv_heads=KV, dtype=torch.float64, size=1.0, grad=False):
    made = (size * torch.randn(B, H, N, D_K), torch.randn(B, kv_heads, M, D_K), torch.randn(B, kv_heads, M, D_V))
    return [t.to(dtype).requires_grad_(grad) for t in made]


def part(t, begin, end):
    """The keys of one part in a mask or bias, whose last axis may be 1 for all."""
    return t if t is None or t.shape[-1] == 1 else t[..., begin:end]


def in_parts(q, k, v, mask=None, bias=None, cuts=CUTS, order=None, **options):
    pairs = list(itertools.pairwise(cuts))
    got = [attention(q, k[..., i:j, :], v[..., i:j, :], mask=part(mask, i, j), bias=part(bias, i, j), need_lse=True,
                     **options) for i, j in (pairs if order is None else [pairs[o] for o in order])]
    return merge([out for out, _, _ in got], [lse for *_, lse in got])


def by_formula(q, k, v, mask=None, bias=None, scale=None, softcap=None):
    """Output and log-sum-exp, straight from the definition, each key head repeated."""
    k, v = (t.repeat_interleave(H // t.shape[1], 1) for t in (k, v))
    scores = q @ k.mT * (scale if scale is not None else D_K ** -0.5)
    scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
    scores = scores if bias is None else scores + bias
    scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, -1).nan_to_num(0.0) @ v, torch.logsumexp(scores, -1)


MASKS = {"none": lambda: None, "rows": lambda: torch.rand(N, M) > 0.4, "each": lambda: torch.rand(B, H, N, M) > 0.4,
         "padding": lambda: masks.padding([3, M], M), "blind": lambda: masks.causal(N, M, offset=-2)}
BIASES = {"none": lambda: None, "each": lambda: torch.randn(B, H, N, M).double(),
          "keys": lambda: 30 * torch.randn(1, M).double(),
          "alibi": lambda: alibi_bias(H, N, M, offset=M - N)[None].double(),
          "far": lambda: torch.full((N, 1), -1e9).double(),
          "hides": lambda: torch.randn(N, M).double().masked_fill(torch.rand(N, M) > 0.6, -math.inf)}
OPTIONS = {"none": {}, "scale": {"scale": -0.3}, "softcap": {"softcap": 2.0}}


@every_pair(mask=[*MASKS], bias=[*BIASES], options=[*OPTIONS], kv_heads=[1, KV, H])
def test_the_parts_joined_are_the_whole(mask, bias, options, kv_heads):
    tolerance = 1e-6 if bias == "far" else 1e-12               # float64 numbers near 1e9 are 1e-7 apart
    mask, bias, options = MASKS[mask](), BIASES[bias](), OPTIONS[options]
    q, k, v = random_qkv(kv_heads)
    wanted, wanted_lse = by_formula(q, k, v, mask, bias, **options)
    out, weights, lse = attention(q, k, v, mask=mask, bias=bias, need_lse=True, **options)
    assert weights is None
    close(lse, wanted_lse)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        joined, joined_lse = in_parts(q, k, v, mask, bias, order=order, **options)
        close(joined, wanted, tolerance)
        close(joined_lse, wanted_lse)
    close(out, wanted, tolerance)


def test_parts_of_parts_are_joined_as_well():
    q, k, v = random_qkv()
    got = [attention(q, k[:, :, i:i + 1], v[:, :, i:i + 1], need_lse=True) for i in range(M)]
    outs, lses = [out for out, _, _ in got], [lse for *_, lse in got]
    halves = [merge(outs[:4], lses[:4]), merge(torch.stack(outs[4:]), torch.stack(lses[4:]))]
    close(merge(*zip(*halves)), by_formula(q, k, v))


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_scores_of_a_thousand_and_of_a_thousandth(size):
    q, k, v = random_qkv(size=size * D_K ** 0.5)
    close(in_parts(q, k, v), by_formula(q, k, v), 1e-10)
    exact = by_formula(q, k, v)[0]
    joined = in_parts(q.float(), k.float(), v.float())[0]
    close(joined.double(), exact, 1e-5 if size < 1 else 1e-3)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 5e-2), (torch.float16, 5e-3)])
def test_in_lower_precision_the_lse_is_float32(dtype, tolerance):
    q, k, v = random_qkv(dtype=dtype)
    out, lse = in_parts(q, k, v)
    assert out.dtype == dtype and lse.dtype == torch.float32
    wanted = by_formula(q.double(), k.double(), v.double())
    close(out.double(), wanted[0], tolerance)
    close(lse.double(), wanted[1], tolerance)


@pytest.mark.parametrize("mask", ["none", "each", "blind"])
def test_gradients_go_through_outputs_and_lses(mask):
    mask = MASKS[mask]()
    given = random_qkv(grad=True)
    bias = torch.randn(1, H, N, M, dtype=torch.float64, requires_grad=True)
    pull, pull_lse = torch.randn(B, H, N, D_V).double(), torch.randn(B, H, N).double()
    seen = torch.ones(N, M).bool() if mask is None else mask
    pull_lse = pull_lse * seen.any(-1)                                  # of minus infinity there is no gradient

    def gradients(out, lse):
        return torch.autograd.grad((out * pull).sum() + (lse.masked_fill(lse == -math.inf, 0.0) * pull_lse).sum(),
                                   [*given, bias])

    q, k, v = given
    opened = seen | ~seen.any(-1, keepdim=True)
    wanted_out, wanted_lse = by_formula(q, k, v, opened, bias)
    blind = ~seen.any(-1)
    wanted = gradients(wanted_out.masked_fill(blind[..., None], 0.0), wanted_lse.masked_fill(blind, -math.inf))
    close(gradients(*in_parts(q, k, v, mask, bias)), wanted, 1e-10)
    whole, _, lse = attention(q, k, v, mask=mask, bias=bias, need_lse=True)
    close(gradients(whole, lse), wanted, 1e-10)


def test_nothing_leaks_from_a_hidden_key_into_the_lse():
    q, k, v = random_qkv(grad=True)
    *_, lse = attention(q, k, v, causal=True, offset=0, need_lse=True)
    (pulled,) = torch.autograd.grad(lse.sum(), k)
    assert (pulled[:, :, N:] == 0).all() and (pulled[:, :, :N].abs().sum(-1) > 0).all()


def test_a_ring_of_causal_blocks_is_the_triangle():
    n, blocks = 12, [slice(i, i + 3) for i in range(0, 12, 3)]
    q, k, v = (torch.randn(B, H, n, 4).double() for _ in range(3))
    for at, block in enumerate(blocks):
        got = [attention(q[:, :, block], k[:, :, one], v[:, :, one], causal=True, need_lse=True,
                         offset=block.start - one.start) for one in blocks]
        close(merge(*zip(*((out, lse) for out, _, lse in got)))[0], attention(q, k, v, causal=True)[0][:, :, block])
        assert all((lse == -math.inf).all() for _, _, lse in got[at + 1:])


@pytest.mark.parametrize("lead", [(), (H,), (2, 3, H)])
def test_any_axes_in_front(lead):
    q, k, v = (torch.randn(*lead, size, 4).double() for size in (N, M, M))
    out, weights, lse = attention(q, k, v, need_lse=True, need_weights=True)
    assert lse.shape == (*lead, N) and weights.shape == (*lead, N, M)
    close(lse, torch.logsumexp(q @ k.mT / 2, -1))
    close(merge([out], [lse]), (out, lse))


def test_where_no_part_is_seen_the_output_is_zero_and_the_lse_minus_infinity():
    q, k, v = random_qkv(grad=True)
    out, lse = in_parts(q, k, v, torch.zeros(N, M).bool())
    assert (out == 0).all() and (lse == -math.inf).all()
    assert all((t == 0).all() for t in torch.autograd.grad(out.sum(), (q, k, v)))


@needs_compiler
def test_the_compiled_parts_give_the_same():
    q, k, v = random_qkv(dtype=torch.float32)
    compiled = torch.compile(in_parts, fullgraph=True, backend="aot_eager")
    close(compiled(q, k, v), in_parts(q, k, v), 1e-5)


OUT, LSE = torch.zeros(B, H, N, D_V), torch.zeros(B, H, N)
WRONG = {
    "tensor_of_one": (lambda: merge(OUT, LSE[0]), ValueError, r"lses must be \(2, 6, 5\)"),
    "pairs": (lambda: merge([(OUT, LSE)], [LSE]), TypeError, r"outs\[0\] is a tuple; .*need_lse=True.*two lists"),
    "triples": (lambda: merge([(OUT, None, LSE)], None), TypeError, r"outs\[0\] is a tuple; .*mha.merge\(outs, lses\)"),
    "none": (lambda: merge([], []), ValueError, "outs is empty; there must be one part at least"),
    "number": (lambda: merge([OUT], 3), TypeError, "lses is a int"),
    "queries": (lambda: merge([OUT, OUT[:, :, 1:]], [LSE, LSE]), ValueError, "all parts answer the same queries"),
    "fewer": (lambda: merge([OUT, OUT], [LSE]), ValueError, r"lses \(1, 2, 6, 5\), each with the parts first"),
    "whole": (lambda: merge([OUT.long()], [LSE]), TypeError, r"outs\[0\] is torch.int64"),
    "dropout": (lambda: attention(OUT, OUT, OUT, need_lse=True, dropout=0.1), ValueError, "need_lse=True beside dropo"),
    "word": (lambda: attention(OUT, OUT, OUT, need_lse="yes"), TypeError, "need_lse is 'yes'"),
    "flash": (lambda: attention(OUT, OUT, OUT, return_lse=True), TypeError, "need_lse=True.* mha.merge"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_parts_meet_a_sentence(wrong):
    call, kind, said = WRONG[wrong]
    with pytest.raises(kind, match=said):
        call()
