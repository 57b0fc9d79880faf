"""mha.lab.story_file: a decoder as a small file for a page, and what is stored of what it tells; with the weights of
stories15M, that the file loses next to nothing.
"""
import gzip

import pytest
import torch

from mha.lab import stories, story_file
from mha.lab.assets.told import ALL_HEADS, CHANGES, FIRST_OFF, LISTED, OPENINGS, WRITTEN, told
from mha.widgets import story_that_breaks
from test_stories import pieces, small
from tools import make_told

KEPT = [0, 1, 265, 263, 259, 260]


@pytest.fixture
def made():
    """A model, its tokenizer, means of its heads, and their file."""
    model, tokenizer = small(vocabulary=267, num_kv_heads=4).float(), pieces()
    means = torch.randn(3, 4, 6)
    return model, tokenizer, means, story_file.packed(model, tokenizer, KEPT, means)


def test_what_is_read_is_within_half_a_step_of_what_was_packed(made):
    model, _, means, data = made
    ours, _, read = story_file.read(data)
    assert torch.equal(read, means) and ours.positions == model.positions
    for name, parameter in ours.named_parameters():
        theirs = model.get_parameter(name).detach()
        theirs = theirs[KEPT] if name == "embedding.weight" else theirs
        step = theirs.abs().amax(-1, keepdim=True) / story_file.MOST if theirs.ndim == 2 else torch.zeros(1)
        assert ((parameter - theirs).abs() <= step / 2 + 1e-6).all(), name


def test_the_bytes_are_the_same_each_time(made):
    assert story_file.packed(*made[:2], KEPT, made[2]) == made[3]


def test_a_text_of_kept_pieces_is_cut_as_before(made):
    _, tokenizer, _, data = made
    _, ours, _ = story_file.read(data)
    assert [ours.pieces[i] for i in ours.encode("ab")[1:]] == [tokenizer.pieces[i] for i in tokenizer.encode("ab")[1:]]
    assert [ours.pieces[i] for i in ours.encode("ab")] == [b"\n<s>\n", b" a", b"b"]


def test_with_a_piece_all_on_the_way_to_it_are_kept():
    tokenizer = pieces()
    bab = tokenizer.number[b"bab"]
    assert {tokenizer.pieces[i] for i in story_file.on_the_way(tokenizer, b"bab")} == {b"a", b"b", b"ba", b"bab"}
    tokenizer.number |= {chr(code).encode(): 3 + code for code in range(32, 127)
                         if chr(code).encode() not in tokenizer.number}
    kept = story_file.closed(tokenizer, [bab, 0, 3 + 200])
    assert kept[:2] == [0, 1] and len(kept) == len(set(kept)) and 3 + 200 not in kept and 3 + ord("\n") in kept
    ours = story_file.cut(tokenizer, kept)
    assert [ours.pieces[i] for i in ours.encode("bab")[1:]] == [b" ", b"bab"]


def test_a_header_comes_first_and_says_what_follows(made):
    raw = gzip.decompress(made[3])
    length = int.from_bytes(raw[:4], "little")
    assert length % 4 == 0 and raw[4:6] == b'{"' and b'"heads":4' in raw[4:4 + length]


# --- What is stored -------------------------------------------------------------------------------------------------

def test_what_is_stored_of_each_change_is_whole():
    stored = told()
    assert stored.written.shape == (len(OPENINGS), CHANGES, WRITTEN)
    assert stored.next.shape == (len(OPENINGS), CHANGES, LISTED)
    assert stored.chance.shape == (len(OPENINGS), CHANGES, 2, LISTED) and stored.means.shape == (6, 6, 48)
    assert (stored.chance[:, 0, 0] == stored.chance[:, 0, 1]).all() and stored.chance.sum(-1).max() < 1.002
    for i, (text, word, _) in enumerate(OPENINGS):
        shown = [stored.pieces[token] for token in stored.tokens[i]]
        assert "".join(shown[1:]) == f" {text}" and f" {word}" in shown
        weights = stored.weights[i]
        assert weights.shape == (6, 6, len(shown), len(shown)) and (weights.triu(1) == 0).all()
        assert (weights.sum(-1) - 1).abs().max() < 0.15                             # hundredths of up to 28 weights


def first(opening, change):
    """The token that is written first."""
    stored = told()
    return stored.pieces[stored.written[opening, change, 0]].strip()


def test_values_of_one_head_rename_the_hero_and_all_keys_do_not():
    off = FIRST_OFF + ALL_HEADS.index((5, 1))
    assert [first(0, change) for change in (0, 1, 2, 3)] == ["Anna", "Lucy", "Lucy", "Anna"]
    assert [first(1, change) for change in (0, 1, 2, 3)] == ["Ben", "Tom", "Tom", "Ben"]
    assert first(0, off) not in ("Anna", "Lucy") and first(1, off) not in ("Ben", "Tom")


# --- The model itself -----------------------------------------------------------------------------------------------

TEXT = ("Mia had a small red boat. Every day she took it to the pond behind her house. One morning the wind was strong "
        "and the boat floated far away. Mia was sad. Then a duck swam to the boat and pushed it back with its beak.")


@pytest.fixture(scope="module")
def models():
    """stories15M and its tokenizer, and those of the file."""
    if stories.find(download=False) is None:
        pytest.skip("no weights of stories15M: set MHA_MODELS")
    return stories.load(), story_file.read(story_that_breaks.file())[:2]


@torch.no_grad()
def test_the_file_costs_next_to_nothing(models):
    whole, rounded = (float(model.losses(torch.tensor([tokenizer.encode(TEXT)])).mean()) for model, tokenizer in models)
    assert abs(rounded - whole) < 0.03
    assert len(story_that_breaks.file()) / 1e6 == pytest.approx(story_that_breaks.MEGABYTES, abs=0.06)


@torch.no_grad()
def test_what_is_stored_is_what_the_file_computes(models, some):
    i = some.randrange(len(OPENINGS))
    logits, _ = make_told.changed(*models[1], OPENINGS[i])
    best, chance = make_told.listed(logits)
    model, tokenizer = models[1]
    assert (chance - told().chance[i]).abs().max() < 2e-3
    assert (make_told.weights_of(model, tokenizer.encode(OPENINGS[i][0])) - told().weights[i]).abs().max() < 6e-3
