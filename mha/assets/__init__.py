"""Tensors that are stored, not computed: what they are, where they come from, how they were made.

Of a trained encoder (`NOTICE.md` names it, its licence and the changes): `minilm.npz`, queries and keys on a few
sentences; `real_heads.npz`, what its 72 heads do on the sentences of `mha.sentences`; `pruning.npz`, what it loses
without some of them. Of small models trained for the book: `trained_heads.npz`, the layers of chapter 7;
`induction.npz`, the language models of chapter 8 (`mha.induction.induction_runs` reads them).

Each is made again by `python -m tools.make_NAME`, all in about an hour on one core; tests make a part of each
again, drawn at random.
"""
from dataclasses import dataclass
from pathlib import Path

import torch

MINILM = Path(__file__).parent / "minilm.npz"
TRAINED_HEADS = Path(__file__).parent / "trained_heads.npz"
REAL_HEADS = Path(__file__).parent / "real_heads.npz"
UNTRAINED = 5                                                   # models of real_heads whose layers were never trained
BROWSED = (                                                     # the sentences of real_heads whose maps are kept
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The bank by the river overflowed.",
    "I am going to deposit my money at the bank.",
    "When Mary met John at the station, she gave him a book.",
    "The long narrow bridge crossed the deep dark valley.",
    "The keys to the old cabinet were lost.",
    "My brother never eats fish, but he cooks it well.",
)
PRUNING = Path(__file__).parent / "pruning.npz"
RANDOM_ORDERS = 5
# of pruning.npz
PRUNING_ORDERS = ("greedy", "cosine lost alone", "mean size of the gradient", "size of the mean gradient",
                  "matching loss alone", "most costly first",
                  *(f"random {number}" for number in range(RANDOM_ORDERS)), "mean size, divided within layers",
                  "gradient that is zero",
                  *(f"random, last layer last {number}" for number in range(RANDOM_ORDERS)))
RELATIONS, HEADS = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32)          # of trained_heads, with d_k = 64 / h
# of trained_heads on 4 relations, with a d_k of their own
FIXED_HEADS, FIXED_WIDTHS = (1, 2, 4, 8, 16, 32), (1, 4, 16, 64)
# r, h and d_k of trained_heads after 3000 steps
LONG_HEADS = ((4, 4, None), (4, 8, None), (4, 16, None), (8, 8, None), (1, 1, 2))


@dataclass(frozen=True)
class TrainedQK:
    """Queries and keys of every head of one trained layer, on one sentence.

    Q and K have shape (n, d_model): n tokens, and head i owns the columns [i * d_k, (i + 1) * d_k), d_k = d_model /
    num_heads. Inside each head the columns are sorted from the strongest direction of W_Q W_K^T to the weakest.
    """
    tokens: list[str]
    Q: torch.Tensor
    K: torch.Tensor
    num_heads: int
    layer: int

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


def trained_heads(r, h, d_k=None, long=False):
    """How eight layers of h heads ended that were trained on r relations by `mha.train.fit_heads`, with d_model = 64.

    Args:
        r: 1, 2, 4 or 8. h: 1, 2, 4, 8, 16 or 32, with d_k = 64 / h. d_k: 1, 4, 16 or 64 instead, for r = 4.
        long: after 3000 steps, not 600; for the r, h and d_k in LONG_HEADS.
    Returns:
        error (8,): mean squared error, 1 is knowing nothing. shares (8, h, r): the mean weight of each head on the
            token of each relation.
    Raises:
        ValueError: nothing is stored for these numbers.
    """
    import numpy as np

    name = f"r{r}_h{h}" + (f"_dk{d_k}" if d_k else "") + "_long" * long
    with np.load(TRAINED_HEADS, allow_pickle=False) as stored:
        if f"{name}_error" not in stored:
            raise ValueError(f"nothing is stored for r={r}, h={h}, d_k={d_k}, long={long}; r is one of {RELATIONS}, h "
                             f"one of {HEADS}; with a d_k of {FIXED_WIDTHS}, r is 4 and h one of {FIXED_HEADS}; long "
                             f"are {LONG_HEADS}")
        return torch.from_numpy(stored[f"{name}_error"]), torch.from_numpy(stored[f"{name}_shares"].astype("float32"))


