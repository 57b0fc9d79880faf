"""Questions that need no code: a number, a choice, a prediction, an explanation. The page of the book asks them too: it
looks up what is reported here (_ext/replies.py).
"""
import math
import re
from dataclasses import dataclass, field

from mha.exercises.engine.item import Item
from mha.exercises.engine.report import Mistake

TOO_FAR = "This number is beyond what a float can hold: floats end near 10^308."


@dataclass(frozen=True, kw_only=True)
class Question(Item):
    """A question. title: its heading. picture: function that draws what the question is about, or None."""
    title: str
    picture: object = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Number(Question):
    """A question whose answer is a number.

    Args:
        answer: the number, computed. tolerance: how far off is still right, as a share of the answer; 0 for a count.
        mistakes: (value, Mistake) of the wrong numbers that can be foreseen.
        predicted: whether it is a guess before an experiment. The outcome is then shown whatever the guess; only a
            right one counts as solved.
    """
    answer: float
    mistakes: tuple[tuple[float, Mistake], ...] = ()
    tolerance: float = 0.01
    predicted: bool = False

    @property
    def kind(self):
        return "predict" if self.predicted else "number"

    @property
    def solution(self):
        return shown(self.answer)

    def within(self, value):
        """How far from this value still counts as it."""
        return max(self.tolerance * abs(value), 1e-9)

    def close(self, number, value):
        """Whether a number counts as this value."""
        return abs(number - value) <= self.within(value)

    def examine(self, answer):
        """The report on a number, or on a text such as "1/4" or "0,25"."""
        if answer is None or answer is ...:
            return self.not_started()
        number = read_number(answer)
        if number is None:
            return self.report(False, ["not-a-number"],
                               "A number is asked for, such as 3, 0.25 or \"1/4\", in digits alone, with a point "
                               f"before the decimals; this is {answer!r}.")
        if not math.isfinite(number):
            return self.report(False, ["past-float"], TOO_FAR)
        return self.judge(number, shown(number))

    def judge(self, number, said):
        """The report on a number, which it repeats as `said`."""
        came = f"It is {shown(self.answer)}. {self.note}"
        if self.close(number, self.answer):
            return self.report(True, [], came, verdict="as you said.") if self.predicted else self.report(
                True, [], self.note)
        known = [mistake for value, mistake in self.mistakes if self.close(number, value)]
        ids, says, asks = [[getattr(mistake, name) for mistake in known] for name in ("id", "says", "asks")]
        if self.predicted:
            return self.report(False, ids, *says[:1], came, verdict=f"you said {said}.")
        size = f"{said} is too {'large' if number > self.answer else 'small'}."
        return self.report(False, ids, *(says[:1] or [size]), *asks[:1], more(self))


@dataclass(frozen=True)
class Option:
    """One line of a choice.

    Args:
        says: the reply to someone who picks this option wrongly, or who leaves out a right one.
        mistake: its id; None where the option is right.
    """
    text: str
    says: str
    mistake: str | None = None


