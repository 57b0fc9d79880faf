"""Trainings: many runs at once are many runs, bounds that are proved hold, and bad input is named."""
import math
import random

import pytest
import torch

from mha.lab import train
from mha.lab.assets import RELATIONS, trained_heads, trained_samples
from mha.lab.data import FieldTask, KeyTask
from mha.lab.train import fit_heads, fit_pattern, layers, single
from tools import make_trained_heads

LN2, LN3 = math.log(2), math.log(3)
OTHER = 100  # a seed: the chapters hold the same bounds at 0


def quadratic(start, target):
    """R runs of a small problem: parameters (R, 3) that should reach target (R, 3)."""
    W = start.clone().requires_grad_()
    history = train.fit([W], lambda: (W - target).square().sum(-1), steps=40, rate=0.1)
    return W.detach(), history


def test_runs_at_once_are_the_runs_one_by_one():
    start, target = torch.randn(2, 5, 3, dtype=torch.float64)
    together, history = quadratic(start, target)
    alone = torch.cat([quadratic(start[r : r + 1], target[r : r + 1])[0] for r in range(5)])
    assert torch.equal(together, alone)
    assert history.shape == (40, 5) and (history[-1] < history[0]).all()


def test_a_loss_that_mixes_the_runs_is_refused():
    W = torch.randn(5, 3, requires_grad=True)
    with pytest.raises(ValueError, match=r"one number for each of the 5 runs, got shape \(\)"):
        train.fit([W], lambda: W.square().sum(), steps=1)


