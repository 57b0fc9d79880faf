"""The world of journeys: its exact numbers by counting, its floors by brute force, and models that keep to both."""
import itertools
import random
from collections import Counter, defaultdict

import pytest
import torch

from mha.lab import journeys
from mha.lab.journeys import FACTS, NAMES, QUESTIONS, TOKENS, TOWNS, config, world


# --- The world -----------------------------------------------------------------------------------------------------

def test_a_document_tells_what_its_answers_are():
    tokens, answers = journeys.draw(torch.Generator().manual_seed(1), 50)
    assert tokens.shape == (50, TOKENS) and answers.shape == (50, QUESTIONS, 2)
    for document, boxes in zip(tokens.tolist(), (answers + len(NAMES)).tolist()):
        facts = {document[i]: document[i + 1:i + 3] for i in range(0, 3 * FACTS, 3)}
        towns = [town for pair in facts.values() for town in pair]
        assert len(facts) == FACTS and len(set(towns)) == len(towns) and min(towns) >= len(NAMES)
        assert [facts[name] for name in document[3 * FACTS:]] == boxes


def test_its_words_can_be_read():
    tokens, _ = world.document(torch.tensor([0, 1]), torch.tensor([[0, 1], [2, 3]]), torch.tensor([1]))
    assert journeys.words(tokens) == ["Ann", "Oslo", "Rome", "Bob", "Lima", "Cairo", "Bob"]


def small_documents():
    """Every document of two facts with two of three names and four of four towns, and its question: all equally
    likely.
    """
    for names in itertools.permutations(range(3), 2):
        for towns in itertools.permutations(range(4)):
            for asked in range(2):
                yield names, (towns[:2], towns[2:]), asked


WHAT_IS_KNOWN = {
    "nothing": lambda names, towns, asked: None,
    "the towns": lambda names, towns, asked: (frozenset(names), frozenset(sum(towns, ())), names[asked]),
    "the box": lambda names, towns, asked: frozenset(pair[0] for pair in towns),
    "the fact": lambda names, towns, asked: frozenset(towns[asked]),
    "all": lambda names, towns, asked: towns[asked],
}


@pytest.mark.parametrize("name", WHAT_IS_KNOWN)
def test_what_is_known_gives_its_number_by_counting(name):
    answers = defaultdict(Counter)
    for document in small_documents():
        answers[WHAT_IS_KNOWN[name](*document)][document[1][document[2]][0]] += 1
    right = sum(max(counts.values()) for counts in answers.values()) / sum(sum(c.values()) for c in answers.values())
    expected = 1 / 4 if name == "nothing" else journeys.known(facts=2)[name]  # four towns in this small world
    assert right == pytest.approx(expected)
    assert list(journeys.known()) == list(WHAT_IS_KNOWN)


def test_the_numbers_of_the_world_are_these():
    assert list(journeys.known().values()) == [1 / 12, 1 / 8, 1 / 4, 1 / 2, 1]


# --- What is proved ------------------------------------------------------------------------------------------------

def test_no_sum_of_names_and_towns_has_more_than_three_of_the_four_right():
    grid = range(-3, 4)
    best = max(sum([n + m > 0, other + m < 0, n + less < 0, other + less > 0])
               for n, other, m, less in itertools.product(grid, repeat=4))
    assert best == 3 and journeys.best_possible(1, 1, "rotary") == 3 / 4


@pytest.mark.parametrize("box", [0, 1])
def test_the_four_documents_of_a_square_exchange_what_they_say(box):
    tokens, answers = journeys.squares(torch.Generator().manual_seed(2), 20, box=box)
    place = 1 + box
    assert (tokens[:, :, -1] == tokens[:, :1, 0]).all()  # the same name is asked in all four
    for row, towns in zip(tokens.tolist(), (answers + len(NAMES)).tolist()):
        for document, town in zip(row, towns):
            assert document[3 * [document[3 * i] for i in range(FACTS)].index(document[-1]) + place] == town
        a, b = row[0][place], row[0][3 + place]
        assert towns == [a, b, b, a]
        assert all(sorted(document) == sorted(row[0]) for document in row)


def right_in_squares(model, facts):
    tokens, answers = journeys.squares(torch.Generator().manual_seed(3), 200, facts=facts)
    said = model(tokens.flatten(0, 1))[:, -1, 0].argmax(-1).unflatten(0, (200, 4))
    return (said == answers).sum(-1)


@pytest.mark.parametrize("loud", [1.0, 5.0])
def test_one_head_of_one_layer_never_has_a_whole_square_right(loud):
    for seed in range(5):
        model = journeys.Model(config(1, d_k=16), seed)
        for W in model.layers.parameters():
            W.data *= loud
        with torch.no_grad():
            assert right_in_squares(model, 2).max() <= 3


def test_neither_does_one_that_was_trained_for_it():
    model, chance = journeys.Model(config(1), 0), torch.Generator().manual_seed(4)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(150):
        tokens, answers = journeys.squares(chance, 16, facts=2)
        logits = model(tokens.flatten(0, 1))[:, -1, 0]
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(logits, answers.flatten()).backward()
        optimiser.step()
    with torch.no_grad():
        assert right_in_squares(model, 2).max() <= 3


