"""6.5: count the parameters."""
from mha.exercises.question import Number
from mha.exercises.report import Mistake

D, H = 512, 8

EXERCISE = Number(
    id="6.5", title="Count the parameters", chapter="06_multi_head", stars=1, minutes=5, after="section 6", core=True,
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
