"""What `pytest --nbval chapters` does with a chapter beyond nbval itself: it is run once, and four things come of it.

* Every output is compared with what is stored: words exactly, numbers up to the last digits. A cell that was never run
  fails.
* Then, in the same kernel, as a learner would who has read so far: every stub of its exercises is replaced by its
  reference, every question is answered, and every check must find that right.
* What the kernel imported by then is what its run is said to depend on (stored/imports.py).
* A chapter whose own cells all pass leaves its run, figures and widgets and all, for the build (stored/runs.py).
"""
import os
import re
import sys
import tempfile
from collections import defaultdict

import nbformat
from nbclient import NotebookClient
from nbval.plugin import IPyNbCell, IPyNbFile

from mha.exercises import EXERCISES
from stored import imports, runs
from tools import notebooks

# What comes with the exercises of any chapter: all folders of exercises, and what they import.
ALONG = {name for name in sys.modules if name.split(".")[0] == "mha"}

# What a test solves is nobody's progress.
os.environ["MHA_PROGRESS"] = os.path.join(tempfile.mkdtemp(), "progress.json")


class Chapter:
    """What the tests of one notebook share: its run so far, and the widgets that the kernel has told of."""

    def __init__(self, file):
        self.file, self.mark, self.outputs = file, runs.fingerprint(file.nb), {}
        self.widgets = NotebookClient(file.nb)

    def listen(self):
        """Hear what the kernel says of its widgets, which nbval lets pass."""
        get_message = self.file.kernel.get_message

        def heard(stream, timeout=None):
            message = get_message(stream, timeout)
            if message["msg_type"] in ("comm_open", "comm_msg"):
                self.widgets.handle_comm_msg([], message, 0)
            return message

        self.file.kernel.get_message = heard

    def keep(self):
        """Leave the run for the build, if each of the chapter's own cells was run and passed."""
        code = [cell for cell in self.file.nb.cells if cell.cell_type == "code"]
        if len(self.outputs) == len(code):
            for cell in code:
                cell.outputs = self.outputs[cell.id]
            self.widgets.set_widgets_metadata()
            runs.keep(self.file.path, self.file.nb, self.mark)


def solved(file):
    """The cells that a learner fills in, right answers in place, as tests that follow the chapter's own."""
    for item in EXERCISES.values():
        for cell in notebooks.exercise_cells(item, solved=True) if item.chapter == file.path.stem else []:
            if cell.cell_type == "code":
                yield behind(file, f"{item.id} solved: {cell.id.rpartition('-')[2]}", cell)


def imported(file):
    """A cell that fails where the kernel has imported more than what the run is said to depend on. With one chapter's
    exercises come those of all (`ALONG`); nothing that the others say enters a run.
    """
    code = [cell for cell in file.nb.cells if cell.cell_type == "code"]
    known = {imports.name_of(path) for path in imports.reached(*runs.python_of(code))} | ALONG
    yield behind(file, "what was imported", nbformat.v4.new_code_cell(
        f"import sys\nfound = {{name for name in sys.modules if name.split('.')[0] == 'mha'}} - {known!r}\n"
        "others = tuple(f'mha.exercises.{folder}' for folder in ('chapter_', 'classroom', 'tutor', 'zoo'))\n"
        "more = [name for name in found if not name.startswith(others)]\n"
        "assert not more, f'stored/imports.py does not see that a run depends on {more}'"))


def behind(file, name, cell):
    """A test of a cell that stands behind the chapter's own."""
    cell.execution_count = 1
    return IPyNbCell.from_parent(file, name=f"behind: {name}", cell_num=len(file.nb.cells), cell=cell,
                                 options=defaultdict(bool, check=True))


# --- What nbval does, and then what it does here --------------------------------------------------------------------

collect_cells, start_kernel, stop_kernel = IPyNbFile.collect, IPyNbFile.setup, IPyNbFile.teardown
run_cell = IPyNbCell.runtest


def collect(file):
    yield from collect_cells(file)
    yield from solved(file)
    yield from imported(file)


def setup(file):
    try:
        start_kernel(file)
    except RuntimeError:      # A port that was picked for a kernel may be taken before the kernel has it: others, then.
        start_kernel(file)
    file.chapter = Chapter(file)
    file.chapter.listen()


def teardown(file):
    stop_kernel(file)
    file.chapter.keep()


def runtest(cell):
    if cell.cell.execution_count is None:
        cell.raise_cell_error("this cell was never run: run `python3 book.py refresh`")
    run_cell(cell)
    if not cell.name.startswith("behind: "):
        cell.parent.chapter.outputs[cell.cell.id] = cell.test_outputs


def compare_outputs(cell, fresh, stored, skip_compare=None):
    """Text against text; images and widgets are compared through the text that stands for them."""
    if cell.name.startswith("behind: ") and "check" in cell.cell.metadata.get("tags", []):
        said = notebooks.text_of(notebooks.text_outputs(fresh)[0])
        right = re.search(r": (right|written|as you said)\.", said.splitlines()[0])
        found = None if right else f"the reference is not found right: {said}"
    elif cell.name.startswith("behind: "):
        found = None
    else:
        found = notebooks.difference(fresh, stored)
    cell.comparison_traceback = [found or ""]
    return found is None


def reportinfo(cell):
    return cell.path, 0, f"{cell.path.name}::{cell.name}"


IPyNbFile.collect, IPyNbFile.setup, IPyNbFile.teardown = collect, setup, teardown
IPyNbCell.runtest, IPyNbCell.compare_outputs, IPyNbCell.reportinfo = runtest, compare_outputs, reportinfo
