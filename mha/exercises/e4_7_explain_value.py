"""4.7: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="4.7", title="Explain it: what a head carries", chapter="04_value_and_output", stars=1, minutes=5,
    after="the chapter",
    statement="In an interview: \"Why are there separate values? Could a head not simply mix the keys, or the "
              "tokens?\" Answer in a minute, then open the checklist.",
    checklist=("Who is read is decided by queries and keys; what is carried is decided by values.",
               "A mixture of the tokens stays inside their hull; a map is needed to say anything else.",
               "For one head it does not matter whether the map comes before the mixture or after it.",
               "With several heads added up, each needs a map of its own: otherwise nobody can tell whose part is "
               "whose.",
               "W_V is narrow: the head carries d_v numbers and loses the rest.",
               "W_O decides where they are written."),
    hints=(), note="The third line is where a common answer goes wrong.",
)
