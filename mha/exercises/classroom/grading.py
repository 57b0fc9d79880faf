"""Many notebooks, each run again in a process of its own (replay.py), and a row for each exercise of each.

Nothing of a notebook is read or run in this process. A notebook's process is the first of a group; when it has ended,
or must end, the whole group is ended. What it found until then stands in its file.
"""
import collections
import contextlib
import glob
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from mha.exercises import EXERCISES
from mha.exercises.classroom import replay
from mha.exercises.engine import alarm
from mha.exercises.engine.calls import Caught

STATES = ("right", "wrong", "written", "not started", "cannot be run", "missing", "not reached", "no exercises",
          "could not be graded")
FIELDS = ("notebook", "exercise", "state", "mistakes", "tries")
CELL, NOTEBOOK, MEMORY = 60, 600, 4         # seconds, seconds, GiB
PATIENCE = 5                                # seconds in which a cell that is interrupted must end
TICK = 0.05                                 # seconds between two looks at what runs


def grade(paths, limit=CELL, total=NOTEBOOK, memory=MEMORY, jobs=None, ticked=lambda done, of: None):
    """Yield a row, a dict of FIELDS, for every exercise of every notebook, in the order of the notebooks.

    Args:
        paths: of notebooks, of folders of them, and patterns such as "class/*.ipynb". limit: seconds for a cell.
        total: seconds for a notebook. memory: GiB for a notebook, where the system has such limits.
        jobs: how many run at a time; as many as there are cores by default.
        ticked: is told how many of how many are done, whenever that changes.
    """
    files, base = expanded(paths)
    waiting, running, done, told = collections.deque(enumerate(files)), {}, {}, 0
    start = starter()
    with tempfile.TemporaryDirectory(prefix="mha-", ignore_cleanup_errors=True) as folder:
        try:
            while waiting or running:
                while waiting and len(running) < (jobs or cores()):
                    number, path = waiting.popleft()
                    running[number] = Run(path, name(path, base), Path(folder, str(number)), limit, total)
                    running[number].begin(start, memory)
                for number in [number for number, run in running.items() if run.is_over()]:
                    done[number] = running.pop(number).finished()
                    ticked(len(files) - len(waiting) - len(running), len(files))
                while told in done:
                    yield from done.pop(told)
                    told += 1
                time.sleep(TICK if running else 0)
        except KeyboardInterrupt:           # what is done is told, though something before it is not
            for number in sorted(done):
                yield from done[number]
            raise
        finally:
            for run in running.values():
                run.end()


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def starter():
    """What starts a process: where that is safe, a fork of a process that has torch and the exercises loaded, which
    saves seconds for each notebook; else a new one.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn").Process
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mha.exercises.classroom.replay"])
    with contextlib.suppress(ValueError):                   # in a thread, which hears no Ctrl-C
        heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
        multiprocessing.forkserver.ensure_running()         # and does not hear the teacher's, either
        signal.signal(signal.SIGINT, heard)
    return context.Process


# --- One notebook ---------------------------------------------------------------------------------------------------

@dataclass
class Run:
    """The process of one notebook."""
    path: Path
    name: str
    folder: Path
    limit: float
    total: float
    size: int = 0
    why: str = ""
    process: object = None
    waited: float = 0.0
    began: float = field(default_factory=time.monotonic)
    moved: float = field(default_factory=time.monotonic)

    def begin(self, start, memory):
        self.folder.mkdir()
        scratch = self.folder / "scratch"
        scratch.mkdir()
        given = os.path.abspath(self.path), str(self.lines), str(scratch), self.limit, int(memory * 2**30)
        self.process = start(target=replay.main, args=given, daemon=False)
        self.process.start()

    @property
    def lines(self):
        return self.folder / "lines"

    def is_over(self):
        """Whether the process has ended, or must, since a cell or the whole takes too long."""
        if self.process.exitcode is not None:
            return True
        self.waited = max(self.waited, alarm.waited_for_core(self.process.pid))
        now, size = alarm.clock(self.waited), self.lines.stat().st_size if self.lines.exists() else 0
        if size != self.size:
            self.size, self.moved = size, now
        if now - self.began > self.total:
            self.why = f"the notebook took longer than {self.total:g} s"
        elif size and now - self.moved > self.limit + PATIENCE:
            self.why = f"took longer than {self.limit:g} s and could not be interrupted"
        return bool(self.why)

    def finished(self):
        """The rows."""
        found, why = self.outcome()
        with Caught():                      # a learner's code can write lines of any kind
            return rows(self.name, found, why)
        return [row(self.name, state="could not be graded", mistakes="what was found of it is not ours")]

    def outcome(self):
        """(what was found, why it ended should that have been early), after all that the notebook started was ended."""
        code = self.process.exitcode
        self.end()
        found = parsed(self.lines)
        shutil.rmtree(self.folder, ignore_errors=True)
        return found, self.why or ended(code)

    def end(self):
        """End the process and its group, if it has begun."""
        if self.process is None or self.process.pid is None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()


def ended(code):
    """Why a process ended before its notebook did."""
    return f"Python was ended by signal {-code}" if code and code < 0 else "Python was ended"


def parsed(lines):
    """What was found. What is no line of ours is passed over: the last may be half, a learner's code may write any."""
    found = []
    with contextlib.suppress(OSError):
        for line in lines.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                entry = json.loads(line)
                found += [entry] if isinstance(entry, dict) else []
    return found


