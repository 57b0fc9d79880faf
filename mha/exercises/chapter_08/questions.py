"""The questions of chapter 8 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Option

thirty_and_none = Choice(
    id="8.4", title="Thirty of thirty, none of sixteen", chapter="08_what_heads_do_lab", stars=2, minutes=6,
    after="section 3", several=True,
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


def picture():
    """How often three models are right on what repeats, against the period of the sequences: one stored run of each."""
    from mha import viz
    from mha.lab.assets import induction_runs
    runs = {"model_P": induction_runs("two layers"), "model_Q": induction_runs("one layer, smeared keys"),
            "model_R": induction_runs("one layer, fixed period")}
    periods = runs["model_P"].periods
    return viz.curves(periods, "period", "share right", points=len(periods),
                      **{name: run.tests.accuracy[0] for name, run in runs.items()})


which_one_counts = Choice(
    id="8.5", title="Which one only counts?", chapter="08_what_heads_do_lab", stars=3, minutes=6, after="section 7",
    picture=picture,
    statement="Three models continue sequences in which a random pattern comes again and again. At period 16, on new "
              "patterns, all three do well. The picture shows how often each is right on what repeats, against the "
              "period. One of the three looks a fixed number of places back, whatever the symbols are. Which one, and "
              "why is it right so often at a second period, too?",
    options=(
        Option("P: only a fixed rule can be right at nearly every period.",
               "No fixed number of places serves them all. P must find out for each sequence how far back to look.",
               "fixed-for-all"),
        Option("Q: it falls where periods are longer than those it was trained on, so it counts places.",
               "It falls there. But from 5 to 16 it does well at every period, and no fixed number of places serves "
               "all of these.",
               "falls-outside"),
        Option("R: what comes again after 8 places comes again after 16, too.",
               "One number of places serves two periods here. Which numbers does 8 divide?"),
        Option("R: it has learned two periods, 8 and 16.",
               "R it is. But at 8 it is right in part only, and it needs no second rule for that: what stood 16 "
               "places earlier is right at period 8, too.",
               "two-periods"),
        Option("It cannot be told without a look at the weights.",
               "At one period it cannot. Here there are many: whoever always copies what stood the same number of "
               "places earlier is right only where the period divides that number, or by chance.",
               "needs-weights"),
    ),
    hints=("Copy what stood 16 places earlier. At which periods is that right?",
           "Which curve is high at 16, and low at 15 and at 17?"),
    note="R looks 15 places back, at what stood 16 places before the symbol to be guessed. At period 8 that is right "
         "wherever 15 places lie behind, which is so for 16 of the 23 queries that count. At period 16 R is the best "
         "of the three, and its prefix-matching score is the highest too: at the period of its training nothing gives "
         "it away.",
)

explain_maps = Explanation(
    id="8.6", title="Explain it: what a map shows", chapter="08_what_heads_do", stars=1, minutes=5, after="the chapter",
    core=True,
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

which_sentence = Choice(
    id="8.7", title="Which sentence tells?", chapter="08_what_heads_do", stars=2, minutes=5, after="section 2",
    several=True, core=True,
    statement="You have looked at one head. From each \"the\" it gave most of its weight to the noun of that \"the\". "
              "Two explanations are left. One: from a determiner it goes to the noun that the determiner belongs to. "
              "Two: it goes to the next noun on the right, whatever stands before. Which of these sentences can tell "
              "the two apart, asked from the (first) \"the\"? Pick all.",
    options=(
        Option("The table fell over.", "There is one noun. Both explanations say \"table\".", "agree"),
        Option("The kitchen table fell over.",
               "The determiner belongs to \"table\", and the next noun is \"kitchen\"."),
        Option("The very old and heavy table fell over.",
               "Long, but the words between are no nouns. Both explanations say \"table\".", "long-is-hard"),
        Option("The table in the kitchen fell over.",
               "The first noun is \"table\", and the determiner belongs to it. The second noun stands too far on to "
               "matter to either.",
               "second-noun"),
        Option("The school bus driver waved.", "The determiner belongs to \"driver\", the third of three nouns."),
        Option("The tired driver of the school bus waved.",
               "The next noun after the first \"the\" is \"driver\", and it is the one. (Asked from the second "
               "\"the\" it would tell.)",
               "asked-elsewhere"),
    ),
    hints=("For each sentence write down two words: what the first explanation says, and what the second says.",
           "A sentence tells the two apart only if the two words differ. How long it is does not matter."),
    note="A sentence on which two explanations say the same supports both, and a thousand of them support both a "
         "thousand times. Before you collect more data, ask where your explanation and its dullest rival disagree.",
)

QUESTIONS = [thirty_and_none, which_one_counts, explain_maps, which_sentence]
