"""2.6: what a test of shapes and sums does not see."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="2.6", title="What the test does not see", chapter="02_one_head", stars=2, minutes=5, after="section 1",
    several=True,
    statement="A test calls your attention with q `(5, 8)`, k `(7, 8)`, v `(7, 3)`. It checks that the output is `(5, "
              "3)` and that every row of weights sums to 1. It passes. Which mistakes may still be in the code? Pick "
              "all.",
    options=(
        Option("The scores are not divided by the root of d_k.", "Any scores give weights that sum to 1."),
        Option("The softmax runs over the queries.",
               "Then the columns sum to 1 and the rows sum to 7/5 in the mean: the test sees it.", "axis-is-seen"),
        Option("k is reshaped to (8, 7) where it should be transposed.",
               "The shape is right, and the softmax makes good weights of wrong scores."),
        Option("The scores are multiplied by the root of d_k.", "Any scores give weights that sum to 1."),
        Option("The weights are divided by the root of d_k after the softmax.",
               "Then a row sums to 1 over the root of 8: the test sees it.", "scale-after-is-seen"),
        Option("The keys are mixed in place of the values.",
               "Then the output would be (5, 8): the test sees it, since d_k and d_v differ.",
               "keys-as-values-is-seen"),
    ),
    hints=("For each mistake: does it change a shape, or what a row sums to?",
           "Everything that goes wrong before the softmax leaves the sums right."),
    note="Wrong scores of the right shape are invisible to shapes and sums. Only numbers that were computed in "
         "another way find it: compare with torch.nn.functional.scaled_dot_product_attention.",
)
