"""Where a token stands: four ways to tell attention, which by itself sees a set of tokens and no order.

`sinusoids` are added to the tokens. `rope` turns queries and keys inside each head (`Rope` does so in a layer).
`alibi_bias` is added to the scores. The fourth way, a learned vector for each position, is nn.Embedding.
`frequencies`, `llama3` and `yarn` say how fast the pairs turn, for texts longer than those of training too.

Positions are whole numbers from 0. Angles are made in float32 or wider: in bfloat16 the fastest pair's are off by up to
2 radians by position 1000.
"""

import math

import torch
from torch import Tensor, nn

from mha import _check as check


@check.call
def sinusoids(n: int, d_model: int, base: float = 10000.0, *, device=None) -> Tensor:
    """Waves of many lengths, one vector for each position; to be added to the tokens.

        waves[p, 2 i] = sin(p / base^(2 i / d_model))        waves[p, 2 i + 1] = cos(the same)

    Args:
        n: number of positions.
        d_model: size of a token.
        base: the longer, the slower: waves are 2 pi to 2 pi base^(1 - 2 / d_model) tokens long (d_model even).
    Returns:
        (n, d_model) float32.
    Source:
        Vaswani et al. 2017, section 3.5.
    """
    check.size("n", n)
    check.positive_ints(d_model=d_model)
    check.base(base)
    positions = torch.arange(n, device=device)
    angles = positions[:, None] * _frequencies(d_model, base, torch.float32, positions.device)  # (n, ceil(d_model / 2))
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[:, :d_model]


@check.call
def rope(x: Tensor, positions: Tensor, *, base: float = 10000.0, interleaved: bool = False,
         frequencies: Tensor | None = None, attention_factor: float = 1.0) -> Tensor:
    """Rotary positions: turn each pair of numbers by an angle that grows with the position, fast pairs first.

        pair i at position p is turned by p / base^(2 i / d_k)

    The product of a query at p with a key at q then depends on p - q alone. Turn queries and keys, each at its own
    position, inside each head, after the projection; values stay as they are.

    Args:
        x: (..., n, d_k) queries or keys; d_k is even.
        positions: (n,) whole numbers; or (B, 1, n) beside x (B, h, n, d_k), where sequences stand apart.
        base: a turn takes 2 pi tokens in the fastest pair, 2 pi base^(1 - 2 / d_k) in the slowest.
        interleaved: pairs are neighbours, (0, 1), (2, 3), ..., as in the paper; by default they are halves,
            (0, d_k / 2), (1, d_k / 2 + 1), ..., as in Hugging Face's code for Llama. The two differ by an order of the
            columns of W_Q and W_K; queries and keys must agree.
        frequencies: (r / 2,), how far each pair turns from token to token, in radians, in place of those of base; only
            the first r numbers of x turn, r up to d_k, and the others stay. On any device.
        attention_factor: what turns grows by this factor, so that scores grow by its square.
    Returns:
        as x, in its dtype; angles are made in float32, or float64 as x.
    Source:
        Su et al. 2021 (RoFormer), section 3.2.2.
    """
    check.rope_options(base, interleaved, frequencies, attention_factor)
    check.rope(x, positions, frequencies)
    return _turned(x, *_clock(positions, x, base, frequencies, attention_factor), interleaved)


def _clock(positions: Tensor, x: Tensor, base: float, frequencies: Tensor | None, factor: float) -> list[Tensor]:
    """Cosine and sine of the angle by which each pair of x is turned, (..., n, r / 2), times the factor."""
    dtype = torch.promote_types(x.dtype, torch.float32)
    theta = _frequencies(x.shape[-1], base, dtype, x.device) if frequencies is None else (
        frequencies.to(dtype).to(x.device))
    angles = positions[..., None].to(dtype) * theta
    return [factor * angles.cos(), factor * angles.sin()]


def _turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """The pairs of x (..., n, d_k), turned."""
    r = 2 * cos.shape[-1]
    if r < x.shape[-1]:
        return torch.cat([_turned(x[..., :r], cos, sin, interleaved), x[..., r:]], -1)
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, dim=-1)  # (..., n, d_k / 2) each
    turned = a * cos - b * sin, a * sin + b * cos
    return (torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)).to(x.dtype)


