"""9.4: scores that are all zero."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="9.4", title="Scores that are all zero", chapter="09_pruning", stars=2, minutes=5, after="section 3",
    statement="Somebody scores each head by the size of d loss / d gate where all gates are 1. The loss is 1 minus "
              "the cosine between a sentence's vector and the vector that the whole model gives it. All scores come "
              "out as 0, up to rounding. Why, and what helps?",
    options=(
        Option("The scores are right: no single head matters to this model.",
               "A slope of 0 says that the first small step costs nothing. Switching a head off is not a small step, "
               "and this loss cannot fall below what it is with all heads on: it can only rise.",
               "slope-for-effect"),
        Option("The gates do not require gradients. Set requires_grad.",
               "Then there would be no slopes at all, but an error or None. Here there are slopes, and they are 0.",
               "requires-grad"),
        Option("With all gates 1 the two vectors are equal, and the loss has its least value. There all slopes are 0. "
               "Take a loss with a target of its own, such as finding a sentence's paraphrase.",
               "At a minimum every slope vanishes."),
        Option("The cosine is so close to 1 that float32 rounds the slopes away. Take float64.",
               "In float64 they are 0 as well. It is a property of the function at this point, not of the numbers it "
               "is computed with.",
               "rounding"),
        Option("The slopes should be taken where all gates are 0.",
               "There they say what a first bit of a head would add to a model that has none. Which head a whole "
               "model could spare is another question.",
               "slope-at-zero"),
    ),
    hints=("What is the loss worth at gates 1? Can it be worth less anywhere?",),
    note="A smooth function is flat at its minimum: the first thing that a change of the gates adds to this loss is "
         "of second order. Removal, one head at a time, has no such blind spot. What comes out instead of 0 is "
         "rounding. Its order may go with the heads' effects all the same, as in section 3, since each head's move "
         "multiplies it. So before you rank anything by a gradient, ask whether the point where you take it is a "
         "minimum.",
)
