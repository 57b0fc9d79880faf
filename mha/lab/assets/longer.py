"""The rotary layers of chapter 10 on longer sentences, by other frequencies; and those with ALiBi, head by head."""
from dataclasses import dataclass

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays
from mha.lab.train import TASKS
from mha.lab.train.longer import WAYS

LONGER_RUNS = FOLDER / "longer.npz"


@dataclass(frozen=True)
class LongerRuns:
    """Rotary layers trained on 24 tokens by `mha.lab.train.longer.fit_longer`, tried on 96: 24 runs, 8 of each seed."""
    ways: tuple
    """How the frequencies were changed after training, as `mha.lab.train.longer.frequencies` says."""
    at_once: Tensor
    """(24 runs, ways), the errors with nothing trained after."""
    tuned: Tensor
    """(24 runs, ways), after 100 steps more on sentences of 96 tokens, with the new frequencies."""


def longer_runs(task):
    """How rotary layers do on 96 tokens with other frequencies; task as in `position_runs`."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {TASKS}, got {task!r}")
    part = arrays(LONGER_RUNS, start=f"{task}: ")
    return LongerRuns(WAYS, part["at_once"], part["tuned"])


@dataclass(frozen=True)
class AlibiRuns:
    """Layers with ALiBi trained on "offsets" by `mha.lab.train.longer.fit_apart`: 24 runs, 8 of each seed."""
    apart: Tensor
    """(24 runs, 2 lengths, 2), the error of the content 1 back and of that 3 back, on 24 and on 96 tokens."""
    looks: Tensor
    """(24 runs, 4 heads, 24), the mean weight by tokens back, of the last of 24 tokens; the steepest head first."""


def alibi_runs():
    """How layers with ALiBi find what is 1 and 3 back."""
    return AlibiRuns(**arrays(LONGER_RUNS, start="ALiBi: "))
