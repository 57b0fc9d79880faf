"""What is stored of all-MiniLM-L6-v2 against the model itself, where its weights are at hand: a part drawn anew at each
run.
"""
import copy
import random

import pytest
import torch

from mha.lab import measure, real, sentences, surgery
from mha.lab.assets import BROWSED, PRUNING_ORDERS, SCALES, pruning, real_heads
from mha.lab.assets.removal import CHANCES
from mha.lab.real import files
from tools import make_interventions


@pytest.fixture(scope="module")
def model():
    """The model, from a folder or a package; never from the network."""
    pytest.importorskip("safetensors")
    pytest.importorskip("tokenizers")
    places = [place for place in files.places("minilm", None) if (place / real.WEIGHTS).is_file()]
    if not places:
        pytest.skip("no weights of all-MiniLM-L6-v2: set MHA_MODELS (tests/models.txt)")
    return real.load("minilm", folder=places[0], device="cpu")


@pytest.fixture
def some():
    chosen = random.Random()
    print("seed", seed := chosen.randrange(10**6))
    return random.Random(seed)


def test_a_browsed_map_is_the_models(model, some):
    number = some.randrange(len(BROWSED))
    trace, stored = model.trace([BROWSED[number]]), real_heads().browsed[number]
    assert trace.tokens[0] == stored.tokens
    assert (trace.weights[:, 0] - stored.maps / 255).abs().max() < 0.5 / 255 + 1e-5


def test_what_cross_gives_is_the_models_and_not_rounded(model):
    for text, browsed, stored in zip(BROWSED, real_heads().browsed, real_heads().cross, strict=False):
        given = model.trace([text]).weights[:, 0, :, browsed.tokens.index("cross")].flatten(0, 1)
        assert (given - stored).abs().max() < 1e-6
        assert torch.equal(given[:, 1:-1].argmax(-1), stored[:, 1:-1].argmax(-1))


def test_whom_a_sentences_words_look_at_is_stored(model, some):
    texts, _ = sentences.relations()
    number = some.randrange(len(texts))
    start, trace = sum(map(len, texts[:number])), model.trace([texts[number]])
    maps = measure.of_words(trace.weights[:, 0].flatten(0, 1), trace.words[0])
    found = measure.choices([maps], [(0, word) for word in range(len(texts[number]))])
    stored = real_heads().looked_at.trained[:, start:start + len(texts[number])]
    assert (found == stored).float().mean() > 0.99                            # two words may tie up to rounding


@pytest.mark.parametrize("stored, items", [
    (real_heads().pronouns.trained, sentences.pronouns()),
    (real_heads().pronouns_again.trained, sentences.pronouns(again=True)),
    (real_heads().apart, [item for _, item in sentences.apart()]),
    (real_heads().twins, [one for pair in sentences.twins() for one in pair]),
    (real_heads().late, sentences.late()),
], ids=["pronouns", "pronouns again", "apart", "twins", "late"])
def test_what_a_pronoun_gives_is_stored(model, some, stored, items):
    number = some.randrange(len(items))
    item, trace = items[number], model.trace([items[number].words])
    rows = measure.of_words(trace.weights[:, 0].flatten(0, 1), trace.words[0])[:, item.pronoun]
    assert (rows - stored[:, number, :len(item.words)]).abs().max() < 1e-3


def test_what_the_heads_of_a_layer_do_with_learned_matrices_is_stored(model, some):
    from tools.make_real_heads import learned_from, token_before

    first = copy.deepcopy(model)
    first.layers = first.layers[:1]                                           # each layer learns by itself
    matrices, before = some.choice((1, 2)), real_heads().before_learned
    learned = token_before(surgery.learned_like(first, learned_from(first),
                                                matrices).trace([text for text, _, _ in sentences.paraphrases()]))[0]
    stored = before.one if matrices == 1 else before.two
    assert (learned - stored[:12]).abs().max() < 0.02


def test_what_a_set_of_heads_costs_is_stored(model, some):
    from tools.make_pruning import Sentences

    found, texts = Sentences(model), torch.arange(0, 180, 7)
    for _ in range(3):
        layer, off = some.randrange(6), some.randrange(4096)
        gates = torch.ones(6, 12)
        gates[layer] = 1.0 - torch.tensor([off >> head & 1 for head in range(12)])
        with torch.no_grad():
            assert abs(float(found.cosine(gates, texts)) - float(pruning().subsets[layer, off])) < 2e-3


def test_a_point_of_the_curves_is_stored(model, some):
    from tools.make_pruning import Sentences

    kind, removed = some.choice(list(PRUNING_ORDERS)), some.randrange(73)
    order, kept, gates = some.randrange(PRUNING_ORDERS[kind]), pruning().curves[kind], torch.ones(72)
    gates[pruning().orders[kind][order, :removed]] = 0
    kept = [values[order, removed] for values in (kept.cosine, kept.found, kept.beats_decoy, kept.loss)]
    for score, kept in zip(Sentences(model).scores(gates.view(6, 12)), kept):
        assert abs(float(score) - float(kept)) < 0.02                          # one of 60 sentences may tie


