"""The tables and pictures of chapter 14: a board of small models, and what the heads of one are for."""
from itertools import product

import torch

from mha import viz
from mha.lab.assets import PLAYED_ON, board, journey_heads, journey_model, journey_runs, more_seeds
from mha.lab.journeys import NAMES, QUESTIONS, TOWNS, Config, config, draw, without_each_head, words
from mha.lab.journeys.board import MARGIN
from mha.lab.journeys.training import EVERY
from mha.viz.picture import INK, OCHRE, TEAL, WIDTH, house_figure

JOBS = ("binder", "name head")


def entry(played: Config):
    """The stored entry of a configuration."""
    return next(entry for entry in board() if entry.config == played)


def plateaus() -> viz.Picture:
    """Right answers on the way, of the soonest and the latest of eight seeds of 2 + 1, and of the latest of 1 + 1."""
    two, one = journey_runs(config(2, 1)), journey_runs(config(1, 1))
    order = entry(config(2, 1)).late(600).argsort(stable=True)
    right = two.history.mean(-1)  # (T, 8)
    slow = one.history.mean(-1)  # (T, 8)
    return viz.curves(two.at, "steps", "right answers", points=13,
                      **{"2 + 1, soonest": right[:, order[0]], "2 + 1, latest": right[:, order[-1]],
                         "1 + 1, latest": slow[:, slow[-1].argmin()]})


def compared(*chosen: Config) -> viz.Table:
    """Configurations side by side: what they cost, how often they are right, and how many seeds learned it."""
    rows = [entry(played) for played in chosen]
    steps = [sorted(row.late(row.config.steps).tolist()) for row in rows]
    return viz.columns([row.config.name for row in rows], cached=[row.cached for row in rows],
                       least_right=[row.scores.min() for row in rows],
                       seeds_at_95=[f"{sum(step is not None for step in row.reached)} of 8" for row in rows],
                       first=[first_of(each, row) for each, row in zip(steps, rows)],
                       mean=[mean_of(each, row) for each, row in zip(steps, rows)],
                       last=[last_of(each, row) for each, row in zip(steps, rows)])


def first_of(steps, row):
    return f"{steps[0]:.0f}" if steps[0] <= row.config.steps else "never"


def mean_of(steps, row):
    """A run that did not get there counts as one test later than the last step, which is the least that it can be."""
    if steps[0] > row.config.steps:
        return "never"
    return f"{sum(steps) / len(steps):.0f}{'' if steps[-1] <= row.config.steps else ' or more'}"


def last_of(steps, row):
    return f"{steps[-1]:.0f}" if steps[-1] <= row.config.steps else "never"


def jobs(more=False) -> tuple[list[int], list[int]]:
    """For each of the eight runs, or of the 32 more, which head of layer 0 is the binder, the one that looks most from
    box 2 to box 1, and which is the other.
    """
    _, _, looks = journey_heads(more)
    binders = looks[:, :2, 2].argmax(-1)
    return binders.tolist(), (1 - binders).tolist()


def without() -> viz.Table:
    """Right answers of each run in "from" and "to", with all heads and without each job."""
    _, lost, _ = journey_heads()
    binders, others = jobs()
    columns = {"all heads": [0] * 8, "binder off": [1 + k for k in binders], "name head off": [1 + k for k in others],
               "layer 1 off": [3] * 8}
    return viz.columns([f"seed {run}" for run in range(8)], corner="from / to",
                       **{name: [f"{lost[run, k, 0]:.2f} / {lost[run, k, 1]:.2f}" for run, k in enumerate(which)]
                          for name, which in columns.items()})


def where_heads_look() -> viz.Table:
    """The mean weights of layer 0 where its jobs show, run by run: of the binder, and of the other head."""
    _, _, looks = journey_heads()
    columns = {}
    for job, heads in zip(JOBS, jobs()):
        for n, name in enumerate(("1 to name", "2 to name", "2 to 1")):
            columns[f"{job}, {name}"] = [looks[run, k, n] for run, k in enumerate(heads)]
    return viz.columns([f"seed {run}" for run in range(8)], corner="from box", **columns)


# What a prototype found before: other code, other seeds, eight of each. Configuration -> seeds that got to 0.95
EXPECTED = {config(2, 1): 8, config(1, 2): 4, config(2, 2): 8, config(1, 1): 0, config(1, 1, steps=1200): 8,
            config((2, 1), 1, d_k=8): 2, config(2, 1, d_k=4): 0}


def expected_and_found() -> viz.Table:
    """Seeds of eight that got to 0.95: in the prototype from which this chapter was planned, and on the board."""
    there = [sum(step is not None for step in entry(played).reached) for played in EXPECTED]
    return viz.columns([played.name for played in EXPECTED], expected=list(EXPECTED.values()), found=there)


def clean(more=False) -> list[int]:
    """The runs of the eight, or of the 32 more, in which the jobs lie apart: without the binder "from" falls below 1/3
    and "to" stays above 2/3, and without the other head both fall below 1/3.
    """
    _, lost, _ = journey_heads(more)
    found = []
    for run, (binder, other) in enumerate(zip(*jobs(more))):
        from_, to = lost[run, 1 + binder].tolist()
        if from_ < 1 / 3 and to > 2 / 3 and (lost[run, 1 + other] < 1 / 3).all():
            found.append(run)
    return found


