"""What is stored of stories15M with shared keys and values: consistent in itself everywhere, and the same as the model
computes where its weights are at hand (`mha.lab.stories`), a part drawn anew at each run.
"""
from types import SimpleNamespace

import pytest
import torch

from mha import MultiHeadAttention
from mha.lab import stories
from mha.lab.assets import pooled
from mha.lab.assets.decoder import DRAWS, KV_HEADS, STEPS, TRAINED
from mha.lab.surgery import share_heads, turn_heads
from mha.position import Rope
from tools import make_pooled

N = make_pooled.MEASURED


# --- In itself ------------------------------------------------------------------------------------------------------

def test_each_field_has_the_size_that_it_names():
    of_draws, of_heads = (len(KV_HEADS), DRAWS, N), (len(KV_HEADS), N)
    wanted = {"stories": (N, make_pooled.LENGTH), "whole": (N,), "none": (N,), "mean": of_heads, "first": of_heads,
              "keys": of_heads, "values": of_heads, "random": of_draws, "turned": of_draws,
              "turned_whole": (DRAWS, N), "aligned": (2, *of_heads), "aligned_whole": of_heads,
              "layers": (6, *of_heads), "lost": (2, len(KV_HEADS), 6),
              "trained": (len(TRAINED), DRAWS, len(STEPS), N)}
    assert {name: tuple(values.shape) for name, values in vars(pooled()).items()} == wanted


def test_stories_are_tokens_and_those_of_one_opening_begin_alike():
    ids = pooled().stories.unflatten(0, (len(make_pooled.OPENINGS), -1))
    assert ids.min() >= 0 and ids.max() < 32000 and (ids[..., 0] == stories.START).all()
    assert (ids[:, :, 1:3] == ids[:, :1, 1:3]).all() and len(ids[:, 0, 1:5].unique(dim=0)) == len(ids)
    assert len(pooled().stories.unique(dim=0)) == N


def test_nothing_predicts_the_models_own_stories_better_than_the_model():
    """In the long run nothing can: the expected rise is a divergence."""
    stored = pooled()
    for name, losses in vars(stored).items():
        if name not in ("stories", "whole", "turned_whole", "aligned_whole", "lost"):
            assert (losses.mean(-1) > stored.whole.mean()).all(), name


def test_another_basis_changes_no_loss():
    for losses in (pooled().turned_whole, pooled().aligned_whole):
        assert (losses - pooled().whole).abs().max() < 1e-3


def test_heads_that_are_aligned_first_lose_less_in_the_mean():
    plain, (matrices, outputs) = pooled().mean.mean(-1), pooled().aligned.mean(-1)
    assert (outputs < matrices - 0.1).all() and (matrices < plain - 1).all()


def test_the_same_kind_in_one_layer_costs_less_than_in_all():
    stored = pooled()
    assert (stored.layers.mean(-1) < stored.mean.mean(-1)).all()


def test_draws_are_different_draws():
    for losses in (pooled().random, pooled().turned, pooled().trained.transpose(0, 1)):
        for i in range(DRAWS):
            for j in range(i):
                assert (losses[:, i] != losses[:, j]).any()


# --- Against the model ----------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def told():
    """stories15M and its tokenizer, from a folder; never from the network."""
    if stories.find(download=False) is None:
        pytest.skip("no weights of stories15M: set MHA_MODELS")
    return stories.load()


@pytest.mark.slow
def test_the_stories_are_the_models_own(told):
    again = make_pooled.generate_stories(*told, N, seed=0)
    assert (again == pooled().stories).all(1).float().mean() > 0.9             # a draw may tie up to rounding


