"""mha: multi-head attention to read, to test and to use.

    from mha import MultiHeadAttention, attention, masks
    out, weights = MultiHeadAttention(d_model=512, num_heads=8)(x, need_weights=True)

The map of the package, in an order in which it reads well:

    the subject         `attention`, the formula; `masks`, who may look at whom; `position`, where a token stands;
                        `heads`, one head in three attempts; `multihead`, many of them, with keys of their own or shared
                        (grouped and multi-query attention); `cache`, what decoding keeps; `latent`, multi-head latent
                        attention; `parts`, how attention to some keys is joined with attention to others; `record`, the
                        weights of a whole model; `device`, where to run; `parallel`, heads on several processes, and
                        `ring`, a text on several (neither is imported here)
    experiments         `lab`: what is measured, trained, stored and tested with the subject
    the book            `exercises`, tasks and their checker; `viz`, pictures; `widgets`, live figures
"""

from mha import heads, masks, multihead, position
from mha.attention import attention
from mha.cache import KVCache
from mha.device import pick_device
from mha.heads import AsymmetricHead, Head, SymmetricHead
from mha.latent import MultiHeadLatentAttention
from mha.multihead import MultiHeadAttention, MultiHeadLoop, merge_heads, split_heads
from mha.parts import merge
from mha.record import record

__version__ = "1.0.0"

__all__ = [
    "attention", "masks", "heads", "multihead", "position",
    "SymmetricHead", "AsymmetricHead", "Head",
    "MultiHeadLoop", "MultiHeadAttention", "MultiHeadLatentAttention", "KVCache", "split_heads", "merge_heads",
    "merge", "record", "pick_device",
]
