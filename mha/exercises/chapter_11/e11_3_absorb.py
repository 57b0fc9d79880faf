"""11.3: latent heads without keys and values."""
from functools import partial

import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers, same
from mha.exercises.engine.report import Mistake

HOW_WIDE = "How many products does the score of a query with a key sum, as it was trained?"
WHICH_COLUMNS = "Which columns of W_Q belong to head 1?"
WHICH_ROWS = "Which columns of the concatenation come from head 2, and which rows of W_O meet them?"
WRITE_OUT = "What is Q_i K_i^T, with x W_Q_i and c W_UK_i written out?"

PROGRAM = Program("""\
def absorb(W_Q, W_UK, W_UV, W_O, h):
    d_model, d_c = W_Q.shape[0], W_UK.shape[0]
    W_Q, W_UK, W_UV = (<cut> for W in (W_Q, W_UK, W_UV))
    W_O = <rows>
    A = <asks> <scale>
    B = <brings>
    return A, B
""", {
    "cut": Blank("W.unflatten(1, (h, -1)).transpose(0, 1)", offered=2, wrong={
        "W.reshape(h, W.shape[0], -1)": Mistake("view-for-transpose",
            "The matrices are reshaped to (h, ., d_k) directly: a head is filled with the next numbers in memory, "
            "which run along rows. It should hold a few columns of all rows.",
            WHICH_COLUMNS),
        "W.unflatten(1, (-1, h)).permute(2, 0, 1)": Mistake("interleaved",
            "The columns are cut as (d_k, h): each head takes every h-th column.",
            WHICH_COLUMNS),
    }),
    "rows": Blank("W_O.unflatten(0, (h, -1))", offered=1, wrong={
        "W_O.unflatten(0, (-1, h)).transpose(0, 1)": Mistake("W_O-interleaved",
            "Each head takes every h-th row of W_O. It owns d_v rows one after the other.",
            WHICH_ROWS),
        "W_O.unflatten(0, (h, -1))[:1].expand(h, -1, -1)": Mistake("one-block-for-all",
            "All heads meet the first rows of W_O. Each head has rows of its own.",
            WHICH_ROWS),
    }),
    "asks": Blank("W_Q @ W_UK.mT", offered=3, wrong={
        "W_Q @ torch.linalg.pinv(W_UK)": Mistake("inverse-for-transpose",
            "W_UK is inverted (pinv) where it should be transposed. To bring its product to the other side of a dot "
            "product, a matrix is turned over, not undone.",
            WRITE_OUT),
        "W_Q @ W_UK": Mistake("no-transpose",
            "W_UK is not transposed. That runs only where d_c and d_k are equal.",
            WRITE_OUT),
        "W_Q @ W_UV.mT": Mistake("values-as-keys",
            "The queries meet W_UV, which makes values. Keys are made by W_UK.",
            WRITE_OUT),
        "W_Q.transpose(0, 1).reshape(W_Q.shape) @ W_UK.mT": Mistake("W_Q-reshaped",
            "W_Q is reshaped to (h, d_model, d_k) directly: a head is filled with the next numbers in memory, which "
            "run along rows. It should hold a few columns of all rows.",
            WHICH_COLUMNS),
        "W_Q @ W_UK.transpose(0, 1).reshape(W_UK.shape).mT": Mistake("W_UK-reshaped",
            "W_UK is reshaped to (h, d_c, d_k) directly: a head is filled with the next numbers in memory, which "
            "run along rows. It should hold a few columns of all rows.",
            WHICH_COLUMNS),
    }),
    "scale": Blank("/ math.sqrt(W_Q.shape[-1])", offered=3, wrong={
        "/ math.sqrt(d_c)": Mistake("scale-root-d_c",
            "The scores are divided by the root of d_c, the width of what the query now meets. They are the same sums "
            "as before, made in another order, so they keep the scale with which the head was trained: the root of "
            "d_k. Code that takes the width from its inputs falls into this.",
            HOW_WIDE),
        "": Mistake("no-scale", "A lacks the division by the root of d_k.", HOW_WIDE),
        "/ math.sqrt(h * W_Q.shape[-1])": Mistake("scale-root-all-heads",
            "The scores are divided by the root of h d_k, the width of all heads together.", HOW_WIDE),
        "/ W_Q.shape[-1]": Mistake("scale-d_k",
            "A is divided by d_k, not by its root.", "What is the standard deviation of q.k?"),
    }),
    "brings": Blank("W_UV @ W_O", offered=2, wrong={
        "W_UK @ W_O": Mistake("keys-as-values",
            "B makes keys, by W_UK, and sends them through W_O. Values are made by W_UV.",
            "What does a head return?"),
        "(W_UV @ W_O).sum(0).expand(h, -1, -1)": Mistake("heads-summed",
            "The heads' matrices are added up before the mixture. Each head has weights of its own, so each needs its "
            "own matrix.",
            "What do latent heads share, and what has each for itself?"),
        "W_O.expand(h, -1, -1)": Mistake("values-forgotten",
            "B is W_O alone: W_UV is forgotten, and what is mixed are latents, not values.",
            "What must still happen to a mixture of latents?"),
        "W_UV.transpose(0, 1).reshape(W_UV.shape) @ W_O": Mistake("W_UV-reshaped",
            "W_UV is reshaped to (h, d_c, d_v) directly: a head is filled with the next numbers in memory, which "
            "run along rows. It should hold a few columns of all rows.",
            WHICH_COLUMNS),
        "torch.stack([W_UV.transpose(0, 1).flatten(1)[:, i * W_Q.shape[-1] : (i + 1) * W_Q.shape[-1]] "
        "@ W_O.flatten(0, 1)[i * W_Q.shape[-1] : (i + 1) * W_Q.shape[-1]] for i in range(h)])":
            Mistake("d_k-for-values",
            "W_UV and W_O are cut in steps of d_k. There a head owns d_v columns and rows.",
            "How many columns has W_UV, and how many W_Q?"),
        "W_UV": Mistake("no-W_O",
            "B is W_UV alone: W_O is missing.",
            "What is a head's contribution to the output of the layer?"),
        "W_UV[:1] @ W_O": Mistake("values-of-one-head",
            "All heads take the columns of W_UV that belong to head 1, as if they shared a value.",
            WHICH_COLUMNS),
    }),
})


