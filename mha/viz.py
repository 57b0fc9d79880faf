"""Pictures of attention, one call each. A function takes tensors and returns a Picture; nothing here computes
attention.
"""
import html
import io
import re
from pathlib import Path

import matplotlib
import matplotlib.colors
import matplotlib.figure
import numpy as np

STYLE = Path(__file__).parent / "viz.mplstyle"
WIDTH = 5.4                                        # inches: so narrow that its words can be read on a phone
INK, BLUE, ORANGE, GREEN, VIOLET = "#010203", "#2f74c0", "#b94f12", "#2a8f6d", "#8a5bb8"


class Picture:
    """A drawing as SVG whose ink is `currentColor`, and the text that stands for it.

    svg: the drawing. text: first line, what the picture shows (the alt text); then a table of the numbers that it
    shows.
    """

    def __init__(self, figure, text):
        buffer = io.StringIO()
        with matplotlib.rc_context(fname=STYLE):
            # square axes: only the second pass of the layout leaves room for long labels
            figure.draw_without_rendering()
            figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        svg = buffer.getvalue()
        # matplotlib writes no fill where it means black
        svg = svg[svg.index("<svg"):].replace("<svg", '<svg fill="currentColor"', 1)
        svg = svg.replace(INK, "currentColor").replace("'DejaVu Sans', sans-serif", "inherit")
        self.svg, self.text = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.S), text

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, **kwargs):
        return {"text/plain": self.text, "image/svg+xml": self.svg}, {"image/svg+xml": {"needs_background": "light"}}


def table(alt, header, rows, digits=3):
    """The text of a picture: its alt text, then aligned columns. Floats are printed to `digits` decimals."""
    return f"{alt}\n\n{_aligned(_words([header, *rows], digits))}"


def _words(rows, digits):
    return [[f"{c + 0.0:.{digits}f}" if isinstance(c, float) else str(c) for c in row] for row in rows]


def _aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]).rstrip()
                     for row in rows)


class Table:
    """Rows of words that a notebook shows as a table; the first row is the header, the first column names the rows.

    As text the columns are aligned. As HTML it takes the colours of the page, and scrolls in a box of its own where it
    is wider than the screen.
    """

    def __init__(self, rows):
        self.rows = rows

    def __repr__(self):
        return _aligned(self.rows)

    def _repr_html_(self):
        def cells(kind, words, **attributes):
            given = "".join(f' {name}="{value}"' for name, value in attributes.items())
            return "".join(f"<{kind}{given}>{html.escape(word)}</{kind}>" for word in words)

        right = {"style": "text-align: right"}
        header, *rows = self.rows
        head = cells("td", header[:1]) + cells("th", header[1:], scope="col", **right)
        body = "".join(f"<tr>{cells('th', row[:1], scope='row', style='text-align: left')}"
                       f"{cells('td', row[1:], **right)}</tr>" for row in rows)
        # the class by which the book knows a box that scrolls; elsewhere the style is enough
        return ('<div class="pst-scrollable-table-container" style="overflow-x: auto"><table class="dataframe">'
                f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def columns(labels, digits=2, corner="", **series):
    """A table of named columns, one row for each label: `columns(["a", "b"], weight=w, rank=[1, 2])`.

    Args:
        labels: m names of the rows. digits: decimals of a float. corner: the word above the labels.
        series: m numbers or words each; "_" in a name is shown as a space.
    """
    values = [[value.item() if hasattr(value, "item") else value for value in column] for column in series.values()]
    lengths = {"labels": len(labels), **{name: len(column) for name, column in zip(series, values)}}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"every column needs as many rows as there are labels, got {lengths}")
    header = [corner, *(name.replace("_", " ") for name in series)]
    return Table(_words([header, *([label, *row] for label, *row in zip(labels, *values))], digits))


def _figure(width, height, columns=1, rows=1, **options):
    """A figure in the house style, width and height in inches, with its axes as a flat list."""
    with matplotlib.rc_context(fname=STYLE):
        figure = matplotlib.figure.Figure(figsize=(width, height))
        return figure, list(figure.subplots(rows, columns, squeeze=False, **options).flat)


def _array(tensor):
    return np.asarray(tensor.detach().cpu().double() if hasattr(tensor, "detach") else tensor, dtype=float)


