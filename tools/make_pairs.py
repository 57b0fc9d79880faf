"""Make pairs.npz: `python -m tools.make_pairs` trains every layer of chapter 6b that recalls pairs again, in about a
quarter of an hour on one core.

A test recomputes the first steps of a cell, drawn at random, and compares.
"""
import sys


from mha.lab.assets import LONG_PAIRS, PAIRS, PAIRS_FILE
from mha.lab.assets.trainings import pairs_name
from mha.lab.train import fit_pairs
from tools.kept import keep

SEED, RUNS, STEPS, LONG, RATE = 20, 4, 3000, 12000, 0.02


def make(cell, long=False):
    """Train the runs of one cell of PAIRS: the share right in each eighth of the steps (8, 4)."""
    layer, width, n = cell
    return fit_pairs(layer, n, width=width, steps=LONG if long else STEPS, rate=RATE, runs=RUNS, seed=SEED)


def main():
    kept = {}
    for long, cells in ((False, PAIRS), (True, LONG_PAIRS)):
        for cell in cells:
            name, right = pairs_name(*cell, long), make(cell, long)
            kept[name] = right.numpy()
            print(f"{name}: from {right[-1].min():.3f} to {right[-1].max():.3f} at the end, "
                  f"{right[-2].mean():.3f} an eighth before", flush=True)
            keep(PAIRS_FILE, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
