"""7.6: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="7.6", title="Explain it: how many heads", chapter="07_how_many_heads", stars=1, minutes=5, after="the chapter",
    statement="In an interview: \"How would you choose the number of heads, and what goes wrong with too few or too "
              "many?\" Answer in a minute, then open the checklist.",
    checklist=("Too few: each head brings one mixture, so h heads explain at most h independent facts.",
               "Proved for scores blind to the contents, read linearly; it can fail without either.",
               "Too many, at equal parameters: each is narrower, and narrow queries and keys are slow, or unable, to "
               "tell many names apart.",
               "With the width kept, too many heads did no harm here; they cost parameters and memory.",
               "On language the number of relations is unknown, so the number is found by trying.",
               "Look at single runs, not only at means, and train longer before you call a run stuck."),
    hints=(), note="The second line separates those who have read the proof from those who have heard of it.",
)
