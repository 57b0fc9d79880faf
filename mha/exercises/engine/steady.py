"""Whether what an answer gives depends on its arguments alone. If not: is it left to chance, or does it remember?

Chance and memory look alike in two calls, and a chance that seldom shows looks like neither. So each is said only where
it was seen: memory where copies of the function that were never called agree with each other, and the one that was
called differs from them, with and without a seed; chance where one seed gives one output, and another seed another.
"""
import random
import sys
from contextlib import contextmanager

import torch

from mha.exercises.engine.calls import observe_run
from mha.exercises.engine.probe import same

REPEATS = 5                                           # calls with the same input that must agree
SEEDS = 40                                            # tried until two of them give different outputs
ALONE = "What it returns should depend on its arguments alone."
CHANCE = ("Called twice with the same input, it gives different outputs. Something in it is left to chance: dropout, a "
          f"layer made anew at each call, or a method that draws numbers. {ALONE}")
MEMORY = ("It remembers something from one call to the next: a variable outside the function, a default argument, a "
          f"buffer that is filled further, for instance. {ALONE}")
EITHER = ("Called again with the same input, it gave another output. Either something is left to chance (dropout, a "
          "layer made anew, memory that nothing was written to, as torch.empty gives it), or it remembers something "
          f"from one call to the next. {ALONE}")


def varies(exercise, answer, args):
    """Whether an answer gives different outputs for the same input, which the function args makes."""
    first = outcome(exercise, answer, args())
    return any(not alike(outcome(exercise, answer, args()), first) for _ in range(REPEATS))


def unlike_before(exercise, answer, outputs, failures, first):
    """The first case for which an answer, called again, gives another output than before; None where there is none.

    One call more for each case, as the large ones show a chance that is seldom; and REPEATS for the first wrong one.
    """
    for i in [*range(len(outputs)), *[first] * REPEATS]:
        case, before = exercise.cases[i], failures[i] and type(failures[i]) or tensor_or_none(outputs[i])
        if not alike(outcome(exercise, answer, case.copies()), before):
            return case
    return None


def chance_or_memory(exercise, answer, alone, args):
    """(ids, line) on an answer that was seen to give different outputs for the same input."""
    def seeded(function, seed):
        with seed_set(seed):
            return outcome(exercise, function, args())
    fresh = [outcome(exercise, alone, args()) for _ in range(REPEATS)]
    fresh += [seeded(alone, seed) for seed in range(REPEATS)]
    used = [seeded(answer, seed) for seed in range(REPEATS)] + [outcome(exercise, answer, args())]
    if all(alike(fresh[0], other) for other in fresh) and not any(alike(fresh[0], old) for old in used):
        return ["keeps-state"], MEMORY
    found = []
    for seed in range(SEEDS):
        one, *others = seeded(alone, seed), seeded(alone, seed), seeded(answer, seed)
        if not all(alike(one, other) for other in others):
            break
        found.append(one)
        if not alike(one, found[0]):
            return ["random"], CHANCE
    return ["random", "keeps-state"], EITHER


def outcome(exercise, answer, args):
    """What is compared, or the type of what was raised."""
    output, failure = observe_run(exercise, answer, args)
    return type(failure) if failure is not None else tensor_or_none(output)


def tensor_or_none(output):
    return output if isinstance(output, torch.Tensor) else None


def alike(one, other):
    """Two outcomes, up to rounding."""
    return same(one, other) if isinstance(one, torch.Tensor) else one is other


@contextmanager
def seed_set(seed):
    """Chance begins anew at this seed, in torch, random and numpy; afterwards it goes on as if nothing had been drawn.
    """
    numpy = sys.modules.get("numpy")
    before, drawn = random.getstate(), numpy and numpy.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        random.seed(seed)
        numpy and numpy.random.seed(seed)
        try:
            yield
        finally:
            random.setstate(before)
            numpy and numpy.random.set_state(drawn)
