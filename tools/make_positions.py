"""Make positions.npz: `python -m tools.make_positions` trains every layer of chapter 10 again, in about an hour and a
half on one core.

A test recomputes the runs of one seed of one training, drawn at random, and compares.
"""
import sys

import torch

from mha.lab.assets import POSITION_RUNS
from mha.lab.assets.trainings import position_name
from mha.lab.train import POSITIONS, TASKS, fit_positions
from tools.kept import keep

SEEDS, RUNS = (0, 1, 2), 8  # runs of each seed
LENGTHS, STEPS = (24, 48, 96), {False: 800, True: 2400}  # long -> steps


def cells():
    """(task, positions, long, n) of every training."""
    return ([(task, positions, False, 24) for task in TASKS for positions in POSITIONS]
            + [(task, positions, True, 24) for task in TASKS for positions in ("rotary", "ALiBi")]
            + [("nearest", positions, False, 96) for positions in POSITIONS])


def tried(n):
    """The lengths on which a training on n tokens is tried."""
    return tuple(length for length in LENGTHS if length >= n)


def train(task, positions, long, n, seed):
    return fit_positions(task, positions, n=n, lengths=tried(n), steps=STEPS[long], runs=RUNS, seed=seed)


def main():
    kept = {}
    for cell in cells():
        found, name = [train(*cell, seed) for seed in SEEDS], position_name(*cell)
        kept[name + "lengths"] = torch.tensor(tried(cell[-1]))
        kept[name + "parameters"] = torch.tensor(found[0].parameters)
        kept |= {name + field: torch.cat([getattr(one, field) for one in found])
                 for field in ("errors", "windowed", "without") if getattr(found[0], field) is not None}
        print(name, *(f"{each.mean():.3f} [{each.min():.3f} {each.max():.3f}]" for each in kept[name + "errors"].T),
              f"windowed {kept[name + 'windowed'][:, -1].mean():.3f}", flush=True)
    keep(POSITION_RUNS, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
