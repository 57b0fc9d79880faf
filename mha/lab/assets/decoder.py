"""What stories15M (`mha.lab.stories`) loses when its heads come to share keys and values (`pooled.npz`), on stories
that it tells itself.
"""
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

POOLED = FOLDER / "pooled.npz"
KV_HEADS = (3, 2, 1)                                # left of six, in each layer
DRAWS = 3                                           # of what is drawn at random, and of orders of the training stories
TRAINED = (("whole", 6), ("mean", 3), ("mean", 1), ("first", 1), ("random", 1))   # kind, kv heads
STEPS = (25, 75)                                    # after which the trained ones were measured


@dataclass(frozen=True)
class Pooled:
    """Losses in nats per token, each the mean over the last 120 tokens of one of N stories.

    The model drew these stories from its own probabilities. So no model has a smaller loss on them in the long run, and
    what another has more is the divergence KL(whole || other) per token, up to the luck of the draw.
    """
    stories: Tensor
    """(N, 128), their tokens, the first few of which were given."""
    whole: Tensor
    """(N,), the model as it is."""
    none: Tensor
    """(N,), without attention: all values are zero."""
    mean: Tensor
    """(3, N), with KV_HEADS heads of keys and values in each layer: the mean of each group."""
    first: Tensor
    """(3, N), the first head of each group instead."""
    random: Tensor
    """(3, DRAWS, N), fresh matrices instead."""
    keys: Tensor
    """(3, N), the mean of each group's keys, while each head keeps its own values."""
    values: Tensor
    """(3, N), the mean of each group's values, while each head keeps its own keys."""
    turned: Tensor
    """(3, DRAWS, N), the mean of each group, after each head was written in a random basis, which changes nothing by
    itself."""
    turned_whole: Tensor
    """(DRAWS, N), that model, with nothing pooled."""
    aligned: Tensor
    """(2, 3, N), the mean of each group, after its heads were aligned: each written in the basis in which it is nearest
    to the others, which changes nothing by itself. By W_K and W_V, and by the keys and values that they give."""
    aligned_whole: Tensor
    """(3, N), aligned by what comes out, with nothing pooled."""
    layers: Tensor
    """(6, 3, N), the mean, in one layer only."""
    lost: Tensor
    """(2, 3, 6), the share of the sum of squares of W_K, and of W_V, that the mean loses with KV_HEADS left, in each
    layer; 1 - KV_HEADS / 6 where heads are orthogonal."""
    trained: Tensor
    """(TRAINED, DRAWS, STEPS, N), after some steps of Adam on other stories, all parameters at one rate.

    Which of "mean" and "first" was ahead in the end was another matter at a smaller rate, and with another head than
    the first.
    """


@cache
def pooled():
    """What stories15M loses when its heads share keys and values: Pooled.

    Read once and then shared by all who ask, so change none of its tensors in place.
    """
    return Pooled(**arrays(POOLED))
