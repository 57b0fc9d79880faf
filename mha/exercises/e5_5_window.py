"""5.5: how many pairs a window leaves."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

N, W = 10, 3

EXERCISE = Number(
    id="5.5", title="Count what a window leaves", chapter="05_masks", stars=1, minutes=5, after="section 5", core=True,
    statement=f"A causal mask with a window: each of {N} tokens may look at itself and at the {W - 1} tokens before "
              "it, as far as there are any. How many pairs (query, key) does the mask allow?",
    answer=sum(min(i, W) for i in range(1, N + 1)), tolerance=0,
    mistakes=(
        (N * W, Mistake("start-forgotten", "The first tokens have fewer tokens before them.")),
        (N * (N + 1) // 2, Mistake("no-window", "That is the causal mask without a window.")),
        (N * N, Mistake("no-mask", "That is all pairs.")),
        (sum(min(i, W - 1) for i in range(1, N + 1)), Mistake("itself-forgotten",
                                                              f"Each token may look at itself and {W - 1} others: {W} "
                                                              "in all.")),
        (sum(min(i, W + 1) for i in range(1, N + 1)), Mistake("one-too-many",
                                                              f"That is a window of {W + 1}. The token itself is one "
                                                              f"of the {W}.")),
        (N * (2 * W - 1) - W * (W - 1), Mistake("both-sides",
                                                "That is a window to both sides. A causal one looks back only.")),
        (sum(min(i, W - 1) for i in range(N)), Mistake("itself-forgotten", "The tokens themselves are missing.")),
    ),
    hints=("Write down the first three rows of the mask. From which row on are they full?",),
    note="1 + 2 + 8 times 3. For long texts it is about n times the window: the price grows with n, not with its "
         "square, if the other scores are never computed.",
)
