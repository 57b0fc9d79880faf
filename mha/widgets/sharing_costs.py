"""What sharing keys and values costs: the errors of layers trained on three tasks, and the floor of one of them."""
import torch

from mha import viz
from mha.lab.assets import LONG_SHARING, shared_runs
from mha.widgets.figure import Choice, LiveFigure, Slider
from mha.widgets.filling_cache import layer_of

SHARED = [(4, h_kv, 8, 4, None) for h_kv in (4, 2, 1)]  # h, h_kv, d_k, d_v, d_c
LATENT = [(4, None, 8, 4, d_c) for d_c in (24, 12)]
TASKS = {  # as the control says it -> its name, and what was trained on it, column by column
    "same": ("same", [*SHARED, *LATENT]),
    "slices": ("slices", [*SHARED, *((4, 1, 8, d_v, None) for d_v in (8, 16)), *LATENT]),
    "slices, 8 heads": ("slices", [*((8, h_kv, 8, 2, None) for h_kv in (8, 4, 2, 1))]),
    "fields": ("fields", [*SHARED, *((4, 1, d_k, 4, None) for d_k in (16, 32)), *LATENT]),
    "fields, narrow keys": ("fields", [*((4, h_kv, d_k, 4, None) for d_k in (4, 2) for h_kv in (4, 2, 1))]),
}
STEPS = [1200, 4800]  # what was not trained so long is shown after the fewer steps
WANTED = 16  # numbers: four of each of four tokens


def floor(task, h_kv, d_v, d_c):
    """The least error on "slices" of heads whose scores do not see the contents: 1 - (numbers of value kept) / 16."""
    return max(0.0, 1 - (d_c or h_kv * d_v) / WANTED) if task == "slices" else torch.nan


def kept(h, h_kv, d_k, d_v, d_c):
    """How many numbers a token leaves behind."""
    return layer_of(h, h_kv, d_k, d_v, d_c).new_cache(1, 1).per_token


def is_long(task, h, h_kv, d_k, d_v, d_c):
    """Whether a column was trained for the more of the STEPS too."""
    return (task, h_kv, h, d_k, d_v, d_c) in LONG_SHARING


def runs_of(task, cell, long):
    """The errors of the runs of one column, float64."""
    h, h_kv, d_k, d_v, d_c = cell
    return shared_runs(task, h_kv, h=h, d_k=d_k, d_v=d_v, d_c=d_c, long=long and is_long(task, *cell)).double()


def named(h, h_kv, d_k, d_v, d_c):
    """A column in words."""
    return f"latent of {d_c}" if d_c else f"h_kv = {h_kv}, keys of {d_k}, values of {d_v}"


class SharingCosts(LiveFigure):
    """Layers of h heads that share keys and values, or one latent, trained on three tasks: a dot a run.

    "same" wants the same four numbers of four tokens, "slices" other numbers of each, and "fields" finds each token by
    another name.

    `numbers()` gives, for each column of the task: error, of its runs; steps, after which they were tested; kept, the
    numbers that a token leaves behind; floor, below which no heads come whose scores do not see the contents, nan
    where none is known. And chosen (3): the best, the middle and the worst error of the chosen column.
    """

    task = Choice("task", list(TASKS), value=1)
    column = Slider("column", 1, 7, value=1, new_row=True, moves_end=True)
    steps = Choice("steps", [f"{count:,}" for count in STEPS])

    def __init__(self):
        self.errors = [[[runs_of(task, cell, long) for cell in columns] for task, columns in TASKS.values()]
                       for long in (False, True)]
        columns = [columns for _, columns in TASKS.values()]
        long = [[is_long(task, *cell) for cell in columns] for task, columns in TASKS.values()]
        errors = [[[runs.tolist() for runs in columns] for columns in tasks] for tasks in self.errors]
        super().__init__({"names": list(TASKS), "columns": columns, "long": long, "errors": errors, "counts": STEPS,
                          "wanted": WANTED})

    def settings(self):
        """Every task, a column of it, and both numbers of steps."""
        return ({"task": task, "column": column, "steps": steps} for task, (_, columns) in enumerate(TASKS.values())
                for column in range(1, len(columns) + 1) for steps in range(len(STEPS)))

    def numbers(self, task, column, steps):
        name, cells = list(TASKS.values())[task]
        errors = self.errors[steps][task]
        chosen = errors[column - 1]
        shown = {"steps": [STEPS[steps and is_long(name, *cell)] for cell in cells],
                 "kept": [kept(*cell) for cell in cells],
                 "floor": [floor(name, h_kv, d_v, d_c) for _, h_kv, _, d_v, d_c in cells],
                 "chosen": [chosen.min(), chosen.quantile(0.5), chosen.max()]}
        return {"error": torch.cat(errors),
                **{what: torch.tensor(values, dtype=torch.float64) for what, values in shown.items()}}

    def picture(self):
        said, shown = list(TASKS)[self.task], self.numbers(**self.setting())
        cells = TASKS[said][1]
        short = [f"latent\n{d_c}" if d_c else f"h_kv = {h_kv}\n{d_k}, {d_v}" for _, h_kv, d_k, d_v, d_c in cells]
        picture = viz.dots(short, f"error on {said}", runs=shown["error"].view(len(cells), -1))
        lines = []
        for cell, many, low in zip(cells, shown["kept"], shown["floor"]):
            line = f"{named(*cell)}: a token adds {int(many)} numbers"
            lines.append(line if low.isnan() else f"{line}, the floor is {low:.3f}")
        picture.text += "\n\n" + "\n".join(lines)
        return picture
