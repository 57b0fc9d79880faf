"""Multi-head latent attention: a token leaves a short vector behind, from which each head makes its key and value."""

import torch
from torch import Tensor, nn

from mha import _check as check
from mha._parameters import Layer
from mha._result import pair
from mha._shapes import concat_heads, to_heads
from mha.attention import attention
from mha.cache import KVCache
from mha.position import Rope, positions_from


@check.calls
class MultiHeadLatentAttention(Layer):
    """Heads whose keys and values are made from a latent c = x W_DKV: c and r are all that decoding keeps of a token x.

        K_i = [c W_UK_i, r]        V_i = c W_UV_i        Q_i = [x W_Q_i, rope(x W_QR_i)]        r = rope(x W_KR)

    The second part of each key, d_r numbers that turn with the position, is one for all heads. A rotation between W_Q
    and W_UK would keep them from being absorbed:

        as written                  absorbed
        (x W_Q_i) (c W_UK_i)^T   =  (x W_Q_i W_UK_i^T) c^T
        sum_j w_j (c_j W_UV_i)   =  (sum_j w_j c_j) W_UV_i

    Absorbed, all heads look at c itself: one shared key head of d_c + d_r numbers, of which the first d_c are the value
    too. The outputs are the same to rounding. Absorbed it costs less for one new token and many kept; as written for
    many tokens at once, a prompt or a training, where d_k + d_v < 2 d_c.

    Args:
        d_model: size of a token. num_heads: number of heads, h.
        d_c: size of the latent.
        d_k: size of a query's and a key's unturned part; d_model / num_heads by default. d_v: size of a value; d_k by
            default.
        d_r: size of the turned part, even; 0 is none.
        base: of the rotation, as in `mha.position.rope`.
        dropout: probability of losing a weight while training. causal: no query sees a later key.
        absorbed: how to compute. May be set at any time: layer.absorbed = True.
    Source:
        DeepSeek-AI 2024 (DeepSeek-V2), section 2.1 and appendix C. Left out: the queries' own latent, the normalisation
        of latents, and that the model's code turns neighbouring numbers as pairs.
    """

    def __init__(self, d_model: int, num_heads: int, *, d_c: int, d_k: int | None = None, d_v: int | None = None,
                 d_r: int = 0, base: float = 10000.0, dropout: float = 0.0, causal: bool = False,
                 absorbed: bool = False, device=None, dtype=None):
        super().__init__()
        check.positive_ints(d_model=d_model, num_heads=num_heads, d_c=d_c)
        d_k = check.head_size(d_model, num_heads, d_k)
        d_v = d_k if d_v is None else d_v
        check.positive_ints(d_v=d_v)
        check.turned_size(d_r)
        check.base(base)
        check.truths(causal=causal, absorbed=absorbed)
        check.probability("dropout", dropout)
        check.layer_dtype(dtype)
        self.d_model = self.d_context = d_model  # it asks and answers itself
        self.num_heads, self.d_k, self.d_v, self.d_c, self.d_r = num_heads, d_k, d_v, d_c, d_r
        self.dropout, self.causal, self.absorbed = dropout, causal, absorbed

        def linear(d_in, d_out):
            return nn.Linear(d_in, d_out, False, device, dtype)

        self.W_Q, self.W_DKV = linear(d_model, num_heads * d_k), linear(d_model, d_c)
        self.W_UK, self.W_UV = linear(d_c, num_heads * d_k), linear(d_c, num_heads * d_v)
        self.W_QR, self.W_KR = (linear(d_model, num_heads * d_r), linear(d_model, d_r)) if d_r else (None, None)
        self.W_O = linear(num_heads * d_v, d_model)
        self.rope = Rope(base=base) if d_r else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh parameters as `MultiHeadAttention` does, so that the two may be compared.

        What reads tokens is drawn as W_Q, W_K and W_V there. What reads latents has Xavier's rule without the factor
        1/sqrt(2), which W_DKV has brought in already.
        """
        check.linear(self, "W_Q", "W_DKV", "W_UK", "W_UV", "W_O", *(["W_QR", "W_KR"] if self.d_r else []))
        for W in (self.W_Q, self.W_DKV, self.W_QR, self.W_KR):
            if W is not None:
                nn.init.xavier_uniform_(W.weight, 2 ** -0.5)
        for W in (self.W_UK, self.W_UV):
            nn.init.xavier_uniform_(W.weight)
        self.W_O.reset_parameters()

    def forward(self, x: Tensor, *more, mask: Tensor | None = None, cache: KVCache | None = None,
                need_weights: bool = False, **unknown) -> tuple[Tensor, Tensor | None]:
        """Attend from x to itself and to what the cache holds.

        Args:
            x: (..., n, d_model).
            mask: as in `mha.attention`.
            cache: as in `mha.MultiHeadAttention.forward`; made by `new_cache`.
            need_weights: return the weights of every head.
        Returns:
            out (..., n, d_model), weights (..., h, n, m) or None.
        """
        check.call_of_x_alone(more, unknown, "mask=, cache= and need_weights=")
        check.layer_inputs(x, x, self)
        if cache is not None:
            check.caching(self, None, cache, None, KVCache, mask=mask)
        offset = None if cache is None else cache.length
        given = x  # what every head reads; in a split layer its gradient is summed over the processes
        if self.shard is not None:
            given, _, mask = self.shard.enter(x, x, mask)
        Q = to_heads(self.W_Q(given), self.d_k)  # (..., h, n, d_k)
        c = self.W_DKV(x).unsqueeze(-3)  # (..., 1, n, d_c)
        if self.d_r:
            i = positions_from(offset, x)
            Q_R = to_heads(self.W_QR(given), self.d_r)  # (..., h, n, d_r)
            r = self.W_KR(x).unsqueeze(-3)  # (..., 1, n, d_r)
            Q_R, r = self.rope(Q_R, r, i, i)
        else:
            Q_R, r = Q[..., :0], c[..., :0]
        kept = torch.cat([c, r], -1)  # (..., 1, n, d_c + d_r)
        if cache is not None:
            kept, _ = cache.write(kept, kept[..., :0])  # (..., 1, m, d_c + d_r)
        if self.shard is not None:
            kept = self.shard.replicate(kept)
        if self.absorbed:
            check.absorbs(self)
            W_UK, W_UV, kept = self._here(self.W_UK.weight), self._here(self.W_UV.weight), self._here(kept)
            W_UK = to_heads(W_UK.T, self.d_k)  # (h, d_c, d_k)
            W_UV = to_heads(W_UV.T, self.d_v)  # (h, d_c, d_v)
            # What is kept is the value too, turned part and all: the kernels want one size, and nothing is copied.
            Q, K, V = Q @ W_UK.mT, kept, kept  # (..., h, n, d_c), (..., 1, m, d_c + d_r) twice
        else:
            c, r = kept.split([self.d_c, self.d_r], -1)
            K, V = to_heads(self.W_UK(c.squeeze(-3)), self.d_k), to_heads(self.W_UV(c.squeeze(-3)), self.d_v)
            r = self._here(r)
            K = torch.cat([K, r.expand(*K.shape[:-1], -1)], -1)  # (..., h, m, d_k + d_r), V (..., h, m, d_v)
        out, weights = attention(torch.cat([Q, Q_R], -1), K, V, mask=mask, causal=self.causal, offset=offset,
                                 scale=(self.d_k + self.d_r) ** -0.5, dropout=self.dropout if self.training else 0.0,
                                 need_weights=need_weights)
        if cache is not None:
            check.attending(out)
            cache.advance(x.shape[-2])
        if self.absorbed:
            out = out[..., :self.d_c] @ W_UV  # (..., h, n, d_v)
        out = self.W_O(concat_heads(out))  # (..., n, d_model)
        if self.shard is not None:
            out, weights = self.shard.leave(out, weights)
        return pair(out, weights)

    def _here(self, t: Tensor) -> Tensor:
        """Of a split layer's tensor what stands in this process."""
        return t if self.shard is None else self.shard.here(t)

    def new_cache(self, batch: int, max_len: int, *, dtype=None) -> KVCache:
        """An empty cache for this layer: d_c + d_r numbers for each token, the latent and the turned key, as K."""
        return KVCache(batch, 1, max_len, self.d_c + self.d_r, 0, **check.kept_as(self.W_DKV, dtype))

    def extra_repr(self) -> str:
        return (f"num_heads={self.num_heads}, d_k={self.d_k}, d_v={self.d_v}, d_c={self.d_c}, d_r={self.d_r}, "
                f"causal={self.causal}, absorbed={self.absorbed}")
