"""The questions of chapter 13 that need no code."""
from mha.exercises.engine.question import Choice, Explanation, Number, Option
from mha.exercises.engine.report import Mistake

HERE = "13_heads_that_write"
LAB = HERE + "_lab"
LAYERS, HEADS, WIDTH, PLACES, TOKENS = 6, 6, 48, 2, 27

how_many_numbers = Number(
    id="13.4", title="How much of the cache is exchanged?", chapter=LAB, stars=1, minutes=3, after="section 1",
    statement=f"A model has {LAYERS} layers of {HEADS} heads, each with keys and values of its own, of {WIDTH} "
              f"numbers. A prompt of {TOKENS} tokens names its hero {PLACES} times, with one token each. The values of "
              "one head at these places are exchanged. How many numbers of the cache change?",
    answer=PLACES * WIDTH,
    mistakes=(
        (WIDTH, Mistake("one-place", f"The name stands there {PLACES} times.")),
        (2 * PLACES * WIDTH, Mistake("keys-too", "That is with the keys. Only values are exchanged.")),
        (PLACES * WIDTH * HEADS, Mistake("all-heads-of-the-layer", "That is all heads of one layer.")),
        (PLACES * WIDTH * HEADS * LAYERS, Mistake("all-heads", "That is the values of all heads of all layers.")),
        (TOKENS * WIDTH, Mistake("all-tokens", "That is the head's values at all tokens of the prompt.")),
        (2 * LAYERS * HEADS * WIDTH * TOKENS, Mistake("whole-cache", "That is the whole cache.")),
    ),
    hints=("How many numbers does one head keep as the value of one token?",),
    note=f"{PLACES * WIDTH} of {2 * LAYERS * HEADS * WIDTH * TOKENS:,}: that is all it takes to rename the hero.",
)

what_the_exchange_shows = Choice(
    id="13.5", title="What does it show that keys change nothing?", chapter=HERE, stars=2, minutes=4,
    after="section 1", core=True,
    statement="In a trained decoder you put the keys of \"Lucy\" in the place of those of \"Anna\", in all heads, and "
              "it goes on to name Anna. What may you conclude?",
    options=(
        Option("Keys do not matter in this model.",
               "Keys of a small word such as \"and\" do matter: with them the name is hardly found. Those of two names "
               "in the same place serve alike, and that is all that was exchanged.",
               "keys-do-nothing"),
        Option("For the heads that name the hero, the keys of the two names serve alike; which name it is comes from "
               "elsewhere.",
               "It says what was exchanged and for what it makes no difference. An exchange with a word of another "
               "kind is the control."),
        Option("The keys of the two names are equal.",
               "They may differ in all that no query asks for. Equal weights need equal products with the queries "
               "only.",
               "equal-keys"),
        Option("The name is stored in the weights of the network, and not in the cache.",
               "Then values in the cache could not rename the hero either, and those of one head do.",
               "in-the-weights"),
        Option("The exchange went wrong, since some change must show.",
               "An exchange that shows nothing is a result, as long as another one, made by the same code, shows "
               "something: values do.",
               "must-show"),
    ),
    hints=("Which words would have keys that serve another purpose?",),
    note="An intervention tells about the difference between what was taken out and what was put in, and about nothing "
         "else. So say both.",
)

explain_the_cache = Explanation(
    id="13.6", title="Explain it: what does a head do?", chapter=LAB, stars=2, minutes=5, after="the chapter",
    statement="In an interview: \"How would you find out what an attention head of a language model is for?\" Answer "
              "in a minute, then open the checklist.",
    checklist=("A map of weights shows where a head attends, and not whether anything depends on it.",
               "Switch the head off and measure what the model then writes, on many texts that were not chosen for it.",
               "By its mean as well as by zero: a zero may only remove a constant that the model counts on.",
               "Beside it the same for other heads, and for another opening or shuffled words.",
               "Keys and values are exchanged apart: keys decide where weight goes, values what is carried.",
               "Exchange with what differs in one respect only, and say in which: a name for a name, or for a thing.",
               "What is found holds of this model; another may have another head for it, or none."),
    hints=(), note="A head may score high and change little: measure use, not looks.",
)

