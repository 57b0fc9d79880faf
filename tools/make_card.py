"""Draws the card that is shown where a page is shared, _ext/static/card.png: python -m tools.make_card.

The front page's figure under the book's title: its own module draws it, in a browser and in the book's fonts, at the
size of the card.
"""
import base64
import json
import shutil

from playwright.sync_api import sync_playwright

from book import CHROMIUM, ROOT
from mha.widgets import HeadArcs

CARD = ROOT / "_ext" / "static" / "card.png"
FIGURE = HeadArcs
FONTS = {"Book Serif": "source-serif-4-latin-wght-normal", "Book Sans": "source-sans-3-latin-wght-normal"}
FACE = "@font-face {{ font-family: '{}'; font-weight: 200 900; src: url(data:font/woff2;base64,{}); }}"
# At the size of the card, in CSS pixels.
LOOK = """
  body { box-sizing: border-box; width: 1200px; height: 630px; margin: 0; padding: 34px 70px; overflow: hidden;
    background: #fffdf8; color: #1c2333; color-scheme: light; }
  h1 { margin: 0; font: 650 57px/1.2 "Book Serif"; }
  p { margin: 0; font: 400 29px/1.4 "Book Sans"; color: #565f75; }
  .mha-figure { width: 946px; margin-top: 18px; font: 400 15px/1.4 "Book Sans"; zoom: 1.12; }
  .mha-figure .legend { font-size: 19px; }
  .mha-figure svg text.word { font-size: 16.5px; }
  .mha-figure svg text.numbers { font-size: 16px; }
  .mha-figure svg { display: block; overflow: visible; }
  .mha-figure :is(.reset, .status, details) { display: none; }
"""
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><style>{style}</style></head><body>
<h1>Multi-head attention, by experiment</h1>
<p>An interactive textbook: turn every number, test every claim</p><div></div>
<script>{module}
const state = {state};
drawn.render({{ model: {{ get: (name) => state[name], on() {{}}, off() {{}} }}, el: document.querySelector("div") }});
</script></body></html>"""


def page():
    """The card as HTML."""
    folder = ROOT / "mha" / "widgets"
    faces = [FACE.format(name, base64.b64encode((ROOT / "_ext" / "fonts" / f"{file}.woff2").read_bytes()).decode())
             for name, file in FONTS.items()]
    sheets = [(folder / f"{name}.css").read_text("utf8") for name in ("common", FIGURE.module())]
    module = "".join((folder / f"{name}.js").read_text("utf8") for name in ("common", FIGURE.module()))
    state = {name: value for name, value in FIGURE().canvas.get_state().items() if not name.startswith("_")}
    return PAGE.format(style="\n".join([*faces, *sheets, LOOK]), state=json.dumps(state, default=str),
                       module=module.replace("export default", "const drawn ="))


def main():
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, CHROMIUM))),
                                            args=["--headless", "--no-sandbox", "--disable-gpu"])
        tab = chrome.new_page(viewport={"width": 1200, "height": 630})
        tab.set_content(page())
        tab.evaluate("document.fonts.ready")
        tab.screenshot(path=CARD)
        chrome.close()


if __name__ == "__main__":
    main()
