"""One notebook, run again from its first code cell to its last, as its learner's kernel ran it.

This runs in a process of its own, which grading.py starts, watches and ends. The cells run in an IPython shell, each
with a time limit; its error is kept, and the next cell runs. `check` and `predict`, however they are spelled, examine
there and then, as they did for the learner. What is found goes to a file line by line, each line when it is known, so
that nothing of it is lost when the process is.
"""
import contextlib
import functools
import importlib
import json
import multiprocessing
import os
import re
import symtable
import sys
import tempfile
from pathlib import Path

import torch

from mha import exercises
from mha.exercises import EXERCISES
from mha.exercises.engine.calls import Caught
from mha.exercises.classroom.handed_in import exercise_ids, expected, read
from mha.exercises.classroom.shell import mute, run_in, shell
from mha.exercises.classroom.watch import Watch

try:
    import resource
except ImportError:                         # on Windows
    resource = None

HOME = str(Path(exercises.__file__).parents[2])    # where mha is imported from
SKIPPED = "skip-execution"                  # the tag of Jupyter's own tools for a cell that is not to be run
SPARE = 2**28                               # bytes with which the cells after one that used up the memory go on


def main(path, lines, scratch, limit, memory):
    """Run a notebook and end this process.

    Args:
        path: of the notebook. lines: of the file that takes what is found. scratch: an empty folder to run in.
        limit: seconds for each cell. memory: bytes for the process.
    """
    found = Lines(lines)
    with Caught() as caught:
        seal(scratch, memory)
        replay(path, found, limit)
    if caught.failure is not None:
        found.write(stopped=one_line(caught.failure))
    os._exit(0)


class Lines:
    """A file that takes what is found, one JSON object a line."""

    def __init__(self, path):
        self.path, self.owner = path, os.getpid()

    def write(self, **found):
        """Add a line. A copy of this process, which a learner's os.fork made, ends here."""
        if os.getpid() != self.owner:
            os._exit(0)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")


# --- The process ----------------------------------------------------------------------------------------------------

def seal(scratch, memory):
    """Cut this process off from the teacher's: a group of its own, nothing to read, nowhere to print, a folder and a
    progress file of its own, no modules of the folder where the teacher stands but mha, and limits where the system
    has them.
    """
    if hasattr(os, "setsid"):
        os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    mute()
    sys.path = [entry for entry in sys.path if os.path.abspath(entry) != os.getcwd()] + [HOME]
    os.chdir(scratch)
    tempfile.tempdir = None                 # what was read of TMPDIR before
    multiprocessing.set_start_method(None, force=True)      # the system's own, as in a learner's kernel
    os.environ.update(MHA_PROGRESS=str(Path(scratch, "progress.json")), IPYTHONDIR=scratch, TMPDIR=scratch,
                      MPLBACKEND="agg", OMP_NUM_THREADS="1")
    torch.set_num_threads(1)
    if resource:
        for kind, most, more in (("DATA", held() + memory, SPARE), ("FSIZE", memory, 0), ("CORE", 0, 0)):
            restrict(getattr(resource, f"RLIMIT_{kind}"), most, more)


def restrict(kind, most, more=0):
    """Set a limit of this process, or lower it: no process may raise its own but by `more`."""
    hard = resource.getrlimit(kind)[1]
    limits = [most, most + more] if hard == resource.RLIM_INFINITY else [min(most, hard), min(most + more, hard)]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, limits)


def spare():
    """Room to go on, once, where a cell has used up the memory and keeps it."""
    with contextlib.suppress(AttributeError, ValueError, OSError):      # the first on Windows
        resource.setrlimit(resource.RLIMIT_DATA, (resource.getrlimit(resource.RLIMIT_DATA)[1],) * 2)


