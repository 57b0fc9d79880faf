"""Publish the last commit to a stand-in for GitHub on 127.0.0.1, and run what is published as Colab would.

    .venv/bin/python tests/colab.py                               # every chapter, as committed
    .venv/bin/python tests/colab.py chapters/01_soft_lookup.ipynb

It publishes as the workflow does and runs the notebooks of the published branch in an environment of Colab's versions.
It fails when a chapter that was not published does not say where to find one that was, when a cell fails or prints
something else than is stored, or when a set-up cell does more than to install mha of that commit.
"""
import functools
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from _ext import publishing  # noqa: E402
from stored import runs  # noqa: E402
from tools import notebooks  # noqa: E402

COLAB = ["ipywidgets==7.7.1", "ipython==7.34.0", "ipykernel==6.17.1", "anywidget==0.9.21", "matplotlib==3.10.*",
         "numpy==2.0.*", "torch==2.13.0"]
REPOSITORY = "ada/book"
WIDGET = "application/vnd.jupyter.widget-view+json"


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, **options)


def make_environment(folder):
    """A virtual environment with Colab's versions, and its kernel."""
    run(sys.executable, "-m", "venv", folder / "colab")
    python = folder / "colab/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *COLAB)
    kernel = folder / "jupyter/kernels/python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Colab",
        "language": "python"}))
    os.environ.pop("PYTHONPATH", None)                       # no mha is there before a set-up cell has fetched it
    os.environ["JUPYTER_PATH"], os.environ["JUPYTER_PREFER_ENV_PATH"] = str(folder / "jupyter"), "0"
    return python


def serve(folder):
    """The address on 127.0.0.1 of a folder."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def publish(folder):
    """Publish the last commit as the workflow does. Returns the chapters' folder as Colab finds it, and mha's place."""
    hosted = folder / "github" / REPOSITORY
    server = serve(folder / "github")
    run("git", "clone", "--quiet", "--bare", ROOT, hosted)
    (hosted / "hooks/post-update").write_text("#!/bin/sh\nexec git update-server-info\n")      # to be read by http
    (hosted / "hooks/post-update").chmod(0o755)
    run("git", "clone", "--quiet", "--depth", "1", f"file://{hosted}", folder / "runner")
    run("python3", "-m", "tools.publish", "notebooks", cwd=folder / "runner",
        env={**os.environ, "BOOK_REPOSITORY": REPOSITORY, "GITHUB_SERVER_URL": server, "PYTHONPATH": ""})
    run("git", "clone", "--quiet", "--branch", publishing.BRANCH, f"{server}/{REPOSITORY}", folder / "opened")
    commit = run("git", "rev-parse", "HEAD", cwd=ROOT, capture_output=True).stdout.strip()
    return folder / "opened/chapters", f"mha @ git+{server}/{REPOSITORY}@{commit}"


def packages(python):
    """What pip lists, with the address of what came from one."""
    return set(run(python, "-m", "pip", "freeze", "--disable-pip-version-check",
                   capture_output=True).stdout.splitlines())


def try_unpublished(path):
    """Run the set-up cell of a chapter that was not published; complain when its error does not say what to do."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "set-up" in cell.metadata.get("tags", [])]
    with suppress(CellExecutionError):
        runs.execute(notebook, path.parent)
    said = "\n".join(line for output in notebook.cells[0].outputs for line in output.get("traceback", []))
    print(f"{path.name}, not published, says:\n{said}")
    if publishing.HINT.strip() not in re.sub(r"\x1b\[[\d;]*m", "", said):
        yield f"{path.name}, not published, does not say where to find one that was"


def try_chapter(path):
    """Run one chapter; complain about cells that say something else than is stored."""
    print(f"{path.name}: ", end="", flush=True)
    notebook = nbformat.read(path, as_version=4)
    stored = [cell.get("outputs") for cell in notebook.cells]
    runs.execute(notebook, path.parent)
    live = sum(WIDGET in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    print(f"ran, with {live} live figures")
    for cell, old in zip(notebook.cells, stored):
        if cell.cell_type == "code" and not {"set-up", "nbval-ignore-output"} & set(cell.metadata.get("tags", [])):
            found = notebooks.difference(cell.outputs, old)
            if found:
                yield f"{path.name}: {cell.source}\n{found}"


def main():
    names = [Path(name).name for name in sys.argv[1:]] or sorted(path.name for path in runs.CHAPTERS.glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        chapters, mha = publish(Path(folder))
        before = packages(python)
        complaints = list(try_unpublished(runs.CHAPTERS / names[0]))
        complaints += [complaint for name in names for complaint in try_chapter(chapters / name)]
        changed = sorted(packages(python) ^ before)
    print(f"the set-up cells changed these packages: {changed}")
    if changed != [mha]:
        complaints.append(f"the one change should be {mha}")
    print("\n\n".join(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
