"""Small language models of two layers, and what each head of the first is needed for (`paths.npz`)."""
from dataclasses import dataclass, replace

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

PATHS = FOLDER / "paths.npz"


@dataclass(frozen=True)
class PathRuns:
    """Models of two layers of h heads, trained by `mha.lab.induction.fit_induction` from R seeds; tested at period 16.

    The first five are the runs "two layers" of `induction_runs`.
    """
    seeds: Tensor
    """(R,)."""
    at: Tensor
    """(S,), the steps after which a model was tested."""
    history: Tensor
    """(R, S), the later loss on the way (`mha.lab.induction.Scores`)."""
    accuracy: Tensor
    """(R,), at the end."""
    later: Tensor
    """(R,), the later loss at the end."""
    prefix: Tensor
    """(R, 2, h), how well each head matches prefixes at the end."""
    itself: Tensor
    """(R, h), the mean weight that each head of layer 0 gives to the token that looks."""
    before: Tensor
    """(R, h), and to the one before it."""
    without: Tensor
    """(R, 5, h), the later loss when a head of layer 0 is kept from some readers (`mha.lab.induction.without_paths`).
    """
    tokens: Tensor
    """(n,), one sequence."""
    grown: Tensor
    """(S, 2, h, n, n), the weights of both layers on it, in the first run."""

    @property
    def times(self):
        """(R, 5, h), the loss without, in multiples of the whole model's."""
        return self.without / self.later[:, None, None]


    @property
    def learned(self):
        """The runs that get more than 0.9 of the tokens right in the end, as PathRuns."""
        kept = {name: getattr(self, name)[self.accuracy > 0.9] for name in EACH}
        return replace(self, **kept)


EACH = "seeds", "history", "accuracy", "later", "prefix", "itself", "before", "without"      # have a row for each run


def path_runs():
    """Load the runs that `tools/make_paths.py` made: PathRuns, in float32 (stored as float16, the maps as bytes)."""
    part = arrays(PATHS)
    return PathRuns(grown=part.pop("grown") / 255, **part)
