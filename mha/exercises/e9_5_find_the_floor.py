"""9.5: the comparison that is missing."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="9.5", title="The number that is missing", chapter="09_pruning", stars=2, minutes=5, after="section 5",
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
         "in section 5.",
)
