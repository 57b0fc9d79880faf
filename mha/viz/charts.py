"""Pictures of numbers: bars, maps, lines, matrices and histograms."""
import matplotlib.colors
import numpy as np

from mha.viz.picture import (INK, ON_HUE, SIGNED, SIZES, SLATE, STREAM, WEIGHT, WEIGHTS, WIDTH,
                             Picture, as_array, house_figure)
from mha.viz.tables import decimal, readable_name, table


def bars(labels, digits=2, alt=None, head="", **series):
    """Horizontal bars, one panel for each named series: `bars(titles, scores=s, weights=w)`.

    Panels of one kind have one scale, so that their bars can be compared: weights the fixed one from 0 to 1, all other
    numbers one that holds them all.

    Args:
        labels: m names.
        digits: decimals of the numbers beside the bars.
        alt: what the picture shows, where its rows are no keys; its table then has these digits too.
        head: what stands above all panels.
        series: m numbers each; those with "weight" in their name are weights.
    """
    values = {readable_name(name): as_array(s) for name, s in series.items()}
    others = np.concatenate([[0], *(v for name, v in values.items() if "weight" not in name)])
    figure, axes = house_figure(WIDTH, 0.55 + 0.29 * len(labels) + 0.27 * bool(head), columns=len(values), sharey=True)
    if head:
        figure.suptitle(head)
    for axis, (name, v) in zip(axes, values.items()):
        weights = "weight" in name
        axis.barh(range(len(labels)), v, color=WEIGHT if weights else STREAM, height=0.62)
        axis.set_title(name)
        axis.axvline(0, color=INK, linewidth=0.6)
        low, high = (0, 1) if weights else (others.min(), others.max())
        axis.set_xlim(low - 0.02 * (high - low), high + 0.22 * (high - low))
        for y, x in enumerate(v):
            axis.text(max(x, 0) + 0.02 * (high - low), y, decimal(x, digits).replace("-", "\u2212"), va="center")
        axis.set_yticks(range(len(labels)), labels)
        axis.tick_params(left=False, bottom=False, labelbottom=False)
        axis.spines[["left", "bottom"]].set_visible(False)
    axes[0].invert_yaxis()
    rows = [[name, *(float(v[i]) for v in values.values())] for i, name in enumerate(labels)]
    told = alt or f"Bars of {' and '.join(values)} for {len(labels)} keys."
    return Picture(figure, table(told, ["", *values], rows, digits if alt else 3))


BESIDE = (7, 0)                                      # points from the end of a line to its name
SCALE = matplotlib.colors.PowerNorm(0.5, vmin=0, vmax=1)
LETTER, NUMBER, TITLE, BAR = 0.078, 0.36, 0.3, 0.85  # inches: a letter's width, a number's, a title's height, the key's


def _map(axis, weights, rows, columns, title, cell):
    """One heat map, its cells `cell` inches wide; names that are no names are left out."""
    image = axis.imshow(weights, norm=SCALE, cmap=WEIGHTS)
    axis.set_title(title)
    level = cell < LETTER * max(map(len, columns), default=0)
    axis.set_xticks(range(len(columns)), columns, rotation=50 if level else 0, ha="right" if level else "center",
                    rotation_mode="anchor" if level else "default")
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(length=0)
    axis.spines[:].set(visible=True, alpha=0.35)        # a frame, since a weight of 0 has the colour of the paper
    if cell >= NUMBER:
        for (i, j), weight in np.ndenumerate(weights):
            axis.text(j, i, f"{weight:.2f}" if weight else "0", ha="center", va="center", fontsize=9.2,
                      color=ON_HUE if SCALE(weight) > 0.66 else INK)
    return image


def _key(figure, image, axes, word):
    """The key to the colours, and what they are."""
    bar = figure.colorbar(image, ax=axes, ticks=[0, 0.05, 0.25, 0.5, 1], fraction=0.05, aspect=18)
    bar.ax.set_yticklabels(["0", "0.05", "0.25", "0.5", "1"])
    bar.ax.tick_params(length=0, labelsize=9.5, labelcolor=INK)
    bar.outline.set(edgecolor=INK, alpha=0.35)
    if word:
        bar.set_label(word, color=INK)


