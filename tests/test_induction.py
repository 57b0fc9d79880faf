"""Induction: the scores of hand-made maps are exact, the model cannot see ahead, and the stored runs are what the code
makes.
"""
import math

import pytest
import torch

from mha import record
from mha.lab.assets import KINDS, induction_runs, path_runs
from mha.lab.induction import (
    Repeats, TokenModel, evaluate, fit_induction, prefix_matching, previous_token, sinusoids, smear,
    without_each_head, without_paths,
)
from support import needs_cuda
from tools import make_induction, make_paths


def model(layers=2, **options):
    """A small model with random weights and sizes that are different primes; its positions and heads matter."""
    return TokenModel(layers, **{"V": 11, "n": 17, "d_model": 6, "num_heads": 3} | options).double()


# --- The data -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("period", [5, 7, "random"])
def test_every_token_repeats_the_one_a_period_before(period, some):
    tokens, periods = Repeats(V=13, n=23, period=period, shortest=3, seed=some.randrange(1000)).draw(101)
    i = torch.arange(23) - periods[:, None]
    assert tokens.shape == (101, 23) and torch.equal(tokens.gather(1, i.clamp(min=0))[i >= 0], tokens[i >= 0])
    assert set(periods.tolist()) == ({period} if period != "random" else set(range(3, 12)))


def test_a_pattern_is_not_a_repetition_itself():
    tokens, _ = Repeats(V=13, n=23, period=11, seed=2).draw(1009)
    same = (tokens[:, :11, None] == tokens[:, None, :11]).double().mean(0)  # (11, 11), how often two places agree
    assert (same[~torch.eye(11, dtype=torch.bool)] - 1 / 13).abs().max() < 0.06


def test_a_seed_draws_the_same_sequences_again_and_another_does_not():
    first, again, other = (Repeats(seed=seed).draw(3)[0] for seed in (5, 5, 6))
    assert torch.equal(first, again) and not torch.equal(first, other)


# --- The scores -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("period", [2, 5, 11])
def test_a_perfect_induction_head_scores_one_and_its_neighbours_nothing(period):
    n = 17
    for shift in (-1, 0, 1):
        weights = torch.zeros(n, n)
        q = torch.arange(period, n)
        weights[q, (q - period + 1 + shift)] = 1.0
        assert prefix_matching(weights, period) == (shift == 0)


def test_only_queries_whose_token_has_stood_before_count():
    weights = torch.zeros(7, 7)
    weights[3, 0] = 1.0  # the last query of the first pattern of 4
    assert prefix_matching(weights, 4) == 0
    weights[5, 2] = 0.75
    torch.testing.assert_close(prefix_matching(weights, 4), torch.tensor(0.25))        # of the queries 4, 5 and 6


def test_a_previous_token_head_scores_one_and_a_uniform_head_the_mean_of_its_rows():
    assert previous_token(torch.eye(13).roll(1, 0)) == 1 and previous_token(torch.eye(13)) == 0
    uniform = torch.ones(2, 13, 13).tril() / torch.arange(1.0, 14)[:, None]
    torch.testing.assert_close(previous_token(uniform), torch.full((2,), sum(1 / i for i in range(2, 14)) / 12))


def test_the_scores_of_a_model_are_those_of_its_recorded_maps():
    trained, period = model(), 5
    tokens = Repeats(V=11, n=17, period=period, seed=3).draw(7)[0]
    with record(trained) as weights:
        trained(tokens[:, :-1])
    found = evaluate(trained, period, batch=7, seed=3)
    maps = torch.stack([weights["layers.0"], weights["layers.1"]])                     # (layers, B, h, n - 1, n - 1)
    expected = torch.stack([maps[:, :, :, q, q - period + 1] for q in range(period, 16)]).mean((0, 2))
    torch.testing.assert_close(found.prefix, expected)
    torch.testing.assert_close(found.previous, torch.stack([maps[..., q, q - 1] for q in range(1, 16)]).mean((0, 2)))


