"""6.6: what more heads cost."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="6.6", title="More heads cost more?", chapter="06_multi_head", stars=2, minutes=5, after="section 6",
    several=True, core=True,
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
               "It keeps 2 times 512 numbers for each token, however they are cut.", "cache-doubles"),
    ),
    hints=("For each clause: does it count columns, which the heads share, or tables, which each head has for "
           "itself?",),
    note="What the heads share stays; what each has for itself doubles. And what is paid beside memory is width: each "
         "head's scores have a lower rank.",
)
