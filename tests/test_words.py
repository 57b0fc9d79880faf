"""The small language of chapter 0b and the transformer that learns it: the twin of what `learn.js` does in the page."""
import json
import random

import pytest
import torch

from mha import MultiHeadAttention
from mha.lab.assets.learned import EXPERIMENTS, LEARN, first_run, learned
from mha.lab.findings import chapter_00b as findings
from mha.lab.train import words
from mha.masks import causal
from tools import make_learn

TEXTS = words.every_text()


def spoken(text):
    return " ".join(words.WORDS[word] for word in text.tolist())


def test_the_exclamation_is_about_the_second_thing_and_not_turns_it():
    assert len({tuple(text) for text in TEXTS.tolist()}) == 4096
    said = {spoken(text) for text in TEXTS}
    assert {". so bad soup and not bad cake yum", ". so bad cake and not good news alas",
            ". not good film and quite poor soup yuck", ". not bad film and very great film hooray"} <= said


def test_the_tried_texts_have_each_second_phrase_twice():
    seconds = [tuple(text[5:8]) for text in words.tested().tolist()]
    assert len(seconds) == 128 and all(seconds.count(phrase) == 2 for phrase in seconds)


def test_the_layer_is_that_of_the_package():
    """Attention and its gradients, from the same numbers, as `MultiHeadAttention` has them."""
    build = words.Build(hidden=0)
    numbers = words.start(build, torch.tensor([7])).requires_grad_()
    W = build.matrices(numbers[0])
    layer = MultiHeadAttention(8, 2, d_k=2, d_v=2, bias=False, dtype=torch.float64)
    with torch.no_grad():
        for kind in "QKV":
            getattr(layer, f"W_{kind}").weight.copy_(torch.cat([W[f"W_{kind}{h}"] for h in (1, 2)], 1).T)
        layer.W_O.weight.copy_(W["W_O"].T)
    texts = TEXTS[::97]
    x = W["E"][texts[:, :-1]] + W["P"]
    logits = (x + layer(x, mask=causal(8))[0]) @ W["U"]
    ours, _ = words.read(build, numbers, texts[None, :, :-1])
    torch.testing.assert_close(ours[0], logits)
    both = [torch.autograd.grad(each.logsumexp(-1).sum(), numbers, retain_graph=True)[0] for each in (ours, logits)]
    own = sum(rows * columns for rows, columns in (build.shapes()["E"], build.shapes()["P"]))
    assert both[0][0, :own].abs().max() > 0
    torch.testing.assert_close(both[0][0, -144:], both[1][0, -144:])                         # of U, which both share


def test_a_run_among_others_is_the_run_alone():
    together = words.fit_words(words.BUILDS["two heads"], torch.tensor([5, 2]), steps=20)
    alone = words.fit_words(words.BUILDS["two heads"], torch.tensor([2]), steps=20)
    for both, one in zip(together, alone):
        torch.testing.assert_close(both[:, 1:], one, atol=1e-10, rtol=0)


def test_with_equal_weights_and_without_positions_order_is_not_heard():
    """Adverbs may change places between the phrases: the last word sees the same bag."""
    swapped = TEXTS[:, [0, 5, 2, 3, 4, 1, 6, 7, 8]]
    for build, is_deaf in ((words.Build(even=True, positions=False), True), (words.Build(positions=False), True),
                           (words.Build(), False)):
        numbers = words.start(build, torch.tensor([3]))
        a, b = (words.read(build, numbers, texts[None, ::50, :-1], last=True)[0] for texts in (TEXTS, swapped))
        assert torch.allclose(a, b) == is_deaf


def test_a_model_that_is_silenced_reads_as_one_without_attention():
    build, deaf = words.Build(), words.Build(heads=0)
    numbers = words.start(build, torch.tensor([3]))
    W = build.matrices(numbers)
    kept = torch.cat([W[name].flatten(1) for name in deaf.shapes()], 1)
    torch.testing.assert_close(words.read(build, numbers, TEXTS[None, :9, :-1], off=(0, 1))[0],
                               words.read(deaf, kept, TEXTS[None, :9, :-1])[0])


def test_part_of_what_is_stored_comes_out_again():
    """Two runs of an experiment, drawn at random; not of a rate of 0.2, which magnifies rounding without bound."""
    drawn = random.Random()
    name = drawn.choice([name for name in EXPERIMENTS if name != "rate 0.2"])
    places = sorted(drawn.sample(range(100), 2))
    again = make_learn.made(name, torch.tensor([EXPERIMENTS[name][2] + place for place in places]))
    stored = json.loads(LEARN.read_text(encoding="utf-8"))[name]
    for field, values in again.items():
        for place, value in zip(places, values):
            if field in ("right", "early", "unseen"):
                assert value == stored[field][place], (name, place, field)
            else:
                torch.testing.assert_close(torch.tensor(value), torch.tensor(stored[field][place]), atol=2e-4, rtol=0)


def test_the_first_picture_shows_the_run_of_its_seed():
    judged = words.fit_words(words.BUILDS["two heads"], torch.tensor([5]), steps=50)[1]
    torch.testing.assert_close(first_run()[:6], judged[:, 0, :2], atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["equal weights", "no positions", "no attention"])
def test_no_run_beats_who_cannot_choose(name):
    """Who hears the bag of the words before has at most 21 of 32 right, and who hears none of them one half."""
    most = 4096 // 2 if name == "no attention" else 4096 * 21 // 32
    assert learned(name).right.max() <= most


def test_the_tables_count_what_is_stored():
    two = learned("two heads")
    assert findings.early() == (int((two.early == 4096).sum()), int((two.right == 4096).sum()))
    assert sum(findings.unseen().values()) == int(two.solved.sum())
    assert torch.allclose(two.looks.sum(-1), torch.ones(100, 2, 2), atol=1e-3)
