"""What the page asks of Python: run a reader's text, let the package's own checker judge it, give a hint.

It runs in Pyodide, on the small torch. Whatever that does not know raises `torch.NotHere`; then nothing is said of
the answer, only what is not here. A reader's bare `except:` cannot hide it, since `torch.not_here` has noted it.
"""
import ast
import builtins
import importlib.abc
import json
import linecache
import pkgutil
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout

import torch

NAME = "<your code>"
MOST = 20_000                                      # characters that a run may print
# What a notebook on Colab has and this page has not. Any other name that cannot be imported is the reader's slip.
ELSEWHERE = {"IPython", "PIL", "cv2", "einops", "ipywidgets", "jax", "matplotlib", "numba", "pandas", "plotly",
             "requests", "scipy", "seaborn", "sklearn", "tensorflow", "tokenizers", "torchaudio", "torchvision",
             "tqdm", "transformers", "multiprocessing", "sqlite3", "ssl"}
NotHere = getattr(torch, "NotHere", type("NotHere", (BaseException,), {}))
NAMES = getattr(torch, "NAMES", {})
not_here = getattr(torch, "not_here", [])
sure = getattr(torch, "sure", lambda function: function())      # what hangs on a last digit is not here
checker = printed_by = None                        # mha.exercises, once it is imported; who is told what is printed
known = {}                                         # what the chapter's cells import and define


class Elsewhere(importlib.abc.MetaPathFinder):
    """The last to be asked for a module."""

    def find_spec(self, name, path=None, target=None):
        home, _, last = name.rpartition(".")
        if (name.partition(".")[0] in ELSEWHERE or name.startswith(("mha.widgets", "mha.viz", "mha.lab.look"))
                or last in NAMES.get({"torch.nn": "nn"}.get(home, home), ())):
            missing(f"import {name}")


def missing(name):
    """Note a name that is not here, and raise it."""
    if name not in not_here:
        not_here.append(name)
    raise NotHere(name)


class Printed:
    """Where a run prints to: the page, line by line, up to a limit."""

    def __init__(self, say):
        self.say, self.left = say, MOST

    def write(self, text):
        if len(text) <= self.left:
            self.say(text)
        elif self.left >= 0:                                           # once
            self.say(text[:self.left] + "\n… and more.")
        self.left = max(self.left - len(text), -1)
        return len(text)

    def flush(self):
        pass


def start(chapter, prelude, say):
    """Import what the exercises of a chapter need, and no more: all of them would take seconds.

    Args:
        chapter: such as 01_soft_lookup. prelude: as JSON, the statements that the chapter's cells import and define
            with. say: a function that is told what is printed.
    Returns:
        as JSON, the names that a reader's text may use.
    """
    global checker, printed_by
    printed_by = say
    walk_all = pkgutil.walk_packages

    def of_chapter(path, prefix):
        folder = f"{prefix}chapter_{chapter.partition('_')[0]}"
        return pkgutil.iter_modules([f"{path[0]}/{folder.removeprefix(prefix)}"], f"{folder}.")

    pkgutil.walk_packages = of_chapter
    try:
        import mha.exercises as checker
    finally:
        pkgutil.walk_packages = walk_all
    sys.meta_path.append(Elsewhere())
    builtins.input = lambda *words: missing("input()")
    if sys.platform == "emscripten":
        threading._start_new_thread = lambda *more: missing("threads")
    known.clear()
    known.update(_bare())
    for statement in json.loads(prelude):
        try:
            exec(compile(statement, "<the chapter>", "exec"), known)
        except (NotHere, Exception):                                   # noqa: BLE001 it stays unknown
            continue
    not_here.clear()
    return json.dumps([name for name in known if name[0] != "_"])


def _bare():
    import math
    import mha
    return {"__name__": "__main__", "torch": torch, "math": math, "F": torch.nn.functional, "mha": mha}


def run(source):
    """Run a text as a notebook's cell. Returns JSON: {"value": the last expression as shown, "failure": ..., "notHere":
    names}.
    """
    return json.dumps(_run(source)[0])


