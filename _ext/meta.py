"""What a page says of itself to search engines, to whoever shares a link, and to the browser that must guard it."""
import re
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes

from .publishing import base_address

PICTURE = "_static/card.png"                      # the front page's figure under the title, 1200 x 630
LENGTH = 200
FORMULA = "\0"
# A page asks its own site and nobody else, and runs no script that is no file of it. Styles may stand in the page:
# matplotlib writes them into its pictures, and its maps of many cells are images inside.
POLICY = ("default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
          "base-uri 'self'")


def description(doctree):
    """The first sentences of a page without a formula, as many as a search engine shows."""
    said = ""
    for sentence in sentences(doctree):
        if len(f"{said} {sentence}") > LENGTH:
            break
        said = f"{said} {sentence}".strip()
    return said


def sentences(doctree):
    """The sentences without a formula."""
    for paragraph in doctree.findall(nodes.paragraph):
        words = "".join(text.astext() if not isinstance(text.parent, nodes.math) else FORMULA
                        for text in paragraph.findall(nodes.Text))
        for sentence in re.split(r"(?<=[.?!]) ", " ".join(words.split())):
            if sentence == "What to see.":  # from here on it speaks of a figure
                return
            first, last = sentence[:1], sentence[-1:]
            if last in tuple(".?!") and (first in tuple("\"\u201c") or first.isupper()) and FORMULA not in sentence:
                yield sentence


def add_meta(app, pagename, templatename, context, doctree):
    title, about = context.get("title", ""), description(doctree) if doctree else ""
    meta = [("description", about), ("og:title", re.sub("<[^>]+>", "", title)), ("og:description", about),
            ("og:type", "article"), ("og:site_name", app.config.html_title)]
    if base_address():
        meta += [("og:url", f"{base_address()}{pagename}.html"), ("og:image", base_address() + PICTURE),
                 ("twitter:card", "summary_large_image")]
    context["book_policy"] = POLICY
    context["book_root"] = urlsplit(base_address() or "/").path
    context["book_meta"] = [(name, content) for name, content in meta if content]


def collect(app):
    """The page that GitHub Pages shows for an address that is none."""
    yield "404", {"title": "Not here", "body": ""}, "404.html"


def list_pages(app, error):
    """sitemap.xml and robots.txt, where the address is known."""
    if error or app.builder.format != "html" or not base_address():
        return
    pages = [f"<url><loc>{escape(base_address())}{name}.html</loc></url>" for name in sorted(app.env.found_docs)]
    Path(app.outdir, "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        + "\n".join(pages) + "\n</urlset>\n", "utf8")
    Path(app.outdir, "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {base_address()}sitemap.xml\n", "utf8")


def setup(app):
    app.connect("html-page-context", add_meta)
    app.connect("html-collect-pages", collect)
    app.connect("build-finished", list_pages)
