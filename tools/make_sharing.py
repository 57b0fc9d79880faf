"""Make sharing.npz: `python -m tools.make_sharing` trains every model of chapter 11 again, in about an hour on one
core.

A test recomputes the runs of one seed of a short cell, both drawn at random, and compares.
"""
import sys

import torch

from mha.lab.assets import LONG_SHARING, SHARING, SHARING_FILE
from mha.lab.assets.trainings import sharing_name
from mha.lab.train import fit_sharing
from tools.kept import keep

SEEDS, RUNS = (10, 11, 12), 8  # runs of each seed
STEPS, LONG = 1200, 4800


def make(cell, long, seed):
    """Train eight layers of one cell of SHARING: their errors (8,)."""
    task, h_kv, h, d_k, d_v, d_c = cell
    return fit_sharing(task, h_kv=h_kv, h=h, d_k=d_k, d_v=d_v, d_c=d_c, runs=RUNS, seed=seed,
                       steps=LONG if long else STEPS)[0]


def main():
    kept = {}
    for long, cells in ((False, SHARING), (True, LONG_SHARING)):
        for cell in cells:
            name, error = sharing_name(*cell, long), torch.cat([make(cell, long, seed) for seed in SEEDS])
            kept[name] = error.numpy()
            print(f"{name}: {error.mean():.4f}, from {error.min():.4f} to {error.max():.4f}", flush=True)
    keep(SHARING_FILE, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