def test_the_two_losses_leave_out_the_one_query_between_them():
    trained, period = model(), 7
    tokens = Repeats(V=11, n=17, period=period, seed=3).draw(5)[0]
    logs = trained(tokens[:, :-1])[0].log_softmax(-1)
    loss = -torch.stack([logs[b, range(16), tokens[b, 1:]] for b in range(5)]).mean(0)
    found = evaluate(trained, period, batch=5, seed=3)
    torch.testing.assert_close(found.first, loss[:6].mean().detach())
    torch.testing.assert_close(found.later, loss[7:].mean().detach())


# --- The model ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("smeared", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
def test_no_output_depends_on_a_later_token(layers, smeared):
    net, tokens = model(layers, smeared=smeared), torch.randint(11, (2, 13))
    embedded = net.embedding(tokens).detach().requires_grad_()
    net.embedding.register_forward_hook(lambda *_: embedded)
    for q in (0, 4, 11):
        gradient, = torch.autograd.grad(net(tokens)[0][:, q].square().sum(), embedded)
        assert (gradient[:, q + 1:] == 0).all() and (gradient[:, :q + 1] != 0).any(-1).all()


def test_a_position_decides_where_a_head_looks_but_not_what_it_brings():
    layer = model().layers[0]
    x = torch.randn(1, 1, 6, dtype=torch.float64).expand(2, 13, 6)                     # the same token everywhere
    positions = torch.randn(13, 6, dtype=torch.float64)
    out, weights = layer(x, positions, need_weights=True)
    torch.testing.assert_close(out, out[:, :1].expand_as(out))
    assert weights[0, 0, -1].std() > 1e-3


def test_positions_start_as_waves_of_all_lengths():
    waves = sinusoids(13, 6).double()
    at_one = [wave(10000 ** (-i / 3)) for i in range(3) for wave in (math.sin, math.cos)]
    torch.testing.assert_close(waves[1], torch.tensor(at_one, dtype=torch.float64))
    torch.testing.assert_close(waves.square().sum(-1), torch.full((13,), 3.0, dtype=torch.float64))
    assert sinusoids(13, 7).shape == (13, 7)


def test_a_smeared_key_is_a_mixture_with_the_one_before():
    K, own = torch.randn(2, 3, 5, 7), torch.rand(3)
    found = smear(K, own)
    assert torch.equal(smear(K, torch.ones(3)), K)
    torch.testing.assert_close(found[:, :, 0], K[:, :, 0])
    for h in range(3):
        for j in range(1, 5):
            torch.testing.assert_close(found[:, h, j], own[h] * K[:, h, j] + (1 - own[h]) * K[:, h, j - 1])


def test_one_smeared_layer_does_induction_by_hand():
    """Tokens one-hot, W_Q and W_K alike, each key that of the place before: the head finds what followed the current
    token.

    The first key stays its own, so of the 7 queries that have a copy the first finds two keys alike and splits its
    weight.
    """
    layer = TokenModel(1, V=8, n=15, d_model=8, num_heads=1, smeared=True).layers[0]
    with torch.no_grad():
        layer.W_Q.weight.copy_(100 * torch.eye(8))
        layer.W_K.weight.copy_(torch.eye(8))
        layer.smear.fill_(-100)
    x = torch.eye(8)[torch.randperm(8).repeat(2)[:15]]
    weights = layer(x[None], torch.zeros(15, 8), need_weights=True)[1]
    assert prefix_matching(weights, 8).item() == pytest.approx((6 + 0.5) / 7)


def test_a_head_that_is_switched_off_is_a_head_whose_part_of_W_O_is_zero():
    net = model()
    off = without_each_head(net, 5)
    with torch.no_grad():
        net.layers[1].W_O.weight[:, 2:4] = 0
    torch.testing.assert_close(off[1, 1], evaluate(net, 5).later)
    assert len(off.unique()) == 6


