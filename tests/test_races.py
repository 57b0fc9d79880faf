"""The races of the chapters: layers of like sizes, counts that are formulas. No test looks at a clock."""
import pytest
import torch

from mha.lab import races


def test_the_race_is_between_layers_of_about_one_size():
    text = races.race(lengths=(4, 8), device=torch.device("cpu"))
    lstm, head = (int(n.replace(",", "")) for n in text.splitlines()[1].split()[:3:2])
    assert abs(lstm - head) < 0.1 * lstm
    assert [line.split()[0] for line in text.splitlines()[3:]] == ["4", "8"]


@pytest.mark.parametrize("n,d", [(3, 7), (11, 5)])
def test_what_is_multiplied_goes_with_n_times_d_squared_and_the_head_s_scores_with_n_squared(n, d):
    assert races.multiplications("RNN", n, d) == 2 * n * d * d
    assert races.multiplications("LSTM", n, d) == 8 * n * d * d
    assert races.multiplications("head", n, d) == 4 * n * d * d + 2 * n * n * d


def test_layers_that_keep_less_are_listed_with_what_they_keep():
    text = races.race_kept(kept=(5, 11), d_model=24, num_heads=4, batch=3, device=torch.device("cpu"))
    rows = [line.split() for line in text.splitlines()[2:]]
    assert [int(row[0]) for row in rows] == [5] * 4 + [11] * 4
    left = [int(row[-4]) for row in rows]
    assert left == 2 * [2 * 4 * 6, 2 * 2 * 6, 2 * 6, 64 + 32]  # h_kv (d_k + d_v), or d_c + d_r


def test_a_step_of_the_race_leaves_the_kept_tokens_as_they_were():
    layer = races.MultiHeadAttention(12, 3, causal=True)
    cache, token = layer.new_cache(1, 6), torch.randn(1, 1, 12)
    with torch.no_grad():
        layer(torch.randn(1, 5, 12), cache=cache)
        kept, step = cache.K[:, :, :5].clone(), races.next_token(layer, cache, 5)
        assert torch.equal(step(token)[0], step(token)[0]) and torch.equal(cache.K[:, :, :5], kept)
