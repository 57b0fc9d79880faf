"""Make positions.npz: `python -m tools.make_positions` trains every layer of chapter 10 again, in about half an hour
on one core.

A test recomputes one of them, drawn at random, and compares.
"""
import sys

import numpy as np

from mha.assets import POSITION_RUNS
from mha.assets.trainings import position_name
from mha.train import POSITIONS, TASKS, fit_positions

RUNS, SEED, LENGTHS, STEPS = 8, 1, (24, 48, 96), {False: 800, True: 2400}    # long -> steps


def cells():
    """(task, positions, long, n) of every training."""
    return ([(task, positions, long, 24) for long in STEPS for task in TASKS for positions in POSITIONS]
            + [("nearest", positions, False, 96) for positions in POSITIONS])


def tried(n):
    """The lengths on which a training on n tokens is tried."""
    return tuple(length for length in LENGTHS if length >= n)


def train(task, positions, long, n):
    return fit_positions(task, positions, n=n, lengths=tried(n), steps=STEPS[long], runs=RUNS, seed=SEED)


def main():
    kept = {}
    for cell in cells():
        found, name = train(*cell), position_name(*cell)
        kept |= {name + "lengths": np.array(tried(cell[-1])), name + "errors": found.errors.numpy(),
                 name + "windowed": found.windowed.numpy(), name + "parameters": np.array(found.parameters)}
        if found.without is not None:
            kept[name + "without"] = found.without.numpy()
        print(name, *(f"{each.mean():.3f} [{each.min():.3f} {each.max():.3f}]" for each in found.errors.T),
              f"windowed {found.windowed[:, -1].mean():.3f}", flush=True)
    np.savez_compressed(POSITION_RUNS, **kept)
    print(f"{POSITION_RUNS.name}: {POSITION_RUNS.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
