"""1.6: what a second copy of a key does."""
from mha.exercises.question import Choice, Option

W = 2 / 3

EXERCISE = Choice(
    id="1.6", title="A second copy", chapter="01_soft_lookup", stars=2, minutes=5, after="section 5", predicted=True,
    statement="A book gets two thirds of the weight. Somebody puts a second copy beside it: the same key, the same "
              "value. How much do the two copies get together?",
    options=(
        Option("Two thirds, as before: they share it.",
               "The softmax does not know that they are copies. It sees one more key, with a power of its own.",
               "shared"),
        Option("Four thirds: twice as much.",
               "All weights together sum to 1, so it cannot be more than that.", "doubled"),
        Option("More than two thirds, less than 1.",
               "Their powers add up, and so does the sum below the fraction line."),
        Option("All of it: the copies agree.",
               "The other books keep their powers, so something is left for them.", "all"),
    ),
    hints=("Call the power of the book a and the sum of the others b. Before, its weight was a / (a + b).",),
    note=f"Two copies get 2a / (2a + b). With a = 2b that is {2 * W / (1 + W):.2g}, after {W:.2g}. What stands twice "
         "among the keys is read more: attention counts, it does not look things up once.",
)
