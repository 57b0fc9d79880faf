"""The questions of chapter 10 that need no code."""
import math

from mha.exercises.question import Choice, Explanation, Number, Option
from mha.exercises.report import Mistake

EARLIER = 10

one_before = Number(
    id="10.5", title="The token before, without positions", chapter="10_position", stars=1, minutes=4,
    after="section 1", core=True, tolerance=0.005,
    statement=f"One causal layer has no positions. The tokens hold independent contents of variance 1, and nothing "
              f"else. The token with {EARLIER} others before it wants the content of the one right before. What is the "
              "least mean squared error, for any weights and any use of what the layer brings?",
    answer=1 - 1 / EARLIER,
    mistakes=(
        (0, Mistake("sees-order", "For that it must tell the one before from the others. In one layer without "
                                  f"positions all orders of the {EARLIER} give the same output.")),
        (1 / EARLIER, Mistake("explained-share", "That is the share that can be explained. The error is what is "
                                                 "left.")),
        (1, Mistake("knows-nothing", f"It knows something: the one wanted is one of the {EARLIER} that it sees, and "
                                     "their mean goes with each of them a little.")),
        (1 - 1 / (EARLIER + 1), Mistake("itself-counted", "The token itself is not among those that could be meant, "
                                        f"and its own content is known. There are {EARLIER} others.")),
        (1 / 2, Mistake("half", "That would be right with two tokens before it.")),
    ),
    hints=(f"If the {EARLIER} earlier tokens change places, what becomes of the output?",
           "The best guess is the mean of what the wanted one could be. How much does a mean of independent contents "
           "leave of each?"),
    note="The output depends on the set of the earlier tokens, not on their order. So each could be the one meant, and "
         f"the best guess is their mean: it explains 1/{EARLIER} of the variance. In general 1 - 1/i remains, with "
         "i tokens before.",
)

equal_tokens = Choice(
    id="10.6", title="Twelve times the same token", chapter="10_position", stars=2, minutes=5, after="section 1",
    core=True,
    statement="A deep causal transformer has no positions: layers of attention, networks that work on each token, "
              "norms and residual sums. It reads a text of twelve equal tokens, and no other token starts the text. "
              "Can its outputs tell the third from the ninth?",
    options=(
        Option("Yes: token 9 adds up more values than token 3.",
               "It mixes more of them. But weights sum to 1, and a mixture of equal values is that value, however many "
               "there are.", "sum-for-mean"),
        Option("Yes, from the second layer on: the mask shows how many come before.",
               "That needs a first difference. In layer 1 all twelve outputs are equal; so layer 2 reads twelve equal "
               "tokens, and the same holds again.", "second-layer"),
        Option("No: all twelve outputs are equal, at any depth.",
               "Equal inputs make equal values, and their mixture is the same at every place."),
        Option("Only if some scores differ, so that the weights are not even.",
               "The scores of equal tokens are equal. And even weights of another form would mix equal values.",
               "uneven-weights"),
        Option("Yes, if it was trained to count.",
               "No training changes it: it holds for all weights.", "training"),
    ),
    hints=("What does one layer make of equal values, whatever its weights are?",
           "If layer 1 gives twelve equal outputs, what does layer 2 read?"),
    note="By induction over the layers: equal inputs, equal values, and weights that sum to 1 mix them to the same; "
         "whatever works on each token by itself keeps them equal. (Up to rounding.) One start token that differs is "
         "enough: with even weights the i-th token behind it reads it with weight 1/(i + 1), and so it knows i.",
)


def again(distance, near=0.999):
    """The next distance at which a pair that turns by one radian a token scores nearly its most once more."""
    return next(later for later in range(distance + 1, 10**6) if math.cos(later - distance) > near)


AGAIN = again(1)

