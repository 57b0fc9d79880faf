"""mha.lab.ablation: what heads put out is read as W_O gets it, and what is put in its place acts as that."""
import pytest
import torch
from torch import nn

from mha import MultiHeadAttention
from mha.lab import ablation
from mha.lab.stories import StoryTeller
from mha.lab.transformer import Transformer
from support import close


@pytest.fixture(params=["decoder", "encoder"])
def model(request):
    if request.param == "decoder":
        return StoryTeller(29, 23, 24, 3, 4, num_kv_heads=2, hidden=13).double()
    return Transformer(29, 23, 24, 3, 4, causal=False).double()


def some_ids(batch=2, n=11):
    return torch.randint(29, (batch, n))


@torch.no_grad()
def test_what_heads_put_out_sums_to_the_layers_output_through_W_O(model):
    ids, seen = some_ids(), []
    layer = model.layers[1].attention
    hook = layer.register_forward_hook(lambda _, given, out: seen.append(out[0]))
    outputs = ablation.head_outputs(model, lambda: model(ids))
    hook.remove()
    assert outputs.shape == (3, 2, 4, 11, 6)
    columns = layer.W_O.weight.unflatten(1, (4, 6))                                         # (d_model, h, d_v)
    bias = 0 if layer.W_O.bias is None else layer.W_O.bias
    close(torch.einsum("bhnd,mhd->bnm", outputs[1], columns) + bias, seen[0])


@torch.no_grad()
def test_zero_in_place_of_a_head_is_that_head_off(model):
    ids, off = some_ids(), torch.ones(3, 4)
    off[2, 1] = off[0, 3] = 0
    with ablation.replaced(model, {(2, 1): torch.zeros(6), (0, 3): torch.zeros(6)}):
        changed = model(ids)
    close(changed, model(ids, head_mask=off))
    assert not torch.allclose(changed, model(ids), atol=1e-3)


@torch.no_grad()
def test_its_own_output_in_its_place_changes_nothing_and_a_mean_does(model):
    ids = some_ids()
    outputs = ablation.head_outputs(model, lambda: model(ids))
    with ablation.replaced(model, {(1, 2): outputs[1, :, 2]}):
        close(model(ids), before := model(ids))
    with ablation.replaced(model, {(1, 2): outputs[1, :, 2].mean((0, 1))}):
        assert not torch.allclose(model(ids), before, atol=1e-3)
    close(model(ids), before)


@torch.no_grad()
def test_after_an_error_the_model_is_as_it_was(model):
    ids = some_ids()
    before = model(ids)
    with pytest.raises(RuntimeError, match="on purpose"), ablation.replaced(model, {(0, 0): torch.ones(6)}):
        raise RuntimeError("on purpose")
    assert torch.equal(model(ids), before)


@pytest.mark.parametrize("at, output, words", [
    ((3, 0), torch.zeros(6), r"layer 3 of \(3, 0\) is none of the model's 3, 0 to 2"),
    ((0, 4), torch.zeros(6), "4"),
    ((0, 1), torch.zeros(5), r"head \(0, 1\) must end in d_v=6, got \(5,\)"),
])
def test_what_does_not_fit_is_refused(model, at, output, words):
    with pytest.raises(ValueError, match=words), ablation.replaced(model, {at: output}):
        pass


def test_a_model_without_heads_is_refused():
    with pytest.raises(ValueError, match="no MultiHeadAttention|ablate"):
        ablation.head_outputs(nn.Linear(3, 3), lambda: None)
    assert ablation.attentions(one := MultiHeadAttention(24, 4)) == [one]
