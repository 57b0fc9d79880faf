"""What makes attention fast: its operations, the bytes it moves, tiles, and the kernel that torch chooses (chapter 12).

Operations are multiplications and additions, two for each product that is summed, of the scores and of the weighted
means; projections are no part of it. Bytes are what crosses the slow memory if nothing is moved twice.
"""
import math
import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from mha import MultiHeadAttention, attention, merge
from mha._shapes import heads_of


@dataclass(frozen=True)
class Layer:
    """The heads of a layer, as its kernel sees them: an absorbed latent is one KV head that serves as key and value."""

    name: str
    heads: int
    kv_heads: int
    d_k: int
    d_v: int
    latent: bool = False            # the values are the first d_v numbers of the keys, so they are kept once

    @property
    def kept(self) -> int:
        """Numbers that the cache holds of a token."""
        return self.kv_heads * (self.d_k + (0 if self.latent else self.d_v))


LAYERS = (Layer("MHA", 32, 32, 128, 128), Layer("GQA", 32, 8, 128, 128), Layer("MQA", 32, 1, 128, 128),
          Layer("MLA", 128, 1, 512 + 64, 512, latent=True))


@dataclass(frozen=True)
class Machine:
    """Operations and bytes a second, as published; `source` says by whom, and what of it is computed."""

    name: str
    operations: float
    bytes: float
    source: str

    @property
    def balance(self) -> float:
        """Operations for each byte at which arithmetic takes as long as memory."""
        return self.operations / self.bytes

    def seconds(self, work: "Work") -> float:
        """The least time it can take: arithmetic and memory at once, each at full speed."""
        return max(work.operations / self.operations, work.bytes / self.bytes)


H100 = Machine("H100 SXM", 989e12, 3.35e12, "NVIDIA, H100 data sheet: bfloat16 without sparsity; HBM3")
LAPTOP = Machine("M1 laptop", 2.6e12, 4266e6 * 16,
                 "Apple, M1 (2020): its GPU, no width told; its bytes are computed, of LPDDR4X-4266 over 128 bits")


class Work(NamedTuple):
    operations: int
    bytes: int

    @property
    def per_byte(self) -> float:
        return self.operations / self.bytes