next_peak = Number(
    id="10.7", title="One hand is not enough", chapter="10_position", stars=2, minutes=5, after="section 3", core=True,
    tolerance=0,
    statement="A rotary head has d_k = 2: one pair, which turns by one radian a token. All tokens are alike, and the "
              "head looks one back: its score at distance t is C cos(t - 1), largest at t = 1. What is the next whole "
              "distance at which the score is again above 0.999 C?",
    answer=AGAIN,
    mistakes=(
        (AGAIN - 1, Mistake("counted-from-zero", f"After {AGAIN - 1} more steps the hand is back. But it started at "
                                                 "distance 1.")),
        (7, Mistake("six-steps", f"After one turn, 2 pi = {2 * math.pi:.3f} steps, it is back. At distance 7 it has "
                                 f"made 6 steps and the score is {math.cos(6):.3f} C.")),
        (8, Mistake("seven-steps", f"A turn takes 2 pi = {2 * math.pi:.3f} steps. After 7 the score is "
                                   f"{math.cos(7):.3f} C.")),
        (23, Mistake("half-turn", "22 is nearly 7 pi: seven half turns. The hand then points the other way, and the "
                                  "score is nearly -C. Double it.")),
        (26, Mistake("four-turns", f"25 is nearly 8 pi, four turns, and the score is {math.cos(25):.4f} C. Nearly "
                                   "enough.")),
        (711, Mistake("much-later", f"710 steps are nearly 113 turns, and only {1 - math.cos(710):.0e} C is missing: "
                                    "better still, but there is one before.")),
        (356, Mistake("half-turn", "355 is nearly 113 pi: an odd number of half turns, and the hand points the other "
                                   "way.")),
        (2 * AGAIN - 1, Mistake("twice-round", "That is the time after the next.")),
    ),
    hints=("The hand is back after whole turns, of 2 pi steps each. Which multiples of 2 pi are nearly whole?",
           "22/7 is nearly pi. Twice as much is nearly what?"),
    note=f"pi is nearly 22/7, so {AGAIN - 1} steps are nearly seven turns: the score is {math.cos(AGAIN - 1):.5f} C. "
         f"The head that looks one back also looks {AGAIN} back. A second pair with another speed tells the two apart: "
         "this is what the many pairs are for.",
)

D_MODEL, HEADS, BASE = 512, 8, 10000


def waves(head, d_model=D_MODEL, h=HEADS, base=BASE):
    """The shortest and the longest wave in a head, in tokens, if d_model columns are turned before they are cut."""
    first, end = head * d_model // h, (head + 1) * d_model // h
    return [2 * math.pi * base ** (column / d_model) for column in (first, end - 2)]


before_the_cut = Choice(
    id="10.8", title="Turned before the cut", chapter="10_position", stars=3, minutes=6, after="section 3",
    several=True,
    statement=f"A layer has d_model = {D_MODEL} and h = {HEADS}. By mistake it turns the pairs of all {D_MODEL} "
              "columns of x W_Q and x W_K, from the fastest in the first columns to the slowest in the last, and then "
              "cuts the heads. Which of these tests would have caught it? Pick all.",
    options=(
        Option("All positions are shifted by 7; no score changes.",
               "None does: every pair is still turned by the same angle in queries and keys, so each head still sees "
               "differences of positions alone.", "shift"),
        Option("Turned queries have the length that they had before.",
               "They have: whichever angles are taken, a turn keeps lengths.", "length"),
        Option("Two heads with the same columns in W_Q and W_K give the same scores.",
               "They do not: head 1 has the fast pairs and the last head the slow ones."),
        Option("With h = 1 it gives what somebody else's layer gives.",
               "It does: with one head there is nothing to cut.", "one-head"),
        Option("With h = 8 it gives what somebody else's layer gives.",
               "All heads differ, the first one in every pair but its first."),
        Option("Token by token, with a cache, it gives what it gives at once.",
               "It does, if each token is turned at its own position. A wrong angle is kept like a right one.",
               "cache"),
    ),
    hints=("Which angle has a column of head 1, and which has the same column of the last head?",
           "A test catches it if right code passes and this code fails. Which of the six compare two heads, or this "
           "code with another?"),
    note=f"In the last head no wave is shorter than {waves(HEADS - 1)[0]:,.0f} tokens, so within a page it is all but "
         f"blind to order; in the first none is longer than {waves(0)[1]:.1f}. Turned after the cut, every head has "
         "both. That a code is relative is one property, and a test of it sees no other.",
)


