"""The built book as a browser meets it: served on 127.0.0.1, and everything else out of reach.

BOOK_HTML may name another built book than the one in _build/html.
"""
import functools
import gzip
import http.server
import json
import os
import re
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from _ext.formulas import set_symbols
from _ext.quotes import curly

ROOT = Path(__file__).parents[2]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html")).resolve()
SOURCES = ("_config.yml", "_toc.yml", "_ext", "chapters", "mha")
# What a server compresses, by how its address ends
COMPRESSED = (".html", ".css", ".js", ".svg", ".json", ".txt", "/")
# The first has no windows to draw, which saves half of the time.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


def chromium():
    """The path of a Chromium on this machine, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)


@functools.cache
def require_built():
    """Refuse to look at a book that is missing, or older than what it is made of."""
    front = HTML / "index.html"
    files = [file for name in SOURCES for file in [ROOT / name, *(ROOT / name).rglob("*")] if file.is_file()]
    newest = max(file.stat().st_mtime for file in files if "__pycache__" not in file.parts)
    if not front.exists() or front.stat().st_mtime < newest:
        raise RuntimeError(f"{HTML} is missing or older than its sources: run `python3 book.py build` first")


def as_read(text):
    """What a page shows of a text that the package says: its marks are curly and its symbols set, its code has no
    backticks.
    """
    words = curly(text).split("`")
    words[::2] = [re.sub(r"</?(i|su[bp])\b[^>]*>", "", set_symbols(part)) for part in words[::2]]
    return "".join(words)


def pages():
    """The address of every page of the built site, relative to its root."""
    require_built()
    return sorted(file.relative_to(HTML).as_posix() for file in HTML.rglob("*.html") if "_static" not in file.parts)


def chapters():
    """The pages that were notebooks: each has a copy of its source beside the site."""
    sources = HTML / "_sources"
    return sorted(file.relative_to(sources).with_suffix(".html").as_posix() for file in sources.rglob("*.ipynb"))


def live_figures(page):
    """The names of the live figures of a page, in order."""
    if '<figure class="live-figure"' not in (HTML / page).read_text("utf8"):
        return []
    states = HTML / "_static" / "figures" / f"states_of_{Path(page).stem}.js"
    named = re.findall(r'^figureStates\[(\d+)\] = .*?"figure":"([\w-]+)"', states.read_text("utf8"), re.M)
    return [name for _, name in sorted(named, key=lambda one: int(one[0]))]


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@contextmanager
def site(html=HTML, handler=Silent):
    """Serve a built book; gives its address."""
    if html == HTML:
        require_built()
    handler = functools.partial(handler, directory=html)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@contextmanager
def browser():
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
        yield chrome
        chrome.close()


# Frames pass when a test says so: everything that waits for one runs in flushFrames().
FRAMES = """
  const waiting = new Map();
  let count = 0;
  const real = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => {
    count += 1;
    waiting.set(count, callback);
    real(flushFrames);
    return count;
  };
  window.cancelAnimationFrame = (id) => waiting.delete(id);
  window.flushFrames = () => {
    while (waiting.size) {
      const now = [...waiting.values()];
      waiting.clear();
      now.forEach((callback) => callback(performance.now()));
    }
  };
"""
# Layout shifts that no reader caused, summed.
SHIFTS = """
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.layoutShift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
"""
# For those who look at all of a page: nothing on it waits for a bet.
WITHOUT_BETS = """
  try {
    const kept = JSON.parse(localStorage.getItem("mha") ?? '{"version": 2}');
    localStorage.setItem("mha", JSON.stringify({ ...kept, settings: { bets: "off" } }));
  } catch {}
"""
# A browser that lets no page keep anything
KEEPS_NOTHING = "Object.defineProperty(window, 'localStorage', { get() { throw Error(); } });"
# How far a page is wider than its window, or its text than its place, which may hide that from the window
OVERFLOW = """
  () => Math.max(...[...document.querySelectorAll(":root, .content")].map((el) => el.scrollWidth - el.clientWidth))
"""
# Put what a selector finds at the foot of the window; is all of it in the window?
TO_THE_FOOT = "(selector) => document.querySelector(selector).scrollIntoView({ block: 'end', behavior: 'instant' })"
IN_SIGHT = """
  (selector) => {
    const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
    return bottom > top && top > -1 && bottom < innerHeight + 1;
  }
"""
# All that was asked for by now is drawn and measured, and nothing moves any more
DRAWN = """
  async () => {
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
  }
"""
SETTLED = """
  async () => {
    await document.fonts.ready;
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    while (document.documentElement.matches(".figures-start")) await pause(20);
    await pause(100);
    return window.layoutShift;
  }
"""


def keeping(parts):
    """A script that puts these parts, as JSON, where the page keeps them, before it reads them."""
    text = '{"version": 2, %s}' % parts
    return f"localStorage.setItem('mha', {json.dumps(text)});"


class Visit:
    """One look at a page: its console errors and its requests to third parties are kept."""

    def __init__(self, chrome, address, path, width=1200, scheme="light", script="", fonts=True, bets=False,
                 motion="reduce"):
        self.context = chrome.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme,
                                          reduced_motion=motion)
        self.errors, self.foreign, self.requested, self.address = [], [], [], address
        if not fonts:                                 # as on a slow line: the page keeps the reader's own font
            self.context.route("**/*.woff2", lambda route: route.abort())
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.note(request.url))
        self.page.add_init_script(SHIFTS + script + ("" if bets else WITHOUT_BETS))
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.load(path)

    def load(self, path):
        self.path = path
        self.page.goto(self.address + path, wait_until="load")
        self.shift = self.page.evaluate(SETTLED)      # how far the page moved while it loaded

    def go(self, path):
        """To another page, or another place of this one, as one who has read none."""
        self.page.evaluate("[localStorage, sessionStorage].forEach((store) => store.clear())")
        self.page.emulate_media(media="screen")
        self.page.goto("about:blank")                 # a place of the same page would not load it
        for noted in (self.errors, self.foreign, self.requested):
            noted.clear()
        self.load(path)

    def note(self, url):
        (self.requested if url.startswith((self.address, "blob:", "data:")) else self.foreign).append(url)

    def weight(self):
        """Of all that was requested: KiB plain, KiB as sent by a server that compresses, and the number of requests."""
        plain = packed = 0
        own = [url for url in self.requested if url.startswith("http")]
        for url in own:
            body = self.context.request.get(url).body()
            plain += len(body)
            packed += len(gzip.compress(body)) if url.split("?")[0].endswith(COMPRESSED) else len(body)
        return plain / 1024, packed / 1024, len(own)

    def close(self):
        self.context.close()
