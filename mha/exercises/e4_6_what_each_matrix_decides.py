"""4.6: which matrix decides what."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="4.6", title="Which matrix decides what", chapter="04_value_and_output", stars=2, minutes=5, after="section 5",
    several=True,
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
