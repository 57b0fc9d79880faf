"""6.7: guess the memory of the scores."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

H, N = 32, 2048

EXERCISE = Number(
    id="6.7", title="The memory of the scores", chapter="06_multi_head", stars=1, minutes=5, after="section 6",
    predicted=True,
    statement=f"One sentence of {N} tokens, {H} heads, numbers of 32 bits. If all scores of one layer are stored, how "
              "many MiB (1024 times 1024 bytes) do they take? Guess first.",
    answer=4 * H * N * N / 2**20, tolerance=0.02,
    mistakes=(
        (4 * N * N / 2**20, Mistake("one-head", "That is one head. Each head has a table of its own.")),
        (H * N * N / 2**20, Mistake("bytes", "Each number has four bytes.")),
        (8 * H * N * N / 2**20, Mistake("bytes", "That counts eight bytes for a number; 32 bits are four.")),
        (2 * H * N * N / 2**20, Mistake("bytes", "That counts two bytes for a number; 32 bits are four.")),
        (4 * H * N * N, Mistake("bytes-not-MiB", "That is in bytes. A MiB has 1024 times 1024 of them.")),
        (4 * H * N * N / 2**30, Mistake("GiB", "That is in GiB. A GiB has 1024 MiB.")),
        (4 * H * N / 2**20, Mistake("not-squared", "A table has a number for each pair of tokens.")),
    ),
    hints=("One table has 2048 times 2048 numbers. How many tables, and how many bytes a number?",),
    note="Half a GiB for one layer and one sentence. That is why fast implementations never store the table: they "
         "work through it in blocks, as in exercise 2.3.",
)
