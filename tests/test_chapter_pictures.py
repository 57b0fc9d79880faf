"""Each chapter has a small picture of its own, which screen readers pass over."""
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from _ext.chapter_pictures import PICTURES, picture_of
from _ext.labs import chapter_of

CHAPTERS = {chapter_of(path.stem) for path in (Path(__file__).parent.parent / "chapters").glob("*.ipynb")} - {"index"}


def test_every_chapter_has_its_picture_and_no_other_page():
    assert set(PICTURES) == CHAPTERS and len(set(PICTURES.values())) == len(CHAPTERS)


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_is_decoration_in_one_size(name):
    root = ET.fromstring(PICTURES[name])
    assert root.get("viewBox") == "0 0 120 72" and root.get("aria-hidden") == "true" and len(root)


@pytest.mark.parametrize("link, name", [
    ("03_query_and_key.html", "03_query_and_key"), ("../chapters/06_multi_head.html#x", "06_multi_head"),
    ("03_query_and_key_lab.html", "03_query_and_key"), ("notation.html", None), ("", None), (None, None)])
def test_a_link_leads_to_the_picture_of_its_chapter(link, name):
    assert picture_of(link) == PICTURES.get(name, "")
