"""The questions of chapter 4 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

M = 16

short_mixtures = Number(
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

what_each_matrix_decides = Choice(
    id="4.6", title="Which matrix decides what", chapter="04_value_and_output_lab", stars=2, minutes=5,
    after="chapter 4", several=True,
    statement="In a single head, W_V is replaced by W_V M and W_O by M^{-1} W_O, for some matrix M that has an "
              "inverse. Which of these may change? Pick all.",
    options=(
        Option("The attention weights.", "They come from W_Q and W_K alone.", "weights"),
        Option("The values.", "They are x W_V M now."),
        Option("What the head adds to a token.", "M meets its inverse between W_V and W_O.", "output"),
        Option("The lengths of the values.",
               "M may stretch them. So the length of a value says nothing by itself; what counts is its length after "
               "W_O."),
        Option("The rank of what the head can carry.", "A matrix with an inverse keeps the rank of a product.", "rank"),
    ),
    hints=("Write out weights times x W_V M, times the inverse of M, times W_O.",),
    note="Seen from outside, a head has two matrices: W_Q W_K^T, which decides who reads whom, and W_V W_O, which "
         "decides what is carried and where it is written.",
)

explain_value = Explanation(
    id="4.7", title="Explain it: what a head carries", chapter="04_value_and_output", stars=1, minutes=5,
    after="the chapter", core=True,
    statement="In an interview: \"Why are there separate values? Could a head not simply mix the keys, or the "
              "tokens?\" Answer in a minute, then open the checklist.",
    checklist=("Who is read is decided by queries and keys; what is carried is decided by values.",
               "A mixture of the tokens stays inside their hull; a map is needed to say anything else.",
               "For one head it does not matter whether the map comes before the mixture or after it.",
               "With several heads added up, each needs a map of its own: otherwise contents in the same "
               "coordinates are blended.",
               "W_V is narrow: the head carries d_v numbers and loses the rest.",
               "W_O decides where they are written."),
    hints=(), note="The third line is where a common answer goes wrong.",
)

W, LONG, SHORT = 0.9, 10, 0.5

large_weight_small_part = Number(
    id="4.8", title="The loud and the long", chapter="04_value_and_output_lab", stars=1, minutes=5, after="chapter 4",
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

QUESTIONS = [short_mixtures, what_each_matrix_decides, explain_value, large_weight_small_part]
