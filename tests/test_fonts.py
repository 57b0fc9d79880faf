"""The fonts of the site, cut to what it shows."""
from types import SimpleNamespace

import pytest
from fontTools.ttLib import TTFont

from _ext import fonts

PAGE = """<style>a::before { content: "à" }</style><p>Łukasz <code>é</code> <em>x</em> &rarr;
<math><semantics><mrow><mi>h</mi><mi class="hue-key">k</mi><mo>≤</mo><mi>ln</mi>
<msqrt><mn>2</mn></msqrt></mrow><annotation>h é</annotation></semantics></math></p>
<pre>ü</pre><script type="application/json">{"reply": "4 \\u00d7 2"}</script>"""


def original(name):
    return fonts.HERE / "fonts" / f"{(fonts.TEXT | fonts.MATH)[name]}.woff2"


def cut(name, codes):
    font = TTFont(original(name))
    fonts.subset_font(name, font, codes)
    return font


def test_what_a_page_shows_is_told_from_its_code_and_its_styles():
    text, formulas = fonts.visible_characters(PAGE)
    assert {ord(letter) for letter in "Łukasz→×x"} <= text and not {ord(letter) for letter in "éàü≤ℎ"} & text
    assert {0x210E, 0x1D458, ord("≤"), ord("√"), ord("l")} <= formulas
    assert not {ord(letter) for letter in "hkéŁ"} & formulas


@pytest.mark.parametrize("name", fonts.TEXT)
def test_a_text_font_is_cut_to_its_letters_and_weights_and_has_a_name_of_ours(name):
    font = cut(name, {ord("a"), ord("b")})
    assert set(font.getBestCmap()) == {ord("a"), ord("b")}
    axes = [(axis.axisTag, axis.minValue, axis.maxValue) for axis in font["fvar"].axes] if "fvar" in font else []
    assert axes == ([] if name in fonts.OF_ONE_WEIGHT else [("wght", *fonts.WEIGHTS)])
    names = {entry.nameID: entry.toUnicode() for entry in font["name"].names}
    assert names[1] == names[4] == name and "Reserved Font Name" in names[0]


def test_the_font_of_formulas_keeps_what_it_is_set_by():
    font = cut("Book Math", {ord("("), ord("√"), 0x1D44A})
    variants = font["MATH"].table.MathVariants
    roots = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(font.getBestCmap()[ord("√")])]
    names = [record.VariantGlyph for record in roots.MathGlyphVariantRecord]
    assert len(names) > 2 and len({font["hmtx"][name][0] for name in names}) == 1
    assert len(font.getGlyphOrder()) > 10                          # the parenthesis in all its heights
    whole = TTFont(original("Book Math"))
    assert font["hmtx"][font.getBestCmap()[0x1D44A]][0] > whole["hmtx"][whole.getBestCmap()[0x1D44A]][0]


def test_the_letters_of_formulas_are_as_high_as_those_of_the_text():
    heights = [TTFont(original(name))["OS/2"].sxHeight for name in ("Book Math", "Book Serif")]
    assert heights[0] == pytest.approx(heights[1], rel=.01)


@pytest.fixture
def site(tmp_path):
    (tmp_path / "html" / "_static").mkdir(parents=True)
    return SimpleNamespace(outdir=tmp_path / "html", srcdir=fonts.HERE.parent, builder=SimpleNamespace(format="html"))


def test_a_site_gets_its_fonts_and_a_character_without_one_is_a_warning(site, monkeypatch):
    warnings = []
    monkeypatch.setattr(fonts, "LOG", SimpleNamespace(warning=lambda words, *values: warnings.append(words % values)))
    (site.outdir / "index.html").write_text("<p>★ 字</p>" + PAGE, "utf8")
    fonts.write(site, None)
    assert len(warnings) == 1 and "U+5B57" in warnings[0]
    has = {path.stem: set(TTFont(path).getBestCmap()) for path in (site.outdir / "_static").glob("*.woff2")}
    assert set(has) == {"book-serif", "book-serif-italic", "book-sans", "book-math"}
    assert ord("★") in has["book-math"] and ord("a") not in has["book-math"] and ord("~") in has["book-serif"]
    monkeypatch.setattr(fonts, "subset_font", None)                        # the second time nothing is cut
    fonts.write(site, None)
