"""Heads that share keys and values: the layer is ours, the floor is proved, and what is stored comes out again."""
import random

import pytest
import torch

from mha import MultiHeadAttention
from mha.lab.assets import LONG_SHARING, SHARING, shared_runs
from mha.lab.data import FieldTask
from mha.lab.train import SHARING_TASKS, fit_sharing, slices_floor
from mha.lab.train.sharing import attend_shared
from tools import make_sharing


@pytest.mark.parametrize("h_kv", [1, 2, 6])
def test_one_asking_token_gets_what_our_layer_gives_it(h_kv):
    runs, batch, n, d = 2, 3, 5, 7
    x = torch.randn(runs, batch, n, d, dtype=torch.float64)
    layers = [MultiHeadAttention(d, 6, num_kv_heads=h_kv, d_k=5, d_v=3, bias=False, dtype=torch.float64)
              for _ in range(runs)]
    W_Q, W_K, W_V = (torch.stack([getattr(layer, name).weight.T for layer in layers]) for name in ("W_Q", "W_K", "W_V"))
    outs = attend_shared(x[:, :, 2], x, W_Q, W_K, W_V, 6, h_kv)  # (R, B, h, d_v): token 2 asks
    expected = torch.stack([layer(sentences)[0][:, 2] for layer, sentences in zip(layers, x)])
    torch.testing.assert_close(torch.stack([layer.W_O(out.flatten(1)) for layer, out in zip(layers, outs)]), expected)


@pytest.mark.parametrize("task,setting,kept,parameters", [
    ("same", {"h_kv": 4}, 48, 2816),
    ("slices", {"h_kv": 2}, 24, 2720),
    ("fields", {"h_kv": 1, "d_k": 16}, 20, 3280),
    ("slices", {"d_c": 12}, 12, 2768),
    ("slices", {"h": 8, "h_kv": 4, "d_v": 2}, 40, 4832),
])
def test_what_is_kept_and_the_parameters_are_counted(task, setting, kept, parameters):
    error, *counted = fit_sharing(task, steps=1, runs=2, **setting)
    assert error.shape == (2,) and counted == [kept, parameters]


def test_every_head_has_keys_of_its_own_unless_said_otherwise():
    first, again = (fit_sharing("fields", h_kv=h_kv, steps=2, runs=2)[0] for h_kv in (None, 4))
    assert torch.equal(first, again)


@pytest.mark.parametrize("setting,message", [
    ({"task": "pages"}, "task must be one of 'same', 'slices', 'fields', got 'pages'"),
    ({"h_kv": 3}, "h_kv must divide h=4, got 3"),
    ({"h_kv": 0}, "h_kv must divide h=4, got 0"),
    ({"h_kv": 4, "d_c": 12}, "got h_kv=4 and d_c=12"),
])
def test_what_cannot_be_shared_is_said(setting, message):
    with pytest.raises(ValueError, match=message):
        fit_sharing(**{"task": "same", "steps": 1, "runs": 1, **setting})


def test_one_key_can_serve_every_field_with_two_numbers_for_each():
    """Each field has two numbers of the key to itself, in which its names stand on a circle: every name is outermost.

    So one key of d_k = 8 is able to do "fields", whatever a training with it comes to.
    """
    task = FieldTask(1, 4, seed=3)
    angle = torch.arange(8) * torch.pi / 4
    circle = torch.stack([angle.cos(), angle.sin()], -1)  # (names, 2)
    turned = torch.linalg.solve(task.vectors[0], circle.expand(4, 8, 2))  # (r, d_name, 2): names @ turned = circle
    by_field = torch.block_diag(*turned, torch.empty(4, 0))[None]  # (1, d, 8)
    W_Q = torch.cat([by_field * torch.zeros(8).index_fill(0, torch.tensor([2 * k, 2 * k + 1]), 300.0)
                     for k in range(4)], -1)  # (1, d, 4 * 8): query k has the circle of field k alone
    contents = torch.cat([torch.zeros(32, 4), torch.eye(4)])[None]
    asking, x, wanted = task.draw(64)
    outs = attend_shared(asking, x, W_Q, by_field, contents, 4, 1)
    torch.testing.assert_close(outs, wanted, atol=1e-3, rtol=0)


