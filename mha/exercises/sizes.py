"""For which sizes an answer is right, as a condition: "B = 1", "d_v = d_k".

An exercise tells how a case of given sizes is made (`Exercise.sized`). Tried are sizes that are all different and above
1, and besides, for each condition, sizes that meet this one and no other.
"""
import inspect
import itertools
import random

from mha.exercises.calls import observe_run
from mha.exercises.probe import same

NO_MULTIPLES = 2, 3, 5, 7, 4, 9, 11                   # of which none is the product of two others
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
    for a, b, c in (("d_model", "h", "d_k"), ("d_model", "h", "d_v")):
        if {a, b, c} <= {*names}:
            yield f"{a} = {b} {c}", lambda sizes, a=a, b=b, c=c: {**sizes, a: sizes[b] * sizes[c]}


def drawn(names, seed):
    return dict(zip(names, random.Random(seed).sample(NO_MULTIPLES, len(names))))


def with_answer(exercise, case):
    return case, exercise.outcome(exercise.reference, case)


def tried(exercise, answer):
    """{condition: for each of its cases, whether the answer is right}"""
    return {words: [same(observe_run(exercise, answer, case.copies())[0], wanted) for case, wanted in cases]
            for words, cases in probes(exercise).items()}


def condition(exercise, answer):
    """For which sizes an answer is right, or wrong, in a sentence, and what asks about it; ("", "") where that has no
    simple answer.
    """
    if not exercise.sized:
        return "", ""
    found = tried(exercise, answer)
    usual = found.pop("")
    good = [words for words, right in found.items() if all(right)]
    bad = [words for words, right in found.items() if not any(right)]
    if len(good) + len(bad) < len(found) or len({*usual}) > 1:
        return "", ""
    if not any(usual) and 0 < len(good) <= 3:
        return f"Of the sizes tried, it is right only where {' or '.join(good)}.", question(good[0])
    if all(usual) and 0 < len(bad) <= 3:
        return f"Of the sizes tried, it is wrong only where {' or '.join(bad)}.", "What is different there?"
    return "", ""


def question(words):
    """What asks about sizes that are right by luck."""
    one, _, other = words.partition(" = ")
    return (f"What does it do where {one} is more than 1?" if other == "1"
            else f"Where is {one} taken for {other}, or one axis for another?")


def alike(exercise, answer, settings):
    """Whether an answer fails for the same sizes as a model, and gives the same where both run."""
    if not exercise.sized:
        return True
    for case, _ in itertools.chain.from_iterable(probes(exercise).values()):
        mine, failed = observe_run(exercise, answer, case.copies())
        other, failed_too = observe_run(exercise, lambda *args: exercise.model(*args, **settings), case.copies())
        if (failed is None) != (failed_too is None) or failed is None and not same(mine, other):
            return False
    return True
