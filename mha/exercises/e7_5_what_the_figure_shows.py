"""7.5: what follows, and what does not."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="7.5", title="What follows, and what does not", chapter="07_how_many_heads", stars=2, minutes=5,
    after="section 3", several=True, core=True,
    statement="A colleague has seen the figure of this chapter. Which of these sentences does it, or its proof, "
              "support? Pick all.",
    options=(
        Option("A language model with 12 heads knows 12 relations.",
               "Nobody knows how many relations language has, and nothing here was trained on language.", "language"),
        Option("On this task, at equal parameters and after 600 steps, the best h was the number of relations.",
               "That is what was counted, over all r and all runs."),
        Option("No single head can serve two targets.",
               "Section 1 trained one that does: its scores saw the contents.", "hole"),
        Option("Heads whose scores see names only, read by a linear map, cannot have an error below 1 - h/r.",
               "That is proved."),
        Option("More than r heads are always worse.",
               "Not when they keep their width. And at equal parameters more steps took away most of what up to 16 "
               "heads had lost.",
               "always-worse"),
        Option("A mean over runs would have hidden some of what happened.",
               "After 600 steps some runs have not found a relation that others have found; a mean shows neither. "
               "Whether they are stuck, dots do not tell either: more steps found it in all."),
    ),
    hints=("For each: was it measured here, proved here, or neither?",),
    note="A result has a task, a setting and a count. What it says beyond them is a guess, which may be a good one.",
)
