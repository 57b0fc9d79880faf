"""5.2: weights that leave the filling out."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.probe import listed, numbers
from mha.exercises.report import Mistake


def padding_weights(scores, lengths):
    real = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    empty = ~real.any(-1, keepdim=True)
    return scores.masked_fill(~real & ~empty, -torch.inf).softmax(-1).masked_fill(~real, 0)


def model(scores, lengths, real="keys", how="before", empty="zero"):
    """Weights of real words with switches: each can be set wrong."""
    B, n, m = scores.shape
    i, j, L = torch.arange(n)[:, None], torch.arange(m), lengths[:, None, None]
    if real == "broadcast":
        mask = (j < lengths[:, None]).expand(B, n, m)
        return scores.masked_fill(~mask, -torch.inf).softmax(-1)
    mask = {"keys": (j < L).expand(B, n, m), "queries": (i < L).expand(B, n, m), "both": (j < L) & (i < L),
            "padding": (j >= L).expand(B, n, m), "one-more": (j <= L).expand(B, n, m),
            "one-less": (j < L - 1).expand(B, n, m), "everything": torch.ones(B, n, m, dtype=torch.bool),
            "from-the-end": (j >= m - L).expand(B, n, m), "causal": (j < L) & (j <= i),
            "longest": (j < lengths.max()).expand(B, n, m), "first": (j < lengths[0]).expand(B, n, m),
            "causal-only": (j <= i).expand(B, n, m)}[real]
    if how == "after":
        return scores.softmax(-1) * mask
    fill = {"before": -torch.inf, "zero": 0.0, "one": 1.0, "tiny": -10.0}.get(how, -torch.inf)
    shown = scores.masked_fill(~mask, fill)
    if how == "queries-axis":
        return shown.softmax(-2).masked_fill(~mask, 0)
    weights = shown.softmax(-1)
    if how == "zero-outside":
        weights = weights * mask
    if how in ("before", "everything") and empty == "zero":
        return weights.masked_fill(~mask.any(-1, keepdim=True), 0)
    if empty == "uniform":
        return weights.masked_fill(~mask.any(-1, keepdim=True), 1 / m)
    if empty == "plain":
        return torch.where(mask.any(-1, keepdim=True), weights, scores.softmax(-1))
    return weights


SWITCHES = {
    "real": {
        "queries": Mistake("masks-queries",
                           "The mask lies on the queries: rows of filling are emptied, and the filling among the keys "
                           "is still read.",
                           "Whom should nobody look at? Which axis is that?"),
        "broadcast": Mistake("mask-broadcast",
                             "The mask has the shape (B, m) and is laid on (queries, keys): query 1 of every sentence "
                             "gets the length of sentence 1. Where B and n differ and neither is 1, it does not run. "
                             "lengths[:, None, None] has the axis that is missing.",
                             "With which axes of the scores does torch match (B, m)?"),
        "both": Mistake("masks-queries-too",
                        "Keys and queries of the filling are both hidden. The rows of filling then have nobody to "
                        "look at; the statement hides keys only.",
                        "What should a row of filling give?"),
        "padding": Mistake("polarity",
                           "It is the wrong way round: only the filling is read.",
                           "Does True say hide or show in what you wrote?"),
        "one-more": Mistake("one-too-many",
                            "One word of filling is still read: the last real word has index length - 1.",
                            "Is it < or <=?"),
        "one-less": Mistake("one-too-few",
                            "The last real word is hidden: it has index length - 1.",
                            "Is it < length or < length - 1?"),
        "everything": Mistake("no-mask",
                              "Nothing is hidden: the filling is read like real words.",
                              "Does what you do with the mask reach the weights? masked_fill, for one, returns a new "
                              "tensor."),
        "from-the-end": Mistake("padding-at-the-front",
                                "It takes the last words as the real ones; here the filling stands at the end.",
                                "Where does the filling stand?"),
        "causal": Mistake("causal-too",
                          "Later words are hidden as well. Asked is the padding alone.",
                          "May a real word look ahead here?"),
        "causal-only": Mistake("causal-instead", "Later words are hidden, and the filling is not.",
                               "What do the lengths say?"),
        "longest": Mistake("one-length-for-all", "All sentences get the largest length.",
                           "Which axis of the scores do the lengths belong to?"),
        "first": Mistake("one-length-for-all", "All sentences get the length of the first.",
                         "Which axis of the scores do the lengths belong to?"),
    },
    "how": {
        "after": Mistake("mask-after-softmax",
                         "The filling is set to 0 after the softmax, so the rows sum to less than 1: its scores were "
                         "still in the sum.",
                         "What should a row sum to?"),
        "zero": Mistake("zero-for-minus-infinity",
                        "Hidden scores become 0 (through a fill with 0 or 1e-9, or a product with the mask), and e^0 "
                        "is 1: the filling keeps a weight.",
                        "Which score has the power 0?"),
        "one": Mistake("one-for-minus-infinity",
                       "Hidden scores are set to 1, and e^1 is no small weight.", "Which score has the power 0?"),
        "tiny": Mistake("not-low-enough",
                        "Hidden scores are set to -10, and others may be as low as that.",
                        "Which score is below every other?"),
        "queries-axis": Mistake("softmax-axis-queries", "The softmax runs over the queries.",
                                "Whose weights should sum to 1?"),
    },
    "empty": {
        "nan": Mistake("empty-row-nan",
                       "Where nothing is left to read, nothing is left to share: 0 divided by 0 is NaN.",
                       "What is 0 divided by 0? And what should a row give that has nobody to look at?"),
        "uniform": Mistake("empty-row-uniform",
                           "Where nothing is left to read, every place gets the same weight. It should get none.",
                           "What should a row give that has nobody to look at?"),
        "plain": Mistake("empty-row-unmasked",
                         "Where nothing is left to read, the mask is not applied at all.",
                         "What should a row give that has nobody to look at?"),
    },
}


def measure(answer):
    """What the filling gets."""
    weights = answer(numbers(301, 2, 2, 4), torch.tensor([4, 2]))
    yield (f"Two sentences of 4 places, lengths 4 and 2. The rows of the second sum to {listed(weights[1].sum(-1))}; "
           f"its two places of filling get {listed(weights[1, 0, 2:])} in the first row; each should get 0.")


EXERCISE = Exercise(
    id="5.2", name="padding_weights", chapter="05_masks", stars=3, minutes=20, after="section 4",
    signature="padding_weights(scores, lengths)",
    statement="A batch of sentences, filled up at the end to m places. Write `padding_weights(scores, lengths)`: "
              "scores is `(B, n, m)`, lengths is `(B,)`, whole numbers from 0 to m. Return weights, `(B, n, m)`: each "
              "row is a softmax over the real words of its sentence, and the filling gets exactly 0. A sentence of "
              "length 0 gets zeros everywhere, and no NaN may arise, not in its gradient either.",
    stub="def padding_weights(scores, lengths):\n    ...\n",
    reference=padding_weights,
    cases=[Case((numbers(302, 2, 2, 3), torch.tensor([3, 2]))), Case((numbers(303, 3, 4, 5), torch.tensor([5, 1, 3]))),
           Case((numbers(304, 4, 4, 4) - 8, torch.tensor([2, 4, 1, 3]))),
           Case((numbers(305, 1, 1, 6), torch.tensor([4]))), Case((numbers(306, 3, 2, 4), torch.tensor([2, 0, 4]))),
           Case((20 * numbers(307, 2, 3, 7) - 60, torch.tensor([7, 3])))],
    model=model, switches=SWITCHES, measure=measure, trained=(1, 4),
    large=(Case((20000 * numbers(308, 2, 3, 5), torch.tensor([5, 3]))),),
    hints=("torch.arange(m) < length says which places of one sentence are real. With which shape does that meet "
           "scores of (B, n, m)?",
           "lengths[:, None, None] has shape (B, 1, 1). Hide before the softmax with minus infinity, but not in a row "
           "that has no real word: minus infinity everywhere gives NaN. Set its weights to 0 after the softmax.",
           "real = torch.arange(scores.shape[-1]) < lengths[:, None, None]; empty = ~real.any(-1, keepdim=True); "
           "return scores.masked_fill(~real & ~empty, -torch.inf).softmax(-1).masked_fill(~real, 0)"),
    note="In the way of hint 3, the first masked_fill hides nothing in an empty row, so the softmax has something to "
         "divide by, and the second sets all to 0. Where a NaN arises on the way and is only replaced at the end, it "
         "can come back in the gradient: the check looks at that too.",
)
