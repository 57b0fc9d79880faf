"""5.2: weights that leave the padding out."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers
from mha.exercises.engine.report import Mistake

POWER_0 = "Which score has the power 0?"
NOBODY = "What should a row give that has nobody to look at?"

PROGRAM = Program("""\
def padding_weights(scores, lengths):
    place = torch.arange(scores.shape[-1]).to(lengths)
    real = <real>
    empty = ~real.any(-1, keepdim=True)
    scores = <hide>
    weights = <shares>
    return <result>
""", {
    "real": Blank("place < lengths[:, None, None]", offered=3, wrong={
        "place <= lengths[:, None, None]": Mistake("one-too-many",
            "One word of padding is still read: the last real word has index length - 1.",
            "Is it < or <=?"),
        "place >= lengths[:, None, None]": Mistake("polarity",
            "It is the wrong way round: only the padding is read.",
            "Does True say hide or show in what you wrote?"),
        "place < lengths[:, None]": Mistake("mask-broadcast",
            "Where it runs, query 1 of every sentence gets the length of sentence 1, as happens when a mask of shape "
            "(B, m) is laid on (queries, keys). Where B and n differ and neither is 1, it does not run. lengths[:, "
            "None, None] has the axis that is missing.",
            "With which axes of the scores does torch match (B, m)?"),
        "place[: scores.shape[1], None] < lengths[:, None, None]": Mistake("masks-queries",
            "The mask lies on the queries: rows of padding are emptied, and the padding among the keys is still read.",
            "Whom should nobody look at? Which axis is that?"),
        "(place <= lengths[:, None, None]) & (lengths[:, None, None] > 0)": Mistake("one-too-many",
            "One word of padding is still read: the last real word has index length - 1.",
            "Is it < or <=?"),
        "(place < lengths[:, None, None]) & (torch.ones_like(scores).tril() > 0)": Mistake("causal-too",
            "Later words are hidden as well. The exercise asks for the padding alone.",
            "May a real word look ahead here?"),
        "place < lengths[:, None, None].clamp(min=1)": Mistake("empty-sentence-has-a-word",
            "A sentence of length 0 is read as if it had one word.",
            NOBODY),
    }),
    "hide": Blank("scores.masked_fill(~real & ~empty, -math.inf)", offered=4, wrong={
        # right values where the result is filled with 0, and a NaN in the gradient
        "scores.masked_fill(~real, -math.inf)": None,
        # right where the result is filled with 0
        "scores.masked_fill(~real, -1e9)": None,
        "scores.masked_fill(~real, 0)": Mistake("zero-then-mask",
            "Masked scores are set to 0 before the softmax, and the padding to 0 after it. A score of 0 takes a share "
            "like any other, so rows with padding sum to less than 1.",
            POWER_0),
        "scores": Mistake("mask-after-softmax",
            "The padding is set to 0 after the softmax, so rows with padding sum to less than 1: its scores were still "
            "in the sum.",
            "What should a row sum to?"),
    }),
    "shares": Blank("scores.softmax(-1)", offered=1, wrong={
        "scores.softmax(-2)": Mistake("softmax-axis-queries",
            "The softmax runs over the queries.",
            "Whose weights should sum to 1?"),
        "scores.softmax(1)": Mistake("softmax-axis-queries",
            "The softmax runs over the queries (axis 1 of three).",
            "Whose weights should sum to 1?"),
    }),
    "result": Blank("weights.masked_fill(~real, 0)", offered=2, wrong={
        "weights": Mistake("empty-row-unmasked",
            "Where nothing is left to read, the mask is not applied at all.",
            NOBODY),
        "weights.nan_to_num(0)": Mistake("empty-row-unmasked",
            "Where nothing is left to read, the mask is not applied at all.",
            NOBODY),
        "weights.masked_fill(~real, 0)[lengths > 0]": Mistake("empty-sentences-left-out",
            "Sentences of length 0 are left out of the batch.",
            "How many sentences should come back?"),
        "weights.masked_fill(~real, 0)[..., : lengths.max()]": Mistake("cut-to-the-longest",
            "The places behind the longest sentence are cut off. They should get 0.",
            "How many places has each row?"),
    }),
}, together={
    "hide result": {
        ("scores", "(weights * real) / (weights * real).sum(-1, keepdim=True).clamp(min=1e-12)"):
            Mistake("padding-in-the-sum",
            "The softmax is taken over the padding too, and what is left is divided by its sum. Where the padding "
            "scores far above the words, next to nothing is left to divide.",
            "What remains of the words if the padding scores 40 more?"),
        ("scores", "weights"): Mistake("no-mask",
            "Nothing is hidden: the padding is read like real words.",
            "Does what you do with the mask reach the weights? masked_fill, for one, returns a new tensor."),
        ("scores.masked_fill(~real, -math.inf)", "weights"): Mistake("empty-row-nan",
            "The weights of a sentence of length 0 are NaN. All its scores are hidden, and a softmax over nothing but "
            "minus infinity divides 0 by 0. Such a row should be zeros.",
            NOBODY),
        ("scores.masked_fill(~real, -1e9)", "weights"): Mistake("empty-row-uniform",
            "Where nothing is left to read, every place gets the same weight. It should get none.",
            NOBODY),
        ("scores.masked_fill(~real, 0)", "weights"): Mistake("zero-for-minus-infinity",
            "Masked scores become 0 (through a fill with 0 or 1e-9, or a product with the mask), and e^0 is 1: the "
            "padding keeps a weight.",
            POWER_0),
    },
})


def measure(answer):
    """The first wrong row of each length, to the last digit: what should be 0 should be exactly that."""
    lengths = torch.tensor([4, 2, 0])
    padding = torch.arange(4) >= lengths[:, None, None]
    for scores in (numbers(301, 3, 2, 4), numbers(301, 3, 4, 4), numbers(301, 3, 2, 4) + 40 * padding,
                   20 * numbers(301, 3, 2, 4) - 60):
        weights, wanted = answer(scores.clone(), lengths.clone()), PROGRAM.reference(scores, lengths)
        wrong = (weights - wanted).abs().nan_to_num(1) > torch.where(wanted == 0, 0, 1e-6)
        for words, found, right, off in zip(lengths.tolist(), weights, wanted, wrong.any(-1)):
            if off.any():
                row = int(off.nonzero()[0])
                high = ", the padding 40 above the words" * bool(scores.max() > 35)
                yield (f"For lengths 4, 2, 0 and scores {tuple(scores.shape)} from {scores.min():.0f} to "
                       f"{scores.max():.0f}{high}: row {row} of the sentence of length {words} is "
                       f"{digits(found[row], right[row])}; it should be {digits(right[row], found[row])}.")
        if wrong.any():
            return


def digits(row, other):
    """With as many digits as tell it from the other."""
    def listed(weights, places):
        return ", ".join(f"{weight:.{places}g}" for weight in weights.tolist())
    return next(listed(row, places) for places in (3, 6, 9, 17)
                if listed(row, places) != listed(other, places) or places == 17)


EXERCISE = Exercise(
    id="5.2", name="padding_weights", chapter="05_masks_lab", stars=3, minutes=20, after="section 5",
    signature="padding_weights(scores, lengths)",
    statement="A batch of sentences, padded at the end to m positions. Write `padding_weights(scores, lengths)`: "
              "scores is `(B, n, m)`, lengths is `(B,)`, whole numbers from 0 to m. Return weights, `(B, n, m)`: each "
              "row is a softmax over the real words of its sentence, and the padding gets exactly 0. A sentence of "
              "length 0 gets zeros everywhere. Gradients must reach the scores of real words, and neither they nor "
              "the weights may be NaN.",
    stub="# padding_weights(torch.zeros(2, 1, 3), torch.tensor([2, 0])) -> 0.5 0.5 0 0 0 0\n"
         "def padding_weights(scores, lengths):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(302, 2, 2, 3), torch.tensor([3, 2]))), Case((numbers(303, 3, 4, 5), torch.tensor([5, 1, 3]))),
           Case((numbers(304, 4, 4, 4) - 8, torch.tensor([2, 4, 1, 3]))),
           Case((numbers(305, 1, 1, 6), torch.tensor([4]))), Case((numbers(306, 3, 2, 4), torch.tensor([2, 0, 4]))),
           Case((20 * numbers(307, 2, 3, 7) - 60, torch.tensor([7, 3]))),
           Case((numbers(309, 2, 1, 3), torch.tensor([0, 0])))],
    sized=lambda B, n, m: Case((numbers(1, B, n, m), 1 + torch.arange(B) % m)),
    measure=measure, trained=(1, 4),
    large=(Case((20000 * numbers(308, 2, 3, 5), torch.tensor([5, 3]))),),
    hints=("torch.arange(m) < length says which positions of one sentence are real. With which shape does that meet "
           "scores of (B, n, m)?",
           "lengths[:, None, None] has shape (B, 1, 1). Hide before the softmax with minus infinity, but not in a row "
           "that has no real word: minus infinity everywhere gives NaN. Set its weights to 0 after the softmax.",
           "real = torch.arange(scores.shape[-1]) < lengths[:, None, None]\n"
           "empty = ~real.any(-1, keepdim=True)\n"
           "weights = scores.masked_fill(~real & ~empty, -torch.inf).softmax(-1)\n"
           "return weights.masked_fill(~real, 0)"),
    note="In the way of the solution, the first masked_fill hides nothing in an empty row, so the softmax can divide, "
         "and the second sets all to 0. Where a NaN arises on the way and is only replaced at the end, it can come "
         "back in the gradient: the check looks at that too.",
)
