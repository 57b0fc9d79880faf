"""What is kept of a notebook, when two outputs say the same, and that the strict run is strict."""
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from stored import imports, runs
from tools import notebooks, refresh, sentences
from mha.exercises import EXERCISES

ROOT = Path(__file__).resolve().parent.parent


def figure(text):
    """The output of a live figure: a widget, a picture and the text that stands for both."""
    return new_output("execute_result", {
        "text/plain": text, "image/svg+xml": "<svg/>", "application/vnd.jupyter.widget-view+json": {"model_id": "1"},
    }, execution_count=7)


# --- Normalising ----------------------------------------------------------------------------------------------------

def test_text_and_cell_ids_stay_and_the_rest_goes():
    cell = new_code_cell("f", outputs=[figure("a figure")], execution_count=7,
                         metadata={"trusted": True, "tags": ["a"]})
    notebook = notebooks.normalise(new_notebook(cells=[deepcopy(cell)], metadata={"widgets": {"state": {}}}), "set up")
    kept = notebook.cells[0]
    assert (kept.id, kept.execution_count, kept.metadata) == (cell.id, 1, {"tags": ["a"]})
    assert kept.outputs[0].data == {"text/plain": "a figure"} and kept.outputs[0].execution_count == 1
    assert notebook.metadata == notebooks.METADATA


def test_normalising_twice_changes_nothing_more():
    cells = [new_markdown_cell("# Title"), new_code_cell("f", outputs=[figure("a")]),
             new_code_cell("", metadata={"tags": ["set-up"]})]
    once = notebooks.normalise(new_notebook(cells=cells), "set up")
    assert notebooks.normalise(deepcopy(once), "set up") == once and once.cells[2].source == "set up"


def test_pieces_of_a_stream_become_one_and_an_error_loses_its_traceback():
    pieces = [new_output("stream", name="stdout", text="a"), new_output("stream", name="stdout", text="b"),
              new_output("error", ename="ValueError", evalue="no", traceback=["in a file of one machine"])]
    stream, error = notebooks.text_outputs(pieces)
    assert stream.text == "ab" and error.traceback == ["ValueError: no"]
    assert pieces[0].text == "a"


# --- One sentence a line ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("markdown, stored", [
    ("Why? Since it is so. And now.", "Why?\nSince it is so.\nAnd now."),
    ("One sentence that\nwas broken by hand. torch knows.", "One sentence that was broken by hand.\ntorch knows."),
    ("> **Predict.** Which one? Say why.\n> Then look.", "> **Predict.**\n> Which one?\n> Say why.\n> Then look."),
    ("* An item. It has two.\n* \"Another.\" Ends.", "* An item.\n  It has two.\n* \"Another.\"\n  Ends."),
    ("12. Twelfth. Of all.", "12. Twelfth.\n    Of all."),
    ("Take $a. B$, `c. D` and [e. F](g. H). Done.", "Take $a. B$, `c. D` and [e. F](g. H).\nDone."),
    ("$n$ is 3. $m$ is 4.", "$n$ is 3.\n$m$ is 4."),
    ("An example. *It* was tired. **Now** this.", "An example.\n*It* was tired.\n**Now** this."),
])
def test_each_sentence_of_a_paragraph_gets_a_line(markdown, stored):
    assert sentences.one_a_line(markdown) == stored
    assert sentences.one_a_line(stored) == stored


@pytest.mark.parametrize("markdown", [
    "Vaswani et al. 2017, e.g. 3.2, i.e. A. Vaswani, 1, 2, ... n",
    "| a. B | c |\n|---|---|\n| d. E | f |",
    "```\nx. Y\n```",
    "$$\na. B\n$$",
    "<details><summary>A. B</summary>\nx. Y\n</details>",
    "broken on purpose.  \nHere. And here",
    "Counted are:\n- one.\n- two.",
])
def test_what_is_no_run_of_sentences_stays(markdown):
    assert sentences.one_a_line(markdown) == markdown


@pytest.mark.parametrize("markdown", [
    "They come to 3. - 4 is left.",
    "It ends at 5. 2) comes next",
    "So. # no heading",
])
def test_no_line_begins_something_else(markdown):
    assert sentences.rendered(sentences.one_a_line(markdown)) == sentences.rendered(markdown)
    assert sentences.one_a_line(markdown) == markdown


