"""Make positions.npz: `python -m tools.make_positions` trains every layer of chapter 10 again, in about five minutes on
one core.

A test recomputes one of them, drawn at random, and compares.
"""
import sys

import numpy as np

from mha.assets import POSITION_RUNS
from mha.train import POSITIONS, TASKS, fit_positions

RUNS, SEED, LENGTHS = 8, 1, (24, 48, 96)


def main():
    kept = {}
    for task in TASKS:
        for positions in POSITIONS:
            found = fit_positions(task, positions, lengths=LENGTHS, runs=RUNS, seed=SEED)
            name = f"{task}, {positions}: "
            kept |= {name + "lengths": np.array(LENGTHS), name + "errors": found.errors.numpy(),
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