def held():
    """Bytes that this process holds already, most of them torch's; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[5]) * resource.getpagesize()
    return 0


# --- The cells ------------------------------------------------------------------------------------------------------

def replay(path, found, limit):
    """Run the code cells of a notebook. The lines: which exercises are expected, and the learner's own count of tries;
    then the number of each code cell as it begins, each result as it comes, each error; and the end. Cells are
    counted as Jupyter counts them: one with nothing in it has no number.
    """
    try:
        cells = read(path)
    except ValueError as wrong:
        found.write(unreadable=str(wrong))
        return
    except OSError as wrong:
        found.write(unreadable=f"it could not be read: {wrong.strerror}")
        return
    found.write(expected=expected(path, cells), tries={id: count for cell in cells for id, count in cell.tries.items()})
    runner, watch, failed = shell(), Watch(limit), []
    record(found, failed)
    sys.dont_write_bytecode = True
    place = next((i for i, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages"))), 0)
    sys.path[place:place] = ["", str(Path(path).parent)]    # where Jupyter has the folder of a notebook
    code = [cell for cell in cells if cell.kind == "code" and cell.source.strip()]
    for number, cell in enumerate(code, start=1):
        found.write(cell=number, asks=exercise_ids(cell.source))
        failure = NotRun(f"skipped: its tag is {SKIPPED}") if SKIPPED in cell.tags else run(runner, cell.source, watch)
        if failure:
            name = failure.name if isinstance(failure, NameError) else None
            error = cause(name, failed) or f"{one_line(failure)}, in {line_of(failure, cell.source)}code cell {number}"
            found.write(error=error)
            failed.append((cell.source, error))
    found.write(end=True)


class NotRun(Exception):
    """Why a cell did not run, or not to its end, where that is no error of its own."""


def run(runner, source, watch):
    """Run one cell; what it raised, or None."""
    runner.failure = None
    if any(stream is None or getattr(stream, "closed", False) for stream in (sys.stdin, sys.stdout, sys.stderr)):
        mute()                                              # the cell before took a stream away
    watch.begin()
    with contextlib.suppress(KeyboardInterrupt), Caught() as caught:    # it may come when the cell has just ended
        result = run_in(runner, source)
        runner.failure = result.error_before_exec or runner.failure or result.error_in_exec
    watch.end()
    failure = caught.failure or runner.failure              # the first is of IPython itself, which a cell can break
    if isinstance(failure, MemoryError):
        spare()
    return NotRun(f"stopped after {watch.seconds:g} s") if watch.late else failure


def one_line(failure):
    """An error on one line, in at most 200 characters."""
    text = ""
    with Caught():                                          # a learner's error may not know how to say itself
        text = str(failure.msg or "") if isinstance(failure, SyntaxError) else str(failure)
    name = "SyntaxError" if type(failure).__name__ == "_IncompleteInputError" else type(failure).__name__  # Python 3.13
    kind = [] if isinstance(failure, NotRun) else [name]
    line = ": ".join([*kind, *filter(None, [" ".join(text.split())])])
    return line if len(line) <= 200 else f"{line[:199]}…"


def line_of(failure, source):
    """The line of a cell that is no Python, as it is counted there; nothing where something else is the matter."""
    if not isinstance(failure, SyntaxError) or not str(failure.filename).startswith("<ipython-input"):
        return ""
    above = re.match(r"\s*\n|", source)[0].count("\n")       # IPython drops empty lines at the top
    return f"line {failure.lineno + above} of "


def cause(name, failed):
    """Why a name is missing: what befell the cell that should have made it, where there is one."""
    error = next((error for source, error in reversed(failed) if name and makes(source, name)), None)
    return error and f"{error}, so {name} is not defined"


def makes(source, name):
    """Whether a cell gives a name something, as far as its text shows."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        cell = symtable.symtable(re.sub(r"(?m)^\s*[%!].*", "", source), "cell", "exec")
        known = name in cell.get_identifiers() and cell.lookup(name)
        return known and (known.is_assigned() or known.is_imported())
    return bool(re.search(rf"(?m)^\s*(?:def|class)\s+{name}\b|\b{name}\s*=|\bimport\b.*\b{name}\b", source))


# --- What the learner hands in --------------------------------------------------------------------------------------

def record(found, failed):
    """From now on `check`, and with it `predict`, leaves each result in the file, and what befell the cell that should
    have made a name that it misses; and a picture is drawn only when something is asked of it.
    """
    examine, draw = exercises.check, exercises.show

    @functools.wraps(examine)
    def check(id, answer=..., *more):
        report = examine(id, answer, *more)
        missed = re.search(r"NameError: name '(\w+)' is not defined", report.text)
        error = missed and cause(missed[1], failed)
        found.write(exercise=report.exercise, state=state(report), text=repr(report),
                    mistakes=report.mistakes + [f"({error})"] * bool(error))
        return report

    @functools.wraps(draw)
    def show(id):
        return Undrawn(functools.partial(draw, id))

    @functools.wraps(importlib.reload)
    def reload(module):
        made = again(module)
        if made is exercises:
            record(found, failed)
        return made

    again = getattr(importlib.reload, "__wrapped__", importlib.reload)
    exercises.check, exercises.show, importlib.reload = check, show, reload


def state(report):
    if not report.started:
        return "not started"
    if EXERCISES[report.exercise].kind == "explain":
        return "written" if report.ok else "wrong"
    return "right" if report.ok else "wrong"


class Undrawn:
    """A picture that nobody has looked at yet."""

    def __init__(self, draw):
        self._draw = draw

    def __getattr__(self, name):
        return getattr(self._draw(), name)
