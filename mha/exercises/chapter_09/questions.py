"""The questions of chapter 9 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Option

the_zero_gradient = Choice(
    id="9.4", title="Scores that are all zero", chapter="09_pruning_lab", stars=2, minutes=5, after="section 6",
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
         "rounding. Its order may go with the heads' effects all the same, as in section 6, since each head's move "
         "multiplies it. So before you rank anything by a gradient, ask whether the point where you take it is a "
         "minimum.",
)

find_the_floor = Choice(
    id="9.5", title="The number that is missing", chapter="09_pruning", stars=2, minutes=5, after="section 4",
    core=True,
    statement="A report says: \"Five heads of six are superfluous. Without them our model still finds the paraphrase "
              "of a sentence, among sixty candidates, nearly as often as the whole model does.\" One more number "
              "decides whether this test says anything about heads at all. Which?",
    options=(
        Option("How often the whole model finds it in another run.",
               "The same model gives the same vectors for the same sentences. A second run repeats the number that is "
               "there.",
               "repeat"),
        Option("How often it is found with no heads left.",
               "If word embeddings and the other layers find it alone, any heads may go, and the test does not "
               "notice."),
        Option("How often it is found with as many heads removed at random.",
               "Worth having: it says whether the choice of the heads mattered. But suppose it comes out as high. "
               "Then the heads may be able to stand in for each other, or the test may need none of them. This number "
               "cannot tell which.",
               "random-only"),
        Option("How often it is found by guessing, one in sixty.",
               "That is worth knowing too, and much lower: guessing knows nothing, while a model without heads still "
               "knows the words. To beat it shows that something works, not that heads do.",
               "chance-only"),
        Option("How often it is found among a thousand more sentences.",
               "More sentences make the same number more certain. They do not say what it would be without heads.",
               "more-data"),
    ),
    hints=("What else is in the model besides heads?",),
    note="Draw the score with no heads into every figure on pruning. (It is a reference, no lower bound: some heads "
         "alone may do worse than none.) Where the whole model is hardly above it, the test cannot show much. Then "
         "look for one that tells the two apart: a harder task, or the same task with a margin in place of hits, as "
         "in section 4.",
)

explain_pruning = Explanation(
    id="9.6", title="Explain it: can most heads be pruned?", chapter="09_pruning", stars=1, minutes=5,
    after="the chapter",
    statement="In an interview: \"I read that most attention heads can be pruned. Is that so?\" Answer in a minute, "
              "then open the checklist.",
    checklist=("It depends on the test. One that is passed with no heads at all says nothing about heads: give the "
               "score with no heads. And a count of hits hides what a margin, such as a loss, shows.",
               "It depends on which heads go, and in which order. Compare with random orders, and with random orders "
               "that spare the same layer, for the last layer alone may explain much.",
               "The cost of a head alone is its cost while all others are there. Such costs do not add up.",
               "A gradient at gates 1 is a guess, from the slope, at what removal costs. Slopes of opposite sign "
               "cancel, so average their sizes if you want to know how large a head's effect is. Whether a head helps "
               "or harms on average may be chance, so ask other examples. And where the loss has its minimum, the "
               "gradient is zero for every head.",
               "It depends on whether anything was trained after the cut, or while heads were cut. These are different "
               "claims.",
               "That a large model can lose heads does not say that a small one, trained with few, would do as well, "
               "or worse. That is a measurement of its own."),
    hints=(), note="A good answer asks back: on which test, and how good is the model there without any heads?",
)

QUESTIONS = [the_zero_gradient, find_the_floor, explain_pruning]
