"""mha: multi-head attention to read, to test and to use.

    from mha import MultiHeadAttention, attention, masks
    out, weights = MultiHeadAttention(d_model=512, num_heads=8)(x, need_weights=True)
"""

from mha import heads, masks, multihead
from mha.attention import attention
from mha.device import pick_device
from mha.heads import AsymmetricHead, Head, SymmetricHead
from mha.multihead import MultiHeadAttention, MultiHeadLoop, merge_heads, split_heads
from mha.record import record

__version__ = "0.1.0"

__all__ = [
    "attention", "masks", "heads", "multihead",
    "SymmetricHead", "AsymmetricHead", "Head",
    "MultiHeadLoop", "MultiHeadAttention", "split_heads", "merge_heads",
    "record", "pick_device",
]
