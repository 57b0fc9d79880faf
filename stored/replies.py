"""What the pages say to programs with blanks (mha/exercises/engine/feedback.py): computed once, then read by the build
and by the tests, as long as nothing has changed that it could depend on.
"""
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch

from mha.exercises import EXERCISES
from mha.exercises.engine.feedback import feedback
from stored import imports

ROOT = Path(__file__).resolve().parent.parent
REPLIES = ROOT / "_build" / "replies"


def replies_to(item):
    """The replies to the programs of one exercise, as `feedback` gives them."""
    place = place_of(item)
    if not place.exists():
        REPLIES.mkdir(parents=True, exist_ok=True)
        whole = place.with_suffix(f".{os.getpid()}")
        whole.write_text(json.dumps(feedback(item)), "utf8")
        whole.replace(place)                                                 # so that nobody ever reads half of it
    return json.loads(place.read_text("utf8"))


def place_of(item):
    """The file of an exercise's replies. Its name changes with the package, the exercise, Python and torch."""
    [module] = [name for name in imports.exercises_of(item.id.split('.')[0])
                if f".e{item.id.replace('.', '_')}_" in name]
    needed = imports.reached("from mha.exercises.engine import feedback", [module])
    return REPLIES / f"{item.id}-{imports.digest(needed, sys.version, torch.__version__)}.json"


def prepare(items):
    """Compute what is missing of these exercises, on all cores."""
    missing = [item.id for item in items if not place_of(item).exists()]
    if not missing:
        return
    with ProcessPoolExecutor(os.cpu_count(), initializer=torch.set_num_threads, initargs=(1,)) as workers:
        list(workers.map(prepare_one, missing))


def prepare_one(id):
    replies_to(EXERCISES[id])
