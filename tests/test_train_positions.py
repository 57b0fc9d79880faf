"""Layers that are told where a token stands: tasks are what they say, a proved floor holds, stored runs come again."""
import random

import pytest
import torch

from mha.lab.assets import position_runs
from mha.lab.train import fit_positions
from mha.lab.train.positions import CONTENT, D_NAME, NAMES, OFFSETS, draw
from tools.make_positions import RUNS, SEEDS, cells, train, tried


def names(runs=3):
    return torch.randn(runs, NAMES, D_NAME, generator=torch.Generator().manual_seed(5))


def test_offsets_asks_for_the_contents_one_and_three_places_back():
    x, wanted, asked = draw("offsets", names(), 2, 7, torch.Generator().manual_seed(1))
    contents = x[..., D_NAME:]
    assert not asked[..., :4].any() and asked[..., 4:].all()
    for k, offset in enumerate(OFFSETS):
        part = wanted[..., k * CONTENT:(k + 1) * CONTENT]
        assert torch.equal(part[:, :, 4:], contents[:, :, 4 - offset:7 - offset])


def test_nearest_asks_for_the_last_token_before_of_the_same_name():
    x, wanted, asked = draw("nearest", names(), 3, 13, torch.Generator().manual_seed(1))
    for run in range(3):
        for sentence in range(3):
            words = x[run, sentence, :, :D_NAME]
            for i in range(13):
                same = [j for j in range(i) if torch.equal(words[i], words[j])]
                assert bool(asked[run, sentence, i]) == bool(same)
                if same:
                    assert torch.equal(wanted[run, sentence, i], x[run, sentence, same[-1], D_NAME:])


def test_without_positions_no_layer_is_better_than_its_floor_at_any_length():
    run = position_runs("offsets", "none")
    floors = torch.stack([(1 - 1 / torch.arange(4.0, n)).mean() for n in run.lengths.tolist()])
    assert (run.errors.mean(0) > floors - 0.03).all()
    found = fit_positions("offsets", "none", runs=3, steps=150)  # a short training is not better either
    assert (found.errors.mean(0) > floors - 0.03).all()


def test_a_window_of_the_sentence_hides_nothing_and_a_narrower_one_does():
    found = fit_positions("offsets", "none", n=8, lengths=(8, 24), runs=2, steps=60, batch=64)
    assert (found.errors[:, 0] - found.windowed[:, 0]).abs().max() < 0.1  # fresh sentences of the same kind
    assert (found.windowed[:, 1] < found.errors[:, 1]).all()  # a mean over 8 knows more than one over up to 24


def test_one_stored_training_drawn_at_random_comes_out_again():
    task, positions, *_ = cell = random.choice([cell for cell in cells() if cell[2:] == (False, 24)])
    seed = random.choice(SEEDS)
    found, stored, its = train(*cell, seed), position_runs(*cell), slice(SEEDS.index(seed) * RUNS, None)
    assert found.parameters == stored.parameters
    for new, old in ((found.errors, stored.errors[its][:RUNS]), (found.windowed, stored.windowed[its][:RUNS])):
        # another machine's arithmetic: the mean comes again, not the digits
        assert ((new.mean(0) - old.mean(0)).abs() < 0.03 + 0.15 * old.mean(0)).all(), (task, positions, seed, new, old)


def test_every_training_is_stored_with_its_lengths():
    for *cell, n in cells():
        run = position_runs(*cell, n)
        assert tuple(run.lengths.tolist()) == tried(n)
        assert run.errors.shape == run.windowed.shape == (len(SEEDS) * RUNS, len(tried(n)))
        assert (run.without is None) == (cell[1] != "rotary")


def test_what_is_not_stored_and_what_is_unknown_is_said():
    with pytest.raises(ValueError, match=r"task must be one of \('offsets', 'nearest'\), .* got 'far', 'none' and 24"):
        position_runs("far", "none")
    with pytest.raises(ValueError, match="got 'offsets', 'none' and 96"):
        position_runs("offsets", "none", n=96)
    with pytest.raises(ValueError, match="got 'offsets' and 'rope'"):
        fit_positions("offsets", "rope")
