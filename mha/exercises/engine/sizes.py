"""For which sizes an answer is right, as a condition: "B = 1", "d_v = d_k".

An exercise tells how a case of given sizes is made (`Exercise.sized`). Tried are sizes that are all different and above
1, and besides, for each condition, sizes that meet this one and no other.
"""
import inspect
import itertools
import random
import re

from mha.exercises.engine.calls import always, observe_run
from mha.exercises.engine.probe import same
from mha.exercises.engine.steady import tensor_or_none

NO_MULTIPLES = 2, 3, 5, 7, 4, 9, 11                   # of which none is the product of two others
ASKS = {"B = 1": "What becomes of the second sentence?",
        "d_k = d_v": "Where are values taken to be as wide as keys?",
        "d_model = h d_k and d_k = d_v": "Which tensors tell how wide a head is?"}
BOTH = "d_model = h d_k and d_k = d_v"                # told only where neither is enough
LITTLE = re.compile("[nmd].* = 1$")                   # of one key, say, a softmax is right whatever is wrong with it
TRIED = 2                                             # cases for each condition


def probes(exercise):
    """{condition: [(case, what is right there)]}; the condition "" is that none holds. Made once, then kept.

    What is called h_over_h_kv is h/h_kv.
    """
    if "probes" not in exercise._made:
        names = list(inspect.signature(exercise.sized).parameters)
        exercise._made["probes"] = {
            words.replace("_over_", "/"): [with_answer(exercise, exercise.sized(**fixed(drawn(names, seed))))
                                           for seed in range(TRIED)]
            for words, fixed in conditions(names)}
    return exercise._made["probes"]


def conditions(names):
    """(in words, function that changes sizes so that it holds) of each."""
    yield "", lambda sizes: sizes
    for name in names:
        yield f"{name} = 1", lambda sizes, name=name: {**sizes, name: 1}
    for one, other in itertools.combinations(names, 2):
        yield f"{one} = {other}", lambda sizes, one=one, other=other: {**sizes, one: sizes[other]}
    for width in ("d_k", "d_v"):
        if {"d_model", "h", width} <= {*names}:
            yield (f"d_model = h {width}",
                   lambda sizes, width=width: {**sizes, "d_model": sizes["h"] * sizes[width]})
    if {"d_model", "h", "d_k", "d_v"} <= {*names}:
        yield (BOTH,
               lambda sizes: {**sizes, "d_model": sizes["h"] * sizes["d_k"], "d_v": sizes["d_k"]})


def drawn(names, seed):
    return dict(zip(names, random.Random(seed).sample(NO_MULTIPLES, len(names))))


def with_answer(exercise, case):
    return case, exercise.outcome(exercise.reference, case)


def tried(exercise, answer):
    """{condition: for each of its cases, whether the answer is right}"""
    return {words: [same(observe_run(exercise, answer, case.copies())[0], wanted) for case, wanted in cases]
            for words, cases in probes(exercise).items()}


def condition(exercise, answer, little):
    """For which sizes an answer is right, or wrong, in a sentence, and what asks about it; ("", "") where that has no
    simple answer.

    Args:
        little: whether to tell, too, what is so whatever is wrong, such as that all is right for one key.
    """
    if not exercise.sized:
        return "", ""
    found = tried(exercise, answer)
    usual, both = found.pop(""), found.pop(BOTH, [False])
    good = [words for words, right in found.items() if all(right)]
    bad = [words for words, right in found.items() if not any(right)]
    good = [words for words in good or [BOTH] * all(both) if whatever_the_numbers(exercise, answer, words)]
    if all(usual) and 0 < len(bad) <= 3 and len(good) + len(bad) == len(found):
        return f"Of the sizes tried, it is wrong only where {' or '.join(bad)}.", "What is different there?"
    if any(usual) or not 0 < len(good) <= 3 or not little and all(map(LITTLE.match, good)):
        return "", ""
    telling = next((words for words in good if not words.endswith("= 1")), good[0])
    where = " or ".join(good)
    only = good == [BOTH] or len(good) + len(bad) == len(found)
    return (f"Of the sizes tried, it is right only where {where}." if only else
            f"Of the sizes tried, it is right where {where}, and wrong where all sizes differ."), question(telling)


def whatever_the_numbers(exercise, answer, words):
    """Whether an answer is right for the sizes of a condition with other numbers, too."""
    return all(always(exercise, answer, case, True, tries=4) for case, _ in probes(exercise)[words])


def question(words):
    """What asks about sizes that are right by luck."""
    one, _, other = words.partition(" = ")
    return ASKS.get(words) or (f"What does it do where {one} is more than 1?" if other == "1"
                               else f"Where is {one} taken for {other}, or one axis for another?")


def alike(exercise, answer, settings, strictly):
    """Whether an answer gives the same as a model for all sizes that are tried, where both give what can be compared;
    and, strictly, neither does so alone.
    """
    if not exercise.sized:
        return True
    for case, _ in itertools.chain.from_iterable(probes(exercise).values()):
        mine, other = (tensor_or_none(observe_run(exercise, function, case.copies())[0])
                       for function in (answer, lambda *args: exercise.model(*args, **settings)))
        alone = mine is None or other is None
        if alone and strictly and mine is not other or not alone and not same(mine, other):
            return False
    return True
