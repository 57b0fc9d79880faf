"""Listening to a model must change nothing in it."""
import pytest
import torch
from torch import nn

from mha import MultiHeadAttention, MultiHeadLatentAttention, record


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = MultiHeadAttention(6, 2), MultiHeadAttention(6, 3)

    def forward(self, x):
        return self.second(self.first(x)[0])


def test_the_weights_of_every_layer_are_recorded_under_its_name():
    model, x = Model(), torch.randn(2, 5, 6)
    with record(model) as weights:
        model(x)
    assert {name: tuple(w.shape) for name, w in weights.items()} == {"first": (2, 2, 5, 5), "second": (2, 3, 5, 5)}
    torch.testing.assert_close(weights["first"], model.first(x, need_weights=True)[1].detach())


def test_what_the_model_returns_stays_as_it_was():
    model, x = Model(), torch.randn(2, 5, 6)
    before = model(x)
    with record(model):
        during = model(x)
    assert during[1] is None and model(x)[1] is None
    torch.testing.assert_close(during[0], before[0])


def test_two_may_listen_at_once():
    model, x = Model(), torch.randn(2, 5, 6)
    with record(model) as outer, record(model.first) as inner:
        _, weights = model(x)
    assert weights is None and set(outer) == {"first", "second"}
    torch.testing.assert_close(outer["first"], inner[""])


def test_a_layer_that_stands_twice_is_recorded_under_both_names():
    model = Model()
    model.second = model.first
    with record(model) as weights:
        out, asked = model(torch.randn(2, 5, 6))
    assert asked is None and set(weights) == {"first", "second"}


def test_latent_heads_are_recorded_too():
    layer = MultiHeadLatentAttention(6, 2, d_c=5)
    with record(nn.ModuleDict({"a": layer})) as weights:
        layer(torch.randn(2, 5, 6))
    assert weights["a"].shape == (2, 2, 5, 5)


def test_it_stops_listening_even_after_an_error():
    model = Model()
    with pytest.raises(ValueError), record(model) as weights:
        model(torch.zeros(2, 5, 7))
    model(torch.zeros(2, 5, 6))
    assert not weights


def test_a_layer_by_itself_has_the_empty_name():
    with record(MultiHeadAttention(6, 2)) as weights:
        pass
    layer = MultiHeadAttention(6, 2)
    with record(layer) as weights:
        layer(torch.randn(5, 6))
    assert list(weights) == [""]


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="record got a str; it takes a model"):
        record("model").__enter__()


def test_a_model_without_our_layers_is_refused_with_a_way_out():
    with pytest.raises(ValueError, match="Linear has no mha.MultiHeadAttention inside"):
        record(nn.Linear(2, 2)).__enter__()
    with pytest.raises(ValueError, match="convert it with MultiHeadAttention.from_torch"):
        record(nn.MultiheadAttention(6, 2)).__enter__()
