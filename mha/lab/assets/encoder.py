"""What the heads of all-MiniLM-L6-v2 do: queries and keys on four sentences (`minilm.npz`), and all 72 heads on the
sentences of `mha.lab.sentences` (`real_heads.npz`).

The heads stand in a row, six layers of twelve, layer by layer: 72. Words are counted as in `mha.lab.sentences`; T is
the number of all words of its 62 sentences with marked relations.
"""
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from mha.lab.assets._load import FOLDER, arrays

MINILM, REAL_HEADS = FOLDER / "minilm.npz", FOLDER / "real_heads.npz"
UNTRAINED = 5                                                   # models whose layers were never trained
BROWSED = (                                                     # the sentences whose maps are kept
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The bank by the river overflowed.",
    "I am going to deposit my money at the bank.",
    "When Mary met John at the station, she gave him a book.",
    "The long narrow bridge crossed the deep dark valley.",
    "The keys to the old cabinet were lost.",
    "My brother never eats fish, but he cooks it well.",
)


# --- Queries and keys ----------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class TrainedQK:
    """Queries and keys of every head of one trained layer, on one sentence.

    Head i owns the columns [i * d_k, (i + 1) * d_k), d_k = d_model / num_heads. Inside each head the columns are
    sorted from the strongest direction of W_Q W_K^T to the weakest.
    """
    tokens: list[str]
    """The n tokens of the sentence."""
    Q: Tensor
    """(n, d_model), the queries of all heads side by side."""
    K: Tensor
    """(n, d_model), the keys of all heads side by side."""
    num_heads: int
    """As the model was trained: 12."""
    layer: int
    """Counted from 0."""

    def heads(self, num_heads=None, d_k=None):
        """The same columns, cut another way: Q and K as (h, n, d_k).

        Head i takes d_k consecutive columns from column i * d_model / h on, going round at the end. With h * d_k =
        d_model that is a partition; a smaller d_k leaves columns out, a larger one lets the heads share columns.
        """
        d_model = self.Q.shape[-1]
        num_heads = num_heads or self.num_heads
        d_k = d_k or d_model // num_heads
        starts = torch.arange(num_heads) * d_model // num_heads
        columns = (starts[:, None] + torch.arange(d_k)) % d_model        # (h, d_k)
        return self.Q[:, columns].transpose(0, 1), self.K[:, columns].transpose(0, 1)


def trained_qk(sentence="tired", layer=5):
    """Load the queries and keys of one layer of all-MiniLM-L6-v2 on one sentence.

    Args:
        sentence: "tired" or "wide" (the last word of "The animal didn't cross the street because it was too ..."),
            "bank" ("The bank by the river overflowed"), or "deposit" ("I am going to deposit my money at the bank").
        layer: 0 (the first) or 5 (the last); "wide" is stored for layer 5 only, "bank" for layer 0 only.
    Returns:
        TrainedQK, in float64 (stored as float16).
    Raises:
        ValueError: nothing is stored for that sentence and layer; the message lists what is.
    """
    import numpy as np

    with np.load(MINILM, allow_pickle=False) as stored:
        name = f"{sentence}.{layer}"
        if f"{name}.Q" not in stored:
            known = sorted({key.rsplit(".", 1)[0] for key in stored})
            raise ValueError(f"no queries and keys are stored for {name!r} (sentence.layer); stored are "
                             f"{', '.join(known)}")
        Q, K = (torch.from_numpy(stored[f"{name}.{part}"]).double() for part in "QK")
        return TrainedQK(stored[f"{name}.tokens"].tolist(), Q, K, num_heads=12, layer=layer)


# --- All heads on many sentences -----------------------------------------------------------------------------------

@dataclass(frozen=True)
class Browsed:
    """One of the sentences in BROWSED, and what every head makes of it."""
    tokens: list[str]
    """Its n tokens, [CLS] and [SEP] among them."""
    maps: Tensor
    """(6, 12, n, n) uint8, the weights of every layer and head, in steps of 1/255."""


@dataclass(frozen=True)
class LookedAt:
    """The other word of the sentence to which each word gives most, by its number in the sentence."""
    trained: Tensor
    """(72, T), by the heads of the model."""
    untrained: Tensor
    """(5, 72, T), by the heads of models whose layers were drawn anew."""
    learned: Tensor
    """(2, 72, T), by the heads of the models with one learned matrix in each head, and with two."""


@dataclass(frozen=True)
class PronounRows:
    """What each of 30 pronouns gives to the words of its sentence, 0 behind its end: (..., 30, longest sentence)."""
    trained: Tensor
    """(72, ...), the weights of each head."""
    untrained: Tensor
    """(5, 72, ...), the weights in models whose layers were drawn anew."""
    embedding: Tensor
    """(30, longest sentence), no weight but the cosine of the pronoun's embedding with each word's."""
    bare: Tensor
    """(72, ...), the weights of each head when it reads the embeddings, with no layer before it and no positions."""
    learned: Tensor | None = None
    """(2, 72, ...), with one learned matrix in each head, and with two; kept of the pronouns written `again` only."""


@dataclass(frozen=True)
class Places:
    """The same measure of three places, seen from the word that asks."""
    before: Tensor
    """(72,), of the token before."""
    itself: Tensor
    """(72,), of the word itself."""
    after: Tensor
    """(72,), of the token after."""


@dataclass(frozen=True)
class Itself:
    """What a word gives itself, of what it gives to words."""
    share: Tensor
    """(72,), the mean share."""
    largest: Tensor
    """(72,), in how many rows that share is the largest."""


