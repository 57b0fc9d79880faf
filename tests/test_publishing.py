"""What is published from a repository: addresses, stamped notebooks, and the branch that Colab opens."""
import http.server
import json
import subprocess
import threading
from contextlib import contextmanager

import pytest

from _ext import publishing
from tools import publish

CHAPTERS = sorted((publishing.ROOT / "chapters").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """As at home: no address is known, whatever the tests run in."""
    for name in ("BOOK_REPOSITORY", "BOOK_ADDRESS", "GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def somewhere(monkeypatch):
    monkeypatch.setenv("BOOK_REPOSITORY", "Ada/book")


# --- Addresses ------------------------------------------------------------------------------------------------------

def test_a_book_at_home_has_no_address():
    assert publishing.repository_url() is publishing.base_address() is publishing.colab_url("chapters/a") is None


def test_a_repository_gives_all_addresses(somewhere):
    assert publishing.repository_url() == "https://github.com/Ada/book"
    assert publishing.base_address() == "https://ada.github.io/book/"
    colab = "https://colab.research.google.com/github/Ada/book/blob/colab/chapters/a.ipynb"
    assert publishing.colab_url("chapters/a") == colab
    assert publishing.colab_url("chapters/a", cell="b") == f"{colab}#scrollTo=b"


@pytest.mark.parametrize("given, address", [
    ({"BOOK_REPOSITORY": "Ada/ada.github.io"}, "https://ada.github.io/"),
    ({"BOOK_REPOSITORY": "ada/book", "BOOK_ADDRESS": "https://book.example"}, "https://book.example/"),
    ({"BOOK_REPOSITORY": "ada/book", "BOOK_ADDRESS": ""}, "https://ada.github.io/book/"),
    ({"BOOK_REPOSITORY": "", "BOOK_ADDRESS": ""}, None),
])
def test_the_public_address(given, address, monkeypatch):
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert publishing.base_address() == address


# --- Notebooks ------------------------------------------------------------------------------------------------------

def in_file(source):
    """Lines of a cell as they stand in the file of a notebook."""
    return "".join(f"    {json.dumps(line)},\n" for line in source.splitlines(keepends=True))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_published_chapter_differs_in_how_its_set_up_cell_begins(path, somewhere):
    stored = path.read_text("utf8")
    published = publishing.published(stored)
    fetch = publishing.FETCH.format(url="https://github.com/Ada/book", commit=publishing.commit())
    assert published.count(in_file(fetch)) == 1
    assert published.replace(in_file(fetch), in_file(publishing.HINT)) == stored
    assert publishing.published(published) == published


def git(*command, cwd):
    return subprocess.run(["git", *command], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """A clone as a runner has it, without history, of a bare repository that stands in for GitHub."""
    if subprocess.run(["git", "rev-parse"], cwd=publishing.ROOT, capture_output=True).returncode:
        pytest.skip("not a git clone")
    git("clone", "--bare", publishing.ROOT, tmp_path / "github", cwd=tmp_path)
    git("clone", "--depth", "1", f"file://{tmp_path}/github", tmp_path / "clone", cwd=tmp_path)
    for module in (publishing, publish):
        monkeypatch.setattr(module, "ROOT", tmp_path / "clone")
    return tmp_path / "clone"


def test_the_branch_holds_the_chapters_as_published_and_leaves_the_clone_alone(runner, somewhere):
    git("push", "origin", f"HEAD:refs/heads/{publishing.BRANCH}", cwd=runner)      # it has something else already
    publish.notebooks()
    git("fetch", "origin", publishing.BRANCH, cwd=runner)
    assert git("rev-list", "--count", "FETCH_HEAD", cwd=runner) == "1"
    names = git("ls-tree", "-r", "--name-only", "FETCH_HEAD", cwd=runner).splitlines()
    assert names == git("ls-tree", "-r", "--name-only", "HEAD", "--", "LICENSE", "chapters", cwd=runner).splitlines()
    for path in runner.glob("chapters/*.ipynb"):
        there = git("show", f"FETCH_HEAD:chapters/{path.name}", cwd=runner)
        assert there + "\n" == publishing.published(path.read_text("utf8"))
        assert f"/Ada/book@{git('rev-parse', 'HEAD', cwd=runner)}\\" in there
    changed = git("diff", "--name-only", "HEAD", "FETCH_HEAD", "--", "LICENSE", "chapters", cwd=runner).splitlines()
    assert changed == [name for name in names if name.endswith(".ipynb")]
    assert git("status", "--porcelain", cwd=runner) == ""


# --- What GitHub says of Pages --------------------------------------------------------------------------------------

@contextmanager
def github(status, said):
    """A stand-in for GitHub's API; its address, and a list of what was asked."""
    asked = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers["Authorization"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}", asked
        serving.shutdown()


def test_the_address_is_the_one_that_pages_says(somewhere, monkeypatch, capsys):
    with github(200, {"build_type": "workflow", "html_url": "https://book.example/"}) as (api, asked):
        monkeypatch.setenv("GITHUB_API_URL", api)
        monkeypatch.setenv("GITHUB_TOKEN", "secret")
        publish.address()
    assert capsys.readouterr().out == "address=https://book.example/\n"
    assert asked == [("/repos/Ada/book/pages", "Bearer secret")]


@pytest.mark.parametrize("status, said, reason", [
    (404, {}, "has no Pages yet"),
    (200, {"build_type": "legacy", "html_url": "https://ada.github.io/book/"}, "shows a branch"),
])
def test_pages_that_are_not_switched_on_are_an_error_that_says_where(status, said, reason, somewhere, monkeypatch):
    with github(status, said) as (api, _):
        monkeypatch.setenv("GITHUB_API_URL", api)
        with pytest.raises(SystemExit, match=rf'^::error.*{reason}.*github.com/Ada/book/settings/pages choose "GitHub'):
            publish.address()
