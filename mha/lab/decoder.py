"""A language model of today around this package's own attention: Llama's kind, and that of its relatives.

    logits = model(ids)                                      # (B, n) -> (B, n, vocabulary)
    caches = model.new_caches(1, 64)
    model(ids[:, :5], caches), model(ids[:, 5:], caches)     # the same numbers, in two steps
    model.trace(["Once upon a time"]).weights                # (layers, B, h, n, n)

`mha.lab.real` and `mha.lab.stories` fill it with trained weights.
"""
from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha.cache import KVCache
from mha.lab.transformer import Trace
from mha.multihead import MultiHeadAttention

ACTIVATIONS = {"silu": F.silu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}


class GatedLayer(nn.Module):
    """One layer: heads, then a network with a gate for each token by itself, each added to what came in.

        x = x + heads(norm_1(x))        x = x + down(activation(gate(y)) * up(y)), where y = norm_2(x)

    Args:
        attention: the heads, causal.
        hidden: width of the network.
        activation: of its gate, "silu" as in Llama, "gelu" or "gelu_tanh" as in Gemma.
        eps: of the norms.
        norm_after: normalise also what heads and network add, before it is added (Gemma 2 and 3).
        window, scale, softcap: as in `mha.attention`.
    Source:
        Touvron et al. 2023, section 2.2; the gate: Shazeer 2020. norm_after: Gemma Team 2024, section 2.
    """

    def __init__(self, attention: MultiHeadAttention, hidden: int, *, activation: str = "silu", eps: float = 1e-5,
                 norm_after: bool = False, window: tuple | None = None, scale: float | None = None,
                 softcap: float | None = None):
        super().__init__()
        d_model = attention.d_model
        self.attention = attention
        self.norm_1, self.norm_2 = (nn.RMSNorm(d_model, eps=eps) for _ in range(2))
        self.after_1, self.after_2 = (nn.RMSNorm(d_model, eps=eps) if norm_after else nn.Identity() for _ in range(2))
        self.gate, self.up = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, d_model, bias=False)
        self.activation = activation
        self.options = {"window": window, "scale": scale, "softcap": softcap}

    def forward(self, x: Tensor, cache: KVCache | None = None, **options) -> tuple[Tensor, Tensor | None]:
        """x (B, n, d_model) -> the same shape, and weights (B, h, n, m) or None; options as `MultiHeadAttention`'s."""
        heads, weights = self.attention(self.norm_1(x), cache=cache, **self.options, **options)
        x = x + self.after_1(heads)
        y = self.norm_2(x)
        return x + self.after_2(self.down(ACTIVATIONS[self.activation](self.gate(y)) * self.up(y))), weights

    def read(self, x: Tensor) -> Tensor:
        """What the heads read of a layer's input."""
        return self.norm_1(x)


class NormedQK(nn.Module):
    """Queries and keys normalised in each head, then turned, for a layer's `on_qk` (Qwen 3, Gemma 3).

    Args:
        d_k: size of a query and of a key.
        then: what happens behind the norms, such as `mha.position.Rope()`; None for nothing.
        eps: of the norms.
    """

    def __init__(self, d_k: int, then: nn.Module | None, eps: float = 1e-6):
        super().__init__()
        self.norm_q, self.norm_k = (nn.RMSNorm(d_k, eps=eps) for _ in range(2))
        self.then = then

    def forward(self, Q: Tensor, K: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, Tensor]:
        """Q (..., h, n, d_k) at positions i and K (..., h_kv, m, d_k) at positions j, both changed."""
        Q, K = self.norm_q(Q), self.norm_k(K)
        return (Q, K) if self.then is None else self.then(Q, K, i, j)


