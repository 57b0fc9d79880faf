"""Interventions in a decoder: where nothing is changed the model's own numbers, and only what is changed changes."""
import pytest
import torch

from mha.lab import causes
from mha.lab.stories import StoryTeller


@pytest.fixture
def model():
    """Three layers, four query heads on two KV heads, in float64."""
    teller = StoryTeller(23, 32, 24, 3, 4, num_kv_heads=2, hidden=10).double().eval()
    torch.nn.init.normal_(teller.embedding.weight)
    for layer in teller.layers:
        for norm in (layer.norm_1, layer.norm_2):
            torch.nn.init.uniform_(norm.weight, 0.5, 2.0)
    return teller


@pytest.fixture
def ids():
    return torch.randint(23, (3, 11))


def test_read_gives_what_the_model_gives(model, ids):
    torch.testing.assert_close(causes.read(model, ids).logits, model(ids).detach())
    torch.testing.assert_close(causes.read(model, ids, last=True).logits, model(ids)[:, -1:].detach())


def test_a_text_can_be_read_in_two_steps_and_a_layer_can_be_begun_with_its_stream(model, ids):
    whole = causes.read(model, ids, see=("into keys",))
    first = causes.read(model, ids[:, :7])
    torch.testing.assert_close(causes.read(model, ids[:, 7:], past=first.past).logits, whole.logits[:, 7:])
    begun = causes.read(model, ids, begin=(2, whole.seen["into keys"][2]))
    torch.testing.assert_close(begun.logits, whole.logits)


def test_an_unknown_name_is_refused(model, ids):
    with pytest.raises(ValueError, match="see must hold names of into queries, .* got 'scores'"):
        causes.read(model, ids, see=("scores",))


def test_a_head_that_is_off_is_a_gate_of_zero(model, ids):
    off = causes.read(model, ids, causes.off({(1, 2): 0.0, (1, 0): 0.0})).logits
    W = model.layers[1].attention.W_O.weight.data
    W[:, :6], W[:, 12:18] = 0, 0
    torch.testing.assert_close(off, model(ids).detach())


def test_a_head_gets_its_mean_or_what_it_returned_elsewhere(model, ids):
    mean, there = torch.randn(6).double(), torch.randn(3, 11, 6).double()
    run = causes.read(model, ids, causes.off({(0, 1): mean, (2, 3): there}), see=("heads",))
    torch.testing.assert_close(run.seen["heads"][0][:, 1], mean.expand(3, 11, 6))
    torch.testing.assert_close(run.seen["heads"][2][:, 3], there)


def test_a_mask_hides_a_token(model, ids):
    mask = torch.ones(11, 11, dtype=torch.bool)
    mask[5:, 4] = False
    changed = ids.clone()
    changed[:, 4] = (ids[:, 4] + 1) % 23
    one, other = (causes.read(model, each, mask=mask).logits for each in (ids, changed))
    torch.testing.assert_close(one[:, 5:], other[:, 5:])
    assert (one[:, 4] - other[:, 4]).abs().max() > 1e-3


def test_an_exchange_changes_the_rows_that_it_names(model, ids):
    past, other = (causes.read(model, each[:, :9]).past for each in (ids, ids.flip(0)))
    new = causes.exchanged(past, other, [3, 6], {"values": [(1, 0)], "keys": [(2, 1)]})
    changed = [(part, layer, h, j) for layer in range(3) for part in (0, 1) for h in range(2) for j in range(9)
               if (new[layer][part][:, h, j] != past[layer][part][:, h, j]).any()]
    assert changed == [(1, 1, 0, 3), (1, 1, 0, 6), (0, 2, 1, 3), (0, 2, 1, 6)]
    every = [(layer, h) for layer in range(3) for h in range(2)]
    swapped = causes.exchanged(past, other, list(range(9)), {"values": every, "keys": every})
    torch.testing.assert_close(causes.read(model, ids[:, 9:], past=swapped).logits,
                               causes.read(model, ids[:, 9:], past=other).logits)


def test_a_head_kept_from_all_that_reads_it_later_still_reaches_the_networks_and_the_output(model, ids):
    run = causes.read(model, ids, see=("heads",))
    readers = {name: [1, 2] for name in ("queries", "keys", "values")}
    kept = causes.read(model, ids, causes.kept_from((0, 1), readers, model, run), see=("weights", "mlp"))
    off = causes.read(model, ids, causes.off({(0, 1): 0.0}), see=("weights", "mlp"))
    torch.testing.assert_close(kept.seen["weights"][0], off.seen["weights"][0])
    assert (kept.seen["mlp"][0] - off.seen["mlp"][0]).abs().max() > 1e-3
    nobody = causes.read(model, ids, causes.kept_from((0, 1), {}, model, run))
    torch.testing.assert_close(nobody.logits, run.logits)


@pytest.mark.parametrize("head", [0, 3])
def test_the_parts_of_a_score_sum_to_the_score_and_those_of_a_lead_to_the_lead(model, ids, head):
    names, parts = causes.parts_of_stream(model, ids, 2)
    run = causes.read(model, ids, see=("queries", "keys", "into keys"))
    assert len(names) == len(parts) == 1 + 2 * (4 + 1)
    torch.testing.assert_close(parts.sum(0), run.seen["into keys"][2])
    query, keys = run.seen["queries"][2][:, head, 9], run.seen["keys"][2][:, head // 2]
    scores = torch.einsum("bd,bmd->bm", query, keys) / 6 ** 0.5
    found = causes.score_parts(model, parts, 2, head, 9, 4)
    torch.testing.assert_close(found.sum((1, 2)), scores[:, 4], atol=1e-6, rtol=1e-6)
    lead = causes.score_parts(model, parts, 2, head, 9, 4, lead=True)
    others = scores[:, [1, 2, 3, 5, 6, 7, 8, 9]].mean(-1)
    torch.testing.assert_close(lead.sum((1, 2)), scores[:, 4] - others, atol=1e-6, rtol=1e-6)