@check.calls
class Rope(nn.Module):
    """`rope` for a layer: MultiHeadAttention(d_model, num_heads, on_qk=Rope()).

    A model that was trained on texts of L tokens is taken to texts s times as long by one of these:

        linear      Rope(frequencies=frequencies(d_k) / s)                  Chen et al. 2023, section 2.3
        NTK-aware   Rope(base=10000.0 * s ** (d_k / (d_k - 2)))             Peng et al. 2023 (YaRN), section 3.1
        YaRN        Rope(frequencies=yarn(d_k, factor=s, length=L), attention_factor=0.1 * math.log(s) + 1)
        Llama 3.1   Rope(frequencies=llama3(d_k, 500000.0, factor=s, length=L))

    Rope(frequencies=frequencies(r)) turns only the first r of the d_k numbers of a query and a key (partial rotation).

    Args:
        base, interleaved, frequencies, attention_factor: as in `rope`. Frequencies are neither a parameter nor rounded
            with the layer; on the layer's device they need not be copied there in each call.
    """

    def __init__(self, *, base: float = 10000.0, interleaved: bool = False, frequencies: Tensor | None = None,
                 attention_factor: float = 1.0):
        super().__init__()
        check.rope_options(base, interleaved, frequencies, attention_factor)
        self.base, self.interleaved = base if frequencies is None else None, interleaved
        self.frequencies, self.attention_factor = frequencies, attention_factor

    def forward(self, Q: Tensor, K: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, Tensor]:
        """Q (..., h, n, d_k) at positions i and K (..., h_kv, m, d_k) at positions j, both turned."""
        for x, positions in ((Q, i), (K, j)):
            check.rope(x, positions, self.frequencies)
        of_queries = self._clock(i, Q)
        of_keys = of_queries if j is i and K.dtype == Q.dtype else self._clock(j, K)
        return _turned(Q, *of_queries, self.interleaved), _turned(K, *of_keys, self.interleaved)

    def _clock(self, positions: Tensor, x: Tensor) -> list[Tensor]:
        return _clock(positions, x, self.base, self.frequencies, self.attention_factor)

    def extra_repr(self) -> str:
        speed = f"base={self.base}" if self.frequencies is None else f"frequencies of {len(self.frequencies)} pairs"
        factor = "" if self.attention_factor == 1 else f", attention_factor={self.attention_factor}"
        return f"{speed}, interleaved={self.interleaved}{factor}"


@check.call
def frequencies(d: int, base: float = 10000.0) -> Tensor:
    """How far each pair turns from a token to the next: base^(-2 i / d) radians, the fastest pair first.

    Args:
        d: how many numbers turn, even: d_k, or fewer. base: as in `rope`.
    Returns:
        (d / 2,) float64 on the CPU, from 1 down to base^(2 / d - 1); for `rope`, as they are or changed.
    Source:
        Su et al. 2021 (RoFormer), section 3.2.2.
    """
    check.pairs(d, base)
    return _frequencies(d, base, torch.float64, "cpu")


@check.call
def llama3(d: int, base: float = 10000.0, *, factor: float, length: int, slow: float = 1.0,
           fast: float = 4.0) -> Tensor:
    """Frequencies by parts: slow pairs turn `factor` times as slowly as they did, fast pairs as they did.

    A pair's share of its old frequency grows in a straight line with how often it turns within `length` tokens, from
    none at `slow` turns to all at `fast`. This is Llama 3.1's rule; fast=32.0 makes it that of YaRN's paper.

    Args:
        d, base: as in `frequencies`.
        factor: how many times as long the texts become, 1 or more.
        length: tokens of the texts of training, original_max_position_embeddings.
        slow, fast: turns within `length`, 0 < slow < fast (low_freq_factor and high_freq_factor).
    Returns:
        (d / 2,) float64 on the CPU, radians a token.
    Source:
        github.com/meta-llama/llama-models, models/llama3/model.py, `apply_scaling`; Peng et al. 2023 (YaRN), section
        3.2, "NTK-by-parts".
    """
    check.longer(d, base, factor, length, slow, fast)
    theta = frequencies(d, base)
    kept = ((length * theta / (2 * math.pi) - slow) / (fast - slow)).clamp(0, 1)  # of each pair, by its turns
    return kept * theta + (1 - kept) * theta / factor


