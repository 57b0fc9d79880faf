"""The questions of chapter 3 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

D_MODEL = 512

one_full_form = Number(
    id="3.5", title="Two narrow matrices or one form", chapter="03_query_and_key_lab", stars=1, minutes=5,
    after="chapter 3",
    statement=f"Scores could be made with one full matrix A, `({D_MODEL}, {D_MODEL})`, as x A y^T. A head has W_Q and "
              f"W_K, both `({D_MODEL}, d_k)`. At which d_k do both ways have the same number of parameters?",
    answer=D_MODEL / 2, tolerance=0,
    mistakes=(
        (D_MODEL, Mistake("one-matrix-counted",
                          f"At d_k = {D_MODEL} each of the two matrices alone has as many parameters as A.")),
        (D_MODEL**0.5, Mistake("root",
                               "That is the root of d_model. Count the entries: 2 times d_model times d_k on one "
                               "side, d_model squared on the other.")),
        (64, Mistake("usual-width",
                     "64 is a usual d_k. There the two matrices have a quarter of the parameters of A.")),
        (D_MODEL / 4, Mistake("quarter", "There the two matrices have half of the parameters of A.")),
        (2 * D_MODEL, Mistake("upside-down", "There the two matrices have four times the parameters of A.")),
        (D_MODEL**2, Mistake("entries-of-A", "That is how many parameters A has. The exercise asks for a width.")),
    ),
    hints=("Count the entries of both ways.",),
    note="Below half of d_model the two matrices are the cheaper way. What is paid for it is rank: the scores they "
         "give have rank at most d_k.",
)

possible_tables = Choice(
    id="3.6", title="Could one matrix have done it?", chapter="03_query_and_key_lab", stars=2, minutes=5,
    after="section 4",
    several=True,
    statement="With one matrix for queries and keys the score of tokens i and j is (x_i W) (x_j W)^T. Two tokens, "
              "four scores, row by row. Which tables are possible? Pick all.",
    options=(
        Option("`[[2, 1], [1, 2]]`", "Take two vectors of squared length 2 with dot product 1."),
        Option("`[[1, 2], [0, 1]]`",
               "It is not symmetric: the first scores the second 2, the second scores the first 0.", "not-symmetric"),
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

turned_together = Choice(
    id="3.7", title="Rotate them together", chapter="03_query_and_key_lab", stars=2, minutes=5, after="chapter 3",
    predicted=True,
    statement="Every query and every key of a head is multiplied by the same rotation R, just before the scores. What "
              "happens to the attention weights?",
    options=(
        Option("Nothing.", "R meets its transpose in the middle of every score."),
        Option("The rows are rotated: other keys win.",
               "A dot product is not changed when both vectors are rotated in the same way.", "winners-change"),
        Option("They become symmetric.",
               "Queries and keys are still two different sets of vectors, only rotated.", "becomes-symmetric"),
        Option("It depends on d_k.", "For every d_k a rotation leaves lengths and angles alone.", "depends-on-width"),
    ),
    hints=("Write out (q R) (k R)^T.",),
    note="So nobody can say what coordinate 7 of a query means. But let R turn each token by angles in proportion to "
         "its position, and the scores see how far apart two tokens are: that is the idea of rotary position "
         "embeddings.",
)

explain_two_matrices = Explanation(
    id="3.8", title="Explain it: why two matrices", chapter="03_query_and_key", stars=1, minutes=5, after="the chapter",
    core=True,
    statement="In an interview: \"Query and key are both made from the same tokens. Why not with the same matrix?\" "
              "Answer in a minute, then open the checklist.",
    checklist=("With one matrix the scores are symmetric: i scores j as j scores i.",
               "An example that needs direction, such as a circle in which each beats the next.",
               "With one matrix the score of two tokens is at most the mean of their scores with themselves: tokens "
               "like themselves (lab, section 4).",
               "A limit that was proved, such as the loss on a circle, not only a training that failed.",
               "Only the product of W_Q and W_K transposed counts; it has rank at most d_k.",
               "When symmetric scores are enough (lab, section 3): the softmax is taken by rows, so even symmetric "
               "scores give weights that are not symmetric."),
    hints=(), note="The last line is easily missed.",
)

QUESTIONS = [one_full_form, possible_tables, turned_together, explain_two_matrices]
