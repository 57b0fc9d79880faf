"""The board of chapter 14 (`board.json`), the runs behind it (`journeys.npz`), and more seeds (`more_seeds.npz`)."""
import json
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays
from mha.lab.journeys import Config, Entry, Model, config
from mha.lab.journeys.training import first_enough

BOARD, JOURNEYS = FOLDER / "board.json", FOLDER / "journeys.npz"
PLAYED = (                                                      # of board: each from the seeds 0 to 7
    config(2, 1), config(1, 2), config(1, 1), config(1, 1, steps=1200), config(2, 2), config(1), config(4),
    config((2, 1), 1, d_k=8), config(2, 1, d_k=4), config(2, 1, positions="none"),
    config((2, 1), 1, d_k=12), config((4, 1), (4, 1)), config(1, 1, d_k=24),
)
MORE_SEEDS, OTHERS = FOLDER / "more_seeds.npz", range(8, 40)      # played after the chapter was written
PLAYED_ON = (config(2, 1), config(1, 2), config(1, 1), config(2, 2))
LOOKED_INTO, MODELS = PLAYED[0], 2                              # how many of its runs are stored with their parameters


@cache
def board() -> tuple[Entry, ...]:
    """What was played for the book, in the order of PLAYED."""
    return tuple(map(Entry.read, json.loads(BOARD.read_text(encoding="utf-8"))))


@dataclass(frozen=True)
class JourneyRuns:
    """The runs behind one entry of the board."""

    at: Tensor
    """(T,), the steps before which all were tested, and the last."""
    history: Tensor
    """(T, 8, 2), the share right in each box in these tests, of 64 documents."""


def journey_runs(played: Config) -> JourneyRuns:
    """The runs of one configuration in PLAYED.

    Raises:
        ValueError: it is not one of these.
    """
    if played not in PLAYED:
        raise ValueError(f"nothing is stored for {played.name}; mha.lab.assets.PLAYED lists what is")
    return JourneyRuns(**arrays(JOURNEYS, start=f"{played.name}: "))


def more_seeds(played: Config) -> Entry:
    """What a configuration in PLAYED_ON came to from the seeds 8 to 39.

    Raises:
        ValueError: it is not one of these.
    """
    if played not in PLAYED_ON:
        raise ValueError(f"nothing is stored for {played.name}; mha.lab.assets.PLAYED_ON lists what is")
    part = arrays(MORE_SEEDS, start=f"{played.name}: ")
    right, reached = tuple(map(tuple, part["right"].tolist())), tuple(first_enough(part["at"], part["history"]))
    return Entry(played, played.cached, played.parameters, tuple(OTHERS), right, reached, board()[0].version)


def journey_heads(more: bool = False) -> tuple[list[str], Tensor, Tensor]:
    """What the heads of the eight runs of LOOKED_INTO, two heads and then one, are for; more: of the other 32.

    Returns:
        names: "all heads", "head 0.0", "head 0.1", "head 1.0".
        without: (8 or 32, 4, 2), the share right in each box, with all heads and without each.
        looks: (8 or 32, 3, 6), as `mha.lab.journeys.looks` has them.
    """
    part = arrays(MORE_SEEDS if more else JOURNEYS, start="heads: ")
    return part["names"], part["without"], part["looks"]


def journey_model(run: int = 0) -> Model:
    """The model of one run of LOOKED_INTO, 0 or 1, as trained; its numbers are rounded to 16 bits."""
    part = arrays(JOURNEYS, start="model: ")
    if not 0 <= run < MODELS:
        raise ValueError(f"run must be 0 to {MODELS - 1}, got {run}")
    model = Model(LOOKED_INTO)
    model.load_state_dict({name: values[run] for name, values in part.items()})
    return model