def observe(output, W_Q, W_UK, W_UV, W_O, h):
    """A and B turned over, one on the other: (2, h, d_model, d_c)."""
    A, B = output
    if A.shape != (h, len(W_Q), len(W_UK)) or B.shape != (h, len(W_UK), len(W_Q)):
        raise ValueError("not the shapes")
    return torch.stack([A, B.mT])


def describe_difference(found, wanted):
    """Which of the two is right, for which heads, and whether the other is a multiple of it."""
    return f"{'; '.join(f'{name} {how_off(a, b)}' for name, a, b in zip('AB', found, wanted))}."


def how_off(found, wanted):
    right = [i for i in range(len(wanted)) if same(found[i], wanted[i])]
    ratio = (found / wanted).flatten()
    if len(right) == len(wanted):
        return "is right"
    if right:
        return f"is right for {len(right)} of {len(wanted)} heads"
    if (ratio - ratio[0]).abs().max() < 1e-6 * (1 + ratio[0].abs()):
        return f"is {float(ratio[0]):.4g} times what it should be"
    return f"is wrong for {'every head' if len(wanted) > 1 else 'the one head'}"


def measure(answer):
    """By which factor A is off, for several sizes: what it depends on."""
    laws = {}
    for d_k, d_c in ((4, 9), (4, 16), (9, 16)):
        args = numbers(1301, 5, 2 * d_k), numbers(1302, d_c, 2 * d_k), numbers(1303, d_c, 6), numbers(1304, 6, 5), 2
        ratio = (answer(*args)[0] / PROGRAM.reference(*args)[0]).flatten()
        if (ratio - ratio[0]).abs().max() > 1e-6:
            return
        laws[d_k, d_c] = float(ratio[0])
    if any(abs(law - 1) > 1e-6 for law in laws.values()):
        yield ("A is what it should be times "
               + ", ".join(f"{law:.4g} at d_k = {d_k} and d_c = {d_c}" for (d_k, d_c), law in laws.items()) + ".")


def case(seed, d_model, d_c, h, d_k, d_v):
    return Case((numbers(seed, d_model, h * d_k), numbers(seed + 1, d_c, h * d_k), numbers(seed + 2, d_c, h * d_v),
                 numbers(seed + 3, h * d_v, d_model), h))


EXERCISE = Exercise(
    id="11.3", name="absorb", chapter="11_sharing_heads_lab", stars=3, minutes=15, after="section 5",
    signature="absorb(W_Q, W_UK, W_UV, W_O, h)",
    statement="A latent layer keeps c, `(m, d_c)`, and makes the keys c W_UK and the values c W_UV of h heads from it. "
              "W_Q is `(d_model, h*d_k)`, W_UK is `(d_c, h*d_k)` and W_UV is `(d_c, h*d_v)`, head 1 owning the first "
              "columns of each; W_O is `(h*d_v, d_model)`. Nothing is rotated. Write `absorb(W_Q, W_UK, W_UV, W_O, "
              "h)`: return A, `(h, d_model, d_c)`, and B, `(h, d_c, d_model)`, with which no key and no value need be "
              "made. For tokens x, `x @ A[i] @ c.T` shall be the scaled scores of head i, and `weights @ c @ B[i]` "
              "what head i adds to the output of the layer. Gradients must reach all four.",
    stub="# A, B = absorb(torch.ones(1, 4), torch.ones(1, 4), torch.ones(1, 2), torch.ones(2, 1), 1)\n"
         "# torch.cat([A, B]) -> 2 2\n"
         "def absorb(W_Q, W_UK, W_UV, W_O, h):\n    ...\n",
    program=PROGRAM,
    cases=[case(1310, 3, 2, 1, 4, 3), case(1320, 5, 4, 2, 3, 2), case(1330, 7, 6, 3, 2, 2), case(1340, 4, 4, 2, 4, 4),
           case(1350, 6, 5, 4, 3, 5), case(1360, 9, 8, 2, 5, 7)],
    sized=partial(case, 1),
    measure=measure, observe=observe, describe_difference=describe_difference,
    wanted="a pair A, B of shapes (h, d_model, d_c) and (h, d_c, d_model)",
    hints=("One head: write out the scores, x W_Q (c W_UK)^T. Which two matrices meet in the middle?",
           "A is W_Q W_UK^T and B is W_UV W_O, for each head's columns and rows. The scores are the same sums as "
           "before, so the division stays the same, too.",
           "Q, K, V = (W.unflatten(1, (h, -1)).transpose(0, 1) for W in (W_Q, W_UK, W_UV))\n"
           "return Q @ K.mT / Q.shape[-1] ** 0.5, V @ W_O.unflatten(0, (h, -1))"),
    note="All heads now look at one and the same c, as if they shared a key and a value as wide as d_c. In code one "
         "keeps W_Q and W_UK apart and multiplies x by one after the other, which costs less than A where d_k is "
         "small. A rotation of keys would stand between them, another for each distance, and then no A serves all.",
)
