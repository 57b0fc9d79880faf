"""What nine libraries take and give where they compute attention: `conventions.json`.

`tools/make_conventions.py` makes it.
"""
import functools
import json
from dataclasses import dataclass

from mha.lab.assets._load import FOLDER

CONVENTIONS = FOLDER / "conventions.json"


@dataclass(frozen=True)
class Convention:
    """A function or layer that computes attention, and what came out when it was asked."""
    name: str                   # as the tables call it
    package: str                # on PyPI
    version: str                # of the package
    how: str                    # "run", or "read" where it needs a GPU
    calls: str                  # what is called
    axes: str                   # of its queries
    out: str                    # of what comes back; "" if the same
    order: str                  # of its arguments
    line: str                   # gives the answer of mha from q, k, v and a mask in which True = may attend
    arguments: dict             # what it calls its mask, bias, scale, dropout, weights, is_causal, grouped; "" for none
    found: dict                 # question -> what came out
    where: dict = None          # of what was read: question -> file and line


@functools.cache
def conventions() -> tuple[Convention, ...]:
    """Eleven functions and layers of nine libraries."""
    return tuple(Convention(**entry) for entry in json.loads(CONVENTIONS.read_text(encoding="utf-8")))
