"""What is asked of any page, all of it in one visit: each question has a list of faults for its answer."""
import json

from axe_playwright_python.sync_playwright import Axe

import served

# The claims are quoted, and the works named, as their authors and BibTeX typed them
AS_TYPED = ("chapters/A_folklore.html", "chapters/bibliography.html")
FURNITURE = ("chapters/index.html", "chapters/05_masks.html")

# Everything that shows something must have a name for who cannot see it; everything operated must say what it does.
UNNAMED = """
  () => {
    const text = (node) => (node?.textContent ?? "").trim();
    const byId = (ids) => (ids ?? "").split(" ").map((id) => text(document.getElementById(id))).join("");
    const named = (el) => el.getAttribute("aria-label") || byId(el.getAttribute("aria-labelledby")) || el.title || "";
    const drawn = (el) => el.getClientRects().length && !el.closest('[aria-hidden="true"]')
      && getComputedStyle(el).visibility === "visible";
    const all = (selector) => [...document.querySelectorAll(selector)].filter(drawn);
    const pictures = all("img, svg").filter((el) => !el.parentElement.closest('svg, [role="img"]'))
      .filter((el) => !(el.alt || named(el) || text(el.querySelector(":scope > title"))));
    const controls = all("input, select, textarea, button, [role=slider]")
      .filter((el) => !(named(el) || [...(el.labels ?? [])].map(text).join("")
        || (el.tagName === "BUTTON" && text(el))));
    return [...pictures, ...controls].map((el) => el.outerHTML.slice(0, 160));
  }
"""

# Words in a picture, in pixels of the screen.
SMALL = """
  () => [...document.querySelectorAll("figure.picture svg text")].filter((el) => el.getClientRects().length)
    .map((el) => {
      const { a, b } = el.getScreenCTM();
      return [parseFloat(getComputedStyle(el).fontSize) * Math.hypot(a, b), el.textContent];
    })
    .filter(([size]) => size < 8).map(([size, text]) => `${size.toFixed(1)} px: ${text}`)
"""

# Boxes as light as paper, where the page is dark. Pictures keep their colours.
BRIGHT = """
  () => {
    const page = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const known = {};
    const light = (colour) => (known[colour] ??= isLight(colour));
    const isLight = (colour) => {
      page.clearRect(0, 0, 1, 1);
      page.fillStyle = colour;
      page.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = page.getImageData(0, 0, 1, 1).data;
      return a > 127 && (r + g + b) / 3 > 160;
    };
    const large = (el) => el.clientWidth * el.clientHeight > 10000;
    return [...document.querySelectorAll("article *:not(svg *)")]
      .filter((el) => large(el) && light(getComputedStyle(el).backgroundColor))
      .map((el) => el.outerHTML.slice(0, 160));
  }
"""


# Words outside code, printed tables and the names of controls, which are Python's, and all that the page may still say,
# without what stands in its code: those with straight quotation marks
STRAIGHT = """
  () => {
    const code = "code, pre, script, style, textarea, select, noscript, annotation, input, .live-control label, "
      + ".cell_output table:not(.live-figure *)";
    const found = [];
    const walk = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { data, parentElement } = walk.currentNode;
      if (data.length > 1 && !parentElement.closest(code)) found.push(data.trim());
    }
    const html = (text) => new DOMParser().parseFromString(text, "text/html").body;
    const texts = (data) => (typeof data === "string" ? [data] : Object.values(data ?? {}).flatMap(texts));
    for (const script of document.querySelectorAll("article script[type='application/json']")) {
      for (const text of texts(JSON.parse(script.textContent))) {
        if (text.startsWith(" ")) continue; // printed code
        const said = html(text.replace(/`[^`]*`/g, ""));
        said.querySelectorAll("code, .formula").forEach((el) => el.remove());
        found.push(said.textContent);
      }
    }
    return found.filter((text) => /["']/.test(text));
  }
"""