def other_seeds() -> viz.Table:
    """What came of four configurations in 600 steps: from the eight seeds of the board, and from 32 others."""
    both = [(entry(played), more_seeds(played)) for played in PLAYED_ON]
    there = [[sum(step is not None for step in each.reached) for each in pair] for pair in both]
    late = [[each.late(600) for each in pair] for pair in both]
    return viz.columns([played.name for played in PLAYED_ON], corner="learned",
                       of_8=[few for few, _ in there], of_32=[many for _, many in there],
                       mean_of_8=[f"{few.mean():.0f}" for few, _ in late],
                       mean_of_32=[f"{many.mean():.0f}" for _, many in late],
                       first_of_32=[f"{many.min():.0f}" for _, many in late],
                       last_of_32=[f"{many.max():.0f}" if many.max() <= 600 else "never" for _, many in late])


def read_by(run: int = 0):
    """One document, and what the stored model says of it: its tokens, and (asked, said, right) for each question."""
    tokens, answers = draw(torch.Generator().manual_seed(14), 1)
    with torch.no_grad():
        said = journey_model(run)(tokens)[0, -QUESTIONS:].argmax(-1)
    names = [NAMES[token] for token in tokens[0, -QUESTIONS:].tolist()]
    told = [[[TOWNS[town] for town in pair] for pair in boxes.tolist()] for boxes in (said, answers[0])]
    return words(tokens[0]), list(zip(names, *told))


@torch.no_grad()
def towns_said(model) -> tuple[float, float]:
    """The share of a model's answers that are towns of the document, and the share that are of the fact asked."""
    tokens, answers = draw(torch.Generator().manual_seed(1), 200)
    said = model(tokens)[:, -QUESTIONS:].argmax(-1)[..., None]  # (B, 8, 2, 1)
    told = tokens[:, :-QUESTIONS].unflatten(-1, (-1, 3))[..., 1:].flatten(1) - len(NAMES)  # (B, 8), towns as 0 to 11
    return tuple((said == towns).any(-1).float().mean().item()
                 for towns in (told[:, None, None], answers[:, :, None]))


def switched_off(run: int) -> viz.Picture:
    """What a run of 2 + 1 has right in either box, with all heads and without each."""
    right = without_each_head(journey_model(run))
    return viz.bars([name if name == "all heads" else f"without {name}" for name in right],
                    alt="The share that is right in either box, with all heads and without each.",
                    **{"from": [float(pair[0]) for pair in right.values()],
                       "to": [float(pair[1]) for pair in right.values()]})


def needed(*chosen: Config, margin: bool = False) -> viz.Picture:
    """The steps that each seed needed, of configurations trained for as many as the first; with the margin, a line that
    lies so much above the mean of the first.
    """
    entries = [entry(played) for played in chosen]
    last = chosen[0].steps
    steps = torch.stack([each.late(last) for each in entries])
    lines = [(steps[0].mean().item() + MARGIN, f"{MARGIN} later")] if margin else []
    return viz.dots([each.config.name.replace(", ", ",\n") for each in entries], "steps until 0.95 right",
                    grain=EVERY, each="seed", never=f"not by step {last}", lines=lines,
                    seeds=torch.where(steps > last, torch.inf, steps))


def square() -> viz.Picture:
    """Four documents that differ in whose name comes first and in two towns: what is right for Bob, and its sign."""
    figure, panels = house_figure(WIDTH, 2.3, rows=2, columns=2)
    rows = []
    for panel, (names, towns) in zip(panels, product(("n", "n\u2032"), ("m", "m\u2032"))):
        facts = [["Bob", "Paris", "Cairo"], ["Gus", "Oslo", "Perth"]]
        if names != "n":
            facts[0][0], facts[1][0] = facts[1][0], facts[0][0]
        if towns != "m":
            facts[0][1], facts[1][1] = facts[1][1], facts[0][1]
        right = next(fact[1] for fact in facts if fact[0] == "Bob")
        sign = f"{names} + {towns} {'>' if right == 'Paris' else '<'} 0"
        for y, fact in zip((1, 0), facts):
            for x, word in enumerate(fact):
                panel.text(x, y, word, ha="center", va="center", fontsize=9.5,
                           color={"Paris": OCHRE, "Oslo": TEAL}.get(word, INK),
                           bbox={"boxstyle": "round,pad=0.25", "facecolor": "none", "linewidth": 0.8,
                                 "edgecolor": INK if fact[0] == "Bob" and x < 2 else "none"})
        panel.text(2.75, 0.5, sign, ha="left", va="center")
        panel.set(xlim=(-0.5, 4.6), ylim=(-0.5, 1.6))
        panel.axis("off")
        rows.append([sign, *(" ".join(fact) for fact in facts), right])
    for panel, title in zip(panels, ("as it is", "towns exchanged", "names exchanged", "both exchanged")):
        panel.set_title(title, loc="left")
    return viz.Picture(figure, viz.table("Two facts of four documents, and where Bob comes from.",
                                         ["condition", "first fact", "second fact", "right"], rows))
