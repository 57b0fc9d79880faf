"""The book on paper: a chapter as a reader prints it, and the PDF that the build makes of all."""
import ctypes
import functools
import re
from html import unescape

import numpy as np
import pypdfium2
import pytest

import served
from mha.exercises import EXERCISES
from mha.exercises.engine.cells import solution
from tools import make_pdf

CHAPTERS = served.chapters() if served.chromium() else []
pytestmark = pytest.mark.xdist_group("paper")                # one worker reads the PDF
# The share of a page that may stay white below its last line, where no chapter ends. The worst page had 0.31.
WHITE = 0.4


def squeezed(text):
    """A text without its spaces and line breaks, which a PDF does not keep, and without a second symbol of two alike,
    which Chromium makes of a superscript in the outline.
    """
    return re.sub("([\U0001D400-\U0001D7FF])\\1", r"\1", re.sub(r"\s", "", text))


class Pdf:
    def __init__(self, source):
        self.document = document = pypdfium2.PdfDocument(source)
        self.outline = [(entry.level, entry.get_title(), entry.get_dest().get_index()) for entry in document.get_toc()]
        self.texts = [squeezed(page.get_textpage().get_text_bounded()) for page in document]

    @property
    def starts(self):
        """Where each chapter begins: its title and its page, counted from 0."""
        return {title: page for level, title, page in self.outline if level == 0}

    def white(self, page):
        """The share of a page's text block that is white below its last ink."""
        ink = np.asarray(self.document[page].render(scale=.4).to_numpy())[..., :3].min(2) < 240
        block = ink[int(.06 * len(ink)):int(.93 * len(ink))]
        return 1 - (block.any(1).nonzero()[0].max(initial=-1) + 1) / len(block)

    def addresses(self):
        """Where the links lead that leave the document."""
        raw, found = pypdfium2.raw, []
        for page in self.document:
            at, link = ctypes.c_int(0), raw.FPDF_LINK()
            while raw.FPDFLink_Enumerate(page, at, link):
                action = raw.FPDFLink_GetAction(link)
                if raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
                    text = ctypes.create_string_buffer(raw.FPDFAction_GetURIPath(self.document, action, None, 0))
                    raw.FPDFAction_GetURIPath(self.document, action, text, len(text))
                    found.append(text.value.decode())
        return found


@functools.cache
def book():
    path = served.HTML / "_static" / make_pdf.NAME
    assert path.exists(), "the built book has no PDF: run `python3 book.py build`"
    return Pdf(path.read_bytes())


def test_a_program_of_the_pdf_has_the_numbers_of_its_blanks_and_none_of_their_options():
    text, printed = "".join(book().texts), {page.partition("/")[2].removesuffix(".html") for page in CHAPTERS}
    for item in EXERCISES.values():
        if item.in_code and item.program and item.chapter in printed:
            blanks = {name: f"({place})" for place, name in enumerate(item.program.offered, start=1)}
            for line in item.program.filled(**blanks).splitlines():
                assert squeezed(line) in text, (item.id, line)


def test_the_letters_of_the_pdf_are_letters_of_a_font():
    """A font of many weights would be printed as drawings of letters, which have no font's name (Type 3)."""
    raw, of_a_font = pypdfium2.raw, []
    for text in (book().document[page].get_textpage() for page in range(0, len(book().texts), 5)):
        for place in range(text.count_chars()):
            if not chr(raw.FPDFText_GetUnicode(text, place)).isspace():
                of_a_font.append(raw.FPDFText_GetFontInfo(text, place, None, 0, ctypes.c_int()) > 1)
    assert np.mean(of_a_font) > .99                          # all but letters with an outline, in pictures


def test_a_printed_program_has_lines_to_write_on_and_no_boxes(visit):
    tab = visit("chapters/02_one_head.html").page
    tab.emulate_media(media="print")
    sides = "(el) => ['Top', 'Left', 'Bottom'].map((side) => getComputedStyle(el)[`border${side}Style`])"
    top, left, bottom = tab.locator(".complete-code select").first.evaluate(sides)
    assert top == left == "none" != bottom


# Frames whose right side lies beyond the text, which cuts it
BEYOND = """
  () => [...document.querySelectorAll("article *")].filter((el) => {
    const { borderRightStyle, borderRightWidth } = getComputedStyle(el);
    const edge = document.querySelector(".content").getBoundingClientRect().right;
    return borderRightStyle !== "none" && parseFloat(borderRightWidth) && el.getBoundingClientRect().right > edge + .5;
  }).map((el) => el.outerHTML.slice(0, 120))
"""


def test_what_is_framed_is_framed_on_all_sides(visit):
    tab = visit("chapters/02_one_head.html", width=643).page                # as wide as the text of a sheet
    tab.emulate_media(media="print")
    assert tab.evaluate(BEYOND) == []


