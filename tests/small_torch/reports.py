"""What the checker says of every answer, under whichever torch comes first on the path: a file of reports.

    PYTHONPATH=small_torch:tests python tests/small_torch/reports.py FILE SET [SET ...] [--every N]

SET: references, right, mistakes, mutants. With --every N, each Nth of a set of more than a thousand. A report is its
text, or the name of what is not here.
"""
import argparse
import json
import os
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


def report(id, answer):
    progress._session.clear()
    NOT_HERE.clear()
    try:
        said = check(id, answer)
        found = {"ok": said.ok, "mistakes": said.mistakes, "text": said.text}
    except BaseException as failure:
        if type(failure).__name__ != "NotHere":
            raise
    return {"not_here": NOT_HERE[0]} if NOT_HERE else found


def reports(sets, every=1):
    found = defaultdict(dict)
    for name in sets:
        answers = list(globals()[name]().items())
        for key, (id, answer) in answers[::every if len(answers) > 1000 else 1]:
            found[name][key] = report(id, answer())
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--every", type=int, default=1)
    asked = parser.parse_args()
    Path(asked.file).write_text(json.dumps(reports(asked.sets, asked.every)), encoding="utf-8")
