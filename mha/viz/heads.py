"""Pictures of whole heads: one number for each head of a model, and one head that works through another."""
import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from mha.viz.picture import INK, KEY, OCHRE, QUERY, SLATE, STREAM, VALUE, WEIGHT, WIDTH, Picture, as_array, house_figure
from mha.viz.tables import decimal, table

DEPTH = 0.5  # of the squares' colour, so that numbers can be read on it, on light paper and on dark
CELL = 0.92
AT = {"A": 0.0, "B": 1.3, "again A": 4.3}  # where the tokens of `composition` stand, from left to right
LOW, HIGH, TOP = 0.95, 2.1, 2.8  # heights of its two heads, and the end of the streams


def head_grid(panels, alt, least, row="layer", column="head", digits=2):
    """One number for each head: a row for each layer and a column for each head. The filled area is its number.

    Args:
        panels: title -> (layers, h) numbers; all have one scale, which begins at 0.
        alt: what the picture shows.
        least: smaller numbers are not written into their boxes.
        row, column: what a row and a column stand for.
        digits: behind the point.
    """
    panels = {title: as_array(values) for title, values in panels.items()}
    most = max(values.max() for values in panels.values())
    layers, h = next(iter(panels.values())).shape
    figure, axes = house_figure(WIDTH, 0.75 + 0.3 * layers, columns=len(panels), sharey=True)
    for axis, (title, values) in zip(axes, panels.items()):
        axis.imshow(np.zeros_like(values), cmap="gray", alpha=0, aspect="auto")
        for (layer, head), value in np.ndenumerate(values):
            for side, colour in ((CELL, "none"), (CELL * (max(value, 0) / most) ** 0.5, to_rgba(STREAM, DEPTH))):
                axis.add_patch(Rectangle((head - side / 2, layer - side / 2), side, side, facecolor=colour,
                                         edgecolor=STREAM if colour == "none" else "none", linewidth=0.4))
            if value >= least:
                axis.text(head, layer, decimal(value, digits), ha="center", va="center", fontsize=9.2, color=INK)
        axis.set(title=title, xlabel=column, xticks=range(h), yticks=range(layers))
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
    axes[0].set_ylabel(row)
    rows = [[f"{title}, {row} {layer}", *map(float, numbers)] for title, values in panels.items()
            for layer, numbers in enumerate(values)]
    return Picture(figure, table(alt, ["", *(f"{column} {k}" for k in range(h))], rows, 3 if digits else 0))


def composition(first, second, weight, without):
    """How an earlier head serves an induction head: it writes into a token's stream what stood before, and the later
    head's query, key and value read there.

    Args:
        first, second: the names of both heads, such as "16.0".
        weight: what `second` gives to the token after the one that came again.
        without: "queries", "keys", "values" -> the same weight when these do not read what `first` wrote.
    """
    figure, (axis,) = house_figure(WIDTH, 3.0)
    for name, x in AT.items():
        axis.annotate("", (x, TOP), (x, 0.18), arrowprops={"arrowstyle": "-|>", "color": SLATE, "lw": 3,
                                                           "mutation_scale": 12, "shrinkA": 0, "shrinkB": 0})
        axis.text(x, -0.02, name[-1], ha="center", va="center", fontsize=11,
                  bbox={"boxstyle": "round,pad=0.35", "facecolor": "none", "edgecolor": INK, "linewidth": 0.8})
    axis.text((AT["B"] + AT["again A"]) / 2, -0.02, "\u2026", ha="center", va="center")
    axis.text(AT["again A"], TOP + 0.12, "next: B", ha="center", va="center", fontsize=9.2)

    def says(x, y, text, colour=INK, side="left"):
        axis.text(x, y, text, ha=side, va="center", fontsize=9.2, color=colour)
    _arc(axis, AT["B"], AT["A"], LOW, 0.28)
    says((AT["A"] + AT["B"]) / 2, LOW - 0.3, f"{first} looks\none back", WEIGHT, "center")
    axis.annotate("", (AT["B"], LOW + 0.45), (AT["B"], LOW + 0.08), arrowprops={
        "arrowstyle": "-|>", "color": OCHRE, "lw": 5, "mutation_scale": 14})
    says(AT["B"] + 0.16, LOW + 0.18, "and writes: before me stood A", OCHRE)
    _arc(axis, AT["again A"], AT["B"], HIGH, 0.2)
    says((AT["B"] + AT["again A"]) / 2, HIGH + 0.48, f"{second} looks at what followed A: {weight:.2f}", WEIGHT,
         "center")
    says(AT["B"] + 0.16, HIGH - 0.14, f"keys without it: {without['keys']:.2f}", KEY)
    says(AT["B"] + 0.16, HIGH - 0.4, f"values without it: {without['values']:.2f}", VALUE)
    says(AT["again A"] - 0.16, HIGH - 0.66, f"queries without it: {without['queries']:.2f}", QUERY, "right")
    for x, colour in ((AT["B"], KEY), (AT["again A"], QUERY)):
        axis.plot(x, HIGH, "o", markersize=7, color=colour)
    axis.set(xlim=(-0.35, AT["again A"] + 0.5), ylim=(-0.25, TOP + 0.25))
    axis.axis("off")
    alt = (f"Head {first} attends from B to A, the token before, and writes so into B's stream; where A comes again, "
           f"head {second} attends to B. The table: its weight on B, whole and when one projection does not read it.")
    return Picture(figure, table(alt, ["not read by", "weight"], [["(whole)", float(weight)], *(
        [name, float(value)] for name, value in without.items())], digits=2))


def _arc(axis, start, end, y, rise):
    """Where a head attends: an arc from one token to an earlier one."""
    axis.annotate("", (end, y), (start, y), arrowprops={
        "arrowstyle": "-|>", "color": WEIGHT, "lw": 2.2, "mutation_scale": 12, "shrinkA": 3, "shrinkB": 3,
        "connectionstyle": f"arc3,rad={rise}"})
