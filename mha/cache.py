"""What decoding keeps: keys and values of earlier tokens, so that a new token projects itself alone."""

import copy
import weakref

import torch
from torch import Tensor

from mha import _check as check
from mha._shapes import to_heads


class KVCache:
    """Room for the keys and values of `max_len` tokens in each of `batch` sequences.

        cache = layer.new_cache(B, max_len)
        with torch.inference_mode():
            layer(prompt, cache=cache)  # (B, n, d_model): fills positions 0 to n - 1
            layer(token, cache=cache)   # (B, 1, d_model): position n

    Texts of different lengths: pad them on the right, and let the cache forget the padding, `cache.crop(lengths)`.
    From then on each sequence goes on from its own length. (A cache that was made under torch.inference_mode() can be
    used there only.) Texts that are padded on the left need their mask at each call, over all m tokens: the cache knows
    nothing of it. A cache serves the layer that began to fill it (a compiled layer does not look whose it is).

    Args:
        batch, num_kv_heads: numbers of sequences and of heads of keys and values.
        max_len: number of tokens that fit.
        d_k: size of a key. d_v: size of a value; d_k by default.
    Attributes:
        K, V: (batch, num_kv_heads, max_len, d_k or d_v), zeros where nothing was written. `select` reorders them.
        length: number of tokens kept: an int, which waits for no GPU; (batch,) whole numbers where sequences differ. To
            set it is to `crop`; what was read of it is a copy.
        filled: number of tokens in the longest sequence.
        per_token: how many numbers one token leaves behind: num_kv_heads (d_k + d_v).
    Raises:
        ValueError, TypeError: what does not fit. The cache then holds the tokens that it held, and what a refused call
            has written behind them, even NaN, reaches no output.
    """

    @check.call
    def __init__(self, batch: int, num_kv_heads: int, max_len: int, d_k: int, d_v: int | None = None, *,
                 device=None, dtype=None):
        d_v = d_k if d_v is None else d_v
        check.positive_ints(batch=batch, num_kv_heads=num_kv_heads, max_len=max_len, d_k=d_k)
        check.size("d_v", d_v)
        check.layer_dtype(dtype)
        self.K, self.V = (torch.zeros(batch, num_kv_heads, max_len, d, device=device, dtype=dtype) for d in (d_k, d_v))
        self._length: int | Tensor = 0
        self._filled = 0
        self.filler = None  # a weak reference to the layer that fills it
        self._uncounted = 0  # tokens written behind those that are kept, by a call that was refused afterwards

    @classmethod
    @check.call
    def of_context(cls, layer, context: Tensor) -> "KVCache":
        """The keys and values of a context, made once: layer(x, kept) then gives what layer(x, context) gives.

        So a decoder attends to what its encoder has read, token by token. `select` reorders it for beams; padding is
        hidden with mask=mha.masks.padding(lengths, m) in each call. No gradient flows through what is kept: call it
        under torch.no_grad() or torch.inference_mode().

        Args:
            layer: a `MultiHeadAttention` that is not causal, without `on_qk`.
            context: (B, m, d_context), the tokens that are asked.
        """
        check.keeping(layer, context)
        whole = context if layer.shard is None else layer.shard.replicate(context)
        K, V = to_heads(layer.W_K(whole), layer.d_k), to_heads(layer.W_V(whole), layer.d_v)  # (B, h_kv, m, d_k or d_v)
        cache = layer.new_cache(*context.shape[:2], dtype=K.dtype)
        cache.append(K, V)
        cache.filler = weakref.ref(layer)
        return cache

    def __getattr__(self, name: str):
        raise check.lacks(self, name)

    def __getstate__(self) -> dict:
        return {**self.__dict__, "filler": None}  # a copy, or what is stored, goes on with any layer

    def __copy__(self) -> "KVCache":
        return copy.deepcopy(self)  # two caches with the same K and V would write over each other

    @property
    def length(self) -> int | Tensor:
        return self._length.clone() if isinstance(self._length, Tensor) else self._length  # sums in place stay outside

    @length.setter
    def length(self, length) -> None:
        self.crop(length)

    @property
    def filled(self) -> int:
        return self._filled

    @property
    def per_token(self) -> int:
        return sum(kept.shape[1] * kept.shape[3] for kept in (self.K, self.V))

    @check.call
    def append(self, K: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the keys and values of n more tokens, (batch, num_kv_heads, n, d): `write`, then `advance`."""
        kept = self.write(K, V)
        self.advance(K.shape[2])
        return kept

    def write(self, K: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
        """Put n tokens behind those that are kept. They count once `advance(n)` is called.

        Returns:
            K, V: (batch, num_kv_heads, filled + n, d), views of the cache: all tokens, the new ones included. Where
            sequences differ in length, what lies behind the end of the shorter ones means nothing.
        """
        check.writing(self, K, V)
        end = self.filled + K.shape[2]
        for kept, new in ((self.K, K), (self.V, V)):
            if isinstance(self._length, Tensor):
                if self._uncounted:  # what a shorter sequence would not write over
                    kept[self._places(self._uncounted)] = 0.0
                kept[self._places(new.shape[2])] = new.transpose(1, 2)
            else:
                kept[:, :, self._length:end] = new
        self._uncounted = K.shape[2]
        return self.K[:, :, :end], self.V[:, :, :end]

    def _places(self, n: int) -> tuple:
        """The index of the n tokens behind each sequence's end: kept[places] is (batch, n, num_kv_heads, d)."""
        rows = torch.arange(len(self.K), device=self.K.device)[:, None]  # (batch, 1)
        return rows, slice(None), self._length[:, None] + torch.arange(n, device=self.K.device)  # (batch, n)

    def advance(self, n: int) -> None:
        """Count the n tokens that were written last."""
        check.advancing(self, n)
        self._length, self._filled = self._length + n, self._filled + n
        self._uncounted = max(self._uncounted - n, 0)

    @check.call
    def crop(self, length) -> None:
        """Forget the last tokens: keep the first `length` of each sequence, and zeros behind them.

        Args:
            length: one whole number for all, or one for each sequence, a list or a tensor (batch,). They are read:
                on a GPU this waits.
        """
        lengths = check.cropping(self, length)
        ends = torch.tensor(lengths, device=self.K.device)[:, None]  # (batch, 1)
        forgotten = torch.arange(self.K.shape[2], device=self.K.device) >= ends  # (batch, max_len)
        for kept in (self.K, self.V):
            kept.masked_fill_(forgotten[:, None, :, None], 0.0)  # a NaN would reach the others, hidden or not
        self._count(lengths)
        self._uncounted = 0

    @check.call
    def select(self, rows) -> None:
        """Keep these sequences, in this order, with their lengths: the beams that go on, or all that are not finished.

        Args:
            rows: numbers of sequences, a list or a tensor; one may stand more than once. Read, as by `crop`.
        """
        rows = check.selecting(self, rows)
        with torch.inference_mode(self.K.is_inference()):  # whatever the caller's mode, of use where it was before
            self.K, self.V = self.K[rows], self.V[rows]
        if isinstance(self._length, Tensor):
            self._count(self._length[rows].tolist())

    def _count(self, lengths: list[int]) -> None:
        """How many tokens each sequence holds: a single number where all hold as many."""
        self._filled = max(lengths)
        alike = min(lengths) == self._filled
        self._length = self._filled if alike else torch.tensor(lengths, device=self.K.device)

    def __repr__(self) -> str:
        B, h_kv, max_len, d_k = self.K.shape
        length = self.length.tolist() if isinstance(self.length, Tensor) else self.length
        return (f"KVCache(length={length} of {max_len}, batch={B}, num_kv_heads={h_kv}, d_k={d_k}, "
                f"d_v={self.V.shape[-1]})")
