"""Cuts each font to the characters that the site shows, once all pages are written.

The whole fonts stand in _ext/fonts. By their licence, what is cut from one may not carry its name, so it has one of
ours. A character that none of the fonts has is a warning, and so fails the build. Code is not looked at: it is shown in
the reader's own font.
"""
import functools
import hashlib
import html
import re
import string
from io import BytesIO
from logging import WARNING, getLogger
from pathlib import Path
from unicodedata import decomposition

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from sphinx.util import logging

LOG = logging.getLogger(__name__)
getLogger("fontTools").setLevel(WARNING)        # it tells every table that it cuts, which buries the build's own words
HERE = Path(__file__).parent
# What book.css uses: from the weight of prose to that of theirs for <b>. What is slanted is in the weight of prose: two
# weights of it would make 10 KiB more of each page.
WEIGHTS = (400, 700)
OF_ONE_WEIGHT = {"Book Serif Italic": WEIGHTS[0]}
TEXT = {
    "Book Serif": "source-serif-4-latin-wght-normal",
    "Book Serif Italic": "source-serif-4-latin-wght-italic",
    "Book Sans": "source-sans-3-latin-wght-normal",
}
MATH = {"Book Math": "stix-two-math"}
FEATURES = ("ccmp", "kern", "liga", "locl", "mark", "mkmk", "tnum")
# Copyright, licence and the names.
NAMES = (0, 1, 2, 4, 6, 13, 14)
# A browser shows a letter alone in <mi> as the slanted one of Unicode's mathematical alphabets.
SLANTED = {int(decomposition(chr(code)).split()[-1], 16): code
           for code in (0x210E, *range(0x1D434, 0x1D455), *range(0x1D456, 0x1D468), *range(0x1D6E2, 0x1D71C))}

UNSEEN = re.compile(r"<(style|pre|code|annotation)\b.*?</\1>", re.S)
FORMULA = re.compile(r"<math\b.*?</math>", re.S)
TAG = re.compile(r"<[^>]*>")
LETTER = re.compile(r'<mi(?: class="[\w-]+")?>(.)</mi>')
NUMBERS = re.compile(r'"[^" ]{400,}"')             # of a figure, packed as signs by mha/widgets/figure.py
ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


def visible_characters(page):
    """The characters that a page shows in its text, and those in its formulas."""
    page = NUMBERS.sub("", UNSEEN.sub("", page))
    formulas = "".join(FORMULA.findall(page))
    text = html.unescape(TAG.sub("", FORMULA.sub("", page)))
    # What scripts write later stands in the page too.
    text += "".join(chr(int(code, 16)) for code in ESCAPE.findall(page))
    signs = html.unescape(TAG.sub("", LETTER.sub("", formulas))) + "√" * ("<msqrt>" in formulas)
    slanted = {SLANTED.get(ord(letter), ord(letter)) for letter in LETTER.findall(formulas)}
    return set(map(ord, text)), slanted | set(map(ord, signs))


def subset_font(name, font, codes):
    """Make a font into one of that name, with these characters and no others."""
    options = subset.Options(layout_features=list(FEATURES), hinting=False, notdef_outline=True, name_IDs=list(NAMES))
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    if "MATH" in font:
        make_room_for_exponents(font)
        narrow_roots(font)
    if "fvar" in font:
        instancer.instantiateVariableFont(font, {"wght": OF_ONE_WEIGHT.get(name, WEIGHTS)}, inplace=True)
    for entry in font["name"].names:
        if entry.nameID in (1, 4, 6):
            entry.string = name if entry.nameID != 6 else name.replace(" ", "")
    font.flavor = "woff2"


@functools.cache
def instance(path, weight):
    """The bytes of a cut font at one of its weights, with a name of its own."""
    font = instancer.instantiateVariableFont(TTFont(path), {"wght": weight})
    for entry in font["name"].names:
        if entry.nameID in (1, 4, 6):
            entry.string = f"{entry}{'-' if entry.nameID == 6 else ' '}{weight}"
    font.save(made := BytesIO())
    return made.getvalue()


def make_room_for_exponents(font):
    """Widens slanted letters by half of what they lean over: Chromium lets W touch what stands above it."""
    leaning = font["MATH"].table.MathGlyphInfo.MathItalicsCorrectionInfo
    for name, room in zip(leaning.Coverage.glyphs, leaning.ItalicsCorrection):
        half = max(room.Value, 0) // 2
        advance, left = font["hmtx"][name]
        font["hmtx"][name] = advance + half, left
        room.Value -= half


def narrow_roots(font):
    """Makes tall roots as narrow as a low one: Chromium keeps room for the widest beside each."""
    root = font.getBestCmap().get(ord("√"))
    if not root:
        return
    variants = font["MATH"].table.MathVariants
    drawn = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(root)]
    width = font["hmtx"][root][0]
    parts = drawn.GlyphAssembly.PartRecords if drawn.GlyphAssembly else []
    for name in {part.glyph for part in parts} | {record.VariantGlyph for record in drawn.MathGlyphVariantRecord}:
        advance, left = font["hmtx"][name]
        glyph, scale = font["glyf"][name], width / advance
        glyph.coordinates.scale((scale, 1))
        glyph.coordinates.toInt()
        glyph.recalcBounds(font["glyf"])
        font["hmtx"][name] = width, glyph.xMin


def cached_subset(name, source, codes, store):
    """The cut font's bytes; made once for the same characters, since it takes seconds."""
    key = hashlib.sha256(b"".join((source.read_bytes(), repr(sorted(codes)).encode(), Path(__file__).read_bytes())))
    path = store / f"{key.hexdigest()}.woff2"
    if not path.exists():
        font = TTFont(source)
        subset_font(name, font, codes)
        store.mkdir(parents=True, exist_ok=True)
        font.save(path)
    return path.read_bytes()


def write(app, error):
    if error or app.builder.format != "html":
        return
    site = Path(app.outdir)
    scripts = [*(HERE / "static").glob("*.js"), *site.glob("_static/figures/*.js")]
    text, formulas = set(map(ord, string.printable.strip())), set()
    for path in [*site.rglob("*.html"), *scripts]:
        of_text, of_formulas = visible_characters(path.read_text("utf8"))
        text |= of_text
        formulas |= of_formulas
    source = {name: HERE / "fonts" / f"{file}.woff2" for name, file in (TEXT | MATH).items()}
    has = {name: set(TTFont(path).getBestCmap()) for name, path in source.items()}
    letters = set.intersection(*(has[name] for name in TEXT))
    # A sign that the fonts of the text lack comes from that of the formulas, and a formula's words and numbers from
    # those of the text.
    formulas = (formulas | (text - letters)) - set(map(ord, string.ascii_letters + string.digits))
    for code in sorted(formulas - has["Book Math"]):
        if not chr(code).isspace():
            LOG.warning("no font of the book has %r (U+%04X): put one that has it into _ext/fonts", chr(code), code)
    for name in source:
        codes = formulas if name in MATH else text
        made = cached_subset(name, source[name], codes & has[name], site.parent / "fonts")
        (site / "_static" / f"{name.lower().replace(' ', '-')}.woff2").write_bytes(made)


def setup(app):
    app.connect("build-finished", write)
