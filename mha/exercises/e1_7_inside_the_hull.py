"""1.7: which outputs can be reached."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="1.7", title="Within reach", chapter="01_soft_lookup", stars=2, minutes=5, after="section 5", several=True,
    statement="Three values: `(0, 0)`, `(4, 0)` and `(0, 4)`. The scores can be any finite numbers. Which of these "
              "can come out? Pick all.",
    options=(
        Option("`(1, 1)`", "It is a mixture of half of the first and a quarter of each of the others."),
        Option("`(3, 3)`",
               "Its coordinates sum to 6, and those of no value sum to more than 4. It lies outside the hull.",
               "outside"),
        Option("`(4, 0)`",
               "That would need the weight 1 for the second value, and e to any finite power leaves something for the "
               "others. Attention comes as near as you like.",
               "corner"),
        Option("`(2, 2)`",
               "It lies on the edge between two values, so the third would need the weight 0. No finite score gives "
               "that.",
               "edge"),
        Option("`(0.1, 3.8)`", "It is close to a corner and still inside."),
        Option("`(-1, 1)`", "A negative coordinate would need a negative weight.", "negative-weight"),
    ),
    hints=("Write the point as a mixture. Its weights are the two coordinates divided by 4, and what is left.",
           "Which weights can a softmax of finite scores not give?"),
    note="Inside the hull everything can be reached; its edges and corners only in the limit; outside it nothing.",
)