# --- The same -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fresh, stored", [
    ("tensor([0.5761, 0.2119])", "tensor([0.5760, 0.2119])"),
    ("[ 0.0000, 1.]", "[-0.0000, 1.]"),
    ("worst error 2.4e-07", "worst error 1.2e-07"),
    ("loss 0.01234", "loss 0.01235"),
    ("a  b\n", "a b"),
])
def test_noise_is_the_same(fresh, stored):
    assert notebooks.same_text(fresh, stored)


@pytest.mark.parametrize("fresh, stored", [
    ("12 heads", "13 heads"),
    ("head3", "head4"),
    ("0.58", "0.59"),
    ("0.5761", "-0.5761"),
    ("tensor([0.5761])", "tensor([0.5799])"),
    ("1", "1.0"),
    ("0.5 0.5", "0.5"),
    ("torch.float32", "torch.float64"),
    ("error 2.4e-07", "error 2.4e-03"),
    ("nan", "0.5"),
    ("True", "False"),
])
def test_a_change_is_not_the_same(fresh, stored):
    assert not notebooks.same_text(fresh, stored)


def test_a_figure_is_compared_through_its_text():
    stored = notebooks.text_outputs([figure("weights 0.25")])
    assert notebooks.difference([figure("weights 0.25")], stored) is None
    assert "0.25" in notebooks.difference([figure("weights 0.35")], stored)
    assert "refresh" in notebooks.difference([figure("weights 0.25")], [])
    assert "refresh" in notebooks.difference([], stored)


# --- The strict run -------------------------------------------------------------------------------------------------

FIGURE = """\
class Figure:
    def _repr_mimebundle_(self, **options):
        return {"text/plain": "weights 0.25", "image/svg+xml": "<svg/>"}
Figure()"""


def cell(source, *outputs, count=1, tags=()):
    return new_code_cell(source, outputs=list(outputs), execution_count=count, metadata={"tags": list(tags)})


def text(plain):
    return new_output("execute_result", {"text/plain": plain}, execution_count=1)


CELLS = {
    "right number": cell("1 / 4", text("0.25")),
    "noise": cell("0.5761", text("0.5760")),
    "figure": cell(FIGURE, text("weights 0.25")),
    "expected error": cell("1 / 0", new_output("error", ename="ZeroDivisionError", evalue="division by zero"),
                           tags=["raises-exception"]),
    "stale number": cell("1 / 4", text("0.26")),
    "stale figure": cell(FIGURE, text("weights 0.26")),
    "missing figure": cell(FIGURE),
    "never run": cell("x = 1", count=None),
    "gone error": cell("0 / 1", new_output("error", ename="ZeroDivisionError", evalue="division by zero"),
                       tags=["raises-exception"]),
    "unexpected error": cell("1 / 0", new_output("error", ename="ZeroDivisionError", evalue="division by zero")),
}
FAIL = ["stale number", "stale figure", "missing figure", "never run", "gone error", "unexpected error"]


def test_the_strict_run_fails_what_it_should_and_nothing_else(tmp_path):
    (tmp_path / "conftest.py").write_text((ROOT / "chapters/conftest.py").read_text())
    nbformat.write(new_notebook(cells=list(CELLS.values()), metadata=notebooks.METADATA), tmp_path / "page.ipynb")
    run = subprocess.run([sys.executable, "-m", "pytest", "--nbval", "-rA", "-p", "no:cacheprovider", "--rootdir",
                          tmp_path,
                          tmp_path], cwd=ROOT, capture_output=True, text=True)
    failed = [name for number, name in enumerate(CELLS) if re.search(rf"^FAILED .*::Cell {number}\b", run.stdout, re.M)]
    assert failed == FAIL, run.stdout
    behind = 1  # what was imported
    assert f"{len(FAIL)} failed, {len(CELLS) - len(FAIL) + behind} passed" in run.stdout


# --- Runs and refresh -----------------------------------------------------------------------------------------------

