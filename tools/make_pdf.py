"""Makes one PDF of the whole built book, and one of each page: python -m tools.make_pdf, after the site has been built.

A browser prints it. The pages of the site are put into one document (make_pdf.js), without scripts, with a title page
and a table of contents in front, and with the hints and answers of the exercises at the end. It is printed twice: the
first time tells on which page each heading stands, and the contents of the second say so; once, where the last PDF told
it. A page's own PDF is cut out of that of the book, which takes no time; it keeps the book's page numbers, but not its
tags.
"""
import io
import re
import shutil
import sys
import time
from html import escape
from pathlib import Path

import pikepdf
import pypdfium2
import yaml
from playwright.sync_api import sync_playwright

from _ext.answers import answer
from _ext.fonts import WEIGHTS, instance
from _ext.paper import LICENCE, PLACE_OF_PAGE, PLACE_OF_PDF
from _ext.publishing import base_address
from book import CHROMIUM, ROOT
from mha.exercises import EXERCISES

NAME = "multi-head-attention.pdf"
HERE = "http://book.invalid/"                     # no such place: the browser gets files of the site and nothing else
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu"]
# The cover's own document; all else comes from the site and its style sheets.
FRAME = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="_static/style.css">
{sheets}
<style>
  @page front {{ @bottom-center {{ content: none; }} }}
  @page {{ @top-center {{ font: 9pt "Book Sans", sans-serif; color: #444; }} }}
  .cover {{ page: front; }}
  .cover h1 {{ font-size: 34pt; margin-top: 55mm; }}
  .cover p, .book-contents ol {{ font-family: var(--book-sans); }}
  .book-contents > ol {{ columns: 2; column-gap: 10mm; font-size: 9.5pt; line-height: 1.3; }}
  .book-contents ol {{ list-style: none; margin: 0; padding: 0; }}
  .book-contents ol ol {{ padding-left: 1.5em; font-weight: 400; }}
  .book-contents li {{ break-inside: auto; margin: .1em 0; }}
  .book-contents > ol > li {{ font-weight: 600; margin-top: .45em; }}
  .book-contents li.part {{ font: italic 11pt var(--book-serif); margin-top: 1em; break-after: avoid; }}
  .book-contents a {{ color: inherit; text-decoration: none; }}
  .book-contents div {{ display: flex; justify-content: space-between; gap: 1em; }}
  .book-contents .page-of {{ align-self: end; font-variant-numeric: tabular-nums; }}
  .chapter {{ break-before: page; }}
  .live-figure.is-live {{ zoom: {zoom}; break-inside: auto; }}
  .live-figure.is-live :is(svg, table, p) {{ break-inside: avoid; }}
  #answers a {{ overflow-wrap: anywhere; }}
  #answers pre {{ margin: 0 0 .6em; }}
</style></head>
<body data-theme="light"><article>
<section class="cover"><h1>{title}</h1><p>{author}</p><p>{licence}</p>{address}</section>
<section class="book-contents chapter" id="contents"><h1>Contents</h1><ol></ol></section>
</article></body></html>"""


# A figure is drawn wider than the 643 px between the margins of A4, and then made smaller.
ZOOM = .8
DRAWN_AT = round(643 / ZOOM)
# What stands behind a bet is drawn too.
NO_BETS = """localStorage.setItem("mha", '{"version": 2, "settings": {"bets": "off"}}')"""
DRAWN = """
  async () => {
    await document.fonts.ready;
    while (document.documentElement.matches(".figures-start")) await new Promise((done) => setTimeout(done, 20));
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    for (const canvas of document.querySelectorAll(".live-figure canvas")) {
      const image = document.createElement("img");
      Object.assign(image, { src: canvas.toDataURL(), className: canvas.className });
      const { position, inset, imageRendering } = getComputedStyle(canvas);
      Object.assign(image.style, { position, inset, imageRendering });
      Object.assign(image.style, { width: `${canvas.offsetWidth}px`, height: `${canvas.offsetHeight}px` });
      canvas.replaceWith(image);
    }
    return [...document.querySelectorAll(".live-figure")].map((figure) => figure.outerHTML);
  }
"""
# A font of many weights would become drawings of letters (Type 3), which viewers space badly and nobody can search: the
# PDF has one font for each of these weights.
OF_MANY_WEIGHTS = re.compile(r"@font-face \{[^}]*font-weight: %d %d;[^}]*\}" % WEIGHTS)
PRINTED_WEIGHTS = (400, 500, 600, 650, 700)


def on_paper(sheet):
    """The style sheet for paper: fonts of one weight each, that are worth waiting for."""
    def faces(found):
        return "\n".join(found[0].replace("font-weight: %d %d" % WEIGHTS, f"font-weight: {weight}")
                         .replace('.woff2")', f'.woff2?{weight}")') for weight in PRINTED_WEIGHTS)

    return OF_MANY_WEIGHTS.sub(faces, sheet).replace("font-display: optional", "font-display: block")


def pages():
    """[{stem, part}] in the order of _toc.yml; part is the name of the part that a page begins, or None."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    files = [(toc["root"], None)]
    for part in toc["parts"]:
        of_part = [page["file"] for chapter in part["chapters"] for page in (chapter, *chapter.get("sections", ()))]
        files += zip(of_part, [part["caption"], *[None] * len(of_part)])
    return [{"stem": Path(file).name, "part": part} for file, part in files]


def answers():
    return {f"exercise-{item.id.replace('.', '-')}": answer(item) for item in EXERCISES.values()}


def drawn(browser, give, stem):
    """The HTML of a page's live figures as its scripts draw them at the first setting, for paper."""
    tab = browser.new_page(color_scheme="light", reduced_motion="reduce", viewport={"width": DRAWN_AT, "height": 900})
    tab.add_init_script(NO_BETS)
    tab.route("**/*", give)
    tab.emulate_media(media="print")
    tab.goto(f"{HERE}chapters/{stem}.html")
    found = tab.evaluate(DRAWN)
    tab.close()
    return found


def make(site, chromium, form="A4", numbers=None):
    """The PDF, as bytes. numbers: on which page each heading stands, if it stands where it did in the last one."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    address = base_address()
    sheets = "\n".join(f'<link rel="stylesheet" href="{path.relative_to(site).as_posix()}">'
                       for path in sorted(site.glob("_static/figures/*.css")))
    frame = FRAME.format(sheets=sheets, title=escape(config["title"]), author=escape(config["author"]),
                         licence=escape(LICENCE), zoom=ZOOM,
                         address=f'<p><a href="{address}">{address}</a></p>' if address else "")

    def give(route):
        path, _, weight = route.request.url.removeprefix(HERE).partition("?")
        if not path:
            route.fulfill(body=frame, content_type="text/html")
        elif not (route.request.url.startswith(HERE) and (site / path).is_file()):
            route.abort()
        elif path.endswith("style.css"):
            route.fulfill(body=on_paper((site / path).read_text("utf8")), content_type="text/css")
        elif path.endswith(".woff2") and weight:
            route.fulfill(body=instance(site / path, int(weight)), content_type="font/ttf")
        else:
            route.fulfill(path=site / path)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        stems = [page["stem"] for page in pages()]
        live = [stem for stem in stems if 'class="live-figure"' in (site / f"chapters/{stem}.html").read_text("utf8")]
        figures = {stem: drawn(browser, give, stem) for stem in live}
        source = Path(__file__).with_suffix(".js").read_text("utf8")

        def printed(numbers):
            # A new tab each time: a document that was laid out before may break its pages a little differently.
            tab = browser.new_page(color_scheme="light")
            tab.emulate_media(media="print")
            tab.route("**/*", give)
            tab.goto(HERE)
            tab.evaluate(source, {"pages": pages(), "answers": answers(), "base": address, "figures": figures})
            tab.evaluate(NUMBER, numbers)
            pdf = tab.pdf(format=form, prefer_css_page_size=True, outline=True, tagged=True)
            tab.close()
            return pdf

        for _ in range(3):
            if headings(pdf := printed(numbers)) == numbers:
                return pdf
            numbers = headings(pdf)
    sys.exit("The numbers in the contents move the pages: this is a mistake in tools/make_pdf.py.")


# Each heading stands in the PDF's outline, in the same order: its page goes to the entries of the contents.
NUMBER = """
  (numbers) => {
    const all = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")];
    for (const place of document.querySelectorAll(".page-of")) {
      const target = document.getElementById(place.previousElementSibling.hash.slice(1));
      const heading = target.matches("h1, h2") ? target : target.querySelector("h1, h2");
      place.textContent = numbers?.length === all.length ? numbers[all.indexOf(heading)] : "000";
    }
  }
"""


def headings(pdf):
    """The page of each heading, counted from 1."""
    return [entry.get_dest().get_index() + 1 for entry in pypdfium2.PdfDocument(pdf).get_toc()]


def split_by_page(pdf):
    """(stem, its pages as a PDF of its own) of each page of the site; before them stand the cover and the contents."""
    book = pypdfium2.PdfDocument(pdf)
    starts = [entry.get_dest().get_index() for entry in book.get_toc() if entry.level == 0][2:]
    for page, first, end in zip(pages(), starts, starts[1:]):
        own = pypdfium2.PdfDocument.new()
        own.import_pages(book, list(range(first, end)))
        yield page["stem"], own


def offer(site, path, name, place, words, size):
    """Put a link to a file of _static into a page, where its place is kept."""
    text = (site / path).read_text("utf8")
    link = f'<a href="../_static/{name}">{words}</a>, {size}'
    (site / path).write_text(text.replace(place, link), "utf8")


def packed(pdf):
    """The same PDF with its objects compressed: the browser writes tens of thousands of tags as they are."""
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        document.save(out, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return out.getvalue()


def size_of(document, path):
    return f"{len(document)} pages, {path.stat().st_size / 1e6:.1f} MB"


def main():
    site = ROOT / "_build" / "html"
    target = site / "_static" / NAME
    known = headings(target.read_bytes()) if target.exists() else None
    target.unlink(missing_ok=True)
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if not chromium:
        return print("No PDF of the book: it takes a Chromium. On Debian or Ubuntu: sudo apt-get install chromium")
    start = time.perf_counter()
    pdf = make(site, chromium, numbers=known)
    target.write_bytes(packed(pdf))
    whole = size_of(pypdfium2.PdfDocument(pdf), target)
    offer(site, "chapters/index.html", NAME, PLACE_OF_PDF, "The whole book as one PDF", whole)
    for stem, own in split_by_page(pdf):
        own.save(path := target.with_name(f"{stem}.pdf"))
        offer(site, f"chapters/{stem}.html", path.name, PLACE_OF_PAGE, "This page as a PDF", size_of(own, path))
    print(f"Made: {target.relative_to(ROOT)}, {whole}, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
