"""Induction heads, sinks and rotary positions of two trained decoders (`heads_of_decoders.npz`)."""
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

DECODERS = FOLDER / "heads_of_decoders.npz"
MODELS = ("stories15m", "smollm2")
PATHS_KEPT = ("whole", "queries", "keys", "values", "all", "off")        # from which a head is kept, in later layers
TURNED = ("none", "slowest, quarter", "slowest, half", "slowest, three quarters", "fastest, one", "fastest, quarter",
          "all")                                    # which pairs do not turn
