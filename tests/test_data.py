"""The small worlds of the chapters."""
import torch

from mha.data import follow_gradient, library


def test_the_library_has_a_key_and_a_value_for_each_book():
    titles, keys, values = library()
    assert len(titles) == len(keys) == len(values) == 5 and keys.shape == values.shape == (5, 2)


def test_a_small_step_against_the_gradient_lowers_the_error():
    _, keys, values = library()
    path, errors = follow_gradient(torch.tensor([2.0, -1.2]), keys, values, values[2], steps=7, temperature=3.0, rate=0.01)
    assert path.shape == (8, 2) and errors.shape == (8,)
    assert (errors.diff() < 0).all()


def test_the_story_of_three_temperatures_holds():
    _, keys, values = library()
    cold, mild, warm = (follow_gradient(torch.tensor([2.0, -1.2]), keys, values, values[2], 100, T)[1] for T in (0.05, 1, 3))
    assert cold[-1] == cold[0] and mild[-1] > 9 and warm[-1] < 0.5
