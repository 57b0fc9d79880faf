"""Run chapters as Colab would: its versions of the notebook packages, mha fetched by the set-up cell from a git
address.

    .venv/bin/python tests/colab.py                               # every chapter, as committed
    .venv/bin/python tests/colab.py chapters/01_soft_lookup.ipynb

It makes an environment of its own in a temporary folder, serves the last commit on 127.0.0.1, and fails when a cell
fails, when a cell prints something else than is stored, or when fetching mha changes any other package.
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
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tools import notebooks, runs  # noqa: E402

COLAB = ["ipywidgets==7.7.1", "ipython==7.34.0", "ipykernel==6.17.1", "anywidget==0.9.21", "matplotlib==3.10.*",
         "numpy==2.0.*", "torch==2.13.0"]
WIDGET = "application/vnd.jupyter.widget-view+json"


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, **options)


def make_environment(folder):
    """A virtual environment with Colab's versions, in which every Python finds google.colab loaded, and its kernel."""
    run(sys.executable, "-m", "venv", folder / "colab")
    python = folder / "colab/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *COLAB)
    packages = next((folder / "colab/lib").glob("python*/site-packages"))
    (packages / "google/colab").mkdir(parents=True)
    (packages / "google/colab/__init__.py").touch()
    (packages / "colab.pth").write_text("import google.colab\n")
    kernel = folder / "jupyter/kernels/python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Colab",
        "language": "python"}))
    os.environ["JUPYTER_PATH"], os.environ["JUPYTER_PREFER_ENV_PATH"] = str(folder / "jupyter"), "0"
    return python


def serve_repository(folder, tag):
    """The address on 127.0.0.1 of a clone of the last commit, which carries the tag."""
    run("git", "clone", "--quiet", "--bare", ROOT, folder / "book.git")
    run("git", "tag", "--force", tag, cwd=folder / "book.git", stdout=subprocess.DEVNULL)
    run("git", "update-server-info", cwd=folder / "book.git")
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/book.git"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def packages(python):
    """What pip lists, with the address of what came from one."""
    return set(run(python, "-m", "pip", "freeze", "--disable-pip-version-check",
                   capture_output=True).stdout.splitlines())


def try_chapter(path, address, set_up):
    """Run one chapter with the set-up cell's address replaced; complain about cells that say something else."""
    print(f"{path.name}: ", end="", flush=True)
    notebook = nbformat.read(path, as_version=4)
    stored = [cell.get("outputs") for cell in notebook.cells]
    mha_at = re.search(r"git\+(\S+)@", set_up)[1]
    for cell in notebook.cells:
        cell.source = cell.source.replace(mha_at, address) if cell.source == set_up else cell.source
    runs.execute(notebook, path.parent)
    live = sum(WIDGET in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    print(f"ran, with {live} live figures")
    for cell, old in zip(notebook.cells, stored):
        if cell.cell_type == "code" and not {"set-up", "nbval-ignore-output"} & set(cell.metadata.get("tags", [])):
            found = notebooks.difference(cell.outputs, old)
            if found:
                yield f"{path.name}: {cell.source}\n{found}"


def main():
    chapters = [Path(name).resolve() for name in sys.argv[1:]] or sorted(runs.CHAPTERS.glob("*.ipynb"))
    set_up = notebooks.set_up_source()
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder))
        address = serve_repository(Path(folder), re.search(r"@(v[\d.]+)", set_up)[1])
        before = packages(python)
        complaints = [complaint for path in chapters for complaint in try_chapter(path, address, set_up)]
        changed = sorted(packages(python) ^ before)
    print(f"the set-up cell changed these packages: {changed}")
    if [line.partition("@")[0] for line in changed] != ["mha "]:
        complaints.append("mha, from a git address, should be the one change")
    print("\n\n".join(complaints))
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
