"""Recall of pairs: the layers are torch's and ours, one LSTM is made by hand, and what is stored comes out again."""
import random

import pytest
import torch
from torch.nn import functional as F

from mha.lab.assets import LONG_PAIRS, PAIRS, pair_runs
from mha.lab.train import RECALLERS, answer_by_hand, draw_pairs, fit_pairs, pairs, unit_for_each_name
from tools import make_pairs

RUNS, BATCH, N, WIDTH = 2, 3, 5, 7


def drawn(layer):
    """Parameters of a layer, and pairs to read."""
    g = torch.Generator().manual_seed(random.randrange(1000))
    return pairs.recaller(layer, WIDTH, RUNS, 3.0, g)[:-2], *draw_pairs(g, RUNS, BATCH, N)


def test_all_questions_at_once_are_answered_as_by_torch_s_LSTM_one_by_one():
    (name, value, U), names, values = drawn("LSTM")
    said = pairs.read_by_lstm(names, values, name, value, U)
    for run in range(RUNS):
        lstm = torch.nn.LSTM(name.shape[1] + value.shape[1], WIDTH, batch_first=True, bias=False)
        lstm.weight_ih_l0.data, lstm.weight_hh_l0.data = torch.cat([name[run], value[run]]).T, U[run].T
        for asked in range(N):
            texts = torch.cat([names[run], names[run, :, asked, None]], -1)              # (B, n + 1): the question last
            told = F.pad(values[run], (0, 1), value=pairs.VALUES)
            x = torch.cat([F.one_hot(texts, pairs.NAMES), F.one_hot(told, pairs.VALUES + 1)], -1).float()
            torch.testing.assert_close(lstm(x)[0][:, -1], said[run, :, asked], atol=1e-5, rtol=1e-5)


def test_linear_attention_keeps_one_matrix_and_says_what_the_scores_without_a_softmax_say():
    (query, key, value), names, values = drawn("linear attention")
    Q, K, V = (pairs.rows(table, index) for table, index in ((query, names), (key, names), (value, values)))
    torch.testing.assert_close(pairs.read_by_linear(names, values, query, key, value), Q @ K.mT @ V)


def test_keys_and_values_may_differ_in_width_and_equal_ones_start_as_one_width_does():
    def start(width):
        return pairs.recaller("linear attention", width, RUNS, 0, torch.Generator().manual_seed(1))
    assert [tuple(p.shape[1:]) for p in start((7, 3))] == [(32, 7), (32, 7), (8, 3), (3, 8), (1, 8)]
    assert all(map(torch.equal, start(WIDTH), start((WIDTH, WIDTH))))


@pytest.mark.parametrize("n", [1, 7, 32])
def test_an_LSTM_with_a_cell_for_each_name_forgets_no_pair(n):
    names, values = (drawn[0] for drawn in draw_pairs(torch.Generator().manual_seed(n), 1, 50, n))
    assert torch.equal(answer_by_hand(unit_for_each_name(), names, values), values)


def test_names_differ_and_all_of_them_come():
    names, values = draw_pairs(torch.Generator().manual_seed(0), RUNS, 40, N)
    assert (names.sort(-1).values.diff() > 0).all() and len(names.unique()) == pairs.NAMES and len(values.unique()) == 8


@pytest.mark.parametrize("layer", RECALLERS)
def test_a_share_is_told_for_each_eighth_and_run_and_begins_near_chance(layer):
    right = fit_pairs(layer, 3, steps=16, runs=2, batch=256)
    assert right.shape == (8, 2) and (right[0] < 0.3).all()


@pytest.mark.parametrize("layer,n", [("GRU", 3), ("head", 0), ("head", 33)])
def test_unknown_layers_and_too_many_names_are_refused(layer, n):
    with pytest.raises(ValueError, match="layer must be one of .* and n from 1 to 32; got"):
        fit_pairs(layer, n)


# --- What is stored ---------------------------------------------------------------------------------------------------

def test_one_short_stored_cell_drawn_at_random_comes_out_again():
    cell = random.choice([cell for cell in PAIRS if cell[1] <= 8 and cell[2] <= (2 if cell[0] == "LSTM" else 8)])
    stored, again = (right[-1] for right in (pair_runs(*cell), make_pairs.make(cell)))
    assert stored.min() - 0.03 < again.median() < stored.max() + 0.03, cell


@pytest.mark.parametrize("long,cells", [(False, PAIRS), (True, LONG_PAIRS)])
def test_every_cell_is_stored_and_learns(long, cells):
    for cell in cells:
        right = pair_runs(*cell, long)
        assert right.shape == (8, make_pairs.RUNS) and (right[-1] > 0.15).all() and (right <= 1).all()


def test_what_is_not_stored_is_named():
    with pytest.raises(ValueError, match="layer='LSTM', width=7, n=2, long=False; mha.lab.assets.PAIRS lists what is"):
        pair_runs("LSTM", 7, 2)
    with pytest.raises(ValueError, match="long=True; mha.lab.assets.LONG_PAIRS lists what is"):
        pair_runs("head", 8, 2, long=True)