@check.call
def yarn(d: int, base: float = 10000.0, *, factor: float, length: int, slow: float = 1.0, fast: float = 32.0,
         truncate: bool = True) -> Tensor:
    """Frequencies of YaRN as in its code, and in the models that use it; beside them stands an attention_factor.

    As `llama3`, but a pair's share falls in a straight line with its number i, from all where a pair turns `fast` times
    within `length` tokens to none where it turns `slow` times. In the paper it falls in a straight line with the turns,
    and the pairs in between keep less: llama3(d, base, factor=..., length=..., fast=32.0).

    Args:
        d, base, factor, length: as in `llama3`. slow, fast: likewise (beta_slow and beta_fast).
        truncate: the line begins and ends at whole numbers, rounded outwards.
    Returns:
        (d / 2,) float64 on the CPU, radians a token.
    Source:
        github.com/jquesnelle/yarn, scaled_rope/LlamaYaRNScaledRotaryEmbedding.py; Peng et al. 2023,
        sections 3.2 and 3.4.
    """
    check.longer(d, base, factor, length, slow, fast, truncate)
    first, last = (d * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base)) for turns in (fast, slow))
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, d - 1)
    pair = torch.arange(d // 2, dtype=torch.float64, device="cpu")
    slowed = ((pair - first) / max(last - first, 0.001)).clamp(0, 1)  # of each pair, by its number
    theta = frequencies(d, base)
    return (1 - slowed) * theta + slowed * theta / factor


@check.call
def alibi_slopes(num_heads: int, *, device=None) -> Tensor:
    """How steeply each head's scores fall with the distance: 2^(-8/h), 2^(-16/h), ... for h = a power of two.

    For other h: those of the power of two below, then every other slope of the power above.

    Returns:
        (h,) float32, from 0 to 1.
    Source:
        Press et al. 2022 (ALiBi), section 3, and its code for other numbers of heads.
    """
    check.positive_ints(num_heads=num_heads)
    below = 2 ** (int(num_heads).bit_length() - 1)
    exponents = [8 * (i + 1) / below for i in range(below)]
    exponents += [4 * (i + 1) / below for i in range(0, 2 * below, 2)][:num_heads - below]
    return torch.tensor([2.0 ** -e for e in exponents], dtype=torch.float32, device=device)


@check.call
def alibi_bias(num_heads: int, n: int, m: int | None = None, offset: int | Tensor = 0, *, slopes: Tensor | None = None,
               device=None) -> Tensor:
    """A bias for the scores that falls in a straight line with the distance: -slope |i + offset - j|.

    Args:
        num_heads: h. n, m: numbers of queries and keys; m = n by default.
        offset: number of keys before the first query; a tensor (B,) where sequences differ.
        slopes: (h,); `alibi_slopes(num_heads)` by default.
    Returns:
        (h, n, m) as the slopes, float32 by default, beside a batch write bias=alibi_bias(...)[None]; (B, h, n, m) where
        sequences differ.
    Source:
        Press et al. 2022 (ALiBi), section 3. There causal attention hides the later keys; here so must the caller.
    """
    check.positive_ints(num_heads=num_heads)
    slopes = alibi_slopes(num_heads) if slopes is None else slopes
    check.slopes(slopes, num_heads)
    slopes = slopes.to(device)
    check.size("n", n)
    m = n if m is None else m
    check.size("m", m)
    check.offset(offset)
    offset = offset[..., None, None, None] if isinstance(offset, Tensor) else offset
    i = torch.arange(n, device=slopes.device)[:, None] + offset  # (n, 1), or (B, 1, n, 1)
    j = torch.arange(m, device=slopes.device)  # (m,)
    return -slopes[:, None, None] * (i - j).abs()  # (h, n, m), or (B, h, n, m)


def positions_from(offset: int | Tensor | None, tokens: Tensor) -> Tensor:
    """The positions of tokens (..., n, d) that follow `offset` others: (n,), or (B, 1, n) for offsets (B,)."""
    check.offset(0 if offset is None else offset, tokens, tokens.shape[:-2])
    n = torch.arange(tokens.shape[-2], device=tokens.device)
    return n + offset[..., None, None] if isinstance(offset, Tensor) else n + (offset or 0)


def _frequencies(d: int, base: float, dtype: torch.dtype, device) -> Tensor:
    """(ceil(d / 2),): 1, base^(-2/d), base^(-4/d), ..."""
    return base ** (torch.arange(0, -d, -2, device=device, dtype=dtype) / d)
