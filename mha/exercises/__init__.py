"""Exercises whose checker names the mistake: check, hint, predict, show, solution, progress.

    from mha.exercises import check
    check("2.1", attention)         # what is wrong, the evidence in your own numbers, and which hint is next
"""
import difflib
import importlib
import math
import pkgutil
import re
from dataclasses import replace

from mha.exercises.engine.calls import TOO_EARLY, on_the_cpu, own_torch
from mha.exercises.engine.exercise import Exercise
from mha.exercises.engine.item import Item
from mha.exercises.engine.progress import decode, encode, load, note
from mha.exercises.engine.report import Report


def _all():
    """Every exercise in order. In a chapter's folder each module whose name starts as e1_2_ has one in code, and
    `questions` the others; the appendices come last.
    """
    names = [module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.") if ".chapter_" in module.name]
    code = [importlib.import_module(name).EXERCISE for name in names if re.search(r"\.e\d+[a-z]?_\d+_", name)]
    asked = [importlib.import_module(name).QUESTIONS for name in names if name.endswith(".questions")]
    zoo = importlib.import_module(f"{__name__}.zoo").SPECIMENS
    return {item.id: item for item in sorted([*code, *zoo, *sum(asked, [])], key=_place)}


def _place(item):
    """Where an exercise stands: 11.9, 11.10, 11b.1, 12.1, then the appendices, in the order that they tell."""
    chapter, number = item.id.split(".")
    of_chapter = re.match(r"\d+", chapter)
    return (int(of_chapter[0]), chapter, int(number)) if of_chapter else (math.inf, chapter, 0)


REPLACED = ("A cell of this notebook, or something that it imports, has replaced {}. The answer was judged with the "
            "original; to have it back, restart the kernel.")
UNKNOWN = ("Whether this is right cannot be told: a cell of this notebook had replaced {} before mha.exercises was "
           "first imported, so the checker never saw the original. Restart the kernel, and import mha.exercises first.")
with on_the_cpu():
    EXERCISES: dict[str, Item] = _all()


def find(name):
    """The id of the exercise that asks for the function of this name: find("attention") is "2.1".

    Raises:
        ValueError: no exercise asks for it; the message lists those that there are.
    """
    functions = {item.name: item.id for item in EXERCISES.values() if isinstance(item, Exercise)}
    if name not in functions:
        raise ValueError(f"no exercise asks for {name!r}; there are "
                         f"{', '.join(f'{known} ({id})' for known, id in functions.items())}")
    return functions[name]


def check(id, answer=..., *more):
    """Say whether an answer is right, and if not, what is wrong. Never raises for what the answer does.

    A function is called many times; what it prints is shown once, for the call that the report is about. A call that
    takes more than ten seconds is ended, whatever it catches. That needs the main thread of Linux or macOS: elsewhere
    nothing is ended, and a loop without end is stopped by interrupting the kernel.

    Args:
        id: of the exercise, such as "2.1"; `find` knows it by the function's name.
        answer: the function itself; for a question its number (0.25 or "1/4"), its letter or letters ("B", "AC"), or
            your words.
        more: letters may stand one by one, as in check("3.6", "A", "C").
    Returns:
        Report with ok, mistakes (ids, most likely first) and text, which is what a notebook shows.
    Raises:
        ValueError: there is no exercise of that id.
    """
    item = find_item(id)
    with on_the_cpu(), own_torch() as replaced:
        report = item.examine((answer, *more) if more else answer)
    if not report.started:
        return replace(report, exercise=item.id)
    if TOO_EARLY and item.in_code:
        report = item.report(False, ["torch-replaced"], UNKNOWN.format(", ".join(TOO_EARLY)), verdict="not judged.")
    elif replaced and item.in_code:
        report = replace(report.followed_by(REPLACED.format(", ".join(replaced))),
                         mistakes=report.mistakes if report.ok else [*report.mistakes, "torch-replaced"])
    record = note(item.id, tries=1, solved=report.ok)
    return replace(report, exercise=item.id, tries=record["tries"])


def predict(id, guess=...):
    """Record a guess; then what really happens is shown. The same as `check`, for exercises that ask to predict.

    Raises:
        ValueError: there is no such exercise, or it asks for no prediction.
    """
    if not find_item(id).predicted:
        raise ValueError(f"exercise {id} asks for no prediction: call check(\"{id}\", ...)")
    return check(id, guess)


def hint(id):
    """One more hint at each call; the fix itself only in the last. Returns the text."""
    item = find_item(id)
    if not item.hints:
        return f"There are no hints for {item.id}."
    hints, shown = item.hints, min(note(item.id, hints=1)["hints"], len(item.hints))
    text = hints[shown - 1]
    return f"Hint {shown} of {len(hints)}:" + ("\n" if "\n" in text else " ") + text


def solution(id, force=False):
    """A right answer, after a pass or three tries, or with force=True. Returns the text."""
    item = find_item(id)
    record = load().get(item.id, {"tries": 0, "solved": False})
    if not (force or record["solved"] or record["tries"] >= 3):
        return f"{3 - record['tries']} more tries of check(\"{id}\", ...) first, or solution(\"{id}\", force=True)."
    return item.source if isinstance(item, Exercise) else f"{item.solution}\n{item.note}"


def show(id):
    """The picture that an exercise asks about.

    Raises:
        ValueError: there is no such exercise, or it has no picture.
    """
    picture = find_item(id).picture
    if picture is None:
        raise ValueError(f"exercise {id} has no picture")
    return picture()


def progress(code=None):
    """What you have solved, by chapter, and a short code that carries it to another machine or to the page of the book.

    Args:
        code: one that another machine gave, to add what was solved there.
    Raises:
        ValueError: the code is not one, or was not copied whole. Nothing is changed then.
    """
    before, ids = load(), decode(code) if code is not None else []
    for id in ids:
        note(id, solved=True)
    new = [id for id in ids if not before.get(id, {}).get("solved")]
    return Progress(load(),
                    (f"The code holds {len(ids)} solved exercises; new here: "
                     f"{', '.join(new) or 'none'}.\n\n") if code is not None else "")


class Progress:
    """What has been done. solved: ids. completed: ids of those whose code was put together in the page, from choices.
    code: both, short.
    """

    def __init__(self, known, news=""):
        self.news = news
        self.solved = [id for id in EXERCISES if known.get(id, {}).get("solved")]
        self.completed = [id for id in EXERCISES if known.get(f"c{id}", {}).get("solved")]
        self.tried = [id for id in EXERCISES if known.get(id, {}).get("tries") and id not in self.solved]
        self.code = encode([*self.solved, *(f"c{id}" for id in self.completed)])

    def sign(self, id):
        return "x" if id in self.solved else "c" if id in self.completed else "~" if id in self.tried else " "

    def __repr__(self):
        lines = []
        for chapter in dict.fromkeys(item.chapter for item in EXERCISES.values()):
            items = [item for item in EXERCISES.values() if item.chapter == chapter]
            done = [item for item in items if item.id in self.solved]
            lines.append(f"{chapter}: {len(done)} of {len(items)}")
            lines += [f"  [{self.sign(item.id)}] {item.heading} · {item.about}" for item in items]
        return self.news + "\n".join([*lines, "", "[x] solved, [c] completed in the page, [~] tried. To carry it "
                                      f"elsewhere: progress(\"{self.code}\")"])


def find_item(id):
    """The exercise of an id, or of the name of the function that it asks for."""
    wanted = str(id).strip()
    named = {item.name: item for item in EXERCISES.values() if isinstance(item, Exercise)}
    known = {**EXERCISES, **{item.id.lower(): item for item in EXERCISES.values()}, **named}
    if wanted not in known:
        near = difflib.get_close_matches(wanted, [*EXERCISES, *named], 3)
        chapters = dict.fromkeys(item.id.split(".")[0] for item in EXERCISES.values())
        last = {c: sum(item.id.split(".")[0] == c for item in EXERCISES.values()) for c in chapters}
        raise ValueError(f"no exercise has the id {id!r}. " + (f"Near it: {', '.join(near)}. " if near else "")
                         + "There are " + ", ".join(f"{c}.1 to {c}.{last[c]}" for c in chapters))
    return known[wanted]


__all__ = ["EXERCISES", "Report", "check", "find", "hint", "predict", "progress", "show", "solution"]
