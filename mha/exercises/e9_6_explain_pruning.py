"""9.6: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="9.6", title="Explain it: can most heads be pruned?", chapter="09_pruning", stars=1, minutes=5,
    after="the chapter",
    statement="In an interview: \"I read that most attention heads can be pruned. Is that so?\" Answer in a minute, "
              "then open the checklist.",
    checklist=("It depends on the test. One that is passed with no heads at all says nothing about heads: give the "
               "score with no heads. And a count of hits hides what a margin, such as a loss, shows.",
               "It depends on which heads go, and in which order: compare with random ones, and with random ones in "
               "the same places: the last layer alone may explain much.",
               "The cost of a head alone is its cost while all others are there. Such costs do not add up.",
               "A gradient at gates 1 is a guess, from the slope, at what removal costs. Average its size over "
               "examples where the size of a head's effect is meant, for slopes of opposite sign cancel; whether a "
               "head helps or harms in the mean may be chance, so ask other examples. For a loss that has its minimum "
               "there, it is zero for every head.",
               "Pruned how: after training as it is, or with training that goes on? The two are different claims.",
               "That a large model can lose heads does not say that a small one, trained with few, would do as well, "
               "or worse. That is a measurement of its own."),
    hints=(), note="A good answer asks back: on which test, and how good is the model there without any heads?",
)
