"""A model that reads a text: what `look` asks of it, whatever it is.

Any module that attends with `mha.MultiHeadAttention` will do. Its weights come from `mha.record`, and a head goes off
by the layer's own `head_mask`, so a model needs no code of its own for this.
"""
import re
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from mha.multihead import MultiHeadAttention
from mha.record import record

SPACES = str.maketrans({"Ġ": " ", "▁": " ", "Ċ": "\n"})     # how tokenizers write what cannot be seen


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

    def encode(self, text) -> list[int]:
        """The numbers of a text's tokens; a list of such numbers stays as it is."""
        if not isinstance(text, str):
            return [int(number) for number in torch.as_tensor(text).flatten()]
        if self.tokenizer is None:
            raise ValueError(f"this {type(self.model).__name__} has no tokenizer: write look(model, text, tokenizer), "
                             f"or give the tokens' numbers in place of the text")
        found = self.tokenizer.encode(text)
        return list(getattr(found, "ids", found))

    def name(self, number: int) -> str:
        """A token as one reads it; a space before it says that a word begins."""
        if self.tokenizer is None:
            return f" {number}"
        if hasattr(self.tokenizer, "pieces"):
            raw = self.tokenizer.pieces[number]
            raw = raw.decode(errors="replace") if isinstance(raw, bytes) else raw
        else:
            ask = getattr(self.tokenizer, "id_to_token", None) or getattr(self.tokenizer, "convert_ids_to_tokens", None)
            raw = ask(number) if ask else self.tokenizer.decode([number])
        raw = f"{number}" if raw is None else raw
        if ask_again := not raw.isascii() and "▁" not in raw and hasattr(self.tokenizer, "decode"):
            read = self.tokenizer.decode([number])              # bytes of letters such as é stand for others in there
        special = re.fullmatch(r"\s*(<.+>|\[[A-Z]+\])\s*", raw)
        return f" {special[1]}" if special else (read if ask_again and read else raw.translate(SPACES))

    def __call__(self, ids: Tensor, head_mask: Tensor | None = None) -> Tensor:
        """What the model returns: ids (B, n), head_mask (B, layers, h) or None -> (B, n, vocabulary or d_model)."""
        with torch.no_grad(), _masked(self.layers, head_mask):
            ids = ids.to(self.device)
            out = self.model.logits(ids) if self.writes and hasattr(self.model, "logits") else self.model(ids)
        return (out[0] if isinstance(out, tuple) else out).float()

    def weights(self, ids: Tensor, head_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The same, and the weights of every head on the CPU: (layers, B, h, n, n), float32."""
        with record(self.model) as recorded:
            out = self(ids, head_mask)
        return out, torch.stack([weights.float().cpu() for weights in recorded.values()])


@contextmanager
def _masked(layers: list, head_mask: Tensor | None):
    """Within this context each layer multiplies the outputs of its heads by its part of head_mask, (B, layers, h)."""
    def put(number):
        def before(module, args, kwargs):
            return args, {**kwargs, "head_mask": head_mask[:, number].to(module.W_O.weight.device)}
        return before

    with ExitStack() as hooks:
        for number, layer in enumerate(layers if head_mask is not None else []):
            handle = layer.register_forward_pre_hook(put(number), with_kwargs=True)
            hooks.callback(handle.remove)
        yield
