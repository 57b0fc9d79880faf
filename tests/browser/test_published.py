"""A page as it is published from a repository, whatever the book was built for that the other tests look at."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import served
from _ext import publishing
from mha.exercises import EXERCISES

TO_COLAB = re.compile(r"(?:https:)?//colab\.research[^\"'<>\s]*")
PUBLISHED, CHAPTER = "chapters/02_one_head.html", "02_one_head"
one_build = pytest.mark.xdist_group("published")


@pytest.fixture(scope="session")
def published(tmp_path_factory):
    """One chapter as it is built to be published from Ada/book."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "toc.yml").write_text(f"format: jb-book\nroot: chapters/{CHAPTER}\n")
    subprocess.run([Path(sys.executable).parent / "jupyter-book", "build", ".", "--all", "--quiet",
                    "--toc", folder / "toc.yml", "--path-output", folder], cwd=served.ROOT, check=True,
                   env={**os.environ, "BOOK_REPOSITORY": "Ada/book", "BOOK_ADDRESS": ""}, capture_output=True)
    return folder / "_build/html"


@one_build
def test_every_colab_link_of_a_published_page_is_of_its_own_repository(published):
    chapter = f"https://colab.research.google.com/github/Ada/book/blob/{publishing.BRANCH}/chapters/{CHAPTER}.ipynb"
    cells = [f"{chapter}#scrollTo=exercise-{item.id.replace('.', '-')}-stub"
             for item in EXERCISES.values() if item.chapter == CHAPTER and item.in_code]
    assert cells
    assert {*TO_COLAB.findall((published / PUBLISHED).read_text("utf8"))} == {chapter, *cells}
    assert TO_COLAB.findall((published / "search.html").read_text("utf8")) == []


@one_build
def test_a_notebook_that_a_published_page_offers_fetches_mha(published, monkeypatch):
    monkeypatch.setenv("BOOK_REPOSITORY", "Ada/book")
    stored = (served.ROOT / "chapters" / f"{CHAPTER}.ipynb").read_text("utf8")
    offered = (published / "_sources/chapters" / f"{CHAPTER}.ipynb").read_text("utf8")
    assert "github.com/Ada/book@" in offered and offered == publishing.published(stored)


@one_build
def test_a_published_page_says_its_own_address(published):
    html = (published / PUBLISHED).read_text("utf8")
    assert re.findall(r'<link rel="canonical" href="([^"]*)"', html) == [f"https://ada.github.io/book/{PUBLISHED}"]