# Figures whose name is heard on themselves and on what stands in them, or not at all
NOT_NAMED_ONCE = """
  () => [...document.querySelectorAll(".live-figure")].filter((figure) => {
    const name = figure.getAttribute("aria-label");
    return [figure, ...figure.querySelectorAll("[aria-label]")]
      .filter((el) => el.getAttribute("aria-label") === name && !el.closest("[aria-hidden=true]")).length !== 1;
  }).map((figure) => figure.getAttribute("aria-label"))
"""

# A matrix whose letter is not as high in a figure as in the text
LOW = """
  () => [...document.querySelectorAll("article .formula")]
    .filter((el) => el.firstChild.data === "W" && el.querySelector("sub")).map((el) => el.outerHTML)
"""

# What a displayed formula needs and does not have of width; what a browser may break in a line cannot be cut.
CUT_FORMULAS = """
  () => [...document.querySelectorAll("article div.math")].filter((el) => el.scrollWidth > el.clientWidth)
    .map((el) => el.querySelector("annotation").textContent)
"""

# A formula from within which a reader copies up to the end of its paragraph, where it does not come as TeX
NOT_TEX = """
  () => {
    const formula = document.querySelector("article p math");
    if (!formula) return [];
    const range = document.createRange();
    range.setStart(formula.querySelector("mi, mn, mtext"), 0);
    range.setEndAfter(formula.closest("p"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    const event = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    document.dispatchEvent(event);
    getSelection().removeAllRanges();
    const [text, html] = ["text/plain", "text/html"].map((kind) => event.clipboardData.getData(kind));
    const tex = formula.querySelector("annotation").textContent;
    return text.startsWith(`$${tex}$`) && html.includes("<math") ? [] : [text, html];
  }
"""

DEAD = "() => [...document.querySelectorAll('.live-figure:not(.is-live)')].map((el) => el.outerHTML.slice(0, 160))"

# Figures that are not as tall as the room kept until they lived: tests/browser/heights.py measures anew.
OTHER_ROOM = """
  () => [...document.querySelectorAll(".live-figure > .live-vbox")]
    .map((box) => [box.querySelector("[data-figure]").dataset.figure, box.offsetHeight,
                   parseFloat(box.style.getPropertyValue(`--at-${innerWidth}`))])
    .filter(([, height, kept]) => !(Math.abs(height - kept) < 24))
"""

# What of the text and its controls lies outside the window and in no box that scrolls.
OUTSIDE = """
  () => {
    const scrolls = (el) => el.parentElement.closest("pre, .table-wrapper, .wide, svg, math");
    const out = ({ left, right }) => left < -1 || right > document.documentElement.clientWidth + 1;
    return [...document.querySelectorAll("article *")]
      .filter((el) => el.getClientRects().length && out(el.getBoundingClientRect()) && !scrolls(el))
      .map((el) => el.outerHTML.slice(0, 160));
  }
"""

# With the reader's own few colours: small matrices without frames
UNFRAMED = """
  () => [...document.querySelectorAll(".mha-figure .small-matrix tbody td")]
    .filter((el) => getComputedStyle(el).outlineStyle === "none").map((el) => el.outerHTML)
"""

