"""2.7: shuffle the keys and the values."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="2.7", title="Shuffle the memory", chapter="02_one_head", stars=1, minutes=5, after="section 1", predicted=True,
    core=True,
    statement="One query, ten keys with their values, no mask. You shuffle the ten keys, and the values in the same "
              "way. What happens to the output?",
    options=(
        Option("It stays the same.", "Each value keeps its weight; only the order of the sum changes."),
        Option("Its entries are shuffled in the same way.",
               "The output has one row for each query, and the query did not move. That is what would happen to the "
               "weights.",
               "follows-the-keys"),
        Option("It changes completely.",
               "A key brings its value along. Which weight does a value get now, and which before?", "changes"),
        Option("It changes a little, because near keys count more.",
               "There is no nearness in the formula: a position enters only if somebody puts it into the vectors.",
               "nearness"),
    ),
    hints=("Write the output as a sum over the keys. Does the order of a sum matter?",),
    note="Attention reads a set, not a list. Try it: torch.randperm(10) as the index of both. That is why word order "
         "has to be put into the vectors.",
)
