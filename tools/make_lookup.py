"""Make lookup.npz: `python -m tools.make_lookup` trains every head of chapter 2's grids again, in about five minutes on
one core.

A test recomputes a cell drawn at random, and compares.
"""
import sys

import torch

from mha.lab.assets import LOOKUP_FILE, LOOKUP_POWERS, LOOKUP_RATES, LOOKUP_WIDTHS
from mha.lab.train import LOOKUP_LOSSES, fit_lookup
from tools.kept import keep

LEARNED = {"tables": None, "matrices": 64}                                  # the width of the tokens


def make(learned, loss, power, d_k, rate, seed=0):
    """The losses of the eight heads of one cell: (8,)."""
    return fit_lookup(d_k, scale=d_k**-power, rate=rate, tokens=LEARNED[learned], loss=loss, seed=seed)


def main():
    kept = {}
    for learned in LEARNED:
        for loss in LOOKUP_LOSSES:
            grid = torch.stack([make(learned, loss, power, d_k, rate) for power in LOOKUP_POWERS
                                for d_k in LOOKUP_WIDTHS for rate in LOOKUP_RATES])
            kept[f"{learned}_{loss}"] = grid.view(3, 5, 5, 8).numpy()
            print(f"{learned}, {loss}: done", flush=True)
    keep(LOOKUP_FILE, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
