"""The front door, book.py: where torch comes from, and what a wrong call is told."""
import http.server
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

import book


@contextmanager
def server(status):
    """A server on 127.0.0.1 that gives this status to every request; its address."""
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


@contextmanager
def silence():
    """A socket that takes connections and never says a word; its address."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def plain_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(book, "has_nvidia", lambda: False)


def test_linux_without_nvidia_takes_the_cpu_build_and_says_how_to_have_the_other(plain_linux, monkeypatch, capsys):
    with server(200) as index:
        monkeypatch.setenv("BOOK_TORCH_INDEX", index)
        assert book.torch_index() == ["--extra-index-url", index]
    assert "BOOK_TORCH_INDEX= python3" in capsys.readouterr().out


def test_an_index_that_has_no_torch_is_left(plain_linux, monkeypatch, capsys):
    with server(404) as index:
        monkeypatch.setenv("BOOK_TORCH_INDEX", index)
        assert book.torch_index() == []
    assert "does not answer" in capsys.readouterr().out


def test_an_index_that_says_nothing_is_left_after_seconds(plain_linux, monkeypatch):
    with silence() as index:
        monkeypatch.setenv("BOOK_TORCH_INDEX", index)
        start = time.monotonic()
        assert book.torch_index() == []
        assert time.monotonic() - start < 30


def test_no_index_is_asked_where_none_is_wanted(plain_linux, monkeypatch):
    monkeypatch.setattr(book, "answers", lambda *arguments, **options: pytest.fail("an index was asked"))
    monkeypatch.setenv("BOOK_TORCH_INDEX", "")
    assert book.torch_index() == []
    monkeypatch.delenv("BOOK_TORCH_INDEX")
    monkeypatch.setattr(book, "has_nvidia", lambda: True)
    assert book.torch_index() == []
    monkeypatch.setattr(book, "has_nvidia", lambda: False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert book.torch_index() == []


@pytest.mark.parametrize("arguments, told", [
    (["check"], "takes the name of a chapter"),
    (["build", "05_masks"], "takes the name of a chapter"),
    (["sing"], "invalid choice"),
])
def test_a_wrong_call_is_told_what_is_wanted(arguments, told):
    call = subprocess.run([sys.executable, book.__file__, *arguments], capture_output=True, text=True)
    assert call.returncode == 2 and told in call.stderr


def test_a_chapter_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(SystemExit, match="no chapter '99_none', and none shows .* There are 00_the_whole, 00b_who"):
        book.check("99_none")


def test_an_exercise_that_is_not_there_is_told_how_its_file_would_be_called():
    with pytest.raises(SystemExit, match="no exercise 4.99 in code: .* mha/exercises/chapter_04/e4_99_name"):
        book.check("4.99")


def test_a_port_in_use_is_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SystemExit, match="cannot be used"):
            book.require_free(taken.getsockname()[1])


# --- The stages of `test` ---------------------------------------------------------------------------------------------

@pytest.fixture
def stages(monkeypatch):
    """The five stages, none of which runs anything: what was called, and which of them shall fail."""
    called, failing = [], []

    def stage(name):
        called.append(name)
        if name in failing:
            raise book.Failed(f"{name} failed")

    for name in book.STAGES:
        monkeypatch.setitem(book.STAGES, name, lambda name=name: stage(name))
    monkeypatch.setattr(book, "no_chromium", lambda: "")
    return called, failing


def test_a_stage_that_fails_stops_no_other_and_the_table_says_which(stages, capsys):
    called, failing = stages
    failing += ["package", "browser"]
    with pytest.raises(SystemExit, match="book.py test --from package"):
        book.test("package")
    assert called == list(book.STAGES)
    table = capsys.readouterr().out.split("\n\n")[-1]
    assert [line.split()[-1] for line in table.splitlines()] == ["FAILED", "passed", "passed", "FAILED", "passed"]


def test_without_a_built_book_no_browser_is_tried(stages, capsys):
    called, failing = stages
    failing += ["build"]
    with pytest.raises(SystemExit, match="--from build"):
        book.test("package")
    assert called == ["package", "notebooks", "build"]
    assert capsys.readouterr().out.count("not run, since the build failed") == 2


def test_a_run_is_taken_up_at_a_stage(stages):
    book.test("build")
    assert stages[0] == ["build", "browser", "engines"]


def test_a_machine_without_chromium_is_told_so_and_passes_but_not_in_ci(stages, monkeypatch, capsys):
    monkeypatch.undo()
    for name in book.STAGES:
        monkeypatch.setitem(book.STAGES, name, lambda: None)
    monkeypatch.setattr(book, "CHROMIUM", ())
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.delenv("CI", raising=False)
    book.test("browser")
    assert "skipped: there is no Chromium" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SystemExit, match="--from browser"):
        book.test("browser")


# What is late the first time, and what is wrong each time
LATE = """
from pathlib import Path
def test_late():
    with open("tries", "a") as tries: tries.write("I")
    assert Path("tries").read_text() == "II"
"""
WRONG = "def test_wrong(): assert False\n"
MANY = "import pytest\n@pytest.mark.parametrize('i', range(11))\ndef test_wrong(i): assert False\n"


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """A folder of its own for `book.test_pages`, which takes these tests."""
    monkeypatch.setattr(book, "ROOT", tmp_path)
    monkeypatch.setattr(book, "PYTHON", sys.executable)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:nbval\n", "utf-8")
    (tmp_path / "pages").mkdir()
    return lambda tests: (tmp_path / "pages" / "test_page.py").write_text(tests, "utf-8")


def test_a_page_that_is_late_is_tried_again_and_said(pages):
    """Of a group, which a worker has to itself."""
    pages("import pytest\npytestmark = pytest.mark.xdist_group('a/page.html')\n" + LATE)
    said = book.test_pages("pages", "-n", "1", "--dist", "loadgroup")
    assert said == "passed; 1 at the second try: pages/test_page.py::test_late"


@pytest.mark.parametrize("tests, tries", [(LATE + WRONG, 2), ("import no_such_module\n", 2), (MANY, 1)],
                         ids=["wrong", "cannot be read", "many"])
def test_what_is_wrong_each_time_has_failed_and_many_are_not_tried_again(pages, capfd, tests, tries):
    pages(tests)
    with pytest.raises(book.Failed):
        book.test_pages("pages")
    assert capfd.readouterr().out.count("$ ") == tries
