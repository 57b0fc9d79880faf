"""What the checker says of every answer, under whichever torch comes first on the path: a file of reports.

    PYTHONPATH=small_torch:tests python tests/small_torch/reports.py FILE SET[:N] [SET[:N] ...]

SET: references, right, mistakes, mutants, slips; with :N, each Nth of it. A report is its text, or the name of what is
not here.
"""
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

os.environ["MHA_PROGRESS"] = str(Path(tempfile.mkdtemp()) / "none" / "progress.json")

import torch  # noqa: E402

from mha.exercises import EXERCISES, check, find  # noqa: E402
from mha.exercises.engine import progress  # noqa: E402
from mha.exercises.engine.exercise import Exercise  # noqa: E402
from right_answers import ANSWERS  # noqa: E402

IN_CODE = [item for item in EXERCISES.values() if isinstance(item, Exercise)]
NOT_HERE = getattr(torch, "not_here", [])
SURE = getattr(torch, "sure", lambda function: function())


def references():
    return {exercise.id: (exercise.id, lambda e=exercise: e.reference) for exercise in IN_CODE}


def right():
    return {str(answer): (find(answer.name), lambda a=answer: a.function) for answer in ANSWERS}


def mistakes():
    return {f"{exercise.id} {settings}": (exercise.id, lambda e=exercise, s=settings: lambda *args: e.model(*args, **s))
            for exercise in IN_CODE for settings, _ in exercise.singles()}


def mutants():
    from test_right_answers import mutants_of
    return {f"{exercise.id} {answer} {source}": (exercise.id, lambda a=answer, s=source: a.rewritten(s))
            for exercise in IN_CODE for answer, source in mutants_of(exercise.name)}


def slipped():
    """Of each exercise some sixty slips, in all its right answers."""
    from slips import slips
    for exercise in IN_CODE:
        found = [(answer, source) for answer in ANSWERS if answer.name == exercise.name
                 for source in dict.fromkeys(slips(answer.source))
                 if not re.search(r"\b(range|while|svd|eigh)\b", source)]
        for answer, source in found[::len(found) // 60 or 1]:
            yield f"{exercise.id} {answer} {source}", (exercise.id, lambda a=answer, s=source: a.rewritten(s))


def slips():
    return dict(slipped())


def report(id, answer):
    progress._session.clear()
    NOT_HERE.clear()
    try:
        said = SURE(lambda: check(id, answer))
        found = {"ok": said.ok, "mistakes": said.mistakes, "text": said.text}
    except BaseException as failure:
        if type(failure).__name__ != "NotHere":
            raise
    return {"not_here": NOT_HERE[0]} if NOT_HERE else found


def reports(sets):
    found = defaultdict(dict)
    for asked in sets:
        name, _, every = asked.partition(":")
        for key, (id, answer) in list(SETS[name]().items())[::int(every or 1)]:
            found[name][key] = report(id, answer())
    return found


SETS = {function.__name__: function for function in (references, right, mistakes, mutants, slips)}


if __name__ == "__main__":
    file, *sets = sys.argv[1:]
    Path(file).write_text(json.dumps(reports(sets)), encoding="utf-8")
