"""Room 5, the paddock: positions. Everything runs, and a token stands somewhere else than it should."""
import torch
from torch.nn.functional import normalize

from mha.exercises.zoo.kinds import Case, WhichBug, WhichPicture
from mha.exercises.zoo.staged import GITHUB, numbers, run, weights
from mha.position import rope

ROOM = "section 5"
PLACES = torch.arange(25)                               # through which a query walks, with a key that equals it
ALIKE = normalize(numbers(920, 1, 8), dim=-1)
SPEEDS = 100.0 ** -(torch.arange(4, dtype=torch.float64) / 4)
KEPT, NEW = torch.arange(4), torch.arange(4, 6)         # positions of the old tokens and of the new ones
KEY = torch.tensor([[2.0, 2.0, 0.0, 0.0]], dtype=torch.float64)
LOOKS_BACK = rope(KEY, torch.tensor([3]), base=10.0)    # the query that fits this key three back


def rotate_half(x):
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def walked(line, turn_key=True):
    """The product of the two at each place, (1, 1, places), after a line that lays out the angles."""
    def turned(x, positions):
        emb = run(line, freqs=positions[:, None] * SPEEDS)["emb"]
        return x * emb.cos() + rotate_half(x) * emb.sin()
    key = turned(ALIKE, PLACES) if turn_key else ALIKE
    return (turned(ALIKE, PLACES) * key).sum(-1)[None, None]


def drawn_walks(made):
    """A curve for each option."""
    from mha import viz
    return viz.curves(PLACES, "position", "product", points=5, **{letter: maps[0, 0] for letter, maps in
                                                                         made.items()})


def asked(queries=NEW, keys=NEW, again=0, hidden=NEW):
    """Weights of two new tokens on four old ones and themselves, all tokens alike.

    Args:
        queries, keys: positions at which the new ones are turned. again: by how many of their positions the old keys
            are turned once more. hidden: places of the queries as the mask counts them.
    """
    old = rope(rope(KEY.expand(4, 4), KEPT, base=10.0), again * KEPT, base=10.0)
    K = torch.cat([old, rope(KEY.expand(2, 4), keys, base=10.0)])
    Q = rope(LOOKS_BACK.expand(2, 4), queries, base=10.0)
    return weights(Q @ K.mT, torch.arange(6) <= hidden[:, None])[None]


SPECIMENS = [
    WhichPicture(
        id="B.21", title="Angles for neighbours", after=ROOM, line="emb = freqs.repeat_interleave(2, -1)",
        statement="A token's query and key are the same vector of length 1, so their product is 1. Both are rotated "
                  "for "
                  "the token's position by `x * emb.cos() + rotate_half(x) * emb.sin()`, where `rotate_half(x)` is "
                  "minus the second half of x, then the first. `freqs` holds position times frequency for each pair, "
                  "and is laid out by `emb = freqs.repeat_interleave(2, -1)`. The token moves through the text. Which "
                  "curve is the product of its query and key?",
        makes=walked, sound=lambda: walked("emb = torch.cat([freqs, freqs], -1)"), draw=drawn_walks,
        options=(Case("Curve A", "That was meant. It needs one angle for the two coordinates that meet, here i and i "
                                 "+ 4.", "as-meant",
                      makes=lambda: walked("emb = torch.cat([freqs, freqs], -1)")),
                 Case("Curve B", "Neighbours get one angle, but rotate_half pairs halves, so lengths change, even to "
                                 "more than 1."),
                 Case("Curve C", "That is a rotated query with an unrotated key. Here lengths stay 1, so no product "
                                 "exceeds 1.", "key-not-turned",
                      makes=lambda: walked("emb = torch.cat([freqs, freqs], -1)", turn_key=False))),
        note="Pairs of neighbours are one convention, and halves another. Each is right, but if the two are mixed, the "
             "score at any offset, even 0, changes with the position. "
             f"{GITHUB}raiyanyahya/how-to-train-your-gpt/issues/6 (2026). The test is one line: shift all positions, "
             "and no score may move. Some reports that a rotate_half is wrong have only met the other convention."),
    WhichBug(
        id="B.22", title="Nearer than it should", after=ROOM, stars=3, minutes=5, rows=("5", "6"),
        columns=tuple("123456"), sound=asked,
        statement="All tokens have the same query and the same key before rotation, and this head with RoPE attends "
                  "to the token three back. Keys 1 to 4 are in the cache, rotated. Now tokens 5 and 6 arrive "
                  "together: their queries and keys are rotated, the keys are appended to the cache, and a causal mask "
                  "is applied. Which bug made the map on the right?",
        options=(Case("The new queries and keys were rotated as if they were tokens 1 and 2.",
                      "Then 5 would look for a key three before the first, and 6 for one two before it.", "from-zero",
                      makes=lambda: asked(NEW - 4, NEW - 4)),
                 Case("The keys were appended first, and the queries rotated by the new length of the cache.",
                      "The queries are rotated two positions too far, and three back from there is one back from here.",
                      makes=lambda: asked(queries=NEW + 2)),
                 Case("The cached keys were rotated a second time.",
                      "Then cached keys would be at twice their positions, and the new ones where they should.",
                      "turned-again", makes=lambda: asked(again=1)),
                 Case("The mask starts at the top left.",
                      "Then 5 would see the first key alone, and 6 the first two.", "top-left",
                      makes=lambda: asked(hidden=NEW - 4))),
        hints=("How far back does each of the two queries attend in the right map, and how far in the other?",),
        note="The length of the cache can be read before the append or after it, and both run. In "
             f"{GITHUB}ml-explore/mlx-swift-lm/pull/234 (2026) 44 of the library's 45 attention layers that ask for it "
             "do so in the right order; that of Gemma 3n did not, and the model wrote random tokens. Another way to "
             f"get too far: {GITHUB}skyzh/tiny-llm/pull/46 (2025), where the prompt of 6 was counted twice and the "
             "second token came at offset 12."),
]
