"""Pictures: drawn with ink that follows the page, and with the numbers that they show as text."""
import math
import re
import xml.etree.ElementTree as xml

import pytest
import torch

from mha import viz
from mha.viz.picture import OCHRE


def waves(*shape):
    """Numbers between -1 and 1 that are the same whenever a picture is drawn."""
    return torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape).sin()


WEIGHTS = waves(3, 4, 5).softmax(-1)
KEYS = [f"key {j}" for j in range(5)]
PICTURES = {
    "bars": lambda: viz.bars(KEYS, scores=torch.arange(5.0) - 2, weights=WEIGHTS[0, 0]),
    "one map": lambda: viz.heatmaps(WEIGHTS[0], list("abcd"), keys=KEYS),
    "maps": lambda: viz.heatmaps(WEIGHTS, list("abcd"), keys=KEYS),
    "curves": lambda: viz.curves(torch.arange(1.0, 9), "x", "y", log=True, a=waves(8).square(), b=waves(8).exp()),
    "matrix": lambda: viz.matrix(waves(4, 6), "a matrix", cuts=(3,)),
    "matrix with names": lambda: viz.matrix(waves(3, 3), "a matrix", names=["a", "b", "c"]),
    "matrix with names of rows": lambda: viz.matrix(waves(2, 9), "a matrix", row_names=["a", "b"]),
    "lookup": lambda: viz.lookup(KEYS, waves(5, 2), -waves(5, 2), waves(2), waves(5), WEIGHTS[0, 0], -waves(2)),
    "dots": lambda: viz.dots(list("abc"), "loss", lines=[(0.7, "a bound")], one=waves(3, 8).square(),
                             two=waves(3, 8).exp()),
    "histograms": lambda: viz.histograms({"scores": (range(5), WEIGHTS[0, 0]), "weights": (range(5), WEIGHTS[0, 1])},
                                         "Two histograms.", {"spread": 1.5, "mean": 0.25, "median": 0.2}),
    "value map": lambda: viz.value_map(list("abcd"), waves(4, 2), -waves(4, 2), WEIGHTS[0, 0, :4], waves(2)),
    "arcs": lambda: viz.arcs(KEYS, WEIGHTS[0, :2], 1, ["this", "that"]),
    "stream": lambda: viz.stream(waves(6), waves(3, 6)),
    "head grid": lambda: viz.head_grid({"zero": waves(2, 3), "its mean": waves(2, 3).square()}, "Two by three heads.",
                                       least=0.2),
    "composition": lambda: viz.composition("1.0", "2.3", 0.7, {"queries": 0.6, "keys": 0.0, "values": 0.7}),
    "heights": lambda: viz.heights({"a circle": (list("abca"), waves(3)), "a mask": (list("ab"), [math.inf])}),
}


@pytest.fixture(params=PICTURES, scope="module")
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def picture(kind):
    return PICTURES[kind]()


def test_a_picture_is_valid_svg_in_the_ink_of_the_page(picture):
    assert xml.fromstring(picture.svg).tag.endswith("svg")
    assert "currentColor" in picture.svg and viz.INK not in picture.svg
    assert xml.fromstring(picture.svg).get("fill") == "currentColor" and "#000000" not in picture.svg


def test_its_text_is_one_sentence_and_a_table(picture):
    alt, blank, *table = picture.text.splitlines()
    assert alt.endswith(".") and not blank and len(table) > 3


def test_the_same_picture_is_drawn_twice_alike(kind, picture):
    assert PICTURES[kind]().svg == picture.svg


def test_long_labels_stay_inside_the_drawing():
    drawing = xml.fromstring(viz.heatmaps(torch.rand(2, 4, 4), list("abcd"), ["should be", "is"],
                                          keys=["real", "real", "filling", "filling"]).svg)
    height = float(drawing.get("viewBox").split()[3])
    texts = {e.text: e for e in drawing.iter("{http://www.w3.org/2000/svg}text")}
    label, title = texts["filling"].get("transform"), texts["should be"].get("y")
    assert float(label.strip(")").split()[-1]) + 20 <= height and float(title) > 9


