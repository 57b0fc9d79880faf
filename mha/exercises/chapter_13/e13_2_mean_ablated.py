"""13.2: a head's mean in the place of what it returns."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, off as differs
from mha.exercises.engine.report import Mistake

OVER_WHAT = "Which axes of (B, h, n, d_v) may a constant of the head not depend on?"
TURNED = Mistake("turned-round",
    "The heads that should stay are replaced, and those in off stay.",
    "What should come back where off is False everywhere?")

PROGRAM = Program("""\
def mean_ablated(y, off):
    mean = <mean>
    instead = <instead>
    chosen = <chosen>
    return <pick>
""", {
    "mean": Blank("y.mean((0, 2), keepdim=True)", offered=4, wrong={
        "torch.zeros_like(y)": Mistake("zero-ablation",
            "The heads return 0. That is zero ablation; here they should return their mean.",
            "What does the layer above usually get from this head?"),
        "y.mean(2, keepdim=True)": Mistake("mean-of-each-text",
            "Each text gets a mean of its own, which still says something about the text. Average over texts too.",
            OVER_WHAT),
        "y.mean(0, keepdim=True)": Mistake("mean-of-each-position",
            "Each position gets a mean of its own. Average over positions too.",
            OVER_WHAT),
        "y.mean((0, 1, 2), keepdim=True)": Mistake("mean-of-all-heads",
            "All heads get one mean, that of all heads. Each should get its own.",
            OVER_WHAT),
        "y.mean((0, 2, 3), keepdim=True)": Mistake("one-number",
            "All coordinates of a head get one number. The mean is a vector of d_v coordinates.",
            OVER_WHAT),
        "y.sum((0, 2), keepdim=True)": Mistake("summed",
            "It is the sum over texts and positions, and not the mean.",
            "What should come back where all vectors of a head are equal?"),
    }),
    "instead": Blank("mean.expand_as(y)", offered=2, wrong={
        "y - mean": Mistake("mean-subtracted",
            "The mean is subtracted, which takes away the constant and leaves what differs from token to token. It "
            "should be the other way round.",
            "What should be left of what the head says about a single token?"),
        "(y + mean) / 2": Mistake("halfway",
            "The output goes halfway to the mean, so half of what the head says is still there.",
            "What should be left of what the head says about a single token?"),
    }),
    "chosen": Blank("off[:, None, None]", offered=1, wrong={
        "~off[:, None, None]": TURNED,
        "off.any()": Mistake("all-or-none",
            "As soon as one head is in off, all heads are replaced.",
            "What should become of the heads that are not in off?"),
    }),
    "pick": Blank("torch.where(chosen, instead, y)", offered=2, wrong={
        "torch.where(chosen, y, instead)": TURNED,
        "torch.where(chosen, y + instead, y)": Mistake("mean-added",
            "The mean is added to what the head returns. It should stand in its place.",
            "What should be left of what the head says about a single token?"),
        "torch.where(chosen, torch.zeros_like(y), y - mean)": Mistake("others-centred",
            "The heads that stay lose their mean, and those in off return 0.",
            "What should become of the heads that are not in off?"),
        "instead": Mistake("all-heads",
            "All heads are replaced, whatever off says.",
            "What should become of the heads that are not in off?"),
    }),
}, together={
    "mean pick": {
        ("torch.zeros_like(y)", "instead"): Mistake("all-zero",
            "Every head returns 0, those that should stay as well.",
            "What should become of the heads that are not in off?"),
    },
    "chosen pick": {
        ("~off[:, None, None]", "torch.where(chosen, instead, torch.zeros_like(y))"): Mistake("others-zero",
            "Heads that stay return their mean, and those in off return 0.",
            "What should become of the heads that are not in off?"),
    },
})


def measure(answer):
    """A head of two texts of one token, 1 and 3."""
    y = torch.tensor([1.0, 3.0]).double().view(2, 1, 1, 1)
    found = answer(y, torch.tensor([True]))
    if found.shape == y.shape and differs(found, torch.full_like(y, 2)):
        yield (f"A head returns 1 in one text and 3 in the other. Ablated, it returns {found[0, 0, 0, 0]:.4g} and "
               f"{found[1, 0, 0, 0]:.4g}; it should be 2 and 2.")
    stays = answer(y, torch.tensor([False]))
    if stays.shape == y.shape and differs(stays, y):
        yield "Where no head is off, something else than y comes back."


def case(seed, B, h, n, d_v, *off):
    return Case((numbers(seed, B, h, n, d_v), torch.tensor([i in off for i in range(h)])))


EXERCISE = Exercise(
    id="13.2", name="mean_ablated", chapter="13_heads_that_write", stars=2, minutes=6, after="section 2", core=True,
    signature="mean_ablated(y, off)",
    statement="Write `mean_ablated(y, off)`: y is `(B, h, n, d_v)`, what h heads return in B texts of n tokens; off "
              "is a boolean `(h,)`, True for the heads to ablate. Return `(B, h, n, d_v)`: each ablated head returns "
              "its mean over all texts and tokens, everywhere, and the others return what they did. Leave y as it is; "
              "no gradient is needed.",
    stub="# mean_ablated(torch.tensor([1., 3.]).view(1, 1, 2, 1), torch.tensor([True])) -> 2 2\n"
         "def mean_ablated(y, off):\n    ...\n",
    program=PROGRAM,
    cases=[case(1321, 1, 2, 3, 1, 0), case(1323, 2, 3, 4, 2, 1), case(1325, 3, 4, 2, 5, 0, 3), case(1327, 2, 2, 5, 3),
           case(1329, 2, 5, 3, 4, 1, 2, 4), case(1331, 3, 2, 2, 3, 0, 1)],
    sized=lambda B, h, n, d_v: case(1, B, h, n, d_v, 0),
    measure=measure, trained=(),
    hints=("The mean of a head is a vector of d_v numbers. Over which axes is it taken?",
           "keepdim=True keeps axes of size 1, so that the mean (1, h, 1, d_v) fits y. off[:, None, None] is "
           "(h, 1, 1).",
           "mean = y.mean((0, 2), keepdim=True)\n"
           "return torch.where(off[:, None, None], mean, y)"),
    note="Head 0.5 of stories15M shows why: put 0 in its place and the model is hurt, put its mean there and hardly "
         "anything happens. What its zero removed was a constant that the rest of the model counts on, and "
         "hardly anything about the text.",
)
