"""Every head of a model on a text, as one live figure that can be saved and opened anywhere.

    from mha.lab.look import look

    look(real.load("minilm"), "The animal didn't cross the street because it was too tired")
    look(model, text, tokenizer)         # of transformers: BERT, GPT-2, Llama and their kin
    look(weights, tokens)                # (layers, h, n, n), of anything else
    look(model, text).save("heads.html")

Each head is drawn and scored; each score stands beside that of a head that looks evenly. Where there is a model, each
head can be switched off. `ids` says what is taken for a text, `reader` what is asked of a model, `scores` what is
measured, `page` what is saved.
"""
import html
from pathlib import Path

import torch
from torch import Tensor, nn

from mha.lab import real
from mha.lab.look import page, scores
from mha.lab.look.ids import beginning, refusing
from mha.lab.look.reader import SPACES, Reader, spaced

EAGER = 'model.set_attn_implementation("eager")'     # without it, transformers keeps no weights
HEIGHT = 900        # of the figure in a notebook, in px

__all__ = ["look", "Look"]


def look(model, text, tokenizer=None, *, off=(), off_is: str = "zero", switches: bool = True,
         name: str | None = None) -> "Look":
    """A live figure of every head's map on a text.

    Args:
        model: a model of `mha.lab.real`, or any module with `MultiHeadAttention` inside; a model of transformers, which
            `real.from_transformers` reads; or weights, (layers, h, n, n), or as transformers gives them: for each
            layer (1, h, n, n).
        text: what the model reads: a text, or the numbers of its tokens. With weights, the n tokens as a list.
        tokenizer: of the model, where it has none of its own.
        off: heads (layer, head) that are off in the whole figure.
        off_is: what a head puts out that is off: "zero", which the model has never met in training, or "mean", the mean
            of what it puts out on this text.
        switches: compute what each head does: of a decoder, the probability of every token of the text and of the next
            one without it, of an encoder, the turn of each token's output. It takes a pass for each head.
        name: what the figure calls the model.
    Returns:
        `Look`, which a notebook shows, and whose `save` writes one file.
    Raises:
        TypeError, ValueError: what cannot be drawn; the message says what is missing.
    """
    if not isinstance(model, nn.Module):
        if tokenizer is not None or as_list(off):
            raise ValueError("weights know no tokenizer, and none of their heads can be switched off; to do so give "
                             "look the model")
        weights = as_weights(model)
        return Look(name or "Weights", as_tokens(text, weights.shape[-1]), weights)
    own = tokenizer
    if type(model).__module__.startswith("transformers."):
        name = name or getattr(model.config, "name_or_path", "") or type(model).__name__
        model, tokenizer = _read(model, tokenizer), None
    if off_is not in ("zero", "mean"):
        raise ValueError(f'off_is must be "zero" or "mean", got {off_is!r}')
    reader = Reader(model, tokenizer)
    ids = reader.encode(text)
    if len(ids) < 2:
        raise ValueError(f"a map needs at least two tokens, and {text!r} has {len(ids)}")
    limit = limit_of(model)
    if limit is not None and len(ids) > limit:
        raise ValueError(f"the text has {len(ids)} tokens, and the model has positions for {limit}; read its "
                         f"beginning: look(model, {beginning(text, own or reader.tokenizer, limit)}, tokenizer)")
    off = numbered(off, reader.shape)
    with reader.evaluating(), refusing(model, ids) as positions:
        reader.settle(torch.tensor([ids]))
        # Means are those of the whole model, so they are taken before any head is off
        reader.fill = reader.means(torch.tensor([ids])) if off_is == "mean" else None
        for layer, head in off:
            reader.base[layer, head] = 0
        weights = reader.weights(torch.tensor([ids]))[:, 0]
        if not weights.isfinite().all():
            raise ValueError(f"some weights of this {type(model).__name__} are NaN on this text; in half precision try "
                             f"model.float()")
        limit = min(positions, default=None) if limit is None else limit
        return Look(name or type(model).__name__, spaced([reader.name(i) for i in ids]), weights, reader=reader,
                    induction=scores.induction(reader, ids, limit) if reader.writes else None,
                    removals=scores.removals(reader, ids) if switches else None,
                    again=lambda more: look(model, ids, reader.tokenizer, off=[*off, *more], off_is=off_is,
                                            switches=switches, name=name))


