"""A small language model of a text of one's own, in half a minute: learn it, let it write, look into it.

    text = own_text.read("diary.txt")                   # without a name, the manual that comes with Python
    model = own_text.model(text, layers=2, heads=4)
    history = own_text.learn(model, text)
    print(own_text.written(model, "The ", 200))
    look(model, "The value of the name")                # mha.lab.look: every head on a sentence

Its tokens are letters, so that a text of some hundred thousand of them is enough. `counted` says how well one could
do without heads: by how often each letter comes, and by the one or two letters before.
"""
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from mha.lab.decoder import Decoder, GatedLayer
from mha.lab.train.loop import small_steps
from mha.multihead import MultiHeadAttention
from mha.position import Rope

LEAST, MOST = 5_000, 2_000_000  # letters of a text
POSITIONS, BATCH, RATE, WARM_UP, EVERY = 96, 16, 0.004, 50, 100
HELD_OUT = 0.1  # of the text, its end, on which no model is trained


def read(path=None) -> str:
    """A text file, UTF-8, or by default the manual on Python's words that comes with Python (`help("if")`).

    Raises:
        ValueError: the file is no text, or too short to learn from.
    """
    if path is None:
        from pydoc_data.topics import topics  # not before it is asked for: some systems leave it out
        return "\n".join(text for _, text in sorted(topics.items()))[:MOST]
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}") from None
    return long_enough(text)[:MOST]


def long_enough(text: str) -> str:
    if len(text) < LEAST:
        raise ValueError(f"the text has {len(text)} letters; a model needs at least {LEAST} to learn from")
    return text


class Letters:
    """A tokenizer whose tokens are the letters of a text, in the order of their numbers."""

    def __init__(self, text: str):
        self.letters = sorted(set(text))
        self.numbers = {letter: number for number, letter in enumerate(self.letters)}

    def encode(self, text: str) -> list[int]:
        """Raises ValueError for letters that the text did not have."""
        unknown = sorted(set(text) - set(self.letters))
        if unknown:
            raise ValueError(f"the text that was learned has no {', '.join(map(repr, unknown))}")
        return [self.numbers[letter] for letter in text]

    def decode(self, ids) -> str:
        return "".join(self.letters[number] for number in ids)

    def piece(self, id: int) -> str:
        return self.letters[id]


def model(text: str, layers: int = 2, heads: int = 4, *, kv_heads: int | None = None, d_model: int = 64,
          seed: int = 0) -> Decoder:
    """An untrained `Decoder` whose tokens are the letters of a text: rotary positions, up to 96 letters.

    Args:
        text: what it will learn; its letters are the vocabulary.
        layers, heads, kv_heads, d_model: its sizes; what does not fit, `MultiHeadAttention` refuses.
        seed: of the numbers it starts from.
    Raises:
        ValueError: the text has less than 5,000 letters.
    """
    tokenizer = Letters(long_enough(text))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        parts = [GatedLayer(MultiHeadAttention(d_model, heads, num_kv_heads=kv_heads, bias=False, causal=True,
                                               on_qk=Rope()), hidden=5 * d_model // 2) for _ in range(layers)]
        made = Decoder(len(tokenizer.letters), POSITIONS, parts, tokenizer=tokenizer)
        torch.nn.init.normal_(made.embedding.weight, std=0.05)  # it also scores: small scores to begin with
    return made


def split(model: Decoder, text: str) -> tuple[Tensor, Tensor]:
    """The numbers of a text's letters: what is trained on, and the end that is held out."""
    ids = torch.tensor(model.encode(text))
    held_out = max(POSITIONS + 1, int(HELD_OUT * len(ids)))
    return ids[:-held_out], ids[-held_out:]


def learn(model: Decoder, text: str, steps: int = 600, seed: int = 0) -> Tensor:
    """Train in place, on the model's device: Adam, 16 pieces of 96 letters a step, drawn by a seed of its own.

    Returns:
        (tests, 3): the step of each test, and the loss in nats a letter on trained and on held-out text.
    """
    device = model.embedding.weight.device
    parts, chance = [part.to(device) for part in split(model, text)], torch.Generator().manual_seed(seed)
    optimiser, found = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98)), []
    with small_steps():
        for step in range(steps + 1):
            if step % EVERY == 0 or step == steps:
                found.append([step, *(loss(model, part).item() for part in parts)])
            if step == steps:
                return torch.tensor(found)
            optimiser.param_groups[0]["lr"] = RATE * min(1, (step + 1) / WARM_UP, 2 * (1 - step / steps))
            starts = torch.randint(len(parts[0]) - POSITIONS, (BATCH, 1), generator=chance).to(device)
            optimiser.zero_grad()
            model.losses(parts[0][starts + torch.arange(POSITIONS + 1, device=device)]).mean().backward()
            optimiser.step()


@torch.no_grad()
def loss(model: Decoder, ids: Tensor, pieces: int = 32) -> Tensor:
    """The mean loss, in nats a letter, on so many pieces that stand evenly in a text, of its last 48 letters each: as
    one reads who has seen half a piece before.
    """
    starts = torch.linspace(0, len(ids) - POSITIONS - 1, pieces).long()[:, None]
    batch = ids[starts + torch.arange(POSITIONS + 1)]
    return model.losses(batch)[:, POSITIONS // 2:].mean()


def counted(model: Decoder, text: str) -> dict[str, float]:
    """What counting reaches on the held-out text, in nats a letter, one count added for every letter: by how often each
    comes, and by what followed the letter, or the two letters, before.
    """
    trained, held_out = (part.tolist() for part in split(model, text))
    size, found = model.embedding.num_embeddings, {}
    for before, name in enumerate(("no letter", "one letter before", "two letters before")):
        pairs = Counter(tuple(trained[i - before: i + 1]) for i in range(before, len(trained)))
        firsts = Counter()
        for pair, count in pairs.items():
            firsts[pair[:-1]] += count
        wanted = [tuple(held_out[i - before: i + 1]) for i in range(before, len(held_out))]
        shares = torch.tensor([(pairs[one] + 1) / (firsts[one[:-1]] + size) for one in wanted])
        found[name] = -shares.log().mean().item()
    return found


@torch.no_grad()
def written(model: Decoder, beginning: str, n: int, *, seed: int = 0, temperature: float = 0.7) -> str:
    """What the model writes behind a beginning: n letters, each from at most the 95 before it.

    Raises:
        ValueError: an empty beginning, letters that the model does not know, a temperature below 0.
    """
    if not beginning:
        raise ValueError("a beginning has at least one letter")
    if temperature < 0:
        raise ValueError(f"temperature must be 0 or more, got {temperature}")
    ids, chance = model.encode(beginning), torch.Generator().manual_seed(seed)
    for _ in range(n):
        seen = torch.tensor([ids[-(POSITIONS - 1):]], device=model.embedding.weight.device)
        scores = model(seen)[0, -1].cpu()
        ids.append(scores.argmax().item() if temperature == 0 else
                   torch.multinomial(F.softmax(scores / temperature, -1), 1, generator=chance).item())
    return model.decode(ids)