def _run(source):
    """({...} as `run` tells it, the names that the text has defined)."""
    world, told = dict(known), {}
    not_here.clear()
    linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
    _mend_torch()
    out = Printed(printed_by)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            tree = ast.parse(source, NAME)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, NAME, "exec"), world)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), NAME, "eval"), world)
                if value is not None:
                    told["value"] = repr(value)[:MOST]
    except BaseException as failure:                                   # noqa: BLE001 what a reader's code may raise
        told["failure"] = _told(failure)
        if of_a_notebook(failure, told["failure"]["code"]):
            not_here.append(told["failure"]["code"].strip())
        if isinstance(failure, AttributeError) and type(failure.obj).__module__.startswith("torch.nn"):
            not_here.append(f"{type(failure.obj).__name__}.{failure.name}")  # torch's own layers have more than ours
    return (_elsewhere(told.get("failure", {})) if not_here else told), world


def of_a_notebook(failure, line):
    """Whether a line is one that only a notebook understands."""
    return isinstance(failure, SyntaxError) and (line.strip()[:1] in ("%", "!") or "'await' outside" in failure.msg)


def _elsewhere(failure):
    """What is said where names are not here: which, and the reader's line, where it is known."""
    return {"notHere": list(dict.fromkeys(not_here)) or [failure.get("says", "something")],
            "line": failure.get("line"), "code": failure.get("code", "")}


def _mend_torch():
    """What an earlier text has replaced in torch or math is as it was."""
    from mha.exercises.engine.calls import OWN
    for (home, name), own in OWN.items():
        if getattr(home, name, None) is not own:
            setattr(home, name, own)


def _told(failure):
    """What was raised: {"line": the reader's own, the last that was run, "code": that line, "says": type and words}."""
    says = [line.removesuffix(", but expected one of:")                # torch lists its signatures after that
            for line in "".join(traceback.format_exception_only(failure)).strip().splitlines()]
    says = says[-1 if isinstance(failure, SyntaxError) else 0]
    if isinstance(failure, SyntaxError) and failure.filename == NAME:
        return {"line": failure.lineno, "code": linecache.getline(NAME, failure.lineno).rstrip("\n"), "says": says}
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if frame.filename == NAME]
    if not frames:
        return {"line": None, "code": "", "says": says}
    return {"line": frames[-1].lineno, "code": frames[-1].line, "says": says,
            "through": [{"line": frame.lineno, "code": frame.line} for frame in frames[:-1]][-3:]}


def check(id, source, record):
    """Judge a text. Returns JSON: {"ok", "started", "html": lines of the report, "tries"}; or as `run` where the text
    does not run, defines no such function, or needs what is not here.
    """
    from mha.exercises.engine.report import marked
    told, world = _run(source)
    if "failure" in told or "notHere" in told:
        return json.dumps(told)
    name = checker.EXERCISES[id].name
    if world.get(name) is known.get(name):                             # nothing, or what the chapter itself has
        return json.dumps({**told, "undefined": name})

    def judged():
        _remember(id, record)
        return checker.check(id, world[name])

    try:
        report = sure(judged)
    except NotHere as missed:
        return json.dumps(_elsewhere(_told(missed)))
    if not_here:
        return json.dumps(_elsewhere({}))
    return json.dumps({**told, "ok": report.ok, "started": report.started, "tries": report.tries,
                       "text": report.text.splitlines(), "html": [marked(line) for line in report.text.splitlines()]})


def hint(id, record):
    """The next hint. Returns JSON: {"hint": text, "hints": how many were given}."""
    _remember(id, record)
    text = checker.hint(id)
    return json.dumps({"hint": text, "hints": checker.load()[id]["hints"], "of": len(checker.EXERCISES[id].hints)})


def _remember(id, record):
    """What the page has kept of an exercise: {"tries", "hints", "solved"}."""
    from mha.exercises.engine import progress
    progress._session[id] = {"tries": 0, "hints": 0, "solved": False, **json.loads(record)}
