#!/usr/bin/env python3
"""The front door of the book.

    python3 book.py serve            build the book and show it on http://127.0.0.1:8000
    python3 book.py test             test the package, run every notebook, try the built book in a browser
    python3 book.py test --from STAGE    the same from one stage on: package, notebooks, build, browser or engines
    python3 book.py check CHAPTER    what a change to one chapter can break, in a minute or two: check 05_masks
    python3 book.py check 4.1        the same of one exercise in code; check head-grid, of one live figure
    python3 book.py processors       the package's tests and the notebooks as on older processors: about an hour
    python3 book.py build            build the book into _build/html
    python3 book.py lab              open the chapters in JupyterLab
    python3 book.py refresh          store what the notebooks say now, after a change to them or to mha

The first run makes a virtual environment in .venv and installs requirements.txt into it.
Every command it runs is printed first, so that you can run it yourself.
"""
import sys

if not (3, 10) <= sys.version_info < (3, 14):
    sys.exit("The book needs Python 3.10 to 3.13; this is Python %d.%d." % sys.version_info[:2])

import argparse
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent
STAMP = ROOT / ".venv" / "installed"
PROGRAMS = Path(".venv", "Scripts" if os.name == "nt" else "bin")
PYTHON = PROGRAMS / "python"
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
# As many workers as there are cores, and one thread of torch in each: threads that wait for each other's cost more.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
WORKERS = 1 + (os.cpu_count() or 1)  # one more than cores: a test waits for its browser, or for a process that it began
FEW = 10  # tests in a browser that are tried again


class Failed(SystemExit):
    """A command failed; what `test` notes and goes on from, and what ends every other command."""


def run(*command, on_failure=None, **variables):
    """Print a command, run it in the book's folder with these environment variables, and stop when it fails."""
    command = [str(part) for part in command]
    print("$ " + "".join(f"{name}={value} " for name, value in variables.items()) + shlex.join(command), flush=True)
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}).returncode
    if code:
        raise Failed(f"\n{on_failure or 'This command failed: ' + shlex.join(command)}")


def python(*arguments, **options):
    """Run the virtual environment's Python."""
    run(PYTHON, *arguments, **options)


# --- The virtual environment ----------------------------------------------------------------------------------------

