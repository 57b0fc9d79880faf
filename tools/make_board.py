"""Make board.json and journeys.npz: `python -m tools.make_board` plays every configuration of chapter 14 again, in
about four minutes on one core. Then more_seeds.npz, in ten: four of them from other seeds.

A test plays one of them again for a few steps, drawn at random, and compares.
"""
import json
import sys

import numpy as np

from mha.lab.assets import BOARD, JOURNEYS, LOOKED_INTO, MODELS, MORE_SEEDS, OTHERS, PLAYED, PLAYED_ON
from mha.lab.journeys import fit_journeys, looks, without_each_head
from mha.lab.journeys.board import entry_of
from tools.kept import keep

SEEDS = tuple(range(8))


def make(played, steps=None, seeds=SEEDS):
    """One configuration: its entry, and the arrays kept of its runs."""
    trained = fit_journeys(played, seeds, steps)
    entry = entry_of(trained)
    kept = {f"{played.name}: at": trained.at.numpy(), f"{played.name}: history": trained.history.numpy().astype("f2")}
    if played == LOOKED_INTO:
        models = [trained.runs.model(run) for run in range(len(seeds))]
        lost, seen = [without_each_head(model) for model in models], [looks(model) for model in models]
        kept["heads: names"] = np.array(list(lost[0]))
        kept["heads: without"] = np.array([[pair.tolist() for pair in each.values()] for each in lost], "f4")
        kept["heads: looks"] = np.array([[row.tolist() for row in each.values()] for each in seen], "f4")
        kept |= {f"model: {name}": values[:MODELS].detach().numpy().astype("f2")
                 for name, values in trained.runs.named.items()}
    return entry, kept


def main():
    entries, kept = [], {}
    for played in PLAYED:
        entry, arrays = make(played)
        entries.append(entry.told())
        kept |= arrays
        print(entry, flush=True)
        BOARD.write_text("[\n" + ",\n".join(map(json.dumps, entries)) + "\n]\n", encoding="utf-8")
        keep(JOURNEYS, kept)
    play_on()
    return 0


def play_on():
    """Four configurations from the seeds that come after those of the board."""
    kept = {}
    for played in PLAYED_ON:
        entry, arrays = make(played, seeds=OTHERS)
        kept |= {name: array for name, array in arrays.items() if not name.startswith("model: ")}
        kept[f"{played.name}: right"] = np.array(entry.right, "f4")
        print(entry, flush=True)
        keep(MORE_SEEDS, kept)


if __name__ == "__main__":
    sys.exit(main())
