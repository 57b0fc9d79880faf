"""Chapter 4: what a head without values can return, and the two halves of a head."""
import matplotlib
import numpy as np

from mha.lab.data import KeyTask, turn
from mha.viz.picture import INK, KEY, OCHRE, QUERY, STREAM, STYLE, VALUE, WEIGHT, WIDTH, Picture, as_array, house_figure
from mha.viz.tables import table


def pictured_contents(seed=8):
    """One sentence of the task of `fit_carrier`: contents in the plane, what is wanted as it is and rotated."""
    _, x, _ = KeyTask(1, 1, seed=seed).draw(1)                                     # the related token stands first
    points = as_array(x[0, 0, :, -4:-2])
    wanted = {"wanted as it is": points[0], "wanted rotated": points[0] @ as_array(turn(90))}
    with matplotlib.rc_context(fname=STYLE):
        figure, panels = house_figure(WIDTH, 2.6, columns=2)
        for panel, (title, ring) in zip(panels, wanted.items()):
            draw_contents(panel, points, ring)
            panel.set_title(title)
    rows = [[f"content {number}", *map(float, point)] for number, point in enumerate(points, 1)]
    rows += [[title, *map(float, ring)] for title, ring in wanted.items()]
    text = ("The contents of eight tokens in the plane, their convex hull, and a ring where the output should be: on "
            "content 1, and a quarter turn from it.")
    return Picture(figure, table(text, ["", "first", "second"], rows))


def draw_contents(panel, points, ring):
    """Points with their hull, the first of them in the colour of weights; and a ring."""
    turns = np.linspace(0, 2 * np.pi, 721)
    farthest = (points @ np.stack([np.cos(turns), np.sin(turns)])).argmax(0)       # goes once around the hull
    panel.fill(*points[farthest].T, color=STREAM, alpha=0.15, linewidth=0)
    panel.axhline(0, color=INK, linewidth=0.3)
    panel.axvline(0, color=INK, linewidth=0.3)
    panel.scatter(*points[1:].T, s=22, color=STREAM, linewidth=0)
    panel.scatter(*points[0], s=34, color=WEIGHT, linewidth=0)
    panel.annotate("found", points[0], (7, -9), textcoords="offset points", color=WEIGHT, fontsize=9)
    panel.scatter(*ring, s=190, facecolor="none", edgecolor=OCHRE, linewidth=2)
    for end, colour in ((points[0], WEIGHT), (ring, OCHRE)):
        panel.plot(*np.stack([[0, 0], end]).T, color=colour, linewidth=1)
    panel.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), aspect="equal", xticks=[], yticks=[])
    panel.spines[:].set_visible(False)


TOKENS = ("tokens", 0.6, INK)
WHERE = [TOKENS, ("queries\nand keys", 2.3, WEIGHT), ("scores", 4.0, WEIGHT), ("weights", 5.6, WEIGHT)]
WHAT = [TOKENS, ("values", 2.3, VALUE), ("weighted mean\nof the values", 5.6, VALUE), ("output", 7.8, VALUE)]


def two_circuits():
    """A head as two paths: one makes the weights, the other carries values; they meet in the weighted mean."""
    with matplotlib.rc_context(fname=STYLE):
        figure, (axis,) = house_figure(WIDTH, 2.2)
        for boxes, height in ((WHERE, 2.1), (WHAT, 0.5)):
            for name, x, colour in boxes:
                axis.text(x, height, name, ha="center", va="center", fontsize=9.2, color=colour,
                          bbox={"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": colour, "linewidth": 1})
        for start, end, height, matrices in ((1.05, 1.75, 2.1, [("$W^Q$", QUERY), ("$W^K$", KEY)]),
                                             (2.86, 3.55, 2.1, []), (4.45, 5.1, 2.1, []),
                                             (1.05, 1.85, 0.5, [("$W^V$", VALUE)]), (2.75, 4.7, 0.5, []),
                                             (6.5, 7.35, 0.5, [("$W^O$", INK)])):
            arrow(axis, (start, height), (end, height))
            for line, (matrix, colour) in enumerate(reversed(matrices)):
                axis.text((start + end) / 2, height + 0.12 + 0.3 * line, matrix, ha="center", va="bottom",
                          fontsize=9.2, color=colour)
        arrow(axis, (5.6, 1.87), (5.6, 0.84))
        axis.text(6.3, 2.1, "QK: where to look", color=WEIGHT, va="center", fontsize=9.2)
        axis.text(6.3, -0.15, "OV: what is carried", color=VALUE, va="center", fontsize=9.2)
        axis.set(xlim=(0, 8.6), ylim=(-0.3, 2.8))
        axis.axis("off")
    text = ("Two paths from the tokens: queries and keys make scores and weights; values are averaged by these weights "
            "and multiplied by the output matrix.")
    rows = [[path, *(name.replace("\n", " ") for name, *_ in boxes)]
            for path, boxes in (("where to look", WHERE), ("what is carried", WHAT))]
    return Picture(figure, table(text, ["path", "1", "2", "3", "4"], rows))


def arrow(axis, start, end):
    axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1})
