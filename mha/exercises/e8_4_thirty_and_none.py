"""8.4: what a perfect score and a zero say together."""
from mha.exercises.question import Choice, Option

EXERCISE = Choice(
    id="8.4", title="Thirty of thirty, none of sixteen", chapter="08_what_heads_do", stars=2, minutes=6,
    after="section 3", several=True, core=True,
    statement="Of 72 heads, head 1.3 is the best on 30 pronouns that grammar decides: all 30 are right. Then come 16 "
              "pairs of twins. The two sentences of a pair differ in their ending only; each has the same pronoun and "
              "the same two mentions, and the ending decides which of the two is meant: one in the first sentence, "
              "the other in the second. Head 1.3 is right in exactly one sentence of every pair. What follows? Pick "
              "all.",
    options=(
        Option("The 30 are no luck, though 72 heads were searched.",
               "The luckiest of 72 coin-flippers gets at most 24 of 30 in nearly 99 searches of 100, and all 30 in "
               "about one of fifteen million."),
        Option("It knows what a pronoun means; the twins are only harder.",
               "Between the two sentences of a pair the meaning changes, and its choice never does.",
               "knows-the-meaning"),
        Option("In every pair it chooses the same mention both times.",
               "There are two mentions, and which one is right changes. To be right exactly once is to choose the "
               "same one twice."),
        Option("Turned round, its choice would resolve the twins.",
               "Turned round, it is right where it was wrong and wrong where it was right: again one of the two in "
               "every pair.",
               "turned-round"),
        Option("The model cannot tell the two sentences of a pair apart.",
               "One head was tested, by its weights from one token. The twins say nothing of the other heads, nor of "
               "what the model does with them.",
               "whole-model"),
        Option("A head whose choice the ending cannot change would do as well on the twins.",
               "Such a head makes one choice for both sentences, so it is right in exactly one of them. So was this "
               "one."),
    ),
    hints=("In a pair the right answer changes. What must a head do that is right exactly once?",
           "For each sentence: does it speak of this head or of the model, and of what was measured or of a reason "
           "for it?"),
    note="The first test shows that the head does something real, the second that it is not what the caption says. A "
         "sceptic asks for both: a score that luck cannot reach, and a case in which the interesting explanation and "
         "the dull one disagree.",
)