def test_what_a_head_does_to_a_sentence_is_stored(model, some):
    from tools.make_pruning import Sentences

    stored = pruning()
    found = Sentences(model)
    sentence = some.randrange(60)
    layer = some.randrange(6)
    head = some.randrange(12)
    gates, without = torch.ones(6, 12, requires_grad=True), torch.ones(6, 12)
    without[layer, head] = 0
    each = found.matching(gates)
    slope = torch.autograd.grad(each[sentence], gates)[0]
    assert (slope - stored.slopes[sentence]).abs().max() < 1e-3
    assert (found.matching(without) - each - stored.rises[:, layer, head]).detach().abs().max() < 1e-3


def test_what_a_head_does_at_another_scale_of_the_loss_is_stored(model, some):
    from tools.make_pruning import Sentences, behind

    found, number, layer, head = Sentences(model), some.randrange(5), some.randrange(6), some.randrange(12)
    without = torch.ones(6, 12)
    without[layer, head] = 0
    with torch.no_grad():
        after, before = (behind(found.vectors(gates).unflatten(0, (-1, 3)), SCALES[number])
                         for gates in (without, torch.ones(6, 12)))
    clear = (after - before).abs() > 1e-2
    assert torch.equal((after - before).sign()[clear].long(), pruning().signs_at[number, clear, layer, head])


def test_what_a_head_costs_with_its_mean_in_its_place_is_stored(model, some):
    from tools.make_pruning import Means

    found, layer, head = Means(model), some.randrange(6), some.randrange(12)
    without = torch.ones(6, 12)
    without[layer, head] = 0
    with torch.no_grad():
        assert abs(1 - float(found.cosine(without)) - float(pruning().means.alone[layer, head])) < 1e-4
        assert float(found.cosine(torch.ones(6, 12))) == pytest.approx(1, abs=1e-5)


def test_what_heads_from_the_layers_of_greedy_cost_is_stored(model, some):
    from tools.make_pruning import Sentences, from_layers_of

    found, stored, number, gates = Sentences(model), pruning(), some.randrange(CHANCES), torch.ones(72)
    gates[from_layers_of(stored.orders["greedy"][0], CHANCES, seed=1)[number, :49]] = 0
    with torch.no_grad():
        assert abs(float(found.cosine(gates.view(6, 12))) - float(stored.matched_cosine[number])) < 1e-3


def test_orders_from_the_layers_of_greedy_take_each_head_once_and_as_many_from_each_layer():
    from tools.make_pruning import from_layers_of

    greedy = pruning().orders["greedy"][0]
    orders = from_layers_of(greedy, 5, seed=3)
    assert (orders.sort(-1).values == torch.arange(72)).all()
    assert (orders // 12 == greedy // 12).all() and not (orders == greedy).all(-1).any()
    assert len(pruning().matched) == len(pruning().matched_cosine) == CHANCES


def test_scores_of_the_matching_loss_are_means_of_what_is_stored_for_each_sentence():
    stored = pruning()
    for scores, mean in ((stored.size, stored.slopes.abs().mean(0)), (stored.slope, stored.slopes.mean(0)),
                         (stored.removal, stored.rises.mean(0))):
        assert torch.allclose(scores, mean, atol=1e-5)


def test_orders_are_what_their_names_say():
    stored = pruning()
    orders, size = stored.orders, stored.size
    assert {kind: len(of_it) for kind, of_it in orders.items()} == PRUNING_ORDERS
    assert {kind: len(of_it.cosine) for kind, of_it in stored.curves.items()} == PRUNING_ORDERS
    for kind, scores in (("mean size of the gradient", size), ("gradient that is zero", stored.flat_gradient),
                         ("gradient that is zero, in float64", stored.flat_gradient_double),
                         ("mean size, divided within layers", size / size.norm(dim=-1, keepdim=True))):
        assert torch.equal(orders[kind][0], scores.flatten().argsort()), kind
    assert all((order[:60] < 60).all() for order in orders["random, last layer last"])
    assert not any((order[:60] < 60).all() for order in orders["random"])


def test_every_order_removes_every_head_once_and_ends_on_the_same_score():
    stored = pruning()
    assert all((orders.sort(-1).values == torch.arange(72)).all() for orders in stored.orders.values())
    greedy = stored.curves["greedy"]
    for kept in stored.curves.values():
        for name, values in vars(kept).items():
            assert (values[:, 0] == getattr(greedy, name)[0, 0]).all(), name
            assert (values[:, 72] - getattr(greedy, name)[0, 72]).abs().max() < 1e-3, name
    assert torch.allclose(stored.subsets[:, 0], torch.ones(6), atol=1e-3)


def test_what_stands_for_cls_is_run_through_the_model_itself(model, some):
    texts = sentences.relations()[0]
    text = some.choice(texts)
    vector, scores = make_interventions.run(model, text)
    torch.testing.assert_close(vector, model.trace([text]).hidden[0].mean(0), rtol=1e-4, atol=1e-4)
    assert len(scores) == 6 and scores[0].shape[0] == 12
    hidden, _ = make_interventions.run(model, text, 0)
    assert torch.nn.functional.cosine_similarity(hidden, vector, dim=0) < 0.9
