"""Make paths.npz: `python -m tools.make_paths` trains twenty language models of chapter 8 with two layers, in an hour
on one core, and keeps what each head of layer 0 is needed for.

A test repeats the start of one run, drawn at random, and compares.
"""
import sys

import numpy as np
import torch

from mha.lab.assets import KINDS, PATHS
from mha.lab.induction import Repeats, evaluate, fit_induction, without_paths
from tools.kept import keep

SEEDS = range(10, 30)                                # the first five are the runs of induction.npz
EVERY, PERIOD = 100, 16
GROWN = 0                                            # the run whose maps are kept on the way


def run(seed):
    """Train one model: field of `mha.lab.assets.PathRuns` -> its row."""
    shown, grown = Repeats(period=PERIOD, seed=7).draw(1)[0][:, :-1], []

    @torch.no_grad()
    def watch(model):
        grown.append(torch.cat(model(shown, need_weights=True)[1]))                # (layers, h, n, n) of one sequence

    model, at, history = fit_induction(**KINDS["two layers"], seed=seed, every=EVERY, watch=watch)
    tokens = Repeats(period=PERIOD, seed=999).draw(256)[0][:, :-1]
    with torch.no_grad():
        first = model(tokens, need_weights=True)[1][0].mean(0)                     # (h, n, n)
    test = evaluate(model, PERIOD)
    print(f"seed {seed}: later loss {test.later:.3f}, accuracy {test.accuracy:.2f}", flush=True)
    return {"at": at, "history": history.later, "accuracy": test.accuracy, "later": test.later, "prefix": test.prefix,
            "itself": first.diagonal(0, -2, -1).mean(-1), "before": first.diagonal(-1, -2, -1).mean(-1),
            "without": without_paths(model, PERIOD), "tokens": shown[0], "grown": torch.stack(grown)}


def arrays(rows):
    """The names and arrays under which the runs are stored: floats as float16, the maps of one run as bytes."""
    maps = (rows[GROWN]["grown"] * 255).round().byte().numpy()
    one = {name: rows[0][name].numpy() for name in ("at", "tokens")}
    each = {name: torch.stack([row[name] for row in rows]).half().numpy() for name in rows[0]
            if name not in ("at", "tokens", "grown")}
    return {"seeds": np.array(SEEDS), **one, **each, "grown": maps}


def main():
    keep(PATHS, arrays([run(seed) for seed in SEEDS]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