@pytest.fixture
def page(tmp_path, monkeypatch):
    """A chapter of its own, and a place of its own for runs."""
    monkeypatch.setattr(runs, "RUNS", tmp_path / "runs")
    path = tmp_path / "page.ipynb"
    cells = [new_markdown_cell("So. And so."), cell("x = 1 / 4", tags=["set-up"]), cell("x", text("0.26")),
             cell("2 * x + 1e-9", text("0.5000")), cell(FIGURE)]
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_refresh_stores_what_a_run_gives_and_a_second_time_changes_nothing(page, capsys):
    refresh.refresh([page], "x = 1 / 4")
    notebook = nbformat.read(page, as_version=4)
    stored = [notebooks.text_of(output) for c in notebook.cells for output in c.get("outputs", [])]
    assert stored == ["0.25", "0.5000", "weights 0.25"] and notebook.cells[0].source == "So.\nAnd so."
    refresh.refresh([page], "x = 1 / 4")
    assert capsys.readouterr().out.splitlines()[-1] == "page.ipynb: unchanged"


@pytest.mark.parametrize("stored, kept", [([text("3 ms")], "3 ms"), ([], "0.25")])
def test_an_output_that_varies_is_stored_once_and_kept_until_it_is_cleared(page, stored, kept):
    notebook = nbformat.read(page, as_version=4)
    notebook.cells[2] = cell("x", *stored, tags=["nbval-ignore-output"])
    nbformat.write(notebook, page)
    refresh.refresh([page], "x = 1 / 4")
    assert notebooks.text_of(nbformat.read(page, as_version=4).cells[-3].outputs[0]) == kept