def test_what_sharing_costs_is_stored(told, some):
    model, number = told[0], some.randrange(len(KV_HEADS))
    chosen, draw = torch.tensor(some.sample(range(N), 8)), some.randrange(DRAWS)
    ids, stored, kv_heads = pooled().stories[chosen], pooled(), KV_HEADS[number]
    for kind, losses in (("whole", stored.whole), ("mean", stored.mean[number]), ("first", stored.first[number]),
                         ("random", stored.random[number, draw]), ("turned", stored.turned[number, draw])):
        found = make_pooled.loss(make_pooled.pooled(model, kind, kv_heads, draw), ids)
        assert (found - losses[chosen]).abs().max() < 1e-3, kind
    for change, losses in ((make_pooled.silent, stored.none),
                           (lambda one: make_pooled.alone(one, kv_heads, "W_K"), stored.keys[number]),
                           (lambda one: make_pooled.alone(one, kv_heads, "W_V"), stored.values[number])):
        found = make_pooled.loss(make_pooled.changed(model, change), ids)
        assert (found - losses[chosen]).abs().max() < 1e-3


def test_what_sharing_in_one_layer_costs_is_stored(told, some):
    layer, number = some.randrange(6), some.randrange(len(KV_HEADS))
    chosen = torch.tensor(some.sample(range(N), 8))
    changed = make_pooled.changed(told[0], lambda one: share_heads(one, KV_HEADS[number]), only=layer)
    found = make_pooled.loss(changed, pooled().stories[chosen])
    assert (found - pooled().layers[layer, number, chosen]).abs().max() < 1e-3


def test_how_much_of_the_matrices_a_mean_loses_is_stored(told):
    found = make_pooled.matrices(SimpleNamespace(model=told[0]))["lost"]
    assert (found - pooled().lost).abs().max() < 1e-5


@pytest.mark.parametrize("kv_heads", [3, 2, 1])
def test_aligned_heads_are_as_near_as_any_turns_of_one_of_them_bring_them(some, kv_heads):
    """No small turn of one head, in its planes or of its values, brings it nearer to its group."""
    torch.manual_seed(some.randrange(1000))
    layer, root = MultiHeadAttention(24, 6, bias=False, on_qk=Rope(interleaved=True)), torch.eye(24).double()
    new, x = make_pooled.aligned(layer, kv_heads, root), torch.randn(2, 7, 24)
    assert (new(x)[0] - layer(x)[0]).abs().max() < 1e-5

    def apart(layer):
        return sum((make_pooled.lost_of(layer, name, kv_heads) for name in ("W_K", "W_V")), torch.zeros(())).item()

    least = apart(new)
    assert least < apart(layer) - 0.05
    for _ in range(9):
        keys = make_pooled.in_planes(0.1 * torch.randn(6, 2))
        values = torch.matrix_exp(0.1 * (skew := torch.randn(6, 4, 4)) - 0.1 * skew.mT)
        assert apart(turn_heads(new, keys, values)) > least - 1e-4


def test_what_a_mean_of_aligned_heads_costs_is_stored(told, some):
    number, chosen = some.randrange(len(KV_HEADS)), torch.tensor(some.sample(range(N), 8))
    found = make_pooled.Told.aligned(SimpleNamespace(model=told[0]), KV_HEADS[number], by_outputs=False)
    shared = make_pooled.changed(found, lambda one: share_heads(one, KV_HEADS[number]))
    assert (make_pooled.loss(shared, pooled().stories[chosen]) - pooled().aligned[0, number, chosen]).abs().max() < 5e-3


@pytest.mark.slow
def test_what_a_little_training_gives_is_stored(told, some, monkeypatch):
    number, seed, chosen = some.randrange(len(TRAINED)), some.randrange(DRAWS), torch.tensor(some.sample(range(N), 8))
    lessons = make_pooled.generate_stories(*told, make_pooled.LEARNED, seed=1)
    monkeypatch.setattr(make_pooled, "STEPS", STEPS[:1])
    found = make_pooled.trained(make_pooled.pooled(told[0], *TRAINED[number], seed), lessons,
                                pooled().stories[chosen], seed)
    assert abs(float((found[0] - pooled().trained[number, seed, 0, chosen]).mean())) < 0.02
