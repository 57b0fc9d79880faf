"""3.5: when two narrow matrices cost more than one full form."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

D_MODEL = 512

EXERCISE = Number(
    id="3.5", title="Two narrow matrices or one form", chapter="03_query_and_key", stars=1, minutes=5,
    after="section 5", core=True,
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
        (D_MODEL**2, Mistake("entries-of-A", "That is how many parameters A has. Asked is a width.")),
    ),
    hints=("Count the entries of both ways.",),
    note="Below half of d_model the two matrices are the cheaper way. What is paid for it is rank: the scores they "
         "give have rank at most d_k.",
)
