"""Stairs: what a head with symmetric scores can prefer, and what it cannot."""
import numpy as np

from mha.viz.picture import SLATE, INK, OCHRE, WIDTH, Picture, as_array, house_figure
from mha.viz.tables import table

TREAD = 0.32  # half the width of the tread on which a token stands


def heights(walks):
    """Walks from token to token as stairs: the step from i to j climbs by ln(w_ij / w_ji).

    Symmetric scores give each token a height, the logarithm of the sum of its row before the division, and a step
    climbs from one height to the other. So a walk around a circle ends as high as it began. Where it does not, no
    symmetric scores give these weights.

    Args:
        walks: title -> (names, climbs). The names of the k tokens in the order of the walk; around a circle, the first
            stands at the end again. And the k - 1 climbs, infinite where a token gives nothing back.
    """
    figure, axes = house_figure(WIDTH, 2.5, columns=len(walks))
    rows = []
    for axis, (title, (names, climbs)) in zip(axes, walks.items()):
        climbs = as_array(climbs)
        _stairs(axis, names, climbs)
        axis.set_title(title)
        steps = [f"{start} to {end}" for start, end in zip(names, names[1:])]
        rows += [[title, *row] for row in zip(steps, climbs, climbs.cumsum().round(5))]
    axes[0].set_ylabel("height")
    alt = f"Stairs of {len(walks)} walks: each step climbs by the logarithm of the weight there over the weight back."
    return Picture(figure, table(alt, ["walk", "step", "climb", "height"], rows))


def _stairs(axis, names, climbs):
    """One walk: a tread for each token, and a line for each step, broken where it climbs without end."""
    endless = np.isinf(climbs)
    levels = np.cumsum([0, *np.where(endless, 1, climbs)])
    for x, (name, level) in enumerate(zip(names, levels)):
        axis.plot([x - TREAD, x + TREAD], [level, level], color=SLATE, linewidth=3, solid_capstyle="butt")
        axis.annotate(name, (x, level), (0, 4), textcoords="offset points", ha="center", va="bottom", fontsize=9.2)
    for x, (climb, low, high) in enumerate(zip(climbs, levels, levels[1:])):
        axis.plot([x + TREAD, x + 1 - TREAD], [low, high], color=INK, linewidth=0.8,
                  linestyle=":" if np.isinf(climb) else "-")
        label = "\u221e" if np.isinf(climb) else f"{climb.round(1) + 0.0:+.1f}".replace("-", "\u2212")
        axis.annotate(label, (x + 0.5, (low + high) / 2), (5, -4), textcoords="offset points", va="top", fontsize=9.2)
    if names[0] == names[-1]:
        axis.plot([0, len(names) - 1], [0, 0], color=OCHRE, linewidth=1, linestyle="--", zorder=0.5)
        if abs(levels[-1]) > 0.01:
            axis.annotate("", (len(names) - 1, levels[-1]), (len(names) - 1, 0),
                          arrowprops={"arrowstyle": "<->", "color": OCHRE, "shrinkA": 0, "shrinkB": 2})
    axis.set_xlim(-0.5, len(names) - 0.5)
    axis.margins(y=0.2)
    axis.set_xticks([])
    axis.spines["bottom"].set_visible(False)
    if endless.any():
        axis.set_yticks([])