def rows(notebook, found, why):
    """The rows of one notebook, of what its process found and of why it ended, should it have ended early."""
    head = next((entry for entry in found if "expected" in entry), {})
    unreadable = next((entry["unreadable"] for entry in found if "unreadable" in entry), None)
    if not head:
        return [row(notebook, state="could not be graded", mistakes=unreadable or stopped(found, why))]
    results, errors = results_of(found)
    whole, why = any("end" in entry for entry in found), stopped(found, why)
    if not whole:
        errors |= {id: why for id in last_asked(found)}
    ids = [id for id in EXERCISES if id in {*head["expected"], *results}]
    absent = {"state": "missing"} if whole else {"state": "not reached", "mistakes": why}

    def came(id):
        """A stub that was left beside an answer that cannot be run does not hide it."""
        result = results.get(id)
        if id in errors and (result is None or result["state"] == "not started"):
            return {"state": "cannot be run", "mistakes": errors[id]}
        return result or absent

    made = [row(notebook, id, head["tries"].get(id, ""), **came(id)) for id in ids]
    return made or [row(notebook, state="no exercises")]


def results_of(found):
    """id -> the last result that is not an untouched stub, and id -> the error of a cell that handed it in."""
    results, errors, asks = {}, {}, []
    for entry in found:
        asks = entry.get("asks", asks)
        if "exercise" in entry and (entry["state"] != "not started" or entry["exercise"] not in results):
            results[entry["exercise"]] = {"state": entry["state"], "mistakes": " ".join(entry["mistakes"])}
        if "error" in entry:
            errors |= {id: entry["error"] for id in asks}
    return results, errors


def last_asked(found):
    return next((entry["asks"] for entry in reversed(found) if "asks" in entry), [])


def stopped(found, why):
    """Why a notebook did not run to its end, and in which of its code cells."""
    why = next((entry["stopped"] for entry in found if "stopped" in entry), why)
    cell = next((entry["cell"] for entry in reversed(found) if "cell" in entry), None)
    return f"{why}, in code cell {cell}" if cell else why


def row(notebook, id="", tries="", state="", mistakes=""):
    exercise = EXERCISES[id].label if id else ""        # with its title: 10.1 and 10.10 alone are one number
    return dict(zip(FIELDS, map(field_of, (notebook, exercise, state, mistakes, tries))))


def field_of(value):
    """What is safe to write and to open: a number as it is; of a text, what is half a character or controls a console
    is escaped, and ./ stands before what reads as a formula to a spreadsheet.
    """
    if isinstance(value, (int, float)):
        return value
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", lambda found: ascii(found[0])[1:-1], str(value))
    return f"./{text}" if text.startswith(("=", "+", "-", "@")) else text


# --- Which notebooks ------------------------------------------------------------------------------------------------

def expanded(paths):
    """(notebooks, the folder that all have in common): of a folder all notebooks in it, of a pattern all that fit.

    A path at which there is nothing, or no notebook, stays: it gets a row that says so. Each file comes once.
    """
    files, folders = [], []
    for path in fitting(paths):
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if is_notebook(p) and not p.is_dir()
                            and not hidden(p.relative_to(path)))
            files += inside or [path]
            folders.append(path)
        else:
            files.append(path)
            folders.append(path.parent)
    files = distinct(files)
    roots = {os.path.abspath(folder) for folder in folders}
    with contextlib.suppress(ValueError):                   # on two drives there is no folder in common
        return files, os.path.commonpath(roots) if roots else ""
    return files, ""


def fitting(paths):
    """Paths, and in the place of a pattern all files and folders that fit it, if any do."""
    for path in map(Path, paths):
        fit = [] if path.exists() else sorted(map(Path, glob.glob(str(path), recursive=True)))
        yield from [found for found in fit if found.name != "__MACOSX"] or [path]


def distinct(paths):
    """The paths, each once, however it is spelled."""
    return list({os.path.abspath(path): path for path in paths}.values())


def passed_over(paths):
    """(what lies in the folders among some paths and is no notebook, a folder that is called as one too; which files in
    them are hidden)
    """
    there = {os.path.abspath(file): (file, hidden(file.relative_to(path))) for path in fitting(paths) if path.is_dir()
             for file in sorted(path.rglob("*"))}.values()
    return ([file for file, out_of_sight in there if file.is_dir() == is_notebook(file) and not out_of_sight],
            [file for file, out_of_sight in there if out_of_sight and not file.is_dir()])


def is_notebook(path):
    """Whether a file is called as notebooks are, in capitals too."""
    return path.suffix.lower() == ".ipynb"


def hidden(path):
    """Whether a file, or a folder above it, is hidden, as .ipynb_checkpoints is; or what a Mac packs beside files."""
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


def name(path, base):
    """How the table calls a notebook: its path below the common folder."""
    absolute = os.path.abspath(path)
    text = os.path.relpath(absolute, base) if base else absolute
    return os.fsencode(text).decode("utf-8", "backslashreplace").replace(os.sep, "/")
