"""A claim and the computation that decides on it, how claims are collected, and how they are told."""
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from textwrap import fill

import torch

VERDICTS = RIGHT, SIZES, SETTINGS, READING, SOME, WRONG, NOT_FOUND = (
    "right",
    "true at some sizes",  # a width, a length, a number of heads, of layers or of sentences has to be named
    "true in some settings",  # what has to be named is no size: a mask, a comparison, what comes before or after
    "true in one reading",  # its words mean two things, and it holds of one
    "true of some heads or runs",
    "wrong",
    "not found here",
)
ROUNDING = 1e-12  # what float64 leaves of an exact equality
HERE = "A_folklore"  # the chapter of a claim that no other speaks of
CLAIMS = []  # all of them, in the order in which they are told


@dataclass(frozen=True)
class Claim:
    """A sentence that popular texts print, and a computation that decides on it."""

    number: int  # from 1, in the order of the appendix
    part: str  # the group that it belongs to
    printed: str  # the claim, between quotation marks where a text prints it word for word, else in our words
    verdict: str  # one of VERDICTS
    chapter: str  # the notebook that says more of it
    # From no arguments to what came out, as sentences with the numbers in them, and whether these support the verdict.
    compute: Callable[[], tuple[str, bool]]

    def __post_init__(self):
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {', '.join(map(repr, VERDICTS))}, got {self.verdict!r}")

    @property
    def quoted(self) -> bool:
        """Whether the claim is a quotation."""
        return self.printed.startswith('"')

    def found(self) -> str:
        """Compute, and say what came out.

        The random numbers are the claim's own: what was computed before changes nothing.

        Raises:
            ValueError: the numbers do not support the verdict.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            sentence, supported = self.compute()
        if not supported:
            raise ValueError(f"claim {self.number}, {self.printed}: the verdict {self.verdict!r} is not what came out: "
                             f"{sentence}")
        return sentence


def claim(part: str, printed: str, verdict: str, chapter: str):
    """Put the function under it on the list, as the computation of a new claim."""
    def add(compute):
        CLAIMS.append(Claim(len(CLAIMS) + 1, part, printed, verdict, chapter, compute))
        return compute
    return add


class Told:
    """Claims with what came out, as text and as a list on a page."""

    def __init__(self, claims: list[Claim]):
        self.told = [(claim, claim.found()) for claim in claims]

    def __repr__(self):
        return "\n\n".join("\n".join(fill(line, 80, subsequent_indent="    ") for line in _lines(claim, found))
                           for claim, found in self.told)

    def _repr_html_(self):
        """A card for each claim; the page asks for a verdict before it shows what came (_ext/static/claims.js)."""
        return "".join(_card(claim, *map(_marked, _lines(claim, found))) for claim, found in self.told)


def _lines(claim, found):
    """The two lines of a claim: what is printed; the verdict, what came out, and where it is shown."""
    said = claim.printed if claim.quoted else f"In our words: {claim.printed}"
    return f"{claim.number}. {said}", f"{claim.verdict.capitalize()}. {found} ({_where(claim.chapter)})"


def _card(claim, said, came):
    page = _where(claim.chapter).split()[0]  # chapter, lab or only
    return (f'<div class="claim" id="claim-{claim.number}" data-number="{claim.number}" data-verdict="{claim.verdict}" '
            f'data-chapter="{_number(claim.chapter)}" data-page="{page}"><p>{said}</p>'
            f'<div class="claim-came"><p>{came}</p></div></div>')


def _number(chapter):
    """The number of a chapter, from the name of its notebook: 02_one_head is 2, 06b_what_attention_buys is 6b."""
    return chapter.partition("_")[0].lstrip("0")


def _where(chapter):
    """What a notebook is called, by its name: 02_one_head is chapter 2, 06b_what_attention_buys_lab lab 6b."""
    kind = "lab" if chapter.endswith("_lab") else "chapter"
    return "only here" if chapter == HERE else f"{kind} {_number(chapter)}"


def _marked(line):
    """A line for a page, all before the first full stop in bold: the number of the claim, or the verdict. Code in
    backticks is set as code.
    """
    lead, rest = line.split(". ", 1)
    rest = re.sub("`([^`]+)`", r"<code>\1</code>", escape(rest, quote=False))
    return f"<strong>{escape(lead)}.</strong> {rest}"


def tell(part: str) -> Told:
    """Compute the claims of one part, and tell them.

    Raises:
        ValueError: there is no such part, or the numbers of a claim do not support its verdict.
    """
    return Told(_of(part))


def where(part: str) -> str:
    """Links to the chapters that say more of the claims of a part, as Markdown."""
    numbers = {}
    for item in _of(part):
        numbers.setdefault(item.chapter, []).append(str(item.number))
    links = {chapter: f"[{_where(chapter)}]({chapter}.ipynb)" for chapter in numbers} | {HERE: _where(HERE)}
    return " · ".join(f"{links[chapter]}: {', '.join(found)}" for chapter, found in numbers.items())


def _of(part: str) -> list[Claim]:
    """The claims of one part."""
    parts = list(dict.fromkeys(item.part for item in CLAIMS))
    if part not in parts:
        raise ValueError(f"part must be one of {', '.join(map(repr, parts))}, got {part!r}")
    return [item for item in CLAIMS if item.part == part]


def row(values, digits: int = 3) -> str:
    """A vector as text: [0.702, 0.212, 0.086]; a matrix as rows side by side."""
    if values.ndim == 2:
        return f"[{', '.join(row(one, digits) for one in values)}]"
    return f"[{', '.join(f'{value:.{digits}f}' for value in values.tolist())}]"
