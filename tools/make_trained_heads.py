"""Make trained_heads.npz: `python -m tools.make_trained_heads` trains every model of chapter 7 again, in about
an hour and a half on one core.

A test recomputes the runs of one seed of one cell, drawn at random, and compares.
"""
import sys

import torch

from mha.lab.assets import FIXED_HEADS, FIXED_VALUES, FIXED_WIDTHS, HEADS, LONG_HEADS, RELATIONS, TRAINED_HEADS
from mha.lab.train import fit_heads
from tools.kept import keep

SEEDS, RUNS, SAMPLES = (0, 1, 2), 8, 4  # runs of each seed; single sentences are kept of the first


def cells():
    """(name, arguments of fit_heads): h heads on r relations with d_k = 64 / h; h heads of a fixed d_k on 4 relations,
    some with another d_v; and some with more steps.
    """
    for r in RELATIONS:
        for h in HEADS:
            yield f"r{r}_h{h}", {"h": h, "r": r}
    for h in FIXED_HEADS:
        for d_k in FIXED_WIDTHS:
            yield f"r4_h{h}_dk{d_k}", {"h": h, "r": 4, "d_k": d_k}
    for h, d_k, d_v in FIXED_VALUES:
        yield f"r4_h{h}_dk{d_k}_dv{d_v}", {"h": h, "r": 4, "d_k": d_k, "d_v": d_v}
    for r, h, d_k in LONG_HEADS:
        yield f"r{r}_h{h}" + (f"_dk{d_k}" if d_k else "") + "_long", {"h": h, "r": r, "d_k": d_k, "steps": 3000}


def main():
    kept = {}
    for name, setting in cells():
        found = [fit_heads(runs=RUNS, samples=SAMPLES, seed=seed, **setting) for seed in SEEDS]
        error, shares = (torch.cat(parts) for parts in list(zip(*found))[:2])
        kept[f"{name}_error"], kept[f"{name}_shares"] = error.numpy(), shares.half().numpy()
        if "d_k" not in setting and "steps" not in setting:                       # the cells of the figure
            kept[f"{name}_samples"] = (255 * found[0][2]).round().byte().numpy()      # (runs, samples, h, n)
        print(name, "errors from", f"{error.min():.4f} to {error.max():.4f}", flush=True)
    keep(TRAINED_HEADS, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
