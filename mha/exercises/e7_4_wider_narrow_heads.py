"""7.4: give the crowd some width."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="7.4", title="Give the crowd some width", chapter="07_how_many_heads", stars=2, minutes=4, after="section 2",
    predicted=True,
    statement="Sixteen heads for four relations, d_k = 4 each, do far worse than four heads after 600 steps. Now "
              "every head gets d_k = 16, and everything else stays, the 600 steps too. What happens to the error?",
    options=(
        Option("It stays: there are still too many heads.",
               "Then the number would be to blame. In section 2 the error falls to that of four heads.",
               "number-to-blame"),
        Option("It falls to about that of four heads.", "What was missing was width."),
        Option("It rises: wider heads are harder to train.",
               "At the same number of steps the wider heads ended lower here.", "harder"),
        Option("It falls to the floor of sixteen heads, 1 - 16/4.",
               "A floor below zero says nothing: the floor is 0 from four heads on.", "negative-floor"),
    ),
    hints=("What do narrow heads lack: mixtures, or the means to tell names apart?",),
    note="The harm came from the narrow queries and keys. But the comparison is no longer at equal parameters: W_Q "
         "and W_K are four times as large. And time is another remedy: five times as many steps made up most of the "
         "harm at the old width.",
)
