"""Pictures of tokens: as points in a plane, and as words in a line."""
import numpy as np

from mha.viz.picture import (SLATE, INK, KEY, ON_HUE, OCHRE, QUERY, STREAM, VALUE, WEIGHT, Picture, as_array,
                             house_figure)
from mha.viz.tables import decimal, table


def _planes(titles, points, reaches, areas, colours):
    """Two planes side by side, with numbered points in them.

    Args:
        titles: of both planes.
        points: of both planes, (m, 2) each.
        reaches: how far each plane goes from 0 in every direction.
        areas: (m,), those of the discs that stand for the points, in square points of print.
        colours: of the points of both planes.
    Returns:
        The figure, and the axes of both planes.
    """
    figure, axes = house_figure(7.2, 3.5, columns=2)
    for axis, title, places, reach, colour in zip(axes, titles, points, reaches, colours):
        axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=title)
        axis.axhline(0, color=INK, linewidth=0.3)
        axis.axvline(0, color=INK, linewidth=0.3)
        axis.spines[:].set_visible(False)
        axis.tick_params(length=0, labelsize=9)
        for number, (place, area) in enumerate(zip(places, areas), 1):
            axis.scatter(*place, s=area, color=colour, alpha=0.85, linewidth=0)
            axis.annotate(str(number), place, ha="center", va="center", color=ON_HUE, fontsize=9)
    return figure, axes


def lookup(names, keys, values, query, scores, weights, out):
    """A soft lookup in the plane: keys and query at the left, values and the mixed value at the right.

    Args:
        names: of the m keys.
        keys, values: (m, 2) points in the plane.
        query, out: (2,), the query and the mixed value.
        scores: (m,), of the query with each key.
        weights: (m,), from 0 to 1; the area of a disc grows with its weight.
    """
    keys, values, query, out = map(as_array, (keys, values, query, out))
    reaches = [1.18 * max(np.abs(points).max(), np.abs(query).max()) for points in (keys, values)]
    figure, (left, right) = _planes(["keys, and the query", "values, and their mixture"], [keys, values], reaches,
                                    areas=60 + 500 * as_array(weights), colours=[KEY, VALUE])
    left.annotate("", query, (0, 0), arrowprops={"arrowstyle": "-|>", "color": QUERY, "lw": 2})
    right.scatter(*out, marker="D", s=60, color=VALUE, zorder=3)
    alt = f"A query among {len(names)} keys in the plane, the weight of each key, and the mixed value."
    rows = [[f"{i} {name}", float(s), float(w)] for i, (name, s, w) in enumerate(zip(names, scores, weights), 1)]
    mixed = f"mixed value ({decimal(out[0], 3)}, {decimal(out[1], 3)})"
    return Picture(figure, f"{table(alt, ['key', 'score', 'weight'], rows)}\n{mixed}")


def value_map(names, tokens, values, weights, target):
    """Frozen weights over moved tokens: the tokens and their mixture at the left, the values and theirs at the right.

    Args:
        names: n words.
        tokens, values: (n, 2) points in the plane.
        weights: (n,), from 0 to 1, sum 1.
        target: (2,), the point at which the mixture of the values should lie.
    """
    tokens, values, weights, target = map(as_array, (tokens, values, weights, target))
    reach = 1.25 * max(np.abs(np.vstack([tokens, values, target])).max(), 1)
    titles = ["tokens, and their mixture", "values, the output, and its target"]
    figure, axes = _planes(titles, [tokens, values], [reach, reach], areas=60 + 400 * weights,
                           colours=[STREAM, VALUE])
    turns = np.linspace(0, 2 * np.pi, 721)
    for axis, points, colour in zip(axes, (tokens, values), (STREAM, VALUE)):
        # The point farthest in each direction is a corner of the hull: in turn they go once around it.
        farthest = (points @ np.stack([np.cos(turns), np.sin(turns)])).argmax(0)
        axis.fill(*points[farthest].T, color=colour, alpha=0.09, linewidth=0, zorder=0.5)
        mixed = weights @ points
        for point, weight in zip(points, weights):
            axis.plot(*np.stack([point, mixed]).T, color=WEIGHT, alpha=0.55, linewidth=7 * weight,
                      solid_capstyle="butt")
        axis.scatter(*mixed, marker="D", s=50, color=colour, zorder=3)
    for name, point in zip(names, tokens):
        axes[0].annotate(name, point, (0, 12 if point[1] > 0 else -12), textcoords="offset points", ha="center",
                         va="center", fontsize=9)
    axes[1].scatter(*target, s=150, facecolor="none", edgecolor=OCHRE, linewidth=2)
    mixed, out = weights @ tokens, weights @ values
    alt = (f"{len(names)} tokens in the plane and their values, the weighted mean of both, and the target for the mean "
           "of the values.")
    rows = [[f"{i} {name}", float(w), *map(float, v)] for i, (name, w, v) in enumerate(zip(names, weights, values), 1)]
    points = [("mixture of the tokens", mixed), ("output", out), ("target", target)]
    ends = [f"{name} ({decimal(x, 3)}, {decimal(y, 3)})" for name, (x, y) in points]
    text = table(alt, ["token", "weight", "value", ""], rows)
    return Picture(figure, "\n".join([text, *ends, f"distance from the target {np.linalg.norm(out - target):.3f}"]))


def arcs(tokens, weights, word, endings):
    """Arcs from one word to all words of two sentences that differ in their last word, one above the line, one below.

    Args:
        tokens: n names, those of the first sentence.
        weights: (2, n), those of one query in both sentences.
        word: the number of that query.
        endings: the two last words.
    """
    w, n = as_array(weights), len(tokens)
    figure, (axis,) = house_figure(7.4, 3.9)
    for row, (sign, colour) in enumerate([(1, SLATE), (-1, OCHRE)]):
        for j in range(n):
            t = np.linspace(0, np.pi, 40)
            half = (j - word) / 2
            axis.plot(word + half - half * np.cos(t), sign * (0.5 + np.abs(half) * 0.55 * np.sin(t)), color=colour,
                      linewidth=max(0.3, 14 * w[row, j]), alpha=0.75, solid_capstyle="butt")
    for j, name in enumerate(tokens):
        last = j == n - 2  # the last word, which the full stop follows
        axis.text(j, 0.12 if last else 0, endings[0] if last else name, color=SLATE if last else INK, ha="center",
                  va="center", weight="bold" if j == word else "normal", fontsize=9)
    axis.text(n - 2, -0.22, endings[1], ha="center", va="center", fontsize=9, color=OCHRE)
    axis.axis("off")
    alt = (f"Arcs from the word {tokens[word]!r} to all words, with endings {endings[0]!r} (above) and {endings[1]!r} "
           "(below).")
    rows = [["/".join(endings) if j == n - 2 else t, float(w[0, j]), float(w[1, j])] for j, t in enumerate(tokens)]
    return Picture(figure, table(alt, [f"weight of {tokens[word]} on", *endings], rows))
