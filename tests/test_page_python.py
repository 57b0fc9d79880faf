"""Code that is written in the page: what the build makes for it, and what Python says there (_ext/in_page/inside.py),
on torch itself and, as in the page, on the small torch.
"""
import builtins
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from _ext import page_python, python_files
from _ext.in_page import inside
from mha.exercises import EXERCISES, check

ROOT = Path(__file__).parent.parent
SOFTMAX = EXERCISES["1.1"]


@pytest.fixture
def python(monkeypatch, tmp_path):
    """Python as a page has it, on torch itself, and what it has printed."""
    printed, finders = [], sys.meta_path[:]
    monkeypatch.setattr(builtins, "input", input)                      # as it is after the test
    monkeypatch.setenv("MHA_PROGRESS", str(tmp_path / "progress.json"))
    inside.start("01_soft_lookup", json.dumps(["from math import tau", "from nowhere import x", "def half(x):\n"
                                               "    return x / 2", "def softmax(s):\n    return s.softmax(-1)"]),
                 printed.append)
    monkeypatch.setattr(inside, "not_here", [])
    yield printed
    sys.meta_path[:] = finders


def run(source):
    return json.loads(inside.run(source))


def judged(source, id="1.1", **record):
    return json.loads(inside.check(id, source, json.dumps(record)))


# --- Run ------------------------------------------------------------------------------------------------------------

def test_a_text_prints_and_shows_its_last_value(python):
    assert run("print(half(3))\nx = torch.ones(2)\nx + 1") == {"value": "tensor([2., 2.])"}
    assert "".join(python) == "1.5\n" and run("x = 1") == {} and run("tau > 6")["value"] == "True"


@pytest.mark.parametrize("source, line, code, says", [
    ("y = 1\nfoo(y)", 2, "foo(y)", "NameError: name 'foo' is not defined"),
    ("def f(x):\n    return x / 0\n\nf(1)", 2, "    return x / 0", "ZeroDivisionError: division by zero"),
    ("if True\n    pass", 1, "if True", "SyntaxError: expected ':'"),
    ("torch.ones(2, 3) @ torch.ones(2, 3)", 1, "torch.ones(2, 3) @ torch.ones(2, 3)",
     "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    ("torch.ones(2).masked_fill(2)", 1, "torch.ones(2).masked_fill(2)",
     "TypeError: masked_fill() received an invalid combination of arguments - got (int)"),
], ids=["name", "inside", "syntax", "torch", "signatures"])
def test_an_error_names_the_readers_own_line(python, source, line, code, says):
    failure = run(source)["failure"]
    assert (failure["line"], failure["code"].strip(), failure["says"]) == (line, code.strip(), says)


def test_too_much_print_is_cut(python):
    run("for i in range(100_000): print(i)")
    assert len("".join(python)) < inside.MOST + 20


def test_what_replaces_torch_holds_for_one_run(python):
    run("torch.softmax = None")
    assert run("torch.softmax(torch.zeros(2), -1)")["value"] == "tensor([0.5000, 0.5000])"


@pytest.mark.parametrize("line", ["%timeit 1", "!pip install einops", "await f()", "input('x')"])
def test_what_only_a_notebook_does_is_told(python, line):
    told = run(f"x = 1\n{line}")
    assert told["notHere"] == [line if "input" not in line else "input()"] and told["line"] == 2


def test_what_is_only_elsewhere_is_told_even_to_a_bare_except(python):
    told = run("try:\n    import tensorflow as tf\nexcept:\n    tf = None\n1 + 1")
    assert told["notHere"] == ["import tensorflow"] and "value" not in told
    assert run("import troch")["failure"]["says"] == "ModuleNotFoundError: No module named 'troch'"


# --- Check ----------------------------------------------------------------------------------------------------------

def test_a_report_is_the_one_of_check(python):
    source = "def softmax(s):\n    e = s.exp()\n    return e / e.sum(-1)\n"
    told = judged(source, tries=4)
    assert not told["ok"] and told["started"] and told["tries"] == 5
    assert "Your line: return e / e.sum(-1)" in told["text"] and len(told["html"]) == len(told["text"])
    assert judged(SOFTMAX.source)["ok"] and not judged(SOFTMAX.stub)["started"]


def test_what_the_chapter_defines_is_no_answer(python):
    assert judged("x = 1")["undefined"] == "softmax" and judged("softmax = half")["ok"] is False