def test_a_map_whose_rows_are_no_queries_says_what_it_shows():
    text = viz.heatmaps(WEIGHTS[0], list("abcd"), keys=KEYS, alt="Four heads on five relations.").text
    assert text.startswith("Four heads on five relations.\n") and "quer" not in text


def texts(picture):
    return [e.text for e in xml.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_map_has_its_numbers_where_they_fit_axes_with_names_and_one_key_to_the_colours():
    wide, many = viz.heatmaps(WEIGHTS[0], list("abcd"), keys=KEYS), viz.heatmaps(WEIGHTS, list("abcd"), keys=KEYS)
    assert {f"{w:.2f}" for w in WEIGHTS[0].flatten().tolist()} <= set(texts(wide))
    assert {text for text in texts(many) if re.fullmatch(r"0\.\d\d", text)} == {"0.05", "0.25"}
    for picture in (wide, many):
        assert all(texts(picture).count(word) == 1 for word in ("query", "key", "weight", "0.5"))


def test_labels_are_level_where_they_fit():
    short, long = (viz.heatmaps(WEIGHTS[0], list("abcd"), keys=[name] * 5).svg for name in ("cat", "catastrophe"))
    assert "rotate(-50" in long and "rotate(-50" not in short


def test_no_words_are_small():
    """12 px on a page of 1200, where a picture has its own width, of at most 46rem."""
    for name, draw in PICTURES.items():
        if name == "curves":                                   # on whose axis powers of ten have small exponents
            continue
        drawing = xml.fromstring(draw().svg)
        scale = min(1, 46 * 16 / (float(drawing.get("viewBox").split()[2]) * 4 / 3))
        sizes = [float(size) * 4 / 3 * scale for size in re.findall(r"font-size: ([\d.]+)px", draw().svg)]
        assert min(sizes) >= 11.99, name


def test_queries_keys_and_values_take_their_colours_from_the_page():
    svg = PICTURES["lookup"]().svg
    assert all(f"var(--{name}, #" in svg for name in ("query", "key", "value"))


def test_a_bundle_holds_both():
    data, _ = PICTURES["bars"]()._repr_mimebundle_()
    assert set(data) == {"image/svg+xml", "text/plain"}


@pytest.mark.parametrize("zero", [0.0, -0.0, 0.0004, -0.0004])
def test_what_rounds_to_zero_is_written_without_a_minus(zero):
    bars, heats = viz.bars(["a", "b"], 3, scores=[zero, -1.25]), viz.heatmaps(torch.tensor([[zero, 1.0]]), ["a", "b"])
    assert bars.text.split()[-4:] == ["a", "0.000", "b", "-1.250"]
    assert "0.000" in texts(bars) and "-0.000" not in heats.text
    assert viz.columns(["a"], 3, number=[zero]).rows[1] == ["a", "0.000"]


def widths(picture, colour):
    """How long the bars of one colour are drawn."""
    steps = re.findall(r"M ([\d.]+) [\d.]+ ?\n?L ([\d.]+) [^\"]*?\"[^>]*fill: var.--" + colour, picture.svg)
    return [abs(float(end) - float(start)) for start, end in steps]


@pytest.mark.parametrize("colour,series", [
    ("weight", {"weights": [0.35, 0.3], "printed_weights": [0.5, 0.2]}),
    ("stream", {"scores": [0.35, 0.3], "closeness": [0.5, 0.2]}),
])
def test_bars_of_one_kind_are_as_long_as_their_numbers_say(colour, series):
    long = widths(viz.bars(["a", "b"], **series), colour)
    assert len(long) == 4 and all(abs(w / long[2] - x / 0.5) < 1e-3 for w, x in zip(long, (0.35, 0.3, 0.5, 0.2)))


def test_a_grid_of_heads_writes_what_is_large_and_the_the_area_of_a_square_is_its_number():
    values = torch.tensor([[0.5, 0.01, -0.3], [0.2, 0.05, 1.0]])
    picture = viz.head_grid({"zero": values, "its mean": values / 2}, "Two by three heads.", least=0.05)
    assert sorted(text for text in texts(picture) if re.fullmatch(r"\d\.\d\d", text)) == [
        "0.05", "0.10", "0.20", "0.25", "0.50", "0.50", "1.00"]
    assert picture.text.splitlines()[3].split() == "zero, layer 0 0.500 0.010 -0.300".split()
    assert {"layer", "head"} <= set(texts(picture))
    paths = re.findall(r'<path d="([^"]*)"[^>]*style="fill: var.--stream', picture.svg)
    sides = [max(xs) - min(xs) for xs in ([float(x) for x in re.findall(r"[ML] ([\d.]+) ", path)] for path in paths)]
    assert len(sides) == 12 and sides[5] == max(sides) and abs(sides[0] / sides[5] - 0.5 ** 0.5) < 1e-3


def test_a_composition_says_what_is_left_without_each_projection():
    picture = viz.composition("1.0", "2.3", 0.71, {"queries": 0.62, "keys": 0.03, "values": 0.7})
    drawn = " ".join(texts(picture))
    assert all(f"{part} without it: {p}" in drawn for part, p in (("queries", "0.62"), ("keys", "0.03"),
                                                                  ("values", "0.70")))
    assert "0.71" in drawn and picture.text.splitlines()[-2].split() == ["keys", "0.03"]


def test_bars_of_what_are_no_keys_say_so_and_their_table_has_the_digits_of_the_picture():
    text = viz.bars(["a"], 1, "The costs of one.", costs=[0.25]).text
    assert text.startswith("The costs of one.\n") and text.split()[-1] == "0.2"


def test_each_step_of_the_stairs_climbs_from_the_height_of_the_last():
    text = viz.heights({"a circle": (list("aba"), [2.0, -2.0]), "a mask": (["c", "d"], [math.inf])}).text
    rows = [line.split()[-2:] for line in text.splitlines()[3:]]
    assert rows == [["2.000", "2.000"], ["-2.000", "0.000"], ["inf", "inf"]]


def test_a_circle_that_does_not_close_shows_by_how_much():
    closed, open_ = (viz.heights({"a circle": (list("aba"), [2.0, last])}).svg for last in (-2.0, 2.0))
    assert open_.count(OCHRE) > closed.count(OCHRE) > 0


def test_the_table_of_dots_gives_ranges_that_hold_all_runs():
    text = viz.dots(["a"], "loss", grain=0.25, runs=torch.tensor([[0.26, 0.693, 0.7]])).text
    assert text.splitlines()[-1].split() == ["a", "0.25", "to", "0.75"]


# --- Tables -----------------------------------------------------------------------------------------------------------

def test_the_name_of_a_curve_stands_beside_its_end():
    svg = viz.curves(range(3), "x", "y", one=torch.tensor([0.0, 1, 2]), two=torch.tensor([1.0, 2, 2.01])).svg
    ends = [float(x) for x in re.findall(r'd="M [^"]*L ([\d.]+) [\d.]+ \n" clip-path', svg)]
    for name in ("one", "two"):
        begins = float(re.search(rf' x="([\d.]+)"[^>]*>{name}<', svg)[1])
        assert len(ends) == 2 and max(ends) + 4 < begins < max(ends) + 12


def test_runs_of_a_single_label_take_little_height():
    def height(labels):
        return float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', viz.dots(labels, "error", lines=[(0.5, "the floor")],
                                                                     runs=torch.rand(len(labels), 8)).svg)[1])

    assert height(["one"]) < height(["one", "two"]) / 2


