"""Multi-head attention, twice: as a loop over heads, which defines it, and as a few large products.

    MultiHead(x) = Concat(head_1, ..., head_h) W_O        (Vaswani et al. 2017, section 3.2.2)

`MultiHeadLoop` is that line. `MultiHeadAttention` computes the same numbers: it stacks the matrices of all
heads side by side, projects once, and cuts the result into heads. Vectors are rows, as in `mha.heads`.
"""

import torch
from torch import Tensor, nn

from mha import _check as check
from mha._parameters import Layer, copy_packed, copy_rows, has_bias, rows_of
from mha._result import pair
from mha._shapes import concat_heads, to_heads
from mha.attention import attention
from mha.cache import KVCache
from mha.heads import Head
from mha.position import positions_from


@check.call
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the last axis into heads: (..., n, h d) -> (..., h, n, d). Head i is the i-th slice of d numbers."""
    check.splits(x, num_heads)
    return x.unflatten(-1, (num_heads, x.shape[-1] // num_heads)).transpose(-3, -2)  # by way of (..., n, h, d)


@check.call
def merge_heads(y: Tensor) -> Tensor:
    """Put the heads side by side again, undoing `split_heads`: (..., h, n, d) -> (..., n, h d)."""
    check.merges(y)
    return concat_heads(y)


@check.calls
class MultiHeadLoop(nn.Module):
    """The definition: every head on its own, the results side by side, and W_O to mix them.

    Args:
        heads: the `Head`s; d_model and d_context must agree, d_k and d_v may differ.
        d_out: size of the output; d_model by default. bias: add one in W_O; by default, if the heads have theirs.
    """

    def __init__(self, heads: list[Head], d_out: int | None = None, *, bias: bool | None = None):
        super().__init__()
        check.heads(heads, Head)
        self.heads = nn.ModuleList(heads)
        first = heads[0].W_Q
        d_out = heads[0].d_model if d_out is None else d_out
        check.positive_ints(d_out=d_out)
        check.truths(bias=False if bias is None else bias)
        self.W_O = nn.Linear(sum(head.d_v for head in heads), d_out,
                             first.bias is not None if bias is None else bias, first.weight.device, first.weight.dtype)

    def forward(self, x: Tensor, context: Tensor | None = None, *more, mask: Tensor | None = None,
                bias: Tensor | None = None, need_weights: bool = False, **unknown) -> tuple[Tensor, Tensor | None]:
        """As `MultiHeadAttention.forward`, with these options: x (..., n, d_model) -> out (..., n, d_out) and weights
        (..., h, n, m) or None.
        """
        check.call_style(more, unknown, "mask=, bias= and need_weights=")
        context = x if context is None else context
        check.layer_inputs(x, context, self.heads[0])
        check.mask_and_bias(mask, bias, x, (*x.shape[:-2], len(self.heads), x.shape[-2], context.shape[-2]))
        outs, weights = [], []
        for i, head in enumerate(self.heads):
            out_i, weights_i = head(x, context, mask=_of_head(mask, i), bias=_of_head(bias, i),
                                    need_weights=need_weights)
            outs.append(out_i)
            weights.append(weights_i)
        out = self.W_O(torch.cat(outs, dim=-1))  # (..., n, d_out)
        return pair(out, torch.stack(weights, dim=-3) if need_weights else None)


def _of_head(mask: Tensor | None, i: int) -> Tensor | None:
    """The part of a mask or bias, (B, h, n, m), that concerns head i."""
    per_head = mask is not None and mask.ndim > 2 and mask.shape[-3] > 1
    return mask[..., i:i + 1, :, :] if per_head else mask


@check.calls
class MultiHeadAttention(Layer):
    """Multi-head attention, all heads at once: project, split, attend, merge, mix.

    Head i works with slice i of W_Q, W_K and W_V (d_k or d_v rows of the tensor `weight`) and of W_O (d_v columns).
    Where heads share, head i works with slice i // (num_heads / num_kv_heads) of W_K and W_V.

    Args:
        d_model: size of a token that asks. num_heads: number of heads, h.
        num_kv_heads: number of heads of keys and values; num_heads, a multiple of it, by default.
        d_k: size of a query and of a key; d_model / num_heads by default, but any size will do.
        d_v: size of a value; d_k by default.
        d_context: size of a token that is asked; d_model by default. d_out: size of the output; d_model by default.
        bias: add one in each of the four layers.
        dropout: probability of losing a weight while training. causal: no query sees a later key.
        on_qk: what happens to queries and keys in each head before they meet, such as `mha.position.Rope()`; a function
            or a module (Q, K, i, j) -> (Q, K). Q (..., h, n, d_k) stands at positions i, K (..., num_kv_heads, m, d_k)
            at j: whole numbers, (n,) and (m,), or (B, 1, n) where sequences stand apart. It treats all heads alike, for
            `head`, `prune` and `from_heads` take it along: that same object, so what one layer learns in it, all have.
    Raises:
        ValueError, TypeError: sizes that do not fit; the message says how to mend it.
    Source:
        Vaswani et al. 2017, section 3.2.2. num_kv_heads: Ainslie et al. 2023, section 2.2.
    """

    def __init__(self, d_model: int, num_heads: int, *, num_kv_heads: int | None = None, d_k: int | None = None,
                 d_v: int | None = None, d_context: int | None = None, d_out: int | None = None, bias: bool = True,
                 dropout: float = 0.0, causal: bool = False, on_qk=None, device=None, dtype=None):
        super().__init__()
        check.positive_ints(d_model=d_model, num_heads=num_heads)
        num_kv_heads = check.kv_heads(num_heads, num_kv_heads)
        d_k = check.head_size(d_model, num_heads, d_k)
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        d_out = d_model if d_out is None else d_out
        check.positive_ints(d_v=d_v, d_context=d_context, d_out=d_out)
        check.truths(bias=bias, causal=causal)
        check.probability("dropout", dropout)
        check.layer_dtype(dtype)
        check.on_qk(on_qk)
        self.d_model, self.num_heads, self.num_kv_heads, self.d_k, self.d_v = d_model, num_heads, num_kv_heads, d_k, d_v
        self.d_context, self.d_out, self.dropout, self.causal, self.on_qk = d_context, d_out, dropout, causal, on_qk
        self.W_Q = nn.Linear(d_model, num_heads * d_k, bias, device, dtype)
        self.W_K = nn.Linear(d_context, num_kv_heads * d_k, bias, device, dtype)
        self.W_V = nn.Linear(d_context, num_kv_heads * d_v, bias, device, dtype)
        self.W_O = nn.Linear(num_heads * d_v, d_out, bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh parameters from the distributions of nn.MultiheadAttention, where its sizes are these."""
        # torch draws all three as one matrix, by Xavier's rule: smaller by sqrt(2), for weights nearer to uniform.
        gain = 2 ** -0.5 if self.d_context == self.d_model else 1.0
        for W in check.linear(self, "W_Q", "W_K", "W_V", "W_O")[:3]:
            nn.init.xavier_uniform_(W.weight, gain)
        self.W_O.reset_parameters()
        for W in (self.W_Q, self.W_K, self.W_V, self.W_O):
            if W.bias is not None:
                nn.init.zeros_(W.bias)

    def forward(self, x: Tensor, context: Tensor | None = None, *more, mask: Tensor | None = None,
                bias: Tensor | None = None, head_mask: Tensor | None = None, cache: KVCache | None = None,
                offset: int | Tensor | None = None, window: tuple | None = None, scale: float | None = None,
                softcap: float | None = None, need_weights: bool = False,
                **unknown) -> tuple[Tensor, Tensor | None]:
        """Attend from x to context, or from x to itself.

        Args:
            x: (..., n, d_model), the tokens that ask.
            context: (..., m, d_context), the tokens that are asked; x by default. One that many calls ask is kept once,
                layer(x, mha.KVCache.of_context(layer, context)).
            mask: bool, True = may attend; (n, m), or (B, h, n, m) with sizes equal or 1. Padding: (B, 1, 1, m).
            bias: floats added to the scores, shaped like a mask.
            head_mask: (h,) or (B, h), a factor for each head's output: 0 switches it off (Michel et al. 2019, section
                2.3). The weights stay.
            cache: what a causal layer keeps of earlier tokens (`new_cache`). x are the tokens that come next; they see
                the earlier ones too, and are kept in their turn: m counts both.
            offset, window, scale, softcap: as in `mha.attention`; a cache brings its own offset. `on_qk` hears of it.
            need_weights: return the weights of every head.
        Returns:
            out (..., n, d_out), weights (..., h, n, m) or None.
        Raises:
            ValueError, TypeError: as `mha.attention`; and for the call style of torch's layer, with the way to ours.
        """
        check.call_style(more, unknown)
        if torch.compiler.is_compiling():  # else only what has failed is looked at
            self._look(x, context)
        if cache is not None:
            check.caching(self, context, cache, offset, KVCache, mask=mask, bias=bias)
            offset = cache.length
        kept, context = (context, x) if isinstance(context, KVCache) else (None, x if context is None else context)
        if self.shard is not None:
            x, context, mask, bias, head_mask = self.shard.enter(x, context, mask, bias, head_mask)
        Q = to_heads(self.W_Q(x), self.d_k)  # (..., h, n, d_k)
        if kept is not None:
            K, V = check.remembered(self, kept, x)
        else:
            K = to_heads(self.W_K(context), self.d_k)  # (..., h_kv, m, d_k)
            V = to_heads(self.W_V(context), self.d_v)  # (..., h_kv, m, d_v)
        if self.on_qk is not None:
            i = positions_from(offset, x)
            j = i if cache is not None or offset is None and context is x else positions_from(0, context)
            turn = self.on_qk if self.shard is None else self.shard.shared(self.on_qk)
            Q, K = check.turned(turn(Q, K, i, j))
            if context is not x and not self.causal and window is None:
                offset = None  # has said where x stands, and hides nothing
        if cache is not None:
            K, V = cache.write(K, V)
        out, weights = attention(Q, K, V, mask=mask, bias=bias, causal=self.causal, offset=offset, window=window,
                                 scale=scale, softcap=softcap, dropout=self.dropout if self.training else 0.0,
                                 need_weights=need_weights)  # (..., h, n, d_v), (..., h, n, m)
        if cache is not None:
            check.attending(out)
        if head_mask is not None:
            check.head_mask(head_mask, out)
            out = out * head_mask[..., None, None].to(out.dtype)
        out = self.W_O(concat_heads(out))  # (..., n, d_out)
        if self.shard is not None:
            out, weights = self.shard.leave(out, weights)
        if cache is not None:
            cache.advance(x.shape[-2])
        return pair(out, weights)

    def _look(self, x, context=None, *_, **options) -> None:
        check.layer_inputs(x, x if context is None else context, self, KVCache)

    def new_cache(self, batch: int, max_len: int, *, dtype=None) -> KVCache:
        """An empty cache for this layer: room for max_len tokens of each of `batch` sequences.

        Args:
            batch: number of sequences. max_len: number of tokens that fit.
            dtype: of what is kept; the layer's by default. Give that of torch.autocast where the layer runs under it.
        """
        h_kv = self.num_kv_heads if self.shard is None else self.num_kv_heads // self.shard.processes
        return KVCache(batch, h_kv, max_len, self.d_k, self.d_v, **check.kept_as(self.W_K, dtype))

    def head(self, i: int) -> Head:
        """Head i on its own, without W_O: its output is slice i of what W_O gets. A copy; `on_qk` is shared."""
        [i] = check.head_numbers([i], self.num_heads)
        check.matrices(self, "W_Q", "W_K", "W_V")
        head = Head(self.d_model, self.d_k, self.d_v, d_context=self.d_context, **self._options())
        for name, rows in self._slices([i]).items():
            copy_rows(getattr(self, name), getattr(head, name), rows)
        return head.train(self.training)

    @classmethod
    def from_heads(cls, heads: list[Head], W_O: nn.Linear | None = None) -> "MultiHeadAttention":
        """Stack the matrices of equal-sized heads, copying them. W_O is copied too, or drawn afresh without one. Each
        head brings keys and values of its own, so none are shared: num_kv_heads is num_heads.
        """
        check.heads(heads, Head, equal=True)
        check.fits_heads(W_O, len(heads) * heads[0].d_v)
        one, biased = heads[0], any(W is not None and W.bias is not None for W in (heads[0].W_Q, W_O))
        module = cls(one.d_model, len(heads), d_k=one.d_k, d_v=one.d_v, d_context=one.d_context,
                     d_out=None if W_O is None else W_O.out_features, bias=biased, dropout=one.dropout,
                     causal=one.causal, on_qk=one.on_qk, device=one.W_Q.weight.device, dtype=one.W_Q.weight.dtype)
        for i, head in enumerate(heads):
            for name, rows in module._slices([i]).items():
                copy_rows(getattr(head, name), getattr(module, name), to_rows=rows)
        if W_O is not None:
            copy_rows(W_O, module.W_O)
        return module.train(one.training)

    def prune(self, keep) -> "MultiHeadAttention":
        """A new, smaller module with only the heads in `keep`, in that order. The others' part of the output is gone.

        Heads that share keys and values stay side by side, and each group keeps as many of them. All is copied, but for
        `on_qk`, which is shared.

        Source:
            Michel et al. 2019, section 4.
        """
        keep = check.head_numbers(keep, self.num_heads)
        check.matrices(self, "W_Q", "W_K", "W_V", "W_O")
        kv_heads = check.kept_groups(keep, self.num_heads // self.num_kv_heads)
        small = type(self)(self.d_model, len(keep), num_kv_heads=len(kv_heads), d_k=self.d_k, d_v=self.d_v,
                           d_context=self.d_context, d_out=self.d_out, **self._options())
        for name, rows in self._slices(keep, kv_heads).items():
            copy_rows(getattr(self, name), getattr(small, name), rows)
        copy_rows(self.W_O, small.W_O, columns=rows_of(keep, self.d_v))
        return small.train(self.training)

    def qk(self, i: int) -> Tensor:
        """The circuit that decides where head i looks, W_Q W_K^T: (d_model, d_context), of rank d_k at most.

        x_i qk y_j^T is the score of token x_i with token y_j, before the scale, without biases and without on_qk.

        Source:
            Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
        """
        slices = self._slices(check.head_numbers([i], self.num_heads))
        check.matrices(self, "W_Q", "W_K")
        return self.W_Q.weight[slices["W_Q"]].T @ self.W_K.weight[slices["W_K"]]  # (d_model, d_context)

    def ov(self, i: int) -> Tensor:
        """The circuit that decides what head i carries, W_V W_O: (d_context, d_out), of rank d_v at most (as `qk`).

        Where head i gives token y_j all its weight, y_j ov is what it adds to the output, without biases.
        """
        [i] = check.head_numbers([i], self.num_heads)
        check.matrices(self, "W_V", "W_O")
        W_V = self.W_V.weight[self._slices([i])["W_V"]]  # (d_v, d_context)
        return W_V.T @ self.W_O.weight[:, rows_of([i], self.d_v)].T  # (d_context, d_out)

    @classmethod
    def from_torch(cls, theirs: nn.MultiheadAttention) -> "MultiHeadAttention":
        """The same layer as torch's, a copy. Ours takes the batch first, and masks that mean the opposite of theirs:
        `mha.masks.from_torch` turns them round.
        """
        check.from_torch(theirs)
        ours = cls(theirs.embed_dim, theirs.num_heads, d_context=theirs.kdim, dropout=theirs.dropout,
                   bias=theirs.in_proj_bias is not None, device=theirs.out_proj.weight.device,
                   dtype=theirs.out_proj.weight.dtype)
        copy_packed(theirs, ours, to_torch=False)
        return ours.train(theirs.training)

    def to_torch(self) -> nn.MultiheadAttention:
        """The same layer as torch's nn.MultiheadAttention(batch_first=True), a copy."""
        check.to_torch(self)
        check.matrices(self, "W_Q", "W_K", "W_V", "W_O")
        weight = self.W_Q.weight
        theirs = nn.MultiheadAttention(self.d_model, self.num_heads, self.dropout, has_bias(self),
                                       kdim=self.d_context, vdim=self.d_context, batch_first=True,
                                       device=weight.device, dtype=weight.dtype)
        copy_packed(theirs, self, to_torch=True)
        return theirs.train(self.training)

    def extra_repr(self) -> str:
        shared = "" if self.num_kv_heads == self.num_heads else f"num_kv_heads={self.num_kv_heads}, "
        return f"num_heads={self.num_heads}, {shared}d_k={self.d_k}, d_v={self.d_v}, causal={self.causal}"

    def _slices(self, heads: list[int], kv_heads: list[int] | None = None) -> dict[str, list[int]]:
        """The rows of each projection that belong to these heads, whose keys and values are those of kv_heads."""
        group = self.num_heads // self.num_kv_heads
        kv_heads = [i // group for i in heads] if kv_heads is None else kv_heads
        return {"W_Q": rows_of(heads, self.d_k), "W_K": rows_of(kv_heads, self.d_k), "W_V": rows_of(kv_heads, self.d_v)}

    def _options(self) -> dict:
        """What a module or a head made from this one has from it."""
        return {"bias": has_bias(self), "dropout": self.dropout, "causal": self.causal, "on_qk": self.on_qk,
                **check.kept_as(self.W_Q, None)}
