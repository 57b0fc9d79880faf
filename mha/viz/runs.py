"""A picture of runs, a dot for each."""
import numpy as np

from mha.viz.charts import BESIDE
from mha.viz.picture import INK, OCHRE, ROSE, SLATE, TEAL, WIDTH, Picture, as_array, house_figure
from mha.viz.tables import readable_name, table

HUES_OF_RUNS, MARKS_OF_RUNS = (SLATE, OCHRE, TEAL, ROSE), "os^D"


def dots(labels, ylabel, lines=(), grain=0.25, each="run", never="never", floors=(), **series):
    """One dot for each run, so that no mean can hide a run that failed. A single label lies, and needs little height.

    Args:
        labels: m names along the x axis.
        ylabel: what the runs are measured by.
        lines: (height, name) of horizontal lines, such as a proved bound; m heights are a line for each label.
        grain: the text table gives, in steps of this size, the range that holds all runs; a training ends a little
            differently on each machine.
        each: what a dot stands for.
        never: what is said of the runs that are infinite, of several labels: they are hollow, and stand above the axis.
        floors: of several labels, for each series m heights: a short line each, which the legend calls the floor.
        series: name -> (m, runs) numbers, at most four; all NaN where nothing was run.
    """
    values = {readable_name(name): as_array(s) for name, s in series.items()}
    figure = (_lying(labels, ylabel, lines, values) if len(labels) == 1
              else _standing(labels, ylabel, lines, values, never, floors))

    def span(v):
        if np.isnan(v).all():
            return "not run"
        ends, missing = v[~np.isinf(v)], np.isinf(v).sum()
        told = [f"{missing} {never}"] * bool(missing)
        if ends.size:
            told.insert(0, f"{grain * np.floor(ends.min() / grain):g} to {grain * np.ceil(ends.max() / grain):g}")
        return ", ".join(told)

    rows = [[label.replace("\n", " "), *(span(v[i]) for v in values.values())] for i, label in enumerate(labels)]
    all_of_them = f"{each[:-1]}ies" if each.endswith("y") else f"{each}s"
    alt = (f"Dots of {ylabel}, one for each {each}: {', '.join(values)}. The table gives ranges that hold all "
           f"{all_of_them}.") + (" A short line is the floor of each." if floors else "")
    return Picture(figure, table(alt, ["", *values], rows))


def _standing(labels, ylabel, lines, values, never, floors):
    """The runs of each label above it; those that are infinite in a band above the axis."""
    figure, (axis,) = house_figure(WIDTH, 2.8)
    spots = np.arange(len(labels), dtype=float)
    for place, (name, v) in enumerate(values.items()):
        x = spots + 0.22 * (place - (len(values) - 1) / 2)
        x = x[:, None] + np.linspace(-0.05, 0.05, v.shape[1])
        _scatter(axis, x.ravel(), np.where(np.isinf(v), np.nan, v).ravel(), place, name)
    for place, low in enumerate(floors):
        x = spots + 0.22 * (place - (len(values) - 1) / 2)
        axis.hlines(low, x - 0.1, x + 0.1, color=INK, linewidth=1.2, label=None if place else "the floor")
    for height, name in lines:
        heights = np.broadcast_to(as_array(height), len(labels))
        reach = 0.3 if np.ndim(height) else 0.5
        axis.hlines(heights, spots - reach, spots + reach, color=INK, linewidth=0.8, linestyle="--")
        axis.annotate(name, (spots[-1] + reach, heights[-1]), BESIDE, textcoords="offset points", va="center",
                      annotation_clip=False)
    axis.set(ylabel=ylabel, xlim=(-0.5, len(labels) - 0.5))
    axis.set_xticks(spots, labels)
    axis.tick_params(axis="x", length=0)
    if any(np.isinf(v).any() for v in values.values()):
        _band(axis, spots, values, never)
    if len(values) > 1:
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, frameon=False, handletextpad=0.2,
                    handlelength=1.2 if floors else None)
    return figure


def _band(axis, spots, values, never):
    """Above a gap in the axis, the runs that are infinite: hollow, and so far apart that they can be counted."""
    (low, high), ticks = axis.get_ylim(), axis.get_yticks()
    gap = 0.08 * (high - low)
    for place, v in enumerate(values.values()):
        x = spots + 0.22 * (place - (len(values) - 1) / 2)
        x = x[:, None] + np.linspace(-0.2, 0.2, v.shape[1]) / len(values)
        axis.scatter(x, np.where(np.isinf(v), high + 2 * gap, np.nan), s=14, facecolor="none", clip_on=False,
                     edgecolor=HUES_OF_RUNS[place], marker=MARKS_OF_RUNS[place])
    axis.spines["left"].set_bounds(low, high)
    ticks = [tick for tick in ticks if low <= tick <= high]
    axis.set_yticks([*ticks, high + 2 * gap], [*(f"{tick:g}" for tick in ticks), never.replace(" by ", " by\n")])
    axis.set_ylim(low, high + 3 * gap)


def _lying(labels, ylabel, lines, values):
    """The runs of the one label at its right, on an axis from 0 on."""
    figure, (axis,) = house_figure(WIDTH, 0.85 + 0.25 * len(values))
    for place, (name, v) in enumerate(values.items()):
        _scatter(axis, v.ravel(), place + np.linspace(-0.12, 0.12, v.size), place, name)
    for at, name in lines:
        axis.axvline(at, color=INK, linewidth=0.8, linestyle="--")
        axis.annotate(name, (at, 1), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
                      ha="center")
    axis.set(xlabel=f"{ylabel}: {labels[0]}", xlim=(0, None), ylim=(len(values) - 0.5, -0.5))
    axis.set_yticks(range(len(values)), values)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    return figure


def _scatter(axis, x, y, place, name):
    axis.scatter(x, y, s=14, alpha=0.8, linewidth=0, color=HUES_OF_RUNS[place], marker=MARKS_OF_RUNS[place],
                 label=name, clip_on=False)