# On paper: what is operated on a screen, and what would tell the answer of an exercise
NOT_ON_PAPER = """
  () => {
    const shown = (el) => el.getClientRects().length;
    const unwanted = `
      .skip-to-content, .progress-panel, .on-colab, .headerlink, .ask-reply, .mha-figure .reset,
      article :is(details, summary, input, textarea, button):not(.live-view *, .exercise .numbers, .try, .fold,
        .fold > summary), .sidebar-drawer, .content-icon-container, .related-pages, .live-control input[type=range]`;
    return [...document.querySelectorAll(unwanted)].filter(shown).map((el) => el.outerHTML.slice(0, 120));
  }
"""
# What of a printed page does not look as paper asks
NOT_AS_PAPER = """
  () => {
    const [look, all] = [getComputedStyle, (selector) => [...document.querySelectorAll(selector)]];
    const wanted = {
      "says its address": document.querySelector(".on-paper").getClientRects().length,
      "has its title": document.querySelector("article h1").getClientRects().length,
      "is white": look(document.body).backgroundColor === "rgb(255, 255, 255)",
      "has black code": all("article .highlight span").every((el) => look(el).color === "rgb(0, 0, 0)"),
      "has all of its code": all("article pre").every((el) => el.scrollHeight <= el.clientHeight + 2),
      "has the figures": all(".live-figure :is(.live-canvas:not(.staged) .live-view, .show-still)")
        .every((el) => el.clientHeight > 50),
      "has controls of one line": all(".live-hbox").every((el) => look(el).display === "contents"),
    };
    return Object.keys(wanted).filter((what) => !wanted[what]);
  }
"""

# All of axe's rules, by their tags: what it leaves out unless asked, too, such as its experiments and 7 to 1 for text.
AXE = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": [
    "wcag2a", "wcag2aa", "wcag2aaa", "wcag21a", "wcag21aa", "wcag22aa", "wcag2a-obsolete", "best-practice",
    "experimental"]}}
# Colours take most of axe's time. It is asked of one word for each look that words have (colour, size, weight, and the
# grounds that it lies on), once for all pages; in a figure also for each class. One rule finds contrast below 4.5 to 1,
# the other what lies between that and 7 to 1.
COLOURS = "color-contrast", "color-contrast-enhanced", "link-in-text-block"
OF_SIZES = "target-size", "scrollable-region-focusable", "css-orientation-lock", "meta-viewport"
SIZES = AXE | {"runOnly": {"type": "rule", "values": (*OF_SIZES, *COLOURS)}}
ALL = AXE | {"rules": {"hidden-content": {"enabled": False}}}  # it only asks
# One run for all rules, for each measures the whole page: what a rule about colours looks at is said to the rule. A
# drawing that has a name is one thing to it.
OF_A_LOOK = [{"id": rule, "selector": f"{what}[data-look], [data-look] {what or '*'}"}
             for rule, what in zip(COLOURS, ("", "", "a[href]"))]
RUN = """
  async (options) => {
    axe.configure({ rules: %s });
    const drawings = [...document.querySelectorAll("svg[aria-label]:not(.live-figure *, :has(a, [tabindex]))")]
      .map((svg) => [svg, [...svg.childNodes]]);
    drawings.forEach(([svg]) => svg.replaceChildren());
    const { violations } = await axe.run(document, options);
    drawings.forEach(([svg, parts]) => svg.append(...parts));
    return violations.flatMap(({ id, impact, nodes }) => nodes.map(({ target, html }) => [id, impact, target, html]));
  }
""" % json.dumps(OF_A_LOOK)
ONE_OF_A_LOOK = """
  (known) => {
    const seen = new Set(known);
    const speaks = (el) => [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const grounds = new Map([[null, []]]);
    function groundsOf(el) {
      if (!grounds.has(el)) {
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(el);
        const own = [backgroundColor, backgroundImage, opacity];
        const below = groundsOf(el.parentElement);
        grounds.set(el, String(own) === "rgba(0, 0, 0, 0),none,1" ? below : [...own, ...below]);
      }
      return grounds.get(el);
    }
    for (const el of document.body.querySelectorAll("*:not(svg:not(.live-figure *) *)")) {
      if (!speaks(el) || !el.getClientRects().length) continue;
      const { color, fill, fontSize, fontWeight } = getComputedStyle(el);
      const figure = el.closest("[data-figure]");
      const look = [el.tagName === "A", color, fontSize, fontWeight];
      if (figure) look.push(fill, figure.dataset.figure, el.tagName, el.getAttribute("class"));
      look.push(...groundsOf(el));
      if (!seen.has(String(look))) el.dataset.look = "";
      seen.add(String(look));
    }
    return [...seen];
  }
"""
KNOWN_LOOKS = set()

