"""The questions of chapter 6 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

D, H = 512, 8

parameters = Number(
    id="6.5", title="Count the parameters", chapter="06_multi_head_lab", stars=1, minutes=5, after="section 3",
    statement=f"A layer of multi-head attention with d_model = {D}, h = {H} and d_k = d_v = {D // H}, with a bias in "
              "each of its four projections, as torch's layer has by default. How many parameters has it?",
    answer=4 * (D * D + D), tolerance=0,
    mistakes=(
        (4 * D * D, Mistake("biases-forgotten",
                            "That is without the biases. Each projection has as many as it has outputs.")),
        (3 * (D * D + D), Mistake("W_O-forgotten",
                                  "Query, key and value are three. There is a fourth matrix behind the heads.")),
        (3 * D * D, Mistake("W_O-and-biases-forgotten",
                            "Query, key and value are three matrices; a fourth stands behind the heads. And the "
                            "biases are missing.")),
        (H * 4 * (D * D + D), Mistake("times-h",
                                      "The heads share the width: each has 64 of the 512 columns. So the heads do not "
                                      "multiply the count.")),
        (H * 4 * D * D, Mistake("times-h",
                                "The heads share the width: each has 64 of the 512 columns. And the biases are "
                                "missing.")),
        (4 * D * D + D, Mistake("one-bias", "Only one of the four biases is counted.")),
        (4 * D * D + 3 * D, Mistake("one-bias-missing", "One of the four biases is missing.")),
        (4 * (D * D // H + D // H), Mistake("one-head", "That counts one head's columns in each projection.")),
    ),
    hints=("Four projections. How many weights and how many biases has each?",
           "h times d_k = 8 times 64 columns are 512."),
    note="4 times (512 times 512 + 512). With h d_k = 512 fixed the number of heads does not appear.",
)

more_heads = Choice(
    id="6.6", title="More heads cost more?", chapter="06_multi_head_lab", stars=2, minutes=5, after="section 8",
    several=True,
    statement="d_model stays at 512, and d_k = d_v = 512 / h. You go from 8 heads to 16. What is true? Pick all.",
    options=(
        Option("The number of parameters doubles.",
               "Each head has half as many columns, and there are twice as many heads.", "parameters-double"),
        Option("The scores of all heads together take twice the memory, if they are stored.",
               "There is one table of scores for each head, and its size does not depend on d_k."),
        Option("The multiplications for the scores double.",
               "Twice as many tables, and each score is a sum of half as many products.", "work-doubles"),
        Option("The softmax has twice as many numbers to work on.", "It works on the scores: n times n for each head."),
        Option("The rank of W_Q W_K^T of each head is at most 32.", "d_k is 512 / 16."),
        Option("The keys and values that a text generator must keep double.",
               "It keeps 2 times 512 numbers for each token, however they are split.", "cache-doubles"),
    ),
    hints=("For each clause: does it count columns, which the heads share, or tables, which each head has for "
           "itself?",),
    note="What the heads share stays; what each has for itself doubles. And what is paid beside memory is width: each "
         "head's scores have a lower rank.",
)

HEADS, N = 32, 2048

score_memory = Number(
    id="6.7", title="The memory of the scores", chapter="06_multi_head_lab", stars=1, minutes=5, after="section 8",
    predicted=True,
    statement=f"One sentence of {N} tokens, {HEADS} heads, numbers of 32 bits. If all scores of one layer are stored, "
              "how many MiB (1024 times 1024 bytes) do they take? Guess first.",
    answer=4 * HEADS * N * N / 2**20, tolerance=0.02,
    mistakes=(
        (4 * N * N / 2**20, Mistake("one-head", "That is one head. Each head has a table of its own.")),
        (HEADS * N * N / 2**20, Mistake("bytes", "Each number has four bytes.")),
        (8 * HEADS * N * N / 2**20, Mistake("bytes", "That counts eight bytes for a number; 32 bits are four.")),
        (2 * HEADS * N * N / 2**20, Mistake("bytes", "That counts two bytes for a number; 32 bits are four.")),
        (4 * HEADS * N * N, Mistake("bytes-not-MiB", "That is in bytes. A MiB has 1024 times 1024 of them.")),
        (4 * HEADS * N * N / 2**30, Mistake("GiB", "That is in GiB. A GiB has 1024 MiB.")),
        (4 * HEADS * N / 2**20, Mistake("not-squared", "A table has a number for each pair of tokens.")),
    ),
    hints=("One table has 2048 times 2048 numbers. How many tables, and how many bytes a number?",),
    note="Half a GiB for one layer and one sentence. That is why fast implementations never store the table: they "
         "work through it in blocks, as in exercise 2.3.",
)

explain_multi_head = Explanation(
    id="6.8", title="Explain it: what the heads are for", chapter="06_multi_head", stars=1, minutes=5,
    after="the chapter", core=True,
    statement="In an interview: \"Explain multi-head attention. What do several heads give that one wide head does "
              "not, and what do they cost?\" Answer in a minute, then open the checklist.",
    checklist=("Each head has its own projections and its own softmax: its own weights for each token.",
               "One softmax gives one set of weights, so one head carries everything in the same weighted mean.",
               "The outputs are concatenated and W_O mixes them: a sum over heads, each with its own block of "
               "rows.",
               "With d_k = d_model / h, parameters and multiplications of the projections do not depend on h.",
               "More heads are narrower: lower rank of the scores, and more tables of scores.",
               "In code: project once, split the last axis, move the head axis in front, one product for all heads."),
    hints=(), note="A good answer names a cost as well as a gain.",
)

QUESTIONS = [parameters, more_heads, score_memory, explain_multi_head]
