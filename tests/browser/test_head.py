"""What a page says of itself in its head, before any browser looks at it: the front door and 404 included."""
import re
from html import unescape

import pytest

import served

PAGES = [page for page in served.pages() if page != "index.html"] if served.chromium() else []
TEXTS = [page for page in PAGES if page.startswith("chapters/")]


def head(page):
    return (served.HTML / page).read_text("utf8").partition("</head>")[0]


def meta(page, name):
    """The contents of a page's meta elements of this name."""
    return [unescape(text) for text in re.findall(rf'<meta (?:name|property)="{name}" content="([^"]*)"', head(page))]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_title_in_plain_words_and_one_viewport(page):
    title, = re.findall(r"<title>(.*?)</title>", head(page), re.S)
    assert title.strip() and not re.search(r"[\\$<]", title)
    assert len(meta(page, "viewport")) == 1


@pytest.mark.parametrize("page", TEXTS)
def test_a_chapter_can_be_shared(page):
    about, = meta(page, "description")
    assert 40 <= len(about) <= 320 and not re.search(r"[\\$<]", about), about
    assert meta(page, "og:description") == [about] and len(meta(page, "og:title")) == 1


def test_no_two_chapters_describe_themselves_alike():
    abouts = [meta(page, "description")[0] for page in TEXTS]
    assert len(set(abouts)) == len(abouts)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_holds_no_script_of_its_own(page):
    """All scripts are files, so that the page's policy can forbid the rest. What is no JavaScript is data."""
    text = (served.HTML / page).read_text("utf8")
    inline = [kind for kind in re.findall(r"<script(?![^>]*\bsrc=)([^>]*)>", text) if "json" not in kind]
    assert inline == [] and not re.search(r"\son\w+=\"", text)