the_second_comma = Choice(
    id="13.7", title="The comma that stands twice", chapter=LAB, stars=2, minutes=5, after="section 1",
    statement="You write a reader for stories15M. Its list of 32,000 pieces has one piece for each of 256 bytes, and "
              "behind them those that were learned; so single characters such as \",\" and \".\" stand in it twice. "
              "You build a dictionary from piece to number that keeps the first it sees. Nothing fails, and most of "
              "each story reads well. What do you notice?",
    options=(
        Option("Nothing: both numbers stand for the same text.",
               "They decode to the same text, but each has an embedding of its own, and that of the byte was hardly "
               "ever trained.",
               "same-text"),
        Option("The loss is far too high, and more than half of the rise is at commas and full stops.",
               "The model has never learned to expect the byte pieces, so it is surprised by each, and by what "
               "follows. The later number must win."),
        Option("Decoding fails for bytes above 127.",
               "Decoding goes from number to piece and never asks the dictionary. Both numbers of a piece have one "
               "text.",
               "bytes-above-127"),
        Option("Texts become longer, since pieces are no longer joined.",
               "A comma is one token either way.",
               "longer"),
        Option("The model repeats itself, since it never sees an end of a sentence.",
               "It may write worse, but the plain sign is the loss on those tokens.",
               "repeats"),
    ),
    hints=("What does the model compute from a token's number before anything else?",),
    note="A loss for each kind of token finds it in a minute; a look at the text hardly can, since both decode alike.",
)

halves_or_pairs = Choice(
    id="13.8", title="Halves or pairs", chapter=LAB, stars=2, minutes=5, after="section 5",
    statement="You load Llama weights that rotate neighbouring coordinates (0, 1), (2, 3), ... into a layer that "
              "rotates halves, (0, d_k/2), (1, d_k/2 + 1), ... No shape complains. Which change makes the layer right?",
    options=(
        Option("Permute the rows of W_Q and W_K within each head: the even ones first, then the odd ones.",
               "Then coordinate 2i of a head stands at i and coordinate 2i + 1 at i + d_k/2, where the layer looks for "
               "a pair. Scores are unchanged, since queries and keys are permuted alike."),
        Option("Permute the rows of W_Q, W_K and W_V.",
               "Values are not rotated. Permuted, they would meet the wrong rows of W_O.",
               "values-too"),
        Option("Permute the rows of W_Q only.",
               "Then queries and keys have their coordinates in different orders, and their products are of "
               "unlike coordinates.",
               "queries-only"),
        Option("Permute the rows of W_Q and W_K over all heads at once, even ones first.",
               "That mixes heads: the first head would get rows of others. The order changes within each head.",
               "across-heads"),
        Option("Divide the base by two.",
               "The speeds are the same in both layouts. Only the coordinates that make a pair differ.",
               "base"),
    ),
    hints=("Which two coordinates turn together in each layout?",),
    note="At offset 0 the two agree, so a test with a single token sees nothing. Test with two tokens at least.",
)

score_without_use = Choice(
    id="13.9", title="A score and an ability", chapter=LAB, stars=2, minutes=4, after="section 3",
    statement="In a decoder no head has an induction score above 0.1 on random tokens that come twice. In a story it "
              "still repeats a rare name that it has read once. What follows?",
    options=(
        Option("The score was computed wrongly, since it copies.",
               "A wrong computation is worth excluding, on a model that has such heads. But there are other ways to "
               "copy.",
               "wrong-score"),
        Option("The model has induction heads, hidden among many.",
               "Many heads with a little each would give a lower loss on tokens that come again than on others. "
               "Measure that too.",
               "hidden"),
        Option("The score finds one way to copy, on random tokens. This model copies names in another way, or only "
               "where its texts look like texts.",
               "A head that looks for names, and hands on which one it is, needs no earlier occurrence of the same "
               "token before it. The score does not ask for it."),
        Option("Induction heads are not needed for language models.",
               "That is a claim about all models, from one small one.",
               "all-models"),
    ),
    hints=("What exactly does the induction score ask a head to do?",),
    note="Ask of each score which mechanism it finds, and of each ability by which mechanisms it can come about.",
)

QUESTIONS = [how_many_numbers, what_the_exchange_shows, explain_the_cache, the_second_comma, halves_or_pairs,
             score_without_use]