def bars(labels, **series):
    """Horizontal bars, one panel for each named series: `bars(titles, scores=s, weights=w)`.

    Args:
        labels: m names.
        series: m numbers each; a series named "weights" or "weight" is drawn on the fixed scale from 0 to 1.
    """
    values = {name.replace("_", " "): _array(s) for name, s in series.items()}
    figure, axes = _figure(WIDTH, 0.55 + 0.29 * len(labels), columns=len(values), sharey=True)
    for axis, (name, v) in zip(axes, values.items()):
        axis.barh(range(len(labels)), v, color=BLUE if name.startswith("weight") else ORANGE, height=0.62)
        axis.set_title(name)
        axis.axvline(0, color=INK, linewidth=0.6)
        low, high = (0, 1) if name.startswith("weight") else (min(0, v.min()), max(0, v.max()))
        axis.set_xlim(low - 0.02 * (high - low), high + 0.22 * (high - low))
        for y, x in enumerate(v):
            axis.text(max(x, 0) + 0.02 * (high - low), y, f"{x + 0.0:.2f}".replace("-", "\u2212"), va="center")
        axis.set_yticks(range(len(labels)), labels)
        axis.tick_params(left=False, bottom=False, labelbottom=False)
        axis.spines[["left", "bottom"]].set_visible(False)
    axes[0].invert_yaxis()
    alt = f"Bars of {' and '.join(values)} for {len(labels)} keys."
    return Picture(figure,
                   table(alt, ["", *values], [[name, *(float(v[i]) for v in values.values())]
                                              for i, name in enumerate(labels)]))


def _map(axis, weights, rows, columns, title):
    axis.imshow(weights, norm=matplotlib.colors.PowerNorm(0.5, vmin=0, vmax=1), cmap="cividis")
    axis.set_title(title)
    axis.set_xticks(range(len(columns)), columns, rotation=90)
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)


def heatmaps(weights, tokens, titles=None, columns=4, keys=None, alt=None):
    """Attention weights as maps, rows = queries, columns = keys, on the fixed scale from 0 (dark) to 1 (light).

    Colour goes with the square root of the weight, so that a weight of 0.05 can be told from none.

    Args:
        weights: (h, n, m), or (n, m) for one map, from 0 to 1.
        tokens: n names of the queries; keys: m names of the keys, by default the same.
        titles: h titles, by default "head 1", "head 2", ...
        columns: maps side by side. alt: what the picture shows, where the rows are no queries.
    """
    maps = np.atleast_3d(_array(weights)) if weights.ndim == 3 else _array(weights)[None]
    h, n, m = maps.shape
    keys, titles = keys or tokens, titles or ([f"head {i + 1}" for i in range(h)] if h > 1 else [""])
    columns = min(columns, h)
    rows = -(-h // columns)
    side = WIDTH / max(2, columns)
    figure, axes = _figure(side * columns if h > 1 else 3.6, side * rows * 1.02 + 0.2 if h > 1 else 3.6, columns, rows)
    for i, axis in enumerate(axes):
        if i >= h:
            axis.set_visible(False)
            continue
        names = (tokens, keys) if columns <= 3 else ([], [])
        _map(axis, maps[i], *names, titles[i])
        if not names[0]:
            axis.set_xticks([]), axis.set_yticks([])
    corner, alt = ("" if alt else "query", alt or f"Attention weights of {h} head{'s' * (h > 1)} as maps, {n} queries "
                                                  f"by {m} keys.")
    best = [[titles[i] or "map", *(keys[j] for j in maps[i].argmax(-1))] for i in range(h)]
    if h == 1:
        return Picture(figure, table(alt, [corner, *keys], [[t, *map(float, row)] for t, row in zip(tokens, maps[0])]))
    return Picture(figure, table(alt + " The table names each query's strongest key.", ["", *tokens], best))


def curves(x, xlabel, ylabel, log=False, points=5, **series):
    """Lines over x, one for each named series, each labelled at its end.

    Args:
        x: numbers; log: logarithmic x axis; points: how many of them the text table lists.
    """
    x, values = _array(x), {name.replace("_", " "): _array(s) for name, s in series.items()}
    figure, (axis,) = _figure(WIDTH, 2.8)
    colours = {name: axis.plot(x, v)[0].get_color() for name, v in values.items()}
    axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if log else "linear")
    room, at = 0.075 * (axis.get_ylim()[1] - axis.get_ylim()[0]), -np.inf
    for name in sorted(values, key=lambda name: values[name][-1]):  # from the lowest end up, none on top of another
        at = max(values[name][-1], at + room)
        axis.annotate(f"  {name}", (x[-1], at), color=colours[name], va="center", annotation_clip=False)
    picked = np.unique(np.linspace(0, len(x) - 1, points).round().astype(int))
    alt = f"{ylabel} against {xlabel}: {', '.join(values)}."
    return Picture(figure, table(alt, [xlabel, *values], [[f"{x[i]:g}", *(float(v[i]) for v in values.values())]
                                                          for i in picked]))


