"""Make induction.npz: `python -m tools.make_induction` trains the language models of chapter 8 again, in minutes
on one core.

A test repeats the start of one run, drawn at random, and compares.
"""
import sys

import torch

from mha.lab.assets import INDUCTION, KINDS, InductionRuns
from mha.lab.induction import Repeats, Scores, evaluate, fit_induction, without_each_head
from tools.kept import keep

SEEDS = range(10, 15)
PERIODS = range(5, 21)                               # tested at the end; the data has 8 to 16
SHOWN = (16, 10)                                     # the periods of the two sequences whose maps are kept


def runs(kind):
    """Train the models of one kind, one for each seed: InductionRuns."""
    tokens = torch.cat([Repeats(period=period, seed=7).draw(1)[0][:, :-1] for period in SHOWN])
    each = []
    for seed in SEEDS:
        model, at, history = fit_induction(**KINDS[kind], seed=seed)
        tests = Scores.stack([evaluate(model, period) for period in PERIODS])
        with torch.no_grad():
            maps = torch.stack(model(tokens, need_weights=True)[1], 1)             # (2, layers, h, n, n)
        each.append((history, tests, without_each_head(model, 16), maps))
        print(f"{kind}, seed {seed}: later loss {history.later[-1]:.3f}, accuracy {history.accuracy[-1]:.2f}",
              flush=True)
    history, tests, without, maps = zip(*each)
    return InductionRuns(torch.tensor(SEEDS), at, Scores.stack(history), torch.tensor(PERIODS), Scores.stack(tests),
                         torch.stack(without),
                         torch.tensor(SHOWN), tokens, torch.stack(maps))


def arrays(kind, found):
    """The names and arrays under which InductionRuns are stored: floats as float16, maps as bytes."""
    values = {**vars(found), "maps": (found.maps * 255).round().byte()}
    for name in ("history", "tests"):
        values |= {f"{name}.{field}": value for field, value in vars(values.pop(name)).items()}
    return {f"{kind}: {name}": (value.half() if value.is_floating_point() else value).numpy()
            for name, value in values.items()}


def main():
    kept = {}
    for kind in KINDS:
        kept |= arrays(kind, runs(kind))
    keep(INDUCTION, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