class Decoder(nn.Module):
    """A language model as Llama (Touvron et al. 2023).

    Args:
        vocabulary: number of kinds of tokens.
        positions: length of the longest text, in tokens.
        layers: of `GatedLayer`.
        eps: of the last norm.
        tied: one matrix reads tokens in and scores them.
        embed_scale: a factor for the embeddings (Gemma: the root of d_model).
        softcap: bounds the scores of the next token, softcap * tanh(scores / softcap) (Gemma 2).
        tokenizer: has encode(text) -> ids, decode(ids) -> text, and piece(id) -> text of one token.
    """
    causal = True

    def __init__(self, vocabulary: int, positions: int, layers: Iterable[GatedLayer], *, eps: float = 1e-5,
                 tied: bool = True, embed_scale: float = 1.0, softcap: float | None = None, tokenizer=None):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        d_model = self.layers[0].attention.d_model
        self.positions, self.embed_scale, self.softcap, self.tokenizer = positions, embed_scale, softcap, tokenizer
        self.embedding, self.norm = nn.Embedding(vocabulary, d_model), nn.RMSNorm(d_model, eps=eps)
        self.unembedding = None if tied else nn.Linear(d_model, vocabulary, bias=False)

    @property
    def num_heads(self) -> int:
        return self.layers[0].attention.num_heads

    @property
    def num_kv_heads(self) -> int:
        return self.layers[0].attention.num_kv_heads

    def forward(self, ids: Tensor, caches: list[KVCache] | None = None, *, mask: Tensor | None = None,
                head_mask: Tensor | None = None) -> Tensor:
        """Score every token as the next one: ids (B, n) -> logits (B, n, vocabulary).

        Args:
            ids: (B, n), numbers of tokens.
            caches: of `new_caches`: what each layer keeps of the tokens before these.
            mask: bool, True = may attend, beside the causal one; (n, m) or (B, h, n, m) with sizes equal or 1.
            head_mask: (layers, h), a factor for each head's output: 0 switches it off.
        Raises:
            ValueError: more tokens, with those in the caches, than the model has positions.
        """
        for _, x, _ in self._steps(ids, caches, mask, head_mask):
            pass
        return self.score(self.norm(x))

    def embed(self, ids: Tensor) -> Tensor:
        """ids (B, n) -> (B, n, d_model), the input of the first layer."""
        return self.embedding(ids) * self.embed_scale

    def score(self, hidden: Tensor) -> Tensor:
        """The output (B, n, d_model) -> logits (B, n, vocabulary)."""
        scores = hidden @ (self.unembedding or self.embedding).weight.T
        return scores if self.softcap is None else self.softcap * torch.tanh(scores / self.softcap)

    def _steps(self, ids, caches=None, mask=None, head_mask=None, need_weights=False) -> Iterator[tuple]:
        """Layer by layer: the stream that comes in, the stream that goes out (B, n, d_model), and the weights."""
        n = ids.shape[-1] + (caches[0].filled if caches else 0)
        if n > self.positions:
            raise ValueError(f"a text has {n} tokens, and the model has {self.positions} positions")
        x = self.embed(ids)
        for number, layer in enumerate(self.layers):
            given = x
            x, weights = layer(x, None if caches is None else caches[number], mask=mask, need_weights=need_weights,
                               head_mask=None if head_mask is None else head_mask[number].to(x.device))
            yield given, x, weights

    def new_caches(self, batch: int, max_len: int) -> list[KVCache]:
        """An empty cache for each layer: room for max_len tokens of each of `batch` texts."""
        return [layer.attention.new_cache(batch, max_len) for layer in self.layers]

    def losses(self, ids: Tensor) -> Tensor:
        """How surprised the model is by each token after the first: (B, n) -> (B, n - 1), in nats."""
        scores, wanted = self(ids[:, :-1]), ids[:, 1:]
        # Rows of scores, one behind another: across them, torch sums 49,152 numbers less exactly.
        return F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)

    @torch.no_grad()
    def generate(self, ids: Tensor, n: int, generator: torch.Generator | None = None, **options) -> Tensor:
        """Write n more tokens, keeping keys and values of those before.

        Args:
            ids: (B, start), how each text begins.
            n: number of tokens to write.
            generator: draw each token with the probability that the model gives it; by default, take the likeliest.
            options: of `forward`, such as head_mask.
        Returns:
            (B, start + n).
        Raises:
            ValueError: more tokens than the model has positions, or ids that are no tensor (B, start).
        """
        if not isinstance(ids, Tensor) or ids.ndim != 2:
            came = f"a tensor of shape {tuple(ids.shape)}" if isinstance(ids, Tensor) else f"a {type(ids).__name__}"
            raise ValueError(f"ids is {came}; it must be a tensor (B, start): torch.tensor([model.encode(text)])")
        if ids.shape[1] + n > self.positions:
            raise ValueError(f"{ids.shape[1]} tokens and n={n} more are over the model's {self.positions} positions")
        caches, new = self.new_caches(len(ids), ids.shape[1] + n), ids
        for _ in range(n):
            scores = self(new, caches, **options)[:, -1]  # (B, vocabulary)
            new = scores.argmax(-1, True) if generator is None else torch.multinomial(
                scores.softmax(-1), 1, generator=generator)  # (B, 1)
            ids = torch.cat([ids, new], 1)
        return ids

    # --- Texts ------------------------------------------------------------------------------------------------------

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's tokens, with the token that starts a text if the model has one."""
        return self._tokenizer().encode(text)

    def decode(self, ids) -> str:
        """The text of tokens, a list or a tensor (n,)."""
        return self._tokenizer().decode(torch.as_tensor(ids).tolist())

    def _tokenizer(self):
        if self.tokenizer is None:
            raise ValueError("this model has no tokenizer, so it reads numbers of tokens: give ids, a tensor (B, n)")
        return self.tokenizer

    @torch.no_grad()
    def trace(self, texts, *, mask: Tensor | None = None, head_mask: Tensor | None = None) -> Trace:
        """Run texts and keep every map; everything comes back on the CPU.

        Texts of different lengths are filled up behind their ends, which no token before sees.

        Args:
            texts: a list of B texts; or ids (B, n), a tensor of numbers of tokens.
            mask, head_mask: as in `forward`.
        Raises:
            ValueError: one text and no list of them, none at all, or one that is longer than the model allows.
        """
        rows, device = self._rows(texts), self.embedding.weight.device
        n = max(len(row) for row in rows)
        ids = torch.tensor([[*row, *[0] * (n - len(row))] for row in rows], device=device)  # (B, n)
        given, outputs, weights = zip(*self._steps(ids, None, mask, head_mask, need_weights=True))
        hidden = self.norm(outputs[-1])
        names = [[self._piece(i) for i in row] for row in rows]
        return Trace(
            tokens=[[*row, *[""] * (n - len(row))] for row in names],
            words=[[*words_of(row), *[None] * (n - len(row))] for row in names],
            lengths=torch.tensor([len(row) for row in rows]),
            hidden=hidden.cpu(),
            weights=torch.stack(weights).cpu(),
            inputs=torch.stack([layer.read(x) for layer, x in zip(self.layers, given)]).cpu(),
            logits=self.score(hidden).cpu(),
            stream=torch.stack([*given, outputs[-1]]).cpu(),
            ids=ids.cpu(),
        )

    def _rows(self, texts) -> list[list[int]]:
        """The numbers of each text's tokens."""
        if isinstance(texts, str) or not len(texts):
            raise ValueError(f"texts must be a list of texts, at least one, or ids (B, n), got {texts!r}")
        rows = texts.tolist() if isinstance(texts, Tensor) else [
            self.encode(text) if isinstance(text, str) else list(text) for text in texts]
        if not all(isinstance(row, list) and row for row in rows):
            raise ValueError(f"each text must have a token, and ids must be (B, n), got {texts!r}")
        if max(map(len, rows)) > self.positions:
            raise ValueError(f"a text has {max(map(len, rows))} tokens, and the model has {self.positions} positions")
        return rows

    def _piece(self, i: int) -> str:
        return str(i) if self.tokenizer is None else self.tokenizer.piece(i)


def words_of(pieces: list[str]) -> list[int | None]:
    """For each token the index of its word: a word starts with a space, or behind one. None for special tokens."""
    words, number, behind = [], -1, True
    for piece in pieces:
        if piece.startswith("<") and piece.endswith(">"):
            words.append(None)
            behind = True
            continue
        number += behind or piece[:1].isspace()
        words.append(number)
        behind = not piece.strip()
    return words