def dots(labels, ylabel, lines=(), grain=0.25, **series):
    """One dot for each run, so that no mean can hide a run that failed.

    Args:
        labels: m names along the x axis; ylabel: what the runs are measured by.
        lines: (height, name) of horizontal lines, such as a proved bound.
        grain: the text table gives, in steps of this size, the range that holds all runs; a training ends a little
            differently on each machine.
        series: name -> (m, runs) numbers, at most four.
    """
    values = {name.replace("_", " "): _array(s) for name, s in series.items()}
    figure, (axis,) = _figure(WIDTH, 2.8)
    spots = np.arange(len(labels), dtype=float)
    for place, (name, v) in enumerate(values.items()):
        x = spots + 0.22 * (place - (len(values) - 1) / 2)
        jitter = np.linspace(-0.05, 0.05, v.shape[1])
        axis.scatter((x[:, None] + jitter).ravel(), v.ravel(), s=14, alpha=0.8, linewidth=0,
                     color=(BLUE, ORANGE, GREEN, VIOLET)[place], marker="os^D"[place], label=name)
    for height, name in lines:
        axis.axhline(height, color=INK, linewidth=0.8, linestyle="--")
        axis.annotate(f" {name}", (len(labels) - 0.5, height), va="center", annotation_clip=False)
    axis.set(ylabel=ylabel, xlim=(-0.5, len(labels) - 0.5))
    axis.set_xticks(spots, labels)
    axis.tick_params(axis="x", length=0)
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, handletextpad=0.2)
    def span(v):
        return f"{grain * np.floor(v.min() / grain):g} to {grain * np.ceil(v.max() / grain):g}"
    rows = [[label.replace("\n", " "), *(span(v[i]) for v in values.values())] for i, label in enumerate(labels)]
    return Picture(figure, table(f"Dots of {ylabel}, one for each run: {', '.join(values)}. The table gives ranges "
                                 "that hold all runs.",
                                 ["", *values], rows))


def matrix(values, title="", row_label="", column_label="", cuts=(), alt=None):
    """A signed matrix on a diverging scale that is symmetric about 0, with lines after the columns in `cuts`."""
    v = _array(values)
    figure, (axis,) = _figure(4.6, 0.8 + min(3.4, 4.2 * v.shape[0] / v.shape[1]))
    top = np.abs(v).max()
    axis.imshow(v, cmap="coolwarm", vmin=-top, vmax=top, aspect="auto")
    for cut in cuts:
        axis.axvline(cut - 0.5, color=INK, linewidth=1)
    axis.set(title=title, xlabel=column_label, ylabel=row_label)
    axis.tick_params(length=0)
    rows = [["rows", v.shape[0]], ["columns", v.shape[1]], ["smallest", float(v.min())], ["largest", float(v.max())]]
    return Picture(figure, table(alt or f"{title or 'A matrix'}, {v.shape[0]} rows by {v.shape[1]} columns.",
                                 ["", "value"], rows))


def histograms(panels, alt, facts):
    """Shares as columns, one panel for each name.

    Args:
        panels: title -> (x, shares), the columns' centres and heights, heights from 0 to 1.
        alt: what the picture shows. facts: name -> number, the rows of its text table.
    """
    figure, axes = _figure(7.4, 2.3, columns=len(panels))
    for axis, (title, (x, shares)) in zip(axes, panels.items()):
        x = _array(x)
        axis.bar(x, _array(shares), width=0.85 * (x[1] - x[0]), color=BLUE)
        axis.set_title(title)
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
    return Picture(figure, table(alt, ["", "value"], [[name, value] for name, value in facts.items()]))


def lookup(names, keys, values, query, scores, weights, out):
    """A soft lookup in the plane: keys and query at the left, values and the mixed value at the right, weights between.
    """
    keys, values, query, out = map(_array, (keys, values, query, out))
    figure, axes = _figure(7.2, 3.5, columns=2)
    for axis, points, title in zip(axes, (keys, values), ("keys, and the query", "values, and their mixture")):
        reach = max(np.abs(points).max(), np.abs(query).max()) * 1.18
        axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=title)
        axis.axhline(0, color=INK, linewidth=0.3), axis.axvline(0, color=INK, linewidth=0.3)
        axis.spines[:].set_visible(False)
        axis.tick_params(length=0, labelsize=7)
        for i, (point, weight) in enumerate(zip(points, _array(weights))):
            axis.scatter(*point, s=30 + 500 * weight, color=BLUE, alpha=0.75, linewidth=0)
            axis.annotate(str(i + 1), point, ha="center", va="center", color="white", fontsize=8)
    axes[0].annotate("", query, (0, 0), arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 2})
    axes[1].scatter(*out, marker="D", s=60, color=ORANGE, zorder=3)
    alt = f"A query among {len(names)} keys in the plane, the weight of each key, and the mixed value."
    rows = [[f"{i + 1} {n}", float(s), float(w)] for i, (n, s, w) in enumerate(zip(names, scores, weights))]
    return Picture(figure, table(alt, ["key", "score", "weight"], rows) + f"\nmixed value ({out[0]:.3f}, {out[1]:.3f})")


