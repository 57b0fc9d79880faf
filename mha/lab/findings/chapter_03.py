"""Chapter 3: the tasks in which each token should attend to one other."""
import matplotlib
import torch

from mha.lab.data import POINTERS, pointers
from mha.viz.picture import INK, STYLE, WEIGHT, WIDTH, Picture, house_figure


def pictured_tasks(seed=1):
    """One sentence of each task of `POINTERS`: its tokens, and an arrow from each that is asked to the one it wants."""
    with matplotlib.rc_context(fname=STYLE):
        figure, panels = house_figure(WIDTH, 2.9, columns=3, rows=2, height_ratios=(1, 0.75))
        rows = []
        for panel, task in zip(panels, POINTERS):
            draw, _, no_future = pointers(task, 1, torch.Generator().manual_seed(seed))
            x, target, asked = draw(1)
            wanted = {int(i): int(target[0, 0, i]) for i in asked}
            draw_task(panel, x.shape[2], wanted, round_about=task.startswith("circle") and not no_future)
            title = task.replace(" under", "\nunder").replace(" to ", "\nto ")
            panel.set_title(f"{title}\n" if task == "random pointers" else title, fontsize=9)
            rows.append(f"{task}: " + ", ".join(f"{i + 1} wants {j + 1}" for i, j in wanted.items()))
    text = "Six tasks, one sentence of each: an arrow leads from a token to the one it should attend to."
    return Picture(figure, "\n".join([text, "", *rows]))


def draw_task(panel, n, wanted, round_about):
    """The tokens on a circle or in a row, with their arrows; an arrow of a row is an arc above the tokens."""
    angles = torch.arange(n) / n * 2 * torch.pi
    if round_about:
        places, above = torch.stack([angles.sin(), angles.cos()], -1), 0.0
        panel.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", anchor="W")
    else:
        places, above = torch.stack([(torch.arange(n) + 0.5) * 2.4 / max(n, 5) - 1.2, torch.full((n,), -0.9)], -1), 0.3
        panel.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
    ends = (places + torch.tensor([0, above])).tolist()
    room = 7 if round_about else 0
    for i, j in wanted.items():
        bend = 0 if round_about else -0.5 if j > i else 0.5
        panel.annotate("", ends[j], ends[i], arrowprops={
            "arrowstyle": "-|>", "color": WEIGHT, "shrinkA": room, "shrinkB": room, "linewidth": 1,
            "mutation_scale": 8, "connectionstyle": f"arc3,rad={bend}"})
    for number, place in enumerate(places.tolist(), start=1):
        panel.text(*place, number, ha="center", va="center", fontsize=9, color=INK)
    panel.axis("off")
