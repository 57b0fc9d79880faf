"""Holds the place of each formula until MathJax has set it, so that the text does not jump.

Before that, a formula stands in the page as TeX, which is longer: "\\\\sqrt{d_k}" for two letters under a root. Its
width is guessed here, to about a tenth, and book.css keeps so much room and shows nothing in it. Without JavaScript,
or when MathJax does not come, the TeX is shown.
"""
import re
from html import unescape

INLINE = re.compile(r'<span class="math notranslate nohighlight">\\\((.*?)\\\)</span>', re.S)
DISPLAY = re.compile(r'<div class="math notranslate nohighlight"( id="[^"]*")?>(.*?)</div>', re.S)
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([{}^_&])|(\s+)|(.)", re.S)
# In hundredths of an em, as MathJax's italic has them.
LETTERS = dict(zip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", map(int, (
    "53 43 43 52 47 49 48 58 35 41 52 30 88 60 48 50 46 45 47 36 57 48 72 57 49 47 "
    "75 76 71 83 74 64 79 85 44 55 85 68 97 80 76 64 79 76 61 70 68 75 105 83 58 68").split())))
SIGNS = {"(": 39, ")": 39, "[": 28, "]": 28, ",": 45, ".": 28, "|": 28, "'": 28, "/": 50, "sqrt": 85, "sum": 123,
         "cdot": 72, "times": 122, "+": 122, "-": 100,
         "ldots": 117, "top": 78, ";": 45, "quad": 100, "qquad": 200, "!": 0}
RELATIONS = {"=", "<", ">", "leq", "le", "geq", "ge", "neq", "ne", "approx", "in", "to", "rightarrow", "mapsto",
             "propto", "sim"}
UPRIGHT = {"mathrm", "text", "mathbf", "operatorname", "mathbb", "mathcal"}
NO_WIDTH = UPRIGHT | {"left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "hat", "bar", "tilde", "frac",
                      "tfrac", "dfrac", "displaystyle", "limits"}
NAMES = {"exp", "log", "ln", "max", "min", "sin", "cos", "dim", "Pr", "lim", "arg"}
# MathJax matches its letters to the height of the text's; a sub- or superscript is smaller.
SCALE, SMALL, SANS = 1.075, 0.71, 46


def width_of(tex):
    """About how wide MathJax sets a formula, in em."""
    return SCALE / 100 * sum(width * SMALL**depth for width, depth in signs(unescape(tex)))


def signs(tex):
    """Each sign's width, and how deep it stands in sub- and superscripts."""
    groups, script, upright = [(0, False)], 0, False
    for command, mark, space, sign in TOKEN.findall(tex):
        depth, in_text = groups[-1]
        if mark == "{":
            groups.append((depth + script, in_text or upright))
        elif mark == "}" and len(groups) > 1:
            groups.pop()
        elif command or sign:
            yield sign_width(command or sign, in_text), depth + script
        # A script or an alphabet holds for the next sign or group.
        script, upright = (mark in ("^", "_")) or (script and command in UPRIGHT), command in UPRIGHT


def sign_width(name, in_text):
    if name in NO_WIDTH:
        return 0
    if name in RELATIONS:
        return 133
    if name in NAMES:
        return 48 * len(name) + 17
    if in_text and name.isalpha():
        return SANS
    return SIGNS.get(name) or LETTERS.get(name, 52)


def height_of(tex):
    """About how high a displayed formula is, in em."""
    return sum(2.7 if re.search(r"\\(d?frac|sum|prod|int|begin)", row) else 1.6 for row in tex.split(r"\\"))


def inline(match):
    return ('<span class="math notranslate nohighlight" style="--width: '
            f'{width_of(match[1]):.2f}em">\\({match[1]}\\)</span>')


def display(match):
    return (f'<div class="math notranslate nohighlight"{match[1] or ""} style="--height: '
            f'{height_of(match[2]):.1f}em">{match[2]}</div>')


def reserve(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = DISPLAY.sub(display, INLINE.sub(inline, context["body"]))


def setup(app):
    app.connect("html-page-context", reserve)
