"""stories15M as a file for a page: the pieces that its stories need, and its numbers as whole numbers of 8 bits.

    data = story_file.packed(*stories.load(), told())
    model, tokenizer = story_file.read(data)       # what the page computes with, in this package's own layers

The file is gzip of: the length of the header, the header as JSON, each matrix as float32 steps, one a row, and int8
numbers, then vectors in float32. `mha/widgets/story/decoder.js` reads it. Nothing in it is drawn or fitted, so that the
same weights give the same bytes before gzip on every machine.
"""
import gzip
import json
import struct

import torch
from torch import Tensor

from mha.lab.stories import BPETokenizer, StoryTeller

MOST = 127  # the largest whole number of a row
MATRICES = ("attention.W_Q", "attention.W_K", "attention.W_V", "attention.W_O", "gate", "up", "down")


# --- The vocabulary -------------------------------------------------------------------------------------------------

def on_the_way(tokenizer: BPETokenizer, piece: bytes) -> set[int]:
    """The numbers of all pieces that are made on the way to one, itself among them."""
    number = tokenizer.number
    ids = [number[letter.encode()] for letter in piece.decode() if letter.encode() in number]
    made = set(ids)
    while True:
        pairs = [number.get(tokenizer.pieces[a] + tokenizer.pieces[b], -1) for a, b in zip(ids, ids[1:])]
        scores = [tokenizer.scores[pair] if pair >= 0 else -torch.inf for pair in pairs]
        if max(scores, default=-torch.inf) == -torch.inf:
            return made
        at = scores.index(max(scores))
        ids[at:at + 2] = [pairs[at]]
        made.add(pairs[at])


def closed(tokenizer: BPETokenizer, wanted: list[int]) -> list[int]:
    """The pieces to keep, those joined first in front: unknown, start, the wanted, all on the way to them, and ASCII.

    Args:
        wanted: numbers of pieces; those that are no text by themselves, such as half a letter, are left out.
    """
    letters = {tokenizer.number[chr(code).encode()] for code in range(32, 127)} | {3 + ord("\n")}
    kept = set(letters)
    for i in wanted:
        if i > 2 and _is_text(tokenizer.pieces[i]):
            kept |= on_the_way(tokenizer, tokenizer.pieces[i])
    joined = sorted(kept - letters, key=lambda i: -tokenizer.scores[i])
    return [0, 1, *joined, *sorted(letters)]


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def cut(tokenizer: BPETokenizer, kept: list[int]) -> BPETokenizer:
    """A tokenizer of the kept pieces alone, in their order, of which the earlier is joined first."""
    return BPETokenizer([tokenizer.pieces[i] for i in kept], [-float(i) for i in range(len(kept))])


# --- The file -------------------------------------------------------------------------------------------------------

def rounded(W: Tensor, most: int = MOST) -> tuple[Tensor, Tensor]:
    """W (rows, columns) as whole numbers, int8, of a step for each row, (rows, 1): W is about whole * step."""
    step = W.abs().amax(1, keepdim=True) / most
    return (W / step).round().to(torch.int8), step


def packed(model: StoryTeller, tokenizer: BPETokenizer, kept: list[int], means: Tensor, most: int = MOST) -> bytes:
    """The file of a model.

    Args:
        model, tokenizer: of `mha.lab.stories.load`.
        kept: numbers of the pieces to keep, of `closed`.
        means: (layers, h, d_v), what each head gives out in the mean, for switching it off that way.
    """
    numbers = model.state_dict()
    matrices = {"embedding": numbers["embedding.weight"][torch.tensor(kept)]}
    vectors = {"norm": numbers["norm.weight"]}
    for i in range(len(model.layers)):
        matrices |= {f"{i}.{_short(name)}": numbers[f"layers.{i}.{name}.weight"] for name in MATRICES}
        vectors |= {f"{i}.{name}": numbers[f"layers.{i}.{name}.weight"] for name in ("norm_1", "norm_2")}
        vectors[f"{i}.means"] = means[i].flatten()
    attention = model.layers[0].attention
    header = {
        "sizes": {"d": attention.d_model, "hidden": model.layers[0].up.out_features, "layers": len(model.layers),
                  "heads": attention.num_heads, "vocabulary": len(kept), "positions": model.positions},
        "pieces": [tokenizer.pieces[i].decode() for i in kept],
        "matrices": [[name, *W.shape] for name, W in matrices.items()],
        "vectors": [[name, len(vector)] for name, vector in vectors.items()],
    }
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 4)
    body = b"".join(part.numpy().tobytes() for W in matrices.values() for part in reversed(rounded(W, most)))
    body += b"".join(vector.float().numpy().tobytes() for vector in vectors.values())
    return gzip.compress(struct.pack("<I", len(head)) + head + body, mtime=0)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def read(data: bytes) -> tuple[StoryTeller, BPETokenizer, Tensor]:
    """The model in a file, float32, its tokenizer, and the means (layers, h, d_v) of its heads."""
    raw = gzip.decompress(data)
    length, = struct.unpack("<I", raw[:4])
    header, at = json.loads(raw[4:4 + length]), 4 + length

    def take(count, dtype):
        nonlocal at
        at, start = at + count * dtype.itemsize, at
        return torch.frombuffer(bytearray(raw[start:at]), dtype=dtype).float()

    sizes, found = header["sizes"], {}
    for name, rows, columns in header["matrices"]:
        step = take(rows, torch.float32)[:, None]
        found[name] = take(rows * columns, torch.int8).view(rows, columns) * step
    for name, size in header["vectors"]:
        found[name] = take(size, torch.float32)
    model = StoryTeller(sizes["vocabulary"], sizes["positions"], sizes["d"], sizes["layers"], sizes["heads"],
                        hidden=sizes["hidden"])
    layers = range(sizes["layers"])
    model.load_state_dict({
        "embedding.weight": found["embedding"], "norm.weight": found["norm"],
        **{f"layers.{i}.{name}.weight": found[f"{i}.{_short(name)}"]
           for i in layers for name in (*MATRICES, "norm_1", "norm_2")}})
    pieces = [piece.encode() for piece in header["pieces"]]
    means = torch.stack([found[f"{i}.means"].view(sizes["heads"], -1) for i in layers])
    return model.eval(), BPETokenizer(pieces, [-float(i) for i in range(len(pieces))]), means
