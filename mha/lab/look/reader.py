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
        named = {name: m for name, m in model.named_modules() if isinstance(m, MultiHeadAttention)}
        self.names, self.layers = list(named), list(named.values())    # in the order in which they run, after `settle`
        if not self.layers:
            raise TypeError(f"{type(model).__name__} has no mha.MultiHeadAttention inside, so look cannot listen to "
                            f"its heads; of another model give its weights, (layers, h, n, n), and the tokens")
        counts = sorted({layer.num_heads for layer in self.layers})
        if len(counts) > 1:
            raise ValueError(f"look draws layers with equally many heads, and these have "
                             f"{' and '.join(map(str, counts))}; give the weights of some layers, (layers, h, n, n), "
                             f"and the tokens")
        self.shape = (len(self.layers), counts[0])
        self.writes = all(layer.causal for layer in self.layers)      # a decoder, which says what comes next
        self.device = next(model.parameters()).device
        self.base = torch.ones(self.shape)      # of each head, how much of its output stays: 0 where it is off
        self.fill = None                        # what stands for an output that is off: nothing, or `means`

    @property
    def kv_heads(self) -> list[int]:
        """How many keys and values each layer has."""
        return [layer.num_kv_heads for layer in self.layers]

    def settle(self, ids: Tensor) -> None:
        """Run the model once, and put its layers in the order in which they run.

        Raises:
            ValueError: a layer that does not run, or more than once, so that one map would not be all of it.
        """
        ran = []
        with ExitStack() as hooks:
            for name, layer in zip(self.names, self.layers):
                hooks.callback(layer.register_forward_hook(lambda *_, name=name: ran.append(name)).remove)
            self.run(ids)
        for name in self.names:
            if (times := ran.count(name)) != 1:
                raise ValueError(f"look draws layers that run once on a text, and {name!r} of this "
                                 f"{type(self.model).__name__} runs {times} times; record the weights of each run, and "
                                 f"give those, (layers, h, n, n), and the tokens")
        by_name = dict(zip(self.names, self.layers))
        self.names, self.layers = ran, [by_name[name] for name in ran]

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
        out, kind = self.run(ids, factors), type(self.model).__name__
        out = out[0] if isinstance(out, tuple) else out
        wanted = (f"(B, n, {'vocabulary' if self.writes else 'd_model'}) of all tokens; let it return that, or draw "
                  f"its maps alone: switches=False")
        if not isinstance(out, Tensor):
            raise TypeError(f"{kind} returns a {type(out).__name__}, and look reads a tensor {wanted}")
        if out.ndim != 3 or out.shape[:2] != ids.shape:
            raise ValueError(f"{kind} returns {tuple(out.shape)} for ids {tuple(ids.shape)}, and look reads {wanted}")
        if self.writes and int(ids.max()) >= out.shape[-1]:
            raise ValueError(f"{kind} returns {out.shape[-1]} numbers a token, and this text has a token of number "
                             f"{int(ids.max())}, so they are no scores of the next token; look reads {wanted}")
        return out.float()

    def run(self, ids: Tensor, factors: Tensor | None = None):
        """As calling it, but all that the model returns, as it returns it."""
        factors = self.base[None] if factors is None else factors
        logits = getattr(self.model, "logits", None) if self.writes else None
        logits = None if isinstance(logits, nn.Module) else logits             # a layer of that name wants no ids
        with torch.no_grad(), self._changed(factors.to(self.device)):
            return (self.model if logits is None else logits)(ids.to(self.device))

    def weights(self, ids: Tensor) -> Tensor:
        """The weights of every head on the CPU: (layers, B, h, n, n), float32."""
        with record(self.model) as recorded:
            self.run(ids)
        square = (len(ids), self.shape[1], ids.shape[-1], ids.shape[-1])
        for name in self.names:
            if recorded[name].shape != square:
                raise ValueError(f"look draws how the tokens of a text attend to each other, {square[1:]}, and "
                                 f"{name!r} has weights {tuple(recorded[name].shape[1:])}")
        return torch.stack([recorded[name].float().cpu() for name in self.names])

    def means(self, ids: Tensor) -> Tensor:
        """What each head puts out on a text, as the mean over its tokens: (layers, h, d_v)."""
        if len(widths := sorted({layer.d_v for layer in self.layers})) > 1:
            raise ValueError(f'off_is="mean" needs layers with heads of one width d_v, and these have '
                             f'{" and ".join(map(str, widths))}; off_is="zero" does not')
        return ablation.head_outputs(self.model, lambda: self.run(ids)).mean((1, 3))

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
