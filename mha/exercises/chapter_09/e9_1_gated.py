"""9.1: a gate for each head."""
import torch

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.probe import listed, numbers
from mha.exercises.engine.report import Mistake

TILED = Mistake("gates-tiled",
    "After the merge the gates are repeated as g1, g2, ..., g1, g2, ...: neighbouring columns get the gates of "
    "different heads. The first d_v columns all belong to head 1.",
    "What is the difference between repeat and repeat_interleave?")

PROGRAM = Program("""\
def gated(y, gates, W_O):
    B, h, n, d_v = y.shape
    <first>
    y = <meet>
    merged = <merge>
    return <use>
""", {
    "first": Blank("", offered=2, wrong={
        "gates = gates.softmax(0)": Mistake("softmaxed-gates",
            "The gates go through a softmax first. A gate is a factor as it is: 1 leaves the head alone, 0 switches it "
            "off.",
            "What becomes of gates that are all 1?"),
        "gates = gates / gates.sum()": Mistake("renormalised",
            "The gates are divided by their sum. Then switching one head off turns the others up.",
            "What becomes of gates that are all 1?"),
        "gates = (gates > 0.5).to(gates)": Mistake("rounded-gates",
            "A gate counts as 1 above one half, else as 0. A gate is a factor, and any number will do.",
            "What should a gate of 0.7 do?"),
        "gates = gates.abs()": Mistake("gates-without-sign",
            "The sign of a gate is lost. A gate is a factor, and any number will do.",
            "What should a gate of -1 do?"),
        "gates = 1 - gates": Mistake("inverted-gates",
            "The factor is 1 minus the gate. A gate of 1 leaves the head alone, 0 switches it off.",
            "What should the output be when all gates are 0?"),
        "gates = gates / h": Mistake("divided-by-h",
            "The gates are divided by the number of heads.",
            "What should gates that are all 1 change?"),
    }),
    "meet": Blank("y * gates[:, None, None]", offered=4, wrong={
        "y * gates": Mistake("gates-on-columns",
            "The gates multiply the last axis: the columns of each value, not the heads. That runs to its end only "
            "where d_v = h, or where h = 1.",
            "With which axis of y does a tensor (h,) meet, and with which should it?"),
        "y * gates[:, None]": Mistake("gates-on-tokens",
            "The gates multiply the axis of the tokens, not that of the heads.",
            "With which axis of y does a tensor (h, 1) meet, and with which should it?"),
        "y * gates[:, None, None, None]": Mistake("gates-on-sentences",
            "The gates multiply the axis of the batch, not that of the heads.",
            "At which place of (B, h, n, d_v) stand the heads?"),
        "y + gates[:, None, None]": Mistake("gates-added",
            "The gates are added to the heads' outputs. They are factors.",
            "What should a gate of 0 do?"),
        "y": Mistake("gates-unused",
            "The gates are not used: it is the layer with all gates 1.",
            "What should the output be when all gates are 0?"),
    }),
    "merge": Blank("y.transpose(1, 2).flatten(2)", offered=2, wrong={
        "y.reshape(B, n, h * d_v)": Mistake("view-for-transpose",
            "The heads are reshaped into columns where the axes should be moved first: parts of different tokens meet.",
            "In which order do the axes of y stand, and in which must they stand before the last two are joined?"),
        "y.permute(0, 2, 3, 1).flatten(2)": Mistake("interleaved",
            "The heads' columns are mixed: first the first column of every head, then the second. W_O wants all "
            "columns of head 1 first.",
            "Which rows of W_O meet head 1?"),
    }),
    "use": Blank("merged @ W_O", offered=2, wrong={
        "merged": Mistake("no-W_O",
            "W_O is missing: the gated heads stay side by side.",
            "Which size should the last axis have?"),
        "merged @ W_O / h": Mistake("heads-averaged",
            "The heads' contributions are averaged; they are added up.",
            "What is a concatenation times W_O, written as a sum over heads?"),
        "y.sum(1) @ W_O[:d_v]": Mistake("one-block-for-all",
            "All heads meet the first rows of W_O. Each head has rows of its own.",
            "Which rows of W_O meet head 2?"),
    }),
}, together={
    "meet use": {
        ("y", "merged * gates.repeat(d_v) @ W_O"): TILED,
        ("y", "merged @ W_O * gates"): Mistake("gates-after-W_O",
            "The gates multiply the output of the layer. After W_O every column holds something of all heads, and no "
            "head can be switched off any more.",
            "Up to which line is each head still apart?"),
    },
})


