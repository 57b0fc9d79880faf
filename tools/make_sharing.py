"""Make sharing.npz: `python -m tools.make_sharing` trains every model of chapter 11 again, in less than half an hour
on one core.

A test recomputes one cell of the short ones, drawn at random, and compares.
"""
import sys

import numpy as np

from mha.assets import LONG_SHARING, SHARING, SHARING_FILE
from mha.assets.trainings import sharing_name
from mha.train import fit_sharing

RUNS, SEED, STEPS, LONG = 8, 10, 1200, 4800


def make(cell, long):
    """Train the layers of one cell of SHARING: their errors (8,)."""
    task, h_kv, h, d_k, d_v, d_c = cell
    return fit_sharing(task, h_kv=h_kv, h=h, d_k=d_k, d_v=d_v, d_c=d_c, runs=RUNS, seed=SEED,
                       steps=LONG if long else STEPS)[0]


def main():
    kept = {}
    for long, cells in ((False, SHARING), (True, LONG_SHARING)):
        for cell in cells:
            name, error = sharing_name(*cell, long), make(cell, long)
            kept[name] = error.numpy()
            print(f"{name}: {error.mean():.4f}, from {error.min():.4f} to {error.max():.4f}", flush=True)
    np.savez_compressed(SHARING_FILE, **kept)
    print(f"{SHARING_FILE.name}: {SHARING_FILE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