class Look:
    """Every head's map on a text, with its scores. A notebook shows it; `save` writes it as one file.

    Attributes:
        tokens: n names; a space before one says that a word begins.
        weights: (layers, h, n, n), float32.
        scores: name -> (layers, h); previous, first, itself, and of a decoder induction.
        baselines: the same names -> (layers, h): an even head's; of induction, the shuffled text's.
        removals: what each head does, as `mha.lab.look.scores.removals` says; None without a model.
    """

    def __init__(self, name, tokens, weights, *, reader=None, induction=None, removals=None, again=None):
        self.name, self.tokens, self.weights, self.removals = name, tokens, weights, removals
        self.reader, self._again = reader, again
        layers, heads = weights.shape[:2]
        self.causal = bool((weights.triu(1) == 0).all())
        self.even = scores.even(weights)
        self.scores = scores.simple(weights)
        self.baselines = {key: value[:, None].expand(layers, heads) for key, value in scores.simple(self.even).items()}
        if induction is not None:
            self.scores["induction"], self.baselines["induction"] = induction

    def without(self, *heads) -> "Look":
        """The same text read by the model with these heads off, all at once: each is (layer, head)."""
        if self._again is None:
            raise ValueError("weights alone cannot say what happens without a head; give look the model")
        if len(heads) == 1 and all(hasattr(pair, "__len__") for pair in as_list(heads[0])):
            heads = heads[0]                                                            # one list of them will do too
        return self._again(numbered(heads, self.weights.shape[:2], "figure.without(({}, {}))"))

    def html(self) -> str:
        """The figure as one page that asks for nothing else: no kernel, no network."""
        return page.written(self)

    def save(self, path) -> Path:
        """Write the page to a file, such as "heads.html"; it opens in a browser by itself."""
        if not isinstance(path, (str, Path)) or not str(path):
            raise ValueError(f'save needs the name of a file, such as "heads.html", got {path!r}')
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"the file is a web page, so its name must end in .html, got {str(path)!r}")
        if not path.parent.is_dir():
            raise ValueError(f"there is no folder {str(path.parent)!r} to save {path.name!r} in; make it first")
        path.write_text(self.html(), encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        inside = html.escape(self.html(), quote=True)
        return (f'<iframe srcdoc="{inside}" sandbox="allow-scripts" title="Every head of {html.escape(self.name)}" '
                f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>')

    def __repr__(self) -> str:
        layers, heads = self.weights.shape[:2]
        lines = [f"{layers * heads} heads of {self.name} on {len(self.tokens)} tokens; of each score the highest:"]
        for key, value in self.scores.items():
            at = int(value.argmax())
            own, other = (float(each.flatten()[at]) for each in (value, self.baselines[key]))
            lines.append(f"  {page.LABELS[key]:<15} head {f'{at // heads}.{at % heads}':<6} {own:.2f}, "
                         f"{page.BASELINES[key]} {other:.2f}")
        return "\n".join(lines)


def _read(model, tokenizer):
    """A model of transformers in our layers."""
    try:
        return real.from_transformers(model, tokenizer)
    except ValueError as error:
        # What gives no weights of one text on itself: Mamba has no heads, T5 two stacks and a text for each
        config = model.config
        if getattr(config, "is_encoder_decoder", False) or not getattr(config, "num_attention_heads", None):
            raise
        given = "ids" if getattr(model, "main_input_name", "input_ids") == "input_ids" else model.main_input_name
        raise ValueError(f"{error}. Its heads can be drawn without switches: first {EAGER}, then look(model({given}, "
                         f"output_attentions=True).attentions, tokens)") from error



def limit_of(model) -> int | None:
    """How many positions a model says that it has."""
    limit = getattr(model, "positions", None)
    return limit if isinstance(limit, int) else getattr(getattr(model, "position", None), "num_embeddings", None)


def as_list(given) -> list:
    """A list of what an array, a tensor, a list or one thing alone holds."""
    given = given.tolist() if hasattr(given, "tolist") else given
    return [given] if isinstance(given, str) or not hasattr(given, "__iter__") else list(given)


def as_number(given):
    """A number of this language, where numpy's or torch's came; all else stays."""
    return given.tolist() if hasattr(given, "tolist") and not given.ndim else given


def numbered(heads, shape, write: str = "off=[({}, {})]") -> list[tuple[int, int]]:
    """Pairs (layer, head), each of which is there; `write` is how one head is asked for."""
    whole = lambda at: isinstance(at, int) and not isinstance(at, bool)                             # noqa: E731
    pairs = [pair if whole(pair) else tuple(map(as_number, as_list(pair))) for pair in map(as_number, as_list(heads))]
    if any(map(whole, pairs)):
        wanted = write.format(*(pairs if len(pairs) == 2 and all(map(whole, pairs)) else ("layer", "head")))
        raise ValueError(f"a head is a pair (layer, head), so write {wanted}, got {heads!r}")
    for pair in pairs:
        if len(pair) != 2 or not all(whole(at) and 0 <= at < size for at, size in zip(pair, shape)):
            raise ValueError(f"a head is (layer, head), with layers 0 to {shape[0] - 1} and heads 0 to {shape[1] - 1}, "
                             f"got {pair!r}")
    return pairs


def as_weights(given) -> Tensor:
    """Weights as (layers, h, n, n) in float32 on the CPU, from one tensor or one for each layer."""
    if isinstance(given, (tuple, list)) and len(given) and all(hasattr(layer, "shape") for layer in given):
        shapes = sorted({tuple(layer.shape) for layer in given})
        if len(shapes) > 1:
            raise ValueError(f"all layers must have weights of one shape, got {shapes[0]} and {shapes[1]}")
        given = torch.stack([torch.as_tensor(layer).detach().cpu() for layer in given])
    if isinstance(given, (tuple, list)) and all(layer is None for layer in given) or hasattr(given, "attentions"):
        came = f"a {type(given).__name__}, whose weights are its .attentions" if hasattr(given, "attentions") else (
            f"a {type(given).__name__} of {len(given)} layers without weights")
        raise TypeError(f"look takes a model, or weights (layers, h, n, n), got {came}; a model of transformers gives "
                        f"them only after {EAGER}: look(model(ids, output_attentions=True).attentions, tokens)")
    if not hasattr(given, "shape"):
        raise TypeError(f"look takes a model, or weights (layers, h, n, n), got {type(given).__name__}")
    weights = torch.as_tensor(given).detach().float().cpu()
    if weights.ndim == 5 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.ndim != 4 or weights.shape[-1] != weights.shape[-2] or not weights.numel():
        raise ValueError(f"weights must be (layers, h, n, n), of one text, got {tuple(weights.shape)}")
    if weights.shape[-1] < 2:
        raise ValueError("a map needs at least two tokens, got weights of 1")
    sums = weights.sum(-1)
    if not (weights >= 0).all() or not ((sums - 1).abs() < 0.02).all():
        raise ValueError(f"rows of weights are 0 or more and sum to 1, and these sum to {float(sums.min()):.2f} up to "
                         f"{float(sums.max()):.2f}; look draws what comes after the softmax")
    return weights


def as_tokens(tokens, n: int) -> list[str]:
    """The names of n tokens."""
    if isinstance(tokens, str):
        raise TypeError(f"with weights, give the tokens as a list of {n} names, since a text can be cut in many ways")
    names = [str(token) for token in tokens]
    if len(names) != n:
        raise ValueError(f"the weights are of {n} tokens, and there are {len(names)} names of tokens")
    return spaced([name.translate(SPACES) for name in names])
