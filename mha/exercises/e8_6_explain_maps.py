"""8.6: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="8.6", title="Explain it: what a map shows", chapter="08_what_heads_do", stars=1, minutes=5, after="the chapter",
    statement="In an interview: \"Here is a map of attention, with a thick line from *it* to *animal*. What does it "
              "show?\" Answer in a minute, then open the checklist.",
    checklist=("It shows where one head's softmax puts its weight, in one sentence. That is a choice among the "
               "tokens, not a reason for it.",
               "A weight is not what is handed on: a token with half of all weight can hand on far less than half, "
               "because its value is short.",
               "The head was picked from many. Say how many, and what the best of as many coin-flippers would get.",
               "Compare with rules that need no head: the best fixed offset, the word whose embedding is nearest. And "
               "with heads that were never trained.",
               "Change the word that decides what is meant. A head that follows the meaning must change its choice, "
               "too.",
               "Score it on sentences that did not choose it.",
               "Whether the model uses the head is another question: switch it off and look."),
    hints=(), note="The fifth line is the strongest: a picture of one sentence cannot show what would have been the "
                   "same in another.",
)
