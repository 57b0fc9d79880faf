"""8.5: unmask the model that copies by position."""
from mha.exercises.question import Choice, Option


def picture():
    """How often three models are right on what repeats, against the period of the sequences: one stored run of each."""
    from mha import viz
    from mha.assets import induction_runs
    runs = {"model_P": induction_runs("two layers"), "model_Q": induction_runs("one layer, smeared keys"),
            "model_R": induction_runs("one layer, fixed period")}
    periods = runs["model_P"].periods
    return viz.curves(periods, "period", "share right", points=len(periods),
                      **{name: run.tests.accuracy[0] for name, run in runs.items()})


EXERCISE = Choice(
    id="8.5", title="Which one only counts?", chapter="08_what_heads_do", stars=3, minutes=6, after="section 7",
    picture=picture,
    statement="Three models continue sequences in which a random pattern comes again and again. At period 16, on new "
              "patterns, all three do well. The picture shows how often each is right on what repeats, against the "
              "period. One of the three looks a fixed number of places back, whatever the symbols are. Which one, and "
              "why is it right so often at a second period, too?",
    options=(
        Option("P: only a fixed rule can be right at nearly every period.",
               "No fixed number of places serves them all. P must find out for each sequence how far back to look.",
               "fixed-for-all"),
        Option("Q: it falls where periods are longer than those it was trained on, so it counts places.",
               "It falls there. But from 5 to 16 it does well at every period, and no fixed number of places serves "
               "all of these.",
               "falls-outside"),
        Option("R: what comes again after 8 places comes again after 16, too.",
               "One number of places serves two periods here. Which numbers does 8 divide?"),
        Option("R: it has learned two periods, 8 and 16.",
               "R it is. But at 8 it is right in part only, and it needs no second rule for that: what stood 16 "
               "places earlier is right at period 8, too.",
               "two-periods"),
        Option("It cannot be told without a look at the weights.",
               "At one period it cannot. Here there are many: whoever always copies what stood the same number of "
               "places earlier is right only where the period divides that number, or by chance.",
               "needs-weights"),
    ),
    hints=("Copy what stood 16 places earlier. At which periods is that right?",
           "Which curve is high at 16, and low at 15 and at 17?"),
    note="R looks 15 places back, at what stood 16 places before the symbol to be guessed. At period 8 that is right "
         "wherever 15 places lie behind, which is so for 16 of the 23 queries that count. At period 16 R is the best "
         "of the three, and its prefix-matching score is the highest too: at the period of its training nothing gives "
         "it away.",
)
