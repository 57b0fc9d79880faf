"""What the pages say to programs with blanks (mha/exercises/replies.py): computed once, then read by the build and by
the tests, as long as nothing has changed that it could depend on.
"""
import hashlib
import json
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch

from mha.exercises import EXERCISES
from mha.exercises.replies import replies

ROOT = Path(__file__).resolve().parent.parent
REPLIES = ROOT / "_build" / "replies"
OTHERS = re.compile(r"exercises/(e\d|questions_|zoo/)")                      # what replies to one exercise do not need


def replies_to(item):
    """The replies to the programs of one exercise, as `replies` gives them."""
    place = place_of(item)
    if not place.exists():
        REPLIES.mkdir(parents=True, exist_ok=True)
        whole = place.with_suffix(f".{os.getpid()}")
        whole.write_text(json.dumps(replies(item)), "utf8")
        whole.replace(place)                                                 # so that nobody ever reads half of it
    return json.loads(place.read_text("utf8"))


def place_of(item):
    """The file of an exercise's replies. Its name changes with the package, the exercise, Python and torch."""
    digest = hashlib.sha256(f"{sys.version} {torch.__version__}".encode())
    for path in sorted((ROOT / "mha").rglob("*.py")):
        name = path.relative_to(ROOT / "mha").as_posix()
        if not OTHERS.match(name) or name.startswith(f"exercises/e{item.id.replace('.', '_')}_"):
            digest.update(f"\0{name}\0".encode() + path.read_bytes())
    return REPLIES / f"{item.id}-{digest.hexdigest()[:16]}.json"


def prepare(items):
    """Compute what is missing of these exercises, on all cores."""
    missing = [item.id for item in items if not place_of(item).exists()]
    if not missing:
        return
    with ProcessPoolExecutor(os.cpu_count(), initializer=torch.set_num_threads, initargs=(1,)) as workers:
        list(workers.map(prepare_one, missing))


def prepare_one(id):
    replies_to(EXERCISES[id])
