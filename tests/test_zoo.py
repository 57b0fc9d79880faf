"""The zoo: what is shown is made by the answer, and by no other option."""
import re
from pathlib import Path

import nbformat
import pytest
import torch

from _ext.exercise_pages import KINDS
from mha.exercises import zoo
from mha.exercises.zoo.kinds import ROOMS, WhichBug, WhichLine, WhichPicture, WhichTest
from mha.exercises.zoo.room_4 import learned
from mha.exercises.zoo.staged import (
    D, H, LENGTH, REAL, W_DKV, W_K, W_Q, W_UK, X, influence, layer, merge, run, split, training, weights,
)


def every(*kinds):
    return pytest.mark.parametrize("item", [item for item in zoo.SPECIMENS if isinstance(item, kinds)],
                                   ids=lambda item: item.id)


def alike(a, b):
    """Whether a reader cannot tell two pictures apart."""
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=0, atol=0.05)


@every(WhichBug, WhichPicture, WhichLine, WhichTest)
def test_a_specimen_differs_from_what_it_should_be_and_cites_its_source(item):
    buggy, sound = item.buggy(), item.sound()
    assert buggy.shape == sound.shape and not alike(buggy, sound)
    assert "https://github.com/" in item.note and re.search(r"20\d\d", item.note)


@every(WhichBug, WhichPicture)
def test_the_picture_is_made_by_the_answer_and_by_no_other_option(item):
    shown = item.buggy()
    for letter, option in zip(item.letters, item.options):
        assert letter == item.right or not alike(option.makes(), shown), letter


@every(WhichPicture)
def test_a_line_is_asked_about_as_it_is_run_and_no_two_of_its_pictures_are_alike(item):
    assert f"`{item.line}`" in item.statement and any(alike(maps, item.sound()) for maps in item.made().values())
    made = list(item.made().values())
    assert not any(alike(a, b) for i, a in enumerate(made) for b in made[:i])


@every(WhichLine)
def test_the_shapes_beside_the_lines_are_those_that_come(item):
    sizes, known = {"B": 3, "n": 5, "h": H, "d": D // H}, 0                   # no two alike
    names = {**sizes, "x": torch.randn(3, 5, D, dtype=torch.float64), "real": torch.rand(3, 5) > 0.5}
    for line in item.program().splitlines():
        names = run(line, **names)
        for axes in re.findall(r"# \((.*)\)$", line):
            shape = [eval(axis.strip().replace(" ", "*"), {}, sizes) for axis in axes.split(",")]
            assert names[line.split()[0].strip(",")].shape == torch.Size(shape), line
            known += 1
    assert known >= 3 and item.mended not in item.program()


def test_the_programs_are_right_once_they_are_mended():
    scores = split(X @ W_Q) @ split(X @ W_K).mT / (D // H) ** 0.5
    from_latents = split(X @ W_Q) @ split(X @ W_DKV @ W_UK).mT / (D // H) ** 0.5
    right = {"B.7": weights(scores)[0], "B.11": weights(scores, REAL[:, None, None]).flatten(0, 1),
             "B.3": influence(layer()), "B.20": weights(from_latents)[0]}
    for item in zoo.SPECIMENS:
        if isinstance(item, WhichLine):
            torch.testing.assert_close(item.sound(), right.pop(item.id))
    assert not right and torch.equal(merge(split(X)), X)


@every(WhichTest)
def test_a_test_is_an_answer_where_the_bug_fails_it_and_passes_without_the_bug(item):
    for letter, option in zip(item.letters, item.options):
        assert option.passes(item.healthy)
        assert option.passes(item.layer) != (letter in item.right), letter
    assert alike(influence(item.layer), item.buggy()) and alike(influence(item.healthy), item.sound())


def test_whoever_sees_the_future_gets_below_the_dice_from_every_start():
    past = torch.ones(LENGTH, LENGTH).tril() > 0
    dice = torch.tensor(8.0).log() / 2
    for seed in range(1, 4):
        assert training(lambda scores: scores, seed)[-1] < 0.1
        end = training(lambda scores: scores.masked_fill(~past, -torch.inf), seed)[-20:].mean()
        assert dice - 0.03 < end < dice + 0.06
    assert learned("scores.masked_fill(~causal, -inf)")[0, 0, -1] < 0.1


def test_a_room_never_asks_the_same_way_all_the_time():
    rooms = {}
    for item in zoo.SPECIMENS:
        rooms.setdefault(item.after, []).append(item.kind)
    assert len(rooms) == 5 and all(len(set(kinds)) >= 2 for kinds in rooms.values())
    assert {kind for kinds in rooms.values() for kind in kinds} == {"bug", "picture", "line", "test"} <= KINDS.keys()
    for kinds in rooms.values():
        assert not any(len(set(kinds[i:i + 3])) == 1 for i in range(len(kinds) - 2))
    numbers = sorted(int(item.id[2:]) for item in zoo.SPECIMENS)
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_room_is_called_by_one_name_in_its_heading_in_the_contents_and_beside_its_specimens():
    cells = nbformat.read(Path(__file__).resolve().parent.parent / "chapters" / "B_bug_zoo.ipynb", as_version=4).cells
    for section, room in ROOMS.items():
        title = f"{section.split()[1]}. {room.capitalize()}"
        assert any(cell.source.startswith(f"## {title}: ") for cell in cells) and f"[{title}](#" in cells[0].source
    assert all(f"in {ROOMS[item.after]}" in item.about for item in zoo.SPECIMENS)