def test_a_head_kept_from_all_readers_is_switched_off_and_one_that_adds_nothing_is_needed_by_none():
    net = model()
    without = without_paths(net, 5)
    torch.testing.assert_close(without[0], without_each_head(net, 5)[0])
    assert len(without.unique()) == without.numel()
    with torch.no_grad():
        net.layers[0].W_O.weight[:, 2:4] = 0
    torch.testing.assert_close(without_paths(net, 5)[:, 1], evaluate(net, 5).later.expand(5))


def test_a_head_kept_from_the_values_changes_no_map_and_one_kept_from_the_keys_no_value():
    net = model()
    with torch.no_grad():
        net.layers[1].W_V.weight.zero_()                     # layer 1 adds nothing: only the output reads layer 0
    keys, queries, values, output = without_paths(net, 5)[1:]
    whole = evaluate(net, 5).later.expand_as(keys)
    for same in (keys, queries, values):
        torch.testing.assert_close(same, whole)
    torch.testing.assert_close(output, without_each_head(net, 5)[0])
    net = model()
    with torch.no_grad():
        net.layers[1].W_K.weight.zero_()                     # all weights are equal, whatever keys and queries are
    keys, queries, values, output = without_paths(net, 5)[1:]
    for same in (keys, queries):
        torch.testing.assert_close(same, evaluate(net, 5).later.expand_as(keys))
    assert not torch.allclose(values, keys) and not torch.allclose(output, keys)


# --- The training and what is stored --------------------------------------------------------------------------------

def test_a_seed_trains_the_same_model_again_and_leaves_the_generator_alone():
    sizes = {"V": 11, "n": 17, "d_model": 6, "num_heads": 3, "steps": 5, "every": 2, "batch": 7, "period": 5}
    state = torch.get_rng_state()
    (_, at, first), (_, _, again), (_, _, other) = (fit_induction(1, seed=seed, **sizes) for seed in (3, 3, 4))
    assert torch.equal(state, torch.get_rng_state())
    assert at.tolist() == [0, 2, 4] and first.prefix.shape == (3, 1, 3)
    assert torch.equal(first.later, again.later) and not torch.equal(first.later, other.later)


@needs_cuda
def test_the_gpu_starts_where_the_cpu_starts():
    (_, _, here), (there, _, found) = (fit_induction(2, steps=1, every=1, seed=5, device=device)
                                       for device in ("cpu", "cuda"))
    assert there.positions.device.type == "cuda" and found.later.device.type == "cpu"
    torch.testing.assert_close(found.later[0], here.later[0], rtol=1e-3, atol=1e-3)


