"""What a check found, as a value and as text."""
from dataclasses import dataclass
from textwrap import fill


@dataclass(frozen=True)
class Report:
    """The answer of `check`.

    ok: whether the answer is right. mistakes: ids of the mistakes that explain it, most likely first; empty where it is right, not started, or
    only measured. text: what the learner reads. started: False for a stub that nobody has touched.
    """
    ok: bool
    mistakes: list[str]
    text: str
    started: bool = True

    def __repr__(self):
        """The text, in lines that fit a page; lines that start with a space keep their shape."""
        return "\n".join(line if line.startswith(" ") else fill(line, 80) for line in self.text.splitlines())


@dataclass(frozen=True)
class Mistake:
    """A mistake that can be named: its id, one sentence that says what is done, and a question that leads to it."""
    id: str
    says: str
    asks: str = ""