IN_ANY_WINDOW = {"without a name": UNNAMED, "too small to read": SMALL, "dead": DEAD, "a cut formula": CUT_FORMULAS,
                 "run tests/browser/heights.py": OTHER_ROOM}
IN_ONE = {"a straight quotation mark": STRAIGHT, "a figure not named once": NOT_NAMED_ONCE, "a low W": LOW,
          "not copied as TeX": NOT_TEX}


def inspect(visit, path):
    """All faults of a page, as {what was asked: list}, in a visit that is wide or narrow, and in the end as it was."""
    page, wide = visit.page, visit.page.viewport_size["width"] > 1000
    scripts = IN_ANY_WINDOW | IN_ONE if wide else IN_ANY_WINDOW
    found = {what: page.evaluate(script) for what, script in scripts.items()}
    found |= {"moves while it loads": above(0.05, visit.shift), "too wide": too_wide(page)}
    if path in AS_TYPED:
        found.pop("a straight quotation mark", None)
    page.emulate_media(color_scheme="dark")
    found["light in the dark"] = page.evaluate(BRIGHT)
    found |= in_other_media(page, path) if wide else magnified(page)
    # Before axe, which asks the server for style sheets at addresses of its own making.
    found |= {"error": list(visit.errors), "asked of a third party": list(visit.foreign)}
    for scheme in ("dark", "light"):
        if rules := axe_rules(path, wide, scheme):
            page.emulate_media(color_scheme=scheme)
            found[f"axe, {scheme}"] = axe(page, rules)
    page.emulate_media(color_scheme="light")
    page.evaluate("document.querySelectorAll('details').forEach((el) => { el.open = false; })")
    visit.errors.clear()
    return found


def above(most, number):
    return [number] if number > most else []


def too_wide(page):
    return above(0, page.evaluate(served.OVERFLOW))


def in_other_media(page, path):
    """What is wrong in forced colours and, of a chapter, on paper."""
    page.emulate_media(forced_colors="active")
    found = {"without a frame in forced colours": page.evaluate(UNFRAMED)}
    page.emulate_media(forced_colors="none", media="print")
    if path in served.chapters():
        found |= {"to be clicked on paper": page.evaluate(NOT_ON_PAPER), "not so on paper": page.evaluate(NOT_AS_PAPER)}
    page.emulate_media(media="screen")
    return found


def magnified(page):
    """What is cut at 200 and at 400 percent of a screen of 1200."""
    size, found = page.viewport_size, {}
    for width in (600, 320):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(served.DRAWN)
        found |= {f"outside at {width}": page.evaluate(OUTSIDE), f"too wide at {width}": too_wide(page),
                  f"a formula cut at {width}": page.evaluate(CUT_FORMULAS)}
    page.set_viewport_size(size)
    page.evaluate(served.DRAWN)
    return found


def axe_rules(path, wide, scheme):
    """The rules by which axe, the slowest of all checks, looks at a page on one of four screens.

    An article has the same colours at each width and the same structure in each scheme: all rules on one screen, and on
    another those about colours and sizes, show all of it. What stands around the article is the same on every page, so
    all rules on four screens are needed on FURNITURE alone.
    """
    if path in FURNITURE or (wide and scheme == "dark"):
        return ALL
    return None if wide or scheme == "dark" else SIZES


def axe(page, rules=ALL):
    """What axe finds wrong by these rules and in colours, with all that is folded unfolded."""
    page.evaluate("document.querySelectorAll('details').forEach((el) => { el.open = true; })")
    KNOWN_LOOKS.update(page.evaluate(ONE_OF_A_LOOK, sorted(KNOWN_LOOKS)))
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    return [f"{rule} ({impact}): {target} {html[:120]}" for rule, impact, target, html in page.evaluate(RUN, rules)]
