"""What can be asked of any page: errors, requests, layout, names, contrast, words that can be read."""
from axe_playwright_python.sync_playwright import Axe

import served

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
    const light = (colour) => {
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


# All of axe's rules, by their tags: what it leaves out unless asked, too, such as its experiments and 7 to 1 for text.
AXE = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": [
    "wcag2a", "wcag2aa", "wcag2aaa", "wcag21a", "wcag21aa", "wcag22aa", "wcag2a-obsolete", "best-practice",
    "experimental"]}}
# Contrast takes most of axe's time. It is asked of each word of a figure; of the text around, of one word for each look
# that words have (colour, size, weight, and the grounds that it lies on). One rule finds what is below 4.5 to 1, the
# other what lies between that and 7 to 1.
CONTRAST = "color-contrast", "color-contrast-enhanced"
OF_SIZES = "target-size", "scrollable-region-focusable", "link-in-text-block", "css-orientation-lock", "meta-viewport"
SIZES_ALONE = AXE | {"runOnly": {"type": "rule", "values": OF_SIZES}}
ALL_BUT_CONTRAST = AXE | {"rules": {rule: {"enabled": False} for rule in CONTRAST}}
CONTRAST_ALONE = AXE | {"runOnly": {"type": "rule", "values": CONTRAST}}
ONE_OF_A_LOOK = """
  () => {
    const seen = new Set();
    const speaks = (el) => [...el.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    for (const el of document.body.querySelectorAll("*:not(svg *, .live-figure *)")) {
      if (!speaks(el) || !el.getClientRects().length) continue;
      const { color, fontSize, fontWeight } = getComputedStyle(el);
      const look = [color, fontSize, fontWeight];
      for (let on = el; on; on = on.parentElement) {
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(on);
        look.push(backgroundColor, backgroundImage, opacity);
      }
      if (!seen.has(String(look))) el.dataset.look = "";
      seen.add(String(look));
    }
  }
"""
WHERE = {"include": [["[data-look]"], [".live-figure"]]}


def inspect(visit, all_rules):
    """All findings on one page, by name of the check; axe's by all of its rules, by few, or (None) not asked for."""
    page = visit.page
    # Before axe, which asks the server for style sheets at addresses of its own making.
    errors, foreign = list(visit.errors), list(visit.foreign)
    found = {
        "errors": errors,
        "foreign": foreign,
        "shift": page.evaluate("window.layoutShift"),
        "overflow": page.evaluate(served.OVERFLOW),
        "unnamed": page.evaluate(UNNAMED),
        "small": page.evaluate(SMALL),
        "bright": page.evaluate(BRIGHT),
        "dead": page.evaluate("document.querySelectorAll('.live-figure:not(.is-live)').length"),
    }
    return found | {"axe": None if all_rules is None else axe(page, all_rules)}


def axe(page, all_rules=True):
    """What axe finds wrong, with all that is folded unfolded; not all_rules: with colours and sizes alone."""
    page.evaluate("document.querySelectorAll('details').forEach((el) => { el.open = true; })")
    page.evaluate(ONE_OF_A_LOOK)
    rules = ALL_BUT_CONTRAST if all_rules else SIZES_ALONE
    violations = [violation for asked in ({"options": rules}, {"options": CONTRAST_ALONE, "context": WHERE})
                  for violation in Axe().run(page, **asked).response["violations"]]
    return [f"{violation['id']} ({violation['impact']}): {node['target']} {node['html'][:120]}"
            for violation in violations for node in violation["nodes"]]
