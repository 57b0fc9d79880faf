"""9.6: the chapter in a minute."""
from mha.exercises.question import Explanation

EXERCISE = Explanation(
    id="9.6", title="Explain it: can most heads be pruned?", chapter="09_pruning", stars=1, minutes=5,
    after="the chapter",
    statement="In an interview: \"I read that most attention heads can be pruned. Is that so?\" Answer in a minute, "
              "then open the checklist.",
    checklist=("It depends on the test. One that is passed with no heads at all says nothing about heads: give the "
               "score with no heads. And a count of hits hides what a margin, such as a loss, shows.",
               "It depends on which heads go, and in which order. Compare with random orders, and with random orders "
               "in the same places, for the last layer alone may explain much.",
               "The cost of a head alone is its cost while all others are there. Such costs do not add up.",
               "A gradient at gates 1 is a guess, from the slope, at what removal costs. Slopes of opposite sign "
               "cancel, so average their sizes if you want to know how large a head's effect is. Whether a head helps "
               "or harms in the mean may be chance, so ask other examples. And where the loss has its minimum, the "
               "gradient is zero for every head.",
               "It depends on whether the heads were cut after training, or while training went on. These are two "
               "different claims.",
               "That a large model can lose heads does not say that a small one, trained with few, would do as well, "
               "or worse. That is a measurement of its own."),
    hints=(), note="A good answer asks back: on which test, and how good is the model there without any heads?",
)