def test_the_start_of_one_stored_run_drawn_at_random_comes_out_again(some):
    kind, r = some.choice(list(KINDS)), some.randrange(len(make_induction.SEEDS))
    runs = induction_runs(kind)
    _, at, history = fit_induction(**KINDS[kind], seed=int(runs.seeds[r]), steps=25)
    assert at.tolist() == runs.at[:2].tolist()
    # another machine's arithmetic, and float16
    torch.testing.assert_close(history.later, runs.history.later[r, :2], rtol=0, atol=0.02)
    torch.testing.assert_close(history.prefix, runs.history.prefix[r, :2], rtol=0, atol=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_has_its_shapes_and_its_maps_have_its_scores(kind):
    runs, layers = induction_runs(kind), KINDS[kind]["layers"]
    R, S, P = len(make_induction.SEEDS), len(runs.at), len(make_induction.PERIODS)
    assert runs.history.prefix.shape == (R, S, layers, 4) and runs.tests.later.shape == (R, P)
    assert runs.without.shape == (R, layers, 4)
    assert runs.maps.shape == (R, 2, layers, 4, 31, 31) and (runs.maps.triu(1) == 0).all()
    assert (runs.maps.sum(-1) - 1).abs().max() < 31 / 510 + 1e-5
    for i, period in enumerate(runs.shown.tolist()):
        assert torch.equal(runs.tokens[i, period:], runs.tokens[i, :-period])
        one, many = prefix_matching(runs.maps[:, i], period), runs.at_period(period).prefix
        assert (one - many).abs().max() < 0.25                                         # one sequence, and 256


def test_the_start_of_one_stored_run_of_twenty_comes_out_again(some):
    runs = path_runs()
    r = some.randrange(len(runs.seeds))
    _, at, history = fit_induction(2, seed=int(runs.seeds[r]), steps=0)
    assert runs.seeds.tolist() == list(make_paths.SEEDS) and at.tolist() == runs.at[:1].tolist()
    torch.testing.assert_close(history.later, runs.history[r, :1], rtol=0, atol=0.02)


def test_the_first_five_of_the_twenty_are_the_runs_of_chapter_8():
    runs, five = path_runs(), induction_runs("two layers")
    assert runs.seeds[:5].tolist() == five.seeds.tolist()
    torch.testing.assert_close(runs.without[:5, 0], five.without[:, 0], rtol=0.05, atol=0.02)
    torch.testing.assert_close(runs.later[:5], five.at_period(16).later, rtol=0.05, atol=0.005)


def test_in_each_stored_run_keys_need_the_head_that_looks_back_and_values_the_one_that_looks_at_itself():
    everything, runs = path_runs(), path_runs().learned
    R = len(runs.seeds)
    assert len(everything.seeds) > R > 0.85 * len(everything.seeds) and runs.seeds[0] == everything.seeds[0]
    assert runs.without.shape == (R, 5, 4) and runs.grown.shape == (len(runs.at), 2, 4, 31, 31)
    assert (runs.grown.triu(1) == 0).all()
    back, own = (runs.times[range(R), 1:, looks.argmax(-1)] for looks in (runs.before, runs.itself))
    assert (back.argmax(-1) == 0).double().mean() > 0.8 and (own.argmax(-1) == 2).double().mean() > 0.8


OWN, EIGHT = 11, 3                                                          # where the periods 16 and 8 stand


@pytest.fixture(params=KINDS)
def stored(request):
    """(kind, accuracy (R, P), the largest induction score in each layer at period 16 (R, layers))"""
    runs = induction_runs(request.param)
    assert runs.periods[OWN] == 16 and runs.periods[EIGHT] == 8
    return request.param, runs.tests.accuracy, runs.tests.prefix[:, OWN].amax(-1)


def test_every_stored_seed_gives_the_same_verdict(stored):
    kind, accuracy, best = stored
    if kind == "two layers":
        assert (accuracy[:, OWN] > 0.95).all() and (best[:, 0] < 0.05).all() and (best[:, 1] > 0.8).all()
    elif kind == "one layer":
        assert (accuracy[:, OWN] < 0.5).all() and (best < 0.2).all()
    elif kind == "one layer, smeared keys":
        assert (accuracy[:, OWN] > 0.85).all() and (best > 0.5).all()
    else:
        other = [i for i in range(16) if i not in (OWN, EIGHT)]             # periods by which 16 cannot be divided
        assert kind == "one layer, fixed period" and (best > 0.9).all()
        assert (accuracy[:, OWN] > 0.99).all() and (accuracy[:, other] < 0.1).all()


@pytest.mark.parametrize("call,message", [
    (lambda: Repeats(n=16, period=16), "less than n=16, got period=16"),
    (lambda: Repeats(n=12, shortest=8), "got period='random': from 8 to 6"),
    (lambda: prefix_matching(torch.eye(7), 7), "period must be from 2 to n - 1 = 6, got 7"),
    (lambda: prefix_matching(torch.eye(7), 1), "period must be from 2 to n - 1 = 6, got 1"),
    (lambda: model()(torch.zeros(2, 19, dtype=torch.long)), "positions for n=17 tokens, got 19"),
    (lambda: induction_runs("three layers"), "kind must be one of 'two layers', .*got 'three layers'"),
])
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
