#!/usr/bin/env python3
"""The front door of the book.

    python3 book.py serve     build the book and show it on http://127.0.0.1:8000
    python3 book.py test      test the package, run every notebook, try the built book in a browser
    python3 book.py build     build the book into _build/html
    python3 book.py lab       open the chapters in JupyterLab
    python3 book.py refresh   run every notebook again and store its text outputs

The first run makes a virtual environment in .venv and installs requirements.txt into it.
Every command it runs is printed first, so that you can run it yourself.
"""
import sys

if sys.version_info < (3, 10):
    sys.exit("The book needs Python 3.10 or newer; this is Python %d.%d." % sys.version_info[:2])

import argparse
import hashlib
import importlib.util
import os
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent
STAMP = ROOT / ".venv" / "installed"
PROGRAMS = Path(".venv", "Scripts" if os.name == "nt" else "bin")
PYTHON = PROGRAMS / "python"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def run(*command, on_failure=None, **variables):
    """Print a command, run it in the book's folder with these environment variables, and stop when it fails."""
    command = [str(part) for part in command]
    print("$ " + "".join(f"{name}={value} " for name, value in variables.items()) + shlex.join(command), flush=True)
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}).returncode
    if code:
        sys.exit(f"\n{on_failure or 'This command failed: ' + shlex.join(command)}")


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
    """Make .venv when it is missing, unfinished or of another Python; install again when what to install has changed.
    """
    made_from = STAMP.read_text().splitlines() if STAMP.exists() else []
    if made_from == wanted():
        return
    if made_from[:1] != wanted()[:1]:
        make_venv()
    print("Installing the book's packages into .venv: the first time, this takes some minutes.")
    python("-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r", "requirements.txt",
           on_failure="The packages could not be installed; pip says why above. "
                      "This step needs the network: if it was down, run the same command again.")
    STAMP.write_text("\n".join(wanted()))


def make_venv():
    """An empty virtual environment."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit("This Python cannot make virtual environments. On Debian or Ubuntu: sudo apt-get install python3-venv")
    run(sys.executable, "-m", "venv", "--clear", ".venv")


# --- The commands ---------------------------------------------------------------------------------------------------

def build():
    """Build every page anew, since a change in mha shows in pages whose own text stands still. Warnings are errors."""
    run(PROGRAMS / "jupyter-book", "build", ".", "--all", "--warningiserror", "--nitpick", "--keep-going")


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


def test():
    """The package's tests, every notebook, as it stands and with the exercises solved, then the built book in a
    browser.
    """
    python("-m", "pytest", "tests", "--ignore=tests/browser")
    python("-m", "pytest", "--nbval", "chapters")
    python("-m", "pytest", "--nbval", "chapters", MHA_SOLUTIONS="1")
    if has_chromium():
        build()
        python("-m", "pytest", "tests/browser")


def has_chromium():
    """Whether the browser tests can run; in CI they must."""
    if os.environ.get("CHROMIUM") or any(map(shutil.which, CHROMIUM)):
        return True
    missing = "there is no Chromium. On Debian or Ubuntu: sudo apt-get install chromium"
    if os.environ.get("CI") == "true":
        sys.exit("The browser tests cannot run: " + missing)
    print("The browser tests are skipped: " + missing)
    return False


def lab():
    """JupyterLab on the chapters."""
    python("-m", "jupyterlab", "--notebook-dir=chapters")


def refresh():
    """Run every notebook and store its text outputs; stamp the set-up cells."""
    python("-m", "tools.notebooks")


def main():
    parser = argparse.ArgumentParser(usage="python3 book.py command", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = {command.__name__: command for command in (serve, test, build, lab, refresh)}
    parser.add_argument("command", choices=commands, help="one of the five above")
    parser.add_argument("--port", type=int, default=8000, help="where serve shows the book (default: 8000)")
    options = parser.parse_args()
    install()
    commands[options.command](*([options.port] if options.command == "serve" else []))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