def heatmaps(weights, tokens, titles=None, columns=4, keys=None, alt=None, cell=0.7, named=None, words=None,
             sides=()):
    """Attention weights as maps, rows = queries, columns = keys, on the fixed scale from 0 (paper) to 1 (deep purple).

    Colour goes with the square root of the weight, so that a weight of 0.05 can be told from none.

    Args:
        weights: (h, n, m), or (n, m) for one map, from 0 to 1.
        tokens: n names of the queries.
        titles: h titles, by default "head 1", "head 2", ...
        columns: maps side by side.
        keys: m names of the keys, by default those of the queries.
        alt: what the picture shows, where the rows are no queries.
        cell: how wide a cell is at most, in inches.
        named: whether the names stand beside the maps, by default where at most three are side by side.
        words: what rows, columns and colours are, by default query, key and weight, or unsaid where there is an alt;
            None for the colours leaves their key out.
        sides: names of the rows of maps.
    """
    maps = np.atleast_3d(as_array(weights)) if weights.ndim == 3 else as_array(weights)[None]
    h, n, m = maps.shape
    keys, titles = keys or tokens, titles or ([f"head {i + 1}" for i in range(h)] if h > 1 else [""])
    columns = min(columns, h)
    rows, named = -(-h // columns), columns <= 3 if named is None else named
    row, column, colour = words or (("", "", "") if alt else ("query", "key", "weight"))
    bar = 0.1 if colour is None else BAR
    left = (LETTER * max(map(len, tokens)) if named else 0) + 0.3 + 0.2 * bool(sides)
    below = max(LETTER * max(map(len, keys)), 0.2) + 0.3 if named else 0.3
    across = columns * m + 0.3 * (columns - 1)                # cells, and a gap between two maps
    cell = min(cell, (WIDTH - left - bar) / across)
    height = rows * (n * cell + (TITLE if any(titles) else 0.1)) + below
    figure, axes = house_figure(left + bar + cell * across, max(height, 1.3), columns, rows)
    for i, axis in enumerate(axes):
        axis.set_visible(i < h)
        if i < h:
            outer = tokens if named and i % columns == 0 else [], keys if named and i + columns >= h else []
            image = _map(axis, maps[i], *outer, titles[i], cell)
    for axis, side in zip(axes[::columns], sides):
        axis.set_ylabel(side)
    if row:
        figure.supylabel(row, fontsize=10.5)
    if column:
        figure.supxlabel(column, fontsize=10.5)
    if colour is not None:
        _key(figure, image, axes, colour)
    corner = "" if alt else "query"
    alt = alt or f"Attention weights of {h} head{'s' * (h > 1)} as maps, {n} queries by {m} keys."
    if h == 1:
        numbers = [[token, *map(float, row)] for token, row in zip(tokens, maps[0])]
        return Picture(figure, table(alt, [corner, *keys], numbers))
    best = [[titles[i] or "map", *(keys[row.argmax()] if row.any() else "–" for row in maps[i])] for i in range(h)]
    return Picture(figure, table(alt + " The table names each query's strongest key.", ["", *tokens], best))


def curves(x, xlabel, ylabel, log=False, points=5, **series):
    """Lines over x, one for each named series, each labelled at its end.

    Args:
        x: m numbers, from the least to the greatest.
        xlabel, ylabel: what stands at the axes.
        log: make the x axis logarithmic; "y", the y axis; "both", both.
        points: how many of the m the text table lists.
        series: m numbers each.
    """
    x, values = as_array(x), {readable_name(name): as_array(s) for name, s in series.items()}
    figure, (axis,) = house_figure(WIDTH, 2.8)
    colours = {name: axis.plot(x, v)[0].get_color() for name, v in values.items()}
    across, up = log in (True, "both"), log in ("y", "both")
    axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if across else "linear", yscale="log" if up else "linear")
    # The names stand beside the ends of their lines, from the lowest up, and none on top of another.
    scale, back = (np.log10, lambda y: 10 ** y) if up else (float, float)
    low, high = map(scale, axis.get_ylim())
    room, at = 0.075 * (high - low), -np.inf
    for name in sorted(values, key=lambda name: values[name][-1]):
        at = max(scale(values[name][-1]), at + room)
        axis.annotate(name, (x[-1], back(at)), BESIDE, textcoords="offset points", color=colours[name], va="center",
                      annotation_clip=False)
    picked = np.unique(np.linspace(0, len(x) - 1, points).round().astype(int))
    alt = f"{ylabel} against {xlabel}: {', '.join(values)}."
    rows = [[f"{x[i]:g}", *(float(v[i]) for v in values.values())] for i in picked]
    return Picture(figure, table(alt, [xlabel, *values], rows))


