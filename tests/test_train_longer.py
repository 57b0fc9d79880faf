"""Rotary layers on longer sentences, and ALiBi by position alone: frequencies, bounds, and what is stored."""
import random

import pytest
import torch

from mha.lab.assets import alibi_runs, longer_runs, position_runs
from mha.lab.findings import chapter_10 as findings
from mha.lab.train import TASKS
from mha.lab.train.longer import WAYS, fit_apart, fit_longer, frequencies
from mha.lab.train.positions import PositionLayer, draw
from mha.position import rope, yarn
from tools.make_longer import RUNS, SEEDS

X = torch.linspace(-2, 2, 240, dtype=torch.float64).square().view(3, 5, 16)


def test_the_frequencies_of_training_turn_as_rope_does():
    theta, sharper = frequencies("as trained")
    turned = rope(X, torch.arange(5), interleaved=True, frequencies=theta)
    assert sharper == 1 and torch.equal(turned, rope(X, torch.arange(5), interleaved=True))


def test_four_times_the_positions_at_a_quarter_of_the_frequencies_are_the_old_ones():
    theta, _ = frequencies("all frequencies / 4")
    turned = rope(X, 4 * torch.arange(5), interleaved=True, frequencies=theta)
    assert torch.equal(turned, rope(X, torch.arange(5), interleaved=True))


def test_each_way_keeps_or_slows_the_pairs_that_it_says():
    old = frequencies("as trained")[0]
    share = {way: frequencies(way)[0] / old for way in WAYS}
    assert torch.allclose(share["only slow ones / 4"], torch.tensor([1, 1] + 6 * [0.25]).double())
    ntk = share["NTK-aware base"]
    assert torch.allclose(ntk[[0, -1]], torch.tensor([1, 0.25]).double()) and (ntk.diff() < 0).all()
    yarn, sharper = share["YaRN"], frequencies("YaRN")[1]
    assert (yarn[1:] < 0.26).all() and 0.25 < yarn[0] < 0.33 and sharper == pytest.approx(1.2965, abs=1e-3)
    assert (share["base 500000"].diff() < 0).all()
    with pytest.raises(ValueError, match="got 'faster'"):
        frequencies("faster")


@pytest.mark.parametrize("not_me", [False, True])
@pytest.mark.parametrize("offset", [1, 3])
def test_no_other_reading_of_the_heads_is_below_the_bound(offset, not_me):
    rows, g = findings.alibi_rows(24, not_me), torch.Generator().manual_seed(0)
    wanted = torch.eye(24, dtype=torch.float64).roll(-offset, 1)
    assert torch.allclose(rows.sum(-1), torch.ones(4, 24, dtype=torch.float64))
    for _ in range(100):
        mixed = (torch.randn(4, 1, 1, generator=g).double() * rows).sum(0)
        assert (mixed - wanted)[4:].square().sum() / 20 >= findings.alibi_floor(24, offset, not_me)


def test_trained_layers_with_alibi_are_between_the_two_bounds_on_24_tokens():
    for found, offset in zip(alibi_runs().apart[:, 0].T, (1, 3)):
        assert findings.alibi_floor(24, offset, True) < found.min() and found.mean() < findings.alibi_floor(24, offset)


def test_what_su_et_al_prove_holds_of_any_query_and_key():
    back = torch.arange(300)
    for query, key in torch.randn(20, 2, 1, 32, generator=torch.Generator().manual_seed(1)).double():
        scores = rope(query.expand(300, -1), back) @ key[0]
        assert (scores.abs() <= findings.bound_of_su(query, key, back) + 1e-9).all()


def test_keys_beyond_a_level_are_scored_as_if_they_were_there():
    layer = PositionLayer("offsets", "rotary", 96, 2, seed=0)
    x, *_ = draw("offsets", layer.names, 1, 9, layer.sentences)
    one = x[:, :, :1].expand_as(x)                                              # equal tokens: offsets alone count
    (out, plain), (same, _), (_, level) = (layer.answer(one, level=at) for at in (None, 8, 3))
    last, leveled = plain[..., -1, :].flip(-1), level[..., -1, :].flip(-1)      # by tokens back
    assert torch.allclose(out, same) and torch.allclose(leveled[..., 3:], leveled[..., 3:4].expand(2, 1, 4, 6))
    assert torch.allclose(leveled[..., :4] / leveled[..., :1], last[..., :4] / last[..., :1], rtol=1e-4)


def test_the_layers_are_those_of_the_other_file():
    for task in TASKS:
        at_once, stored = longer_runs(task).at_once[:, 0], position_runs(task, "rotary").errors[:, 2]
        assert ((at_once - stored).abs() < 0.06 + 0.25 * stored).all()          # other sentences, the same layers
    assert (alibi_runs().apart.mean(-1) - position_runs("offsets", "ALiBi").errors[:, ::2]).abs().max() < 0.05


def test_one_stored_task_and_seed_drawn_at_random_comes_out_again():
    task, seed = random.choice(TASKS), random.choice(SEEDS)
    found, _ = fit_longer(task, runs=RUNS, seed=seed, after=0)
    old = longer_runs(task).at_once[SEEDS.index(seed) * RUNS:][:RUNS]
    assert ((found.mean(0) - old.mean(0)).abs() < 0.03 + 0.2 * old.mean(0)).all(), (task, seed, found, old)


def test_one_stored_seed_with_alibi_drawn_at_random_comes_out_again():
    seed, stored = random.choice(SEEDS), alibi_runs()
    its = slice(SEEDS.index(seed) * RUNS, (SEEDS.index(seed) + 1) * RUNS)
    found = fit_apart(runs=RUNS, seed=seed)
    assert (found.apart.mean(0) - stored.apart[its].mean(0)).abs().max() < 0.04
    assert (found.looks.mean(0) - stored.looks[its].mean(0)).abs().max() < 0.05


def test_what_is_not_stored_is_said():
    with pytest.raises(ValueError, match="got 'far'"):
        longer_runs("far")


def test_yarn_of_its_code_keeps_the_fastest_pair_that_the_paper_s_formula_slows():
    old, code = frequencies("as trained")[0], yarn(16, factor=4.0, length=24)
    assert torch.allclose(old / code, torch.tensor([1, 1.6] + 6 * [4.0]).double())
