"""3.6: which tables of scores a single matrix can give."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="3.6", title="Could one matrix have done it?", chapter="03_query_and_key", stars=2, minutes=5, after="section 2",
    several=True,
    statement="With one matrix for queries and keys the score of tokens i and j is (x_i W) (x_j W)^T. Two tokens, "
              "four scores, row by row. Which tables are possible? Pick all.",
    options=(
        Option("`[[2, 1], [1, 2]]`", "Take two vectors of squared length 2 with dot product 1."),
        Option("`[[1, 2], [0, 1]]`",
               "It is not symmetric: the first asks the second more than the second asks the first.", "not-symmetric"),
        Option("`[[1, 3], [3, 1]]`",
               "Two vectors of length 1 have a dot product of at most 1. The score between two tokens is at most the "
               "mean of their scores with themselves.",
               "off-diagonal-too-large"),
        Option("`[[4, -1], [-1, 1]]`",
               "The vectors (2, 0) and (-1/2, root of 3/4) give it. A score between two tokens may be negative."),
        Option("`[[-1, 0], [0, 1]]`",
               "The score of a token with itself is a squared length. It is never negative.", "negative-diagonal"),
        Option("`[[0, 0], [0, 5]]`", "One of the vectors is zero."),
    ),
    hints=("Every entry is a dot product of two of the same vectors. What is on the diagonal?",
           "Can two vectors of length 1 have a dot product of 3?"),
    note="Symmetric, nothing negative on the diagonal, and no score beyond what the two lengths allow. These are the "
         "three bars that W_Q and W_K as two matrices lift.",
)
