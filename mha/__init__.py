"""mha: multi-head attention to read, to test and to use.

    from mha import MultiHeadAttention, attention, masks
    out, weights = MultiHeadAttention(d_model=512, num_heads=8)(x, need_weights=True)

The map of the package, in an order in which it reads well:

    the subject         `attention`, the formula; `masks`, who may look at whom; `position`, where a token stands;
                        `heads`, one head in three attempts; `multihead`, many of them, with keys of their own or shared
                        (grouped and multi-query attention); `cache`, what decoding keeps; `latent`, multi-head latent
                        attention; `record`, the weights of a whole model; `device`, where to run
    is measured with    `measure`, numbers for maps; `findings`, what the maps of a trained model say; `surgery`, heads
                        changed by hand; `bench`, seconds and memory; `races`, layers side by side
    what is trained     `data`, small worlds; `train`, a training for each question; `induction`, models that copy
    is stored or read   `assets`, results of long computations; `sentences`, texts with known answers; `real` and
                        `transformer`, models that others trained
    is shown and asked  `viz`, pictures; `widgets`, live figures; `exercises`, tasks and their checker; `folklore`,
                        claims that are put to the test
"""

from mha import heads, masks, multihead, position
from mha.attention import attention
from mha.cache import KVCache
from mha.device import pick_device
from mha.heads import AsymmetricHead, Head, SymmetricHead
from mha.latent import MultiHeadLatentAttention
from mha.multihead import MultiHeadAttention, MultiHeadLoop, merge_heads, split_heads
from mha.record import record

__version__ = "0.1.0"

__all__ = [
    "attention", "masks", "heads", "multihead", "position",
    "SymmetricHead", "AsymmetricHead", "Head",
    "MultiHeadLoop", "MultiHeadAttention", "MultiHeadLatentAttention", "KVCache", "split_heads", "merge_heads",
    "record", "pick_device",
]
