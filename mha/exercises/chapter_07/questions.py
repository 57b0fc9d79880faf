"""The questions of chapter 7 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

H, R = 3, 8

three_heads = Number(
    id="7.3", title="Three heads, eight relations", chapter="07_how_many_heads", stars=1, minutes=3, after="section 1",
    core=True,
    statement=f"{R} independent contents of variance 1 are wanted, and there are {H} heads, whose scores see names "
              "only; their mixtures are read by a linear map. What is the least mean squared error?",
    answer=1 - H / R,
    mistakes=(
        (H / R, Mistake("explained-share", "That is the share that can be explained. The error is what is left.")),
        (1 / R, Mistake("one-over-r", "That would be right with seven heads.")),
        (1 / H, Mistake("one-over-h", "Each head can explain one of the eight contents, at most.")),
        (0, Mistake("no-floor", "Three mixtures of eight independent numbers do not determine them.")),
        (R - H, Mistake("not-a-mean", "That many contents are not explained. The error is a mean over all eight.")),
        (1, Mistake("nothing", "Three of the contents can be fetched perfectly.")),
    ),
    hints=("How many of the contents can three mixtures explain?",),
    note="At most three of eight are explained, by fetching three, or by three mixtures of all. Five eighths remain.",
)

wider_narrow_heads = Choice(
    id="7.4", title="Give the crowd some width", chapter="07_how_many_heads_lab", stars=2, minutes=4,
    after="section 3", predicted=True,
    statement="Sixteen heads for four relations, d_k = 4 each, do far worse than four heads after 600 steps. Now "
              "every head gets d_k = 16, and everything else stays, the 600 steps too. What happens to the error?",
    options=(
        Option("It stays: there are still too many heads.",
               "Then the number would be to blame. But at a width of 16 the error falls to that of four heads.",
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

what_the_figure_shows = Choice(
    id="7.5", title="What follows, and what does not", chapter="07_how_many_heads", stars=2, minutes=5,
    after="section 3", several=True, core=True,
    statement="A colleague has seen the figure of this chapter. Which of these sentences does it, or its proof, "
              "support? Pick all.",
    options=(
        Option("A language model with 12 heads knows 12 relations.",
               "Nobody knows how many relations language has, and nothing here was trained on language.", "language"),
        Option("On this task, at equal parameters, one rate and 600 steps, the best h of those tried was the number "
               "of relations.",
               "That is what was counted, over all r and all runs, with h = 1, 2, 4, 8, 16 and 32."),
        Option("No single head can serve two targets.",
               "The lab trains one that does: its scores see the contents.", "hole"),
        Option("On r independent contents of variance 1, h heads that see names only, read by a linear map, cannot "
               "have an error below 1 - h/r.",
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

explain_heads = Explanation(
    id="7.6", title="Explain it: how many heads", chapter="07_how_many_heads", stars=1, minutes=5, after="the chapter",
    statement="In an interview: \"How would you choose the number of heads, and what goes wrong with too few or too "
              "many?\" Answer in a minute, then open the checklist.",
    checklist=("Too few: each head returns one mixture, so h heads explain at most h independent facts.",
               "Proved for scores blind to the contents, read linearly; it can fail without either.",
               "Too many, at equal parameters: each is narrower, and narrow queries and keys are slow, or unable, to "
               "tell many names apart.",
               "With the width kept, too many heads did hardly any harm here; they cost parameters and memory.",
               "On language the number of relations is unknown, so the number is found by trying.",
               "Look at single runs, not only at means, and train longer before you call a run stuck."),
    hints=(), note="The second line separates those who have read the proof from those who have heard of it.",
)

QUESTIONS = [three_heads, wider_narrow_heads, what_the_figure_shows, explain_heads]
