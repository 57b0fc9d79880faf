"""10.3: rotary positions beside a cache: what is new is turned at its own place, what is kept is not turned again."""

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.chapter_10.e10_1_rope import PROGRAM as ROPE
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers, off
from mha.exercises.engine.report import Mistake
from mha.position import rope

AT = "m tokens are kept, with positions 0 to m - 1. Which position has the first new one?"
KEPT = "In which state were the old keys kept?"


NEW = "torch.arange(m, m + n, device=q.device)"
PLACES = {                                              # fragment -> id, how they are turned then, what leads to it
    "torch.arange(n, device=q.device)": ("from-zero",
        "as if they were the first of the text, at positions 0, 1, ...; m tokens stand before them.", AT),
    "torch.arange(m + n, m + 2 * n, device=q.device)": ("after-the-cache-has-grown",
        "n positions too far, as happens when the length of the cache is read after the new keys were put in.",
        "Is the length read before the append, or after it?"),
    "torch.arange(2 * m, 2 * m + n, device=q.device)": ("at-twice-the-length",
        "m positions too far, as happens when the length of the cache is counted twice.", AT),
    "torch.arange(m + 1, m + n + 1, device=q.device)": ("one-too-far",
        "one position too far: counted from 0, the first new token stands at m.", AT),
    "torch.arange(m + n - 1, m + 2 * n - 1, device=q.device)": ("from-the-last-new",
        "n - 1 positions too far, as if the first of them stood where the last does. For one new token that is right.",
        "Which position has the first of three new tokens, and which the last?"),
    "torch.full((n,), m, device=q.device)": ("at-one-place",
        "at position m, all of them. That is right for the first, and the others stand further on.",
        "Which position has the second of the new tokens?"),
    "torch.zeros(n, device=q.device).long()": ("not-turned",
        "by no angle at all, where the old keys were kept turned.", KEPT),
}
SHIFTED = ("from-zero", "after-the-cache-has-grown", "at-twice-the-length", "one-too-far", "from-the-last-new")


def turned(whose):
    """Fragment -> its mistake, made with the new queries alone or with the new keys alone."""
    return {place: Mistake(f"{whose}-{id}", f"The new {whose} are turned {how}", asks)
            for place, (id, how, asks) in PLACES.items()}


def both_turned():
    """The same made with both: if both are shifted alike, the new tokens still have their distances from each other."""
    among = " Scores of new tokens with each other are right, for they see distances; those with old keys are not."
    return {(place, place): Mistake(f"tokens-{id}",
                f"The new queries and keys are turned {how}{among * (id in SHIFTED)}", asks)
            for place, (id, how, asks) in PLACES.items()}


PROGRAM = Program("""\
def cached_scores(q, k, K, base):
    from mha.position import rope as turn
    def rope(x, positions, base):
        return turn(x, positions, base=base, interleaved=True)
    m, n = K.shape[-2], q.shape[-2]
    q_turned = rope(q, <at_q>, base)
    k_turned = rope(k, <at_k>, base)
    keys = <keys>
    <instead>
    return <scores>
""", {
    "at_q": Blank(NEW, turned("queries"), offered=4),
    "at_k": Blank(NEW, turned("keys"), offered=4),
    "keys": Blank("torch.cat([K, k_turned], -2)", offered=3, wrong={
        "torch.cat([rope(K, torch.arange(m, device=q.device), base), k_turned], -2)": Mistake("turned-again",
            "The old keys are turned once more, each at its place. They were kept turned.",
            KEPT),
        "torch.cat([k_turned, K], -2)": Mistake("new-in-front",
            "The new keys stand in front of the old ones.",
            "In which column should the score with token 0 stand?"),
        "K": Mistake("old-keys-only",
            "The new tokens are scored against the old keys alone, and not against each other and themselves.",
            "How many columns are wanted?"),
        "k_turned": Mistake("new-keys-only",
            "The new tokens are scored against each other alone, and not against what was kept.",
            "How many columns are wanted?"),
    }),
    "instead": Blank("", wrong={
        "q_turned, k_turned = (rope(x, torch.arange(m, m + n, device=q.device), 10000) for x in (q, k))\n"
        "keys = torch.cat([K, k_turned], -2)": Mistake("base-not-handed-on",
            "base is not handed on: the new tokens are turned with 10000, whatever base is. With d_k = 2 that is the "
            "same.",
            "With which base were the old keys turned?"),
    }),
    "scores": Blank("q_turned @ keys.mT", offered=1, wrong={
        "q_turned @ keys.mT if m else q @ k.mT": Mistake("empty-cache-unturned",
            "With an empty cache nothing is turned. The first tokens of a text have positions too: 0, 1, ...",
            "Which positions have three new tokens if nothing is kept?"),
        "q_turned @ keys.mT / math.sqrt(q.shape[-1])": Mistake("scaled",
            "The products are divided by the root of d_k. The exercise asks for the products alone.",
            "What does the statement ask for?"),
    }),
}, together={
    "at_q at_k": both_turned(),
}, scope={"rope": ROPE.reference, "in_halves": lambda x, positions, base: rope(x, positions, base=base)})