# --- The floor ------------------------------------------------------------------------------------------------------

def least_error(weights, W_V):
    """The error of the best W_O on "slices", exactly, for weights that do not depend on the contents.

    weights: (h, n). W_V: (h, 4 r, d_v), the value map of each head.
    """
    size, r = W_V.shape[1], W_V.shape[1] // 4
    reads = torch.einsum("hn,hxv->nxhv", weights, W_V).flatten(2)  # (n, 4 r, h d_v): outs = sum of content @ reads
    wanted = torch.block_diag(*torch.ones(r, 4)).bool()            # (r, 4 r): the slice of token k
    cross = torch.cat([reads[k, wanted[k]] for k in range(r)])     # (4 r, h d_v): wanted numbers with outs
    inverse = torch.linalg.pinv(reads.flatten(0, 1).mT @ reads.flatten(0, 1), hermitian=True)
    return 1 - (cross @ inverse @ cross.mT).trace().item() / size


@pytest.mark.parametrize("h_kv,d_v", [(1, 3), (1, 4), (2, 2), (2, 4), (4, 1), (4, 4)])
def test_no_output_matrix_beats_the_floor_and_some_maps_meet_it(h_kv, d_v):
    floor = slices_floor(h_kv, d_v=d_v)
    for _ in range(5):
        maps = torch.randn(h_kv, 16, d_v, dtype=torch.float64).repeat_interleave(4 // h_kv, 0)
        soft = torch.randn(4, 8, dtype=torch.float64).softmax(-1)
        assert least_error(soft, maps) > floor - 1e-9
    # each head looks at its own token, and each map reads of the slice of its group's first head
    maps = torch.eye(16, dtype=torch.float64).unflatten(1, (4, 4))[:, ::4 // h_kv, :d_v]  # (16, h_kv, d_v)
    maps = maps.transpose(0, 1).repeat_interleave(4 // h_kv, 0)
    assert least_error(torch.eye(4, 8, dtype=torch.float64), maps) == pytest.approx(floor)


def test_the_floor_ends_at_zero():
    assert [slices_floor(h_kv) for h_kv in (1, 2, 4, 8)] == [0.75, 0.5, 0, 0]
    assert slices_floor(1, r=8) == 0.875


# --- What is stored ---------------------------------------------------------------------------------------------------

def test_one_stored_cell_drawn_at_random_comes_out_again():
    """The errors are those of another machine's arithmetic, so their middle lies among them, and no more is sure."""
    cell = random.choice([cell for cell in SHARING if cell[2] == 4])
    task, h_kv, _, d_k, d_v, d_c = cell
    stored = shared_runs(task, h_kv, d_k=d_k, d_v=d_v, d_c=d_c)
    seed = random.choice(make_sharing.SEEDS)
    its = stored.view(len(make_sharing.SEEDS), make_sharing.RUNS)[make_sharing.SEEDS.index(seed)]
    assert its.min() - 0.02 < make_sharing.make(cell, False, seed).median() < its.max() + 0.02, (cell, seed)


@pytest.mark.parametrize("long,cells", [(False, SHARING), (True, LONG_SHARING)])
def test_every_cell_is_stored_and_slices_stay_on_their_floor_or_above(long, cells):
    for task, h_kv, h, d_k, d_v, d_c in cells:
        error = shared_runs(task, h_kv, h=h, d_k=d_k, d_v=d_v, d_c=d_c, long=long)
        assert error.shape == (len(make_sharing.SEEDS) * make_sharing.RUNS,) and (error < 1.05).all()
        if task == "slices":
            floor = slices_floor(1, d_v=d_c) if d_c else slices_floor(h_kv, d_v=d_v)
            assert (error > floor - 0.02).all()  # 8192 sentences tell an error to about a hundredth


def test_what_is_not_stored_is_named():
    with pytest.raises(ValueError, match=r"task='same', h_kv=3, .* long=False; mha.lab.assets.SHARING lists what is"):
        shared_runs("same", 3)
    with pytest.raises(ValueError, match=r"h_kv=1, .* long=True; mha.lab.assets.LONG_SHARING lists what is"):
        shared_runs("same", 1, long=True)
    assert {task for task, *_ in SHARING} == set(SHARING_TASKS)
