"""3.7: turn queries and keys together."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="3.7", title="Turn them together", chapter="03_query_and_key", stars=2, minutes=5, after="section 5",
    predicted=True,
    statement="Every query and every key of a head is multiplied by the same rotation R, just before the scores. What "
              "happens to the attention weights?",
    options=(
        Option("Nothing.", "R meets its transpose in the middle of every score."),
        Option("The rows are turned: other keys win.",
               "A dot product is not changed when both vectors are turned in the same way.", "winners-change"),
        Option("They become symmetric.",
               "Queries and keys are still two different sets of vectors; both were only turned.", "becomes-symmetric"),
        Option("It depends on d_k.", "For every d_k a rotation leaves lengths and angles alone.", "depends-on-width"),
    ),
    hints=("Write out (q R) (k R)^T.",),
    note="So nobody can say what coordinate 7 of a query means. But let R depend on the position, another rotation "
         "for each token, and the scores see how far apart two tokens are: that is the idea of rotary position "
         "embeddings.",
)
