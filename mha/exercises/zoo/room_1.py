"""Room 1, the aquarium: the weights themselves. Rows, columns and sums are enough."""
import torch

from mha.exercises.zoo.kinds import Case, WhichBug, WhichPicture
from mha.exercises.zoo.staged import CAUSAL, GITHUB, PADDED, REAL, SCORES, WORDS, numbers, run, weights

ROOM = "section 1"

KEEP = torch.rand(4, 4, generator=torch.Generator().manual_seed(3)) > 0.2
NOISE = 0.2 * numbers(916, 6, 6)


def read(line):
    """The weights of sentence b, which has two words."""
    return run(line, scores=PADDED, real=REAL[1])["weights"][None]


def near(line):
    """The weights of a causal head of six tokens, after a line that adds a bias to the scores."""
    place = torch.arange(6)
    found = run(line, scores=NOISE, q_idx=place[:, None], kv_idx=place)["scores"]
    return weights(found, place <= place[:, None])[None]


SPECIMENS = [
    WhichBug(
        id="B.6", title="Rows that do not sum to 1", core=True, stars=1, minutes=2, after=ROOM,
        sound=lambda: weights(SCORES, CAUSAL)[None], rows=WORDS, columns=WORDS,
        statement="This head has a causal mask. Which bug made the map on the right?",
        options=(Case("The softmax runs over the queries.", "Every column sums to 1, and the rows do not: each key "
                                                            "shares itself out among the queries.",
                      makes=lambda: weights(SCORES, CAUSAL, -2)[None]),
                 Case("The weights were multiplied by the mask after the softmax.",
                      "Then the last row, which has no masked key, would be right.", "mask-after-softmax",
                      makes=lambda: (weights(SCORES) * CAUSAL)[None]),
                 Case("The exponentials were not divided by their sum.",
                      "Then the ratios within a row would still be right. Compare the two last rows.",
                      "no-normalisation", makes=lambda: (SCORES.exp() * CAUSAL)[None]),
                 Case("The mask is transposed.", "Then the lower half would be empty, and not the upper one.",
                      "mask-transposed",
                      makes=lambda: weights(SCORES, CAUSAL.T)[None])),
        note="\"That's a typo and a big bug!\", said the maintainer of "
             f"{GITHUB}labmlai/annotated_deep_learning_paper_implementations/issues/146 (2022). The one who found it "
             "then measured no gain from the right axis in the quality of the pictures that the model draws, so a "
             "metric need not notice. And it leaks, because the sum of a column runs over later queries."),
    WhichBug(
        id="B.8", title="A mask that is too polite", core=True, stars=1, after=ROOM,
        sound=lambda: weights(SCORES, CAUSAL)[None], rows=WORDS, columns=WORDS,
        statement="This head should have a causal mask. Which bug is it? Compare the weights on later keys within one "
                  "row.",
        options=(Case("The mask was not applied at all.",
                      "Then the weights on later keys would differ from each other, as their scores do.", "no-mask",
                      makes=lambda: weights(SCORES)[None]),
                 Case("The mask was applied after the softmax.", "Then the weights on later keys would be 0.",
                      "mask-after-softmax", makes=lambda: (weights(SCORES) * CAUSAL)[None]),
                 Case("The mask came before the softmax and its fill is nearly zero.",
                      "All later keys of a row have the same weight, which is that of a score of 0.",
                      makes=lambda: SCORES.masked_fill(~CAUSAL, -1e-12).softmax(-1)[None]),
                 Case("The diagonal is off by one.", "Then row 1 would have one later key with a weight. It has three.",
                      "off-by-one", makes=lambda: weights(SCORES, torch.ones(4, 4).tril(1) > 0)[None])),
        note="masked_fill(mask == 0, -e) with e = 1e-12 puts minus a millionth of a millionth in place of each masked "
             f"score, where a very negative number was meant. It stood from 2019 to 2022, {GITHUB}hyunwoongko/"
             "transformer/issues/10. The fix of specimen B.1 in FuxiCTR brought in the same slip, -1e-10, for five "
             "months."),
    WhichPicture(
        id="B.10", title="Reading the padding", core=True, after=ROOM, rows=WORDS,
        columns=("real", "real", "padding", "padding"), line="weights = scores.masked_fill(real, -inf).softmax(-1)",
        statement="A sentence of two words is padded to four tokens, and `real` is True for its words. Somebody "
                  "wrote `weights = scores.masked_fill(real, -inf).softmax(-1)`. Which map does this line make?",
        makes=read, sound=lambda: read("weights = scores.masked_fill(~real, -inf).softmax(-1)"),
        options=(Case("The words are read, the padding is not.",
                      "That was meant. But masked_fill fills where it finds True, so the line lacks a ~.", "as-meant",
                      makes=lambda: read("weights = scores.masked_fill(~real, -inf).softmax(-1)")),
                 Case("Everything is read, the words more than without a mask.",
                      "That comes from adding the mask to the scores as 0 and 1. A fill of -inf leaves no weight.",
                      "float-mask", makes=lambda: read("weights = (scores + real).softmax(-1)")),
                 Case("Only the padding is read.", "The fill goes where the mask is True, and that is on the words.")),
        note="scaled_dot_product_attention takes True for \"take part\", nn.MultiheadAttention for \"leave out\". "
             f"{GITHUB}InseeFrLab/torchTextClassifiers/pull/92 (2026) and {GITHUB}rasbt/LLMs-from-scratch/issues/1061 "
             "(2026) passed the one for the other."),
    WhichBug(
        id="B.16", title="More than everything", after=ROOM, sound=lambda: weights(SCORES)[None], rows=WORDS,
        columns=WORDS,
        statement="A layer in training returned these weights. The numbers below list what each row sums to. What "
                  "happened?",
        options=(Case("The softmax runs over the queries.", "Then the columns would sum to 1.",
                      "softmax-axis-queries", makes=lambda: weights(SCORES, axis=-2)[None]),
                 Case("Dropout was applied to the weights before they were returned.",
                      "Some weights are 0, and all others are larger by one factor, 1 / 0.8, so a row may sum to more "
                      "than 1.",
                      makes=lambda: (weights(SCORES) * KEEP / 0.8)[None]),
                 Case("A mask hides single pairs.", "With a mask before the softmax the rows would sum to 1.", "mask",
                      makes=lambda: weights(SCORES, KEEP)[None]),
                 Case("The exponentials were not divided by their sum.",
                      "Then no weight would be 0, and each row would be off by a factor of its own.",
                      "no-normalisation", makes=lambda: SCORES.exp()[None])),
        note=f"{GITHUB}pytorch/pytorch/issues/33360 (2020): the weights that nn.MultiheadAttention returns in training "
             f"have been through dropout. So had those of fairseq's own layer, which in "
             f"{GITHUB}kanyun-inc/fairseq-gec/issues/18 (2019) served as probabilities above 1, and the loss became "
             "negative."),
    WhichPicture(
        id="B.17", title="The farther the better", after=ROOM, rows=tuple("123456"), columns=tuple("123456"),
        line="scores = scores + 0.7 * (q_idx - kv_idx)",
        statement="A causal head of six tokens should prefer near tokens, so its scores get a bias: `scores = scores + "
                  "0.7 * (q_idx - kv_idx)`, with the positions of the query and of the key. Which map does this bias "
                  "make?",
        makes=near, sound=lambda: near("scores = scores + 0.7 * (kv_idx - q_idx)"),
        options=(Case("Near keys get most.",
                      "That was meant. But here a key three back gets a bias of 0.7 · 3, the token itself none.",
                      "as-meant", makes=lambda: near("scores = scores + 0.7 * (kv_idx - q_idx)")),
                 Case("Far keys get most.", "The line rewards the distance, which should cost."),
                 Case("Near and far keys get about the same.",
                      "That is the head without a bias, and this line adds up to 3.5.", "no-bias",
                      makes=lambda: near("scores = scores"))),
        note=f"(q_idx - kv_idx) in place of (kv_idx - q_idx): {GITHUB}meta-pytorch/attention-gym/pull/86 (2024). The "
             "bias is ALiBi's."),
]
