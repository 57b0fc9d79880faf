"""_ext.story_model: what the build puts beside a page with the story that breaks, with and without the weights."""
import hashlib
import re

import pytest

from _ext import story_model
from mha.widgets import story_that_breaks


def found(folder):
    return (folder / "story_model.js").read_text("utf8")


def test_what_the_page_is_told_of_is_there_under_its_own_sha256(tmp_path, monkeypatch):
    monkeypatch.setattr(story_that_breaks, "file", lambda: b"numbers")
    story_model.write(tmp_path)
    worker, file = re.findall(r'new URL\("([^"]+)"', found(tmp_path))
    assert (tmp_path / file).read_bytes() == b"numbers" and "bytes: 7," in found(tmp_path)
    assert hashlib.sha256(b"numbers").hexdigest()[:16] in file
    assert "self.onmessage" in (tmp_path / worker).read_text("utf8")
    assert "MIT License" in (tmp_path / "story_model.txt").read_text("utf8")


@pytest.mark.parametrize("missing", [FileNotFoundError("no route"), ValueError("another sha256")])
def test_without_the_weights_the_page_is_told_that_there_are_none(tmp_path, monkeypatch, missing):
    def file():
        raise missing

    monkeypatch.setattr(story_that_breaks, "file", file)
    story_model.write(tmp_path)
    assert found(tmp_path) == "window.storyModel = null;\n" and len(list(tmp_path.iterdir())) == 1
