"""Make longer.npz: `python -m tools.make_longer` trains the layers of chapter 10 that are taken to longer sentences,
and those whose heads are looked at, in about ten minutes on one idle core.

A test recomputes the runs of one seed of one task, drawn at random, and compares.
"""
import sys

import torch

from mha.lab.assets import LONGER_RUNS
from mha.lab.train import TASKS
from mha.lab.train.longer import WAYS, fit_apart, fit_longer
from tools.kept import keep

SEEDS, RUNS = (0, 1, 2), 8  # runs of each seed, those of positions.npz


def main():
    kept = {}
    for task in TASKS:
        at_once, tuned = (torch.cat(found) for found in zip(*(fit_longer(task, runs=RUNS, seed=s) for s in SEEDS)))
        kept |= {f"{task}: at_once": at_once, f"{task}: tuned": tuned}
        for i, way in enumerate(WAYS):
            print(task, way, *(f"{each[:, i].mean():.3f} [{each[:, i].min():.3f} {each[:, i].max():.3f}]"
                               for each in (at_once, tuned)), flush=True)
    found = [fit_apart(runs=RUNS, seed=s) for s in SEEDS]
    kept |= {f"ALiBi: {field}": torch.cat([getattr(one, field) for one in found]) for field in ("apart", "looks")}
    print("ALiBi, apart", kept["ALiBi: apart"].mean(0), kept["ALiBi: looks"].mean(0)[:, :5], flush=True)
    keep(LONGER_RUNS, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
