"""A transformer around this package's own attention: BERT's kind, and GPT-2's.

`mha.lab.real` fills it with trained weights.
"""
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha import masks
from mha.multihead import MultiHeadAttention


class Layer(nn.Module):
    """One layer of a transformer: attention, then a network for each token by itself, each added to what came in.

    Args:
        d_model: size of a token.
        num_heads: number of heads.
        causal: no query sees a later key.
        norm_first: normalise what goes into each part (GPT-2), not what comes out of the sum (the paper, BERT).
        gelu: "none" for the exact function, "tanh" for GPT-2's approximation.
        eps: of the layer norms.
        hidden: width of the network; 4 d_model by default.
    """

    def __init__(self, d_model: int, num_heads: int, *, causal: bool, norm_first: bool, gelu: str, eps: float,
                 hidden: int | None = None):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, causal=causal)
        self.norm_1, self.norm_2 = (nn.LayerNorm(d_model, eps) for _ in range(2))
        hidden = 4 * d_model if hidden is None else hidden
        self.up, self.down = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)
        self.norm_first, self.gelu = norm_first, gelu

    def forward(self, x: Tensor, *, mask=None, head_mask=None, need_weights=False) -> tuple[Tensor, Tensor | None]:
        """x (B, n, d_model) -> the same shape, and weights (B, h, n, n) or None."""
        heads, weights = self.attention(self.read(x), mask=mask, head_mask=head_mask, need_weights=need_weights)
        x = x + heads if self.norm_first else self.norm_1(x + heads)
        each = self.down(F.gelu(self.up(self.norm_2(x) if self.norm_first else x), approximate=self.gelu))
        return (x + each if self.norm_first else self.norm_2(x + each)), weights

    def read(self, x: Tensor) -> Tensor:
        """What the heads read of a layer's input."""
        return self.norm_1(x) if self.norm_first else x


@dataclass(frozen=True)
class Trace:
    """What happened in a forward pass of B sentences, the longest of n tokens."""

    tokens: list[list[str]]  # B lists of n names; those of padding are empty
    words: list[list[int | None]]  # for each token the index of its word; None for padding and special tokens
    lengths: Tensor  # (B,), numbers of tokens
    hidden: Tensor  # (B, n, d_model), the output
    weights: Tensor  # (layers, B, h, n, n)
    inputs: Tensor  # (layers, B, n, d_model), what each layer's heads read
    logits: Tensor | None = None  # (B, n, vocabulary), scores of the next token; None of an encoder
    stream: Tensor | None = None  # (layers + 1, B, n, d_model), what goes into each layer, and what leaves the last
    ids: Tensor | None = None  # (B, n), numbers of the tokens

    @property
    def real(self) -> Tensor:
        """(B, n), True for the tokens of each sentence, False for padding."""
        return masks.padding(self.lengths, self.hidden.shape[1])[:, 0, 0]