def measure(answer):
    """What it does at gates whose effect is known."""
    y, W_O = numbers(901, 1, 2, 3, 4), numbers(902, 8, 5)
    first, second = y.unbind(1)
    first, second = first @ W_O[:4], second @ W_O[4:]
    for gates, wanted in (((1.0, 1.0), first + second), ((0.0, 0.0), 0 * first), ((1.0, 0.0), first),
                          ((0.0, 1.0), second), ((2.0, 1.0), 2 * first + second)):
        gates = torch.tensor(gates, dtype=torch.float64)
        error = float((answer(y, gates, W_O) - wanted).abs().max())
        if error > 1e-6:
            yield (f"For 2 heads with gates {listed(gates)} its output differs from the right one by up to "
                   f"{error:.3g}; the largest number of the right one is {float(wanted.abs().max()):.3g}.")


def case(seed, B, h, n, d_v, d_model, gates):
    return Case((numbers(seed, B, h, n, d_v), torch.tensor(gates, dtype=torch.float64),
                 numbers(seed + 1, h * d_v, d_model)))


EXERCISE = Exercise(
    id="9.1", name="gated", chapter="09_pruning_lab", stars=2, minutes=10, after="section 1",
    signature="gated(y, gates, W_O)",
    statement="A gate is a factor for the output of a head: 1 leaves it alone, 0 switches it off, and any number in "
              "between or beyond will do. Write `gated(y, gates, W_O)`: y is `(B, h, n, d_v)`, what the heads return; "
              "gates is `(h,)`; W_O is `(h*d_v, d_model)`. Return `(B, n, d_model)`: each head's output times its "
              "gate, the heads concatenated, times W_O. Gradients should reach all three, since section 2 asks for "
              "those of the gates.",
    stub="# gated(torch.tensor([[[[2.]], [[3.]]]]), torch.tensor([1., 0.5]), torch.eye(2)) -> 2 1.5\n"
         "def gated(y, gates, W_O):\n    ...\n",
    program=PROGRAM,
    cases=[case(910, 1, 2, 3, 4, 5, (1.0, 0.0)), case(912, 2, 3, 5, 4, 7, (0.5, -1.5, 2.0)),
           case(914, 3, 1, 2, 5, 4, (0.3,)), case(916, 2, 5, 3, 2, 6, (1.0, 0.0, 0.25, 1.0, 0.75)),
           case(918, 4, 4, 4, 4, 4, (0.2, 1.0, 0.7, -0.4)), case(924, 2, 3, 5, 2, 6, (0.6, 0.0, 1.3)),
           case(920, 1, 3, 2, 3, 3, (1.0, 1.0, 1.0)), case(922, 5, 7, 1, 1, 11, (0.0, 1.0, 1.0, 0.5, 0.0, 3.0, 1.0))],
    sized=lambda B, h, n, d_v, d_model: case(1, B, h, n, d_v, d_model, numbers(3, h).tolist()),
    measure=measure, trained=(1, 0),
    hints=("The gates have one axis and y has four. Which of the four should the gates meet?",
           "gates[:, None, None] has the shape (h, 1, 1), and torch matches axes from the back. After that it is the "
           "merge of chapter 6 and W_O.",
           "return (y * gates[:, None, None]).transpose(1, 2).flatten(2) @ W_O"),
    note="Head i enters the output only through its gate times its rows of W_O. So the gate can as well be multiplied "
         "into these rows, and a gate of 0 into rows of zeros: then head and rows can go, which is exercise 9.3.",
)
