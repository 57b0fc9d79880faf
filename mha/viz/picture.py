"""What a picture is: a drawing in the house style, and the text that stands for it."""
import io
import re
from pathlib import Path

import matplotlib
import matplotlib.colors
import matplotlib.figure
import numpy as np

STYLE = Path(__file__).parent / "viz.mplstyle"
WIDTH = 5.4  # inches: so narrow that its words can be read on a phone
INK = "#010203"
# For runs, sizes, sentences, and all that has no colour of its own: neither of these means a query or a weight
SLATE, OCHRE, TEAL, ROSE = "#5d7391", "#a8741a", "#4c8880", "#a0616f"
# What has one colour in the whole book. On its pages the picture takes that of the paper (mha/widgets/common.css).
QUERY, KEY, VALUE, WEIGHT, STREAM, ON_HUE = "#b3400c", "#2a5bb0", "#1f8264", "#8f45b8", "#6b7484", "#fdfcf8"
# The ramp of weights, from none to all: the five stops of common.css on light paper
WEIGHTS = matplotlib.colors.LinearSegmentedColormap.from_list(
    "weights", ["#fdfcf9", "#e3cff2", "#bb8fdd", "#8a3fbe", "#45085f"])
HUES = {QUERY: "query", KEY: "key", VALUE: "value", WEIGHT: "weight", STREAM: "stream", ON_HUE: "on-hue",
        SLATE: "first", OCHRE: "second", TEAL: "third", ROSE: "fourth"}
# Sizes of numbers, and numbers below and above 0, which are neither weights nor keys
SIZES = matplotlib.colors.LinearSegmentedColormap.from_list("sizes", ["#fdfcf9", "#8195ae"])
SIGNED = matplotlib.colors.LinearSegmentedColormap.from_list("signed", ["#3f556f", "#fdfcf9", "#8a5a0c"])


class Picture:
    """A drawing as SVG whose ink is `currentColor`, and the text that stands for it.

    Args:
        figure: of matplotlib, in which black is `INK`, and the colours of `HUES` stand for names of the page's style.
        text: its first line says what the picture shows (the alt text); then follows a table of the numbers in it.
    """

    def __init__(self, figure, text):
        buffer = io.StringIO()
        with matplotlib.rc_context(fname=STYLE):
            # Only the second pass of the layout leaves room for long labels beside square axes.
            figure.draw_without_rendering()
            figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        svg = buffer.getvalue()
        # matplotlib writes no fill where it means black.
        svg = svg[svg.index("<svg"):].replace("<svg", '<svg fill="currentColor"', 1)
        svg = svg.replace(INK, "currentColor").replace("'DejaVu Sans', sans-serif", "inherit")
        for colour, name in HUES.items():
            svg = svg.replace(colour, f"var(--{name}, {colour})")
        svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.S)
        self.svg, self.text = re.sub(r"(?<=>)[^<>]*_[^<>]*(?=</text>)", lambda words: typeset(words[0]), svg), text

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, **kwargs):
        return {"text/plain": self.text, "image/svg+xml": self.svg}, {"image/svg+xml": {"needs_background": "light"}}


def typeset(words):
    """The words of an SVG with their symbols set, as in live figures: a matrix has its letter high, a size low."""
    set_, back = [], 0
    for k, part in enumerate(re.split(r"\b([Wdh]_(?:model|kv|[A-Za-z]))\b", words)):
        if k % 2:
            by = -3.5 if part[0] == "W" else 2.5
            set_ += [f'<tspan font-style="italic" dy="{back}">{part[0]}</tspan>',
                     f'<tspan font-style="italic" style="font-size: 75%" dy="{by}">{part[2:]}</tspan>']
            back = -by
        elif part:
            set_.append(f'<tspan dy="{back}">{part}</tspan>' if back else part)
            back = 0
    return "".join(set_)


def house_figure(width, height, columns=1, rows=1, **options):
    """A figure in the house style, width and height in inches, with its axes as a flat list."""
    with matplotlib.rc_context(fname=STYLE):
        figure = matplotlib.figure.Figure(figsize=(width, height))
        return figure, list(figure.subplots(rows, columns, squeeze=False, **options).flat)


def as_array(tensor):
    """A tensor, or a list of numbers, as an array of floats."""
    return np.asarray(tensor.detach().cpu().double() if hasattr(tensor, "detach") else tensor, dtype=float)