@dataclass(frozen=True, kw_only=True)
class Choice(Question):
    """A question with options A, B, C ...

    Args:
        options: at least two, one or more of them right. several: whether more than one may be picked.
        predicted: whether it is a guess before an experiment.
    """
    options: tuple[Option, ...]
    several: bool = False
    predicted: bool = False

    @property
    def kind(self):
        return "predict" if self.predicted else "plot" if self.picture else "choice"

    @property
    def letters(self):
        return "ABCDEFGHIJ"[: len(self.options)]

    @property
    def right(self):
        return "".join(letter for letter, option in zip(self.letters, self.options) if option.mistake is None)

    @property
    def solution(self):
        return f'"{self.right}"'

    def examine(self, answer):
        """The report on letters: "B", "AC", "a, c" or {"A", "C"}."""
        if answer is None or answer is ...:
            return self.not_started()
        picked = read_letters(answer, self.letters)
        if picked is None or not self.several and len(picked) > 1:
            wanted = "one or more letters" if self.several else "one letter"
            return self.report(False, ["not-an-option"],
                               f"The answer is {wanted} of {self.letters}, such as \"{self.letters[0]}\"; this is "
                               f"{answer!r}.")
        if picked == self.right:
            return self.report(True, [], self.note, verdict="as you said." if self.predicted else None)
        replies = dict(zip(self.letters, self.options))
        wrong = [letter for letter in picked if letter not in self.right]
        missed = [letter for letter in self.right if letter not in picked]
        if self.predicted:
            return self.report(False, [replies[picked].mistake], replies[picked].says,
                               f"It is {self.right}. {self.note}", verdict="you said otherwise.")
        lines = [f"{letter}: {replies[letter].says}" for letter in wrong]
        if self.several and missed:
            lines.append(f"{len(missed)} of the options that you did not pick "
                         f"{'belongs' if len(missed) == 1 else 'belong'} to the answer.")
        return self.report(False, [replies[letter].mistake for letter in wrong] or ["incomplete"], *lines, more(self))


@dataclass(frozen=True, kw_only=True)
class Explanation(Question):
    """Something to explain in one's own words, and what a good explanation mentions. It gets no grade but one's own."""
    checklist: tuple[str, ...]
    kind = "explain"
    solution = '"in my own words"'

    def examine(self, answer):
        """The checklist, once something was written."""
        if answer is None or answer is ...:
            return self.not_started()
        if not isinstance(answer, str) or not answer.strip():
            return self.report(False, ["not-words"],
                               "Write a few words, as a text in quotation marks; or say it aloud and write that you "
                               "did.")
        return self.report(True, [], "Did you say each of these? Nobody else can tell.",
                           *[f"   [ ] {line}" for line in self.checklist], self.note,
                           verdict="written.")


def shown(number):
    """A number as a reader writes it."""
    return str(int(number)) if float(number).is_integer() else f"{number:.6g}"


def more(item):
    return f'hint("{item.id}") says more.' if item.hints else ""


def read_number(answer):
    """A float from a number or from a text; both 0.25 and 0,25, and 1/4, are read. None where it is no number; infinite
    or nan where floats end before it.
    """
    if (isinstance(answer, (int, float)) and not isinstance(answer, bool) or hasattr(answer, "numel")
        and answer.numel() == 1):
        try:
            return None if math.isnan(answer) else float(answer)
        except OverflowError:
            return math.inf
    if not isinstance(answer, str):
        return None
    answer = answer.replace("\u2212", "-").strip()
    answer = re.sub(r"(\d)[.,](?=\s*([/%]|$)|[eE])", r"\1", answer)        # 256. and 3./4
    if re.fullmatch(r"[-+]?\d{1,3}((,\d{3}){2,}|([ _'\u2019\u00a0\u202f]\d{3})+)", answer):
        answer = re.sub(r"[ ,_'\u2019\u00a0\u202f]", "", answer)          # 1,050,624 and 1 050 624
    if re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", answer):
        return None                                                       # 1,000 is one or a thousand
    match = re.fullmatch(r"\s*([-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?)(?:\s*/\s*(\d*[.,]?\d+))?\s*(%?)\s*", answer)
    if not match:
        return None
    above, below, percent = match.groups()
    bottom = float(below.replace(",", ".")) if below else 1.0
    return None if bottom == 0 else float(above.replace(",", ".")) / bottom / (100 if percent else 1)


def read_letters(answer, letters):
    """The letters picked, in order and without the rest: "c, A" is "AC". None where something else is among them, or
    nothing.
    """
    text = "".join(answer) if isinstance(answer, (set, list, tuple)) and all(
        isinstance(part, str) for part in answer) else answer
    if not isinstance(text, str):
        return None
    picked = set(re.sub(r"[\s,;]|\band\b", "", text).upper())
    return "".join(sorted(picked)) if picked and picked <= set(letters) else None