class Transformer(nn.Module):
    """An encoder as BERT (Devlin et al. 2019), or with causal=True a language model as GPT-2 (Radford et al. 2019).

    Args:
        vocabulary: number of kinds of tokens.
        positions: length of the longest sentence, in tokens.
        d_model: size of a token.
        num_layers, num_heads: number of layers, and of heads in each.
        causal: build a language model, in which no token sees a later one.
        tokenizer: of the library `tokenizers`.
        gelu, eps, hidden: as of `Layer`; those of GPT-2 and of BERT by default.
    """

    def __init__(self, vocabulary: int, positions: int, d_model: int, num_layers: int, num_heads: int, *,
                 causal: bool, tokenizer=None, gelu: str | None = None, eps: float | None = None,
                 hidden: int | None = None):
        super().__init__()
        self.causal, self.tokenizer, self.num_heads = causal, tokenizer, num_heads
        eps = (1e-5 if causal else 1e-12) if eps is None else eps
        gelu = ("tanh" if causal else "none") if gelu is None else gelu
        self.embedding, self.position = nn.Embedding(vocabulary, d_model), nn.Embedding(positions, d_model)
        if not causal:
            self.segment = nn.Parameter(torch.zeros(d_model))  # BERT adds it to every token of a first sentence
        self.norm = nn.LayerNorm(d_model, eps)  # BERT: of what goes in; GPT-2: of what comes out
        self.layers = nn.ModuleList(Layer(d_model, num_heads, causal=causal, norm_first=causal, gelu=gelu, eps=eps,
                                          hidden=hidden) for _ in range(num_layers))

    def embed(self, ids: Tensor, use_positions: bool = True) -> Tensor:
        """ids (B, n) -> (B, n, d_model), the input of the first layer."""
        x = self.embedding(ids) if self.causal else self.embedding(ids) + self.segment
        if use_positions:
            if ids.shape[-1] > self.position.num_embeddings:
                raise ValueError(f"a sentence has {ids.shape[-1]} tokens, and the model has positions for "
                                 f"{self.position.num_embeddings}")
            x = x + self.position(torch.arange(ids.shape[-1], device=ids.device))
        return x if self.causal else self.norm(x)

    def forward(self, ids: Tensor, lengths: Tensor | None = None, *, head_mask: Tensor | None = None,
                use_positions: bool = True) -> Tensor:
        """ids (B, n) -> hidden (B, n, d_model).

        Args:
            ids: (B, n), numbers of tokens.
            lengths: (B,), real tokens of each sentence; all by default.
            head_mask: (layers, h), a factor for each head's output.
            use_positions: False leaves the position embeddings out.
        """
        x = self.embed(ids, use_positions)
        for _, x, _ in self._steps(x, ids, lengths, head_mask, need_weights=False):
            pass
        return self.norm(x) if self.causal else x

    def _steps(self, x, ids, lengths, head_mask, need_weights) -> Iterator[tuple]:
        """Layer by layer: what goes in, what comes out, and its heads' weights."""
        mask = None if lengths is None else masks.padding(lengths, ids.shape[-1])
        for number, layer in enumerate(self.layers):
            given = x
            x, weights = layer(x, mask=mask, head_mask=None if head_mask is None else head_mask[number],
                               need_weights=need_weights)
            yield given, x, weights

    def encode(self, texts: list):
        """Cut sentences into tokens.

        Args:
            texts: B sentences; each is a text, or each is a list of words.
        Returns:
            ids: (B, n), filled up with zeros.
            lengths: (B,), numbers of tokens.
            encodings: B of the tokenizer's own.
        Raises:
            ValueError: one text and no list of them, no sentence at all, or one that is longer than the model allows.
        """
        if isinstance(texts, str) or not len(texts):
            raise ValueError(f"texts must be a list of sentences, at least one, got {texts!r}")
        if self.tokenizer is None:
            raise ValueError("this model has no tokenizer, so it reads numbers of tokens: give ids, a tensor (B, n)")
        encodings = self.tokenizer.encode_batch(list(texts), is_pretokenized=not isinstance(texts[0], str))
        lengths = torch.tensor([len(e.ids) for e in encodings])
        if lengths.max() > self.position.num_embeddings:
            raise ValueError(f"a sentence has {int(lengths.max())} tokens, and the model has positions for "
                             f"{self.position.num_embeddings}")
        ids = torch.zeros(len(encodings), int(lengths.max()), dtype=torch.long)
        for row, encoding in zip(ids, encodings):
            row[:len(encoding.ids)] = torch.tensor(encoding.ids)
        device = self.embedding.weight.device
        return ids.to(device), lengths.to(device), encodings

    @torch.no_grad()
    def trace(self, texts: list, *, head_mask: Tensor | None = None, use_positions: bool = True) -> Trace:
        """Run sentences and keep every map; everything comes back on the CPU.

        Args:
            texts: as for `encode`; or ids (B, n), a tensor of numbers of tokens.
            head_mask, use_positions: as in `forward`.
        """
        if isinstance(texts, Tensor):
            ids, lengths = texts.to(self.embedding.weight.device), torch.full((len(texts),), texts.shape[1])
            lengths, name = lengths.to(ids.device), str if self.tokenizer is None else self.tokenizer.id_to_token
            tokens, words = [[name(i) for i in row] for row in ids.tolist()], [[None] * ids.shape[1]] * len(ids)
        else:
            ids, lengths, encodings = self.encode(texts)
            missing = [ids.shape[1] - len(e.ids) for e in encodings]
            tokens = [[*e.tokens, *[""] * gap] for e, gap in zip(encodings, missing)]
            words = [[*e.word_ids, *[None] * gap] for e, gap in zip(encodings, missing)]
        x = self.embed(ids, use_positions)
        given, outputs, weights = zip(*self._steps(x, ids, lengths, head_mask, need_weights=True))
        hidden = self.norm(outputs[-1]) if self.causal else outputs[-1]
        return Trace(
            tokens=tokens,
            words=words,
            lengths=lengths.cpu(),
            hidden=hidden.cpu(),
            weights=torch.stack(weights).cpu(),
            inputs=torch.stack([layer.read(x) for layer, x in zip(self.layers, given)]).cpu(),
            logits=self.score(hidden).cpu() if self.causal else None,
            stream=torch.stack([*given, outputs[-1]]).cpu(),
            ids=ids.cpu(),
        )

    def sentence_vectors(self, texts: list, **options) -> Tensor:
        """The mean of each sentence's hidden vectors, brought to length 1: (B, d_model).

        For all-MiniLM-L6-v2 that is its sentence embedding. The options are those of `forward`.
        """
        ids, lengths, _ = self.encode(texts)
        real = masks.padding(lengths, ids.shape[1])[:, 0, 0]  # (B, n)
        hidden = self(ids, lengths, **options) * real[..., None]
        return F.normalize(hidden.sum(1) / lengths[:, None], dim=-1)

    def logits(self, ids: Tensor, **options) -> Tensor:
        """GPT-2's next-token scores: ids (B, n) -> (B, n, vocabulary). The options are those of `forward`."""
        return self.score(self(ids, **options))

    def score(self, hidden: Tensor) -> Tensor:
        """The output (B, n, d_model) -> logits (B, n, vocabulary)."""
        return hidden @ self.embedding.weight.T
