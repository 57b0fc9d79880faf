"""The chapters' last runs, with their figures and widgets: run once, then used by every build.

A run counts as long as nothing has changed that it could depend on: the code of the chapter, what of the package it
imports, the exact versions that are pinned. Prose may change, for it is taken from the chapter and not from the run.

`python -m stored.runs` runs the chapters that have no run that counts, as many at a time as there are cores, and says
how far it is. `pytest --nbval chapters` runs all of them and keeps those that it found right.
"""
import os
import platform
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from stored import imports

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
RUNS = Path(os.environ.get("BOOK_RUNS", ROOT / "_build" / "runs"))


def fingerprint(notebook):
    """What a run depends on, in one short word."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    needed = [ROOT / "requirements.txt", *imports.reached(*python_of(code))]
    return imports.digest(needed, platform.python_version(), *(f"{cell.id}\0{cell.source}" for cell in code))


def python_of(code):
    """The cells as plain Python; and the modules of the figures and exercises that they name: of exercises all, where
    they look at the list.
    """
    source = "\n".join(TransformerManager().transform_cell(cell.source) for cell in code)
    named = {"*"} if re.search(r"\b(EXERCISES|progress)\b", source) else set(
        re.findall(r"""\b(?:check|predict|show|hint|solution|find)\(\s*["'](\d+[a-z]?|[A-Z])\.\d+["']""", source))
    exercises = [name for number in sorted(named) for name in imports.exercises_of(number)]
    return source, exercises + imports.figures_in(source)


def execute(notebook, folder):
    """Run a notebook in place, as a reader's kernel would, widgets and all."""
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}},
                   extra_arguments=["--log-level=ERROR"]).execute()


def keep(path, notebook, mark):
    """Keep a chapter that has been run. mark: its fingerprint from before the run."""
    RUNS.mkdir(parents=True, exist_ok=True)
    notebook.metadata["fingerprint"] = mark
    whole = RUNS / f".{path.stem}.{os.getpid()}"
    nbformat.write(notebook, whole)
    whole.replace(RUNS / path.name)                           # so that nobody ever reads half a run


def last(path):
    """The last run of a chapter; None where there is none, or none that counts any more."""
    run = RUNS / path.name
    kept = nbformat.read(run, as_version=4) if run.exists() else None
    now = fingerprint(nbformat.read(path, as_version=4))
    return kept if kept and kept.metadata.get("fingerprint") == now else None


def filled(notebook, run):
    """The notebook with the outputs and the widgets of its run."""
    outputs = {cell.id: cell.outputs for cell in run.cells if cell.cell_type == "code"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = outputs[cell.id]
    if "widgets" in run.metadata:
        notebook.metadata["widgets"] = run.metadata["widgets"]
    return notebook


# --- The command ----------------------------------------------------------------------------------------------------

def make(path):
    """Run one chapter and keep it. Returns the seconds it took."""
    start, notebook = time.perf_counter(), nbformat.read(path, as_version=4)
    mark = fingerprint(notebook)
    execute(notebook, path.parent)
    keep(path, notebook, mark)
    return time.perf_counter() - start


def make_all(paths):
    """Run those of these chapters that have no run that counts."""
    wanted = [path for path in paths if not last(path)]
    if not wanted:
        print("Every chapter has a run that counts.", flush=True)
        return
    # The notebooks share the cores; threads of one that wait for another's cost more than they give.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    cores = min(os.cpu_count() or 1, len(wanted))
    print(f"Running {len(wanted)} notebooks, {cores} at a time; the longest takes about a minute.", flush=True)
    with ThreadPoolExecutor(cores) as pool:
        running = {pool.submit(make, path): path for path in wanted}
        for done, future in enumerate(as_completed(running), start=1):
            name = running[future].stem
            try:
                seconds = future.result()
            except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"{name} stops with an error:\n{error}")
            print(f"  {done} of {len(wanted)}: {name}, {seconds:.0f} s", flush=True)


def main():
    """Run the chapters named, or all."""
    make_all([CHAPTERS / f"{name}.ipynb" for name in sys.argv[1:]] or sorted(CHAPTERS.glob("*.ipynb")))


if __name__ == "__main__":
    main()
