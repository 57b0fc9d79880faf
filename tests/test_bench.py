"""The benchmark compares the same function, and holds no more memory than it says. No test looks at a clock."""
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from mha import KVCache, MultiHeadAttention
from mha.lab import bench

SMALL = [case for case in bench.cases(quick=True) if case.dtype == torch.float32]


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_every_way_computes_the_same(case):
    layer = bench.layer_of(case)
    x = torch.randn(case.batch, case.n, 512)
    found = bench.ways(layer, case)
    with torch.no_grad():
        out, weights = found.pop("mha")(x)
        others = [way(x) for way in found.values()]
    assert len(others) >= 2
    for other, other_weights in others:
        torch.testing.assert_close(other, out, rtol=1e-4, atol=1e-5)
        if case.weights:
            torch.testing.assert_close(other_weights, weights, rtol=1e-4, atol=1e-5)


def test_a_step_that_is_timed_clears_no_cache(monkeypatch):
    layer = MultiHeadAttention(8, 2, causal=True)
    step = bench.decoding(layer, bench.Case(batch=3, n=1, causal=True, kept=5))["mha"]
    monkeypatch.setattr(KVCache, "crop", None)
    with torch.no_grad():
        first, second = (step(x)[0] for x in 2 * [torch.randn(3, 1, 8)])
    assert torch.equal(first, second)


def test_a_row_names_every_way_with_its_ratio():
    case = SMALL[0]
    text = bench.row(case, bench.measure(case, torch.device("cpu"), rounds=1), rate=1e9)
    assert text.splitlines()[0] == str(case) and text.count(" MiB") == 6 and "1.00 x" in text


def test_with_weights_one_buffer_of_scores_is_allocated():
    """Forward holds the scores once: (h, n, n) floats beside the smaller tensors; the textbook holds them twice."""
    case = bench.Case(1, 512, weights=True)
    layer = bench.MultiHeadAttention(512, 8).eval()
    x, found = torch.randn(1, 512, 512), bench.ways(layer, case)
    scores, tokens = 4 * 8 * 512 * 512, 4 * 512 * 512
    assert bench.peak_bytes(found["mha"], x, case) < scores + 8 * tokens
    assert bench.peak_bytes(found["textbook"], x, case) > 2 * scores


def test_of_absorbed_latents_the_kernel_counts_the_turned_part_of_values_too():
    """They are one tensor with the keys, so what is needed is less by d_r numbers for each pair and head."""
    case = bench.Case(3, 1, causal=True, kept=11, latent=True)
    layer = bench.layer_of(case).double()
    layer.absorbed, cache = True, layer.new_cache(3, 12)
    with torch.no_grad():
        layer(torch.randn(3, 11, 512, dtype=torch.float64), cache=cache)
        with FlopCounterMode(display=False) as seen:
            layer(torch.randn(3, 1, 512, dtype=torch.float64), cache=cache, need_weights=True)
    assert bench.needed(case) == seen.get_total_flops() / 2 - 3 * 12 * 8 * layer.d_r


def test_what_is_needed_is_what_torch_counts():
    """Forward and not causal, torch's own counter of products sees the same; it counts an addition for each."""
    for case in (bench.Case(2, 7), bench.Case(3, 1, causal=True, kept=11, num_kv_heads=2)):
        layer = bench.MultiHeadAttention(512, 8, num_kv_heads=case.num_kv_heads, causal=case.causal).double()
        cache = layer.new_cache(case.batch, 12) if case.kept else None
        with torch.no_grad():
            if cache:
                layer(torch.randn(case.batch, case.kept, 512, dtype=torch.float64), cache=cache)
            with FlopCounterMode(display=False) as seen:
                layer(torch.randn(case.batch, case.n, 512, dtype=torch.float64), cache=cache, need_weights=True)
        assert bench.needed(case) == seen.get_total_flops() / 2