def before(slope):
    """The weight on the token before, deep in a text, if contents play no part."""
    return math.exp(-slope) * (1 - math.exp(-slope))


one_back = Number(
    id="10.9", title="The most that a slope can do", chapter="10_position", stars=2, minutes=6, after="section 4",
    statement="A causal head with ALiBi does not look at contents: its scores are -slope times the distance. Deep in a "
              "long text, what is the largest weight that it can give the token right before its own, over all slopes "
              "above 0?",
    answer=before(math.log(2)),
    mistakes=(
        (1, Mistake("all", "Its own token is nearer and always gets more. So it is below one half, whatever the slope "
                           "is.")),
        (1 / 2, Mistake("half", "Half would leave the other half to its own token, and nothing to all before. But each "
                                "step back keeps the same share of the step before.")),
        (math.exp(-1), Mistake("ratio-for-weight", "With slope 1 that is the ratio of two neighbours. It is no weight "
                                                   "yet: divide by the sum of the row.")),
        (before(1), Mistake("slope-one", "That is what slope 1 gives. A smaller slope gives more.")),
        (before(1 / 2), Mistake("slope-one-half", "That is what slope 1/2 gives. A larger slope gives more.")),
        (1 / 3, Mistake("a-third", "Then its own token would have more than a third, and those before keep the same "
                                   "ratio to each other. Add up the row.")),
        (4 / 27, Mistake("two-back", "That is the most for the token two back.")),
        (math.log(2), Mistake("slope-for-weight", "That is the slope. Which weight does it give?")),
    ),
    hints=("Write r for e^(-slope). From the own token backwards the powers are 1, r, r^2, ... What is their sum?",
           "The weight is r (1 - r). For which r is it largest?"),
    note="With r = e^(-slope) the weight is r (1 - r), largest at r = 1/2. For k back it is at most k^k / (k + 1)^(k + "
         "1): 1/4, 4/27, ... So by distance alone no single head with ALiBi looks at the token before, or at any one "
         "token but its own. Contents, or several heads together, can do more.",
)

explain_decay = Explanation(
    id="10.10", title="Explain it: does RoPE forget what is far?", chapter="10_position", stars=2, minutes=6,
    after="the chapter",
    statement="Somebody says: \"RoPE makes scores decay with the distance, so a head cannot look far back.\" But a "
              "query that is its key turned back by 37 positions, q = R_-37 k, has its largest score 37 tokens back. "
              "Explain how both can be. Then open the checklist.",
    checklist=("The score of a query at i and a key at j depends on i - j alone: q . R_(j - i) k.",
               "What falls is the mean over pairs of cos(angle times distance): the score of a query that equals its "
               "key. It falls by and large, not at every step.",
               "If queries and keys are independent and of mean 0, the mean score is 0 at every distance, and its "
               "spread is the same: nothing decays.",
               "With q = R_-37 k the score at distance t is the sum over pairs of |pair|^2 cos(angle times (t - 37)): "
               "every cosine is 1 at t = 37, and nowhere else all of them.",
               "Queries and keys come from two matrices, so a head can learn such a turn: R_-37 is a matrix, "
               "and W_Q may contain it.",
               "How sharp the peak is, is another question. It takes long queries and keys, or many pairs, to hold off "
               "all other distances."),
    hints=(), note="So decay belongs to queries that resemble their keys, and not to the code. What trained heads do "
                   "is a measurement (Barbero et al. 2024).",
)

QUESTIONS = [one_before, equal_tokens, next_peak, before_the_cut, one_back, explain_decay]
