"""6.4: what each head adds."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import numbers
from mha.exercises.engine.report import Mistake

ROWS_OF_HEAD_1 = "Which columns of the concatenation come from head 1, and which rows of W_O meet them?"
MEETS_HEAD_1 = "Which rows of W_O meet head 1?"
HOW_MANY_AXES = "How many axes should the result have?"
ORDER = "In which order should the axes stand?"
SUM_OF_PARTS = "What should the parts sum to?"

PROGRAM = Program("""\
def per_head(y, W_O):
    B, <axes>, d_v = y.shape
    <heads>
    blocks = <blocks>
    parts = y @ <block>
    return <result>
""", {
    "axes": Blank("h, n", offered=1, wrong={
        # W_O cannot be cut so, and what is raised says so
        "n, h": None,
    }),
    "heads": Blank("", wrong={
        "y = y.reshape(B, n, h, d_v).transpose(1, 2)": Mistake("view-for-transpose",
            "The heads are reshaped to (B, n, h, d_v) where the axes should be moved: parts of different tokens meet.",
            "In which order do the axes of y stand?"),
    }),
    "blocks": Blank("W_O.reshape(h, d_v, -1)", offered=3, wrong={
        "W_O.reshape(d_v, h, -1).transpose(0, 1)": Mistake("interleaved",
            "Each head gets every h-th row of W_O: the rows are cut as (d_v, h), not as (h, d_v).",
            ROWS_OF_HEAD_1),
        "W_O.mT.reshape(h, d_v, -1)": Mistake("W_O-transposed",
            "W_O is transposed before it is cut.",
            "Which shape has W_O?"),
        "W_O.reshape(h, -1, d_v).mT": Mistake("columns-for-rows",
            "The blocks are cut as (h, d_model, d_v) and turned: a block is filled with the next numbers in order, "
            "which run along the rows of W_O, and they become columns.",
            "Which axis of W_O should be cut?"),
        "W_O.reshape(h, d_v, -1).flip(0)": Mistake("heads-reversed",
            "The blocks are taken in reverse order.",
            MEETS_HEAD_1),
    }),
    "block": Blank("blocks", offered=3, wrong={
        "blocks[0]": Mistake("one-block-for-all",
            "All heads meet the first rows of W_O. Each head has rows of its own.",
            "Which columns of the concatenation come from head 2?"),
        "blocks[-1]": Mistake("one-block-for-all",
            "All heads meet the last rows of W_O. Each head has rows of its own.",
            MEETS_HEAD_1),
        "blocks.mean(0)": Mistake("blocks-averaged",
            "The blocks of W_O are averaged, and all heads meet the mean.",
            MEETS_HEAD_1),
    }),
    "result": Blank("parts", offered=3, wrong={
        "parts.sum(1)": Mistake("heads-summed",
            "It gives the sum over the heads: the layer's output. The exercise asks for its parts.",
            HOW_MANY_AXES),
        "parts / h": Mistake("divided-by-h",
            "The parts are divided by h. They should add up to the output, not average to it.",
            SUM_OF_PARTS),
        "parts.transpose(1, 2)": Mistake("axes-permuted",
            "The axes stand as (B, n, h, d_model); asked is (B, h, n, d_model).",
            ORDER),
        "parts.transpose(0, 1)": Mistake("heads-before-batch",
            "The axes stand as (h, B, n, d_model); asked is (B, h, n, d_model).",
            ORDER),
    }),
})


def measure(answer):
    """Whether the parts add up, and what plays a part in which."""
    y, W_O = numbers(681, 1, 2, 3, 4), numbers(682, 8, 5)
    total = y.transpose(1, 2).flatten(2) @ W_O
    parts = answer(y, W_O)
    if parts.shape != (1, 2, 3, 5):
        return
    difference = float((parts.sum(1) - total).abs().max())
    if difference > 1e-6:
        yield (f"For 2 heads of 4 columns, the sum of its parts differs from the layer's output by up to "
               f"{difference:.3g} (largest number there: {float(total.abs().max()):.3g}).")
    for what, changed in (("the output of head 2", (torch.cat([y[:, :1], 0 * y[:, 1:]], 1), W_O)),
                          ("the last 4 rows of W_O, those of head 2,", (y, torch.cat([W_O[:4], 0 * W_O[4:]])))):
        others = answer(*changed)
        rest, moved = float(others[:, 1].abs().max()), float((others - parts)[:, 0].abs().max())
        if rest > 1e-9:
            yield f"With {what} set to zero, the part of head 2 is not 0: its largest entry is {rest:.3g}."
        if moved > 1e-9:
            yield f"With {what} set to zero, the part of head 1 moves, by up to {moved:.3g}. It should stand still."
        if max(rest, moved) > 1e-9:
            return


EXERCISE = Exercise(
    id="6.4", name="per_head", chapter="06_multi_head_lab", stars=2, minutes=15, after="chapter 6",
    signature="per_head(y, W_O)",
    statement="\"Concatenate and multiply by W_O\" hides who said what. Write `per_head(y, W_O)`: y is `(B, h, n, "
              "d_v)`, the outputs of the heads, W_O is `(h*d_v, d_model)`. Return `(B, h, n, d_model)`: what each "
              "head adds to each token, so that the sum over the heads is the output of the layer. Gradients must "
              "reach y and W_O.",
    stub="# per_head(torch.ones(1, 2, 1, 1), torch.tensor([[1., 2.], [3., 4.]])) -> 1 2 3 4\n"
         "def per_head(y, W_O):\n    ...\n",
    program=PROGRAM,
    cases=[Case((numbers(683, 1, 2, 3, 2), numbers(684, 4, 5))), Case((numbers(685, 2, 3, 4, 5), numbers(686, 15, 6))),
           Case((numbers(687, 2, 1, 3, 4), numbers(688, 4, 4))), Case((numbers(689, 4, 4, 4, 4), numbers(690, 16, 16))),
           Case((numbers(691, 1, 6, 2, 1), numbers(692, 6, 7)))],
    sized=lambda B, h, n, d_v, d_model: Case((numbers(1, B, h, n, d_v), numbers(2, h * d_v, d_model))),
    measure=measure,
    hints=("In the concatenation head 1 fills the first d_v columns. Which rows of W_O do they meet?",
           "Cut the rows of W_O into h blocks of d_v, (h, d_v, d_model). Each head meets its own.",
           "return y @ W_O.reshape(y.shape[1], y.shape[3], -1)"),
    note="So a layer is a sum of heads, and each head has a W_O of its own: a block of rows. That is what makes it "
         "possible to take a head away, or to ask what it alone has written.",
)
