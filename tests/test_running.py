"""Appendix D: its commands and versions are those of the book, and each message in its last table is provoked."""
import importlib.util
import json
import re
import shlex
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import torch

import book
import mha
from _ext import page_python
from mha.exercises import EXERCISES, check, progress
from mha.exercises.classroom import teacher
from mha.exercises.engine import calls
from mha.exercises.tutor import tools
from mha.lab import real

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "chapters/D_running_and_teaching.md").read_text("utf-8")
MESSAGES = re.findall(r"^\| `(.*?)` \|", PAGE.partition("## When something fails")[2], re.M)


# --- What fails -------------------------------------------------------------------------------------------------------

def old_python(monkeypatch):
    """book.py, as an older Python reads its first lines."""
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    head = (ROOT / "book.py").read_text("utf-8").partition("import argparse")[0]
    exec(head, {})


def no_venv(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    book.make_venv()


def no_network(monkeypatch):
    """pip ends with an error."""
    monkeypatch.setattr(book, "torch_index", list)
    monkeypatch.setattr(book, "make_venv", lambda: None)
    monkeypatch.setattr(book, "wanted", lambda: ["another Python"])
    monkeypatch.setattr(book.subprocess, "run", lambda *command, **options: subprocess.CompletedProcess(command, 1))
    book.install()


def no_index(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(book, "has_nvidia", lambda: False)
    monkeypatch.setattr(book, "answers", lambda address, seconds: False)
    monkeypatch.delenv("BOOK_TORCH_INDEX", raising=False)
    book.torch_index()


def port(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(SystemExit) as refused:
            book.require_free(number)
    sys.exit(str(refused.value).replace(str(number), "8000"))


def no_chromium(monkeypatch):
    monkeypatch.setenv("PATH", "")
    for name in ("CHROMIUM", "CI"):
        monkeypatch.delenv(name, raising=False)
    print(book.no_chromium())


def no_chapter(monkeypatch):
    book.check("05_mask")


def no_package(monkeypatch):
    done = subprocess.run([sys.executable, "-I", "-S", "-c", "import mha"], capture_output=True, text=True)
    print(done.stderr)


def no_weights(monkeypatch):
    def fails(*arguments, **options):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", fails)
    monkeypatch.setenv("MHA_MODELS", "nowhere")
    monkeypatch.setattr(torch.hub, "get_dir", lambda: "nowhere")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in ("safetensors", "tokenizers") or None)
    real.load("minilm")


def devices(monkeypatch):
    """Where there is no GPU, the device without memory stands for it."""
    with pytest.raises(ValueError, match="x is on cpu") as refused:
        mha.MultiHeadAttention(8, 2).to("meta")(torch.zeros(1, 3, 8))
    print(str(refused.value).replace("meta", "cuda"))


def dtypes(monkeypatch):
    mha.MultiHeadAttention(8, 2)(torch.zeros(1, 3, 8).double())


def float_mask(monkeypatch):
    mha.MultiHeadAttention(8, 2)(torch.zeros(1, 3, 8), mask=torch.ones(3, 3))


def replaced(monkeypatch):
    monkeypatch.setattr(torch, "softmax", lambda *arguments: None)
    print(check("5.1", lambda scores: scores).text)


def endless(monkeypatch):
    """With a second's patience; the page has the book's."""
    patience = calls.LIMIT
    monkeypatch.setattr(calls, "LIMIT", 0.2)

    def loop(scores):
        while True:
            pass

    assert EXERCISES["5.1"].examine(loop).mistakes == ["does-not-end"] and patience == 10
    print(EXERCISES["5.1"].examine(loop).text)


def half_a_code(monkeypatch):
    progress("mha1-1.7-xx")


def in_a_page(monkeypatch):
    """tests/browser/test_running_in_pages.py provokes the two that only a browser says."""
    for name in ("host.js", "write_here.js"):
        print((ROOT / "_ext/static" / name).read_text("utf-8"))


FAILURES = [old_python, no_venv, no_network, no_index, port, no_chromium, no_chapter, no_package, no_weights, devices,
            dtypes, float_mask, replaced, endless, half_a_code, in_a_page, in_a_page]


@pytest.mark.parametrize("message, failure", [*zip(MESSAGES, FAILURES)], ids=lambda value: str(value)[:40])
def test_each_message_of_the_page_is_what_is_said(monkeypatch, capsys, tmp_path, message, failure):
    monkeypatch.setenv("MHA_PROGRESS", str(tmp_path / "progress.json"))
    said = ""
    with monkeypatch.context() as changed:
        changed.chdir(tmp_path)
        try:
            failure(changed)
        except (SystemExit, ValueError, TypeError, OSError) as raised:
            said = str(raised)
    assert message in said + capsys.readouterr().out


def test_each_message_is_provoked():
    assert len(MESSAGES) == len(FAILURES) >= 10


# --- What works -------------------------------------------------------------------------------------------------------

def test_the_commands_of_the_page_are_commands():
    """Of a module its parser says so, of book.py its help."""
    lines = [shlex.split(line.partition("#")[0]) for block in re.findall(r"```text\n(.*?)```", PAGE, re.S)
             for line in block.splitlines()]
    for program, *arguments in lines:
        if arguments[0] == "book.py":
            assert f"python3 book.py {arguments[1]}" in book.__doc__
        elif arguments[1] == "mha.exercises":
            assert teacher.parser().parse_args(arguments[2:])
        else:
            assert arguments[:2] == ["-m", "http.server"]
    (server,) = json.loads(re.search(r"```json\n(.*?)```", PAGE, re.S)[1])["mcpServers"].values()
    assert server["args"][:2] == ["-m", "mha.exercises"] and teacher.parser().parse_args(server["args"][2:])


def test_the_tools_of_the_page_are_those_of_the_server():
    assert re.findall(r"^\| `(\w+)` \|", PAGE.partition("## When")[0], re.M) == [*tools.TOOLS]


def test_the_versions_of_the_page_are_those_that_are_asked_for():
    wanted = (ROOT / "pyproject.toml").read_text("utf-8")
    exact, = set(re.findall(r'"torch==([\d.]+)"', wanted))
    least, = re.findall(r'"torch>=([\d.]+)"', wanted)
    python, = re.findall(r'requires-python = ">=([\d.]+)"', wanted)
    assert f"| torch | exactly {exact} | {least} or newer |" in PAGE
    assert f"| Python | 3.10 to 3.13 | {python} or newer |" in PAGE and "Python 3.10 to 3.13" in book.__doc__ + (
        ROOT / "book.py").read_text("utf-8")


def test_the_page_says_how_much_python_is_loaded():
    if not page_python.files():
        pytest.skip("Pyodide is not here")
    assert f"{page_python.bytes_to_load() / 1e6:.0f} MB" in PAGE