def test_a_square_is_right_as_a_whole_where_the_model_is():
    class Knows(torch.nn.Module):
        def forward(self, tokens):
            facts = tokens[:, :3 * FACTS].unflatten(1, (FACTS, 3))
            town = (facts[..., 1] * (facts[..., 0] == tokens[:, -1:])).sum(-1) - len(NAMES)
            return torch.nn.functional.one_hot(town, len(TOWNS)).float()[:, None, None].expand(-1, 1, 2, -1)

    assert (journeys.right_in_squares(Knows(), 20) == 4).all()


def test_one_layer_without_positions_sees_a_set():
    model = journeys.Model(config(3, positions="none"), 5)
    tokens, _ = journeys.draw(torch.Generator().manual_seed(5), 4)
    shuffled = torch.cat([tokens[:, torch.randperm(3 * FACTS)], tokens[:, 3 * FACTS:]], -1)
    torch.testing.assert_close(model(shuffled)[:, -QUESTIONS:], model(tokens)[:, -QUESTIONS:])
    assert journeys.best_possible(1, 3, "none") == 1 / 8


def test_nothing_is_claimed_of_two_layers_or_two_heads():
    assert journeys.best_possible(2, 1, "rotary") == journeys.best_possible(1, 2, "rotary") == 1


# --- Models --------------------------------------------------------------------------------------------------------

CONFIGS = [config(2, 1), config((4, 2), 1, d_k=6, d_v=10), config(3, positions="none")]


@pytest.mark.parametrize("chosen", CONFIGS, ids=lambda chosen: chosen.name)
def test_many_runs_at_once_say_what_each_model_says(chosen):
    runs = journeys.Runs(chosen, [3, 11])
    tokens, _ = journeys.draw(torch.Generator().manual_seed(6), 5)
    at_once = runs.logits(tokens.expand(2, -1, -1))
    for run, seed in enumerate((3, 11)):
        torch.testing.assert_close(at_once[run], runs.model(run)(tokens)[:, -QUESTIONS:], atol=1e-5, rtol=0)
        torch.testing.assert_close(at_once[run], journeys.Model(chosen, seed)(tokens)[:, -QUESTIONS:], atol=1e-5,
                                   rtol=0)


def test_a_model_is_trained_alone_as_it_is_among_others():
    chosen = config(2, 1)
    trained, alone = journeys.fit_journeys(chosen, [0, 7], steps=12), journeys.Model(chosen, 7)
    found = journeys.learn(alone, 7, steps=12)
    tokens, _ = journeys.draw(torch.Generator().manual_seed(7), 5)
    torch.testing.assert_close(trained.runs.model(1)(tokens), alone(tokens), atol=1e-4, rtol=0)
    assert found.shape == (2, 3) and trained.history.shape == (2, 2, 2)


def test_what_a_model_costs_is_counted_of_its_layers():
    for chosen in CONFIGS:
        layers = journeys.Model(chosen).layers
        assert chosen.parameters == sum(W.numel() for W in layers.parameters())
        caches = [layer.new_cache(1, 1) for layer in layers]
        assert chosen.cached == sum(cache.K.numel() + cache.V.numel() for cache in caches)


def test_the_past_of_a_causal_model_does_not_depend_on_its_future():
    for chosen in CONFIGS:
        assert journeys.leak(journeys.Model(chosen, 2)) is None
    assert journeys.leak(journeys.Model(config(2, 1, causal=False), 2)) == 0


def test_switching_off_all_heads_leaves_what_the_question_says_of_itself():
    model = journeys.Model(config(2, 1), 3)
    assert list(journeys.without_each_head(model, 8)) == ["all heads", "head 0.0", "head 0.1", "head 1.0"]
    tokens, _ = journeys.draw(torch.Generator().manual_seed(8), 3)
    off = model(tokens, [torch.zeros(2), torch.zeros(1)])
    torch.testing.assert_close(off, model(tokens.flip(0), [torch.zeros(2), torch.zeros(1)]).flip(0))
    seen = journeys.looks(model, 8)
    assert list(seen) == ["head 0.0", "head 0.1", "head 1.0"]
    assert all(row.shape == (6,) and (row > 0).all() for row in seen.values())


@pytest.mark.parametrize("call,message", [
    (lambda: config(), "at least one layer"),
    (lambda: config((4, 3)), "h_kv must divide h, got h=4 and h_kv=3"),
    (lambda: config(2, d_k=5), "got d_k=5"),
    (lambda: config(2, positions="sinusoids"), "got 'sinusoids'"),
    (lambda: config(2, steps=0), "got 0"),
])
def test_sizes_that_do_not_fit_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_name_says_what_is_not_as_usual():
    assert config(2, 1).name == "2 + 1"
    assert config((2, 1), 1, d_k=8, steps=1200).name == "2 on 1 + 1, width 8, 1200 steps"
    assert config(1, positions="none", causal=False).name == "1, positions: none, not causal"


def test_the_seeds_of_a_run_decide_it_alone():
    seed = random.randrange(100)
    first, again = (journeys.Model(config(1), seed).read_out.weight for _ in range(2))
    assert torch.equal(first, again)
    assert len(TOWNS) == len(set(TOWNS)) and len(NAMES) == len(set(NAMES))
