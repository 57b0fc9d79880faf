"""The small worlds of the chapters."""
import pytest
import torch

from mha.lab.data import (
    POINTERS, FieldTask, KeyTask, SliceTask, follow_gradient, library, pointers, rock_paper_scissors, turn,
)


def test_the_library_has_a_key_and_a_value_for_each_book():
    titles, keys, values = library()
    assert len(titles) == len(keys) == len(values) == 5 and keys.shape == values.shape == (5, 2)


def test_a_small_step_against_the_gradient_lowers_the_error():
    _, keys, values = library()
    path, errors = follow_gradient(torch.tensor([2.0, -1.2]), keys, values, values[2], steps=7, temperature=3.0,
                                   rate=0.01)
    assert path.shape == (8, 2) and errors.shape == (8,)
    assert (errors.diff() < 0).all()


def test_the_story_of_three_temperatures_holds():
    _, keys, values = library()
    cold, mild, warm = (follow_gradient(torch.tensor([2.0, -1.2]), keys, values, values[2], 100, T)[1]
                        for T in (0.05, 1, 3))
    assert cold[-1] == cold[0] and mild[-1] > 9 and warm[-1] < 0.5


def test_a_turn_keeps_lengths_and_goes_against_the_clock():
    torch.testing.assert_close(torch.tensor([[1.0, 0.0]], dtype=torch.float64) @ turn(90),
                               torch.tensor([[0.0, 1.0]], dtype=torch.float64))
    torch.testing.assert_close(turn(37) @ turn(37).T, torch.eye(2, dtype=torch.float64))


def test_rock_turned_by_a_third_points_at_paper():
    names, x = rock_paper_scissors()
    torch.testing.assert_close(x @ turn(120), x.roll(-1, 0))
    assert names == ["rock", "paper", "scissors"]


@pytest.mark.parametrize("task", POINTERS)
def test_a_pointer_leads_to_the_token_it_names(task):
    draw, d_model, no_future = pointers(task, 3, torch.Generator().manual_seed(5))
    x, target, asked = draw(7)
    assert x.shape[-1] == d_model and target.max() < x.shape[-2]
    if d_model == 32:                                     # [own name, name of the target]
        own, named = x.split(16, -1)
        assert torch.equal(named, own.take_along_dim(target[..., None], 2))
        assert (target != torch.arange(8))[..., asked].all()
    if no_future:
        assert (target <= torch.arange(x.shape[-2]))[..., asked].all() and 0 not in asked


def test_under_the_mask_every_order_of_the_cycle_asks_its_last_token_for_the_next_name():
    x, target, asked = pointers("circle of 3 under a causal mask", 2, torch.Generator())[0](6)
    names, order = x[0].flatten(0, 1).unique(dim=0, return_inverse=True)
    order = order.view(6, 3).tolist()
    assert len({tuple(one) for one in order}) == 6 and len(names) == 3 and asked.tolist() == [2]
    leads = {one[2]: one[place] for one, place in zip(order, target[0, :, 2])}
    assert len(leads) == 3 and all(leads[leads[leads[name]]] == name != leads[name] for name in leads)


def test_in_a_cycle_each_looks_at_the_next_and_in_a_line_the_last_nowhere():
    for task, expected in (("circle of 3", [0, 1, 2]), ("line of 7", [0, 1, 2, 3, 4, 5])):
        _, target, asked = pointers(task, 2, torch.Generator())[0](1)
        assert asked.tolist() == expected and target[0, 0, 0] == 1


def test_key_task_holds_each_related_token_once_and_wants_its_content():
    task = KeyTask(3, 2, seed=1)
    asking, x, wanted = task.draw(11)
    assert asking.shape == (3, 11, 20) and x.shape == (3, 11, 8, 20) and wanted.shape == (3, 11, 2, 4)
    assert torch.equal(wanted, x[:, :, :2, 16:])
    assert not (task.relations == torch.arange(16)).any() and not (task.relations[:, 0] == task.relations[:, 1]).any()
    for run in range(3):
        table = task.vectors[run]                         # (16, 16)
        number = lambda vectors: torch.cdist(vectors, table).argmin(-1)      # noqa: E731
        a, names = number(asking[run, :, :16]), number(x[run, :, :, :16])
        assert torch.equal(names[:, :2], task.relations[run][:, a].T)
        assert all(len(set(row.tolist())) == 8 for row in names)


def test_slice_task_wants_another_slice_of_each_related_token():
    task = SliceTask(2, 3, wanted=5, seed=1)
    asking, x, wanted = task.draw(7)
    assert asking.shape == (2, 7, 31) and x.shape == (2, 7, 8, 31) and wanted.shape == (2, 7, 3, 5)
    for k in range(3):
        assert torch.equal(wanted[:, :, k], x[:, :, k, 16 + 5 * k : 21 + 5 * k])
    assert torch.equal(x, KeyTask(2, 3, content=15, seed=1).draw(7)[1])


def test_field_task_shares_each_field_with_one_token_and_wants_its_content():
    task = FieldTask(2, 3, names=4, d_name=5, n=7, content=2, seed=1)
    asking, x, wanted = task.draw(11)
    assert asking.shape == (2, 11, 17) and x.shape == (2, 11, 7, 17) and torch.equal(wanted, x[:, :, :3, 15:])
    names, asked = x[..., :15].unflatten(-1, (3, 5)), asking[:, :, None, :15].unflatten(-1, (3, 5))
    assert torch.equal((names == asked).all(-1), torch.eye(7, 3, dtype=torch.bool).expand(2, 11, -1, -1))
    for run, field in [(0, 0), (1, 2)]:
        drawn = torch.cdist(names[run, ..., field, :], task.vectors[run, field]).min(-1)
        assert drawn.values.max() < 1e-3 and set(drawn.indices.unique().tolist()) == set(range(4))