# Printing draws no figure anew
DRAWN_ONCE = "window.ResizeObserver = class { observe() {} disconnect() {} };"
GAPS = """
  () => {
    const [before, ribbons, after] = [".first .matrix", "path.stays", ".last .matrix"]
      .map((part) => document.querySelector(`.whole-layer .glance ${part}`).getBoundingClientRect());
    return [ribbons.left - before.right, after.left - ribbons.right];
  }
"""


@pytest.mark.parametrize("width", [390, 320])
def test_the_ribbons_of_a_page_printed_from_a_phone_reach_from_before_to_after(visit, width):
    tab = visit("chapters/00_the_whole.html", width=width, script=DRAWN_ONCE).page
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 643, "height": 900})
    assert max(map(abs, tab.evaluate(GAPS))) < 3


def test_a_printed_figure_says_how_its_controls_stand(visit):
    tab = visit("chapters/06_multi_head.html").page
    tab.locator(".live-figure input[type=range]").first.press("Home")
    tab.locator(".live-figure select").first.select_option(index=1)
    text = "".join(Pdf(tab.pdf()).texts)
    assert "Shownwithheadsh:1head;widthdk:384;holdh·dk=384:yes;" in text
    assert "sentence:Thebankbytheriver" in text


def test_every_live_figure_of_the_pdf_says_its_setting_or_has_a_picture_of_each_step():
    figures = sum(len(served.live_figures(page)) for page in CHAPTERS)
    stages = sum((served.HTML / page).read_text("utf8").count('class="show-steps"') for page in CHAPTERS)
    assert "".join(book().texts).count("Shownwith") == figures - stages > 0 < stages


def test_the_pdf_has_the_drawings_and_not_the_pictures_that_hold_their_place():
    opens = {title[:2]: "".join(book().texts[page:page + 2]) for title, page in book().starts.items()}
    assert "sidebyside" in opens["0 "] and "384columnsofqueriesandkeys" in opens["6 "]


def test_each_heading_stands_on_the_page_that_the_outline_names():
    for _, title, page in book().outline:
        assert squeezed(title) in book().texts[page], f"{title} does not stand on page {page + 1}"


def test_the_contents_name_the_page_of_every_chapter_and_section():
    first = min(book().starts[title] for title in list(book().starts)[2:])
    contents = "".join(book().texts[:first])
    assert len(book().starts) == len(make_pdf.pages()) + 3          # with the cover, the contents and the answers
    for level, title, page in book().outline[2:]:
        assert level > 1 or f"{squeezed(title)}{page + 1}" in contents, title


def test_no_answer_stands_before_the_part_of_answers():
    start = book().starts["Hints and answers"]
    before, after = "".join(book().texts[:start]), "".join(book().texts[start:])
    for item in EXERCISES.values():
        if item.in_code:
            assert squeezed(item.hints[-1]) not in before, item.id
            assert squeezed(solution(item).splitlines()[-1]) in after, item.id
    for number in (1, 2):
        told = sum(len(item.hints) - item.in_code >= number for item in EXERCISES.values())
        assert after.count(f"Hint{number}.") == told
    assert not re.search(r"Hint\d\.", before)


def test_no_page_is_left_white_before_a_chapter_ends():
    ends = {page - 1 for page in book().starts.values()} | {0, len(book().texts) - 1}
    white = {page + 1: round(book().white(page), 2) for page in range(len(book().texts)) if page not in ends}
    assert {page: share for page, share in white.items() if share > WHITE} == {}


def test_links_inside_the_book_stay_inside_the_pdf():
    outside = book().addresses()
    assert outside and not [address for address in outside if make_pdf.HERE in address or "file:" in address]


def test_a_page_offers_itself_as_a_pdf_and_says_how_large_it_is():
    starts = {squeezed(title): page for title, page in book().starts.items()}
    for page in CHAPTERS:
        html = (served.HTML / page).read_text("utf8")
        [(link, size)] = re.findall('<a href="([^"]*)">This page as a PDF</a>, ([^<]*)<', html)
        file = (served.HTML / page).parent / link
        own, title = Pdf(file.read_bytes()), re.sub("<[^>]*>", "", re.search('<h1>(.*?)<a class="headerlink"', html)[1])
        assert size == f"{len(own.texts)} pages, {file.stat().st_size / 1e6:.1f} MB", page
        first = starts[squeezed(unescape(title))]
        assert own.texts == book().texts[first:first + len(own.texts)], page


def test_the_front_page_offers_the_pdf(visit):
    link = visit("chapters/index.html").page.locator(f'a[href$="{make_pdf.NAME}"]')
    assert link.is_visible()
    assert (served.HTML / "_static" / make_pdf.NAME).stat().st_size < 10e6
