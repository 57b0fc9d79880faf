"""4.8: the token with nine tenths."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

W, LONG, SHORT = 0.9, 10, 0.5

EXERCISE = Number(
    id="4.8", title="The loud and the long", chapter="04_value_and_output", stars=1, minutes=5, after="section 5",
    predicted=True,
    statement=f"A query gives `{W}` to a token whose value, after W_O, has length `{SHORT}`, and the rest to a token "
              f"whose value has length `{LONG}`. How many times as long as the first part of the output is the second? "
              "Guess first, then compute.",
    answer=(1 - W) * LONG / (W * SHORT), tolerance=0.02,
    mistakes=(
        (W * SHORT / ((1 - W) * LONG), Mistake("upside-down", "That is the first part divided by the second.")),
        (1 / 9, Mistake("weights-only",
                        "That is the ratio of the weights. The lengths of the values differ by a factor of 20.")),
        (LONG / SHORT, Mistake("lengths-only", "That is the ratio of the lengths. The weights count too.")),
        (1, Mistake("equal", "They are not equal: compare the products of weight and length.")),
    ),
    hints=("A part of the output is weight times value.",),
    note="The parts have lengths 0.45 and 1. The token with a tenth of the attention adds more than twice as much. An "
         "attention map alone does not show that.",
)
