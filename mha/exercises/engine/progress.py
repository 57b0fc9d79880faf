"""What has been solved: kept in one JSON file, and carried between machines as a short code.

The file is MHA_PROGRESS if that is set, else .mha/progress.json in the home folder. Nothing is sent anywhere. Where the
file cannot be written, as on a read-only machine, progress lasts as long as the session. The page of the book keeps its
own progress in the browser and reads and gives the same code.
"""
import json
import os
import re
import tempfile
import warnings
from pathlib import Path

VERSION = 1
_session: dict[str, dict] = {}


def place():
    """The file that progress is kept in."""
    return Path(os.environ.get("MHA_PROGRESS") or Path.home() / ".mha" / "progress.json")


def load():
    """id -> {"tries": int, "hints": int, "solved": bool}, of the file and of this session."""
    known = {id: dict(entry) for id, entry in stored().items()}
    for id, entry in _session.items():
        known[id] = merged(known.get(id, {}), entry)
    return known


def stored():
    """What stands in the file; empty where there is none. A file that cannot be read is set aside, never overwritten.
    """
    path = place()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["version"] > VERSION:
            warnings.warn(f"{path} is of a newer version of mha and stays as it is; progress lasts for this session "
                          "only.",
                          stacklevel=2)
            return {}
        return {str(id): {"tries": int(e.get("tries", 0)), "hints": int(e.get("hints", 0)),
                          "solved": bool(e.get("solved"))} for id, e in found["exercises"].items()}
    except OSError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        aside = path.with_suffix(".unreadable.json")
        try:
            path.replace(aside)
        except OSError:
            return {}
        warnings.warn(f"{path} could not be read and is now {aside}; progress starts anew.", stacklevel=2)
        return {}


def merged(one, other):
    """Of two records of one exercise, the more of each."""
    return {"tries": max(one.get("tries", 0), other.get("tries", 0)),
            "hints": max(one.get("hints", 0), other.get("hints", 0)),
            "solved": one.get("solved", False) or other.get("solved", False)}


def note(id, tries=0, hints=0, solved=False):
    """Add to the record of one exercise and keep it. Returns the record."""
    known = load()
    before = known.get(id, {})
    known[id] = _session[id] = {"tries": before.get("tries", 0) + tries, "hints": before.get("hints", 0) + hints,
                                "solved": before.get("solved", False) or solved}
    save(known)
    return known[id]


def save(known):
    """Write the file whole or not at all: first beside it, then in its place."""
    path = place()
    try:
        if path.exists() and json.loads(path.read_text(encoding="utf-8")).get("version", 0) > VERSION:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, "exercises": known}, file, indent=1)
        os.replace(name, path)
    except (OSError, ValueError, AttributeError):
        return


# --- The code -------------------------------------------------------------------------------------------------------

def encode(ids):
    """A short code for solved exercises: "mha1-1.7-2.3-xx" has a bit for each exercise of a chapter, then a check. An
    id such as "c2.1", completed in the page, belongs to a chapter "c2".
    """
    bits = {}
    for id in ids:
        chapter, number = id.split(".")
        bits[chapter] = bits.get(chapter, 0) | 1 << (int(number) - 1)
    body = "-".join(["mha1", *(f"{chapter}.{bits[chapter]:x}" for chapter in sorted(bits))])
    return f"{body}-{check_sign(body)}"


def decode(code):
    """The ids in a code.

    Raises:
        ValueError: it is not a code of this book, or was copied with an error.
    """
    # pasted as progress("mha1-..."), or with dashes
    found = re.search(r"mha1[-\w.]*", re.sub("(?i)mha1", "mha1", re.sub("[\u2013\u2014\u2212]", "-", str(code))))
    body, _, sign = (found[0] if found else str(code)).rpartition("-")
    if not re.fullmatch(r"mha1(-\w+\.[0-9a-f]+)*", body):
        raise ValueError(f"a progress code looks like {encode(['1.1', '2.1'])}; this is {code!r}")
    if sign != check_sign(body):
        raise ValueError(f"{code!r} was not copied whole: its last two signs do not fit the rest")
    parts = [part.split(".") for part in body.split("-")[1:]]
    return [f"{chapter}.{n + 1}" for chapter, mask in parts for n in range(int(mask, 16).bit_length())
            if int(mask, 16) >> n & 1]


def check_sign(body):
    """Two signs that change when one sign of the body does."""
    total = sum((i + 1) * ord(sign) for i, sign in enumerate(body)) % 1296
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return digits[total // 36] + digits[total % 36]
