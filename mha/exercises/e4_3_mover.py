"""4.3: a head by hand that moves one block of coordinates."""
import torch

from mha.exercises.exercise import Case, Exercise
from mha.exercises.report import Mistake


def mover(d, source, target):
    W_V = torch.eye(d, dtype=torch.float64)[:, source : source + 1]
    W_O = torch.eye(d, dtype=torch.float64)[target : target + 1]
    return W_V, W_O


def model(d, source, target, how="right"):
    """A head that moves a coordinate, with a switch that can be set wrong."""
    eye = torch.eye(d, dtype=torch.float64)
    return {
        "right": lambda: (eye[:, [source]], eye[[target]]),
        "back": lambda: (eye[:, [target]], eye[[source]]),
        "copies": lambda: (eye, eye),
        "keeps": lambda: (eye, eye + eye[:, [source]] @ eye[[target]]),
        "in-place": lambda: (eye[:, [source]], eye[[source]]),
        "target-in-place": lambda: (eye[:, [target]], eye[[target]]),
        "everywhere": lambda: (eye[:, [source]], torch.ones(1, d, dtype=torch.float64)),
        "sum": lambda: (torch.ones(d, 1, dtype=torch.float64), eye[[target]]),
        "off-source": lambda: (eye[:, [(source + 1) % d]], eye[[target]]),
        "off-target": lambda: (eye[:, [source]], eye[[(target + 1) % d]]),
        "off-both": lambda: (eye[:, [source - 1]], eye[[target - 1]]),
        "swap": lambda: (eye, eye[torch.tensor([{source: target, target: source}.get(i, i) for i in range(d)])]),
        "zero": lambda: (eye[:, [source]] * 0, eye[[target]]),
        "minus": lambda: (-eye[:, [source]], eye[[target]]),
    }[how]()


def observe(output, d, source, target):
    W_V, W_O = (part.double() for part in output)
    if W_V.ndim != 2 or W_O.ndim != 2 or W_V.shape[0] != d or W_O.shape[1] != d:
        raise ValueError("not the shapes")
    return W_V @ W_O


SWITCHES = {
    "how": {
        "back": Mistake("wrong-way",
                        "It moves the target to the source. The token is a row that meets W_V from the left: x W_V "
                        "W_O.",
                        "In x W, which index of W belongs to the coordinate that is read?"),
        "copies": Mistake("copies-everything",
                          "It carries the whole token, every coordinate into its own place.",
                          "Which coordinates should stay behind?"),
        "keeps": Mistake("copies-as-well",
                         "It moves the coordinate and carries all the others in place too.",
                         "Which coordinates should stay behind?"),
        "in-place": Mistake("not-moved",
                            "It carries the coordinate but writes it to where it was read.",
                            "Which matrix decides where a number is written?"),
        "target-in-place": Mistake("reads-the-target",
                                   "It reads the target coordinate and writes it to where it was.",
                                   "Which matrix decides what is read?"),
        "everywhere": Mistake("writes-everywhere",
                              "It reads the right coordinate and writes it to all of them.",
                              "How many numbers of W_O should not be zero?"),
        "sum": Mistake("reads-everything",
                       "It writes to the right place, but what it writes is the sum of all coordinates.",
                       "How many numbers of W_V should not be zero?"),
        "off-source": Mistake("off-by-one", "It reads the coordinate after the source.",
                              "Are coordinates counted from 0 or from 1?"),
        "off-target": Mistake("off-by-one", "It writes to the coordinate after the target.",
                              "Are coordinates counted from 0 or from 1?"),
        "off-both": Mistake("off-by-one",
                            "It reads one before the source and writes to one before the target. Coordinates count "
                            "from 0.",
                            "Are coordinates counted from 0 or from 1?"),
        "swap": Mistake("swaps",
                        "It exchanges the two coordinates and carries all the others.",
                        "Which coordinates should stay behind?"),
        "zero": Mistake("carries-nothing", "It carries nothing: W_V W_O is zero.", ""),
        "minus": Mistake("minus", "The coordinate arrives with the opposite sign.", ""),
    },
}


def measure(answer):
    """Where each coordinate goes."""
    W = observe(answer(3, 0, 2), 3, 0, 2)
    for i, row in enumerate(W):
        places = ", ".join(f"{value:.3g} of it at coordinate {j}" for j, value in enumerate(row.tolist())
                           if abs(value) > 1e-9)
        yield f"With d = 3, source 0 and target 2, coordinate {i} of a token arrives as {places or 'nothing'}."


EXERCISE = Exercise(
    id="4.3", name="mover", chapter="04_value_and_output", stars=2, minutes=10, after="section 5",
    signature="mover(d, source, target)",
    statement="A head has decided whom to read. Now it should bring home one number: coordinate `source` of the token "
              "that it reads, written into coordinate `target` of the one who asks, and nothing else. Write `mover(d, "
              "source, target)` (coordinates count from 0): return W_V, `(d, d_v)`, and W_O, `(d_v, d)`, with a d_v "
              "of your choice. A token is a row: x W_V W_O.",
    stub="def mover(d, source, target):\n    ...\n",
    reference=mover,
    cases=[Case((3, 0, 2)), Case((4, 2, 1)), Case((5, 3, 3)), Case((8, 7, 0))],
    model=model, switches=SWITCHES, measure=measure, observe=observe,
    wanted="a pair W_V, W_O of shapes (d, d_v) and (d_v, d)",
    compared="Compared is W_V W_O, row = coordinate read, column = coordinate written.",
    trained=(),
    hints=("W_V says what is read, W_O where it is written. How many numbers must pass between them?",
           "d_v = 1 is enough: W_V has one column, W_O one row. Each has a single 1.",
           "return torch.eye(d)[:, source:source + 1], torch.eye(d)[target:target + 1]"),
    note="Reading and writing are two choices: W_V says what is read, W_O where it arrives. A narrow W_V alone could "
         "not write to all d coordinates.",
)
