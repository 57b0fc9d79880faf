"""A small causal model of mha's own layers: attention only, with its sizes chosen layer by layer."""
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha.lab.journeys.told import listed, only, whole
from mha.lab.journeys.world import TOWNS, VOCABULARY, best_possible
from mha.multihead import MultiHeadAttention
from mha.position import Rope

POSITIONS = ("rotary", "none")
BASE = 100.0  # of the rotary positions: documents are 20 tokens long


@dataclass(frozen=True)
class Heads:
    """The heads of one layer: h of them, on h_kv heads of keys and values; widths of a key and of a value."""

    h: int
    h_kv: int
    d_k: int = 16
    d_v: int = 16

    @property
    def cached(self) -> int:
        """How many numbers each token adds to this layer's cache."""
        return self.h_kv * (self.d_k + self.d_v)


@dataclass(frozen=True)
class Config:
    """What a player chooses: the heads of each layer, how positions are told, and how many steps are trained."""

    layers: tuple[Heads, ...]
    positions: str = "rotary"
    steps: int = 600
    causal: bool = True
    d_model: int = 48

    @property
    def cached(self) -> int:
        """How many numbers each token adds to the cache, in all layers together."""
        return sum(layer.cached for layer in self.layers)

    @property
    def parameters(self) -> int:
        """Those of W_Q, W_K, W_V and W_O; the embedding and the read-out are the same for all."""
        return sum(self.d_model * (layer.h + layer.h_kv) * (layer.d_k + layer.d_v) for layer in self.layers)

    @property
    def bound(self) -> float:
        """The largest share of right answers that is not ruled out."""
        return best_possible(len(self.layers), self.layers[0].h, self.positions)

    @property
    def name(self) -> str:
        """The heads of each layer, then what is not as usual: "2 + 1", "1 + 1, 1200 steps"."""
        heads = " + ".join(f"{a.h}" if a.h == a.h_kv else f"{a.h} on {a.h_kv}" for a in self.layers)
        widths = {(layer.d_k, layer.d_v) for layer in self.layers} - {(16, 16)}
        extra = [f"widths {d_k} and {d_v}" if d_k != d_v else f"width {d_k}" for d_k, d_v in sorted(widths)]
        extra += [f"positions: {self.positions}"] * (self.positions != "rotary")
        extra += [f"{self.steps} steps"] * (self.steps != 600) + ["not causal"] * (not self.causal)
        return ", ".join([heads, *extra])

    def told(self) -> dict:
        """As JSON keeps it."""
        return asdict(self)

    @classmethod
    def read(cls, told: dict) -> "Config":
        """What `told` gave.

        Raises:
            ValueError, TypeError: something is missing or unknown, or sizes do not fit.
        """
        told = only(cls, told, "a configuration")
        layers = listed("layers", told["layers"])
        return fitting(cls(**{**told, "layers": tuple(Heads(**only(Heads, layer, "a layer")) for layer in layers)}))


def fitting(config: Config) -> Config:
    """A configuration whose sizes fit.

    Raises:
        ValueError: they do not.
    """
    if not config.layers:
        raise ValueError("name the heads of at least one layer, such as config(2, 1)")
    if config.positions not in POSITIONS:
        raise ValueError(f"positions must be one of {POSITIONS}, got {config.positions!r}")
    for layer in config.layers:
        if not whole(layer.h, 1) or not whole(layer.h_kv, 1) or layer.h % layer.h_kv:
            raise ValueError(f"h_kv must divide h, got h={layer.h!r} and h_kv={layer.h_kv!r}")
        if not whole(layer.d_k, 1) or not whole(layer.d_v, 1) or config.positions == "rotary" and layer.d_k % 2:
            raise ValueError(f"widths are 1 or more, and rotary positions turn pairs, got d_k={layer.d_k!r} and "
                             f"d_v={layer.d_v!r}")
    for name in ("steps", "d_model"):
        if not whole(getattr(config, name), 1):
            raise ValueError(f"{name} must be 1 or more, a whole number, got {getattr(config, name)!r}")
    if not isinstance(config.causal, bool):
        raise ValueError(f"causal must be True or False, got {config.causal!r}")
    return config


def config(*heads, d_k=16, d_v=None, positions="rotary", steps=600, causal=True) -> Config:
    """A configuration in one line: `config(2, 1)` has two heads, then one; `config((4, 2), 1)` four on two KV heads.

    Args:
        heads: of each layer, h or the pair (h, h_kv).
        d_k: width of queries and keys. d_v: of values; d_k by default.
        positions: "rotary" or "none". steps: of the training. causal: no token sees a later one.
    Raises:
        ValueError: sizes that do not fit.
    """
    pairs = [pair if isinstance(pair, tuple) else (pair, pair) for pair in heads]
    d_v = d_k if d_v is None else d_v
    return fitting(Config(tuple(Heads(h, h_kv, d_k, d_v) for h, h_kv in pairs), positions, steps, causal))


def norm(x: Tensor) -> Tensor:
    """x over the root of its mean square; no parameter, so no bias."""
    return F.rms_norm(x, x.shape[-1:], eps=1e-6)


class Model(nn.Module):
    """Tokens -> logits of two boxes. Layers of attention add to the residual stream, and nothing else does.

    Args:
        config: its sizes. seed: of the numbers it starts from.
    """

    def __init__(self, config: Config, seed: int = 0):
        super().__init__()
        self.config, d = config, config.d_model
        self.embedding = nn.Embedding(VOCABULARY, d)
        self.layers = nn.ModuleList(
            MultiHeadAttention(d, layer.h, num_kv_heads=layer.h_kv, d_k=layer.d_k, d_v=layer.d_v, bias=False,
                               causal=config.causal, on_qk=Rope(base=BASE) if config.positions == "rotary" else None)
            for layer in config.layers)
        self.read_out = nn.Linear(d, 2 * len(TOWNS), bias=False)
        generator = torch.Generator().manual_seed(seed)
        for W in self.parameters():  # tokens of variance 1, products that keep it
            std = 1.0 if W is self.embedding.weight else W.shape[1] ** -0.5
            W.data = std * torch.randn(W.shape, generator=generator)

    def forward(self, tokens: Tensor, head_masks=None) -> Tensor:
        """tokens (B, n) -> logits (B, n, 2, 12), at every token, of which the questions count.

        Args:
            head_masks: for each layer (h,), a factor for each head's output; 0 switches it off.
        """
        x = self.embedding(tokens)  # (B, n, d_model)
        for i, layer in enumerate(self.layers):
            x = x + layer(norm(x), head_mask=None if head_masks is None else head_masks[i])[0]
        return self.read_out(norm(x)).unflatten(-1, (2, len(TOWNS)))