def test_each_floor_is_a_short_line_of_its_own_and_the_legend_names_them():
    with_floors = viz.dots(["h = 1", "h = 2"], "error", floors=[[0.5, 0.0], [0.75, 0.5]],
                           **{"r = 2": torch.rand(2, 3), "r = 4": torch.rand(2, 3)})
    without = viz.dots(["h = 1", "h = 2"], "error", **{"r = 2": torch.rand(2, 3), "r = 4": torch.rand(2, 3)})
    lines = [len(re.findall(r"stroke-width: 1.2", picture.svg)) for picture in (with_floors, without)]
    assert lines[0] == lines[1] + 2 * 2 + 1 and "the floor" in with_floors.svg and "floor" in with_floors.text


def test_what_was_not_run_has_no_dots_and_the_table_says_so():
    once = torch.cat([torch.rand(1, 3), torch.full((1, 3), torch.nan)])
    of_both = viz.dots(["as it is", "rotated"], "error", runs=torch.rand(2, 3))
    of_one = viz.dots(["as it is", "rotated"], "error", runs=once)
    assert repr(of_one).splitlines()[-1].split() == ["rotated", "not", "run"]
    first, second = (len(re.findall("<use [^>]*fill-opacity", picture.svg)) for picture in (of_one, of_both))
    assert second == first + 3


