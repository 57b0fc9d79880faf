"""Four ways to ask about a bug. In each the answer follows from code that is run, and a test holds that it does."""
from dataclasses import dataclass, field
from typing import Callable

import torch

from mha.exercises.engine.question import Choice, Option

ROOMS = {"section 1": "the aquarium", "section 2": "the insect house", "section 3": "the aviary",
         "section 4": "the night house", "section 5": "the paddock"}  # as the page's headings call them

DEPENDS = ("output", "token (filled: the output depends on it)", None)


def yes_or_no(map):
    """Whether a map says of each pair only whether it is so."""
    return bool(torch.isin(map, map.new_tensor([0, 1])).all())


@dataclass(frozen=True)
class Case(Option):
    """An option and the maps that it would make, a function of no arguments -> (k, n, m)."""
    makes: Callable | None = field(default=None, repr=False, kw_only=True)


@dataclass(frozen=True)
class Check(Option):
    """An option that is a test of a layer. passes: function of the layer -> bool. It is right where the bug fails."""
    passes: Callable | None = field(default=None, repr=False, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Specimen(Choice):
    """One bug, seen beside what should be.

    Args:
        buggy, sound: functions of no arguments that give the maps, (k, n, m).
        rows, columns: names. titles: of the maps. sums: whether the sum of a row means something. axes: what rows and
            columns are, for the text of the maps. words: what rows, columns and colours are in the picture, unless
            these are weights, or say what depends on what.
    """
    buggy: Callable | None = field(default=None, repr=False)
    sound: Callable | None = field(default=None, repr=False)
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    titles: tuple[str, ...] = ("",)
    sums: bool = True
    axes: str = "Rows are queries or outputs, columns keys or inputs."
    words: tuple[str | None, ...] = ()
    options: tuple[Option, ...] = ()
    chapter: str = "B_bug_zoo"
    hints: tuple[str, ...] = ()
    stars: int = 2
    minutes: int = 3

    def __post_init__(self):
        object.__setattr__(self, "picture", self.drawn)

    @property
    def about(self):
        """As of any question, but with the name of its room."""
        return super().about.replace(f"after {self.after}", f"in {ROOMS[self.after]}")

    def drawn(self):
        """The maps of both: what should be, then what is."""
        wanted, in_a_row = ("should be", 2) if len(self.titles) < 2 else ("right", 4 if len(self.rows) < 5 else 2)
        return self.maps([(f"{word}{': ' * bool(title)}{title}", map)
                          for word, made in ((wanted, self.sound()), ("is", self.buggy()))
                          for title, map in zip(self.titles, made)], in_a_row,
                         (wanted, "is") if len(self.titles) == in_a_row else ())

    def maps(self, titled, columns, sides=()):
        """(title, map) side by side, and as text below. sides: of the rows of maps, in place of words in titles."""
        from mha import viz
        depends = all(yes_or_no(map) for _, map in titled)
        titles = [*self.titles] * len(sides) if sides else [title for title, _ in titled]
        picture = viz.heatmaps(torch.stack([map for _, map in titled]).double(), list(self.rows), titles=titles,
                               keys=list(self.columns), columns=columns, named=True, sides=sides,
                               words=self.words or (DEPENDS if depends else None), cell=min(0.5, 1.5 / len(self.rows)))
        tables = [self.table(title, map.double()) for title, map in titled]
        picture.text = (f"Maps of specimen {self.id}: {', '.join(title for title, _ in titled)}. {self.axes}\n\n"
                        + "\n\n".join(tables))
        return picture

    def table(self, title, map):
        """A map as text: crosses where it says yes or no, else numbers, with the sums of the rows where these mean
        something."""
        from mha import viz
        if yes_or_no(map):
            return viz.table(title, ["", *self.columns], [[name, *("x" if yes else "." for yes in row.tolist())]
                                                          for name, row in zip(self.rows, map)])
        return viz.table(title, ["", *self.columns, *["sum"] * self.sums],
                         [[name, *row.tolist(), *[float(row.sum())] * self.sums]
                          for name, row in zip(self.rows, map)], digits=2)

    @property
    def answer(self):
        """The right option of those that have one."""
        return self.options[self.letters.index(self.right)]


@dataclass(frozen=True, kw_only=True)
class WhichBug(Specimen):
    """Which bug made this picture? Each option is a Case; the bug shown is the right one's."""
    kind = "bug"

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "buggy", self.answer.makes)


@dataclass(frozen=True, kw_only=True)
class WhichPicture(Specimen):
    """Which picture does this line make? Each option is a Case; the right one's picture comes from the line itself.

    Args:
        line: stands in the statement, and is run. makes: function of the line -> maps.
        draw: function of letter -> maps -> Picture, for what are no maps.
    """
    line: str
    makes: Callable = field(repr=False)
    draw: Callable | None = field(default=None, repr=False)
    kind = "picture"

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "buggy", lambda: self.makes(self.line))

    def made(self):
        """Letter -> what its option makes."""
        return {letter: option.makes() if option.mistake else self.buggy()
                for letter, option in zip(self.letters, self.options)}

    def drawn(self):
        made = self.made()
        return self.draw(made) if self.draw else self.maps([(letter, maps[0]) for letter, maps in made.items()], 3)


@dataclass(frozen=True, kw_only=True)
class WhichLine(Specimen):
    """Which line is wrong? The options are the lines of a program, in order.

    Args:
        mended: what should stand in place of the wrong line.
        makes: function of a program -> maps.
    """
    mended: str
    makes: Callable = field(repr=False)
    kind = "line"

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "buggy", lambda: self.makes(self.program()))
        object.__setattr__(self, "sound", lambda: self.makes(self.program(self.mended)))

    def program(self, mended=None):
        """The lines, with the wrong one as it is or mended."""
        return "\n".join(mended if mended and option is self.answer else option.text.strip("`")
                         for option in self.options)


@dataclass(frozen=True, kw_only=True)
class WhichTest(Specimen):
    """Which tests would have caught it? Each option is a Check. layer, healthy: functions of x, and of h heads."""
    layer: Callable = field(repr=False)
    healthy: Callable = field(repr=False)
    several: bool = True
    kind = "test"