def matrix(values, title="", row_label="", column_label="", cuts=(), names=(), row_names=(), alt=None):
    """A signed matrix on a diverging scale that is symmetric about 0, with lines after the columns in `cuts`.

    `names`, where given, stand at the rows and at the columns in place of their numbers; `row_names` at the rows alone.
    NaN leaves a cell empty.
    """
    v = as_array(values)
    figure, (axis,) = house_figure(WIDTH, 0.8 + max(min(3.4, 4.2 * v.shape[0] / v.shape[1]), 0.15 * len(row_names)))
    top = np.nanmax(np.abs(v))
    image = axis.imshow(v, cmap=SIGNED, vmin=-top, vmax=top, aspect="auto")
    bar = figure.colorbar(image, fraction=0.05, aspect=18)
    bar.ax.tick_params(length=0, labelsize=9.5, labelcolor=INK)
    bar.outline.set_visible(False)
    if max(v.shape) <= 8:
        axis.set_yticks(range(v.shape[0]))
        for i, j in np.argwhere(~np.isnan(v)):
            axis.text(j, i, decimal(v[i, j], 2).replace("-", "\u2212"), ha="center", va="center", fontsize=9.2,
                      color=INK if abs(v[i, j]) < 0.7 * top else ON_HUE)
    for cut in cuts:
        axis.axvline(cut - 0.5, color=INK, linewidth=1)
    if len(names):
        axis.set_xticks(range(len(names)), names)
        axis.set_yticks(range(len(names)), names)
    if len(row_names):
        axis.set_yticks(range(len(row_names)), row_names)
    axis.set(title=title, xlabel=column_label, ylabel=row_label)
    axis.tick_params(length=0)
    rows = [["rows", v.shape[0]], ["columns", v.shape[1]], ["smallest", float(np.nanmin(v))],
            ["largest", float(np.nanmax(v))]]
    alt = alt or f"{title or 'A matrix'}, {v.shape[0]} rows by {v.shape[1]} columns."
    return Picture(figure, table(alt, ["", "value"], rows))


def histograms(panels, alt, facts):
    """Shares as columns, one panel for each name.

    Args:
        panels: title -> (x, shares), the columns' centres and heights, heights from 0 to 1.
        alt: what the picture shows.
        facts: name -> number, the rows of its text table.
    """
    figure, axes = house_figure(7.4, 2.3, columns=len(panels))
    for axis, (title, (x, shares)) in zip(axes, panels.items()):
        x = as_array(x)
        axis.bar(x, as_array(shares), width=0.85 * (x[1] - x[0]), color=SLATE)
        axis.set_title(title)
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
    return Picture(figure, table(alt, ["", "value"], [[name, value] for name, value in facts.items()]))


def matrices(alt, names, panels, columns=2):
    """Small matrices with every number written in its cell; the rows of all have the same names.

    Args:
        alt: what the picture shows.
        names: n names of the rows.
        panels: title -> ((n, m) numbers, m names of its columns).
        columns: panels side by side.
    """
    panels = {title: (as_array(values), keys) for title, (values, keys) in panels.items()}
    rows = -(-len(panels) // columns)
    widths = [max(len(keys) for _, keys in list(panels.values())[i::columns]) for i in range(columns)]
    width = min(WIDTH * columns / 2.4, max(WIDTH, 0.9 + 0.75 * sum(widths)))
    figure, axes = house_figure(width, rows * (0.55 + 0.3 * len(names)), columns, rows, width_ratios=widths)
    for i, (axis, (title, (values, keys))) in enumerate(zip(axes, panels.items())):
        axis.imshow(np.abs(values), cmap=SIZES, vmin=0, vmax=2.5 * max(1, np.abs(values).max()), aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            text = f"{value:g}" if value == round(value) else f"{value:.2f}"
            axis.text(column, row, text.replace("-", "\u2212"), ha="center", va="center", color="black")
        axis.set_title(title)
        axis.set_xticks(range(len(keys)), keys)
        axis.set_yticks(range(len(names)), names if i % columns == 0 else [])
        axis.tick_params(length=0, labeltop=True, labelbottom=False)
        axis.spines[:].set_visible(False)
    lines = [[f"{title}: {name}", " ".join(decimal(value, 2) for value in row)]
             for title, (values, _) in panels.items() for name, row in zip(names, values)]
    return Picture(figure, table(alt, ["", "numbers"], lines))
