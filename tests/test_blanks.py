"""Programs with blanks: what a page offers hangs together, and what it says is what `check` says."""
import random

import pytest

from mha.exercises import EXERCISES, check
from mha.exercises.engine.blanks import BLANK, Blank, Program
from mha.exercises.engine.feedback import FAR, NEAR, STOPS, WRONG, shuffled
from mha.exercises.engine.report import Mistake
from stored.replies import replies_to

IN_CODE = [item for item in EXERCISES.values() if item.in_code]
WITH_BLANKS = [item for item in IN_CODE if item.program]
every_program = pytest.mark.parametrize("exercise", WITH_BLANKS, ids=lambda item: item.id)
ENOUGH = 100
DOUBLED = Program("def doubled(x):\n    y = x <times>\n    <after>\n    return y\n",
                  {"times": Blank("* 2", {"* 3": Mistake("three", "Three."), "": Mistake("none", "Nothing.")}, 2),
                   "after": Blank("", {"y = y + 1\ny = y * y": Mistake("more", "More.")})},
                  {"times after": {("* 3", "y = y - x"): Mistake("both", "Both.")}})


def test_a_program_is_filled():
    assert DOUBLED.filled() == "def doubled(x):\n    y = x * 2\n    return y\n"
    assert DOUBLED.filled(after="y = y + 1\ny = y * y").splitlines()[2:] == ["    y = y + 1", "    y = y * y",
                                                                            "    return y"]
    assert DOUBLED.reference(3) == 6 and DOUBLED.model(3, times="* 3") == 9
    assert DOUBLED.model(3, **{"times after": ("* 3", "y = y - x")}) == 6
    assert list(DOUBLED.offered) == ["times"] and DOUBLED.offered["times"].choices == ["* 2", "* 3", ""]
    assert [*DOUBLED.switches] == ["times", "after", "times after"] and DOUBLED.name == "doubled"


@every_program
def test_two_mistakes_told_together_stand_in_blanks_of_their_own(exercise):
    """Where they shared one, the last would win, and the other be told of a program that does not make it."""
    for settings, _ in exercise.pairs():
        backwards = dict(reversed(settings.items()))
        assert exercise.program.filled(**settings) == exercise.program.filled(**backwards), settings


@every_program
def test_source_and_table_have_the_same_blanks(exercise):
    program = exercise.program
    assert set(BLANK.findall(program.source)) == set(program.blanks) and program.name == exercise.name
    assert set(" ".join(program.together).split()) <= set(program.blanks)


@every_program
def test_a_page_offers_enough_to_think_about(exercise):
    offered = exercise.program.offered.values()
    count = len(replies_to(exercise)["signs"])
    assert len(offered) >= 4 or count >= ENOUGH, f"{len(offered)} blanks, {count} programs"


@every_program
def test_the_page_says_what_check_says(exercise):
    """Of eight programs drawn by lot, and of the right ones: all lines, in their order; how far off the others are."""
    found = replies_to(exercise)
    blanks = exercise.program.offered
    drawn = random.Random(exercise.id).sample(sorted(found["signs"]), min(8, len(found["signs"])))
    for key in {*drawn, *found["right"]}:
        chosen = {name: blank.choices[int(place, 36)] for (name, blank), place in zip(blanks.items(), key)}
        report = check(exercise.id, exercise.program.function(**chosen))
        assert report.ok == (key in found["right"])
        assert report.ok or set(found["signs"][key]) != {"+"} or not report.evidence == ()
        near = any(sum(map(str.__ne__, key, right)) <= NEAR for right in found["right"])
        if near:
            lines = [found["lines"][place] for part in found["said"][key] for place in part]
            wanted = [line for line in "\n".join(lines).splitlines()]
            assert wanted == [line for line in report.text.splitlines()[1:] if not line.startswith("hint(")]
        elif STOPS in found["signs"][key]:
            named, asks, evidence = ([found["lines"][place] for place in part] for part in found["said"][key])
            assert not named and evidence == [FAR] and "it stops with" in asks[0]
            assert asks[0] in report.text or WRONG in found["signs"][key].partition(STOPS)[0]
        else:
            assert key not in found["said"]


@every_program
def test_the_right_fragments_are_among_the_right_programs(exercise):
    found = replies_to(exercise)
    assert "0" * len(exercise.program.offered) in found["right"]
    assert STOPS not in "".join(found["signs"][key] for key in found["right"])


@every_program
def test_choices_are_shown_in_one_order_for_all_and_not_the_right_one_first_everywhere(exercise):
    orders = [shuffled(exercise, name) for name in exercise.program.offered]
    assert orders == [shuffled(exercise, name) for name in exercise.program.offered]
    assert all(sorted(order) == list(range(len(order))) for order in orders)
    assert any(order[0] != 0 for order in orders)
