"""The grids of chapter 2: what is stored comes out again, and says what the chapter says."""
import random

import pytest
import torch

from mha.lab.assets import LOOKUP_POWERS, LOOKUP_RATES, LOOKUP_WIDTHS, lookup_runs
from mha.lab.findings.chapter_02 import first_step, rates_and_widths
from tools import make_lookup


@pytest.mark.parametrize("loss", ["mixture", "weights"])
def test_one_stored_cell_drawn_at_random_comes_out_again(loss):
    """The losses are those of another machine's arithmetic, so their middle lies among them, and no more is sure."""
    learned, power = random.choice(list(make_lookup.LEARNED)), random.choice(LOOKUP_POWERS)
    d_k, rate = random.choice(LOOKUP_WIDTHS[:3]), random.choice(LOOKUP_RATES)
    stored = lookup_runs(learned, loss)[LOOKUP_POWERS.index(power), LOOKUP_WIDTHS.index(d_k), LOOKUP_RATES.index(rate)]
    near = 1e-3 + 0.02 * stored.median()
    made = make_lookup.make(learned, loss, power, d_k, rate).median()
    assert stored.min() - near < made < stored.max() + near, (learned, power, d_k, rate)


@pytest.mark.parametrize("learned", ["tables", "matrices"])
def test_a_wide_head_ends_lowest_where_the_scores_are_divided_by_its_width(learned):
    """At the best of its rates each, and the curves of all widths are one."""
    runs = lookup_runs(learned)
    assert runs.shape == (3, 5, 5, 8)
    none, root, full = runs.mean(-1).amin(-1)[:, 1:]
    assert (full < root).all() and (root < none).all() and (none.diff() > 0).all()
    wide = runs[2, 2:].mean(-1)                                                # (3 widths, 5 rates)
    assert (wide.amax(0) - wide.amin(0) < 0.06).all()


def test_with_a_loss_on_the_weights_the_undivided_heads_learn():
    assert lookup_runs("matrices", "weights")[0, 1:, :3].max() < 0.02


def test_what_is_not_stored_is_named():
    with pytest.raises(ValueError, match="learned is 'matrices' or 'tables'.* got 'heads' and 'mixture'"):
        lookup_runs("heads")


def test_the_first_step_grows_with_the_width_unless_the_scores_are_divided_by_it():
    start, step = torch.tensor([[first_step(d_k, power) for d_k in (16, 256)] for power in LOOKUP_POWERS]).unbind(-1)
    growth = step[:, 1] / step[:, 0]
    assert growth[0] > 8 and 2 < growth[1] < 4 and 0.5 < growth[2] < 1.1
    assert torch.allclose(start[1], torch.ones(2), atol=0.05)


def test_a_softer_start_moves_the_scores_less_and_softer_queries_alone_do_so_by_less():
    starts = (1.0, 1.0), (64**-0.25, 64**-0.25), (1 / 8, 1.0)
    start, step = torch.tensor([first_step(64, 0.5, start=pair) for pair in starts]).unbind(-1)
    assert torch.allclose(start[1:], start[:1] / 8) and step[1] < 0.4 * step[0] and 0.5 < step[2] / step[0] < 0.7


def test_without_adam_the_first_step_does_not_grow_with_the_root_and_shrinks_divided_by_the_width():
    step = torch.tensor([[first_step(d_k, power, rate=0.1, adam=False)[1] for d_k in (64, 1024)] for power in (0.5, 1)])
    growth = step[:, 1] / step[:, 0]
    assert 0.8 < growth[0] < 1.1 and growth[1] < 0.1


def test_the_picture_of_rates_and_widths_tells_its_means():
    text = rates_and_widths("tables").text
    mean = lookup_runs("tables")[1, LOOKUP_WIDTHS.index(64), LOOKUP_RATES.index(0.01)].mean()
    row = next(line for line in text.splitlines() if "root of d_k, d_k = 64" in line)
    assert f"{mean:.3f}" in row and len([line for line in text.splitlines() if "d_k = " in line]) >= 12
