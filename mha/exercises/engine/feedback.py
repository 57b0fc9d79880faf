"""What `check` says to the programs that a page lets its reader put together: every way to fill the blanks, judged
here, so that the page needs no Python.
"""
import itertools
import random

import torch

from mha.exercises.engine.calls import observe_run
from mha.exercises.engine.exceptions import stops_with
from mha.exercises.engine.probe import same

NEAR = 2                                  # in how many blanks a program may differ from a right one and be told why
FAR = ("It differs in three blanks or more from every right program, so no mistake can be named yet. Mend one thing, "
       "and see which test inputs change.")
RIGHT, WRONG, STOPS = "+-!"               # the sign of one test input


def feedback(exercise):
    """All that the page says to the programs of one exercise; no text stands in it twice.

    Returns:
        dict of
        inputs: the test inputs in words.
        right: keys of the right programs. A key has one digit for each offered blank, the place of its fragment in
            `Blank.choices`.
        signs: key -> one sign for each input.
        said: key -> (named, asks, evidence) of its Report, as places in `lines`, for the right programs and those that
            differ from one of them in NEAR blanks at most; of others that stop, with which error.
        lines: the sentences.
        far: what is said of all other programs.
    """
    blanks = exercise.program.offered
    keys = list(itertools.product(*(range(len(blank.choices)) for blank in blanks.values())))
    functions = {key: exercise.program.function(**{name: blank.choices[place] for (name, blank), place
                                                   in zip(blanks.items(), key)}) for key in keys}
    runs = {key: signs_of(exercise, function) for key, function in functions.items()}
    signs = {key: found for key, (found, _) in runs.items()}
    reports = {key: exercise.examine(functions[key]) for key in keys if set(signs[key]) == {RIGHT}}
    right = [key for key, report in reports.items() if report.ok]
    near = [key for key in keys if any(sum(map(int.__ne__, key, other)) <= NEAR for other in right)]
    reports |= {key: exercise.examine(functions[key]) for key in near if key not in reports}
    said = {key: parts(report) for key, report in reports.items()}
    said |= {key: ((), [stopped], [FAR]) for key, (_, stopped) in runs.items() if stopped and key not in said}
    lines = list(dict.fromkeys(line for key in said for part in said[key] for line in part))
    place = {line: i for i, line in enumerate(lines)}
    return {"inputs": [exercise.describe(case) for case in exercise.cases],
            "right": [spelled(key) for key in right],
            "signs": {spelled(key): signs[key] for key in keys},
            "said": {spelled(key): [[place[line] for line in part] for part in found] for key, found in said.items()},
            "lines": lines,
            "far": FAR}


def parts(report):
    """What a report names, asks and shows. Of the hints the page has its own."""
    return report.named, report.asks, [line for line in report.evidence if not line.startswith("hint(")]


def signs_of(exercise, function):
    """(one sign for each case, the sentence with torch's words on the first that stops; empty where none does)"""
    found, stopped = "", ""
    for case, expected in zip(exercise.cases, exercise.expected):
        output, failure = observe_run(exercise, function, case.copies())
        found += (STOPS if failure is not None else RIGHT if isinstance(output, torch.Tensor) and same(output, expected)
                  else WRONG)
        if failure is not None and not stopped:
            stopped = stops_with(exercise, failure, case)
    return found, stopped


def spelled(key):
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[place] for place in key)


def shuffled(exercise, name):
    """The order in which a blank shows its choices: the same for all readers, so that two can talk about it."""
    order = list(range(len(exercise.program.blanks[name].choices)))
    random.Random(f"{exercise.id} {name}").shuffle(order)
    return order