def measure(answer):
    """Scores of alike tokens tell distances: of queries and keys (1, 0), the cosine of their distance."""
    one = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    K = ROPE.reference(one.expand(3, 2), torch.arange(3), 100)
    out, wanted = answer(one, one, K, 100), PROGRAM.reference(one, one, K, 100)
    if out.shape == wanted.shape and off(out, wanted):
        yield (f"For three old tokens and a new one, all (1, 0) before they are turned, the scores are {listed(out)}; "
               f"they should be the cosines of the distances 3, 2, 1, 0: {listed(wanted)}.")


def case(seed, lead, n, m, d_k, base=10000):
    keys = numbers(seed + 2, *lead, m, d_k)
    return Case((numbers(seed, *lead, n, d_k), numbers(seed + 1, *lead, n, d_k), keys, base))


EXERCISE = Exercise(
    id="10.3", name="cached_scores", chapter="10_position_lab", stars=2, minutes=10, after="section 4",
    signature="cached_scores(q, k, K, base)",
    statement="A decoder keeps the keys of the m tokens that it has read, K `(..., m, d_k)`: they were rotated by "
              "their positions 0 to m - 1 before they were kept. Now n more tokens come. Their queries q and keys "
              "k, `(..., n, d_k)`, are not yet rotated. Write `cached_scores(q, k, K, base)`: the products of the n "
              "queries with all m + n keys, `(..., n, m + n)`, oldest key first, with no scale and no mask, the "
              "same as if the text had been read at once. m may be 0. Gradients must reach q, k and K. Rotate as in "
              "exercise 10.1, with your own `rope(x, positions, base)` or `mha.position.rope(x, positions, "
              "base=base, interleaved=True)`.",
    stub="# e = torch.eye(2)[:1]\n"
         "# cached_scores(e, e, e, 10000) -> 0.5403 1\n"
         "def cached_scores(q, k, K, base):\n    ...\n",
    program=PROGRAM,
    cases=[case(1060, (), 1, 3, 4), case(1063, (2,), 3, 5, 6), case(1066, (2, 3), 2, 0, 4), case(1069, (), 4, 4, 8, 50),
           case(1072, (3, 1), 1, 7, 2), case(1075, (2,), 2, 1, 10, 300)],
    sized=lambda B, n, m: case(1, (B,), n, m, 6),
    measure=measure,
    hints=("What is the position of the first new token, if the old ones have 0 to m - 1? And of its query?",
           "Old keys stay as they are. New keys are rotated before they join them; queries are rotated by the same "
           "positions as the keys of their tokens.",
           "from mha.position import rope\n"
           "m, n = K.shape[-2], q.shape[-2]\n"
           "new = torch.arange(m, m + n)\n"
           "q, k = (rope(x, new, base=base, interleaved=True) for x in (q, k))\n"
           "return q @ torch.cat([K, k], -2).mT"),
    note="Scores see differences of positions only, so everything may be shifted, but by the same amount: old and new "
         "must count from the same zero. In a layer mha does it: forward(x, cache=cache) reads the length of the cache "
         "before it appends.",
)