@dataclass(frozen=True)
class Special:
    """The share of the two tokens that stand for no word."""
    cls: Tensor
    """(72,), the share of [CLS]."""
    sep: Tensor
    """(72,), the share of [SEP]."""


@dataclass(frozen=True)
class Agreement:
    """Rank correlation, within a row, of the weight of a token and the length of what it hands on; mean over rows."""
    words: Tensor
    """(72,), among words."""
    all_tokens: Tensor
    """(72,), among all tokens, [CLS] and [SEP] too."""


@dataclass(frozen=True)
class TokenBefore:
    """The mean weight on the token before, as the model was trained and with learned matrices."""
    trained: Tensor
    """(72,)."""
    one: Tensor
    """(72,), with one learned matrix in each head."""
    two: Tensor
    """(72,), with two, learned in the same way."""


@dataclass(frozen=True)
class Surgery:
    """What is left of the model when the matrices of its heads are changed."""
    cosine: float
    """Mean cosine of the sentence vectors with the model's own."""
    found: float
    """Share of sentences whose counterpart is the nearest of 60."""
    beats_decoy: float
    """Share of sentences whose counterpart is nearer than the decoy."""
    distance: float
    """Mean total variation between the maps and the model's own."""
    on_itself: float
    """Mean weight of a token on itself."""
    swapped: float
    """Mean cosine of two sentences whose roles are exchanged."""
    without_positions: float
    """The least such cosine when no positions are added."""


@dataclass(frozen=True)
class RealHeads:
    """What the 72 heads of all-MiniLM-L6-v2 did on the sentences of `mha.lab.sentences`."""
    browsed: tuple[Browsed, ...]
    """The sentences of BROWSED, in that order."""
    cross: Tensor
    """(2, 72, 16), what "cross" gives to the tokens of the first two of them, not rounded: who gets most can be asked
    here, and not of maps in steps of 1/255, where two may tie."""
    looked_at: LookedAt
    """Whom each word of the 62 sentences looks at most."""
    vocabulary: Tensor
    """(T,), the number in the model's vocabulary of each word's rarest piece; roughly, the larger the rarer."""
    pronouns: PronounRows
    """The pronouns on which heads were chosen."""
    pronouns_again: PronounRows
    """The pronouns that were written afterwards."""
    twins: Tensor
    """(72, 32, longest sentence), the weights of the pronoun on the words, two sentences for each of the 16 twins."""
    late: Tensor
    """(72, 16, longest sentence), the weights of the pronoun on the words, where a stereotype is all there is."""
    apart: Tensor
    """(72, 30, longest sentence), the weights of the asking word on the words of `mha.lab.sentences.apart`."""
    near: Places
    """Mean weight, among words."""
    tops: Places
    """How often the place has the largest weight of the row, [CLS] and [SEP] included."""
    own: Itself
    """What a word gives itself."""
    entropy: Tensor
    """(72,), mean entropy of a row, in nats."""
    sinks: Special
    """The share of all weight."""
    sinks_carried: Special
    """The share of the lengths of all that is handed on."""
    carried_rank: Agreement
    """Whether more weight means more length."""
    likeness: Tensor
    """(72, 72), Jensen-Shannon divergence between the rows of two heads, in nats; 0 is alike."""
    likeness_words: Tensor
    """(72, 72), the same when only words count."""
    asymmetry: Tensor
    """(72,), |A - A^T| / |A + A^T| of A = W_Q W_K^T, biases included."""
    asymmetry_random: Tensor
    """(72,), the same of random matrices."""
    surgeries: dict[str, Surgery]
    """By name. "rewritten" is the model with other numbers added to each row of scores (`surgery.as_keys_prefer`),
    which changes none of its weights; "fitted matrix" has one matrix by `surgery.one_matrix_for`; "learned matrix"
    has one by `surgery.learned_like`, "two learned" two."""
    before_learned: TokenBefore
    """What learned matrices cost a head that looks at the token before."""


@cache
def real_heads():
    """What the heads of all-MiniLM-L6-v2 did on the sentences of `mha.lab.sentences`: RealHeads, in float32.

    Read once and then shared by all who ask, so change none of its tensors in place.
    """
    stored = arrays(REAL_HEADS)

    def columns(name):
        return stored.pop(name).unbind(-1)

    def rows(name):
        parts = ("untrained", "embedding", "bare", "learned")
        return PronounRows(stored.pop(name), **{part: stored.pop(f"{name}_{part}") for part in parts
                                                if f"{name}_{part}" in stored})

    return RealHeads(
        browsed=tuple(Browsed(stored.pop(f"tokens.{i}"), stored.pop(f"maps.{i}")) for i in range(len(BROWSED))),
        looked_at=LookedAt(*(stored.pop(f"looked_at{model}") for model in ("", "_untrained", "_learned"))),
        pronouns_again=rows("pronouns_again"), pronouns=rows("pronouns"),
        near=Places(*columns("near")), tops=Places(*columns("tops")), own=Itself(*columns("own")),
        sinks=Special(*columns("sinks")), sinks_carried=Special(*columns("sinks_carried")),
        carried_rank=Agreement(*columns("carried_rank")), before_learned=TokenBefore(*columns("before_learned")),
        surgeries={name: Surgery(*scores)
                   for name, scores in zip(stored.pop("surgeries"), stored.pop("surgery_scores").tolist())},
        **stored)
