"""The questions of chapter 14."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

HERE = "14_a_model_of_your_own"
LAB = HERE + "_lab"
FACTS, TOWNS = 5, 20
Q_HEADS, KV_HEADS, SECOND, D_K, D_V = 4, 2, 1, 8, 12

right_fact = Number(
    id="14.1", title="Whose towns, but not in which order", chapter=HERE, stars=1, minutes=3, after="section 1",
    core=True,
    statement=f"A larger world has {TOWNS} towns and {FACTS} facts of two towns each. A model finds the fact that is "
              "asked, and does not know which of its two towns is \"from\" and which is \"to\". In what share of the "
              "boxes is it right, at best?",
    answer=1 / 2,
    mistakes=(
        (1 / FACTS, Mistake("box-not-fact", f"That is a model that knows the {FACTS} towns of a box, and not whose "
                                            "they are.")),
        (1 / (2 * FACTS), Mistake("towns-only", f"That is a model that knows only the {2 * FACTS} towns of the "
                                                "document.")),
        (1 / TOWNS, Mistake("nothing-known", f"That is a guess among all {TOWNS} towns.")),
        (1 / 4, Mistake("both-boxes", "That is both boxes right, if each is guessed by itself. One box is asked.")),
        (0, Mistake("never", "Two towns are left for each box, and one of them is right.")),
    ),
    hints=("How many towns are left for one box?", "Two, equally likely."),
    note="It does not depend on the number of facts or towns. With two facts, a box alone would give 1/2 as well.",
)

broken_proof = Choice(
    id="14.2", title="Which step fails for two heads?", chapter=LAB, stars=3, minutes=6, after="section 1",
    statement="The proof says that one head in one layer is at most 3/4 right. With two heads in that layer it no "
              "longer holds. Which step fails?",
    options=(
        Option("The normalisation is a positive factor.",
               "It still is one: it divides all logits by the same positive number.", "normalisation"),
        Option("Multiplying by the normaliser leaves a sum over tokens.",
               "Each head has its own normaliser, and multiplying by both leaves products, which see pairs of tokens."),
        Option("Each token sees only itself, its position, and the question.",
               "That holds in any first layer, however many heads it has.", "tokens-see-more"),
        Option("The four documents are equally likely.",
               "They are, whatever model reads them.", "documents"),
        Option("The scores are not linear in the tokens.",
               "They need not be: the proof allows any score of a token.", "linear-scores"),
    ),
    hints=("Write the output of two heads as two fractions. What are their denominators?",),
    note="With Z_1 and Z_2 the winner is that of a sum with products, and a product of two sums sees pairs of tokens.",
)

cached = Number(
    id="14.3", title="What does it cache?", chapter=HERE, stars=2, minutes=4, after="section 3", core=True,
    statement=f"A model's first layer has {Q_HEADS} query heads on {KV_HEADS} KV heads, and its second one head. Keys "
              f"are {D_K} wide and values {D_V}. How many numbers does each token add to the cache?",
    answer=(KV_HEADS + SECOND) * (D_K + D_V),
    mistakes=(
        ((Q_HEADS + SECOND) * (D_K + D_V), Mistake("query-heads", f"Queries are not kept: the {Q_HEADS} query heads "
                                                                  f"share {KV_HEADS} keys and values.")),
        (KV_HEADS * (D_K + D_V), Mistake("one-layer", "That is the first layer alone.")),
        ((KV_HEADS + SECOND) * D_K, Mistake("keys-only", "Those are the keys. Values are kept as well.")),
        ((KV_HEADS + SECOND) * D_V, Mistake("values-only", "Those are the values. Keys are kept as well.")),
        ((KV_HEADS + SECOND) * 2 * D_K, Mistake("values-as-keys", f"Values are {D_V} wide here, not {D_K}.")),
        ((KV_HEADS + SECOND) * (2 * D_K + D_V), Mistake("queries-kept", "Queries are not kept.")),
    ),
    hints=("Which of queries, keys and values does a later token need?", "Count KV heads in both layers."),
    note="It does not depend on the number of query heads, as in chapter 11.",
)

late_or_unable = Choice(
    id="14.4", title="Has it failed?", chapter=HERE, stars=2, minutes=4, after="section 3", core=True,
    statement="\"One head in each of two layers cannot do this task: after 600 steps none of our eight seeds was 0.95 "
              "right.\" The numbers are right. What does the experiment show?",
    options=(
        Option("That such a model cannot do it: eight seeds are plenty.",
               "All eight were given the same 600 steps. More seeds do not replace more steps.", "cannot"),
        Option("That most seeds of it need more than 600 steps, by this recipe.",
               "With twice the steps, 6 of these 8 get there. Some other seeds need less."),
        Option("That training is stuck in a local minimum.",
               "Then more steps would not help, but with twice as many, 6 of 8 seeds get there.", "stuck"),
        Option("Nothing, since another seed might do it.",
               "Some others do, but if half of all did, eight without one would be rare.", "nothing"),
    ),
    hints=("What would you have to change to tell \"late\" from \"unable\"?",),
    note="A proof, such as that of section 2, can say \"cannot\". A run can only say \"did not, with this\".",
)

evidence = Choice(
    id="14.5", title="Which entry is evidence?", chapter=HERE, stars=2, minutes=4, after="section 6", core=True,
    statement="Five friends say that their model learns sooner than the baseline, at the same cache. Which claim can "
              "you accept as it stands?",
    options=(
        Option("Seeds 3, 5 and 11, all faster than the baseline's mean.",
               "Why these three? Nobody knows how many others were tried, and left out.", "picked"),
        Option("Seeds 0 to 7 on a new machine, against the baseline's numbers of last year.",
               "Two machines, two versions: the baseline has to be run again, by the same call.", "old-baseline"),
        Option("Seeds 0 to 7, the baseline run again beside it, p is 1/500.",
               "All seeds count, both were run alike, and such a distance is rare by chance."),
        Option("Seeds 0 to 7, the best of them sooner than the best of the baseline.",
               "The best of eight is mostly luck. Compare all seeds with all.", "best-of"),
        Option("Forty configurations were tried; the best has p = 1/30.",
               "Of forty that are no better, one or two look like this by chance.", "many-tried"),
    ),
    hints=("What could luck, or a choice made after looking, have done in each?",),
    note="It is the one whose author had nothing left to choose after seeing the results.",
)

explain_roles = Explanation(
    id="14.6", title="Explain it: how do you know what a head does?", chapter=LAB, stars=2, minutes=5,
    after="the chapter",
    statement="In an interview: \"You say that this head binds two towns to each other. How do you know?\" Answer in a "
              "minute, then open the checklist.",
    checklist=("The map suggests it: from the second town the head looks at the first.",
               "A map alone does not show use, so the head is switched off.",
               "One score falls, and another stays: without it \"from\" is lost and \"to\" is not.",
               "The other head is the control: without it both scores fall.",
               "It was seen in seven of eight seeds; in the other one the heads share the jobs.",
               "It says what these models do in this world, and nothing of larger ones."),
    hints=(), note="Two scores tell more than one: they say which part of the work is missing.",
)

QUESTIONS = [right_fact, broken_proof, cached, late_or_unable, evidence, explain_roles]
