"""What every exercise has, whatever its kind."""
from dataclasses import dataclass

from mha.exercises.engine.report import Report


@dataclass(frozen=True, kw_only=True)
class Item:
    """One exercise.

    Args:
        id: "chapter.number", such as "2.1", or "B.3" in an appendix. chapter: its notebook, without the ending.
        statement: what is asked, in Markdown.
        hints: one after the other, each says more; of an exercise in code there are three, and only the third has the
            fix.
        note: why it works, shown after success.
        stars: difficulty from 1 to 3. minutes: how long it takes a newcomer. after: what should be read first. core:
            whether it is on the short path through the book.
    """
    id: str
    chapter: str
    statement: str
    hints: tuple[str, ...]
    note: str
    stars: int = 1
    minutes: int = 5
    after: str = ""
    core: bool = False

    kind = ""
    # What some kinds have, and what stands for it in the others.
    in_code = False                         # whether the answer is a function
    predicted = False                       # whether it is a guess before an experiment
    letters = ""                            # of the options
    picture = None

    @property
    def asked_early(self):
        """Whether it stands in the chapter at the section that it comes after: what the page can judge, does."""
        return not self.in_code and self.kind != "explain" and self.after.startswith("section ")

    @property
    def heading(self):
        return f"{self.id} · {self.title}"

    @property
    def about(self):
        """One line: kind, difficulty, time, what comes first, whether it is on the core path."""
        parts = [self.kind, "★" * self.stars, f"{self.minutes} minutes", f"after {self.after}"]
        return " · ".join(parts + ["core path"] * self.core)

    def not_started(self):
        """The report on `...`, None or an untouched stub."""
        return Report(False, [], f"{self.label}: not started.\n{self.statement}", started=False)

    def report(self, ok, mistakes, *evidence, named=(), asks=(), verdict=None):
        """A report whose first line names the exercise and says right or not yet; then what names the mistake, what
        asks about it, and what was seen.
        """
        parts = [tuple(filter(None, part)) for part in (named, asks, evidence)]
        first = f"{self.label}: {verdict or ('right.' if ok else 'not yet.')}"
        return Report(ok, mistakes, "\n".join([first, *sum(parts, ())]), True, *parts)

    @property
    def label(self):
        return f"{self.id} {self.title.replace('`', '')}"
