"""For teachers: exercises as notebooks to hand out, and the notebooks that come back graded to a table.

    python -m mha.exercises export --no-solutions DIR      a notebook for each page, with its exercises only
    python -m mha.exercises export --with-solutions DIR    the same, solved
    python -m mha.exercises grade DIR -o marks.csv         a row for each exercise of each notebook in DIR
    python -m mha.exercises mistakes [2.1 05_masks ...]    the names of mistakes in that table, and what each means
    python -m mha.exercises serve                          the exercises for an assistant that tutors, over MCP

grade runs each notebook again, from its first code cell to its last, in a process of its own with limits of time and,
on Linux, of memory. The last result of check or predict counts, as the learner saw it. How many tries it took is read
from the notebook's own outputs, if they were kept. Nothing is sent anywhere.

The processes guard one learner's rows against another's mistakes: endless loops, sys.exit, too much memory. They do not
guard against malice. The learners' code runs on this machine with your rights: it can read and change your files, use
the network, and fake its own results. Where you would not run a notebook yourself, grade it in a container or a virtual
machine.
"""
import argparse
import contextlib
import csv
import importlib.metadata
import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from mha.exercises import EXERCISES
from mha.exercises.classroom.names import Refused, glossary
from mha.exercises.engine.cells import cells, code, markdown, set_up

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


# --- Export ---------------------------------------------------------------------------------------------------------

def export(folder, solved, repository=None, over=True):
    """Write one notebook for each page that has exercises, a chapter or a lab. Returns the paths.

    Args:
        folder: made if it is not there. solved: whether right answers stand in it, in the cells and folded away.
        repository: ada/book on GitHub, or an address, of the book; from there a notebook on Colab fetches mha.
        over: whether other notebooks of these names that are there are written over.
    Raises:
        Refused: it may write none over and one is there, or the repository is no address. Nothing is written then.
    """
    made, begin = {}, set_up(origin(repository))
    for chapter in dict.fromkeys(item.chapter for item in EXERCISES.values()):
        first = [markdown(f"# Exercises: {chapter}") | {"id": "title"}, code(begin) | {"id": "set-up"}]
        asked = [cell for item in EXERCISES.values() if item.chapter == chapter
                for cell in cells(item, solved, with_solution=solved)]
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": KERNEL}, "cells": first + asked}
        made[Path(folder, f"{chapter}.ipynb")] = json.dumps(notebook, indent=1, ensure_ascii=False)
    for path, text in made.items():
        if not over and path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
            raise Refused(f"{path} is there and holds something else; name another folder, or move it away")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return list(made)


def origin(repository=None):
    """(address, commit) from which pip can fetch this package; None where nobody said, and pip did not fetch it so."""
    repository = repository or os.environ.get("BOOK_REPOSITORY")
    if repository:
        return address(repository), commit()
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        known = json.loads(importlib.metadata.distribution("mha").read_text("direct_url.json") or "{}")
        if "vcs_info" in known:
            return known["url"], known["vcs_info"]["commit_id"]
    return None


def address(repository):
    """Where git finds a repository that is told as ada/book on GitHub, by an address, or as git@github.com:ada/book."""
    if re.fullmatch(r"\w[\w-]*/[\w.-]+", repository):
        return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
    found = re.fullmatch(r"(?:git\+)?(\w+://[\w.~:/@%+-]+)|([\w.-]+@[\w.-]+):/*([\w.~/%+-]+)", repository)
    if not found:
        raise Refused(f"{repository} is no address from which git can fetch the book on another machine; such are "
                      "ada/book on GitHub, https://example.org/ada/book and git@example.org:ada/book")
    return found[1] or f"ssh://{found[2]}/{found[3]}"


def commit():
    """The commit of the clone that this package stands in; HEAD, the newest that there will be, where it is no clone.
    """
    root = Path(__file__).resolve().parents[3]
    with contextlib.suppress(OSError):
        asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, encoding="utf-8")
        return asked.stdout.strip() if (root / ".git").exists() and asked.returncode == 0 else "HEAD"
    return "HEAD"


