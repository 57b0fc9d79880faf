"""5.7: a mask that comes too late."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

N = 4

EXERCISE = Number(
    id="5.7", title="A mask that comes too late", chapter="05_masks", stars=1, minutes=5, after="section 1",
    predicted=True,
    statement=f"All scores of {N} tokens are equal. Somebody takes the softmax first, sets the future to 0 afterwards, "
              "and does nothing more. What does the first row of weights sum to? Guess.",
    answer=1 / N,
    mistakes=(
        (1, Mistake("as-if-before",
                    "It would be 1 with the mask before the softmax. Afterwards nothing makes up for what was taken "
                    "away.")),
        (0, Mistake("nothing-left", "The first token keeps its weight on itself.")),
        (1 / 2, Mistake("half", "Before the mask, each of the four keys has an equal share.")),
        (3 / 4, Mistake("what-was-hidden", "That is what was taken away.")),
    ),
    hints=("What is each weight before the mask?",),
    note="One key of four stays. And which share that is depends on the scores of the other three: the row has seen "
         "the future. Only the last row is right.",
)