def test_a_run_counts_until_code_changes_and_prose_may(page):
    assert runs.last(page) is None
    runs.make(page)
    notebook = nbformat.read(page, as_version=4)
    notebook.cells[0].source = "Told otherwise."
    nbformat.write(notebook, page)
    filled = runs.filled(notebook, runs.last(page))
    assert filled.cells[0].source == "Told otherwise." and "image/svg+xml" in filled.cells[-1].outputs[0].data
    notebook.cells[2].source = "x + 1"
    nbformat.write(notebook, page)
    assert runs.last(page) is None


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of its own, for what a run is said to depend on."""
    files = {"__init__.py": "from mha.core import f", "core.py": "def f():\n    from mha.deep import tables",
             "deep/__init__.py": "", "deep/tables.py": "", "deep/numbers.npz": "", "deep/drawn.js": "",
             "other.py": "import mha.deep.tables", "exercises/chapter_04/e4_1_head.py": "import mha.other",
             "exercises/__init__.py": "", "exercises/chapter_04/__init__.py": "", "exercises/README.md": ""}
    for name, text in files.items():
        (tmp_path / "mha" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mha" / name).write_text(text, encoding="utf-8")
    (tmp_path / "requirements.txt").touch()
    monkeypatch.setattr(imports, "ROOT", tmp_path)
    monkeypatch.setattr(imports, "EXERCISES", tmp_path / "mha" / "exercises")
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    return tmp_path / "mha"


CORE = "__init__.py core.py deep/__init__.py deep/numbers.npz deep/tables.py"


@pytest.mark.parametrize("code, counts", [
    ("import torch, mha", CORE), ("from mha import other", f"{CORE} other.py"),
    ("%pip install x\nfrom mha.deep import tables", CORE), ("import torch\nx = 'mha.other'", ""),
])
def test_a_run_depends_on_what_its_code_imports_and_on_the_data_beside_it(package, code, counts):
    found = imports.reached(*runs.python_of([cell(code)]))
    assert [path.relative_to(package).as_posix() for path in found] == counts.split()


@pytest.mark.parametrize("code", ["import mha\ncheck('4.1', f)", "import mha\nprint(len(EXERCISES))"])
def test_a_run_depends_on_the_exercises_that_it_names(package, code):
    assert package / "other.py" in imports.reached(*runs.python_of([cell(code)]))
    assert package / "other.py" not in imports.reached(*runs.python_of([cell("import mha")]))


@pytest.mark.parametrize("code", ["from mha import widgets\nwidgets.HeadGrid()", "from mha.widgets import HeadGrid"])
def test_a_run_depends_on_the_figures_that_it_shows(code):
    found = {path.name for path in imports.reached(*runs.python_of([cell(code)]))}
    assert {"head_grid.py", "figure.py"} <= found and "head_sum.py" not in found


@pytest.mark.parametrize("name, counts", [("core.py", True), ("deep/numbers.npz", True), ("other.py", False),
                                          ("deep/drawn.js", False), ("exercises/README.md", False)])
def test_a_run_counts_until_a_file_changes_that_it_depends_on(package, page, name, counts):
    notebook = nbformat.read(page, as_version=4)
    notebook.cells[1].source = "import mha"
    before = runs.fingerprint(notebook)
    (package / name).write_text("x = 1", encoding="utf-8")
    assert (runs.fingerprint(notebook) != before) is counts


def test_a_chapter_that_fails_stops_the_runs_and_is_named(page):
    notebook = nbformat.read(page, as_version=4)
    notebook.cells[2].source = "1 / 0"
    nbformat.write(notebook, page)
    with pytest.raises(SystemExit, match="page stops with an error"):
        runs.make_all([page])
    assert runs.last(page) is None


# --- The cells of the exercises -------------------------------------------------------------------------------------

CHAPTERS = sorted(runs.CHAPTERS.glob("*.ipynb"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_holds_its_exercises_as_they_are_generated(path):
    stored = nbformat.read(path, as_version=4)
    stamped = notebooks.stamp(deepcopy(stored), path.stem)
    assert [cell.source for cell in stamped.cells] == [cell.source
                                                       for cell in stored.cells], "run `python3 book.py refresh`"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_lies_side_by_side_or_one_below_the_other_is_told_by_its_name(path):
    """On a phone the parts of a live figure lie below each other."""
    cells = nbformat.read(path, 4).cells
    after = [cell.source for before, cell in zip(cells, cells[1:]) if "widgets." in before.source]
    assert [line for text in after for line in text.splitlines() if re.match(r"(At|On) the (left|right)\b", line)] == []


def test_every_exercise_stands_in_a_chapter_that_there_is():
    chapters = {path.stem for path in CHAPTERS}
    assert {exercise.chapter for exercise in EXERCISES.values()} <= chapters


def test_a_changed_stub_is_put_back_and_loses_its_output():
    notebook = nbformat.read(ROOT / "chapters/02_one_head.ipynb", as_version=4)
    stub = next(cell for cell in notebook.cells if cell.id == "exercise-2-1-stub")
    stub.source, stub.outputs = "changed", ["old"]
    again = next(cell for cell in notebooks.stamp(notebook, "02_one_head").cells if cell.id == stub.id)
    assert again.source.endswith("def attention(q, k, v):\n    ...") and again.outputs == []


def test_a_question_stands_at_the_end_of_its_section_and_code_under_the_heading():
    sources = [cell.source for cell in nbformat.read(ROOT / "chapters/02_one_head_lab.ipynb", as_version=4).cells]
    at = {start: next(i for i, source in enumerate(sources) if source.startswith(start))
          for start in ("## 4.", "### 2.8", "## 5.", "## Exercises", "### 2.2", "### 2.3")}
    assert sorted(at, key=at.get) == list(at)


def test_a_question_without_its_section_is_named():
    notebook = new_notebook(cells=[new_markdown_cell(notebooks.HEADING)])
    with pytest.raises(ValueError, match="exercise 2.5 comes after section 2 of 02_one_head: .* found 0"):
        notebooks.stamp(notebook, "02_one_head")


def test_a_chapter_without_a_place_for_its_exercises_is_named():
    with pytest.raises(ValueError, match="02_one_head has exercises and needs one Markdown cell that starts with '## "
                                         "Exercises', found 0"):
        notebooks.stamp(new_notebook(), "02_one_head")


def test_no_stub_holds_its_solution():
    for item in EXERCISES.values():
        cells = notebooks.exercise_cells(item)
        if item.in_code:
            assert "return" not in cells[1].source and item.hints[2] in cells[0].source
            assert "return" in notebooks.exercise_cells(item, solved=True)[1].source
        else:
            assert (cells[-1].source.endswith(", ...)")
                    and not notebooks.exercise_cells(item, solved=True)[-1].source.endswith(", ...)"))