def trained_samples(r, h):
    """What the heads of `trained_heads(r, h)` look at in single sentences: weights (8 runs, 4 sentences, h, 16), in
    steps of 1/255.

    The first r tokens of a sentence are those of the relations.
    """
    import numpy as np

    trained_heads(r, h)                                                # refuses what is not stored
    with np.load(TRAINED_HEADS, allow_pickle=False) as stored:
        return torch.from_numpy(stored[f"r{r}_h{h}_samples"]) / 255


def real_heads():
    """What the heads of all-MiniLM-L6-v2 did on the sentences of `mha.sentences`: name -> tensor, or list of tokens.

    With 72 heads, six layers of twelve, layer by layer; words counted as in `mha.sentences`, T all words of the 62
    sentences in a row:
        tokens.i, maps.i        of BROWSED[i]: its tokens, and its maps (6, 12, n, n), uint8 in steps of 1/255
        looked_at               (72, T), the other word to which each word gives most; looked_at_untrained (5, 72, T), by models with fresh layers
        vocabulary              (T,), the number in the model's vocabulary of each word's rarest piece; roughly, the larger the rarer
        pronouns, twins, late   (72, items, longest sentence), the weights of each item's pronoun on the words; also pronouns_again and apart;
                                pronouns_untrained, pronouns_again_untrained (5, 72, ...); pronouns_embedding,
                                pronouns_again_embedding (items, ...), the cosine of the pronoun's embedding with each
                                word's; pronouns_bare, pronouns_again_bare, weights of heads that read embeddings
        near, tops              (72, 3), mean weight on the token before, itself, after; how often that is the row's largest
        own                     (72, 2), of what goes to words, what a word gives itself; how often that is the row's largest
        entropy                 (72,), nats. sinks, sinks_carried: (72, 2), the share of [CLS] and [SEP] in the weights, and in the lengths that are handed on
        carried_rank            (72, 2), rank correlation of weight and length within a row, mean; among words, and among all tokens
        likeness                (72, 72), Jensen-Shannon divergence between two heads' rows, nats; likeness_words, when only words count
        asymmetry               (72,), |A - A^T| / |A + A^T| of W_Q W_K^T with biases; asymmetry_random (72,), of random matrices
        surgeries               names, and surgery_scores (surgeries, 7): cosine with the model's own sentence vectors, counterpart nearest of 60, counterpart
                                nearer than the decoy, total variation between maps, mean weight on oneself, cosine of
                                sentences with roles exchanged, the least such cosine without positions. "rewritten" is
                                the model with other numbers added to each row of scores (`mha.surgery.as_keys_prefer`),
                                which changes none of its weights; "fitted" has one matrix by
                                `mha.surgery.one_matrix_for`, "learned matrix" has one by `learned_like`, "two learned"
                                two. before_learned (72, 3), the weight on the token before: as trained, with the
                                learned one, with the learned two; looked_at_learned, pronouns_again_learned (2, ...),
                                as above, with one and with two
    """
    return _stored(REAL_HEADS)


def pruning():
    """What it costs to switch heads of all-MiniLM-L6-v2 off, on the 180 texts of `mha.sentences.paraphrases`: name ->
    tensor.

    alone (6, 12), 1 - cosine with the whole model's sentence vectors, for each head switched off alone. slopes and
    rises (60, 6, 12), what each head does to each sentence's matching loss by `mha.measure.head_effects`; size, slope
    and removal (6, 12), the same loss by `mha.measure.head_scores`. flat_gradient (6, 12), the size of the derivative
    of 1 - cosine; flat_gradient_double, the same computed in float64. orders (18, 72), as PRUNING_ORDERS: which head
    goes first, second, ...; curves (18, 73, 4): cosine, counterpart nearest of 60, counterpart nearer than the decoy,
    mean matching loss, with 0 to 72 heads gone. whole_layers (6, 4), the same with one layer's heads gone. words (3,),
    the last three scores of mean word embeddings. subsets (6, 4096), the cosine on every seventh text with any set of
    one layer's heads gone: bit i of the number is set where head i is off.
    """
    return _stored(PRUNING)


def _stored(path):
    import numpy as np

    with np.load(path, allow_pickle=False) as stored:
        return {name: array.tolist() if array.dtype.kind == "U" else torch.from_numpy(array).to(_wide(array.dtype))
                for name, array in stored.items()}


def _wide(dtype):
    """The dtype to compute with: float16 is for storing only."""
    return torch.float32 if dtype.kind == "f" else {"uint8": torch.uint8}.get(dtype.name, torch.long)
