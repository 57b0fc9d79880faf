"""8.7: a case on which two explanations disagree."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="8.7", title="Which sentence tells?", chapter="08_what_heads_do", stars=2, minutes=5, after="section 2",
    several=True, core=True,
    statement="You have looked at one head. From each \"the\" it gave most of its weight to the noun of that \"the\". "
              "Two explanations are left. One: from a determiner it goes to the noun that the determiner belongs to. "
              "Two: it goes to the next noun on the right, whatever stands before. Which of these sentences can tell "
              "the two apart, asked from the (first) \"the\"? Pick all.",
    options=(
        Option("The table fell over.", "There is one noun. Both explanations say \"table\".", "agree"),
        Option("The kitchen table fell over.",
               "The determiner belongs to \"table\", and the next noun is \"kitchen\"."),
        Option("The very old and heavy table fell over.",
               "Long, but the words between are no nouns. Both explanations say \"table\".", "long-is-hard"),
        Option("The table in the kitchen fell over.",
               "The first noun is \"table\", and the determiner belongs to it. The second noun stands too far on to "
               "matter to either.",
               "second-noun"),
        Option("The school bus driver waved.", "The determiner belongs to \"driver\", the third of three nouns."),
        Option("The tired driver of the school bus waved.",
               "The next noun after the first \"the\" is \"driver\", and it is the one. (Asked from the second "
               "\"the\" it would tell.)",
               "asked-elsewhere"),
    ),
    hints=("For each sentence write down two words: what the first explanation says, and what the second says.",
           "A sentence tells the two apart only if the two words differ. How long it is does not matter."),
    note="A sentence on which two explanations say the same supports both, and a thousand of them support both a "
         "thousand times. Before you collect more data, ask where your explanation and its dullest rival disagree.",
)
