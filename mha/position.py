"""Where a token stands: four ways to tell attention, which by itself sees a set of tokens and no order.

`sinusoids` are added to the tokens. `rope` turns queries and keys inside each head (`Rope` does so in a layer).
`alibi_bias` is added to the scores. The fourth way, a learned vector for each position, is nn.Embedding.

Positions are whole numbers from 0. Angles are made in float32 or wider: in bfloat16 the fastest pair's are off by up to
2 radians by position 1000.
"""

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
    angles = _angles(torch.arange(n, device=device), d_model, base)  # (n, ceil(d_model / 2))
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[:, :d_model]


@check.call
def rope(x: Tensor, positions: Tensor, *, base: float = 10000.0, interleaved: bool = False) -> Tensor:
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
    Returns:
        as x, in its dtype.
    Source:
        Su et al. 2021 (RoFormer), section 3.2.2.
    """
    check.rope(x, positions, base, interleaved)
    return _turned(x, *_clock(positions, x, base), interleaved)


def _clock(positions: Tensor, x: Tensor, base: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine of the angle by which each pair of x is turned, (..., n, d_k / 2)."""
    angles = _angles(positions, x.shape[-1], base, torch.promote_types(x.dtype, torch.float32))
    return angles.cos(), angles.sin()


def _turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    """The pairs of x (..., n, d_k), turned."""
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else x.chunk(2, dim=-1)  # (..., n, d_k / 2) each
    turned = a * cos - b * sin, a * sin + b * cos
    return (torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)).to(x.dtype)


@check.calls
class Rope(nn.Module):
    """`rope` for a layer: MultiHeadAttention(d_model, num_heads, on_qk=Rope()).

    Args:
        base, interleaved: as in `rope`.
    """

    def __init__(self, *, base: float = 10000.0, interleaved: bool = False):
        super().__init__()
        check.rope_options(base, interleaved)
        self.base, self.interleaved = base, interleaved

    def forward(self, Q: Tensor, K: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, Tensor]:
        """Q (..., h, n, d_k) at positions i and K (..., h_kv, m, d_k) at positions j, both turned."""
        for x, positions in ((Q, i), (K, j)):
            check.rope(x, positions, self.base, self.interleaved)
        of_queries = _clock(i, Q, self.base)
        of_keys = of_queries if j is i and K.dtype == Q.dtype else _clock(j, K, self.base)
        return _turned(Q, *of_queries, self.interleaved), _turned(K, *of_keys, self.interleaved)

    def extra_repr(self) -> str:
        return f"base={self.base}, interleaved={self.interleaved}"


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


def _angles(positions: Tensor, d: int, base: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """Position times frequency, (..., n) -> (..., n, ceil(d / 2)): 1, base^(-2/d), base^(-4/d), ..."""
    exponents = torch.arange(0, -d, -2, device=positions.device, dtype=dtype) / d
    return positions[..., None].to(dtype) * base ** exponents
