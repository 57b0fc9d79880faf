"""Measures how tall each live figure is in windows of several widths, and stores it for the build in _ext/heights.json.

    .venv/bin/python tests/browser/heights.py [05_masks ...]       of every page that has figures, or of those named

Run it after the book is built, when a figure has changed its height: a page keeps that room until the figure lives.
"""
import json
import sys
from pathlib import Path

import served

STORED = Path(__file__).parents[2] / "_ext" / "heights.json"
HEIGHTS = "() => [...document.querySelectorAll('.live-figure > .live-vbox')].map((box) => box.offsetHeight)"


def measure(chrome, address, page, widths):
    """[[height, in px, of a figure at each of the widths], for each figure of the page]"""
    visit = served.Visit(chrome, address, page)
    rows = []
    for width in widths:
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.evaluate(served.DRAWN)
        rows.append(visit.page.evaluate(HEIGHTS))
    visit.close()
    return [list(heights) for heights in zip(*rows)]


def main(wanted):
    stored = json.loads(STORED.read_text("utf8"))
    pages = {Path(page).stem: page for page in served.pages() if served.live_figures(page)}
    with served.site() as address, served.browser() as chrome:
        for name in wanted or pages:
            stored["pages"][name] = measure(chrome, address, pages[name], stored["widths"])
            print(name, *stored["pages"][name], flush=True)
    kept = [f"{json.dumps(name)}: {heights}" for name, heights in sorted(stored["pages"].items())
            if wanted or name in pages]                             # a build of a few pages knows of no other
    STORED.write_text(f'{{"widths": {stored["widths"]},\n"pages": {{\n' + ",\n".join(kept) + "\n}}\n", "utf8")


if __name__ == "__main__":
    main(sys.argv[1:])
