"""4.3: a head by hand that moves one block of coordinates."""

from mha.exercises.engine.blanks import Blank, Program
from mha.exercises.engine.exercise import Case, Exercise
from mha.exercises.engine.report import Mistake

PROGRAM = Program("""\
def mover(d, source, target):
    W_V, W_O = <W_V>, <W_O>
    W_V[<read>, 0] = 1
    W_O[0, <write>] = <number>
    <other>
    return W_V, W_O
""", {
    "W_V": Blank("torch.zeros(d, 1)", offered=2, wrong={
        "torch.ones(d, 1)": Mistake("reads-everything",
            "It writes to the right place, but what it writes is the sum of all coordinates.",
            "How many numbers of W_V W_O should not be zero?"),
        "torch.eye(d, 1)": Mistake("reads-the-first-too",
            "It reads coordinate 0 as well as the source, and writes their sum.",
            "Which rows of W_V W_O should be 0? (torch.eye(d, 1) has a 1 of its own.)"),
    }),
    "W_O": Blank("torch.zeros(1, d)", offered=2, wrong={
        "torch.ones(1, d)": Mistake("writes-everywhere",
            "It reads the right coordinate and writes it to all of them.",
            "How many numbers of W_V W_O should not be zero?"),
        "torch.eye(1, d)": Mistake("writes-to-the-first-too",
            "It writes to coordinate 0 as well as to the target.",
            "Which columns of W_V W_O should be 0? (torch.eye(1, d) has a 1 of its own.)"),
    }),
    "read": Blank("source", offered=3, wrong={
        "target": Mistake("reads-the-target",
            "It reads the target coordinate and writes it to where it was.",
            "Which matrix decides what is read?"),
        "source - 1": Mistake("off-by-one",
            "It reads the coordinate before the source (before the first, the last).",
            "Are coordinates counted from 0 or from 1?"),
        "0": Mistake("reads-the-first",
            "It reads coordinate 0, whatever the source is.",
            "Where does the source come in?"),
    }),
    "write": Blank("target", offered=3, wrong={
        "source": Mistake("not-moved",
            "It carries the coordinate but writes it to where it was read.",
            "Which matrix decides where a number is written?"),
        "target - 1": Mistake("off-by-one",
            "It writes to the coordinate before the target (before the first, the last).",
            "Are coordinates counted from 0 or from 1?"),
        "0": Mistake("writes-to-the-first",
            "It writes to coordinate 0, whatever the target is.",
            "Where does the target come in?"),
    }),
    "number": Blank("1", wrong={
        "-1": Mistake("minus", "The coordinate arrives with the opposite sign."),
        "0": Mistake("carries-nothing", "It carries nothing: W_V W_O is zero."),
    }),
    "other": Blank("", wrong={
        "W_V = W_V * (source != target)": Mistake("lost-in-place",
            "Nothing is carried where source and target are the same coordinate. It should arrive there too.",
            "What should come out when source and target are the same?"),
    }),
}, together={
    "read write": {
        ("target", "source"): Mistake("wrong-way",
            "It moves the target to the source. The token is a row that meets W_V from the left: x W_V W_O.",
            "In x W, which index of W belongs to the coordinate that is read?"),
        ("source - 1", "target - 1"): Mistake("off-by-one",
            "It reads one before the source and writes to one before the target (before the first, the last). "
            "Coordinates count from 0.",
            "Are coordinates counted from 0 or from 1?"),
    },
})


def observe(output, d, source, target):
    W_V, W_O = (part.double() for part in output)
    if W_V.ndim != 2 or W_O.ndim != 2 or W_V.shape[0] != d or W_O.shape[1] != d:
        raise ValueError("not the shapes")
    return W_V @ W_O


def measure(answer):
    """Where each coordinate goes."""
    W = observe(answer(3, 0, 2), 3, 0, 2)
    given = "for d = 3, source 0, target 2"
    for i, (row, right) in enumerate(zip(W.tolist(), ([0, 0, 1], [0, 0, 0], [0, 0, 0]))):
        places = " and ".join(f"coordinate {j}" + f", times {value:.3g}" * (f"{value:.3g}" != "1")
                              for j, value in enumerate(row) if abs(value) > 1e-9)
        if row == right:
            continue
        yield (f"Other coordinates come along: {given}, coordinate {i} is written into {places}. Only coordinate 0 "
               "should move." if i else
               f"The coordinate that should move, {given}, is written into {places or 'no coordinate'}. It should be "
               "written into coordinate 2, as it is.")


EXERCISE = Exercise(
    id="4.3", name="mover", chapter="04_value_and_output_lab", stars=2, minutes=10, after="chapter 4",
    signature="mover(d, source, target)",
    statement="A head has decided whom to read. Now it should return one number: coordinate `source` of the token that "
              "it reads, written into coordinate `target` of the query token, and nothing else. Write `mover(d, "
              "source, target)` (coordinates count from 0): return W_V, `(d, d_v)`, and W_O, `(d_v, d)`, with a d_v "
              "of your choice. Floats and whole numbers will do. A token is a row: x W_V W_O.",
    stub="# W_V, W_O = mover(2, 0, 1)\n# W_V @ W_O -> 0 1 0 0\n"
         "def mover(d, source, target):\n    ...\n",
    program=PROGRAM,
    cases=[Case((3, 0, 2)), Case((4, 2, 1)), Case((5, 3, 3)), Case((8, 7, 0)), Case((4, 0, 3)), Case((1, 0, 0))],
    measure=measure, observe=observe,
    wanted="a pair W_V, W_O of shapes (d, d_v) and (d_v, d)",
    compared="The product W_V W_O is compared: row = coordinate read, column = coordinate written.",
    trained=(),
    hints=("W_V says what is read, W_O where it is written. How many numbers must pass between them?",
           "d_v = 1 is enough: W_V has one column, W_O one row. Each has a single 1.",
           "return torch.eye(d)[:, source:source + 1], torch.eye(d)[target:target + 1]"),
    note="Reading and writing are two choices: W_V says what is read, W_O where it arrives. A narrow W_V alone could "
         "not write to all d coordinates.",
)
