"""5.8: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="5.8", title="Explain it: what a mask does", chapter="05_masks", stars=1, minutes=5, after="the chapter",
    statement="In an interview: \"How does a decoder train on a whole sentence at once without seeing the future, and "
              "how would you test that it does not?\" Answer in a minute, then open the checklist.",
    checklist=("A mask hides the later keys from each query.",
               "It sets their scores to minus infinity, before the softmax.",
               "Afterwards would be too late: the sum has seen them, and the rows no longer sum to 1.",
               "So one pass over the sentence gives the prediction at every place.",
               "The test: change a later token, no earlier output may move; or take the gradient.",
               "What True means differs between interfaces; a row with nothing to see needs a decision."),
    hints=(), note="A test is worth more than a look at the code.",
)
