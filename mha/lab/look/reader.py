"""A model that reads a text: what `look` asks of it, whatever it is.

Any module that attends with `mha.MultiHeadAttention` will do. Its weights come from `mha.record`, and a head is
taken off where its output goes into W_O, so a model needs no code of its own for this.
"""
import re
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from mha.lab import ablation
from mha.lab.look.ids import as_ids
from mha.multihead import MultiHeadAttention, merge_heads, split_heads
from mha.record import record

SPACES = str.maketrans({"\u0120": " ", "\u2581": " ", "\u010a": "\n"})        # how tokenizers write what cannot be seen
SPECIAL = re.compile(r"\s*(<.+>|\[[A-Z]+\])\s*")


def spaced(names: list[str]) -> list[str]:
    """Names of tokens, with a space before each that begins a word: as its tokenizer says, or all but "##ing"."""
    names = [special[1] if (special := SPECIAL.fullmatch(name)) else name for name in names]
    marked = any(name.startswith(" ") for name in names)
    return [f" {name}" if SPECIAL.fullmatch(name) or not marked and not name.startswith("##") else name
            for name in names]


class Reader:
    """A model and its tokenizer.

    Args:
        model: any module with `MultiHeadAttention` inside, called as model(ids); a language model returns scores of the
            next token, (B, n, vocabulary), or has `logits(ids)` for them.
        tokenizer: has encode(text); the model's own by default. Those of `tokenizers`, transformers and `mha` will do.
    Raises:
        TypeError, ValueError: a model without such layers, or whose layers cannot stand in one grid.
    """

    def __init__(self, model: nn.Module, tokenizer=None):
        self.model, self.tokenizer = model, getattr(model, "tokenizer", None) if tokenizer is None else tokenizer
        self.layers = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
        if not self.layers:
            raise TypeError(f"{type(model).__name__} has no mha.MultiHeadAttention inside, so look cannot listen to "
                            f"its heads; of another model give its weights, (layers, h, n, n), and the tokens")
        counts = sorted({layer.num_heads for layer in self.layers})
        if len(counts) > 1:
            raise ValueError(f"look draws layers with equally many heads, and these have "
                             f"{' and '.join(map(str, counts))}; give the weights of some layers, (layers, h, n, n), "
                             f"and the tokens")
        self.shape = (len(self.layers), counts[0])
        self.kv_heads = [layer.num_kv_heads for layer in self.layers]
        self.writes = all(layer.causal for layer in self.layers)      # a decoder, which says what comes next
        self.device = next(model.parameters()).device
        self.base = torch.ones(self.shape)      # of each head, how much of its output stays: 0 where it is off
        self.fill = None                        # what stands for an output that is off: nothing, or `means`

    def encode(self, text) -> list[int]:
        """The numbers of a text's tokens; a list of such numbers stays as it is."""
        if not isinstance(text, str):
            return as_ids(text)
        if self.tokenizer is None:
            raise ValueError(f"this {type(self.model).__name__} has no tokenizer: write look(model, text, tokenizer), "
                             f"or give the tokens' numbers in place of the text")
        found = self.tokenizer.encode(text)
        return list(getattr(found, "ids", found))

    def name(self, number: int) -> str:
        """A token as one reads it."""
        if self.tokenizer is None:
            return str(number)
        if hasattr(self.tokenizer, "piece"):
            return self.tokenizer.piece(number)
        if hasattr(self.tokenizer, "pieces"):
            return self.tokenizer.pieces[number].decode(errors="replace")
        ask = getattr(self.tokenizer, "id_to_token", None) or getattr(self.tokenizer, "convert_ids_to_tokens", None)
        raw = ask(number) if ask else None
        # Byte-level tokenizers write the bytes of a letter such as \u00e9 as other letters
        if raw is None or not raw.isascii() and "\u2581" not in raw and hasattr(self.tokenizer, "decode"):
            raw = self.tokenizer.decode([number]) or raw
        return (raw or str(number)).translate(SPACES)

    @contextmanager
    def evaluating(self):
        """Within this context the model drops nothing out; afterwards it trains on if it did."""
        trained = [module for module in self.model.modules() if module.training]
        self.model.eval()
        try:
            yield
        finally:
            for module in trained:
                module.training = True

    def __call__(self, ids: Tensor, factors: Tensor | None = None) -> Tensor:
        """What the model returns: ids (B, n), factors (B, layers, h) -> (B, n, vocabulary or d_model).

        What a factor takes from a head's output is filled up from `fill`. By default they are those of `base`.
        """
        factors = self.base[None] if factors is None else factors
        with torch.no_grad(), self._changed(factors.to(self.device)):
            ids = ids.to(self.device)
            out = self.model.logits(ids) if self.writes and hasattr(self.model, "logits") else self.model(ids)
        return (out[0] if isinstance(out, tuple) else out).float()

    def weights(self, ids: Tensor) -> Tensor:
        """The weights of every head on the CPU: (layers, B, h, n, n), float32."""
        with record(self.model) as recorded:
            self(ids)
        return torch.stack([weights.float().cpu() for weights in recorded.values()])

    def means(self, ids: Tensor) -> Tensor:
        """What each head puts out on a text, as the mean over its tokens: (layers, h, d_v)."""
        return ablation.head_outputs(self.model, lambda: self(ids)).mean((1, 3))

    @contextmanager
    def _changed(self, factors: Tensor):
        """Within this context each head's output, (B, n, d_v), is multiplied by its factor and filled up."""
        def put(number, layer):
            factor = factors[:, number, :, None, None]                           # (B, h, 1, 1)
            fill = 0 if self.fill is None else (1 - factor) * self.fill[number][:, None]

            def change(W_O, given):
                out = split_heads(given[0], layer.num_heads)                     # (B, h, n, d_v)
                return (merge_heads((out * factor + fill).to(out.dtype)),)
            return change

        with ExitStack() as hooks:
            for number, layer in enumerate(self.layers):
                if (factors[:, number] != 1).any():
                    hooks.callback(layer.W_O.register_forward_pre_hook(put(number, layer)).remove)
            yield
