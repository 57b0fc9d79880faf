"""The reader's own model: one of Hugging Face's transformers in memory, or its files in a folder."""
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import nn

from mha.lab.decoder import Decoder
from mha.lab.real import encoders, families
from mha.lab.real.files import TOKENIZER, digest_of
from mha.lab.transformer import Transformer


def from_transformers(model: nn.Module, tokenizer=None, *, dtype: torch.dtype | None = None) -> Transformer | Decoder:
    """A model of the library `transformers`, copied into this package's own layers.

    Encoders become a `Transformer`: BERT, RoBERTa, XLM-RoBERTa, CamemBERT, DistilBERT, ELECTRA; and so does GPT-2.
    Other language models become a `Decoder`: Llama, SmolLM, Mistral, Qwen 2, Qwen 3, Gemma, Gemma 2, Gemma 3 (text).
    Weights and outputs are those of `attn_implementation="eager"`.

        name = "Qwen/Qwen3-0.6B"
        model = from_transformers(AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name))
        model.trace(["The capital of France is"]).weights  # (layers, B, h, n, n)

    Args:
        model: of transformers, with the head that scores the next token if it is a language model.
        tokenizer: of transformers or of the library `tokenizers`; without it the model reads ids, not texts.
        dtype: of the copies, such as torch.float32; the model's own by default.
    Returns:
        the model in evaluation mode, on the device of the one that is given.
    Raises:
        TypeError: no model of transformers, or a tokenizer of another kind.
        ValueError: a model that has what these layers cannot compute; the message says what.
    """
    config = getattr(model, "config", None)
    if not isinstance(model, nn.Module) or not hasattr(config, "to_dict"):
        raise TypeError(f"from_transformers reads a model of the library transformers, got {type(model).__name__}")
    return _built(config.to_dict(), model.state_dict(), tokenizer, dtype)


def from_folder(folder: str | Path, *, sha256: Mapping[str, str] | None = None,
                dtype: torch.dtype | None = None) -> Transformer | Decoder:
    """A model out of a folder with config.json and *.safetensors, and with tokenizer.json if it is to read texts.

    Args:
        folder: as the hub hands it out, or `save_pretrained` of transformers writes it.
        sha256: file name -> digest; each file that is named is checked before it is read.
        dtype: of the copies; that of the files by default.
    Raises:
        FileNotFoundError, ValueError: files that are missing, or not the ones that sha256 names; and as
            `from_transformers`.
    """
    from safetensors.torch import load_file

    folder = Path(folder)
    files = sorted(folder.glob("*.safetensors"))
    if not files or not (folder / "config.json").is_file():
        raise FileNotFoundError(f"{folder} must hold config.json and at least one file .safetensors")
    for name, wanted in (sha256 or {}).items():
        found = digest_of(folder / name)
        if found != wanted:
            raise ValueError(f"{folder / name} has sha256 {found}, wanted {wanted}")
    tensors = {name: tensor for file in files for name, tensor in load_file(file).items()}
    tokenizer = None
    if (folder / TOKENIZER).is_file():
        from tokenizers import Tokenizer
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    return _built(json.loads((folder / "config.json").read_text("utf8")), tensors, tokenizer, dtype)


def _built(config: dict, tensors, tokenizer, dtype) -> Transformer | Decoder:
    """Our model of that kind."""
    kind = config.get("model_type")
    if kind in encoders.ENCODERS or kind == "gpt2":
        return encoders.build(config, tensors, tokenizer=_library_tokenizer(tokenizer), dtype=dtype)
    if kind not in families.FAMILIES:
        known = ", ".join([*encoders.ENCODERS, "gpt2", *families.FAMILIES])
        raise ValueError(f"mha.lab.real has no layers for a model of the kind {kind!r}; it reads {known}"
                         + (". Of gemma3 it reads the part for text, a Gemma3ForCausalLM" if kind == "gemma3" else ""))
    return families.build(config, tensors, tokenizer=None if tokenizer is None else HubTokenizer(tokenizer),
                          dtype=dtype)


def _library_tokenizer(tokenizer):
    """A copy of a tokenizer of the library `tokenizers`, which neither pads nor cuts."""
    if tokenizer is None:
        return None
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)  # where transformers keeps it
    if not hasattr(inner, "encode_batch") or not hasattr(inner, "to_str"):
        raise TypeError(f"tokenizer must be a fast one of transformers, or of the library tokenizers, got "
                        f"{type(tokenizer).__name__}")
    copied = type(inner).from_str(inner.to_str())
    copied.no_padding()
    copied.no_truncation()
    return copied


class HubTokenizer:
    """A tokenizer of transformers, or of the library `tokenizers`, as `Decoder` wants it."""

    def __init__(self, tokenizer):
        if not hasattr(tokenizer, "encode") or not hasattr(tokenizer, "decode"):
            raise TypeError(f"tokenizer must have encode and decode, as those of transformers, got "
                            f"{type(tokenizer).__name__}")
        self.tokenizer = tokenizer
        self._name = getattr(tokenizer, "convert_ids_to_tokens", None) or tokenizer.id_to_token

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's tokens, with those that the tokenizer puts around them."""
        ids = self.tokenizer.encode(text)
        return list(getattr(ids, "ids", ids))

    def decode(self, ids: list[int]) -> str:
        """The text of tokens, without special ones."""
        return self.tokenizer.decode(ids, skip_special_tokens=True)

    def piece(self, i: int) -> str:
        """The text of one token, a space before it included."""
        name = self._name(i)
        if name is None:
            return ""
        if "\u2581" in name:  # SentencePiece's sign for a space
            return name.replace("\u2581", " ")
        return self.tokenizer.decode([i], skip_special_tokens=False) or name
