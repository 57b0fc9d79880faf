"""4.5: how long a mean is."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

M = 16

EXERCISE = Number(
    id="4.5", title="Means are short", chapter="04_value_and_output", stars=2, minutes=5, after="section 1", core=True,
    statement=f"{M} values have length 1 and are all at right angles to each other. A head gives each of them the same "
              "weight. How long is its output?",
    answer=M**-0.5, tolerance=0.01,
    mistakes=(
        (1, Mistake("length-kept", "A mean of vectors keeps the length only if they all point the same way.")),
        (1 / M, Mistake("one-share",
                        f"That is the length of one of the {M} parts. They are at right angles: their squared lengths "
                        "add up.")),
        (M**0.5, Mistake("sum-for-mean", "That is the length of the sum. The weights make it a mean.")),
        (0, Mistake("cancel", "They would cancel if they pointed in opposite ways. At right angles nothing cancels.")),
        (M, Mistake("sum-of-lengths", "That is the sum of the lengths.")),
    ),
    hints=("What is the length of one part, and how do lengths of vectors at right angles add?",),
    note="Sixteen parts of length 1/16: the squares sum to 16/256, and the root of that is 1/4. An undecided head "
         "whispers: its output is short, unless the values point the same way.",
)