def test_runs_that_never_got_there_are_hollow_above_the_axis():
    steps = torch.tensor([[300.0, 450, 400], [425, torch.inf, torch.inf], [torch.inf] * 3])
    picture = viz.dots(list("abc"), "steps", grain=25, never="not by step 600", runs=steps)
    assert [" ".join(line.split()) for line in picture.text.splitlines()[-3:]] == [
        "a 300 to 450", "b 425 to 425, 2 not by step 600", "c 3 not by step 600"]
    groups = [re.findall(r'<use [^>]*y="([\d.]+)"', group.split('id="matplotlib.axis')[0])
              for group in re.split('id="PathCollection_', picture.svg)[1:]]
    filled, hollow = [[float(y) for y in group] for group in groups]
    assert len(filled) == 4 and len(hollow) == 5 and len(set(hollow)) == 1 and hollow[0] < min(filled) - 10
    assert "not by</" in picture.svg and "step 600</" in picture.svg


def test_columns_are_aligned_as_text_and_valid_as_html():
    mean = torch.tensor([0.25, 10.0])
    table = viz.columns(["first", "a & b"], digits=1, mean_weight=mean, rank=[1, 2], kind=["x", "y"])
    assert repr(table).splitlines() == ["       mean weight  rank  kind", "first          0.2     1     x",
                                        "a & b         10.0     2     y"]
    rows = [["".join(cell.itertext()) for cell in row] for row in xml.fromstring(table._repr_html_()).iter("tr")]
    assert rows == [["", "mean weight", "rank", "kind"], ["first", "0.2", "1", "x"], ["a & b", "10.0", "2", "y"]]


def test_columns_of_words_begin_at_the_left_and_their_long_names_may_break():
    table = viz.columns(["a"], share=[0.5], of=["3 of 4"], calls=["scaled_dot_product"], version=["–"], kind=["d_k x"])
    head, row = xml.fromstring(table._repr_html_()).iter("tr")
    sides = [cell.get("style").removeprefix("text-align: ") for cell in row]
    assert sides == [cell.get("style").removeprefix("text-align: ") for cell in head]
    assert sides == ["left", "right", "right", "left", "right", "left"]
    assert [len(cell) for cell in row] == [0, 0, 0, 2, 0, 0]


def test_a_table_takes_the_colours_of_the_page():
    style = viz.columns(["a"], weight=[0.5])._repr_html_()
    assert "color" not in style and "background" not in style and "overflow-x: auto" in style


def test_columns_of_another_length_are_named():
    with pytest.raises(ValueError, match="got {'labels': 2, 'weight': 3}"):
        viz.columns(["a", "b"], weight=[1, 2, 3])


def test_symbols_are_set_in_the_drawing_and_typed_in_its_text():
    picture = viz.dots(["d_k = 4", "W_Q"], "error", first=torch.rand(2, 3))
    assert "d_k" not in picture.svg and "W_Q" not in picture.svg
    assert re.search(r">d</tspan><tspan [^>]*>k</tspan><tspan [^>]*> = 4</tspan>", picture.svg)
    assert "d_k = 4" in picture.text and "W_Q" in picture.text


@pytest.mark.parametrize("n", [2, 3])
def test_the_names_of_rows_stand_beside_the_first_of_two_matrices(n):
    names = ["Cat", "sat", "down"][:n]
    picture = viz.matrices("two", names, {"one": (waves(n, 2), "12"), "other": (waves(n, 2), "12")})
    assert [name for name in re.findall(r">(\w+)</text>", picture.svg) if name in names] == names