# --- The command ----------------------------------------------------------------------------------------------------

def main(arguments=None):
    """Run the command; its exit status."""
    options = parser().parse_args(arguments)
    try:
        return obey(options)
    except Refused as wrong:
        said = wrong
    except OSError as wrong:                # where the table or the notebooks cannot be written
        said = ": ".join(filter(None, (wrong.filename, wrong.strerror))) or wrong
    print(f"{options.command} was stopped: {said}", file=sys.stderr)
    return 2


def obey(options):
    if options.command == "export":
        return hand_out(options)
    if options.command == "mistakes":
        return explain(options)
    if options.command == "serve":
        from mha.exercises.tutor import protocol
        return protocol.serve(options.limit)
    from mha.exercises.classroom import grading
    options.notebooks = list(grading.fitting(options.notebooks))            # before the table is there too
    if options.output:
        refuse(Path(options.output), options.notebooks)
    with set_aside(options.output), table(options.output, options.bom) as file:
        return collect(options, file)


def refuse(output, notebooks):
    """Refuse a file for the table that is a notebook, or anything but a table, or graded itself, or left empty."""
    from mha.exercises.classroom import grading
    files = [path for path in grading.expanded(notebooks)[0] if path.is_file()]
    if grading.is_notebook(output.resolve()) or output.suffix.lower() in (".xlsx", ".xls", ".ods"):
        what = "notebook" if grading.is_notebook(output.resolve()) else "spreadsheet"
        raise Refused(f"{output} has the name of a {what}, and the table needs a file such as marks.csv")
    if output.is_file() and any(output.samefile(path) for path in files):
        raise Refused(f"{output} is among what is graded, and the table needs another file")
    if output.is_file() and not files:
        raise Refused(f"there is nothing to grade, and {output} stays as it is")
    if output.is_file() and output.stat().st_size:
        with open(output, encoding="utf-8-sig", errors="replace") as file:
            header = re.split("[,;\t]", file.readline().replace('"', "").strip())      # with a teacher's columns
        if not set(grading.FIELDS) <= set(header):
            raise Refused(f"{output} is there and is no table of grade: give another name")


@contextlib.contextmanager
def set_aside(output):
    """Whatever comes of the new table, the one that stood in its place is kept beside it, unless they are the same."""
    output, old = Path(output or ""), None
    if output.is_file() and output.stat().st_size:
        names = (output.with_stem(f"{output.stem}.before{number}") for number in ("", *map(str, range(2, 10**6))))
        old = output.rename(next(path for path in names if not path.exists()))
    try:
        yield
    finally:
        if old and not output.exists():
            old.rename(output)
        elif old and output.read_bytes() == old.read_bytes():
            old.unlink()
        elif old:
            print(f"The table that was there is kept as {old}", file=sys.stderr)


def above_0(kind, most=math.inf, unit=""):
    """Reads a number that is above 0."""
    def number(text):
        if not 0 < kind(text) < math.inf:
            raise argparse.ArgumentTypeError(f"it must be above 0, and is {text}")
        if kind(text) > most:
            raise argparse.ArgumentTypeError(f"it is in {unit}, at most {most}, and is {text}")
        return kind(text)
    return number


def hand_out(options):
    for path in export(options.folder, options.with_solutions, options.repository, over=False):
        print(path)
    if not origin(options.repository):
        print("On Colab these notebooks do not find mha: say where it is with --repository NAME.", file=sys.stderr)
    return 0


def explain(options):
    lines = list(glossary(options.exercises))
    with table(None, bom=False) as file:
        print(*lines, sep="\n", file=file)
    return 0


