"""What a check found: as a value, as text, and as a box with a sign, a word and a border."""
import re
from dataclasses import dataclass, replace
from html import escape
from textwrap import fill


@dataclass(frozen=True)
class Mistake:
    """A mistake that can be named: its id, one sentence that says what is done, and a question that leads to it."""
    id: str
    says: str
    asks: str = ""

    @property
    def lead(self):
        """The first sentence of what it says."""
        return re.split(r"(?<=[.?!]) (?=[A-Z])", self.says)[0]


@dataclass(frozen=True)
class Report:
    """The answer of `check`.

    ok: whether the answer is right. mistakes: ids of the mistakes that explain it, most likely first; empty where it is
    right, not started, or only measured. text: what the learner reads. started: False for a stub that nobody has
    touched. named: the sentences of the text that name a mistake. asks: the question that leads to it. evidence: what
    was seen, and what comes next. exercise, tries: filled in by `check`.
    """
    ok: bool
    mistakes: list[str]
    text: str
    started: bool = True
    named: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    exercise: str = ""
    tries: int = 0

    def followed_by(self, *lines):
        """The same report, and these lines after what was seen."""
        return replace(self, text="\n".join([self.text, *lines]), evidence=(*self.evidence, *lines))

    def __repr__(self):
        """The text, in lines that fit a page; lines that start with a space keep their shape."""
        return "\n".join(line if line.startswith(" ") else fill(line, 80) for line in self.text.splitlines())

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Text and box; what a teacher's script wants to know travels in the output's metadata, inside the notebook and
        nowhere else.
        """
        return ({"text/plain": repr(self), "text/html": self.html()},
                {"mha": {"exercise": self.exercise, "ok": self.ok, "tries": self.tries, "mistakes": self.mistakes}})

    def html(self):
        """The text in a box; right and wrong are a sign, a word and a border, not a colour alone."""
        sign, border = (("\u2713", "double") if self.ok else ("\u2717", "dashed") if self.started
                        else ("\u25cb", "dotted"))
        first, *rest = self.text.splitlines()
        body = "".join(f"<p style='margin:.4em 0'>{marked(line)}</p>" if not line.startswith(" ")
                       else f"<pre style='margin:.2em 0'>{escape(line)}</pre>"
                       for line in rest)
        return (f"<div class='mha-report' style='border-left:4px {border} currentColor;padding:.3em "
                f"1em;max-width:46em'><strong>{sign} {marked(first)}</strong>{body}</div>")


def marked(text):
    """HTML of a line: `code` and addresses are marked up, everything else is escaped."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"(https://[^\s<)]+[^\s<).,])", r'<a href="\1">\1</a>', text)