def test_hints_come_one_by_one_and_go_on_where_they_were(python):
    first, second = [json.loads(inside.hint("1.1", json.dumps({"hints": hints}))) for hints in (0, 1)]
    assert [first["hints"], second["hints"], second["of"]] == [1, 2, len(SOFTMAX.hints)]
    assert SOFTMAX.hints[1] in second["hint"]


# --- On the small torch, as in the page -----------------------------------------------------------------------------

ALL = """
import json, sys
import inside
known = json.loads(inside.start(sys.argv[1], "[]", lambda text: None))
from mha.exercises import EXERCISES
found = {id: [json.loads(inside.check(id, source, "{}")) for source in (item.stub.strip(), item.source)]
         for id, item in EXERCISES.items() if item.in_code}
hidden = json.loads(inside.run("try:\\n    torch.fft.fft(torch.ones(3))\\nexcept:\\n    pass\\n1"))
counted = json.loads(inside.run("from mha.lab import fast\\nfast.walk"))
beyond = [json.loads(inside.run(f"import torch.{name}")) for name in ("nn.attention", "utils.data", "nn.attn")]
print(json.dumps([known, found, hidden, counted, beyond, inside.torch.__file__]))
"""


@pytest.mark.parametrize("chapter", ["01_soft_lookup", "11b_heads_since_2024"])
def test_a_chapter_alone_is_judged_on_the_small_torch(chapter, tmp_path):
    path = os.pathsep.join(map(str, [ROOT / "small_torch", ROOT / "_ext" / "in_page", ROOT]))
    ran = subprocess.run([sys.executable, "-c", ALL, chapter], capture_output=True, encoding="utf8", check=True,
                         env={**os.environ, "PYTHONPATH": path, "MHA_PROGRESS": str(tmp_path / "progress.json")})
    known, found, hidden, counted, beyond, torch = json.loads(ran.stdout)
    own = {id for id, item in EXERCISES.items() if item.in_code and id.split(".")[0].zfill(2) == chapter.split("_")[0]}
    assert "small_torch" in torch and {"torch", "math", "F", "mha"} <= set(known) and own and own <= set(found)
    for id in own:
        stub, right = found[id]
        assert stub["started"] is False and right["text"] == check(id, EXERCISES[id].reference).text.splitlines()
    assert hidden["notHere"] and "value" not in hidden and "value" in counted
    assert ["notHere" in told for told in beyond] == [True, True, False] and "failure" in beyond[2]


# --- What the build makes -------------------------------------------------------------------------------------------

def test_an_archive_holds_its_files_and_is_the_same_each_time():
    parts = {"a.txt": b"one\n\x00", "b": b"", "c": b"two"}
    packed = python_files.archive(parts)
    head, _, rest = gzip.decompress(packed).partition(b"\n")
    assert json.loads(head) == [["a.txt", 5], ["b", 0], ["c", 3]] and rest == b"one\n\x00two"
    assert packed == python_files.archive(parts)
    assert python_files.zipped(parts) == python_files.stored(python_files.zipped(parts))


def test_a_file_with_another_sha256_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("MHA_MODELS", str(tmp_path))
    there = tmp_path / "python_in_page" / "pyodide-0.27.8.tgz"
    there.parent.mkdir()
    there.write_bytes(b"something else")
    with pytest.raises(ValueError, match="sha256"):
        python_files.fetched(python_files.PYODIDE, python_files.PYODIDE_SHA256)


def test_without_python_the_page_has_no_form_and_a_line(monkeypatch):
    def nowhere():
        raise OSError("no route")

    page_python.files.cache_clear()
    monkeypatch.setattr(python_files, "python", nowhere)
    assert page_python.files() is None and page_python.form(SOFTMAX, "chapters/01_soft_lookup") == ""
    page_python.files.cache_clear()


def test_the_press_names_the_megabytes_of_what_it_brings(monkeypatch):
    monkeypatch.setattr(page_python, "files", lambda: (bytes(3_200_000), b""))
    page_python.bytes_to_load.cache_clear()
    form = page_python.form(SOFTMAX, "chapters/01_soft_lookup")
    page_python.bytes_to_load.cache_clear()
    assert "Write it here: 3.2 MB" in form and '"name":"softmax"' in form and "disabled" in form


def test_a_chapter_hands_over_what_its_cells_import_and_define():
    made = page_python.prelude(ROOT / "chapters" / "06_multi_head.ipynb")
    assert any(text.startswith("def multi_head(") for text in made)
    assert not any("viz" in text or "widgets" in text for text in made if text.startswith(("from", "import")))