def collect(options, file):
    """Write the table, notebook by notebook; what came of it goes to the other stream."""
    from mha.exercises.classroom import grading
    begun, graded, failed, stopped = time.monotonic(), set(), set(), False
    others, hidden = grading.passed_over(options.notebooks)
    for path in others:
        print(f"Passed over, since it is no notebook: {path}", file=sys.stderr)
    if hidden:
        print(f"Passed over, being hidden: {counted(len(hidden), 'file')}, "
              f"{counted(sum(map(grading.is_notebook, hidden)), 'notebook')} among them", file=sys.stderr)
    written = csv.DictWriter(file, grading.FIELDS)
    written.writeheader()
    try:
        for row in grading.grade(options.notebooks, options.limit, options.total, options.memory, options.jobs,
                                 counter):
            written.writerow(row)
            (failed if row["state"] == "could not be graded" else graded).add(row["notebook"])
            file.flush()
    except KeyboardInterrupt:
        stopped = True
    but = f", {len(failed)} could not be graded" * bool(failed)
    print(f"{'Stopped: the table has' if stopped else 'Graded:'} {counted(len(graded), 'notebook')}{but}, "
          f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 130 if stopped else 0 if graded else 1


def counted(number, thing):
    return f"{number} {thing}{'s' * (number != 1)}"


def counter(done, of):
    """A line that counts, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{done} of {of}", end="\r", file=sys.stderr, flush=True)


@contextlib.contextmanager
def table(path, bom):
    """A file for the table, in UTF-8 whatever the console speaks."""
    encoding = "utf-8-sig" if bom else "utf-8"
    if path and not Path(path).parent.is_dir():
        raise OSError(f"there is no folder {Path(path).parent}")
    if path and Path(path).is_dir():
        raise OSError(f"{path} is a folder, and the table needs a file, such as {Path(path, 'marks.csv')}")
    if path:
        with open(path, "w", encoding=encoding, newline="") as file:
            yield file
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding=encoding, newline="")
    yield sys.stdout


def parser():
    made = argparse.ArgumentParser(prog="python -m mha.exercises", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = made.add_subparsers(dest="command", required=True)
    out = commands.add_parser("export", help="write notebooks to hand out")
    which = out.add_mutually_exclusive_group(required=True)
    which.add_argument("--with-solutions", action="store_true")
    which.add_argument("--no-solutions", action="store_true")
    out.add_argument("--repository", metavar="NAME", help="the book's repository, such as ada/book on GitHub or an "
                     "address, so that a notebook on Colab fetches mha from there (default: where pip got it from)")
    out.add_argument("folder", help="where to write them; made if it is not there")
    what = commands.add_parser("mistakes", help="say what the names of mistakes in the table mean")
    what.add_argument("exercises", nargs="*", help="such as 2.1, or chapters such as 05_masks (default: all)")
    tutor = commands.add_parser("serve", help="let an assistant in an editor tutor: MCP over stdin and stdout")
    tutor.add_argument("--limit", type=above_0(float), default=30, help="seconds for a check (default: %(default)s)")
    marking(commands.add_parser("grade", help="run notebooks again and write a table, as CSV", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter))
    return made


def marking(marks):
    """The options of `grade`."""
    from mha.exercises.classroom import grading
    marks.add_argument("notebooks", nargs="+", help="notebooks, folders of them, or patterns such as \"class/*.ipynb\"")
    marks.add_argument("-o", "--output", metavar="FILE", help="where the table goes (default: it is printed)")
    marks.add_argument("--bom", action="store_true", help="begin the table with the mark by which Excel knows UTF-8")
    marks.add_argument("--jobs", type=above_0(int), help="how many notebooks run at a time (default: as many as cores)")
    marks.add_argument("--limit", type=above_0(float), default=grading.CELL,
                       help="seconds for a cell (default: %(default)s)")
    marks.add_argument("--total", type=above_0(float), default=grading.NOTEBOOK,
                       help="seconds for a notebook (default: %(default)s)")
    marks.add_argument("--memory", type=above_0(float, 1024, "GiB"), default=grading.MEMORY,
                       help="GiB for a notebook, where the system has such limits (default: %(default)s)")
