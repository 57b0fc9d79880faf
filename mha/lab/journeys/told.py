"""What a file says of an entry: all of it is there, nothing else is, and each number can be what it is said to be."""
import json
from dataclasses import fields
from pathlib import Path


def from_file(path) -> dict:
    """What one entry's file holds, before anything of it is believed.

    Raises:
        ValueError: it holds something else.
    """
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # of JSON, or of UTF-8
        raise ValueError(f"{path} is no entry: an entry is one line of JSON, as entry.save(path) writes it") from error
    return told


def only(cls, told, what: str) -> dict:
    """What was told of a dataclass, with all of its fields and no other.

    Raises:
        TypeError: it is no dictionary.
        ValueError: a field too many, or one that is missing.
    """
    if not isinstance(told, dict):
        raise TypeError(f"{what} is a dictionary, as told() gives it, got a {type(told).__name__}")
    names = {field.name for field in fields(cls)}
    unknown, missing = sorted(map(str, set(told) - names)), sorted(names - set(told))
    if unknown:
        raise ValueError(f"{what} has no {', '.join(unknown)}")
    if missing:
        raise ValueError(f"{what} needs {', '.join(missing)}, which this one does not say")
    return told


def listed(name: str, values) -> tuple:
    """A list of a file, as a tuple.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"{name} must be a list, got {values!r}")
    return tuple(values)


def whole(value, least: int = 0) -> bool:
    """Whether it is a whole number, `least` or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def impossible(entry, every: int) -> str | None:
    """Why no training, tested `every` so many steps, can have given what an entry says; None where one can."""
    for name in ("cached", "parameters"):
        if not whole(getattr(entry, name), 1):
            return f"{name} must be a whole number, 1 or more, got {getattr(entry, name)!r}."
    if not isinstance(entry.version, str):
        return f"version must be a text, got {entry.version!r}."
    if not all(map(whole, entry.seeds)) or len(set(entry.seeds)) < len(entry.seeds):
        return f"seeds must be whole numbers that differ, got {list(entry.seeds)}."
    if not entry.seeds or not len(entry.seeds) == len(entry.right) == len(entry.reached):
        return (f"it has {len(entry.seeds)} seeds, {len(entry.right)} scores and {len(entry.reached)} numbers of "
                f"steps; each seed needs both.")
    for pair in entry.right:
        if not isinstance(pair, tuple) or len(pair) != 2 or not all(map(share, pair)):
            return f"right must be two shares from 0 to 1 for each seed, got {pair!r}."
    steps = entry.config.steps
    for step in entry.reached:
        if step is not None and not (whole(step, 1) and step <= steps and (step % every == 0 or step == steps)):
            return (f"reached says {step!r}, and no test was then: there is one every {every} steps, and one after the "
                    f"last, {steps}.")
    return None


def share(value) -> bool:
    """Whether it is a number from 0 to 1; NaN is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
