"""7.1: the least error that given weights allow."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import apart, numbers, off, table
from mha.exercises.engine.report import Mistake

FLOOR = Mistake("floor-only",
    "It gives 1 - h/r whatever the weights are (and 0 where h is larger than r). That is the best that any weights "
    "allow; these may be worse. A basis whose rows and columns are exchanged gives it too.",
    "What if all heads look at a token that nobody asked for?")

OTHERS_SILENT = Mistake("others-silent",
    "The guess is chosen by the weights on the wanted tokens alone, as if the others were silent. What they add to the "
    "mixtures has to be reckoned with.",
    "What does a head return that looks at a wanted token and at one that nobody asked for?")

PROGRAM = Program("""\
def least_error(weights, r):
    h, n = weights.shape
    basis = <basis>
    wanted = <wanted>
    known = <known>
    return <error>
""", {
    "basis": Blank("torch.linalg.qr(weights.mT)[0]", offered=4, wrong={
        "weights.mT": Mistake("not-normalised",
            "It sums the squared weights on the wanted places. A mixture can be scaled by W_O, so its length does not "
            "count: what counts is the space that the rows span.",
            "Does it matter whether a row is (1, 0) or (1/2, 0)?"),
        "weights.mT / weights.norm(dim=-1)": Mistake("rows-not-orthogonal",
            "The rows are made of length 1, but they are not at right angles to each other: what two heads share is "
            "counted twice.",
            "What do two heads with the same weights know together?"),
        "torch.linalg.qr(weights)[0]": FLOOR,
        "torch.linalg.svd(weights)[2].mT": Mistake("basis-of-everything",
            "It gives 0 whatever the weights are. A basis of all n directions does so, where only the h that the rows "
            "span are known: torch.linalg.svd gives all n, unless it is told full_matrices=False, and so does qr with "
            'mode="complete".',
            "How many columns should the basis have?"),
        "torch.linalg.qr(weights.mT)[0] * torch.linalg.qr(weights.mT)[1].diagonal()": Mistake("not-of-length-one",
            "The rows are made to stand at right angles, and they are not made of length 1.",
            "Does it matter whether a row is (1, 0) or (1/2, 0)?"),
    }),
    "wanted": Blank("basis[:r]", offered=3, wrong={
        "basis": Mistake("all-places",
            "It counts what is known of all tokens, not only of the wanted ones.",
            "Which contents are asked for?"),
        "basis[-r:]": Mistake("last-places",
            "It takes the last r places for the wanted ones; they are the first.",
            "Which places are wanted?"),
        "basis[:, :r]": FLOOR,
    }),
    "known": Blank("wanted.square().sum()", offered=2, wrong={
        "wanted.abs().sum()": Mistake("no-square",
            "It sums absolute values, where the explained share of a variance is a square.",
            "Which power has a variance?"),
        "wanted.norm()": Mistake("root-of-what-is-known",
            "It takes the length of the wanted part of the basis, where the explained share of a variance is a square.",
            "Which power has a variance?"),
    }),
    "error": Blank("1 - known / r", offered=4, wrong={
        "known / r": Mistake("explained-share",
            "It returns the share that is explained. The error is what is left.",
            "What should perfect weights give?"),
        "r - known": Mistake("not-divided-by-r",
            "It sums over the wanted contents. The error is their mean: divide by r.",
            "What does a head that knows nothing get?"),
        "1 - known / n": Mistake("divided-by-n",
            "It divides by the number of tokens, where it should divide by the number of contents that are wanted.",
            "Over what is the mean taken?"),
        "1 - known / h": Mistake("divided-by-h",
            "It divides by the number of heads.",
            "Over what is the mean taken?"),
        "1 - known": Mistake("sum-taken-from-one",
            "What is known of all r contents is added up and taken from 1. Each content has the variance 1, and asked "
            "is the mean over the r of them.",
            "What does it give when two wanted contents are known, each to a half?"),
        "max(0.0, 1 - h / r)": FLOOR,
        "weights.sum() / h": Mistake("always-one",
            "It gives 1 whatever the weights are.",
            "What should perfect weights give?"),
        "1 - h / n": Mistake("heads-among-tokens",
            "It gives 1 - h/n whatever the weights are.",
            "What if all heads look at a token that nobody asked for?"),
        "1 - wanted.square().sum(-1)": Mistake("no-mean",
            "It gives one number for each wanted content. Their mean is missing.",
            "How many numbers should come back?"),
        "(1 - wanted.square().sum(-1)).clamp(min=0).sqrt().mean()": Mistake("root-of-each",
            "It takes the length of each wanted content's error, and the mean of these. The exercise asks for the mean "
            "of their squares.",
            "Is the error a length or its square?"),
        "1 - torch.linalg.matrix_rank(weights) / r": Mistake("rank-only",
            "It counts how many independent mixtures there are, wherever they look.",
            "What if all heads look at tokens that nobody asked for?"),
        "1 - (torch.linalg.pinv(weights[:, :r]) @ weights[:, :r]).diagonal().mean()": OTHERS_SILENT,
        "(torch.linalg.pinv(weights[:, :r]) @ weights - torch.eye(r, n)).square().sum() / r": OTHERS_SILENT,
    }),
}, together={
    "basis known": {
        ("weights.mT", "wanted.sum()"): Mistake("sums-weights",
            "It sums the weights on the wanted places. Weights of 0.9 and 0.1 explain 0.81 / 0.82 of the first "
            "content, not 0.9.",
            "What can be said of c1 when (c1 + c2) / 2 is known?"),
        ("weights.mT / weights.norm(dim=-1)", "wanted.square().amax(-1).sum()"): Mistake("best-head-only",
            "For each wanted content it counts one head only. Heads together can know more.",
            "What do x + y and x - y tell about x?"),
    },
})


def measure(answer):
    """Weights whose error is known."""
    eye = torch.eye(4, dtype=torch.float64)
    for weights, r, wanted, what in ((eye[:1], 2, 0.5, "on the first wanted token"),
                                     (eye[:1] / 2 + eye[1:2] / 2, 2, 0.5, "on both wanted tokens"),
                                     (eye[3:], 2, 1.0, "on a token that nobody asked for"),
                                     (eye[:1] / 2 + eye[3:] / 2, 2, 0.75, "on a wanted token and on one that nobody "
                                                                              "asked for"),
                                     (eye[:2].cumsum(0), 2, 0, "one head on the first wanted token, one on both")):
        found = observe(answer(weights, r))
        if found.ndim:
            return
        if off(found.nan_to_num(9), wanted):
            gives, right = apart(found, torch.tensor(wanted))
            yield f"For weights {table(weights)} and r = {r}, {what}, it gives {gives}; it should be {right}."


def observe(output, *args):
    return torch.tensor(output, dtype=torch.float64) if isinstance(output, (int, float)) else output


EXERCISE = Exercise(
    id="7.1", name="least_error", chapter="07_how_many_heads_lab", stars=3, minutes=20, after="section 1",
    signature="least_error(weights, r)",
    statement="How well could a layer do with these weights? weights is `(h, n)` with independent rows, h <= n: how h "
              "heads mix n tokens. The contents of the tokens are independent numbers of variance 1, and those of the "
              "first r tokens are wanted. Write `least_error(weights, r)`: the mean squared error, a mean over the r "
              "wanted contents, of the best linear guess from what the h heads return. Known to the guesser are the h "
              "mixtures, and nothing else. Return a single number, as a tensor without axes or as a float.",
    stub="# least_error(torch.tensor([[0.5, 0.5]]), 1) -> 0.5\n"
         "def least_error(weights, r):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(701, 1, 3).softmax(-1), 2)), Case((numbers(702, 2, 5).softmax(-1), 3)),
           Case((numbers(703, 3, 7).softmax(-1), 2)), Case(((3 * numbers(704, 4, 9)).softmax(-1), 4)),
           Case((numbers(705, 2, 2).softmax(-1), 2)),
           Case((torch.tensor([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7]], dtype=torch.float64), 2))],
    measure=measure, observe=observe, trained=(),
    hints=("The h mixtures can be recombined at will. So the rows can be replaced by any other basis of the space "
           "that they span.",
           "Take an orthonormal basis. How much of the unit vector of a wanted token lies in that space?",
           "basis = torch.linalg.qr(weights.T)[0]\n"
           "return 1 - basis[:r].square().sum() / r"),
    note="The squared entries of an orthonormal basis sum to h over all tokens, so at most h of the r contents can be "
         "explained: that is the floor 1 - h/r.",
)