def forward(layer: Layer, n: int, m: int, size: int = 2, causal: bool = False) -> Work:
    """n queries with m keys, one sequence; each number has `size` bytes.

    Args:
        causal: the queries are the last n of the m tokens, and hidden scores are not computed.
    """
    pairs = n * m - (n * (n - 1) // 2 if causal else 0)
    moved = n * layer.heads * (layer.d_k + layer.d_v) + m * layer.kept
    return Work(2 * layer.heads * pairs * (layer.d_k + layer.d_v), size * moved)


def decoding(layer: Layer, size: int = 2) -> Work:
    """What one more cached token costs each step of decoding. Its ratio is what a step on a long text tends to."""
    return Work(2 * layer.heads * (layer.d_k + layer.d_v), size * layer.kept)


# --- Tiles ----------------------------------------------------------------------------------------------------------

class Step(NamedTuple):
    """What is known after a tile: for each query the largest score, the sum of exp(score - largest), the output."""

    keys: tuple[int, int]           # the first of the tile, and the one behind the last
    largest: Tensor                 # (..., n)
    total: Tensor                   # (..., n)
    out: Tensor                     # (..., n, d_v), as if there were no other keys


def walk(q: Tensor, k: Tensor, v: Tensor, width: int, backwards: bool = False) -> list[Step]:
    """Attention tile by tile: after the last it is attention to all keys, for every width and in either order.

    Args:
        q: (..., h, n, d_k). k: (..., h, m, d_k). v: (..., h, m, d_v); or one head without its axis.
        width: keys in a tile; the last tile may have fewer.
    """
    m = k.shape[-2]
    tiles = list(pairwise([*range(0, m, width), m]))
    steps = []
    for i, j in reversed(tiles) if backwards else tiles:
        tile = k[..., i:j, :]
        out, _, lse = attention(q, tile, v[..., i:j, :], need_lse=True)
        largest = (q @ tile.mT).amax(-1) * q.shape[-1] ** -0.5
        if steps:
            before = steps[-1]
            out, lse = merge([before.out, out], [before.largest + before.total.log(), lse])
            largest = torch.maximum(largest, before.largest)
        steps.append(Step((i, j), largest, (lse - largest).exp(), out))
    return steps


def moved_by_definition(n: int, d: int) -> int:
    """Numbers that cross the slow memory where scores and weights are written: 4 n d + 4 n^2."""
    return 4 * n * d + 4 * n * n


def moved_by_tiles(n: int, d: int, rows: int) -> int:
    """The same with tiles of `rows` queries, each of which reads all keys and values once: 2 n d (1 + n / rows)."""
    return 2 * n * d + 2 * d * n * -(-n // rows)


class SlowMemory:
    """Tensors by name, of which every number read or written is counted: `memory.read("K", rows)`."""

    def __init__(self, **tensors: Tensor):
        self.tensors, self.moved = tensors, Counter()

    def read(self, name: str, rows: slice = slice(None)) -> Tensor:
        found = self.tensors[name][rows]
        self.moved["read"] += found.numel()
        return found

    def write(self, name: str, value: Tensor) -> None:
        self.moved["written"] += value.numel()
        old = self.tensors.get(name)
        self.tensors[name] = value if old is None else torch.cat([old, value])


class Moved(NamedTuple):
    what: str                       # "read" or "written"
    name: str
    rows: list[int]
    count: int                      # numbers


class TileMemory(SlowMemory):
    """Q, K and V in slow memory, and a fast one with room for one tile of each: the next tile takes the place of the
    last, so whoever kept a tile finds other numbers in it. More rows than there is room for are handed out all the
    same; `log` tells all that was moved.
    """

    def __init__(self, Q: Tensor, K: Tensor, V: Tensor, rows: int, width: int):
        super().__init__(Q=Q, K=K, V=V)
        self.room = {"Q": rows, "K": width, "V": width}
        self.restart()

    def restart(self) -> None:
        """As it was before anything was read."""
        self.tensors = {name: self.tensors[name] for name in self.room}
        self.fast = {name: torch.zeros_like(self.tensors[name][:size]) for name, size in self.room.items()}
        self.moved, self.log = Counter(), []

    def copy(self) -> "TileMemory":
        """Another with the same Q, K and V, of which nothing was read."""
        return type(self)(*(self.tensors[name].clone() for name in "QKV"), self.room["Q"], self.room["K"])

    def tiles(self, name: str, size: int | None = None) -> list[slice]:
        """The rows of Q, K or V in tiles: of as many as there is room for, or of `size`."""
        last, step = len(self.tensors[name]), size or self.room[name]
        return [slice(i, min(i + step, last)) for i in range(0, last, step)]

    def read(self, name: str, rows: slice | int = slice(None)) -> Tensor:
        if name not in self.tensors:
            raise ValueError(f"slow memory holds {', '.join(map(str, self.tensors))}, and not {name}")
        self._must_be(rows, (slice, int), "rows", "a slice")
        found = super().read(name, rows)
        self.note("read", name, rows, found)
        if name not in self.room or found.ndim != 2 or len(found) > self.room[name]:
            return found.clone()
        self.fast[name][: len(found)] = found
        return self.fast[name][: len(found)]

    def write(self, name: str, value: Tensor, rows: slice = slice(None)) -> None:
        """Into these rows of a tensor that has one for each query; without them, the whole of it."""
        self._must_be(value, Tensor, "value", "a tensor")
        self._must_be(rows, slice, "rows", "a slice")
        whole, n = value.clone(), len(self.tensors["Q"])
        if rows != slice(None):
            whole = self.tensors.get(name, value.new_full((n, *value.shape[1:]), math.nan))
            if whole[rows].shape != value.shape:
                raise ValueError(f"these rows of {name} have shape {tuple(whole[rows].shape)}, but value has "
                                 f"{tuple(value.shape)}")
            whole[rows] = value
        self.tensors[name] = whole
        self.moved["written"] += value.numel()
        self.note("written", name, rows, value)

    @staticmethod
    def _must_be(value, kinds, name, words):
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {words}, got {type(value).__name__}")

    def note(self, what: str, name: str, rows: slice, value: Tensor) -> None:
        places = range(len(self.tensors[name]))[rows]
        self.log.append(Moved(what, name, [*places] if isinstance(places, range) else [places], value.numel()))


def definition_counted(memory: SlowMemory) -> Tensor:
    """Attention in three kernels, each of which reads its operands from slow memory and writes its result there."""
    Q = memory.read("Q")
    memory.write("S", Q @ memory.read("K").mT * Q.shape[-1] ** -0.5)
    memory.write("P", memory.read("S").softmax(-1))
    memory.write("O", memory.read("P") @ memory.read("V"))
    return memory.tensors["O"]


def tiles_counted(memory: SlowMemory, rows: int, width: int) -> Tensor:
    """Attention in one kernel: a tile of queries stays in fast memory while tiles of keys and values pass by."""
    n, m = len(memory.tensors["Q"]), len(memory.tensors["K"])
    for i in range(0, n, rows):
        q, parts = memory.read("Q", slice(i, i + rows)), []
        for j in range(0, m, width):
            tile = slice(j, j + width)
            out, _, lse = attention(q, memory.read("K", tile), memory.read("V", tile), need_lse=True)
            parts = [(out, lse)] if not parts else [merge(*zip(*parts, (out, lse)))]
        memory.write("O", parts[0][0])
    return memory.tensors["O"]


def operations(n: int, d: int, stored: bool) -> tuple[int, int]:
    """Of the matrix products of one head, forward and backward; where the weights are not stored, backward makes the
    scores again: 10 n^2 d, and not 8.
    """
    return 4 * n * n * d, (8 if stored else 10) * n * n * d


# --- Several machines -----------------------------------------------------------------------------------------------

class Held(NamedTuple):
    """What one machine holds of a layer that is split over its heads; matrices as in x W, so `weight` transposed."""

    heads: range
    kv_heads: range
    queries: range                  # columns of W_Q, and as many of its bias
    keys: range                     # columns of W_K
    values: range                   # columns of W_V
    rows: range                     # of W_O

    @property
    def kept(self) -> int:
        """Numbers that this machine's cache holds of a token."""
        return len(self.keys) + len(self.values)


def split(layer: MultiHeadAttention, machines: int) -> list[Held]:
    """Which part of a layer each machine holds: as many adjacent heads each, and the KV heads that they use."""
    h, group = layer.num_heads, layer.num_heads // layer.num_kv_heads
    if machines < 1 or h % machines:
        raise ValueError(f"{h} heads cannot be split over {machines} machines: each holds as many whole heads")
    if layer.num_kv_heads % machines and machines % layer.num_kv_heads:
        raise ValueError(f"{layer.num_kv_heads} KV heads cannot be split over {machines} machines: each needs as many "
                         "whole ones, or all of them the copies of one")
    found = []
    for machine in range(machines):
        heads = heads_of(machine, machines, h)
        kv_heads = range(heads[0] // group, heads[-1] // group + 1)
        columns = (range(of[0] * width, (of[-1] + 1) * width) for of, width in (
            (heads, layer.d_k), (kv_heads, layer.d_k), (kv_heads, layer.d_v), (heads, layer.d_v)))
        found.append(Held(heads, kv_heads, *columns))
    return found


def slices(layer: MultiHeadAttention, machines: int) -> dict[str, list[str]]:
    """The same in words, a row for each machine: for `viz.columns`."""
    parts = zip(*split(layer, machines))
    names = ("heads", "KV heads", "W_Q columns", "W_K columns", "W_V columns", "W_O rows")
    return {name: [f"{one[0]}" if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in column]
            for name, column in zip(names, parts)}


# --- Which kernel ---------------------------------------------------------------------------------------------------

def chosen_kernel(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0,
                  causal: bool = False) -> str:
    """The kernel that torch's scaled_dot_product_attention takes here: FLASH_ATTENTION, MATH, ... Asked of torch."""
    shared = q.shape[-3] != k.shape[-3]
    choice = torch._fused_sdp_choice(q, k, v, mask, dropout, causal, enable_gqa=shared)
    return torch.nn.attention.SDPBackend(choice).name


def takes(kernel: "torch.nn.attention.SDPBackend", q: Tensor, k: Tensor, v: Tensor, **options) -> str | None:
    """None where this kernel of torch runs; else why not, in torch's words."""
    with warnings.catch_warnings(record=True) as said, torch.nn.attention.sdpa_kernel(kernel):
        warnings.simplefilter("always")
        try:
            F.scaled_dot_product_attention(q, k, v, **options)
        except RuntimeError as error:
            reasons = [str(one.message).partition(" (Triggered")[0] for one in said]
            return next((reason for reason in reasons if "because" not in reason), str(error).splitlines()[0])