def wanted():
    """What .venv must have been made from: this Python, and the two files that say what to install."""
    digest = hashlib.sha256()
    for name in ("requirements.txt", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return ["Python %d.%d" % sys.version_info[:2], digest.hexdigest()]


def install():
    """Make .venv where it is missing, unfinished or of another Python; install where what to install has changed."""
    made_from = STAMP.read_text(encoding="utf-8").splitlines() if STAMP.exists() else []
    if made_from == wanted():
        return
    if made_from[:1] != wanted()[:1]:
        make_venv()
    print("Installing the book's packages into .venv: the first time, this takes some minutes.")
    python("-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r", "requirements.txt", *torch_index(),
           on_failure="The packages could not be installed; pip says why above. "
                      "This step needs the network: if it was down, run the same command again.")
    STAMP.write_text("\n".join(wanted()), encoding="utf-8")


def make_venv():
    """An empty virtual environment."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit("This Python cannot make virtual environments. On Debian or Ubuntu: sudo apt-get install python3-venv")
    run(sys.executable, "-m", "venv", "--clear", ".venv")


def torch_index():
    """pip's options for torch's CPU build, where that is the right one: on Linux without an NVIDIA device.

    On Linux the default build brings gigabytes of CUDA packages. BOOK_TORCH_INDEX names another index, or, when it is
    empty, none.
    """
    index = os.environ.get("BOOK_TORCH_INDEX", TORCH_INDEX)
    if not index or sys.platform != "linux" or has_nvidia():
        return []
    if not answers(f"{index}/torch/", seconds=5):
        print(f"{index} does not answer, so torch comes from where pip finds it, in its default build.")
        return []
    print("There is no NVIDIA device here, so torch comes in its CPU build, 0.2 GB in place of some 3. To have the "
          "default build instead, remove .venv and run: BOOK_TORCH_INDEX= python3 " + shlex.join(sys.argv))
    return ["--extra-index-url", index]


def has_nvidia():
    """Whether this machine has an NVIDIA device that CUDA could use."""
    return Path("/dev/nvidia0").exists() or Path("/dev/dxg").exists() or shutil.which("nvidia-smi") is not None


def answers(address, seconds):
    """Whether a page can be had, name look-up and all, within so many seconds."""
    found = []

    def ask():
        try:
            with urllib.request.urlopen(address, timeout=seconds) as page:
                found.append(page.status == 200)
        except (OSError, ValueError):
            pass

    # In a thread, since the timeout of urlopen does not cover the look-up of the name.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(seconds)
    return found == [True]


# --- The commands ---------------------------------------------------------------------------------------------------

def build():
    """Run the notebooks whose last run no longer counts, build every page, and of all one PDF. Warnings are errors."""
    python("-m", "stored.runs", **ONE_THREAD)
    run(PROGRAMS / "jupyter-book", "build", ".", "--all", "--warningiserror", "--nitpick", "--keep-going", "--quiet")
    python("-m", "tools.make_pdf")
    print("Built: _build/html/index.html")


def serve(port):
    """Build the book and show it on this machine until Ctrl-C."""
    require_free(port)
    build()
    print(f"\nThe book: http://127.0.0.1:{port}   (Ctrl-C stops it)\n", flush=True)
    python("-m", "http.server", port, "--bind", "127.0.0.1", "--directory", "_build/html")


def require_free(port):
    """Stop with a clear line when the port cannot be had."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name != "nt")
            probe.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        sys.exit(f"Port {port} cannot be used ({error}). Choose another: python3 book.py serve --port 8010")


def test_package():
    """The package, and the rules of the house."""
    python("-m", "pytest", "-n", WORKERS, "--dist", "worksteal", "tests", "--ignore=tests/browser",
           "--ignore=tests/engines", **ONE_THREAD)


def test_notebooks():
    """Every notebook: run once, judged, and kept for the build."""
    python("-m", "pytest", "-n", "auto", "--dist", "loadfile", "--nbval", "chapters", **ONE_THREAD)


def test_browser():
    """The built book in Chromium."""
    return test_pages("tests/browser", "-n", WORKERS, "--dist", "loadgroup")


def test_engines():
    """The built book in Firefox and WebKit, a worker each; a line in the end says which of them is not here."""
    return test_pages("tests/engines", "-n", "2")


def test_pages(folder, *workers):
    """Tests in a browser. The few that fail beside others are run again, one by one: a busy machine can be too late for
    what a page waits for. What fails then has failed.
    """
    try:
        python("-m", "pytest", *workers, folder, **ONE_THREAD)
    except Failed as failure:
        noted = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
        failed = [re.sub(r"@[^]]*$", "", name)  # `--dist loadgroup` writes a test's group behind its name
                  for name in json.loads(noted.read_text("utf-8")) if name.startswith(folder)]
        if not 0 < len(failed) <= FEW:
            raise
        print(f"{failure}\n\nAgain, one by one:", flush=True)
        python("-m", "pytest", *failed, **ONE_THREAD)
        return f"passed; {len(failed)} at the second try: " + ", ".join(failed)
    return None


STAGES = {"package": test_package, "notebooks": test_notebooks, "build": build, "browser": test_browser,
          "engines": test_engines}


def test(first):
    """Every stage from `first` on, whatever fails before it, and a table of all in the end."""
    table, failed = [], []
    for name in list(STAGES)[list(STAGES).index(first):]:
        start = time.monotonic()
        try:
            result = cannot_run(name, failed) or STAGES[name]() or "passed"
        except Failed as failure:
            print(failure, flush=True)
            failed.append(name)
            result = "FAILED"
        table.append(f"{name:<9} {time.monotonic() - start:5.0f} s   {result}")
    print("\n" + "\n".join(table), flush=True)
    if failed:
        sys.exit(f"\nTo take it up again there: python3 book.py test --from {failed[0]}")


def cannot_run(stage, failed):
    """Why a stage cannot be run here or now; "" where it can."""
    if stage in ("browser", "engines") and "build" in failed:
        return "not run, since the build failed"
    return f"skipped: {no_chromium()}" if stage == "browser" and no_chromium() else ""


def check(what):
    """What a change to one chapter, to one live figure, or to one exercise in code can break."""
    chapters = {path.stem: path.relative_to(ROOT) for path in sorted((ROOT / "chapters").glob("*.ipynb"))}
    if re.fullmatch(r"\d+[a-z]?\.\d+", what):
        check_exercise(what)
    elif Path(what).stem in chapters:
        chapter = chapters[Path(what).stem]
        python("-m", "pytest", "tests/test_house.py", "tests/test_notebooks.py", "-k", chapter.stem, **ONE_THREAD)
        python("-m", "pytest", "--nbval", chapter, **ONE_THREAD)
        check_page(chapter, chapter.stem if chapter.stem.endswith("_lab") else f"{chapter.stem} and not _lab")
    else:
        shows = f"widgets.{what.replace('-', ' ').title().replace(' ', '')}("
        found = [chapter for chapter in chapters.values() if shows in (ROOT / chapter).read_text("utf-8")]
        if not found:
            sys.exit(f"There is no chapter {what!r}, and none shows a figure of that name. "
                     f"There are {', '.join(chapters)}.")
        check_page(found[0], what)


def check_exercise(number):
    chapter = number.partition(".")[0].zfill(2)
    file = f"mha/exercises/chapter_{chapter}/e{number.replace('.', '_')}"
    if not list(ROOT.glob(f"{file}_*.py")):
        sys.exit(f"There is no exercise {number} in code: none is called {file}_name.py.")
    python("-m", "pytest", "tests/test_exercises.py", "tests/test_blanks.py", "tests/test_right_answers.py",
           "-k", number, **ONE_THREAD)


def check_page(chapter, tests):
    """Build the page of one chapter, and try in a browser what has such a name."""
    if no_chromium():
        print(f"Its page in a browser is skipped: {no_chromium()}")
        return
    toc = Path("_build", "check", "toc.yml")
    (ROOT / toc).parent.mkdir(parents=True, exist_ok=True)
    pages = f"root: chapters/index\nchapters:\n- file: {chapter.with_suffix('').as_posix()}\n"
    (ROOT / toc).write_text(f"format: jb-book\n{pages}", "utf-8")
    html = toc.parent / "_build" / "html"
    shutil.rmtree(ROOT / html, ignore_errors=True)  # it has pages of the chapter before
    python("-m", "stored.runs", "index", chapter.stem, **ONE_THREAD)
    run(PROGRAMS / "jupyter-book", "build", ".", "--all", "--quiet", "--toc", toc, "--path-output", toc.parent)
    print(f"Its page: {html / chapter.with_suffix('.html')}", flush=True)
    python("-m", "pytest", "-n", WORKERS, "--dist", "loadgroup", "tests/browser", "-k", tests,
           BOOK_HTML=str(html), **ONE_THREAD)


def no_chromium():
    """Why the browser tests cannot run; "" where they can. In CI they must."""
    if os.environ.get("CHROMIUM") or any(map(shutil.which, CHROMIUM)):
        return ""
    why = "there is no Chromium. On Debian or Ubuntu: sudo apt-get install chromium"
    if os.environ.get("CI") == "true":
        raise Failed(f"The browser tests cannot run: {why}")
    return why


def processors():
    """The package's tests and every notebook, as on older processors."""
    python("-m", "tools.processors")


def lab():
    """JupyterLab on the chapters."""
    python("-m", "jupyterlab", "--notebook-dir=chapters")


def refresh():
    """Run the notebooks whose last run no longer counts and store all their text outputs; stamp the set-up cells."""
    python("-m", "tools.refresh", **ONE_THREAD)


def main():
    parser = argparse.ArgumentParser(usage="python3 book.py command [chapter] [--port PORT] [--from STAGE]",
                                     description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = {command.__name__: command for command in (serve, test, check, processors, build, lab, refresh)}
    parser.add_argument("command", choices=commands, help="one of those above")
    parser.add_argument("chapter", nargs="?", help="such as 05_masks, 4.1 or head-grid")
    parser.add_argument("--port", type=int, default=8000, help="where serve shows the book (default: 8000)")
    parser.add_argument("--from", choices=STAGES, default="package", dest="first", help="the stage that test begins at")
    options = parser.parse_args()
    if (options.command == "check") != (options.chapter is not None):
        parser.error("check, and no other command, takes the name of a chapter or figure, or an exercise's number")
    install()
    arguments = {"serve": [options.port], "check": [options.chapter], "test": [options.first]}
    commands[options.command](*arguments.get(options.command, []))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