def value_map(names, tokens, values, weights, target):
    """Frozen weights over moved tokens: tokens and their mixture at the left, values, their mixture and its target at
    the right.

    Args:
        names: n words. tokens, values: (n, 2) points in the plane. weights: (n,), from 0 to 1, sum 1. target: (2,), a
            point.
    """
    tokens, values, weights, target = map(_array, (tokens, values, weights, target))
    figure, axes = _figure(7.2, 3.5, columns=2)
    reach = 1.25 * max(np.abs(np.vstack([tokens, values, target])).max(), 1)
    turns = np.linspace(0, 2 * np.pi, 721)
    for axis, points, title in zip(axes, (tokens, values),
                                   ("tokens, and their mixture", "values, the output, and its target")):
        axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=title)
        axis.axhline(0, color=INK, linewidth=0.3), axis.axvline(0, color=INK, linewidth=0.3)
        axis.spines[:].set_visible(False)
        axis.tick_params(length=0, labelsize=7)
        # in each direction: the corners of the hull, in order
        farthest = (points @ np.stack([np.cos(turns), np.sin(turns)])).argmax(0)
        axis.fill(*points[farthest].T, color=BLUE, alpha=0.09, linewidth=0)
        mixed = weights @ points
        for i, (point, weight) in enumerate(zip(points, weights)):
            axis.plot(*np.stack([point, mixed]).T, color=ORANGE, alpha=0.55, linewidth=7 * weight,
                      solid_capstyle="butt")
            axis.scatter(*point, s=60 + 400 * weight, color=BLUE, alpha=0.75, linewidth=0)
            axis.annotate(str(i + 1), point, ha="center", va="center", color="white", fontsize=8)
        axis.scatter(*mixed, marker="D", s=50, color=ORANGE, zorder=3)
    for i, (name, point) in enumerate(zip(names, tokens)):
        axes[0].annotate(name, point, (0, 12 if point[1] > 0 else -12), textcoords="offset points", ha="center",
                         va="center", fontsize=8)
    axes[1].scatter(*target, s=150, facecolor="none", edgecolor=ORANGE, linewidth=2)
    mixed, out = weights @ tokens, weights @ values
    alt = (f"{len(names)} tokens in the plane and their values, the weighted mean of both, and the target for the mean "
           "of the values.")
    rows = [[f"{i + 1} {name}", *map(float, (weights[i], *values[i]))] for i, name in enumerate(names)]
    points = [("mixture of the tokens", mixed), ("output", out), ("target", target)]
    ends = [f"{name} ({x + 0.0:.3f}, {y + 0.0:.3f})" for name, (x, y) in points]
    text = table(alt, ["token", "weight", "value", ""], rows)
    return Picture(figure, "\n".join([text, *ends, f"distance from the target {np.linalg.norm(out - target):.3f}"]))


def arcs(tokens, weights, word, endings):
    """Two sentences that differ in their last word: arcs from one word to all words, one sentence above, one below the
    line.

    Args:
        tokens: n names, those of the first sentence; weights: (2, n) of the one query `word` (an index); endings: the
            two last words.
    """
    w, n = _array(weights), len(tokens)
    figure, (axis,) = _figure(7.4, 3.9)
    for row, (sign, colour) in enumerate([(1, BLUE), (-1, ORANGE)]):
        for j in range(n):
            t = np.linspace(0, np.pi, 40)
            half = (j - word) / 2
            axis.plot(word + half - half * np.cos(t), sign * (0.5 + np.abs(half) * 0.55 * np.sin(t)), color=colour,
                      linewidth=max(0.3, 14 * w[row, j]), alpha=0.75, solid_capstyle="butt")
    for j, name in enumerate(tokens):
        last = j == n - 2
        axis.text(j, 0.12 if last else 0, endings[0] if last else name, ha="center", va="center", weight="bold"
                  if j == word else "normal", fontsize=8,
                  color=BLUE if last else INK)
    axis.text(n - 2, -0.22, endings[1], ha="center", va="center", fontsize=8, color=ORANGE)
    axis.axis("off")
    alt = (f"Arcs from the word {tokens[word]!r} to all words, with endings {endings[0]!r} (above) and {endings[1]!r} "
           "(below).")
    rows = [["/".join(endings) if j == n - 2 else t, float(w[0, j]), float(w[1, j])] for j, t in enumerate(tokens)]
    return Picture(figure, table(alt, [f"weight of {tokens[word]} on", *endings], rows))
