"""A program with blanks: the right answer told once, and for each blank what else people write there, each wrong
fragment beside its mistake.

From this one table come the reference that answers are compared with, the checker's model of each mistake, and the
choices that the page offers.
"""
import functools
import itertools
import linecache
import math
import re
import textwrap
from dataclasses import dataclass, field

import torch

from mha.exercises.engine.report import Mistake

BLANK = re.compile(r"<(\w+)>")
OWN_LINE = re.compile(r"^( *)<(\w+)>\n", re.M)


@dataclass(frozen=True)
class Blank:
    """One place of a program.

    Args:
        right: the fragment that belongs there.
        wrong: fragment -> its Mistake, the usual ones first; None where it is a mistake only together with another.
        offered: how many of the wrong ones the page offers; where it is 0, the page shows the right one as plain code.
    """
    right: str
    wrong: dict[str, Mistake | None] = field(default_factory=dict)
    offered: int = 0

    @property
    def choices(self):
        """What the page offers, the right fragment first."""
        return [self.right, *itertools.islice(self.wrong, self.offered)]


@dataclass(frozen=True)
class Program:
    """A source with blanks, written <name>.

    A blank alone on its line may be empty, which drops the line, or hold several lines.

    Args:
        source: of one function, the last that it defines.
        blanks: name -> Blank.
        together: "name other" -> {(fragment, other fragment): Mistake}, mistakes that need two blanks at once.
        scope: what the source may use besides math and torch.
    """
    source: str
    blanks: dict[str, Blank]
    together: dict[str, dict[tuple[str, ...], Mistake]] = field(default_factory=dict)
    scope: dict = field(default_factory=dict)

    @property
    def name(self):
        """Of the function."""
        return re.findall(r"^def (\w+)", self.source, re.M)[-1]

    @property
    def offered(self):
        """name -> Blank, for those in which the page offers a choice, in the order of the source."""
        names = dict.fromkeys(BLANK.findall(self.source))
        return {name: self.blanks[name] for name in names if self.blanks[name].offered}

    @property
    def switches(self):
        """Blank or blanks -> {wrong fragment: its Mistake}: every way to be wrong that has a name."""
        alone = {name: {fragment: mistake for fragment, mistake in blank.wrong.items() if mistake}
                 for name, blank in self.blanks.items()}
        return {switch: settings for switch, settings in (alone | self.together).items() if settings}

    def filled(self, **chosen):
        """The source with these fragments in their blanks, and the right ones in all others."""
        for switch in [name for name in chosen if name in self.together]:
            chosen |= dict(zip(switch.split(), chosen.pop(switch)))
        chosen = {name: blank.right for name, blank in self.blanks.items()} | chosen

        def lines(blank):
            return textwrap.indent(chosen[blank[2]] + "\n", blank[1]) if chosen[blank[2]] else ""
        return BLANK.sub(lambda blank: chosen[blank[1]], OWN_LINE.sub(lines, self.source))

    def function(self, **chosen):
        """The function that the filled source defines."""
        return compiled(self.filled(**chosen), self.name, tuple(self.scope.items()))

    @property
    def reference(self):
        """The right answer."""
        return self.function()

    def model(self, *args, **chosen):
        """What the program gives with these fragments in their blanks."""
        return self.function(**chosen)(*args)


@functools.lru_cache(maxsize=None)
def compiled(source, name, scope):
    """A function out of its source, whose lines a traceback can quote."""
    file = f"<{name} {hash(source):x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    world = {"math": math, "torch": torch, **dict(scope)}
    exec(compile(source, file, "exec"), world)
    return world[name]