def test_the_threads_are_as_before_even_after_an_error():
    before, W = torch.get_num_threads(), torch.randn(2, 3, requires_grad=True)
    torch.set_num_threads(2)
    try:
        with pytest.raises(ValueError):
            train.fit([W], lambda: W.sum(), steps=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_rate_is_constant_without_warm_up():
    W = torch.zeros(1, 1, requires_grad=True)
    train.fit([W], lambda: W[:, 0], steps=7, rate=0.5, warm_up=0)
    # Adam's step is its rate where the gradient never changes
    torch.testing.assert_close(W.detach(), torch.full((1, 1), -3.5))


def test_a_seed_gives_the_same_errors_again_and_another_seed_does_not():
    first, again, other = (train.fit_lookup(4, steps=20, runs=2, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize("d_k", [4, 16, 64])
def test_the_scale_is_a_smaller_start_and_a_smaller_step(d_k):
    scaled = train.fit_lookup(d_k, steps=100, runs=3, seed=1)
    small = d_k**-0.25
    torch.testing.assert_close(scaled, train.fit_lookup(d_k, steps=100, runs=3, seed=1, scale=1.0, start=small,
                                                        rate=0.01 * small), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(scaled, train.fit_lookup(d_k, steps=100, runs=3, seed=1, scale=1.0, start=small),
                              rtol=1e-3)


def test_division_by_the_width_ends_lowest_through_the_mixture_and_no_division_on_the_weights():
    for tokens in (None, 64):
        none, root, full = (train.fit_lookup(64, scale=64**-power, tokens=tokens, seed=OTHER) for power in (0, 0.5, 1))
        assert full.max() < 0.03 and root.max() < 0.2 and none.min() > 0.3 and full.mean() < root.mean()
    none, root, full = (train.fit_lookup(64, scale=64**-power, tokens=64, loss="weights", rate=0.001, seed=OTHER)
                        for power in (0, 0.5, 1))
    assert none.max() < root.min() and root.max() < full.min()


def test_a_head_of_matrices_has_the_scale_in_its_start_and_its_step_too():
    scaled = train.fit_lookup(16, steps=30, runs=3, tokens=8)
    again = train.fit_lookup(16, steps=30, runs=3, tokens=8, scale=1.0, start=0.5, rate=0.01 / 2)
    torch.testing.assert_close(scaled, again, rtol=1e-3, atol=1e-4)


def test_the_start_may_differ_for_queries_and_keys():
    both, pair, queries = (train.fit_lookup(16, steps=30, runs=3, tokens=8, start=start)
                           for start in (0.5, (0.5, 0.5), (0.25, 1.0)))
    assert torch.equal(both, pair) and not torch.allclose(both, queries)


def test_a_loss_that_there_is_not_is_named():
    with pytest.raises(ValueError, match="loss must be one of 'mixture', 'weights', got 'scores'"):
        train.fit_lookup(4, loss="scores")


def test_head_and_LSTM_of_about_one_size_learn_to_name_the_first_of_few_symbols():
    sizes = {layer: sum(p.numel() for p in single._Recaller(layer).layer.parameters()) for layer in ("head", "LSTM")}
    assert sizes == {"head": 4224, "LSTM": 4928}
    for layer in sizes:
        needed = train.fit_recall(layer, 3, runs=2, steps=400)
        assert needed.shape == (2,) and (5 < needed).all() and needed.isfinite().all()


def test_a_layer_that_had_no_time_has_not_learned_and_the_callers_random_numbers_stay():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    assert train.fit_recall("head", 7, runs=2, steps=4).isinf().all()
    assert torch.equal(torch.rand(3), expected)


def test_a_symmetric_score_ends_on_its_bound_around_a_cycle():
    for task in ("circle of 3", "circle of 7", "circle of 3 under a causal mask"):
        loss = train.fit_pointers(task, "one symmetric form", seed=OTHER, runs=4)
        assert (loss > LN2 - 1e-4).all() and (loss < LN2 + 0.01).all()
    with_self = train.fit_pointers("circle of 3", "one matrix", exclude_self=False, seed=OTHER, runs=4)
    assert (with_self > LN3 - 1e-4).all() and (with_self < LN3 + 0.01).all()


def test_two_matrices_solve_a_cycle_and_one_form_a_line():
    for task in ("circle of 3", "circle of 3 under a causal mask"):
        assert (train.fit_pointers(task, "two matrices", runs=4) < 0.05).all()
    assert (train.fit_pointers("line of 7", "one symmetric form", runs=4) < 0.05).all()
    turned = train.fit_pointers("circle of 3 under a causal mask", "one symmetric form", rotary=True, runs=4)
    assert (turned < 0.05).all()                          # where 0.693 is the bound without


def test_carrying_the_inputs_fails_only_where_they_must_be_turned():
    assert (train.fit_carrier("the inputs", runs=3) < 0.01).all()
    turned = train.fit_carrier("the inputs", turned=True, runs=3)
    assert (turned > 1).all()
    values, after = (train.fit_carrier(way, turned=True, runs=3) for way in ("W_V", "the inputs, then W_O"))
    assert (values < 0.05).all() and torch.allclose(values, after)


def test_two_heads_need_maps_that_differ_and_these_need_not_be_learned():
    two = dict(heads=2, places=2, steps=800, runs=3, seed=OTHER)
    shared, fixed = (train.fit_carrier(way, **two) for way in ("the inputs, then W_O", "fixed maps, then W_O"))
    assert (shared > 0.4).all() and (shared < 0.6).all() and (fixed < 0.05).all()


@pytest.mark.parametrize("call,message", [
    (lambda: train.fit_pointers("a square", "two matrices"), "task must be one of 'circle of 3', .*got 'a square'"),
    (lambda: train.fit_pointers("line of 7", "three"), "score must be one of 'two matrices', .*got 'three'"),
    (lambda: train.fit_recall("GRU", 5), "must be 'head' or 'LSTM', and n at least 2; got 'GRU' and 5"),
    (lambda: train.fit_recall("head", 1), "n at least 2; got 'head' and 1"),
    (lambda: train.fit_carrier("nothing"), "carries must be one of 'the inputs', .*got 'nothing'"),
    (lambda: train.fit_carrier("the inputs", places=2), "one content of 4 numbers, and 2 places are wanted"),
    (lambda: KeyTask(1, 9, n=8), "9 related tokens do not fit into a sentence of n=8"),
    (lambda: FieldTask(1, 9, n=8), "9 related tokens do not fit into a sentence of n=8"),
    (lambda: FieldTask(1, 2, names=1), "names must be at least 2, .* got 1"),
    (lambda: KeyTask(1, 2, names=8, n=9), "n=9 tokens need different names, and there are 8"),
])
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- Heads on relations (chapter 7) ---------------------------------------------------------------------------------

def test_heads_end_on_the_floor_and_say_whom_they_look_at():
    error, shares = fit_heads(1, 2, runs=3, steps=300)
    assert error.shape == (3,) and shares.shape == (3, 1, 2) and (error > 0.45).all() and (error < 0.6).all()
    assert (shares.sum(-1) <= 1 + 1e-5).all()


def test_one_stored_cell_drawn_at_random_comes_out_again():
    """The errors are those of another machine's arithmetic, so they agree in their middle, not to the digit."""
    name, setting = random.choice([cell for cell in make_trained_heads.cells() if cell[1]["h"] <= 8
                                   and "steps" not in cell[1]])
    which = random.choice(make_trained_heads.SEEDS)
    error, _ = fit_heads(runs=8, seed=which, **setting)
    stored, shares = trained_heads(setting["r"], setting["h"], setting.get("d_k"), d_v=setting.get("d_v"))
    assert shares.shape == (24, setting["h"], setting["r"])
    stored = stored.view(3, 8)[which]
    assert abs(error.median() - stored.median()) < 0.02 + 0.1 * stored.median(), name


def test_every_cell_is_stored_in_the_shape_of_its_heads_and_relations():
    for name, setting in make_trained_heads.cells():
        error, shares = trained_heads(setting["r"], setting["h"], setting.get("d_k"), long="steps" in setting,
                                      d_v=setting.get("d_v"))
        assert error.shape == (24,) and shares.shape == (24, setting["h"], setting["r"]), name
    with pytest.raises(ValueError, match=r"d_k=None, d_v=None, long=True; .* long are \(\(4, 4, None\)"):
        trained_heads(2, 2, long=True)


def test_single_sentences_are_stored_beside_their_mean():
    _, shares, weights = fit_heads(4, 4, runs=2, steps=60, batch=16, samples=3)
    assert weights.shape == (2, 3, 4, 16) and torch.allclose(weights.sum(-1), torch.ones(2, 3, 4), atol=1e-4)
    for r in RELATIONS:
        samples = trained_samples(r, r)  # a head for each relation: the single sentences show what the mean says
        mean = trained_heads(r, r)[1][:8]
        assert samples.shape == (8, 4, r, 16) and (samples[..., :r].mean(1) - mean).abs().mean() < 0.1
    with pytest.raises(ValueError, match=r"nothing is stored for r=3, h=4"):
        trained_samples(3, 4)


def test_what_heads_cannot_be_asked_for_is_said():
    with pytest.raises(ValueError, match="h must divide 64, got 5"):
        fit_heads(5, 2)
    with pytest.raises(ValueError, match=r"nothing is stored for r=3, h=4"):
        trained_heads(3, 4)
    with pytest.raises(ValueError, match="rows that sum to 1"):
        fit_pattern(torch.ones(3, 3), 2)


def test_one_number_reaches_two_tokens_and_two_numbers_reach_all():
    order = torch.tensor([2, 0, 3, 5, 1, 4])
    right = [(fit_pattern(torch.eye(6)[order], d_k, runs=3).argmax(-1) == order).sum(-1).tolist() for d_k in (1, 2)]
    assert right == [[2, 2, 2], [6, 6, 6]]


# --- Cut open, without W_O, in two layers (chapter 7) -----------------------------------------------------------------

def test_heads_are_switched_off_from_the_cheapest_on():
    costs = torch.rand(3, 5, dtype=torch.float64) + 0.1
    left, without = layers.prune(lambda on: ((1 - on) * costs).sum(-1), 3, 5)
    torch.testing.assert_close(without, costs)
    expected = torch.cat([torch.zeros(3, 1), costs.sort(-1).values.cumsum(-1)], -1).flip(-1)
    torch.testing.assert_close(left, expected.to(left))


def test_a_pruned_layer_knows_nothing_without_heads_and_stays_above_the_floor():
    left, without = train.prune_heads(4, 2, runs=3, steps=300)
    assert left.shape == (3, 5) and without.shape == (3, 4)
    assert torch.equal(left[:, 3], without.amin(-1)) and (left[:, 4] < 0.3).all()
    assert ((left[:, 0] - 1).abs() < 0.1).all() and (left[:, 1] > 0.45).all()


def test_the_mixed_target_is_turned_and_a_mixture_of_its_contents_explains_a_quarter():
    M, weights = layers.mixing(), torch.rand(7, 4) + 0.01
    torch.testing.assert_close(M @ M.T, torch.eye(16))
    for w in weights:
        # (4, 16), the four numbers that a head brings back for these weights
        basis = torch.kron(w / w.norm(), torch.eye(4))
        torch.testing.assert_close((basis @ M).square().sum(0), torch.full((16,), 0.25))


@pytest.mark.parametrize("calls,parameters", [
    ([lambda: train.fit_output("mixed", W_O=True, runs=2), lambda: train.fit_output("blocks", W_O=False, runs=2)],
     5632),
    ([lambda: train.fit_layers(1, 1, runs=2), lambda: train.fit_layers(1, 2, runs=2),
      lambda: train.fit_layers(2, 1, runs=2)], 3328),
])
def test_what_is_compared_has_equally_many_parameters(calls, parameters, monkeypatch):
    counts = []
    monkeypatch.setattr(layers, "fit", lambda leaves, *_, **settings: counts.append(sum(W[0].numel() for W in leaves)))
    for call in calls:
        call()
    assert counts == [parameters] * len(calls)


def test_blocks_need_no_W_O_and_a_mixture_does():
    blocks, mixed, joined = (train.fit_output(target, W_O=W_O, runs=3, steps=400)
                             for target, W_O in [("blocks", False), ("mixed", False), ("mixed", True)])
    assert (blocks < 0.05).all() and (mixed > 0.7).all() and joined.median() < 0.4


def test_a_second_layer_asks_with_what_the_first_one_found(monkeypatch):
    asked, attend = [], layers.attend

    def listening(asking, x, *rest):
        asked.append((asking, x))
        return attend(asking, x, *rest)

    monkeypatch.setattr(layers, "attend", listening)
    train.fit_layers(2, 1, runs=2, steps=1)
    (first, sentence), (second, again) = asked[:2]
    assert torch.equal(sentence, again) and (first != second).all(-1).all()


def test_one_layer_of_one_head_stays_on_the_floor_and_two_do_not():
    (one, _), (two, shares) = train.fit_layers(1, 1, runs=3, steps=400), train.fit_layers(2, 1, runs=3, steps=400)
    assert (one > 0.45).all() and (two < 0.2).all() and shares.shape == (3, 2, 2)


def test_two_layers_of_one_head_stay_on_the_floor_of_two_mixtures_for_three_relations():
    error, shares = train.fit_layers(2, 1, relations=3, runs=2, steps=400)
    assert (error > 1 / 3 - 0.03).all() and (error < 0.5).all() and shares.shape == (2, 2, 3)


@pytest.mark.parametrize("call,message", [
    (lambda: train.prune_heads(5, 2), "h must divide 32, got 5"),
    (lambda: train.fit_output("all", W_O=True), "target must be one of 'blocks', 'mixed', got 'all'"),
    (lambda: train.fit_layers(5, 1), r"layers \* heads must divide 24, got 5 \* 1"),
])
def test_what_cannot_be_cut_open_or_stacked_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
